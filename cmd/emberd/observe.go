package main

import (
	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

func (s *state) observeCommand() *cobra.Command {
	var req op.ObserveRequest
	cmd := &cobra.Command{
		Use:   "observe ID…",
		Short: "Record that memories were used in an answer",
		Long: `Record that an answer was made with memories: each counts a use and a review.
With --tag, what the conversation is about, a memory whose own tags are far from
that gets stronger by 0.1, up to 2, for being of use in another domain too.`,
		Example: `  emberd observe 456789ab 0199b2d4 --tag api,backend`,
		Annotations: exits(endings{
			exitNothing: "no memory with one of the ids, or the setting reinforce.auto is off", exitNoDaemon: "", exitDisk: "", exitAgain: "",
		}),
		Args:              takes(1, -1, "a memory id, or several"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.IDs = args
			res, err := call(cmd.Context(), s, op.Observe, &req)
			if err != nil {
				return err
			}
			return s.printObserved(res)
		},
	}
	cmd.Flags().StringSliceVarP(&req.Tags, "tag", "t", nil, "`TAG` of what the conversation is about; repeatable, or a comma list")
	return cmd
}

func (s *state) printObserved(r *op.ObserveResult) error {
	missing := r.Reason != ""
	for _, o := range r.Results {
		missing = missing || o.Status != op.ObservedReinforced
	}
	if s.json {
		if err := s.printJSON(r); err != nil {
			return err
		}
	} else {
		s.tellObserved(r)
	}
	if missing {
		return &exit{code: exitNothing}
	}
	return nil
}

func (s *state) tellObserved(r *op.ObserveResult) {
	if r.Reason != "" {
		s.note("nothing was counted: the setting reinforce.auto is off") // the only reason there is
	}
	for i := range r.Results {
		o := &r.Results[i]
		if o.Status != op.ObservedReinforced {
			s.note("there is no memory %s", clean(o.ID))
			continue
		}
		line := count(int(o.UseCount), "use", "uses") + ", " + count(int(o.ReviewCount), "review", "reviews")
		if o.CrossDomain {
			line += ", in another domain"
		}
		s.printf("observed %s  %s; strength %.4g\n", s.short(memory.ID(o.ID)), line, o.Strength)
		if o.Stage != "" {
			s.note("%s stays %s; emberd rekindle brings its text back", memory.ID(o.ID).Short(), o.Stage)
		}
		s.printPending(o.Pending)
	}
	s.undoHint(r.Tx)
}
