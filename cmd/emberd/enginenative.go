package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"emberd/embedding"
	"emberd/op"
)

// printNative tells of the engine in its process.
func (s *state) printNative(r *op.EngineStatusResult, verbose bool) {
	n := r.Native
	s.rows("engine", s.nativeText(r), "")
	if n.Restarts > 0 || n.LastExit != "" {
		s.rows("", clean(restartText(n)), yellow)
	}
	if n.Warning != "" {
		s.rows("", clean(n.Warning), yellow)
	}
	for _, b := range n.Bad {
		text := clean(filepath.Base(b.File)) + " is not run by it any more, as it brought it down " + ago(s.now(), b.When)
		if verbose { // else the provider that was passed over says it
			text += ": " + clean(b.Why)
		}
		s.rows("", text, yellow)
	}
	if !verbose {
		if n.Output != "" {
			s.row("", s.screen.paint(faint, "emberd engine status --verbose shows what it printed"))
		}
		return
	}
	s.rows("libraries", clean(n.Folder), "")
	s.rows("helper", strings.Join(nonEmpty(clean(n.Helper), clean(n.Version)), ", "), "")
	if n.System != "" {
		s.rows("processor", clean(n.System), "")
	}
	s.printOutput(n.Output)
}

// mostOutputLines is how much of what the engine printed is shown.
const mostOutputLines = 20

// printOutput shows the beginning of what the engine printed when it last crashed.
func (s *state) printOutput(output string) {
	name := "it printed"
	said := strings.Split(strings.TrimSpace(output), "\n")
	if output == "" {
		return
	}
	for _, line := range said[:min(mostOutputLines, len(said))] {
		s.rows(name, flat(line), faint)
		name = ""
	}
	if more := len(said) - mostOutputLines; more > 0 {
		s.row("", s.screen.paint(faint, "and "+count(more, "line", "lines")+" more"))
	}
}

func (s *state) nativeText(r *op.EngineStatusResult) string {
	n := r.Native
	text := "llama.cpp"
	if n.Release != "" {
		text += " " + clean(n.Release)
	}
	if len(n.Backends) > 0 {
		text += " on " + clean(strings.Join(n.Backends, ", "))
	}
	switch by := r.Model; {
	case n.PID != 0:
	case by != nil && by.Provider != embedding.Llama:
		return text + "; it makes no vectors now, " + clean(by.Provider) + " does"
	default:
		return text + "; its process runs when it is needed"
	}
	text += fmt.Sprintf("; process %d, up for %s", n.PID, lasted(max(0, s.now().Sub(n.Started))))
	if held := resident(n.PID); held > 0 {
		text += ", " + size(held)
	}
	return text
}

func restartText(n *op.NativeEngine) string {
	if n.Restarts == 0 {
		return "it " + n.LastExit
	}
	text := "restarted " + count(n.Restarts, "time", "times")
	if n.LastExit != "" {
		text += "; the last time it " + n.LastExit
	}
	return text
}
