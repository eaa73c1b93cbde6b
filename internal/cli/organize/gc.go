package organize

import (
	"context"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func gcCommand(s *cli.App) *cobra.Command {
	var req op.GCRequest
	dry, yes := true, false
	cmd := cli.Command("gc", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		if yes && cmd.Flags().Changed("dry-run") && dry {
			return cli.UsageError(cmd, "--yes and --dry-run cannot be combined")
		}
		req.DryRun = new(dry && !yes)
		return cli.Show(cmd.Context(), s, op.GC, &req,
			func(s *cli.App, res *op.GCResult) { printCollected(cmd.Context(), s, res) })
	})
	f := cmd.Flags()
	f.BoolVar(&dry, "dry-run", true, "")
	f.BoolVar(&yes, "yes", false, "")
	cli.Bind(f, &req, "archive-instead", "limit,n")
	return cmd
}

func printCollected(ctx context.Context, s *cli.App, r *op.GCResult) {
	shown := r.MemoryIDs[:min(cli.MaxListLen, len(r.MemoryIDs))]
	texts := briefs(ctx, s, shown)
	for _, id := range shown {
		printBrief(s, id, texts)
	}
	if more := r.TotalAffected - cli.MaxListLen; more > 0 {
		s.Printf("  and %s more\n", cli.Grouped(more))
	}
	printSkipped(s, r.Skipped)
	s.Printf("%s\n", cli.Clean(r.Message))
	if r.DryRun && r.TotalAffected > 0 {
		s.Note("nothing was changed; to apply the changes, use --yes")
	}
	s.UndoHint(r.Tx)
}
