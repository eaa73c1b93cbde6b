package memories

import (
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

func ObserveCommand(s *cli.App) *cobra.Command {
	var req op.ObserveRequest
	cmd := cli.Command("observe ID…", cli.ArgCount(1, -1, "one or more memory IDs"), s.CompleteIDs,
		func(cmd *cobra.Command, args []string) error {
			req.IDs = args
			res, err := cli.Call(cmd.Context(), s, op.Observe, &req)
			if err != nil {
				return err
			}
			return printObserved(s, res)
		})
	cli.Bind(cmd.Flags(), &req, "tag:tags,t")
	return cmd
}

func printObserved(s *cli.App, r *op.ObserveResult) error {
	missing := r.Reason != ""
	for _, o := range r.Results {
		missing = missing || o.Status != op.ObservedReinforced
	}
	if s.JSON {
		if err := s.PrintJSON(r); err != nil {
			return err
		}
	} else {
		tellObserved(s, r)
	}
	if missing {
		return &cli.Exit{Code: cli.ExitNothing}
	}
	return nil
}

func tellObserved(s *cli.App, r *op.ObserveResult) {
	if r.Reason != "" {
		s.Note("no uses recorded: reinforce.auto is off") // the only reason there is
	}
	for i := range r.Results {
		o := &r.Results[i]
		if o.Status != op.ObservedReinforced {
			s.Note("memory %s not found", cli.Clean(o.ID))
			continue
		}
		line := cli.Count(int(o.UseCount), "use", "uses") + ", " + cli.Count(int(o.ReviewCount), "review", "reviews")
		if o.CrossDomain {
			line += ", on a different topic"
		}
		s.Printf("observed %s  %s; strength %.4g\n", s.Short(memory.ID(o.ID)), line, o.Strength)
		if o.Stage != "" {
			s.Note("memory %s is still %s; to restore its text, run: emberd rekindle %[1]s", memory.ID(o.ID).Short(),
				o.Stage)
		}
		cli.PrintPending(s, o.Pending)
	}
	s.UndoHint(r.Tx)
}
