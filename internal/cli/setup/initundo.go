package setup

import (
	"slices"

	"emberd/internal/cli"
	"emberd/internal/cli/agent"
	"emberd/internal/clients"
	"emberd/internal/text"
)

// noteUndoSettings says how to undo what init changed in the config file.
func noteUndoSettings(s *cli.App, changes []cli.SettingChange, wasThere bool) {
	if !wasThere {
		s.Note("to undo, delete this file")
		return
	}
	for _, change := range changes {
		s.Note("to undo, run: %s", cli.Clean(cli.Again(s, "config", "set", change.Setting, text.ShellWord(change.Was))))
	}
}

// setUpHooks makes a client run emberd hook at the events of its sessions.
func setUpHooks(s *cli.App, c *clients.Client) (*agent.ClientChange, error) {
	m, err := cli.ThisMachine(s)
	if err != nil {
		return nil, err
	}
	change, done, err := agent.PlanHooks(s, c, m, agent.Installation{})
	if err != nil {
		return nil, err
	}
	res, err := agent.Applied(s, c, change, done)
	if err != nil || s.JSON {
		return res, err
	}
	if err := agent.PrintChange(s, c, res); err != nil {
		return nil, err
	}
	s.Note("to undo, run: %s", cli.Again(s, "agent", "uninstall", c.Name, "--hooks"))
	if after := c.AfterHooks(); after != "" && res.Changed {
		s.Note("%s", after)
	}
	return res, nil
}

// hooks asks whether the chosen clients are to run emberd at each prompt, too.
func (q *questions) hooks(p *plan) error {
	m, err := cli.ThisMachine(q.s)
	if err != nil {
		return err
	}
	for _, c := range p.clients {
		if !c.Hooks() || c.HasHooks(c.HookFile(m)) {
			continue
		}
		ok, err := q.yes("Add hooks to " + c.Title + "? The hooks save and recall decisions.")
		if err != nil {
			return err
		}
		if ok && !slices.Contains(p.hooks, c) {
			p.hooks = append(p.hooks, c)
		}
	}
	return nil
}
