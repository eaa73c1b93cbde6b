package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

func (s *state) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what needs a human, and mend it",
		Long: `Look for what needs a human: whether the daemon runs and is well, whether others
can read your tokens, whether every log file is whole, and which damaged lines
or memories wait for a decision.
Nothing is changed; each finding names the command that goes on from there.`,
		Example: `  emberd doctor
  emberd doctor quarantine list`,
		Annotations: exits(endings{exitDone: "all is well", exitNothing: "something needs a look", exitLocked: ""}),
	}
	asGroup(cmd)
	cmd.Use = "doctor [COMMAND]"
	help := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return help(cmd, args)
		}
		return s.doctor(cmd.Context())
	}
	cmd.AddCommand(s.quarantineCommand(), s.staleCommand())
	return cmd
}

// diagnosis is what doctor found; with --json it is the result.
type diagnosis struct {
	OK     bool    `json:"ok"`
	Checks []check `json:"checks"`
}

// check is one thing that doctor looked at. Next is a command that goes on from
// a finding.
type check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	Next string `json:"next,omitempty"`
}

func (s *state) doctor(ctx context.Context) error {
	d := &diagnosis{OK: true}
	for _, look := range []func(context.Context) ([]check, error){s.checkDaemon, s.checkTokens, s.checkLogFiles, s.checkQuarantine, s.checkStale} {
		found, err := look(ctx)
		if err != nil {
			return err
		}
		d.Checks = append(d.Checks, found...)
	}
	for _, c := range d.Checks {
		d.OK = d.OK && c.OK
	}
	var err error
	if s.json {
		err = s.printJSON(d)
	} else {
		s.printDiagnosis(d)
	}
	if err == nil && !d.OK {
		err = &exit{code: exitNothing}
	}
	return err
}

func (s *state) printDiagnosis(d *diagnosis) {
	for _, c := range d.Checks {
		mark := s.screen.paint(green, "ok  ")
		if !c.OK {
			mark = s.screen.paint(yellow, "look")
		}
		s.printf("%s  %s %s\n", mark, pad(c.Name, 10), clean(c.Text))
		if c.Next != "" {
			s.printf("%s %s\n", strings.Repeat(" ", 16), s.screen.paint(faint, "next: "+c.Next))
		}
	}
}

// checkDaemon asks the daemon how it is.
func (s *state) checkDaemon(ctx context.Context) ([]check, error) {
	st, err := call(ctx, s, op.Status, &op.StatusRequest{})
	if memory.CodeOf(err) == memory.Unavailable {
		return []check{{Name: "daemon", Text: "it does not run", Next: "emberd serve"}}, nil
	}
	if err != nil {
		return []check{{Name: "daemon", Text: err.Error()}}, nil
	}
	out := []check{{Name: "daemon", OK: st.Log.ReadOnly == "", Next: map[bool]string{false: "emberd status"}[st.Log.ReadOnly == ""],
		Text: cmp.Or(st.Log.ReadOnly, fmt.Sprintf("%s, up for %s, %s", st.Health, lasted(s.now().Sub(st.Started)), count(st.Memories, "memory", "memories")))}}
	for _, w := range st.Warnings {
		if !strings.Contains(w, "quarantine") { // which has a check of its own
			out = append(out, check{Name: "warning", Text: w})
		}
	}
	return out, nil
}

// checkLogFiles reads every log file.
func (s *state) checkLogFiles(ctx context.Context) ([]check, error) {
	path, err := s.logPath(nil)
	if err != nil {
		return nil, err
	}
	r, err := s.checkLog(ctx, path)
	if memory.CodeOf(err) == memory.NotFound {
		return []check{{Name: "log", OK: true, Text: "nothing was saved yet in " + path}}, nil
	}
	if err != nil {
		return nil, err
	}
	c := check{Name: "log", OK: r.OK, Text: fmt.Sprintf("%s in %s, %s", count(r.Lines, "line", "lines"), count(len(r.Files), "file", "files"), size(r.Bytes))}
	if !r.OK {
		c.Text += ": " + count(r.Wrong, "thing is wrong", "things are wrong")
		c.Next = "emberd log check"
	}
	return []check{c}, nil
}

// checkQuarantine asks which damaged lines wait for a decision.
func (s *state) checkQuarantine(ctx context.Context) ([]check, error) {
	res, err := reach(ctx, s, op.QuarantineList, &op.QuarantineListRequest{})
	if memory.CodeOf(err) == memory.Unavailable {
		return nil, nil // there is neither a daemon nor a log
	}
	if err != nil {
		return nil, err
	}
	if len(res.Lines) == 0 {
		return []check{{Name: "quarantine", OK: true, Text: "no damaged line waits for a decision"}}, nil
	}
	return []check{{Name: "quarantine", Text: count(len(res.Lines), "damaged line waits", "damaged lines wait") + " for a decision",
		Next: "emberd doctor quarantine list"}}, nil
}

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
