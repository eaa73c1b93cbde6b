package maintain

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/cli"
	"emberd/internal/clients"
	"emberd/internal/doctor"
	"emberd/internal/hookrun"
	"emberd/internal/text"
)

// hooks looks at what coding agents run at the events of their sessions.
func (e *diagnostics) hooks(ctx context.Context) error {
	m, err := cli.ThisMachine(e.s)
	if err != nil {
		return err
	}
	var with []string
	for _, c := range clients.All() {
		if c.HasPlugin(m) && c.Has(c.File(m)) {
			e.add(doctor.Finding{Area: "hooks", Code: "server-twice", Severity: doctor.Warning,
				Next: "emberd agent uninstall " + c.Name,
				Text: fmt.Sprintf("%s starts two MCP servers of emberd: by the plugin, and by the entry in %s; "+
					"keep one", c.Title, c.File(m))})
		}
		if !c.Hooks() {
			continue
		}
		file := c.HookFile(m)
		found := c.FoundHooks(file)
		if len(found) == 0 {
			if c.HasPlugin(m) {
				with = append(with, c.Title+" (by the plugin)")
			}
			continue
		}
		with = append(with, c.Title)
		e.hooksOf(ctx, c, file, found)
	}
	if len(with) > 0 {
		e.add(doctor.Finding{Area: "hooks", Code: "hooks-installed", Severity: doctor.Note, Next: "emberd hook report",
			Text: strings.Join(with, ", ") + runs(len(with)) + " emberd hook in all projects"})
		e.hooksOff()
	}
	return nil
}

// hooksOff tells what turns hooks off in the working folder.
func (e *diagnostics) hooksOff() {
	folder, err := os.Getwd()
	if err != nil {
		return
	}
	if file := hookrun.OffBy(folder); file != "" {
		e.add(doctor.Finding{Area: "hooks", Code: "hooks-off", Severity: doctor.Note,
			Next: "emberd hook on " + text.ShellWord(filepath.Dir(file)),
			Text: fmt.Sprintf("hooks are off in %s because of the file %s", folder, file)})
	}
}

// hooksOf looks at the hooks of emberd in the file of one client.
func (e *diagnostics) hooksOf(ctx context.Context, c *clients.Client, file string, found []clients.FoundHook) {
	install := "emberd agent install " + c.Name + " --hooks"
	if gone := gonePrograms(found); len(gone) > 0 {
		e.add(doctor.Finding{Area: "hooks", Code: "hooks-gone", Severity: doctor.Warning, Next: install,
			Text: fmt.Sprintf("%s cannot run %s: program not found; the hooks are in %s", c.Title,
				strings.Join(gone, " and "), file)})
	}
	if twice := repeatedEvents(found); len(twice) > 0 {
		e.add(doctor.Finding{Area: "hooks", Code: "hooks-twice", Severity: doctor.Warning, Next: install + " --remove",
			Text: fmt.Sprintf("%s has more than one hook of emberd at %s, in %s; remove the hooks, and then run: %s",
				c.Title, strings.Join(twice, ", "), file, install)})
	}
	e.trustOf(ctx, c, filepath.Dir(file))
}

// trustOf tells whether a client skips hooks of emberd. One that cannot be asked may.
func (e *diagnostics) trustOf(ctx context.Context, c *clients.Client, folder string) {
	after := c.AfterHooks()
	if after == "" {
		return
	}
	skipped, err := c.UntrustedHooks(ctx, folder)
	switch {
	case err != nil:
		e.add(doctor.Finding{Area: "hooks", Code: "hooks-trust", Severity: doctor.Note,
			Text: after + fmt.Sprintf(" (unknown whether you trust the hooks: %s)", err)})
	case len(skipped) > 0:
		e.add(doctor.Finding{Area: "hooks", Code: "hooks-untrusted", Severity: doctor.Warning,
			Text: fmt.Sprintf("%s skips the hooks of emberd at %s: %s", c.Title, strings.Join(skipped, ", "), after)})
	}
}

// gonePrograms are those that hooks start and that are not there, each once.
func gonePrograms(found []clients.FoundHook) (gone []string) {
	for _, h := range found {
		known := filepath.IsAbs(h.Program) || !strings.ContainsAny(h.Program, "/$~") // else a shell knows
		if _, err := exec.LookPath(h.Program); known && err != nil && !slices.Contains(gone, h.Program) {
			gone = append(gone, h.Program)
		}
	}
	return gone
}

// repeatedEvents are those at which several hooks of emberd run.
func repeatedEvents(found []clients.FoundHook) (twice []string) {
	seen := map[string]bool{}
	for _, h := range found {
		if seen[h.Event] && !slices.Contains(twice, h.Event) {
			twice = append(twice, h.Event)
		}
		seen[h.Event] = true
	}
	return twice
}

func runs(agents int) string {
	if agents == 1 {
		return " runs"
	}
	return " run"
}
