package model

import (
	"fmt"
	"path/filepath"
	"strings"

	"emberd/embedding"
	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/op"
)

// printNative tells of the engine in its process.
func printNative(s *cli.App, r *op.EngineStatusResult, verbose bool) {
	n := r.Native
	s.Rows("engine", nativeText(s, r), "")
	if n.Restarts > 0 || n.LastExit != "" {
		s.Rows("", cli.Clean(restartText(n)), cli.Yellow)
	}
	if n.Unconfined {
		s.Rows("", "the runtime is not in a sandbox, because the setting sandbox is "+
			"off; the libraries of the runtime can read and change all your files", cli.Yellow)
	}
	if n.Warning != "" {
		s.Rows("", cli.Clean(n.Warning), cli.Yellow)
	}
	for _, b := range n.Bad {
		text := "emberd disabled the model " + cli.Clean(filepath.Base(b.File)) + ", because it crashed the runtime " +
			cli.Ago(s.Now(), b.When)
		if verbose { // else the provider that was passed over says it
			text += ": " + cli.Clean(b.Why)
		}
		s.Rows("", text, cli.Yellow)
	}
	if !verbose {
		if n.Output != "" {
			s.Row("", s.Screen.Paint(cli.Faint, "to see the output of the runtime, run: "+
				cli.Again(s, "model", "status", "--verbose")))
		}
		return
	}
	s.Rows("libraries", cli.Clean(n.Folder), "")
	s.Rows("helper", strings.Join(cli.NonEmpty(cli.Clean(n.Helper), cli.Clean(n.Version)), ", "), "")
	if n.System != "" {
		s.Rows("processor", cli.Clean(n.System), "")
	}
	printOutput(s, n.Output)
}

// maxOutputLines is how much of what the engine printed is shown.
const maxOutputLines = 20

// printOutput shows the beginning of what the engine printed when it last crashed.
func printOutput(s *cli.App, output string) {
	name := "it printed"
	said := strings.Split(strings.TrimSpace(output), "\n")
	if output == "" {
		return
	}
	for _, line := range said[:min(maxOutputLines, len(said))] {
		s.Rows(name, cli.Flat(line), cli.Faint)
		name = ""
	}
	if more := len(said) - maxOutputLines; more > 0 {
		s.Row("", s.Screen.Paint(cli.Faint, "and "+cli.Count(more, "line", "lines")+" more"))
	}
}

func nativeText(s *cli.App, r *op.EngineStatusResult) string {
	n := r.Native
	text := "llama.cpp"
	if n.Release != "" {
		text += " " + cli.Clean(n.Release)
	}
	if len(n.Backends) > 0 {
		text += " on " + cli.Clean(strings.Join(n.Backends, ", "))
	}
	switch by := r.Model; {
	case n.PID != 0:
	case by != nil && by.Provider != embedding.Llama:
		return text + "; not in use now, because " + cli.Clean(by.Provider) + " computes the embeddings"
	default:
		return text + "; emberd starts the runtime process when needed"
	}
	text += fmt.Sprintf("; PID %d, running for %s", n.PID, cli.Lasted(max(0, s.Now().Sub(n.Started))))
	if held := daemon.Resident(n.PID); held > 0 {
		text += ", " + cli.Size(held)
	}
	return text
}

func restartText(n *op.NativeEngine) string {
	if n.Restarts == 0 {
		return "the process " + n.LastExit
	}
	text := "restarted " + cli.Count(n.Restarts, "time", "times")
	if n.LastExit != "" {
		text += "; the last time, the process " + n.LastExit
	}
	return text
}
