package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) promoteCommand() *cobra.Command {
	var req op.PromoteRequest
	var auto bool
	cmd := &cobra.Command{
		Use:   "promote ID… | --auto",
		Short: "Give memories a note in the vault",
		Long: `Give memories a note in the vault, in the folder that vault.promoted_folder
names. From then on the note is the memory's text: edit either, in Obsidian or
with emberd edit. A note that carries the memory's id already, in the property
memory-id, is taken for it; nothing is done twice, and no other note is touched.

A memory deserves a note by its score (promote.threshold), or by its uses
(promote.use_count within promote.window); --force gives it one all the same.
With --auto all memories that deserve one get it, as the keeper does by itself:
the score counts once a memory is of some age and was used since it was saved
(promote.min_age, promote.min_uses), with --force at once.

A note that cannot be written at the moment, say because git is at work in the
vault, is written later; emberd status tells what waits.`,
		Example: `  emberd promote 456789ab
  emberd promote --dry-run 456789ab 89ab0123
  emberd promote --auto --dry-run`,
		Annotations: exits(endings{
			exitNothing: "no memory with that id, one that does not deserve a note, or no vault", exitNoDaemon: "",
			exitConflict: "a note or folder of that name is there and is of something else",
			exitDisk:     "the disk is full, or the vault cannot be written", exitAgain: "",
		}),
		Args:              takes(0, -1, "a memory id, or several"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case auto && len(args) > 0:
				return wrong(cmd, "--auto and ids exclude each other; leave one out")
			case auto:
				return s.promoteAuto(cmd.Context(), &op.PromoteAutoRequest{DryRun: req.DryRun, Force: req.Force})
			case len(args) == 0:
				return wrong(cmd, "%s needs a memory id, or several, or --auto", cmd.CommandPath())
			}
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
	cmd.Flags().BoolVar(&auto, "auto", false, "all memories that deserve a note")
	cmd.Flags().BoolVar(&req.Force, "force", false, "whatever their score and use; with --auto whatever their age and use")
	return cmd
}

// promoteAuto prints who deserves a note, and who got one.
func (s *state) promoteAuto(ctx context.Context, req *op.PromoteAutoRequest) error {
	res, err := call(ctx, s, op.PromoteAuto, req)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(res)
	}
	for _, c := range res.Candidates[:min(longestList, len(res.Candidates))] {
		s.printf("%s  %s\n", s.short(c.ID), s.gist(c.Preview, len("12345678  ")))
		s.printf("          %s\n", s.screen.paint(faint, fmt.Sprintf("%s; %s, %.1f days old", clean(c.Reason), count(int(c.UseCount), "use", "uses"), c.AgeDays)))
	}
	if more := res.CandidatesFound - longestList; more > 0 {
		s.printf("and %s more\n", grouped(more))
	}
	s.printSkipped(res.Skipped)
	did, n := "promoted", res.PromotedCount
	if req.DryRun {
		did, n = "would promote", res.CandidatesFound
	}
	s.printf("%s %s\n", did, count(n, "memory", "memories"))
	s.undoHint(res.Tx)
	return nil
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
	unmet := res.Outcome == op.PromotionUnmet
	if s.json {
		err := s.printJSON(res)
		if err == nil && unmet {
			err = &exit{code: exitNothing}
		}
		return err
	}
	if unmet {
		return &exit{code: exitNothing, err: fmt.Errorf("memory %s gets no note: %s", s.short(res.Memory.ID), clean(res.Reason))}
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
