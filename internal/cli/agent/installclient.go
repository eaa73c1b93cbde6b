package agent

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/clients"
	"emberd/internal/mcp"
	"emberd/internal/project"
	"emberd/internal/text/spelling"
	"emberd/memory"
)

// Installation is install-client's flags.
type Installation struct {
	tools                         string
	project, remove, print, force bool
	hooks                         bool
	read, write                   []string
	expires                       string
}

// asked reports whether any flag was given.
func (o *Installation) asked() bool {
	return o.tools+o.expires != "" || o.project || o.remove || o.print || o.force || o.hooks ||
		len(o.read)+len(o.write) > 0
}

// Command builds emberd agent: clients of AI agents, their tokens, and what a client asks of a message.
func Command(s *cli.App) *cobra.Command {
	return cli.Group("agent", installCommand(s), uninstallCommand(s),
		cli.Command("list", cli.NoArgs, nil, func(*cobra.Command, []string) error { return listClients(s) }),
		tokenCommand(s), classifyCommand(s))
}

// uninstallCommand is install --remove.
func uninstallCommand(s *cli.App) *cobra.Command {
	o := Installation{remove: true}
	cmd := cli.Command("uninstall CLIENT", cli.ArgCount(1, 1, "one client"), cli.CompleteClients,
		func(cmd *cobra.Command, args []string) error { return installClient(cmd.Context(), s, args[0], o) })
	f := cmd.Flags()
	f.BoolVar(&o.project, "project", false, "")
	f.BoolVar(&o.print, "print", false, "")
	f.BoolVar(&o.force, "force", false, "")
	f.BoolVar(&o.hooks, "hooks", false, "")
	return cmd
}

func installCommand(s *cli.App) *cobra.Command {
	var o Installation
	cmd := cli.Command("install [CLIENT]", cli.ArgCount(0, 1, "one client"), cli.CompleteClients,
		func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && o.asked() {
				return cli.UsageError(cmd, "%s requires a client if you use flags", cmd.CommandPath())
			}
			if len(args) == 0 {
				return listClients(s)
			}
			return installClient(cmd.Context(), s, args[0], o)
		})
	f := cmd.Flags()
	f.StringVar(&o.tools, "tools", "", "")
	f.BoolVar(&o.project, "project", false, "")
	f.BoolVar(&o.remove, "remove", false, "")
	f.BoolVar(&o.print, "print", false, "")
	f.BoolVar(&o.force, "force", false, "")
	f.BoolVar(&o.hooks, "hooks", false, "")
	scopeFlags(f, &o.read, &o.write, &o.expires)
	return cmd
}

// clientRow is what is known of one client.
type clientRow struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	Found     bool   `json:"found"`
	Installed bool   `json:"installed"`
	Plugin    bool   `json:"plugin,omitempty"` // the client loads the plugin of emberd
	File      string `json:"file"`
}

func listClients(s *cli.App) error {
	m, err := cli.ThisMachine(s)
	if err != nil {
		return err
	}
	var rows []clientRow
	for _, c := range clients.All() {
		file := c.File(m)
		rows = append(rows, clientRow{c.Name, c.Title, c.Found(m), c.Has(file), c.HasPlugin(m), file})
	}
	return s.Answer(rows, func() {
		for _, r := range rows {
			state, more := "not found", ""
			switch {
			case r.Installed && r.Plugin:
				state, more = "has emberd", ", and the plugin"
			case r.Installed:
				state = "has emberd"
			case r.Plugin:
				state = "has plugin"
			case r.Found:
				state = "found"
			}
			s.Printf("%s %s %s%s\n", cli.Pad(r.Name, 16), cli.Pad(state, 10), r.File, more)
		}
		s.Note("to add emberd to a client, run: emberd agent install NAME")
	})
}

func FindClient(name string) (*clients.Client, error) {
	var near []string
	for _, c := range clients.All() {
		if c.Name == name {
			return c, nil
		}
		if strings.HasPrefix(c.Name, name) || spelling.Distance(c.Name, name) <= 2 {
			near = append(near, c.Name)
		}
	}
	if len(near) > 0 {
		return nil, memory.Errorf(memory.NotFound, "client %s not found; did you mean %s?", name,
			strings.Join(near, " or "))
	}
	return nil, memory.Errorf(memory.NotFound, "client %s not found; to list the known clients, run: "+
		"emberd agent install; for other clients, see docs/agents.md", name)
}

func installClient(ctx context.Context, s *cli.App, name string, o Installation) error {
	c, err := FindClient(name)
	if err != nil {
		return err
	}
	m, err := cli.ThisMachine(s)
	if err != nil {
		return err
	}
	if o.hooks {
		if err := checkHooks(c, o); err != nil {
			return err
		}
		if o.remove || o.print {
			return hooksOnly(s, c, m, o)
		}
	}
	file := c.File(m)
	if o.project {
		if file, err = projectFile(c); err != nil {
			return err
		}
	}
	limit, err := Limit(s, c, file, o)
	if err != nil {
		return err
	}
	server, err := Server(s, o, limit)
	if err != nil {
		return err
	}
	if o.print {
		return printSnippet(s, c, file, server, o)
	}
	if !o.project && !o.force && !c.Found(m) {
		return notFound(c, m)
	}
	res, err := changeClient(ctx, s, c, file, server, limit, o)
	if err == nil && !o.project && c.Hooks() && (o.hooks || c.HasHooks(c.HookFile(m))) {
		res.Hooks, err = changeHooks(s, c, m, o)
	}
	if err == nil && o.remove {
		err = revokeLimit(ctx, s, limit)
	}
	if err != nil {
		return err
	}
	if err := printClient(s, c, res); err != nil {
		return err
	}
	if !o.remove && res.Hooks != nil && limit.wanted {
		noteHookLimit(s, o)
	}
	return nil
}

func notFound(c *clients.Client, m clients.Machine) error {
	missing := strings.Join(c.Marks(m), " or ") + " does not exist"
	if c.Program != "" {
		missing += ", and " + c.Program + " is not in a folder of PATH"
	}
	return memory.Errorf(memory.NotFound,
		"client %s not found on this machine: %s; start the client once, or use --force", c.Title, missing)
}

// projectFile is the client's file in the enclosing repository.
func projectFile(c *clients.Client) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", memory.Errorf(memory.Invalid, "cannot determine the working directory: %w", err)
	}
	root := project.Root(dir)
	if root == "" {
		return "", memory.Errorf(memory.Invalid,
			"%s is not in a git repository; change to a repository, or omit --project", dir)
	}
	return c.ProjectFile(root)
}

// changeClient edits a client's file.
func changeClient(ctx context.Context, s *cli.App, c *clients.Client, file string, server clients.Server,
	limit clientLimit, o Installation) (*ClientChange, error) {
	plan := func() (*clients.Change, error) { return c.Add(file, server, o.force) }
	done := "added to"
	if c.Has(file) {
		done = "changed in"
	}
	if o.remove {
		plan = func() (*clients.Change, error) { return c.Remove(file, o.force) }
		done = "removed from"
	}
	change, err := plan()
	if err != nil {
		return nil, err
	}
	if limit.wanted {
		if err := mint(ctx, s, limit, c.Name, o); err != nil {
			return nil, err
		}
	}
	return Applied(s, c, change, done)
}

// printClient prints what was done to a client's files. With --json the hooks are part of the one object.
func printClient(s *cli.App, c *clients.Client, res *ClientChange) error {
	if s.JSON {
		return s.PrintJSON(res)
	}
	hooks := res.Hooks != nil && res.Hooks.Changed
	if res.Changed || !hooks {
		if err := PrintChange(s, c, res); err != nil {
			return err
		}
	}
	if res.Hooks == nil || !hooks && res.Changed {
		return nil
	}
	return printHookChange(s, c, res.Hooks)
}

// Applied does what was planned to a client's file, if there is anything to do. Done is what [PrintChange] says, such
// as "added to".
func Applied(s *cli.App, c *clients.Client, change *clients.Change, done string) (res *ClientChange, err error) {
	res = &ClientChange{Client: c.Name, File: change.File, Changed: change.Changes(), done: done}
	if res.Changed {
		res.Backup, err = change.Apply(s.Now())
	}
	return res, err
}

// PrintChange prints what [Applied] did.
func PrintChange(s *cli.App, c *clients.Client, res *ClientChange) error {
	if s.JSON {
		return s.PrintJSON(res)
	}
	if !res.Changed {
		s.Printf("nothing to change in %s\n", res.File)
		return nil
	}
	s.Printf("emberd %s %s\n", res.done, res.File)
	if res.Backup != "" {
		s.Note("backup: %s", res.Backup)
	}
	if c.Restart != "" {
		s.Note("to apply the change in %s: %s", c.Title, c.Restart)
	}
	return nil
}

// ClientChange is the answer with --json.
type ClientChange struct {
	Client  string `json:"client"`
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Backup  string `json:"backup,omitempty"`
	// Hooks is the change of the file with the client's hooks, nil if they are the same or there are none.
	Hooks *ClientChange `json:"hooks,omitempty"`

	done string // as in PrintChange
}

// printSnippet prints what belongs into a file.
func printSnippet(s *cli.App, c *clients.Client, file string, server clients.Server, o Installation) error {
	if s.JSON {
		return s.PrintJSON(server)
	}
	if o.remove {
		s.Note("remove these lines from %s:", file)
	} else {
		s.Note("add these lines to %s:", file)
	}
	text, err := c.Snippet(server)
	s.Printf("%s", text)
	return err
}

// Server is this program as a client shall start it: with what was said here about
// where the daemon is, since a client sees nothing of this terminal's variables.
func Server(s *cli.App, o Installation, limit clientLimit) (clients.Server, error) {
	out := clients.Server{Args: []string{"mcp"}}
	var err error
	if out.Command, err = cli.ThisProgram(); err != nil {
		return out, err
	}
	places, err := cli.PlaceArgs(s)
	if err != nil {
		return out, err
	}
	out.Args = append(out.Args, places...)
	for _, set := range s.Set {
		out.Args = append(out.Args, "--set", set)
	}
	if limit.file != "" {
		out.Args = append(out.Args, "--set", "token_file="+limit.file)
	}
	if o.tools != "" {
		if _, err := mcp.ParseProfile(o.tools); err != nil {
			return out, err
		}
		out.Args = append(out.Args, "--tools", o.tools)
	}
	if o.project {
		out.Args = append(out.Args, "--project", project.Here())
	}
	return out, nil
}
