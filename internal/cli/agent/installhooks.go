package agent

import (
	"slices"
	"strings"

	"emberd/internal/access"
	"emberd/internal/cli"
	"emberd/internal/clients"
	"emberd/memory"
)

// checkHooks refuses --hooks for a client without hooks, and with what hooks cannot have.
func checkHooks(c *clients.Client, o Installation) error {
	switch {
	case !c.Hooks():
		return memory.Errorf(memory.Invalid, "emberd does not support hooks of %s; omit --hooks", c.Title)
	case o.project:
		return memory.Errorf(memory.Invalid, "--hooks and --project cannot be combined: hooks run in all projects")
	}
	return nil
}

// hooksOnly prints or removes the hooks of a client, and leaves its MCP server.
func hooksOnly(s *cli.App, c *clients.Client, m clients.Machine, o Installation) error {
	if o.print {
		server, err := hookServer(s, c, m, o)
		if err != nil {
			return err
		}
		return printHooks(s, c, c.HookFile(m), server, o.remove)
	}
	res, err := changeHooks(s, c, m, o)
	if err != nil {
		return err
	}
	if err := printHookChange(s, c, res); err != nil {
		return err
	}
	if c.HasPlugin(m) {
		s.Note("the plugin of emberd in %s still runs hooks; to remove the plugin, use %s", c.Title, c.Title)
	}
	return nil
}

// noteHookLimit says what hooks save with the token of these scopes.
func noteHookLimit(s *cli.App, o Installation) {
	saves := func(scope string) bool { return scope == access.All || strings.HasPrefix(scope, access.Project+":") }
	switch projects := slices.DeleteFunc(slices.Clone(o.write), func(w string) bool { return !saves(w) }); {
	case len(projects) == 0:
		s.Note("hooks save nothing with this token; to let hooks save sentences of a project, use --write project:NAME")
	case !slices.Contains(projects, access.All):
		s.Note("hooks save only sentences of sessions in %s", strings.Join(projects, ", "))
	}
}

// hookServer is how the client starts a hook: with the token that its server has, if it has one.
func hookServer(s *cli.App, c *clients.Client, m clients.Machine, o Installation) (clients.Server, error) {
	limit, err := Limit(s, c, c.File(m), o)
	if err != nil {
		return clients.Server{}, err
	}
	server, err := Server(s, o, limit)
	if err != nil {
		return server, err
	}
	server.Args[0] = "hook"
	server.Args = append(server.Args, c.Name)
	return server, nil
}

// PlanHooks returns the change that makes a client run emberd hook, or no longer, and what to say once it is done.
func PlanHooks(s *cli.App, c *clients.Client, m clients.Machine, o Installation) (*clients.Change, string, error) {
	server, err := hookServer(s, c, m, o)
	if err != nil {
		return nil, "", err
	}
	file, plan, done := c.HookFile(m), c.AddHooks, "added to"
	if c.HasHooks(file) {
		done = "changed in"
	}
	if o.remove {
		plan = func(file string, _ clients.Server, force bool) (*clients.Change, error) {
			return c.RemoveHooks(file, force)
		}
		done = "removed from"
	}
	change, err := plan(file, server, o.force)
	return change, "hooks " + done, err
}

// changeHooks adds the hooks of a client, with the token that its server has, or removes them.
func changeHooks(s *cli.App, c *clients.Client, m clients.Machine, o Installation) (*ClientChange, error) {
	o.read, o.write, o.expires, o.tools = nil, nil, "", "" // the server's token has been made
	change, done, err := PlanHooks(s, c, m, o)
	if err != nil {
		return nil, err
	}
	return Applied(s, c, change, done)
}

// printHookChange is PrintChange for hooks. It also prints what the user has to do for new hooks to run.
func printHookChange(s *cli.App, c *clients.Client, res *ClientChange) error {
	if err := PrintChange(s, c, res); err != nil {
		return err
	}
	if after := c.AfterHooks(); after != "" && res.Changed && c.HasHooks(res.File) && !s.JSON {
		s.Note("%s", after)
	}
	return nil
}

// printHooks prints what belongs into a file.
func printHooks(s *cli.App, c *clients.Client, file string, server clients.Server, remove bool) error {
	if s.JSON {
		return s.PrintJSON(server)
	}
	if remove {
		s.Note("remove these lines from %s:", file)
	} else {
		s.Note("add these lines to %s:", file)
	}
	text, err := c.HookSnippet(server)
	s.Printf("%s", text)
	return err
}
