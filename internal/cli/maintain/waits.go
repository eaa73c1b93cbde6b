package maintain

import (
	"fmt"
	"slices"
	"strings"

	"emberd/internal/cli"
	"emberd/internal/doctor"
	"emberd/op"
)

// maxWaits is how many waiting things the screen of a status lists. Doctor lists all of them.
const maxWaits = 3

// waitsHead is the first line of a status if something waits for the user.
func waitsHead(s *cli.App, waits []op.Waiting) string {
	if len(waits) == 1 {
		return waitLine(s, &waits[0])
	}
	return "the following needs your attention; for details, run: " + cli.Again(s, "doctor")
}

// waitsRest are the things that the lines below the head name.
func waitsRest(waits []op.Waiting) []op.Waiting {
	if len(waits) == 1 {
		return nil
	}
	return waits
}

// waitCommand is the command that answers a waiting thing, with the flags that reach this daemon.
func waitCommand(s *cli.App, w *op.Waiting) string {
	if words, ok := strings.CutPrefix(w.Command, "emberd "); ok {
		return cli.Again(s, words)
	}
	return w.Command
}

// waitLine is a waiting thing in one line.
func waitLine(s *cli.App, w *op.Waiting) string {
	return cli.Clean(w.Text) + "; run: " + waitCommand(s, w)
}

// printWaits prints what waits for the user, in the first lines of a status.
func printWaits(s *cli.App, waits []op.Waiting) {
	if len(waits) == 0 {
		return
	}
	s.Warn("waits", waitsHead(s, waits))
	for _, w := range waitsRest(waits) {
		s.Rows("", waitLine(s, &w), "")
	}
}

// waits adds what waits for the user to a screen.
func (g *statusSummary) waits(waits []op.Waiting) {
	if len(waits) == 0 {
		return
	}
	g.wrap("waits", cli.Yellow, waitsHead(g.s, waits))
	// Those that make the health degraded come first, so that the limit does not hide them.
	rest := waitsRest(waits)
	rest = slices.Concat(
		slices.DeleteFunc(slices.Clone(rest), func(w op.Waiting) bool { return w.Warning == "" }),
		slices.DeleteFunc(slices.Clone(rest), func(w op.Waiting) bool { return w.Warning != "" }))
	for i := range rest[:min(len(rest), maxWaits)] {
		g.wrap("", "", waitLine(g.s, &rest[i]))
	}
	if more := len(rest) - maxWaits; more > 0 {
		g.wrap("", cli.Faint, fmt.Sprintf("and %d more", more))
	}
}

// otherWarnings returns the warnings about things that do not wait for the user.
func otherWarnings(r *op.StatusResult) []string {
	return slices.DeleteFunc(slices.Clone(r.Warnings), func(warning string) bool {
		return slices.ContainsFunc(r.Waits, func(w op.Waiting) bool { return w.Warning == warning })
	})
}

// waits adds what waits for the user. If another part found the same, the finding is at least as severe.
func (e *diagnostics) waits() {
	for i := range e.status.Waits {
		w := &e.status.Waits[i]
		severity := doctor.Note
		if w.Warning != "" {
			severity = doctor.Warning
		}
		same := slices.IndexFunc(e.found, func(f doctor.Finding) bool { return f.Code == w.Code })
		if same >= 0 {
			if f := &e.found[same]; f.Severity == doctor.Note {
				f.Severity = severity
			}
			continue
		}
		e.add(doctor.Finding{Area: "waits", Code: w.Code, Severity: severity, Text: w.Text, Next: w.Command})
	}
}
