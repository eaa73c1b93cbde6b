package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/clients"
	"emberd/internal/config"
	"emberd/internal/service"
	"emberd/memory"
	"emberd/op"
)

// setup is init's flags.
type setup struct {
	vault   string
	clients []string
	service bool
	yes     bool
}

func (s *state) initCommand() *cobra.Command {
	var o setup
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set emberd up: the vault, a service, AI clients",
		Long: `Set emberd up by some questions: which vault, whether the system keeps the
daemon running, and which AI clients start emberd. Vaults are offered from
Obsidian's own list. Nothing is written before the last answer, and nothing is
downloaded.

Said again, it shows what is set and changes only what is answered. Comments in
the config file stay.

In scripts, --yes takes for granted what no flag says: the vault that is set, or
else the one that Obsidian opened last, and neither a service nor a client.`,
		Example: `  emberd init
  emberd init --yes --vault ~/Notes
  emberd init --yes --vault none --service --client cursor`,
		Annotations: exits(endings{exitInput: "an answer or flag is not right, or nobody is there to ask",
			exitNothing: "there is no such folder or client", exitNoDaemon: noManager,
			exitLocked: "a daemon runs that is not the service's", exitConflict: "a file of somebody else's is in the way",
			exitDisk: "the config file cannot be written"}),
		Args: takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("vault") && o.vault == "" {
				return memory.Errorf(memory.Invalid, "--vault is empty; name a folder, or none")
			}
			return s.setUp(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.vault, "vault", "", "search the notes in `DIR` beside the memories, or none")
	f.BoolVar(&o.service, "service", false, "have the system keep the daemon running")
	f.StringArrayVar(&o.clients, "client", nil, "have the AI client `NAME` start emberd; repeatable")
	f.BoolVarP(&o.yes, "yes", "y", false, "ask nothing")
	_ = cmd.RegisterFlagCompletionFunc("client", completeClients) // the flag is there
	return cmd
}

// plan is what init is to do.
type plan struct {
	changes []settingChange
	service bool
	clients []*clients.Client
}

// setupDone is what init did; with --json it is the result.
type setupDone struct {
	Config   string          `json:"config"`
	Settings []settingChange `json:"settings"` // that were changed
	Service  *serviceDone    `json:"service,omitempty"`
	Clients  []clientChange  `json:"clients"`
	Next     []string        `json:"next"` // commands to go on with
}

type serviceDone struct {
	Written []string       `json:"written"`
	State   *service.State `json:"state"`
}

func (s *state) setUp(ctx context.Context, o setup) error {
	c, err := s.load()
	if err != nil {
		return err
	}
	asks := s.interactive() && !s.json
	if !o.yes && !asks {
		return memory.Errorf(memory.Invalid, "emberd init asks, and nobody is there to answer; say emberd init --yes, with --vault DIR or --vault none, and --service and --client NAME for what else is wanted")
	}
	p, err := s.planSetup(ctx, c, o, asks && !o.yes)
	if err != nil {
		return err
	}
	done, err := s.carryOut(ctx, c, p)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(done)
	}
	s.printf("\n%s\n", s.screen.paint(bold, "next:"))
	for _, command := range done.Next {
		s.printf("  %s\n", command)
	}
	return nil
}

// planSetup decides all by flags, questions and what is there, and looks beforehand at
// what would be in the way.
func (s *state) planSetup(ctx context.Context, c *config.Config, o setup, asks bool) (*plan, error) {
	p := &plan{service: o.service}
	for _, name := range o.clients {
		if err := s.addClient(p, name); err != nil {
			return nil, err
		}
	}
	if o.service {
		if m, err := s.serviceManager(); err != nil {
			return nil, err
		} else if err := m.Answers(ctx); err != nil {
			return nil, err
		}
	}
	q := &questions{s: s, ctx: ctx, asks: asks}
	if asks {
		s.printSetNow(c)
	}
	dir, err := q.vault(c, o.vault)
	if err != nil {
		return nil, err
	}
	p.changes = vaultChange(c, dir)
	if err := s.changeable(c, p.changes); err != nil {
		return nil, err
	}
	if !asks {
		return p, nil
	}
	defer s.printf("\n")
	return p, errors.Join(q.service(p), q.clients(p))
}

// printSetNow shows what an earlier setup left.
func (s *state) printSetNow(c *config.Config) {
	s.row("settings", flat(c.File)+map[bool]string{false: " (not there yet)"}[c.FileRead])
	for i, dir := range c.Vaults {
		s.row(map[bool]string{true: "vault"}[i == 0], flat(dir))
	}
	s.printf("\n")
}

// addClient takes a client that can be installed into the plan.
func (s *state) addClient(p *plan, name string) error {
	c, err := findClient(name)
	if err != nil {
		return err
	}
	m, err := s.machine()
	if err != nil {
		return err
	}
	switch {
	case !c.Editable():
		return memory.Errorf(memory.Invalid, "the settings of %s are not edited; emberd install-client %s prints what to put in", c.Title, c.Name)
	case !c.Found(m):
		return memory.Errorf(memory.NotFound, "%s does not seem to be on this machine; start it once, then say emberd install-client %s", c.Title, c.Name)
	}
	if _, err := s.limit(c, c.File(m), installation{}); err != nil {
		return err
	}
	if !slices.Contains(p.clients, c) && !slices.ContainsFunc(p.clients, func(o *clients.Client) bool { return o.Name == c.Name }) {
		p.clients = append(p.clients, c)
	}
	return nil
}

// carryOut writes the settings in one go, then installs the service, which needs them, and
// then the clients. What fails says what was done before.
func (s *state) carryOut(ctx context.Context, c *config.Config, p *plan) (*setupDone, error) {
	done := &setupDone{Config: c.File, Settings: append([]settingChange{}, p.changes...), Clients: []clientChange{}}
	if err := s.writeSetup(c, p.changes); err != nil {
		return nil, err
	}
	before := "the settings are in " + c.File
	if p.service {
		var err error
		if done.Service, err = s.setUpService(ctx); err != nil {
			return nil, fmt.Errorf("%s, and no service was installed (emberd service install tries again): %w", before, err)
		}
		before += ", the service is installed"
	}
	for _, client := range p.clients {
		change, err := s.setUpClient(client)
		if err != nil {
			return nil, fmt.Errorf("%s, and %s was not told of emberd (emberd install-client %s tries again): %w", before, client.Title, client.Name, err)
		}
		done.Clients = append(done.Clients, *change)
		before += ", " + client.Title + " starts emberd"
	}
	done.Next = s.nextSteps(ctx, p)
	return done, nil
}

// writeSetup writes the config file, unless it is there and says all this already.
func (s *state) writeSetup(c *config.Config, changes []settingChange) error {
	if len(changes) > 0 || !c.FileRead {
		if err := s.writeSettings(c, changes); err != nil {
			return err
		}
		s.config = nil // which the file was read for before
		if _, err := s.load(); err != nil {
			return err
		}
	}
	if s.json {
		return nil
	}
	verb := "written "
	if len(changes) == 0 && c.FileRead {
		verb = "nothing to change in "
	}
	s.printf("%s%s\n", verb, clean(c.File))
	for _, change := range changes {
		s.printf("  %s: %s\n", change.Setting, clean(orNone(change.Value)))
		if change.Was != "" {
			s.printf("    before: %s\n", clean(change.Was))
		}
	}
	return nil
}

func (s *state) setUpService(ctx context.Context) (*serviceDone, error) {
	spec, err := s.serviceSpec()
	if err != nil {
		return nil, err
	}
	m, err := s.serviceManager()
	if err != nil {
		return nil, err
	}
	files, err := m.Render(spec)
	if err != nil {
		return nil, err
	}
	written, err := s.putService(ctx, m, spec, files)
	if err != nil {
		return nil, err
	}
	st, err := m.State(ctx)
	if err != nil {
		return nil, err
	}
	if !s.json {
		s.printPutService(m, written)
		s.row("service", clean(st.Says))
	}
	return &serviceDone{Written: append([]string{}, written...), State: st}, nil
}

func (s *state) setUpClient(c *clients.Client) (*clientChange, error) {
	m, err := s.machine()
	if err != nil {
		return nil, err
	}
	limit, err := s.limit(c, c.File(m), installation{})
	if err != nil {
		return nil, err
	}
	server, err := s.server(installation{}, limit)
	if err != nil {
		return nil, err
	}
	done := "added to"
	if c.Has(c.File(m)) {
		done = "changed in"
	}
	change, err := c.Add(c.File(m), server, false)
	if err != nil {
		return nil, err
	}
	res, err := s.applied(c, change)
	if err != nil || s.json {
		return res, err
	}
	return res, s.printChange(c, res, done)
}

// nextSteps are the commands that somebody types after this.
func (s *state) nextSteps(ctx context.Context, p *plan) []string {
	var next []string
	_, err := call(ctx, s, op.Version, &op.VersionRequest{})
	_, in, inErr := s.installed()
	down, serviced := memory.CodeOf(err) == memory.Unavailable, inErr == nil && len(in.Present) > 0 && in.Config == s.config.File
	switch {
	case p.service:
	case serviced && len(p.changes) > 0:
		next = append(next, s.again("service", "install")+"   # the daemon starts again with these settings")
	case serviced && down:
		next = append(next, s.again("service", "start"))
	case down:
		next = append(next, s.again("serve")+"   # in another terminal")
	case len(p.changes) > 0:
		next = append(next, s.again("serve")+"   # once the daemon that runs was ended; it has other settings")
	}
	return append(next, s.again("save", `"Use JWT tokens for authentication in all new APIs"`), s.again("search", "authentication"), s.again("doctor"))
}

// again is a command as it has to be typed to be about what this one is about.
func (s *state) again(words ...string) string {
	all := append([]string{"emberd"}, words...)
	for _, flag := range []struct{ name, value string }{{"--home", s.home}, {"--config", s.configFile}, {"--socket", s.socket}} {
		if flag.value != "" {
			all = append(all, flag.name, word(flag.value))
		}
	}
	for _, set := range s.set {
		all = append(all, "--set", word(set))
	}
	return strings.Join(all, " ")
}

// word is quoted, where a shell needs that.
func word(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return quoted(text)
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
