package memories

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

func PurgeCommand(s *cli.App) *cobra.Command {
	var req op.PurgeRequest
	var yes bool
	cmd := cli.Command("purge ID", cli.ArgCount(1, 1, "a memory ID"), s.CompleteIDs,
		func(cmd *cobra.Command, args []string) error {
			req.ID = args[0]
			if !req.DryRun && !yes {
				if err := confirmPurge(cmd.Context(), s, req); err != nil {
					return err
				}
			}
			return cli.Show(cmd.Context(), s, op.Purge, &req, printPurged)
		})
	cli.Bind(cmd.Flags(), &req, "dry-run:DryRun", "backups:Backups")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "")
	return cmd
}

// confirmPurge asks on a terminal. Where nobody can be asked, it wants --yes.
func confirmPurge(ctx context.Context, s *cli.App, req op.PurgeRequest) error {
	if !s.Interactive() {
		return memory.Errorf(memory.Invalid, "without a terminal, a permanent deletion requires --yes, because you "+
			"cannot undo the deletion; to show what would change, use --dry-run")
	}
	req.DryRun = true
	res, err := cli.Call(ctx, s, op.Purge, &req)
	if err != nil {
		return err
	}
	yes, err := s.Agreed(ctx, fmt.Sprintf("delete memory %s permanently? You cannot undo this.", s.Short(res.ID)))
	if err != nil || yes {
		return err
	}
	s.Note("nothing was deleted")
	return &cli.Exit{Code: cli.ExitNothing}
}

func printPurged(s *cli.App, res *op.PurgeResult) {
	verb, rewrote, removed := "purged", "rewrote", "removed"
	if res.DryRun {
		verb, rewrote, removed = "would purge", "would rewrite", "would remove"
	}
	s.Printf("%s %s\n", verb, s.Short(res.ID))
	for _, name := range res.Rewritten {
		s.Printf("%s %s\n", rewrote, name)
	}
	for _, name := range res.Backups {
		s.Printf("%s backup %s\n", removed, name)
	}
	if slices.ContainsFunc(res.Backups, func(name string) bool { return filepath.Dir(name) != "." }) {
		s.Note("emberd also deletes earlier versions of the notes of the " +
			"memory, and of lists such as Index.md that can quote the memory")
	}
	if res.Quarantine > 0 {
		s.Printf("removed %s\n", cli.Count(res.Quarantine, "copy of a damaged line", "copies of damaged lines"))
	}
	if res.Messages > 0 {
		s.Printf("%s %s of past sessions\n", removed, cli.Count(res.Messages, "message", "messages"))
	}
	for _, l := range res.Left {
		s.Printf("not deleted: %s\n", strings.TrimPrefix(l.Kind+" "+l.Place+": "+l.Advice, "elsewhere : "))
	}
}
