package main

import (
	"context"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) gcCommand() *cobra.Command {
	var req op.GCRequest
	dry, yes := true, false
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Collect memories that are hardly worth keeping",
		Long: `Collect the memories whose decay score is below forget.threshold, lowest first
and whatever their stage, but for core and promoted ones. Without --yes it only
tells which. They go to the trash, from where undo or trash restore bring them
back; with --archive-instead their text goes to the vault and a sentence stays.`,
		Example: `  emberd gc
  emberd gc --yes --limit 50
  emberd gc --yes --archive-instead`,
		Annotations: exits(endings{
			exitNothing: "with --archive-instead: there is no vault", exitNoDaemon: "",
			exitDisk: "", exitAgain: "",
		}),
		Args: takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if yes && cmd.Flags().Changed("dry-run") && dry {
				return wrong(cmd, "--yes and --dry-run exclude each other; leave one out")
			}
			req.DryRun = new(dry && !yes)
			res, err := call(cmd.Context(), s, op.GC, &req)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printCollected(cmd.Context(), res)
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&dry, "dry-run", true, "tell what would be done, change nothing; --dry-run=false is --yes")
	f.BoolVar(&yes, "yes", false, "do it")
	f.BoolVar(&req.ArchiveInstead, "archive-instead", false, "archive in the vault instead of moving to the trash")
	f.IntVarP(&req.Limit, "limit", "n", 0, "at most `N` memories, lowest score first; 0 for all")
	return cmd
}

func (s *state) printCollected(ctx context.Context, r *op.GCResult) {
	shown := r.MemoryIDs[:min(longestList, len(r.MemoryIDs))]
	texts := s.briefs(ctx, shown)
	for _, id := range shown {
		s.printBrief(id, texts)
	}
	if more := r.TotalAffected - longestList; more > 0 {
		s.printf("  and %s more\n", grouped(more))
	}
	s.printSkipped(r.Skipped)
	s.printf("%s\n", clean(r.Message))
	if r.AlreadyCold > 0 {
		s.note("%s archived already", count(r.AlreadyCold, "more is", "more are"))
	}
	if r.DryRun && r.TotalAffected > 0 {
		s.note("nothing was changed; --yes does it")
	}
	s.undoHint(r.Tx)
}
