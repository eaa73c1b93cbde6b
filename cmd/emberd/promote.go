package main

import (
	"errors"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) promoteCommand() *cobra.Command {
	var req op.PromoteRequest
	cmd := &cobra.Command{
		Use:   "promote ID…",
		Short: "Give memories a note in the vault",
		Long: `Give memories a note in the vault, in the folder that vault.promoted_folder
names. From then on the note is the memory's text: edit either, in Obsidian or
with emberd edit. A note that carries the memory's id already, in the property
memory-id, is taken for it; nothing is done twice, and no other note is touched.

A note that cannot be written at the moment, say because git is at work in the
vault, is written later; emberd status tells what waits.`,
		Example: `  emberd promote 456789ab
  emberd promote --dry-run 456789ab 89ab0123`,
		Annotations: exits(endings{
			exitNothing: "no memory with that id, or no vault", exitNoDaemon: "",
			exitConflict: "a note or folder of that name is there and is of something else",
			exitDisk:     "the disk is full, or the vault cannot be written", exitAgain: "",
		}),
		Args:              takes(1, -1, "a memory id, or several"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var failed []error
			for _, id := range args {
				req.ID = id
				res, err := call(cmd.Context(), s, op.Promote, &req)
				if err == nil {
					err = s.printPromoted(res)
				}
				failed = append(failed, err)
			}
			return joined(failed)
		},
	}
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "tell what would happen, change nothing")
	return cmd
}

// joined is all errors, with the exit code of the first; one stays as it is.
func joined(all []error) error {
	err := errors.Join(all...)
	many, ok := err.(interface{ Unwrap() []error })
	switch {
	case !ok:
		return nil
	case len(many.Unwrap()) == 1:
		return many.Unwrap()[0]
	}
	return &exit{code: codeOf(many.Unwrap()[0]), err: err}
}

func (s *state) printPromoted(res *op.PromoteResult) error {
	if s.json {
		return s.printJSON(res)
	}
	what := map[string]string{op.PromotionWritten: "wrote", op.PromotionAdopted: "adopted", op.PromotionAlready: "has", op.PromotionPending: "waits"}[res.Outcome]
	if res.DryRun && res.Outcome != op.PromotionAlready {
		what = map[string]string{op.PromotionWritten: "would write", op.PromotionAdopted: "would adopt", op.PromotionPending: "would wait"}[res.Outcome]
	}
	s.printf("%s %s  %s\n", what, s.short(res.Memory.ID), flat(res.Path))
	if res.Outcome == op.PromotionPending {
		s.note("%s; the note is written as soon as it can be", clean(res.Reason))
	}
	s.undoHint(res.Tx)
	return nil
}

// printPending tells why a note does not have yet what its memory has.
func (s *state) printPending(w *op.PendingWrite) {
	if w != nil {
		s.note("not in the note %s yet: %s", flat(w.Path), clean(w.Reason))
	}
}
