package evalcmd

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"emberd/internal/eval"
	"emberd/internal/tempdaemon"
	"emberd/memory"
	"emberd/op"
)

type cleanupOptions struct {
	entries int
	seed    uint64
	asked   int
	show    int
	keep    bool
}

// mostCluttered bounds the entries of emberd-eval cleanup.
const (
	minCluttered = 100
	maxAsked     = 5000
	maxCluttered = 100_000
)

func (s *session) cleanupCommand() *cobra.Command {
	var o cleanupOptions
	cmd := &cobra.Command{
		Use:  "cleanup",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.measureCleanup(cmd.Context(), &o) },
	}
	f := cmd.Flags()
	f.IntVar(&o.entries, "entries", 1000, "")
	f.Uint64Var(&o.seed, "seed", 1, "")
	f.IntVar(&o.asked, "sample", 500, "")
	f.IntVar(&o.show, "show", 20, "")
	f.BoolVar(&o.keep, "keep", false, "")
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

func (s *session) measureCleanup(ctx context.Context, o *cleanupOptions) error {
	err := errors.Join(memory.CheckRange("entries", float64(o.entries), minCluttered, maxCluttered),
		memory.CheckRange("sample", float64(o.asked), 1, maxAsked), memory.CheckRange("show", float64(o.show), 0,
			maxAsked))
	if err != nil {
		return err
	}
	r := &cluttered{s: s, o: o, store: eval.NewClutter(o.entries, o.seed, s.now()), report: cleanupReport{Seed: o.seed}}
	if err := s.inHome(o.keep, func(home string) error { return r.measure(ctx, home) }); err != nil {
		return err
	}
	if s.json {
		err = s.printJSON(&r.report)
	} else {
		s.printCleaned(&r.report, o.show)
	}
	if err == nil && !r.report.Undone {
		return errIncomplete
	}
	return err
}

// measure runs a daemon in home.
func (r *cluttered) measure(ctx context.Context, home string) (err error) {
	notes := filepath.Join(home, "notes")
	if err := os.Mkdir(notes, 0o700); err != nil {
		return err
	}
	// What is long unused is not to fade meanwhile, and nobody else is to look after it.
	flags := []string{"--vault", notes, "--set", "consolidation.interval=30d", "--set",
		"tuning=consolidation.min_shared_entities=100", "--set", "promote.auto=false", "--set",
		"lifecycle.rehydratable_after=3652d", "--set", "lifecycle.archive_after=3651d", "--set",
		"lifecycle.demote_after=3650d"}
	return r.s.withDaemon(ctx, home, flags, func(d *tempdaemon.Daemon) error {
		r.daemon = d
		return r.all(op.WithProgress(ctx, func(int, int) {})) // or a run may take a minute at most
	})
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
	if r.report.Run, err = op.Cleanup.Call(ctx, r.daemon, &op.CleanupRequest{Collection: memory.DefaultCollection,
		Mode: op.CleanupFull, Execute: true}); err != nil {
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
	r.report.Lost = slices.DeleteFunc(slices.Clone(r.report.Before.first),
		func(q string) bool { return slices.Contains(r.report.After.first, q) })
	if r.report.Run.State == op.CleanupDone && r.report.Run.Tx != "" {
		if _, err := op.CleanupRollback.Call(ctx, r.daemon, &op.CleanupRollbackRequest{}); err != nil {
			return err
		}
	}
	after, err := stateOf(ctx, r.daemon)
	r.report.Undone = err == nil && maps.Equal(before, after)
	return err
}
