package main

import (
	"strings"

	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

func (s *state) forgetCommand() *cobra.Command {
	var req op.ForgetRequest
	cmd := &cobra.Command{
		Use:     "forget ID…",
		Aliases: []string{"rm"},
		Short:   "Move memories to the trash",
		Long: `Move memories to the trash, all of those named or none. They can be brought
back, with undo or with trash restore, until the trash lets go of them. What
they said is not saved again, here or on other devices, unless save --again asks
for it; notes are not touched. Up to 500 at a time.`,
		Example: `  emberd forget 456789ab
  emberd forget --dry-run 456789ab 89ab0123`,
		Annotations: exits(endings{
			exitNothing: "no memory with that id; nothing was forgotten", exitNoDaemon: "", exitConflict: "",
			exitDisk: "", exitAgain: "",
		}),
		Args:              takes(1, -1, "a memory id, or several"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 && req.IfMatch == "" {
				res, err := call(cmd.Context(), s, op.ForgetBatch, &op.ForgetBatchRequest{IDs: args, DryRun: req.DryRun})
				return s.printForgotten(res, err)
			}
			req.ID = strings.Join(args, ",")
			res, err := call(cmd.Context(), s, op.Forget, &req)
			return s.printForgotten(res, err)
		},
	}
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "tell what would go, change nothing")
	cmd.Flags().StringVar(&req.IfMatch, "if-match", "", "only if `REV` is still the revision; with one id")
	return cmd
}

func (s *state) printForgotten(res *op.ForgetResult, err error) error {
	switch {
	case err != nil:
		return err
	case s.json:
		return s.printJSON(res)
	}
	verb := "forgot"
	if res.DryRun {
		verb = "would forget"
	}
	for _, m := range res.Forgotten {
		s.printf("%s %s  %s\n", verb, s.short(m.ID), s.gist(m.Content, len(verb)+len(" 12345678  ")))
	}
	for _, path := range res.Notes {
		s.note("its note %s stays; delete it in the vault if it is to go too", flat(path))
	}
	if !res.DryRun && !res.Until.IsZero() {
		s.note("in the trash until %s", res.Until.In(s.zone).Format("2006-01-02 15:04"))
	}
	s.undoHint(res.Tx)
	if p := res.Error; p != nil {
		return memory.Errorf(p.Code, "%s; the others were not forgotten", p.Detail)
	}
	return nil
}
