package main

import (
	"cmp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) quarantineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "quarantine",
		Short: "Decide about damaged log lines",
		Long: `Decide about damaged log lines. A line whose checksum does not match is passed
over, and a copy is kept. If what it says is right, because you changed it in an
editor, accept it: what of it was not written again since is written as a new
entry. If it is not needed, drop it. Either way it is not told about again; the
bytes in the log stay as they are until compaction.`,
		Example: `  emberd doctor quarantine list
  emberd doctor quarantine show s-00000042.jsonl@1234
  emberd doctor quarantine accept s-00000042.jsonl@1234`,
		Annotations: exits(endings{exitNothing: "", exitNoDaemon: ""}),
	}
	asGroup(cmd)
	cmd.AddCommand(s.quarantineListCommand(), s.quarantineShowCommand(), s.quarantineAcceptCommand(), s.quarantineDropCommand())
	return cmd
}

func (s *state) quarantineListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the damaged lines that wait for a decision",
		Example: `  emberd doctor quarantine list
  emberd doctor quarantine list --json | jq -r '.lines[].name'`,
		Annotations: exits(endings{exitNothing: "there is none", exitNoDaemon: "", exitLocked: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := reach(cmd.Context(), s, op.QuarantineList, &op.QuarantineListRequest{})
			if err != nil {
				return err
			}
			return s.found(res, len(res.Lines), func() {
				for _, l := range res.Lines {
					s.printQuarantined(&l)
				}
				if len(res.Lines) == 0 {
					s.note("no damaged line waits for a decision")
				}
			})
		},
	}
}

func (s *state) printQuarantined(l *op.QuarantinedLine) {
	at := ""
	if !l.At.IsZero() {
		at = l.At.In(s.zone).Format(time.DateTime)
	}
	says := strings.Join(nonEmpty(at, clean(l.Verb), clean(l.Op), string(l.ID)), " ")
	s.printf("%s  %s\n", s.screen.paint(yellow, clean(l.Name)), cmp.Or(says, "not readable"))
	s.printf("    %s, %d bytes\n", clean(l.Reason), l.Bytes)
	if !l.Acceptable {
		s.printf("    cannot be accepted: %s\n", clean(l.Hindrance))
	}
}

func (s *state) quarantineShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "show LINE",
		Short:             "Show a damaged line, and what accepting it would change",
		Example:           `  emberd doctor quarantine show s-00000042.jsonl@1234`,
		Annotations:       exits(endings{exitNothing: "no such line", exitNoDaemon: "", exitLocked: ""}),
		Args:              takes(1, 1, "the name of one line"),
		ValidArgsFunction: s.completeQuarantine,
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := reach(cmd.Context(), s, op.QuarantineShow, &op.QuarantineShowRequest{ID: args[0]})
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printQuarantined(&res.Line)
			if res.Line.Acceptable && len(res.Changes) == 0 {
				s.printf("    accepting it would change nothing: all of it was written again since\n")
			}
			for _, f := range res.Changes {
				s.printField(f)
			}
			s.printf("\n%s\n", clean(strings.TrimRight(res.Text, "\r\n")))
			return nil
		},
	}
}

func (s *state) quarantineAcceptCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "accept LINE…",
		Short: "Say that what a damaged line says is right",
		Long: `Say that what a damaged line says is right. It counts as if it had been read
like any other: what was written later stays, and the rest is written as a new
entry, which undo takes back.`,
		Example:           `  emberd doctor quarantine accept s-00000042.jsonl@1234`,
		Annotations:       exits(endings{exitNothing: "no such line", exitNoDaemon: "", exitLocked: "", exitDisk: "", exitAgain: ""}),
		Args:              takes(1, -1, "the name of a line, or several"),
		ValidArgsFunction: s.completeQuarantine,
		RunE: func(cmd *cobra.Command, args []string) error {
			return eachLine(s, args, func(name string) (*op.QuarantineAcceptResult, error) {
				return reach(cmd.Context(), s, op.QuarantineAccept, &op.QuarantineAcceptRequest{ID: name})
			}, func(res *op.QuarantineAcceptResult) {
				if res.Tx == "" {
					s.printf("accepted %s; all of it was written again since, so nothing changed\n", res.Name)
					return
				}
				s.printf("accepted %s: memory %s\n", res.Name, s.short(res.ID))
				s.undoHint(res.Tx)
			})
		},
	}
}

func (s *state) quarantineDropCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "drop LINE…",
		Short: "Say that a damaged line is not needed",
		Long: `Say that a damaged line is not needed. Its copy is removed for good and it is
not told about again. There is no undo; the bytes stay in the log until
compaction.`,
		Example:           `  emberd doctor quarantine drop s-00000042.jsonl@1234`,
		Annotations:       exits(endings{exitNothing: "no such line", exitNoDaemon: "", exitLocked: "", exitDisk: ""}),
		Args:              takes(1, -1, "the name of a line, or several"),
		ValidArgsFunction: s.completeQuarantine,
		RunE: func(cmd *cobra.Command, args []string) error {
			return eachLine(s, args, func(name string) (*op.QuarantineDropResult, error) {
				return reach(cmd.Context(), s, op.QuarantineDrop, &op.QuarantineDropRequest{ID: name})
			}, func(res *op.QuarantineDropResult) { s.printf("dropped %s\n", res.Name) })
		},
	}
}

// eachLine decides about one line after the other and tells each decision.
func eachLine[Res any](s *state, names []string, decide func(string) (*Res, error), print func(*Res)) error {
	done := []*Res{}
	for _, name := range names {
		res, err := decide(name)
		if err != nil {
			return err
		}
		if done = append(done, res); !s.json {
			print(res)
		}
	}
	if s.json {
		return s.printJSON(map[string]any{"lines": done})
	}
	return nil
}

// completeQuarantine offers the damaged lines that wait for a decision.
func (s *state) completeQuarantine(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	res, err := call(cmd.Context(), s, op.QuarantineList, &op.QuarantineListRequest{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, l := range res.Lines {
		out = append(out, cobra.CompletionWithDesc(l.Name, strings.TrimSpace(l.Verb+" "+l.ID.Short())))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
