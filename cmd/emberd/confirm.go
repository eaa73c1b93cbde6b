package main

import (
	"strings"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) confirmCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "confirm ID…",
		Short: "Say that what a tool or the web said holds",
		Long: `Say that memories hold whose words are those of a tool or of the web. Until then
they are data only: they are found like all others, and nothing raises how much
they count for or gives them a note. Only a person can say so, so no agent has
this among its tools; undo takes it back.`,
		Example: `  emberd confirm 456789ab`,
		Annotations: exits(endings{
			exitNothing: "no memory with one of the ids; then none is confirmed", exitNoDaemon: "", exitDisk: "", exitAgain: "",
		}),
		Args:              takes(1, -1, "a memory id, or several"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := call(cmd.Context(), s, op.Confirm, &op.ConfirmRequest{ID: strings.Join(args, ",")})
			if err != nil {
				return err
			}
			return s.printConfirmed(res)
		},
	}
}

func (s *state) printConfirmed(res *op.ConfirmResult) error {
	if s.json {
		return s.printJSON(res)
	}
	for _, m := range res.Memories {
		s.printf("confirmed %s  %s\n", s.short(m.ID), s.gist(m.Content, len("confirmed 12345678  ")))
	}
	if res.Tx == "" {
		s.note("%s counted like all others before; nothing was changed", either(len(res.Memories) == 1, "it", "they"))
	}
	s.undoHint(res.Tx)
	return nil
}
