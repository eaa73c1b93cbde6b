package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"emberd/engine"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

func (s *state) compactCommand() *cobra.Command {
	var req op.CompactRequest
	var storage string
	cmd := &cobra.Command{
		Use:   "compact",
		Short: "Fold the log into fewer files",
		Long: `Fold the finished files of the log into one that holds what still counts, and
a history of what was superseded, which undo and the trash go on to use. The
daemon does so by itself when it is worth it. The files that were folded are
removed ten minutes later, or by the next compaction.

With --storage-path it works without a daemon, on a folder as --home makes one.`,
		Example: `  emberd compact --dry-run
  emberd compact --storage-path ~/old-memories`,
		Annotations: exits(endings{exitNoDaemon: "", exitLocked: "a daemon runs on the folder of --storage-path", exitDisk: "", exitAgain: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := s.compact(cmd.Context(), cmd.Flags().Changed("storage-path"), storage, &req)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printCompact(res)
			return nil
		},
	}
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "tell what would be done, change nothing")
	cmd.Flags().StringVar(&storage, "storage-path", "", "work on the data and state folders in `DIR`, without a daemon")
	return cmd
}

// compact asks the daemon or, for a folder that none serves, an engine of its own.
func (s *state) compact(ctx context.Context, alone bool, storage string, req *op.CompactRequest) (res *op.CompactResult, err error) {
	if !alone {
		return call(ctx, s, op.Compact, req)
	}
	e, err := s.openStorage(storage)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return op.Compact.Call(ctx, e, req)
}

// openStorage opens the folders in dir under their lock.
func (s *state) openStorage(dir string) (*engine.Engine, error) {
	for _, sub := range []string{filepath.Join(dir, "data", "stm"), filepath.Join(dir, "state")} {
		if info, err := os.Stat(sub); err != nil || !info.IsDir() {
			return nil, memory.Errorf(memory.Invalid, "%q is no storage of emberd: there is no folder %s; name the folder that --home names", dir, sub)
		}
	}
	s.home = dir
	c, err := s.load()
	if err != nil {
		return nil, err
	}
	opt := engineOptions(c, s.logger(c.Log))
	opt.Vaults = nil
	e, err := engine.Open(opt)
	if errors.Is(err, durable.ErrLocked) {
		return nil, &exit{code: exitLocked, err: fmt.Errorf("a daemon runs on %s: leave --storage-path out to have it do this, or stop it first", dir)}
	}
	return e, err
}

func (s *state) printCompact(r *op.CompactResult) {
	if len(r.Removed) > 0 {
		s.printf("removed %s that earlier compactions replaced\n", count(len(r.Removed), "file", "files"))
	}
	if len(r.Inputs) == 0 {
		s.printf("nothing to compact: %s\n", r.Reason)
		return
	}
	verb := "folded"
	if r.DryRun {
		verb = "would fold"
	}
	s.printf("%s %s of %s into %s of %s", verb, count(len(r.Inputs), "file", "files"), size(r.Before), r.Output, size(r.After))
	if r.HistoryBytes > 0 {
		s.printf(", and %s of history", size(r.HistoryBytes))
	}
	s.printf("\n%s: %s superseded, %s live, %s in mind as forgotten, %s of these dropped\n", count(r.Lines, "operation", "operations"),
		grouped(r.Superseded), grouped(r.Live), grouped(r.Tombstones+r.Dropped), grouped(r.Dropped))
	due := "it was not due"
	if r.Due {
		due = "it was due"
	}
	s.printf("%s: %s\n", due, r.Reason)
}
