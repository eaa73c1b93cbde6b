package agent

import (
	"emberd/internal/cli"
	"emberd/internal/clients"
	"emberd/memory"
)

// installHooks makes a client run emberd hook at the events of its sessions, or no longer.
func installHooks(s *cli.App, c *clients.Client, m clients.Machine, o Installation) error {
	switch {
	case !c.Hooks():
		return memory.Errorf(memory.Invalid, "%s has no hooks that emberd knows; leave --hooks out", c.Title)
	case o.project || o.tools+o.expires != "" || len(o.read)+len(o.write) > 0:
		return memory.Errorf(memory.Invalid, "--hooks are for all projects, and limited as the client's server is; "+
			"leave --project, --tools, --read, --write and --expires out")
	}
	server, err := hookServer(s, c, m, o)
	if err != nil {
		return err
	}
	file := c.HookFile(m)
	switch {
	case o.print:
		return printHooks(s, c, file, server, o.remove)
	case !o.force && !o.remove && !c.Found(m):
		return notFound(c, m)
	}
	return changeHooks(s, c, file, server, o)
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

func changeHooks(s *cli.App, c *clients.Client, file string, server clients.Server, o Installation) error {
	plan, done := c.AddHooks, "added to"
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
	if err != nil {
		return err
	}
	res, err := Applied(s, c, change)
	if err != nil {
		return err
	}
	if err := PrintChange(s, c, res, "hooks "+done); err != nil {
		return err
	}
	if after := c.AfterHooks(); after != "" && res.Changed && !o.remove {
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
		s.Note("take this out of %s:", file)
	} else {
		s.Note("put this into %s:", file)
	}
	text, err := c.HookSnippet(server)
	s.Printf("%s", text)
	return err
}
