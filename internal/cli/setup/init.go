// Package setup has the commands that set emberd up and explain it: init, config, the primary
// device, the demo, completion scripts and manual pages.
package setup

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/cli/agent"
	"emberd/internal/cli/daemon"
	"emberd/internal/cli/model"
	"emberd/internal/clients"
	"emberd/internal/config"
	"emberd/internal/notebase"
	"emberd/internal/service"
	"emberd/memory"
	"emberd/op"
)

// setup is init's flags.
type setup struct {
	vault   string
	meaning string
	clients []string
	service bool
	yes     bool
	dryRun  bool
}

func InitCommand(s *cli.App) *cobra.Command {
	var o setup
	cmd := cli.Command("init", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("vault") && o.vault == "" {
			return memory.Errorf(memory.Invalid, "invalid --vault \"\"; use a folder, or none")
		}
		if cmd.Flags().Changed("meaning") && o.meaning == "" {
			return memory.Errorf(memory.Invalid, "invalid --meaning \"\"; use words, static or the name of a model")
		}
		return setUp(cmd.Context(), s, o)
	})
	f := cmd.Flags()
	cli.VaultFlag(cmd, &o.vault)
	f.StringVar(&o.meaning, "meaning", "", "")
	f.BoolVar(&o.service, "service", false, "")
	f.StringArrayVar(&o.clients, "client", nil, "")
	f.BoolVarP(&o.yes, "yes", "y", false, "")
	f.BoolVar(&o.dryRun, "dry-run", false, "")
	_ = cmd.RegisterFlagCompletionFunc("client", cli.CompleteClients) // the flags are there
	_ = cmd.RegisterFlagCompletionFunc("meaning", model.CompleteChoices(s))
	return cmd
}

// plan is what init is to do.
type plan struct {
	changes []cli.SettingChange
	meaning *model.Choice // nil leaves it as it is
	service bool
	clients []*clients.Client
	hooks   []*clients.Client // those of clients that get hooks, too
	started bool              // the user started the daemon since, so that it has the settings
}

// setupDone is what init did; with --json it is the result.
type setupDone struct {
	DryRun   bool                 `json:"dry_run,omitempty"` // nothing was done
	Config   string               `json:"config"`
	Settings []cli.SettingChange  `json:"settings"`       // that were changed
	Base     string               `json:"base,omitempty"` // that was written into the vault
	Service  *serviceDone         `json:"service,omitempty"`
	Clients  []agent.ClientChange `json:"clients"`
	Hooks    []agent.ClientChange `json:"hooks,omitempty"`
	Memory   *firstMemory         `json:"memory,omitempty"`
	Next     []string             `json:"next"` // commands to go on with

	page bool // the user wants it opened
}

// firstMemory is the memory that init saved, and the search that found it again.
type firstMemory struct {
	ID    memory.ID `json:"id"`
	Query string    `json:"query"`
	Found bool      `json:"found"`
}

type serviceDone struct {
	Written []string       `json:"written"`
	State   *service.State `json:"state"`
}

func setUp(ctx context.Context, s *cli.App, o setup) error {
	c, err := s.Load()
	if err != nil {
		return err
	}
	asks := s.Interactive() && !s.JSON && !o.yes
	if !o.yes && !asks && !o.dryRun {
		return memory.Errorf(memory.Invalid, "emberd init requires a terminal; in scripts, use --yes with --vault "+
			"DIR or --vault none, and optionally --service and --client NAME")
	}
	if home := cli.Getenv(s, "EMBERD_HOME"); home != "" && s.Home == "" {
		s.Note("EMBERD_HOME selects the folder %s for all data and settings; to use the standard folders instead, "+
			"stop emberd init and run: unset EMBERD_HOME", cli.Flat(home))
	}
	q := &questions{s: s, ctx: ctx, asks: asks}
	p, err := planSetup(ctx, s, c, o, q)
	switch {
	case err != nil:
		return err
	case o.dryRun:
		return dryRun(s, c, p, asks)
	}
	done, err := carryOut(ctx, s, c, p)
	if err == nil && asks {
		err = q.first(p, done)
	}
	if err != nil {
		return err
	}
	done.Next = nextSteps(ctx, s, p, done)
	err = s.Answer(done, func() {
		s.Printf("\n%s\n", s.Screen.Paint(cli.Bold, "next:"))
		for _, command := range done.Next {
			s.Printf("  %s\n", command)
		}
	})
	if err == nil && done.page {
		return openPage(ctx, s)
	}
	return err
}

// planSetup decides all by flags, questions and what is there, and looks beforehand at
// what would be in the way.
func planSetup(ctx context.Context, s *cli.App, c *config.Config, o setup, q *questions) (*plan, error) {
	p := &plan{service: o.service}
	for _, name := range o.clients {
		if err := addClient(s, p, name); err != nil {
			return nil, err
		}
	}
	if o.service {
		if m, err := daemon.ManagerOf(s); err != nil {
			return nil, err
		} else if err := m.Answers(ctx); err != nil {
			return nil, err
		}
	}
	if q.asks {
		printSetNow(s, c)
	}
	dir, err := q.vault(c, o.vault)
	if err != nil {
		return nil, err
	}
	p.changes = vaultChange(c, dir)
	if err := cli.Changeable(s, c, p.changes); err != nil {
		return nil, err
	}
	if p.meaning, err = q.meaning(c, o.meaning, dir); err != nil {
		return nil, err
	}
	if !q.asks {
		return p, nil
	}
	defer s.Printf("\n")
	for _, ask := range []func(*plan) error{q.service, q.clients, q.hooks} {
		if err := ask(p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// printSetNow shows what an earlier setup left.
func printSetNow(s *cli.App, c *config.Config) {
	s.Row("settings", cli.Flat(c.File)+map[bool]string{false: " (does not exist yet)"}[c.FileRead])
	for i, dir := range c.Vaults {
		s.Row(map[bool]string{true: "vault"}[i == 0], cli.Flat(dir))
	}
	s.Printf("\n")
}

// addClient takes a client that can be installed into the plan.
func addClient(s *cli.App, p *plan, name string) error {
	c, err := agent.FindClient(name)
	if err != nil {
		return err
	}
	m, err := cli.ThisMachine(s)
	if err != nil {
		return err
	}
	if !c.Found(m) {
		return memory.Errorf(memory.NotFound,
			"%s not found on this machine; start it once, and then run: emberd agent install %s", c.Title, c.Name)
	}
	if _, err := agent.Limit(s, c, c.File(m), agent.Installation{}); err != nil {
		return err
	}
	if !slices.Contains(p.clients, c) &&
		!slices.ContainsFunc(p.clients, func(o *clients.Client) bool { return o.Name == c.Name }) {
		p.clients = append(p.clients, c)
	}
	return nil
}

// carryOut writes the settings in one go, then installs the service, which needs them, and
// then the clients. What fails says what was done before.
func carryOut(ctx context.Context, s *cli.App, c *config.Config, p *plan) (*setupDone, error) {
	if err := settleMeaning(ctx, s, c, p); err != nil {
		return nil, err
	}
	done := &setupDone{Config: c.File, Settings: append([]cli.SettingChange{}, p.changes...),
		Clients: []agent.ClientChange{}}
	if err := writeSetup(s, c, p.changes); err != nil {
		return nil, err
	}
	done.Base = writeBase(s, p)
	before := "the settings are in " + c.File
	if p.service {
		var err error
		if done.Service, err = setUpService(ctx, s); err != nil {
			return nil, fmt.Errorf("%s, but the service was not installed: %w; to retry, run: emberd service install",
				before, err)
		}
		before += "; the service is installed"
	}
	for _, client := range p.clients {
		change, err := setUpClient(s, client)
		if err != nil {
			return nil, fmt.Errorf("%s, but emberd was not added to %s: %w; to retry, run: emberd agent install %s",
				before, client.Title, err, client.Name)
		}
		done.Clients = append(done.Clients, *change)
		before += "; " + client.Title + " starts emberd"
	}
	for _, client := range p.hooks {
		change, err := setUpHooks(s, client)
		if err != nil {
			return nil, fmt.Errorf(
				"%s, but hooks were not added to %s: %w; to retry, run: emberd agent install %s --hooks", before,
				client.Title, err, client.Name)
		}
		done.Hooks = append(done.Hooks, *change)
	}
	return done, nil
}

// writeSetup writes the config file, unless it is there and says all this already.
func writeSetup(s *cli.App, c *config.Config, changes []cli.SettingChange) error {
	wasThere := c.FileRead
	if len(changes) > 0 || !wasThere {
		if err := cli.WriteSettings(s, c, changes); err != nil {
			return err
		}
		s.Config = nil // which the file was read for before
		if _, err := s.Load(); err != nil {
			return err
		}
	}
	if s.JSON {
		return nil
	}
	verb := "written "
	if len(changes) == 0 && wasThere {
		verb = "nothing to change in "
	}
	s.Printf("%s%s\n", verb, cli.Clean(c.File))
	for _, change := range changes {
		s.Printf("  %s: %s\n", change.Setting, cli.Clean(orNone(change.Value)))
		if change.Was != "" {
			s.Printf("    before: %s\n", cli.Clean(change.Was))
		}
	}
	noteUndoSettings(s, changes, wasThere)
	return nil
}

// writeBase writes the base of the memories into a vault that was set, and returns its file, "" if there is one of that
// name. Without it nothing is missing, so that a failure is only told.
func writeBase(s *cli.App, p *plan) string {
	set := func(change cli.SettingChange) bool { return change.Setting == "vaults" && change.Value != "" }
	c, err := s.Load()
	if err != nil || !slices.ContainsFunc(p.changes, set) || len(c.Vaults) == 0 {
		return ""
	}
	file, made, _, err := notebase.Write(c.Vaults[0], c.Vault.PromotedFolder, c.Vault.ArchiveFolder)
	switch {
	case err != nil:
		s.Note("cannot write the Obsidian base that lists your memories: %s; to retry, run: emberd vault bases",
			cli.Clean(err.Error()))
	case made && !s.JSON:
		s.Printf("  base: %s\n", cli.Clean(file))
		s.Note("this file lists your memories in Obsidian; to undo, delete it")
	}
	if !made {
		return ""
	}
	return file
}

func setUpService(ctx context.Context, s *cli.App) (*serviceDone, error) {
	spec, err := daemon.ServiceSpec(s)
	if err != nil {
		return nil, err
	}
	m, err := daemon.ManagerOf(s)
	if err != nil {
		return nil, err
	}
	files, err := m.Render(spec)
	if err != nil {
		return nil, err
	}
	written, err := daemon.PutService(ctx, s, m, spec, files)
	if err != nil {
		return nil, err
	}
	st, err := m.State(ctx)
	if err != nil {
		return nil, err
	}
	if !s.JSON {
		daemon.PrintPutService(s, m, written)
		s.Row("service", cli.Clean(st.Says))
		s.Note("to undo, run: %s", cli.Again(s, "service", "uninstall"))
	}
	return &serviceDone{Written: append([]string{}, written...), State: st}, nil
}

func setUpClient(s *cli.App, c *clients.Client) (*agent.ClientChange, error) {
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
	done := "added to"
	if c.Has(c.File(m)) {
		done = "changed in"
	}
	change, err := c.Add(c.File(m), server, false)
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
	s.Note("to undo, run: %s", cli.Again(s, "agent", "uninstall", c.Name))
	return res, nil
}

// nextSteps are the commands that somebody types after this.
func nextSteps(ctx context.Context, s *cli.App, p *plan, done *setupDone) []string {
	var next []string
	_, err := cli.Call(ctx, s, op.Version, &op.VersionRequest{})
	_, in, inErr := daemon.Installed(s)
	down, serviced := memory.CodeOf(err) == memory.Unavailable, inErr == nil && len(in.Present) > 0 &&
		in.Config == s.Config.File
	switch {
	case p.service || p.started:
	case serviced && len(p.changes) > 0:
		next = append(next, cli.Again(s, "service", "install")+"   # restarts the daemon with these settings")
	case serviced && down:
		next = append(next, cli.Again(s, "service", "start"))
	case down:
		next = append(next, startCommand(s)+"   # in another terminal")
	case len(p.changes) > 0:
		next = append(next, startCommand(s)+"   # first stop the running daemon, which uses the old settings")
	}
	if p.meaning != nil && len(p.meaning.Changes) > 0 && p.meaning.Name != model.ByWords {
		next = append(next, cli.Again(s, "model", "status")+"   # shows the progress of the embeddings")
	}
	if done.Memory == nil {
		next = append(next, cli.Again(s, "save", `"Use JWT tokens for authentication in all new APIs"`),
			cli.Again(s, "search", "authentication"))
	}
	return append(next, cli.Again(s, "doctor"), cli.Again(s, "page"))
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
