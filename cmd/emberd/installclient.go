package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/clients"
	"emberd/internal/mcpserver"
	"emberd/internal/spelling"
	"emberd/memory"
)

// installation is install-client's flags.
type installation struct {
	tools                         string
	project, remove, print, force bool
	read, write                   []string
	expires                       string
}

// asked reports whether any flag was given.
func (o *installation) asked() bool {
	return o.tools+o.expires != "" || o.project || o.remove || o.print || o.force || len(o.read)+len(o.write) > 0
}

func (s *state) installClientCommand() *cobra.Command {
	var o installation
	cmd := &cobra.Command{
		Use:   "install-client [CLIENT]",
		Short: "Have an AI client start emberd mcp",
		Long: `Put emberd on the list of MCP servers that a client starts: this program by its
absolute path, with the same --home, --config, --socket and --set.

All else in the client's file stays as it is, and a copy of the file as it was
is left beside it. An entry emberd that starts something else is replaced only
with --force. A file that cannot be edited in place, such as Codex's, is not
touched: what to put in is printed.

With --read or --write the client is limited to those scopes by a token of its
own, whose secret is in a file below the state folder and not in the client's.
It stays limited when it is installed again; --remove revokes the token.

Without a client, those that are known are listed, and which of them seem to be
on this machine.`,
		Example: `  emberd install-client
  emberd install-client claude-desktop
  emberd install-client cursor --read folder:Work --write tag:work
  emberd install-client vscode --project --tools cortexgraph
  emberd install-client cursor --print`,
		Annotations: exits(endings{
			exitConflict: "there is an entry emberd of somebody else's, or the file is being changed",
			exitNothing:  "there is no such client, or it is not on this machine",
			exitNoDaemon: "its token needs a daemon that answers",
		}),
		Args:              takes(0, 1, "one client"),
		ValidArgsFunction: completeClients,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && o.asked() {
				return wrong(cmd, "%s needs the client that the flags are about", cmd.CommandPath())
			}
			if len(args) == 0 {
				return s.listClients()
			}
			return s.installClient(cmd.Context(), args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.tools, "tools", "", "which `TOOLS` it shows: agent, all, cortexgraph or reference")
	f.BoolVar(&o.project, "project", false, "for the enclosing git repository alone, in the client's file there")
	f.BoolVar(&o.remove, "remove", false, "take emberd off the list again")
	f.BoolVar(&o.print, "print", false, "change nothing, print what would be put in")
	f.BoolVar(&o.force, "force", false, "replace an entry emberd of any kind, and write for a client that is not found")
	scopeFlags(f, &o.read, &o.write, &o.expires)
	return cmd
}

func completeClients(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, c := range clients.All() {
		names = append(names, cobra.CompletionWithDesc(c.Name, c.Title))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// machine is this one.
func (s *state) machine() (clients.Machine, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return clients.Machine{}, memory.Errorf(memory.Invalid, "the home directory is unknown: set HOME")
	}
	return clients.Machine{GOOS: runtime.GOOS, Home: home, Env: s.getenv}, nil
}

func (s *state) getenv(name string) string {
	for _, pair := range slices.Backward(s.env) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// clientRow is what is known of one client.
type clientRow struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	Found     bool   `json:"found"`
	Installed bool   `json:"installed"`
	File      string `json:"file"`
}

func (s *state) listClients() error {
	m, err := s.machine()
	if err != nil {
		return err
	}
	var rows []clientRow
	for _, c := range clients.All() {
		file := c.File(m)
		rows = append(rows, clientRow{c.Name, c.Title, c.Found(m), c.Has(file), file})
	}
	if s.json {
		return s.printJSON(rows)
	}
	for _, r := range rows {
		state := "not found"
		switch {
		case r.Installed:
			state = "has emberd"
		case r.Found:
			state = "found"
		}
		s.printf("%s %s %s\n", pad(r.Name, 16), pad(state, 10), r.File)
	}
	s.note("to have one of them start emberd: emberd install-client NAME")
	return nil
}

func findClient(name string) (*clients.Client, error) {
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
		return nil, memory.Errorf(memory.NotFound, "there is no client %s; did you mean %s?", name, strings.Join(near, " or "))
	}
	return nil, memory.Errorf(memory.NotFound, "there is no client %s; emberd install-client lists them, and docs/mcp.md says what others need", name)
}

func (s *state) installClient(ctx context.Context, name string, o installation) error {
	c, err := findClient(name)
	if err != nil {
		return err
	}
	m, err := s.machine()
	if err != nil {
		return err
	}
	file := c.File(m)
	if o.project {
		if file, err = projectFile(c); err != nil {
			return err
		}
	}
	limit, err := s.limit(c, file, o)
	if err != nil {
		return err
	}
	server, err := s.server(o, limit)
	if err != nil {
		return err
	}
	if o.print || !c.Editable() {
		return s.showSnippet(ctx, c, file, server, limit, o)
	}
	if !o.project && !o.force && !c.Found(m) {
		return memory.Errorf(memory.NotFound, "%s does not seem to be on this machine, since there is no %s; start it once, or use --force", c.Title, filepath.Dir(file))
	}
	return s.changeClient(ctx, c, file, server, limit, o)
}

// projectFile is the client's file in the enclosing repository.
func projectFile(c *clients.Client) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", memory.Errorf(memory.Invalid, "the working directory is unknown: %w", err)
	}
	root := projectRoot(dir)
	if root == "" {
		return "", memory.Errorf(memory.Invalid, "no git repository encloses %s; change to one, or leave --project out", dir)
	}
	return c.ProjectFile(root)
}

// changeClient edits a client's file.
func (s *state) changeClient(ctx context.Context, c *clients.Client, file string, server clients.Server, limit clientLimit, o installation) error {
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
		return err
	}
	if limit.wanted {
		if err := s.mint(ctx, limit, c.Name, o); err != nil {
			return err
		}
	}
	res, err := s.applied(c, change)
	if err != nil {
		return err
	}
	if o.remove {
		if err := s.revokeLimit(ctx, limit); err != nil {
			return err
		}
	}
	return s.printChange(c, res, done)
}

// applied does what was planned to a client's file, if there is anything to do.
func (s *state) applied(c *clients.Client, change *clients.Change) (res *clientChange, err error) {
	res = &clientChange{Client: c.Name, File: change.File, Changed: change.Changes()}
	if res.Changed {
		res.Backup, err = change.Apply(s.now())
	}
	return res, err
}

func (s *state) printChange(c *clients.Client, res *clientChange, done string) error {
	if s.json {
		return s.printJSON(res)
	}
	if !res.Changed {
		s.printf("nothing to change in %s\n", res.File)
		return nil
	}
	s.printf("emberd %s %s\n", done, res.File)
	if res.Backup != "" {
		s.note("as it was: %s", res.Backup)
	}
	if c.Restart != "" {
		s.note("for %s to see it: %s", c.Title, c.Restart)
	}
	return nil
}

// clientChange is the answer with --json.
type clientChange struct {
	Client  string `json:"client"`
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Backup  string `json:"backup,omitempty"`
}

// showSnippet prints what belongs into a file that is not edited, after the token that it
// names was made or revoked; to look alone changes nothing.
func (s *state) showSnippet(ctx context.Context, c *clients.Client, file string, server clients.Server, limit clientLimit, o installation) error {
	if limit.wanted && !o.print {
		if err := s.mint(ctx, limit, c.Name, o); err != nil {
			return err
		}
	}
	if err := s.printSnippet(c, file, server, o); err != nil || !o.remove || o.print {
		return err
	}
	return s.revokeLimit(ctx, limit)
}

// printSnippet prints what belongs into a file.
func (s *state) printSnippet(c *clients.Client, file string, server clients.Server, o installation) error {
	if s.json {
		return s.printJSON(server)
	}
	if o.remove {
		s.note("take this out of %s:", file)
	} else {
		s.note("put this into %s:", file)
	}
	text, err := c.Snippet(server)
	s.printf("%s", text)
	return err
}

// server is this program as a client shall start it: with what was said here about
// where the daemon is, since a client sees nothing of this terminal's variables.
func (s *state) server(o installation, limit clientLimit) (clients.Server, error) {
	out := clients.Server{Args: []string{"mcp"}}
	var err error
	if out.Command, err = thisProgram(); err != nil {
		return out, err
	}
	places, err := s.placeArgs()
	if err != nil {
		return out, err
	}
	out.Args = append(out.Args, places...)
	for _, set := range s.set {
		out.Args = append(out.Args, "--set", set)
	}
	if limit.file != "" {
		out.Args = append(out.Args, "--set", "token_file="+limit.file)
	}
	if o.tools != "" {
		if _, err := mcpserver.ParseProfile(o.tools); err != nil {
			return out, err
		}
		out.Args = append(out.Args, "--tools", o.tools)
	}
	if o.project {
		out.Args = append(out.Args, "--project", here())
	}
	return out, nil
}

// placeArgs are the flags that say to another emberd what was said to this one, by flags or
// variables, about where the daemon is.
func (s *state) placeArgs() (args []string, err error) {
	for _, place := range []struct{ flag, value, variable string }{
		{"--home", s.home, "EMBERD_HOME"}, {"--config", s.configFile, "EMBERD_CONFIG"}, {"--socket", s.socket, "EMBERD_SOCKET"},
	} {
		if place.value == "" {
			place.value = s.getenv(place.variable)
		}
		if place.value == "" {
			continue
		}
		if !strings.HasPrefix(place.value, "~") { // which emberd reads itself
			if place.value, err = filepath.Abs(place.value); err != nil {
				return nil, err
			}
		}
		args = append(args, place.flag, place.value)
	}
	return args, nil
}

// thisProgram is the path that this process was called by, which stays the same
// across upgrades where it is a link, or else the file it runs from.
func thisProgram() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", memory.Errorf(memory.Internal, "find this program: %w", err)
	}
	called, err := exec.LookPath(os.Args[0])
	if err != nil {
		return exe, nil
	}
	if called, err = filepath.Abs(called); err != nil {
		return exe, nil
	}
	a, errA := os.Stat(called)
	b, errB := os.Stat(exe)
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		return exe, nil
	}
	return called, nil
}
