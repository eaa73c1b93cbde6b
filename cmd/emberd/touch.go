package main

import (
	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) touchCommand() *cobra.Command {
	var req op.TouchRequest
	cmd := &cobra.Command{
		Use:   "touch ID…",
		Short: "Count a use of memories, so that they fade later",
		Long: `Count a use of memories, as show does: their scores rise, and a demoted one is
active again within seconds. With --boost their strength rises too, by 0.1 up to
2, in their notes as well.`,
		Example: `  emberd touch 456789ab
  emberd touch 456789ab --boost`,
		Annotations: exits(endings{
			exitNothing: "no memory with that id", exitNoDaemon: "",
			exitConflict: "with --boost: somebody edited the note of the memory just now",
			exitDisk:     "", exitAgain: "",
		}),
		Args:              takes(1, -1, "a memory id, or several"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var failed []error
			for _, id := range args {
				req.ID = id
				res, err := call(cmd.Context(), s, op.Touch, &req)
				if err == nil {
					err = s.printTouched(res)
				}
				failed = append(failed, err)
			}
			return joined(failed)
		},
	}
	cmd.Flags().BoolVar(&req.Boost, "boost", false, "raise their strength by 0.1, up to 2")
	return cmd
}

func (s *state) printTouched(r *op.TouchResult) error {
	if s.json {
		return s.printJSON(r)
	}
	s.printf("touched %s  score %.2f, was %.2f; %s; strength %.4g\n", s.short(r.MemoryID), r.NewScore, r.OldScore, count(int(r.UseCount), "use", "uses"), r.Strength)
	if r.Held != "" {
		s.note("its strength stays: %s", r.Held)
	}
	s.printPending(r.Pending)
	s.undoHint(r.Tx)
	return nil
}
