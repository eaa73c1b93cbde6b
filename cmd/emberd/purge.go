package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

func (s *state) purgeCommand() *cobra.Command {
	var req op.PurgeRequest
	var yes bool
	cmd := &cobra.Command{
		Use:   "purge ID",
		Short: "Remove a memory for good",
		Long: `Remove a memory for good, live or in the trash: from the log and its history,
from the snapshot and from the copies of damaged lines. Nothing takes that back.
Other devices do the same when they see it. What cannot be reached from here is
listed: see to it yourself.

Most of the time forget is what you want: it can be undone.`,
		Example: `  emberd purge --dry-run 456789ab
  emberd purge --yes --backups 456789ab`,
		Annotations: exits(endings{
			exitNothing: "no memory with that id, or not confirmed; nothing was purged", exitNoDaemon: "",
			exitDisk: "", exitAgain: "",
		}),
		Args:              takes(1, 1, "a memory id"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.ID = args[0]
			if !req.DryRun && !yes {
				if err := s.confirmPurge(cmd.Context(), req); err != nil {
					return err
				}
			}
			res, err := call(cmd.Context(), s, op.Purge, &req)
			if err != nil {
				return err
			}
			return s.printPurged(res)
		},
	}
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "tell what would go, change nothing")
	cmd.Flags().BoolVar(&req.Backups, "backups", false, "also remove the backups in the state folder that hold it")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// confirmPurge asks on a terminal. Where nobody can be asked, it wants --yes.
func (s *state) confirmPurge(ctx context.Context, req op.PurgeRequest) error {
	if !s.interactive() {
		return memory.Errorf(memory.Invalid, "a purge cannot be taken back, so it wants --yes where nobody can be asked; --dry-run tells what would go")
	}
	req.DryRun = true
	res, err := call(ctx, s, op.Purge, &req)
	if err != nil {
		return err
	}
	yes, err := s.agreed(ctx, fmt.Sprintf("purge memory %s for good? Nothing takes that back.", s.short(res.ID)))
	if err != nil || yes {
		return err
	}
	s.note("nothing was purged")
	return &exit{code: exitNothing}
}

func (s *state) printPurged(res *op.PurgeResult) error {
	if s.json {
		return s.printJSON(res)
	}
	verb, rewrote, removed := "purged", "rewrote", "removed"
	if res.DryRun {
		verb, rewrote, removed = "would purge", "would rewrite", "would remove"
	}
	s.printf("%s %s\n", verb, s.short(res.ID))
	for _, name := range res.Rewritten {
		s.printf("%s %s\n", rewrote, name)
	}
	for _, name := range res.Backups {
		s.printf("%s backup %s\n", removed, name)
	}
	if res.Quarantine > 0 {
		s.printf("removed %s\n", count(res.Quarantine, "copy of a damaged line", "copies of damaged lines"))
	}
	for _, l := range res.Left {
		s.printf("not reached: %s\n", strings.TrimPrefix(l.Kind+" "+l.Place+": "+l.Advice, "elsewhere : "))
	}
	return nil
}
