package setup

import (
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/cli"
	"emberd/internal/cli/agent"
	"emberd/internal/cli/daemon"
	"emberd/internal/clients"
	"emberd/internal/config"
	"emberd/internal/notebase"
	"emberd/internal/service"
	"emberd/internal/text"
)

// dryRun shows what init would do by a plan, and writes nothing.
func dryRun(s *cli.App, c *config.Config, p *plan, asks bool) error {
	done := &setupDone{DryRun: true, Config: c.File, Settings: append([]cli.SettingChange{}, p.changes...),
		Clients: []agent.ClientChange{}, Next: []string{}}
	if p.meaning != nil {
		done.Settings = append(done.Settings, p.meaning.Changes...)
	}
	if dir := newVault(p); dir != "" {
		done.Base = filepath.Join(dir, filepath.FromSlash(c.Vault.PromotedFolder), notebase.Name)
	}
	var err error
	if p.service {
		if done.Service, err = plannedService(s); err != nil {
			return err
		}
	}
	var texts []string
	for _, client := range p.clients {
		text, err := planClient(s, client, slices.Contains(p.hooks, client), done)
		if err != nil {
			return err
		}
		texts = append(texts, text...)
	}
	return s.Answer(done, func() { printDryRun(s, c, p, done, texts, asks) })
}

// newVault is the folder that a plan makes the vault, "" if it leaves the vault as it is.
func newVault(p *plan) string {
	for _, change := range p.changes {
		if change.Setting == "vaults" {
			return strings.ReplaceAll(change.Value, "$$", "$")
		}
	}
	return ""
}

// plannedService is the service that would be installed.
func plannedService(s *cli.App) (*serviceDone, error) {
	m, err := daemon.ManagerOf(s)
	if err != nil {
		return nil, err
	}
	spec, err := daemon.ServiceSpec(s)
	if err != nil {
		return nil, err
	}
	files, err := m.Render(spec)
	if err != nil {
		return nil, err
	}
	out := &serviceDone{Written: []string{}, State: &service.State{}}
	for _, f := range files {
		out.Written = append(out.Written, filepath.Join(m.Folder(), f.Name))
	}
	return out, nil
}

// planClient adds the changes to a client's files to the answer, and returns what they would contain.
func planClient(s *cli.App, c *clients.Client, hooks bool, done *setupDone) ([]string, error) {
	m, err := cli.ThisMachine(s)
	if err != nil {
		return nil, err
	}
	limit, err := agent.Limit(s, c, c.File(m), agent.Installation{})
	if err != nil {
		return nil, err
	}
	server, err := agent.Server(s, agent.Installation{}, limit)
	if err != nil {
		return nil, err
	}
	change, err := c.Add(c.File(m), server, false)
	if err != nil {
		return nil, err
	}
	done.Clients = append(done.Clients, planned(c, change))
	text, err := c.Snippet(server)
	texts := []string{text}
	if err != nil || !hooks {
		return texts, err
	}
	change, _, err = agent.PlanHooks(s, c, m, agent.Installation{})
	if err != nil {
		return nil, err
	}
	done.Hooks = append(done.Hooks, planned(c, change))
	return texts, nil
}

func planned(c *clients.Client, change *clients.Change) agent.ClientChange {
	return agent.ClientChange{Client: c.Name, File: change.File, Changed: change.Changes()}
}

// printDryRun prints the steps of a plan in their order, each with how it would be undone.
func printDryRun(s *cli.App, c *config.Config, p *plan, done *setupDone, texts []string, asks bool) {
	if p.meaning != nil && p.meaning.Known != nil {
		s.Printf("would download the model %s: %s\n", cli.Flat(p.meaning.Name), cli.Flat(p.meaning.About()))
		printUndo(s, "run: "+cli.Again(s, "model", "remove", text.ShellWord(p.meaning.Name)))
	}
	printPlannedSettings(s, c, done)
	if done.Base != "" {
		s.Printf("would create %s if this file does not exist\n", cli.Clean(done.Base))
		printUndo(s, "delete the file")
	}
	if done.Service != nil {
		for _, file := range done.Service.Written {
			s.Printf("would write %s\n", cli.Clean(file))
		}
		s.Printf("would start the daemon now and at each login\n")
		printUndo(s, "run: "+cli.Again(s, "service", "uninstall"))
	}
	for i, client := range done.Clients {
		printPlannedClient(s, &client, "add emberd", texts[i])
	}
	for _, client := range done.Hooks {
		printPlannedClient(s, &client, "add the hooks", "")
	}
	if done.Service == nil {
		s.Printf("would not start the daemon; if it is not running, run: %s\n", startCommand(s))
	}
	if asks {
		s.Printf("would ask for a first memory, save it and search for it\n")
		printUndo(s, "run: "+cli.Again(s, "undo"))
		s.Printf("would ask whether to open the page in a browser\n")
	}
	s.Note("nothing was changed")
}

func printUndo(s *cli.App, how string) {
	s.Printf("%s\n", s.Screen.Paint(cli.Faint, "  to undo, "+how))
}

// printPlannedSettings prints what would change in the config file.
func printPlannedSettings(s *cli.App, c *config.Config, done *setupDone) {
	if len(done.Settings) == 0 && c.FileRead {
		s.Printf("nothing to change in %s\n", cli.Clean(c.File))
		return
	}
	s.Printf("would write %s\n", cli.Clean(c.File))
	for _, change := range done.Settings {
		s.Printf("  %s: %s\n", change.Setting, cli.Clean(orNone(change.Value)))
	}
	if !c.FileRead {
		printUndo(s, "delete the file")
		return
	}
	for _, change := range done.Settings {
		printUndo(s, "run: "+cli.Clean(cli.Again(s, "config", "set", change.Setting, text.ShellWord(change.Was))))
	}
}

// printPlannedClient prints what would be added to the file of a client.
func printPlannedClient(s *cli.App, client *agent.ClientChange, what, text string) {
	install, uninstall := []string{"agent", "install", client.Client}, []string{"agent", "uninstall", client.Client}
	if what != "add emberd" {
		install, uninstall = append(install, "--hooks"), append(uninstall, "--hooks")
	}
	if !client.Changed {
		s.Printf("nothing to change in %s\n", cli.Clean(client.File))
		return
	}
	s.Printf("would %s to %s, and keep a copy of the file\n", what, cli.Clean(client.File))
	for line := range strings.Lines(text) {
		s.Printf("  %s\n", cli.Clean(strings.TrimRight(line, "\n")))
	}
	if text == "" {
		s.Printf("  to see the text, run: %s\n", cli.Again(s, append(install, "--print")...))
	}
	printUndo(s, "run: "+cli.Again(s, uninstall...))
}
