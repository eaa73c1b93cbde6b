package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/doctor"
	"emberd/memory"
)

func (s *state) doctorCommand() *cobra.Command {
	var fix bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what needs a human, and mend it",
		Long: `Look for what needs a human: who can reach emberd's files, whether the daemon
answers and is the only one, whether every log file, the index and the model are
whole, what sync tools left in the vault, and whether watches, disk, clock and
service are as they should be. With and without a daemon.

No memory, note or setting is changed; each finding names the command that
mends it. With --fix those are mended that cannot cost anything: modes of
emberd's own files, the socket of a daemon that was killed, a damaged index, a
service that is not what the settings ask for. All is looked at again then.`,
		Example: `  emberd doctor
  emberd doctor --fix
  emberd doctor --json | jq -r '.checks[] | select(.ok | not) | .code'
  emberd doctor quarantine list`,
		Annotations: exits(endings{exitDone: "all is well", exitNothing: "something needs a look"}),
	}
	asGroup(cmd)
	cmd.Use = "doctor [COMMAND]"
	help := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return help(cmd, args)
		}
		return s.doctor(cmd.Context(), fix)
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "mend what is safe to mend, and look again")
	cmd.AddCommand(s.quarantineCommand(), s.staleCommand())
	return cmd
}

// diagnosis is what doctor found; with --json it is the result.
type diagnosis struct {
	OK     bool    `json:"ok"`
	Checks []check `json:"checks"` // the worst first
	Fixed  []fixed `json:"fixed,omitempty"`
}

// check is one thing that doctor looked at. Next is a command that mends a finding or goes
// on from it.
type check struct {
	Name     string          `json:"name"`
	Code     string          `json:"code,omitempty"`
	Severity doctor.Severity `json:"severity"`
	OK       bool            `json:"ok"`
	Text     string          `json:"text"`
	Next     string          `json:"next,omitempty"`
	Fixable  bool            `json:"fixable,omitempty"` // by --fix
}

// fixed is what --fix did, or could not do.
type fixed struct {
	Name string `json:"name"`
	Code string `json:"code"`
	Done bool   `json:"done"`
	Text string `json:"text"`
}

func (s *state) doctor(ctx context.Context, fix bool) error {
	found, err := s.examine(ctx)
	if err != nil {
		return err
	}
	d := &diagnosis{}
	if fix {
		if d.Fixed = mend(ctx, found); len(d.Fixed) > 0 {
			if found, err = s.examine(ctx); err != nil {
				return err
			}
		}
	}
	d.take(s, found)
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

// mend does what can be done without asking.
func mend(ctx context.Context, found []doctor.Finding) (done []fixed) {
	for _, f := range found {
		if f.Fix == nil {
			continue
		}
		text, err := f.Fix(ctx)
		if err != nil {
			text = err.Error()
		}
		done = append(done, fixed{Name: f.Area, Code: f.Code, Done: err == nil, Text: text})
	}
	return done
}

// take makes findings the answer.
func (d *diagnosis) take(s *state, found []doctor.Finding) {
	doctor.Sort(found)
	d.OK = true
	for _, f := range found {
		c := check{Name: f.Area, Code: f.Code, Severity: f.Severity, OK: f.Severity == doctor.OK || f.Severity == doctor.Note,
			Text: f.Text, Next: f.Next, Fixable: f.Fix != nil}
		if words, ok := strings.CutPrefix(f.Next, "emberd "); ok {
			c.Next = s.again(words)
		}
		d.OK = d.OK && c.OK
		d.Checks = append(d.Checks, c)
	}
}

// printDiagnosis shows findings with their commands, and of what is all right little more
// than that it was looked at.
func (s *state) printDiagnosis(d *diagnosis) {
	for _, f := range d.Fixed {
		s.printCheck(s.screen.paint(map[bool]style{true: green, false: red}[f.Done], map[bool]string{true: "did ", false: "not "}[f.Done]), f.Name, f.Text)
	}
	var also []string
	fixable := 0
	for _, c := range d.Checks {
		if c.Severity == doctor.OK && c.Name != "daemon" && c.Name != "log" && c.Name != "vault" {
			also = append(also, c.Name)
			continue
		}
		colour := map[doctor.Severity]style{doctor.Bad: red, doctor.Look: yellow, doctor.Note: cyan, doctor.OK: green}[c.Severity]
		s.printCheck(s.screen.paint(colour, pad(string(c.Severity), 4)), c.Name, c.Text)
		if c.Next != "" {
			s.printf("%s%s\n", strings.Repeat(" ", textColumn), s.screen.paint(faint, "next: "+flat(c.Next)))
		}
		if c.Fixable {
			fixable++
		}
	}
	if len(also) > 0 {
		s.printCheck(s.screen.paint(green, "ok  "), "also", strings.Join(also, ", "))
	}
	if fixable > 0 && len(d.Fixed) == 0 {
		s.note("%s mends %s", s.again("doctor", "--fix"), count(fixable, "of these", "of these"))
	}
}

// textColumn is where the texts of findings begin.
const textColumn = 17

func (s *state) printCheck(mark, name, text string) {
	text = clean(text)
	first := true
	for _, l := range lines(text, max(0, s.screen.width-textColumn)) {
		if first {
			s.printf("%s  %s %s\n", mark, pad(name, 10), text[l.from:l.to])
		} else {
			s.printf("%s%s\n", strings.Repeat(" ", textColumn), text[l.from:l.to])
		}
		first = false
	}
}

// examine looks at everything. What cannot be looked at is a finding; the error is that of
// a context that ended.
func (s *state) examine(ctx context.Context) ([]doctor.Finding, error) {
	s.config, s.client = nil, nil // a second look begins anew
	c, err := s.load()
	if err != nil {
		return wrongSettings(err), nil
	}
	e := &examination{s: s, c: c, places: placesOf(c)}
	for _, part := range []struct {
		area string
		look func(context.Context) error
	}{
		{"access", e.access}, {"daemon", e.daemon}, {"daemons", e.others}, {"log", e.log}, {"quarantine", e.quarantine}, {"stale", e.stale},
		{"index", e.index}, {"vault", e.vaults}, {"watches", e.watches}, {"model", e.model}, {"disk", e.disk}, {"service", e.service}, {"warnings", e.warnings},
	} {
		before := len(e.found)
		if err := part.look(ctx); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			e.add(doctor.Finding{Area: part.area, Code: part.area + "-unknown", Severity: doctor.Look, Text: "this could not be looked at: " + err.Error()})
		}
		if len(e.found) == before {
			e.add(doctor.Finding{Area: part.area, Severity: doctor.OK, Text: "nothing was found"})
		}
	}
	return e.found, nil
}

// wrongSettings are the findings when no settings can be read, without which nothing else
// can be looked at.
func wrongSettings(err error) []doctor.Finding {
	text := err.Error()
	if e, ok := errors.AsType[*memory.Error](err); ok {
		text = e.Message
	}
	var all []doctor.Finding
	for line := range strings.Lines(text) {
		all = append(all, wrongSetting(strings.TrimSpace(line)))
	}
	return all
}
