package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"emberd/internal/eval"
	"emberd/memory"
	"emberd/op"
)

type evalCleanupOptions struct {
	entries int
	seed    uint64
	asked   int
	show    int
	keep    bool
}

// mostCluttered bounds the entries of emberd eval cleanup.
const (
	leastCluttered = 100
	mostCluttered  = 100_000
)

func (s *state) evalCleanupCommand() *cobra.Command {
	var o evalCleanupOptions
	cmd := &cobra.Command{
		Use:   "cleanup",
		Short: "Measure what a cleanup does to a generated store",
		Long: `Measure what a cleanup does to a generated store: facts about services and
people that do not exist, copies of them, the same in other words, what holds of
one version or platform, values that changed, contradictions, junk, and entries
of an indexer and core ones, which have to stay. Of each it is known what it is.

A daemon of its own, in a temporary folder with a vault, takes the store in,
cleans it up, and takes the cleanup back in the end. Nothing of yours is
touched. It tells how many of the duplicates and how much of the junk went, and
how much of what went was that; what became of conflicts; and how questions
that the cleanup knows nothing of are answered before and after: how often by
the first hit (precision) and among the first ten (recall). What should not
have been done is listed.`,
		Example: `  emberd eval cleanup --entries 1000
  emberd eval cleanup --entries 10000 --seed 7 --json > cleanup.json`,
		Annotations: exits(endings{exitNothing: "done, but what was taken back is not as it was before",
			exitNoDaemon: "its daemon did not start, or ended"}),
		Args: takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return s.evalCleanup(cmd.Context(), &o) },
	}
	f := cmd.Flags()
	f.IntVar(&o.entries, "entries", 1000, "make a store of `N` entries, 100 to 100,000")
	f.Uint64Var(&o.seed, "seed", 1, "make it by this `NUMBER`")
	f.IntVar(&o.asked, "sample", 500, "ask at most `N` questions")
	f.IntVar(&o.show, "show", 20, "list at most `N` wrong steps")
	f.BoolVar(&o.keep, "keep", false, "leave the temporary folder in place and name it")
	return cmd
}

// cleanupReport is what came of it.
type cleanupReport struct {
	Seed     uint64         `json:"seed"`
	Cleaned  *eval.Cleaned  `json:"cleaned"`
	Run      *op.CleanupRun `json:"run"` // without its actions
	Asked    int            `json:"asked"`
	Before   askedHow       `json:"before"`
	After    askedHow       `json:"after"`
	Lost     []string       `json:"lost"`   // questions that were answered by the first hit before, and are not any more
	Undone   bool           `json:"undone"` // taking the run back gave the memories as they were before
	ImportMS float64        `json:"import_ms"`
}

// askedHow is how questions were answered.
type askedHow struct {
	Precision float64 `json:"precision"` // by the first hit
	Recall    float64 `json:"recall"`    // among the first ten
	first     []string
}

func (s *state) evalCleanup(ctx context.Context, o *evalCleanupOptions) error {
	err := errors.Join(memory.CheckRange("entries", float64(o.entries), leastCluttered, mostCluttered),
		memory.CheckRange("sample", float64(o.asked), 1, mostOwn), memory.CheckRange("show", float64(o.show), 0, mostOwn))
	if err != nil {
		return err
	}
	r := &cluttered{s: s, o: o, store: eval.NewClutter(o.entries, o.seed, s.now()), report: cleanupReport{Seed: o.seed}}
	if err := s.inEvalHome(o.keep, func(home string) error { return r.measure(ctx, home) }); err != nil {
		return err
	}
	if s.json {
		err = s.printJSON(&r.report)
	} else {
		s.printCleaned(&r.report, o.show)
	}
	if err == nil && !r.report.Undone {
		return &exit{code: exitNothing}
	}
	return err
}

// measure runs a daemon in home.
func (r *cluttered) measure(ctx context.Context, home string) (err error) {
	notes := filepath.Join(home, "notes")
	if err := os.Mkdir(notes, 0o700); err != nil {
		return err
	}
	if r.daemon, err = r.s.newTemporary(home); err != nil {
		return err
	}
	flags, err := r.s.evalFlags()
	if err != nil {
		return err
	}
	// What is long unused is not to fade meanwhile, and nobody else is to look after it.
	flags = append([]string{"--set", "consolidation.agents=false", "--set", "promote.auto=false", "--set", "lifecycle.rehydratable_after=3652d", "--set", "lifecycle.archive_after=3651d", "--set", "lifecycle.demote_after=3650d"}, flags...)
	if err := r.daemon.start(ctx, append(flags, "--vault", notes)...); err != nil {
		return ended(ctx, err)
	}
	err = r.all(op.WithProgress(ctx, func(int, int) {})) // or a run may take a minute at most
	return errors.Join(err, r.daemon.stop(syscall.SIGTERM))
}

func (r *cluttered) all(ctx context.Context) error {
	if err := r.take(ctx); err != nil {
		return err
	}
	before, err := stateOf(ctx, r.daemon)
	if err != nil {
		return err
	}
	untouched := make([]eval.Fate, len(r.ids))
	for i, id := range r.ids {
		untouched[i].ID = string(id)
	}
	if r.report.Before, err = r.ask(ctx, untouched); err != nil {
		return err
	}
	if r.report.Run, err = op.Cleanup.Call(ctx, r.daemon, &op.CleanupRequest{Collection: memory.DefaultCollection, Mode: op.CleanupFull, Execute: true}); err != nil {
		return err
	}
	r.report.Run.Actions = nil
	fates, err := r.fates(ctx)
	if err != nil {
		return err
	}
	r.report.Cleaned = r.store.Measure(fates)
	if r.report.After, err = r.ask(ctx, fates); err != nil {
		return err
	}
	r.report.Lost = slices.DeleteFunc(slices.Clone(r.report.Before.first), func(q string) bool { return slices.Contains(r.report.After.first, q) })
	if r.report.Run.State == op.CleanupDone && r.report.Run.Tx != "" {
		if _, err := op.CleanupRollback.Call(ctx, r.daemon, &op.CleanupRollbackRequest{}); err != nil {
			return err
		}
	}
	after, err := stateOf(ctx, r.daemon)
	r.report.Undone = err == nil && maps.Equal(before, after)
	return err
}
