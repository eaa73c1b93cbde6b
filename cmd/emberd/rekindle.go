package main

import (
	"strings"

	"github.com/spf13/cobra"

	"emberd/op"
	"emberd/rekindle"
)

func (s *state) rekindleCommand() *cobra.Command {
	var req op.RekindleRequest
	cmd := &cobra.Command{
		Use:   "rekindle ID|WORDS…",
		Short: "Bring an archived memory back",
		Long: `Bring an archived memory back: the one with that id, or those that the words
mean. The text is that of its note as it is now. If you edited the note since,
your text counts; if you moved it, it is followed; if it is gone, the summary
stays, and you are told which notes are nearest to it and whether the log has
the text still.`,
		Example: `  emberd rekindle 456789ab
  emberd rekindle kettle gasket --dry-run`,
		Annotations: exits(endings{
			exitNothing: "no memory with that id, none that the words mean, or no text", exitNoDaemon: "",
			exitConflict: "its note cannot be read as it is, or its text not be taken over",
			exitDisk:     "", exitAgain: "its note cannot be read now",
		}),
		Args:              takes(1, -1, "a memory id, or words"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Query = strings.Join(args, " ")
			res, err := call(cmd.Context(), s, op.Rekindle, &req)
			if err != nil {
				return err
			}
			return s.found(res, withText(res), func() { s.printRekindled(res) })
		},
	}
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "tell what became of its note, change nothing")
	return cmd
}

// withText counts the memories whose text is there.
func withText(res *op.RekindleAnswer) (n int) {
	for _, r := range res.Results {
		if r.Memory.Stage != "" && (!r.Memory.Stage.Cold() || res.DryRun && r.Verdict != "" && r.Verdict != string(rekindle.Gone)) {
			n++
		}
	}
	return n
}

func (s *state) printRekindled(res *op.RekindleAnswer) {
	for i, r := range res.Results {
		if i > 0 {
			s.printf("\n")
		}
		s.printRekindledOne(&r, res.DryRun)
	}
	for _, m := range res.Nearest {
		s.printf("%s  %s\n", s.short(m.ID), s.gist(m.Content, len("12345678  ")))
	}
	if res.Hint != "" {
		s.note("%s", clean(res.Hint))
	}
}

func (s *state) printRekindledOne(r *op.RekindleResult, dry bool) {
	verb := "rekindled"
	switch {
	case r.Verdict == "":
		verb = "left"
	case r.Verdict == string(rekindle.Gone):
		verb = "gone"
	case dry:
		verb = "would rekindle"
	}
	s.printf("%s %s", verb, s.short(r.Memory.ID))
	if r.Path != "" {
		s.printf("  %s", flat(r.Path))
	}
	s.printf("\n%s", s.screen.paragraph(clean(r.Memory.Content), nil, "  "))
	switch {
	case r.Verdict == string(rekindle.Moved) && r.Edited:
		s.note("its note was moved and edited since; the text is the note's as it is now")
	case r.Verdict == string(rekindle.Moved):
		s.note("its note was moved since, and followed by the id in it")
	case r.Edited:
		s.note("its note was edited since; the text is the note's as it is now")
	}
	for _, n := range r.Near {
		s.note("a note that is near: %s:%d", flat(n.Path), n.Line)
	}
	if r.Hint != "" {
		s.note("%s", clean(r.Hint))
	}
	if !r.Until.IsZero() {
		s.note("the log keeps the text until %s", r.Until.In(s.zone).Format("2006-01-02"))
	}
	if r.Verdict != string(rekindle.Gone) {
		s.undoHint(r.Tx)
	}
}
