package maintain

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/doctor"
	"emberd/memory"
)

func DoctorCommand(s *cli.App) *cobra.Command {
	var fix bool
	cmd := &cobra.Command{
		Use: "doctor",
	}
	cli.AsGroup(cmd)
	cmd.Use = "doctor [COMMAND]"
	help := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return help(cmd, args)
		}
		return runDoctor(cmd.Context(), s, fix)
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "")
	cmd.AddCommand(quarantineCommand(s), offlineDeviceCommand(s), logCommand(s))
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

func runDoctor(ctx context.Context, s *cli.App, fix bool) error {
	err := s.WithoutToken("emberd doctor reads all folders of emberd and the vaults")
	if memory.CodeOf(err) == memory.Forbidden { // it reports a token that cannot be read
		return err
	}
	found, err := examine(ctx, s)
	if err != nil {
		return err
	}
	d := &diagnosis{}
	if fix {
		if d.Fixed = mend(ctx, found); len(d.Fixed) > 0 {
			if found, err = examine(ctx, s); err != nil {
				return err
			}
		}
	}
	d.take(s, found)
	if s.JSON {
		err = s.PrintJSON(d)
	} else {
		printDiagnosis(s, d)
	}
	if err == nil && !d.OK {
		err = &cli.Exit{Code: cli.ExitNothing}
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
func (d *diagnosis) take(s *cli.App, found []doctor.Finding) {
	doctor.Sort(found)
	d.OK = true
	for _, f := range found {
		c := check{Name: f.Area, Code: f.Code, Severity: f.Severity, OK: f.Severity == doctor.OK ||
			f.Severity == doctor.Note,
			Text: f.Text, Next: f.Next, Fixable: f.Fix != nil}
		if words, ok := strings.CutPrefix(f.Next, "emberd "); ok {
			c.Next = cli.Again(s, words)
		}
		d.OK = d.OK && c.OK
		d.Checks = append(d.Checks, c)
	}
}

// printDiagnosis shows findings with their commands, and of what is all right little more
// than that it was looked at.
func printDiagnosis(s *cli.App, d *diagnosis) {
	for _, f := range d.Fixed {
		printCheck(s, s.Screen.Paint(map[bool]cli.Style{true: cli.Green, false: cli.Red}[f.Done],
			map[bool]string{true: "did ", false: "not "}[f.Done]), f.Name, f.Text)
	}
	var also []string
	fixable := 0
	for _, c := range d.Checks {
		if c.Severity == doctor.OK && c.Name != "daemon" && c.Name != "log" && c.Name != "vault" {
			also = append(also, c.Name)
			continue
		}
		colour := map[doctor.Severity]cli.Style{doctor.Error: cli.Red, doctor.Warning: cli.Yellow,
			doctor.Note: cli.Cyan,
			doctor.OK:   cli.Green}[c.Severity]
		printCheck(s, s.Screen.Paint(colour, cli.Pad(string(c.Severity), 4)), c.Name, c.Text)
		if c.Next != "" {
			s.Printf("%s%s\n", strings.Repeat(" ", textColumn), s.Screen.Paint(cli.Faint, "next: "+cli.Flat(c.Next)))
		}
		if c.Fixable {
			fixable++
		}
	}
	if len(also) > 0 {
		printCheck(s, s.Screen.Paint(cli.Green, "ok  "), "also", strings.Join(also, ", "))
	}
	if fixable > 0 && len(d.Fixed) == 0 {
		s.Note("to fix %s, run: %s", cli.Count(fixable, "problem", "problems"), cli.Again(s, "doctor", "--fix"))
	}
}

// textColumn is where the texts of findings begin.
const textColumn = 17

func printCheck(s *cli.App, mark, name, text string) {
	text = cli.Clean(text)
	first := true
	for _, l := range cli.Lines(text, max(0, s.Screen.Width-textColumn)) {
		if first {
			s.Printf("%s  %s %s\n", mark, cli.Pad(name, 10), text[l.From:l.To])
		} else {
			s.Printf("%s%s\n", strings.Repeat(" ", textColumn), text[l.From:l.To])
		}
		first = false
	}
}

// examine looks at everything. What cannot be looked at is a finding; the error is that of
// a context that ended.
func examine(ctx context.Context, s *cli.App) ([]doctor.Finding, error) {
	s.Config, s.Client = nil, nil // a second look begins anew
	c, err := s.Load()
	if err != nil {
		return wrongSettings(err), nil
	}
	e := &diagnostics{s: s, c: c, places: placesOf(c)}
	for _, text := range c.Warnings {
		e.add(doctor.Finding{Area: "config", Code: "config-ignored", Severity: doctor.Note, Text: text})
	}
	for _, part := range []struct {
		area string
		look func(context.Context) error
	}{
		{"access", e.access}, {"daemon", e.daemon}, {"state", e.state}, {"daemons", e.others}, {"log", e.log},
		{"backup", e.backup}, {"quarantine", e.quarantine}, {"stale", e.stale},
		{"index", e.index}, {"vault", e.vaults}, {"watches", e.watches}, {"model", e.model}, {"disk", e.disk},
		{"service", e.service}, {"hooks", e.hooks}, {"warnings", e.warnings},
	} {
		before := len(e.found)
		if err := part.look(ctx); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			e.add(doctor.Finding{Area: part.area, Code: part.area + "-unknown", Severity: doctor.Warning,
				Text: "check failed: " + err.Error()})
		}
		if len(e.found) == before {
			e.add(doctor.Finding{Area: part.area, Severity: doctor.OK, Text: "no problems"})
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
