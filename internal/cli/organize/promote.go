package organize

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func PromoteCommand(s *cli.App) *cobra.Command {
	var req op.PromoteRequest
	var auto bool
	cmd := cli.Command("promote ID… | --auto", cli.ArgCount(0, -1, "one or more memory IDs"), s.CompleteIDs,
		func(cmd *cobra.Command, args []string) error {
			switch {
			case auto && len(args) > 0:
				return cli.UsageError(cmd, "--auto and memory IDs cannot be combined")
			case auto:
				return promoteAuto(cmd.Context(), s, &op.PromoteAutoRequest{DryRun: req.DryRun, Force: req.Force})
			case len(args) == 0:
				return cli.UsageError(cmd, "%s requires one or more memory IDs, or --auto", cmd.CommandPath())
			}
			return promoteAll(cmd.Context(), s, &req, args)
		})
	cli.Bind(cmd.Flags(), &req, "dry-run", "force")
	cmd.Flags().BoolVar(&auto, "auto", false, "")
	return cmd
}

// promoteAll promotes memories in one change.
func promoteAll(ctx context.Context, s *cli.App, req *op.PromoteRequest, ids []string) error {
	var failed []error
	for _, id := range ids {
		req.ID = id
		res, err := cli.Call(ctx, s, op.Promote, req)
		if err == nil {
			req.Tx = cmp.Or(res.Tx, req.Tx)
			err = printPromoted(s, res)
		}
		failed = append(failed, err)
	}
	if !s.JSON {
		s.UndoHint(req.Tx)
	}
	return cli.Joined(failed)
}

// promoteAuto prints who deserves a note, and who got one.
func promoteAuto(ctx context.Context, s *cli.App, req *op.PromoteAutoRequest) error {
	return cli.Show(ctx, s, op.PromoteAuto, req, func(s *cli.App, res *op.PromoteAutoResult) {
		for _, c := range res.Candidates[:min(cli.MaxListLen, len(res.Candidates))] {
			s.Printf("%s  %s\n", s.Short(c.ID), s.Gist(c.Preview, len("12345678  ")))
			s.Printf("          %s\n",
				s.Screen.Paint(cli.Faint, fmt.Sprintf("%s; %s, %.1f days old", cli.Clean(c.Reason),
					cli.Count(int(c.UseCount), "use", "uses"), c.AgeDays)))
		}
		if more := res.CandidatesFound - cli.MaxListLen; more > 0 {
			s.Printf("and %s more\n", cli.Grouped(more))
		}
		printSkipped(s, res.Skipped)
		did, n := "promoted", res.PromotedCount
		if req.DryRun {
			did, n = "would promote", res.CandidatesFound
		}
		s.Printf("%s %s\n", did, cli.Count(n, "memory", "memories"))
		s.UndoHint(res.Tx)
	})
}

func printPromoted(s *cli.App, res *op.PromoteResult) error {
	unmet := res.Outcome == op.PromotionUnmet
	if s.JSON {
		err := s.PrintJSON(res)
		if err == nil && unmet {
			err = &cli.Exit{Code: cli.ExitNothing}
		}
		return err
	}
	if unmet {
		return &cli.Exit{Code: cli.ExitNothing, Err: fmt.Errorf("memory %s was not promoted: %s",
			s.Short(res.Memory.ID),
			cli.Clean(res.Reason))}
	}
	what := map[string]string{op.PromotionWritten: "wrote", op.PromotionAdopted: "adopted", op.PromotionAlready: "has",
		op.PromotionPending: "waits"}[res.Outcome]
	if res.DryRun && res.Outcome != op.PromotionAlready {
		what = map[string]string{op.PromotionWritten: "would write", op.PromotionAdopted: "would adopt",
			op.PromotionPending: "would wait"}[res.Outcome]
	}
	s.Printf("%s %s  %s\n", what, s.Short(res.Memory.ID), cli.Flat(res.Path))
	if res.Outcome == op.PromotionPending {
		s.Note("%s; emberd writes the note as soon as possible", cli.Clean(res.Reason))
	}
	return nil
}
