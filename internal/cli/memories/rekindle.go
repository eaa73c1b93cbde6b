package memories

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
)

func RekindleCommand(s *cli.App) *cobra.Command {
	var req op.RekindleRequest
	cmd := cli.Command("rekindle ID|WORDS…", cli.ArgCount(1, -1, "a memory ID, or words"), s.CompleteIDs,
		func(cmd *cobra.Command, args []string) error {
			req.Query = strings.Join(args, " ")
			res, err := cli.Call(cmd.Context(), s, op.Rekindle, &req)
			if !req.DryRun && nothingArchived(res, err) && areIDs(args) {
				restored, err := cli.Call(cmd.Context(), s, op.TrashRestore, &op.TrashRestoreRequest{IDs: args})
				if err == nil {
					return s.Answer(restored, func() { printRestored(s, restored) })
				}
			}
			if err != nil {
				return err
			}
			return s.Found(res, withText(res), func() { printRekindled(s, res) })
		})
	cli.Bind(cmd.Flags(), &req, "dry-run")
	return cmd
}

func nothingArchived(res *op.RekindleAnswer, err error) bool {
	if err != nil {
		return memory.CodeOf(err) == memory.NotFound || memory.CodeOf(err) == memory.Forgotten
	}
	return len(res.Results) == 0
}

// areIDs reports whether all args look like IDs, whole or shortened.
func areIDs(args []string) bool {
	return !slices.ContainsFunc(args, func(arg string) bool {
		return len(arg) < 4 || strings.Trim(arg, "0123456789abcdef-") != ""
	})
}

// withText counts the memories whose text is there.
func withText(res *op.RekindleAnswer) (n int) {
	for _, r := range res.Results {
		if r.Memory.Stage != "" && (!r.Memory.Stage.Cold() || res.DryRun && r.Verdict != "" &&
			r.Verdict != string(rekindle.Gone)) {
			n++
		}
	}
	return n
}

func printRekindled(s *cli.App, res *op.RekindleAnswer) {
	for i, r := range res.Results {
		if i > 0 {
			s.Printf("\n")
		}
		printRekindledOne(s, &r, res.DryRun)
	}
	for _, m := range res.Nearest {
		s.Printf("%s  %s\n", s.Short(m.ID), s.Gist(m.Content, len("12345678  ")))
	}
	if res.Hint != "" {
		s.Note("%s", cli.Clean(res.Hint))
	}
}

func printRekindledOne(s *cli.App, r *op.RekindleResult, dry bool) {
	verb := "rekindled"
	switch {
	case r.Verdict == "" && r.Memory.Stage != "" && !r.Memory.Stage.Cold():
		verb = "already " + string(r.Memory.Stage)
	case r.Verdict == "":
		verb = "left"
	case r.Verdict == string(rekindle.Gone):
		verb = "gone"
	case dry:
		verb = "would rekindle"
	}
	s.Printf("%s %s", verb, s.Short(r.Memory.ID))
	if r.Path != "" {
		s.Printf("  %s", cli.Flat(r.Path))
	}
	s.Printf("\n%s", s.Screen.Paragraph(cli.Clean(r.Memory.Content), nil, "  "))
	switch {
	case r.Verdict == string(rekindle.Moved) && r.Edited:
		s.Note("the note was moved and edited; emberd uses its current text")
	case r.Verdict == string(rekindle.Moved):
		s.Note("the note was moved; emberd found the note by its ID")
	case r.Edited:
		s.Note("the note was edited; emberd uses its current text")
	}
	for _, n := range r.Near {
		s.Note("similar note: %s:%d", cli.Flat(n.Path), n.Line)
	}
	if r.Hint != "" {
		s.Note("%s", cli.Clean(r.Hint))
	}
	if !r.Until.IsZero() {
		s.Note("the log keeps the text until %s", r.Until.In(s.Zone).Format("2006-01-02"))
	}
	if r.Verdict != string(rekindle.Gone) {
		s.UndoHint(r.Tx)
	}
}
