package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/config"
	"emberd/internal/service"
	"emberd/memory"
	"emberd/op"
)

func (s *state) serviceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Have the system keep the daemon running",
		Long: `Have the system keep the daemon running: systemd on Linux, launchd on a Mac,
for your user alone. It is started at every login, and again should it crash.
docs/service.md says what the files hold, and why.`,
		Example: `  emberd service install
  emberd service status
  emberd service logs --follow`,
		Annotations: exits(nil),
	}
	asGroup(cmd)
	cmd.AddCommand(s.serviceInstallCommand(), s.serviceUninstallCommand(),
		s.serviceStarts("start", "Start the daemon", "started", serviceManager.Start),
		s.serviceVerb("stop", "Stop the daemon until it is started, or the next login", "stopped", serviceManager.Stop),
		s.serviceStarts("restart", "Start the daemon again, as after a change of its settings", "restarted", serviceManager.Restart),
		s.serviceStatusCommand(), s.serviceLogsCommand(), s.serviceUnitsCommand())
	return cmd
}

const (
	noManager = "no service manager answers"
	noService = "no service is installed"
)

func (s *state) serviceInstallCommand() *cobra.Command {
	var show bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Have the daemon started now and at every login",
		Long: `Have the daemon started now and at every login: write the files of a service,
for this program and these settings, and tell the service manager. --home,
--config, --socket and --set are kept, and so is what variables say here.

The files allow the daemon only what the settings need, the folders that it
writes to for example. So say it again when these have changed: emberd service
status tells when the files are not what the settings ask for. Said again with
nothing changed, it changes nothing.`,
		Example: `  emberd service install
  emberd service install --print
  emberd service install --set listen=127.0.0.1:7330`,
		Annotations: exits(endings{exitNoDaemon: noManager, exitLocked: "a daemon runs that is not the service's",
			exitConflict: "there is a service of somebody else's, or for other settings", exitDisk: "a file cannot be written"}),
		Args: takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, err := s.serviceSpec()
			if err != nil {
				return err
			}
			m, err := s.serviceManager()
			if err != nil {
				return err
			}
			files, err := m.Render(spec)
			if err != nil {
				return err
			}
			if show {
				return s.printService(m, files)
			}
			return s.installService(cmd.Context(), m, spec, files)
		},
	}
	cmd.Flags().BoolVar(&show, "print", false, "change nothing, print the files")
	return cmd
}

func (s *state) printService(m serviceManager, files []service.File) error {
	type text struct {
		File string `json:"file"`
		Text string `json:"text"`
	}
	var all []text
	for _, f := range files {
		all = append(all, text{m.Folder() + "/" + f.Name, string(f.Text)})
	}
	if s.json {
		return s.printJSON(all)
	}
	for i, f := range all {
		if i > 0 {
			s.printf("\n")
		}
		s.note("%s:", f.File)
		s.printf("%s", f.Text)
	}
	return nil
}

func (s *state) installService(ctx context.Context, m serviceManager, spec *service.Spec, files []service.File) error {
	packaged, err := packagedService(ctx, m)
	if err != nil {
		return err
	}
	written, err := s.putService(ctx, m, spec, files)
	if err != nil {
		return err
	}
	return s.tellService(ctx, m, "written", written, func() {
		s.printPutService(m, written)
		if packaged != nil {
			s.note("they take the place of %s, which came with a package", clean(packaged.File))
		}
	})
}

// packagedService is how the service of a package is that a manager goes by, and nil where it
// goes by none, or by the user's own.
func packagedService(ctx context.Context, m serviceManager) (*service.State, error) {
	st, err := m.State(ctx)
	if err != nil || st.File == "" || filepath.Dir(st.File) == m.Folder() {
		return nil, err
	}
	return st, nil
}

// putService has a manager run the daemon by these files, and returns those that it wrote.
func (s *state) putService(ctx context.Context, m serviceManager, spec *service.Spec, files []service.File) ([]string, error) {
	if err := m.Answers(ctx); err != nil {
		return nil, err
	}
	in, err := service.Look(m.Folder(), files)
	if err != nil {
		return nil, err
	}
	if in.Config != "" && in.Config != spec.Config {
		return nil, memory.Errorf(memory.Conflict, "there is a service already, for the settings in %s; emberd service uninstall removes it", in.Config)
	}
	if err := s.onlyDaemon(ctx, m); err != nil {
		return nil, err
	}
	// What is missing when a unit starts is not writable in it later.
	for _, dir := range spec.Writable[:2] {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, &exit{code: exitDisk, err: err}
		}
	}
	written, err := service.Write(m.Folder(), files)
	if err != nil {
		return nil, &exit{code: exitDisk, err: err}
	}
	return written, m.Enable(ctx, len(written) > 0)
}

func (s *state) printPutService(m serviceManager, written []string) {
	for _, path := range written {
		s.printf("written %s\n", clean(path))
	}
	if len(written) == 0 {
		s.printf("nothing to change in %s\n", clean(m.Folder()))
		return
	}
	s.note("%s", m.Advice())
}

// onlyDaemon refuses to start a service beside a daemon that somebody else started.
func (s *state) onlyDaemon(ctx context.Context, m serviceManager) error {
	if st, err := m.State(ctx); err != nil || st.Running {
		return err
	}
	v, err := call(ctx, s, op.Version, &op.VersionRequest{})
	if err != nil {
		return nil // nobody answers, as it should be
	}
	if st, err := m.State(ctx); err != nil || st.Running { // it was the question that started it
		return err
	}
	return &exit{code: exitLocked, err: memory.Errorf(memory.Busy, "a daemon runs that is not the service's, as process %d; stop that first", v.PID)}
}

// tellService ends a command that changed something with how the daemon is now.
func (s *state) tellService(ctx context.Context, m serviceManager, what string, paths []string, print func()) error {
	st, err := m.State(ctx)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(map[string]any{what: append([]string{}, paths...), "state": st})
	}
	print()
	s.row("service", clean(st.Says))
	return nil
}

// installed is what there is of a service, whatever its settings.
func (s *state) installed() (serviceManager, *service.Installed, error) {
	m, err := s.serviceManager()
	if err != nil {
		return nil, nil, err
	}
	files, err := m.Render(&service.Spec{}) // for the names alone
	if err != nil {
		return nil, nil, err
	}
	in, err := service.Look(m.Folder(), files)
	return m, in, err
}

// needsService refuses what needs a service where there is none. It returns how that of a
// package is, where the user has none of their own.
func needsService(ctx context.Context, m serviceManager, in *service.Installed) (packaged *service.State, err error) {
	if len(in.Present) > 0 {
		return nil, nil
	}
	packaged, err = packagedService(ctx, m)
	if err == nil && packaged == nil {
		err = memory.Errorf(memory.NotFound, "%s; emberd service install does that", noService)
	}
	return packaged, err
}

// serviceStarts is a command that has the manager start the daemon. It refuses where the
// settings are wrong, by which one that runs would only be lost, and where somebody else
// started one.
func (s *state) serviceStarts(name, short, done string, do func(serviceManager, context.Context) error) *cobra.Command {
	cmd := s.serviceVerb(name, short, done, func(m serviceManager, ctx context.Context) error {
		c, err := s.load()
		if err != nil {
			return err
		}
		_, in, err := s.installed()
		if err != nil {
			return err
		}
		if s.concerns(in, c) {
			if err := s.onlyDaemon(ctx, m); err != nil {
				return err
			}
		}
		return do(m, ctx)
	})
	cmd.Annotations = exits(endings{exitNothing: noService, exitNoDaemon: noManager + ", or the daemon did not start",
		exitLocked: "a daemon runs that is not the service's"})
	return cmd
}

// concerns tells whether a service is about the daemon of these settings. A package's listens
// where the settings have it by default.
func (s *state) concerns(in *service.Installed, c *config.Config) bool {
	if in.Config != "" {
		return in.Config == c.File
	}
	return c.Socket == filepath.Join(s.getenv("XDG_RUNTIME_DIR"), "emberd", "emberd.sock")
}

// serviceVerb is a command that has the manager do one thing.
func (s *state) serviceVerb(name, short, done string, do func(serviceManager, context.Context) error) *cobra.Command {
	return &cobra.Command{
		Use:         name,
		Short:       short,
		Example:     "  emberd service " + name,
		Annotations: exits(endings{exitNothing: noService, exitNoDaemon: noManager}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, in, err := s.installed()
			if err != nil {
				return err
			}
			if _, err := needsService(cmd.Context(), m, in); err != nil {
				return err
			}
			if err := do(m, cmd.Context()); err != nil {
				return err
			}
			return s.tellService(cmd.Context(), m, done, in.Present, func() { s.warnStale() })
		},
	}
}

// warnStale says when the service's files are not what the settings ask for. That they
// cannot be compared is no fault of what was done.
func (s *state) warnStale() {
	if stale, err := s.staleService(); err == nil && len(stale) > 0 {
		s.note("the service is not what the settings ask for: %s; emberd service install mends that", clean(strings.Join(stale, ", ")))
	}
}

// serviceStatus is the answer of service status with --json.
type serviceStatus struct {
	Installed []string       `json:"installed"`
	Packaged  string         `json:"packaged,omitempty"` // the unit of a package, while there is no other
	Config    string         `json:"config"`
	Stale     []string       `json:"stale"`
	Problem   string         `json:"problem,omitempty"` // why whether it is stale is not known
	State     *service.State `json:"state"`
}

func (s *state) serviceStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Tell whether the service runs, and is what the settings ask for",
		Example: `  emberd service status
  emberd service status --json | jq .state.pid`,
		Annotations: exits(endings{exitDone: "it runs", exitNothing: "it does not run, or is not installed", exitNoDaemon: noManager}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, in, err := s.installed()
			if err != nil {
				return err
			}
			st := &serviceStatus{Installed: append([]string{}, in.Present...), Config: in.Config, Stale: []string{}}
			if st.State, err = m.State(cmd.Context()); err != nil {
				return err
			}
			if len(in.Present) == 0 {
				st.Packaged = st.State.File
			}
			stale, err := s.staleService()
			if err != nil {
				st.Problem = err.Error()
			}
			st.Stale = append(st.Stale, stale...)
			return s.printServiceStatus(st)
		},
	}
}

func (s *state) printServiceStatus(st *serviceStatus) error {
	n := len(st.Installed) + len(st.Packaged)
	if !st.State.Running {
		n = 0
	}
	return s.found(st, n, func() {
		if len(st.Installed) == 0 && st.Packaged == "" {
			s.printf("%s\n", noService)
			s.note("emberd service install has the daemon started now and at every login")
			return
		}
		color := green
		if !st.State.Running {
			color = yellow
		}
		s.row("service", s.screen.paint(color, clean(st.State.Says)))
		if st.State.PID > 0 {
			s.row("process", fmt.Sprint(st.State.PID))
		}
		s.row("at login", map[bool]string{true: "starts", false: "does not start"}[st.State.Enabled])
		for i, path := range st.Installed {
			s.row(map[bool]string{true: "files"}[i == 0], clean(path))
		}
		if st.Packaged != "" {
			s.row("file", clean(st.Packaged))
			s.note("it came with a package, for everybody's settings; emberd service install writes one for yours")
			return
		}
		s.row("settings", clean(st.Config))
		switch {
		case st.Problem != "":
			s.note("whether it is what the settings ask for is not known: %s", clean(st.Problem))
		case len(st.Stale) > 0:
			s.warnStale()
		}
	})
}

func (s *state) serviceLogsCommand() *cobra.Command {
	var lines int
	var follow bool
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show what the daemon said",
		Example: `  emberd service logs
  emberd service logs --lines 1000
  emberd service logs --follow`,
		Annotations: exits(endings{exitNothing: noService, exitNoDaemon: "what it said cannot be read"}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 1 || lines > 100_000 {
				return wrong(cmd, "--lines takes 1 to 100000, not %d", lines)
			}
			if follow && s.json {
				return wrong(cmd, "--follow has no end, and so no JSON")
			}
			m, in, err := s.installed()
			if err != nil {
				return err
			}
			if _, err := needsService(cmd.Context(), m, in); err != nil {
				return err
			}
			if !s.json {
				return m.Logs(cmd.Context(), s.terminal, lines, follow)
			}
			var text bytes.Buffer
			if err := m.Logs(cmd.Context(), &text, lines, false); err != nil {
				return err
			}
			return s.printJSON(map[string]any{"lines": strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")})
		},
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", 100, "how many `LINES`, the last ones")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with those to come, until interrupted")
	return cmd
}
