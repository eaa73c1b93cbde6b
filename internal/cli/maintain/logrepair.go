package maintain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"emberd/engine"
	"emberd/engine/storage"
	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

func logRepairCommand(s *cli.App) *cobra.Command {
	var opt storage.RepairOptions
	var dry bool
	cmd := cli.Command("repair", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		if err := s.WithoutToken("emberd doctor log repair writes the log of all memories"); err != nil {
			return err
		}
		if dry {
			return previewRepair(cmd.Context(), s)
		}
		res, err := repairLog(cmd.Context(), s, opt)
		if err != nil {
			return err
		}
		err = s.Answer(res, func() { printRepaired(s, res) })
		return unlessLacking(res, err)
	})
	cmd.Flags().BoolVar(&dry, "dry-run", false, "")
	cmd.Flags().StringArrayVar(&opt.Backups, "from", nil, "")
	cmd.Flags().BoolVar(&opt.Accept, "accept-loss", false, "")
	return cmd
}

// repairLog opens the store for itself and repairs its log.
func repairLog(ctx context.Context, s *cli.App, opt storage.RepairOptions) (res *storage.Repaired, err error) {
	c, err := s.Load()
	if err != nil {
		return nil, err
	}
	if errors.Is(stm.Gone(durable.OS{}, c.Data, c.State), stm.ErrLogGone) {
		opt.Gone, err = stm.Lost(ctx, durable.OS{}, c.Data, c.State, daemon.Logger(s, slog.LevelError))
		if err != nil {
			return nil, err
		}
	}
	o := daemon.EngineOptions(c, daemon.Logger(s, slog.LevelError)) // the result says the rest
	vaults := o.Vaults
	o.Vaults, o.Repair = nil, true
	e, err := engine.Open(o)
	if errors.Is(err, durable.ErrLocked) {
		return nil, &cli.Exit{Code: cli.ExitLocked,
			Err: fmt.Errorf("the daemon is running, so emberd changed nothing; stop the daemon first: %w", err)}
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	missed := opt.Gone != nil || e.Storage.Misses()
	opt.Backups, vaults = splitSources(opt.Backups, vaults, missed)
	res, err = e.Storage.Repair(ctx, opt)
	if err != nil {
		return nil, err
	}
	return res, repairFromNotes(op.WithCaller(ctx, owner()), e, vaults, res)
}

func owner() memory.Actor { return memory.Actor{Via: "cli", UID: os.Getuid(), PID: os.Getpid()} }

// splitSources separates backup files from vaults. The vaults of the settings count if something is missed.
func splitSources(from, vaults []string, missed bool) (backups, folders []string) {
	if missed {
		folders = vaults
	}
	for _, name := range from {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			folders = append(folders, name)
			continue
		}
		backups = append(backups, name)
	}
	return backups, folders
}

// repairFromNotes brings back the memories that only their notes have a text of.
func repairFromNotes(ctx context.Context, e *engine.Engine, vaults []string, res *storage.Repaired) error {
	for _, dir := range vaults {
		n, err := e.Transfer.FromNotes(ctx, dir)
		if n > 0 {
			res.From = append(res.From, storage.RepairedFrom{Copy: "the notes in " + dir, Memories: n, Lines: n})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// previewRepair compares the snapshot with the log, and changes nothing.
func previewRepair(ctx context.Context, s *cli.App) error {
	c, err := s.Load()
	if err != nil {
		return err
	}
	got, err := stm.Lost(ctx, durable.OS{}, c.Data, c.State, daemon.Logger(s, daemon.LevelOf(c.LogLevel)))
	if err != nil {
		return err
	}
	res := &storage.Repaired{From: []storage.RepairedFrom{}, Short: got.Short, Missing: got.Records - got.Covered}
	if got.Lines+got.Covered > 0 {
		res.From = append(res.From, storage.RepairedFrom{Copy: "snapshot", Memories: got.Memories, Lines: got.Lines,
			Records: got.Covered})
	}
	err = s.Answer(res, func() {
		if got.Lines+got.Covered == 0 && len(res.Short) == 0 && res.Missing == 0 {
			s.Note("the log contains all records of the snapshot")
		} else {
			printRepaired(s, res)
		}
		s.Note("--dry-run does not read backups, snapshots of earlier logs or notes, which can contain more records")
	})
	return unlessLacking(res, err)
}

// unlessLacking returns err, or the exit code for a log that still lacks something.
func unlessLacking(r *storage.Repaired, err error) error {
	if err == nil && (r.Missing+r.BareTrash+r.Damaged > 0 || len(r.Short) > 0) {
		return &cli.Exit{Code: cli.ExitNothing}
	}
	return err
}

func printRepaired(s *cli.App, r *storage.Repaired) {
	snapshot := slices.ContainsFunc(r.From, func(f storage.RepairedFrom) bool { return f.Copy == "snapshot" })
	for _, f := range r.From {
		if f.Histories > 0 {
			s.Printf("from %s: %s\n", f.Copy, cli.Count(f.Histories, "history", "histories"))
			continue
		}
		s.Printf("from %s: %s, %s of the log\n", f.Copy, cli.Count(f.Memories, "memory", "memories"),
			cli.Count(f.Lines, "line", "lines"))
		if !f.Made.IsZero() && r.Anew && (r.Missing > 0 || !snapshot) {
			s.Printf("    created at %s; if no other copy contains later changes, the later changes are lost\n",
				f.Made.In(s.Zone).Format("2006-01-02 15:04"))
		}
	}
	for _, why := range slices.Concat(r.Short, r.NotRead) {
		s.Printf("%s\n", why)
	}
	if r.GivenUpTexts > 0 {
		s.Note("accepted the loss of the texts of %s",
			cli.Count(r.GivenUpTexts, "memory of the trash", "memories of the trash"))
	}
	switch {
	case r.GivenUp > 0:
		s.Note("accepted the loss of %s; emberd no longer reports the loss",
			cli.Count(r.GivenUp, "record", "records"))
	case r.Missing > 0 && r.Anew:
		s.Note("%s missing, and no copy was found; started a new log with the remaining records",
			cli.Count(r.Missing, "record of the log is", "records of the log are"))
	case r.Missing > 0:
		s.Note("%s missing, and no copy was found; pass a backup with --from, or accept the loss with --accept-loss",
			cli.Count(r.Missing, "record of the log is", "records of the log are"))
	case r.BareTrash > 0:
		s.Note("%s; pass another backup with --from, or accept the loss of the texts with --accept-loss",
			bareText(r.BareTrash))
	case r.Damaged > 0:
		s.Note("%s skipped, and no known copy contains the records; pass another "+
			"backup with --from, or run: emberd doctor quarantine list",
			cli.Count(r.Damaged, "damaged line is", "damaged lines are"))
	case len(r.From) == 0 && len(r.Short) == 0 && r.GivenUpTexts == 0:
		s.Note("nothing is missing")
	}
}
