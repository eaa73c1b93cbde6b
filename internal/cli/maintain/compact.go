package maintain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"emberd/engine"
	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

func compactCommand(s *cli.App) *cobra.Command {
	var req op.CompactRequest
	var storage string
	cmd := cli.Command("compact", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		res, err := compact(cmd.Context(), s, cmd.Flags().Changed("storage-path"), storage, &req)
		if err != nil {
			return err
		}
		return s.Answer(res, func() { printCompact(s, res) })
	})
	cli.Bind(cmd.Flags(), &req, "dry-run")
	cmd.Flags().StringVar(&storage, "storage-path", "", "")
	return cmd
}

// compact asks the daemon or, for a folder that none serves, an engine of its own.
func compact(ctx context.Context, s *cli.App, alone bool, storage string,
	req *op.CompactRequest) (res *op.CompactResult, err error) {
	if !alone {
		return cli.Call(ctx, s, op.Compact, req)
	}
	e, err := openStorage(s, storage)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return op.Compact.Call(ctx, e, req)
}

// openStorage opens the folders in dir under their lock.
func openStorage(s *cli.App, dir string) (*engine.Engine, error) {
	if err := s.WithoutToken("--storage-path opens the files of all memories"); err != nil {
		return nil, err
	}
	for _, sub := range []string{filepath.Join(dir, "data", "stm"), filepath.Join(dir, "state")} {
		if info, err := os.Stat(sub); err != nil || !info.IsDir() {
			return nil, memory.Errorf(memory.Invalid,
				"%q is not a folder of emberd: %s not found; pass the folder that you use with --home", dir, sub)
		}
	}
	s.Home = dir
	c, err := s.Load()
	if err != nil {
		return nil, err
	}
	opt := daemon.EngineOptions(c, daemon.Logger(s, daemon.LevelOf(c.LogLevel)))
	opt.Vaults = nil
	e, err := engine.Open(opt)
	if errors.Is(err, durable.ErrLocked) {
		return nil, &cli.Exit{Code: cli.ExitLocked,
			Err: fmt.Errorf("a daemon uses %s; to send the command to the daemon, "+
				"omit --storage-path; otherwise, stop the daemon first", dir)}
	}
	return e, err
}

func printCompact(s *cli.App, r *op.CompactResult) {
	if len(r.Removed) > 0 {
		s.Printf("removed %s that earlier compactions replaced\n", cli.Count(len(r.Removed), "file", "files"))
	}
	if len(r.Inputs) == 0 {
		s.Printf("nothing to compact: %s\n", r.Reason)
		return
	}
	verb := "compacted"
	if r.DryRun {
		verb = "would compact"
	}
	s.Printf("%s %s of %s into %s of %s", verb, cli.Count(len(r.Inputs), "file", "files"), cli.Size(r.Before), r.Output,
		cli.Size(r.After))
	if r.HistoryBytes > 0 {
		s.Printf(", and %s of history", cli.Size(r.HistoryBytes))
	}
	s.Printf("\n"+
		"%s: %s superseded, %s live, %s deletions (%s dropped)\n",
		cli.Count(r.Lines, "operation", "operations"),
		cli.Grouped(r.Superseded), cli.Grouped(r.Live), cli.Grouped(r.Tombstones+r.Dropped), cli.Grouped(r.Dropped))
	due := "compaction was not due"
	if r.Due {
		due = "compaction was due"
	}
	s.Printf("%s: %s\n", due, r.Reason)
}
