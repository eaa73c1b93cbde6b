package memories

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

func ForgetCommand(s *cli.App) *cobra.Command {
	var req op.ForgetRequest
	cmd := &cobra.Command{
		Use:               "forget ID…",
		Args:              cli.ArgCount(1, -1, "one or more memory IDs"),
		ValidArgsFunction: s.CompleteIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 && req.IfMatch == "" {
				res, err := cli.Call(cmd.Context(), s, op.ForgetBatch,
					&op.ForgetBatchRequest{IDs: args, DryRun: req.DryRun})
				if wrong, ok := errors.AsType[*memory.Error](err); ok && aboutIDs(wrong.Code) {
					err = memory.Errorf(wrong.Code, "no memory was deleted: %s", wrong.Message).At(wrong.Field)
				}
				return printForgotten(s, res, err)
			}
			req.ID = strings.Join(args, ",")
			res, err := cli.Call(cmd.Context(), s, op.Forget, &req)
			return printForgotten(s, res, err)
		},
	}
	cli.Bind(cmd.Flags(), &req, "dry-run:DryRun", "if-match:IfMatch")
	return cmd
}

// aboutIDs reports whether an error is about the IDs, which emberd looks up before it deletes anything.
func aboutIDs(code memory.Code) bool {
	return code == memory.NotFound || code == memory.Invalid || code == memory.Ambiguous
}

func printForgotten(s *cli.App, res *op.ForgetResult, err error) error {
	switch {
	case err != nil:
		return err
	case s.JSON:
		return s.PrintJSON(res)
	}
	verb := "forgot"
	if res.DryRun {
		verb = "would forget"
	}
	for _, m := range res.Forgotten {
		s.Printf("%s %s  %s\n", verb, s.Short(m.ID), s.Gist(m.Content, len(verb)+len(" 12345678  ")))
	}
	for _, path := range res.Notes {
		s.Note("note %s was kept; if you do not need the note, delete it in the vault", cli.Flat(path))
	}
	if !res.DryRun && !res.Until.IsZero() {
		s.Note("kept in the trash until %s", res.Until.In(s.Zone).Format("2006-01-02 15:04"))
	}
	s.UndoHint(res.Tx)
	if p := res.Error; p != nil {
		return memory.Errorf(p.Code, "%s; no other memory was deleted", p.Detail)
	}
	return nil
}
