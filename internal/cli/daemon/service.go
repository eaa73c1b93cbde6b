package daemon

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/service"
	"emberd/memory"
	"emberd/op"
)

func ServiceCommand(s *cli.App) *cobra.Command {
	return cli.Group("service",
		serviceInstallCommand(s), serviceUninstallCommand(s),
		serviceStarts(s, "start", "started", serviceManager.Start),
		serviceVerb(s, "stop", "stopped", serviceManager.Stop),
		serviceStarts(s, "restart", "restarted", serviceManager.Restart),
		serviceStatusCommand(s), serviceLogsCommand(s), serviceUnitsCommand(s))
}

const (
	NoManager = "no service manager responds"
	noService = "no service installed"
)

func serviceInstallCommand(s *cli.App) *cobra.Command {
	var show bool
	cmd := cli.Command("install", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		spec, err := ServiceSpec(s)
		if err != nil {
			return err
		}
		m, err := ManagerOf(s)
		if err != nil {
			return err
		}
		files, err := m.Render(spec)
		if err != nil {
			return err
		}
		if show {
			return printService(s, m, files)
		}
		return installService(cmd.Context(), s, m, spec, files)
	})
	cmd.Flags().BoolVar(&show, "print", false, "")
	return cmd
}

func printService(s *cli.App, m serviceManager, files []service.File) error {
	type text struct {
		File string `json:"file"`
		Text string `json:"text"`
	}
	var all []text
	for _, f := range files {
		all = append(all, text{m.Folder() + "/" + f.Name, string(f.Text)})
	}
	return s.Answer(all, func() {
		for i, f := range all {
			if i > 0 {
				s.Printf("\n")
			}
			s.Note("%s:", f.File)
			s.Printf("%s", f.Text)
		}
	})
}

func installService(ctx context.Context, s *cli.App, m serviceManager, spec *service.Spec, files []service.File) error {
	packaged, err := packagedService(ctx, m)
	if err != nil {
		return err
	}
	written, err := PutService(ctx, s, m, spec, files)
	if err != nil {
		return err
	}
	return tellService(ctx, s, m, "written", written, func() {
		PrintPutService(s, m, written)
		if packaged != nil {
			s.Note("the new files replace %s, which a package installed", cli.Clean(packaged.File))
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

// PutService has a manager run the daemon by these files, and returns those that it wrote.
func PutService(ctx context.Context, s *cli.App, m serviceManager, spec *service.Spec, files []service.File) ([]string,
	error) {
	if err := m.Answers(ctx); err != nil {
		return nil, err
	}
	in, err := service.Look(m.Folder(), files)
	if err != nil {
		return nil, err
	}
	if in.Config != "" && in.Config != spec.Config {
		return nil, memory.Errorf(memory.Conflict,
			"a service for the settings in %s already exists; to remove it, run: emberd service uninstall", in.Config)
	}
	if err := onlyDaemon(ctx, s, m); err != nil {
		return nil, err
	}
	// What is missing when a unit starts is not writable in it later.
	for _, dir := range spec.Writable[:2] {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, &cli.Exit{Code: cli.ExitDisk, Err: err}
		}
	}
	written, err := service.Write(m.Folder(), files)
	if err != nil {
		return nil, &cli.Exit{Code: cli.ExitDisk, Err: err}
	}
	return written, m.Enable(ctx, len(written) > 0)
}

func PrintPutService(s *cli.App, m serviceManager, written []string) {
	for _, path := range written {
		s.Printf("written %s\n", cli.Clean(path))
	}
	if len(written) == 0 {
		s.Printf("nothing to change in %s\n", cli.Clean(m.Folder()))
		return
	}
	s.Note("%s", m.Advice())
}

// onlyDaemon refuses to start a service beside a daemon that somebody else started.
func onlyDaemon(ctx context.Context, s *cli.App, m serviceManager) error {
	if st, err := m.State(ctx); err != nil || st.Running {
		return err
	}
	v, err := cli.Call(ctx, s, op.Version, &op.VersionRequest{})
	if err != nil {
		return nil // nobody answers, as it should be
	}
	if st, err := m.State(ctx); err != nil || st.Running { // it was the question that started it
		return err
	}
	return &cli.Exit{Code: cli.ExitLocked,
		Err: memory.Errorf(memory.Busy, "a daemon outside the service is running (PID %d); stop that daemon first",
			v.PID)}
}

// tellService ends a command that changed something with how the daemon is now.
func tellService(ctx context.Context, s *cli.App, m serviceManager, what string, paths []string, print func()) error {
	st, err := m.State(ctx)
	if err != nil {
		return err
	}
	return s.Answer(map[string]any{what: append([]string{}, paths...), "state": st}, func() {
		print()
		s.Row("service", cli.Clean(st.Says))
	})
}

// Installed is what there is of a service, whatever its settings.
func Installed(s *cli.App) (serviceManager, *service.Installed, error) {
	m, err := ManagerOf(s)
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
		err = memory.Errorf(memory.NotFound, "%s; run: emberd service install", noService)
	}
	return packaged, err
}

// serviceStarts is a command that has the manager start the daemon. It refuses where the
// settings are wrong, by which one that runs would only be lost, and where somebody else
// started one.
func serviceStarts(s *cli.App, name, done string,
	do func(serviceManager, context.Context) error) *cobra.Command {
	cmd := serviceVerb(s, name, done, func(m serviceManager, ctx context.Context) error {
		c, err := s.Load()
		if err != nil {
			return err
		}
		_, in, err := Installed(s)
		if err != nil {
			return err
		}
		if concerns(s, in, c) {
			if err := onlyDaemon(ctx, s, m); err != nil {
				return err
			}
		}
		return do(m, ctx)
	})
	return cmd
}

// concerns tells whether a service is about the daemon of these settings. A package's listens
// where the settings have it by default.
func concerns(s *cli.App, in *service.Installed, c *config.Config) bool {
	if in.Config != "" {
		return in.Config == c.File
	}
	return c.Socket == filepath.Join(cli.Getenv(s, "XDG_RUNTIME_DIR"), "emberd", "emberd.sock")
}

// serviceVerb is a command that has the manager do one thing.
func serviceVerb(s *cli.App, name, done string, do func(serviceManager, context.Context) error) *cobra.Command {
	return cli.Command(name, cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		m, in, err := Installed(s)
		if err != nil {
			return err
		}
		if _, err := needsService(cmd.Context(), m, in); err != nil {
			return err
		}
		if err := do(m, cmd.Context()); err != nil {
			return err
		}
		return tellService(cmd.Context(), s, m, done, in.Present, func() { WarnStale(s) })
	})
}

// WarnStale says when the service's files are not what the settings ask for. That they
// cannot be compared is no fault of what was done.
func WarnStale(s *cli.App) {
	if stale, err := StaleService(s); err == nil && len(stale) > 0 {
		s.Note("the service does not match the settings: %s; run: emberd service install",
			cli.Clean(strings.Join(stale, ", ")))
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

func serviceStatusCommand(s *cli.App) *cobra.Command {
	return cli.Command("status", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		m, in, err := Installed(s)
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
		stale, err := StaleService(s)
		if err != nil {
			st.Problem = err.Error()
		}
		st.Stale = append(st.Stale, stale...)
		return printServiceStatus(s, st)
	})
}

func printServiceStatus(s *cli.App, st *serviceStatus) error {
	n := len(st.Installed) + len(st.Packaged)
	if !st.State.Running {
		n = 0
	}
	return s.Found(st, n, func() {
		if len(st.Installed) == 0 && st.Packaged == "" {
			s.Printf("%s\n", noService)
			s.Note("to start the daemon now and at every login, run: emberd service install")
			return
		}
		color := cli.Green
		if !st.State.Running {
			color = cli.Yellow
		}
		s.Row("service", s.Screen.Paint(color, cli.Clean(st.State.Says)))
		if st.State.PID > 0 {
			s.Row("process", fmt.Sprint(st.State.PID))
		}
		s.Row("at login", map[bool]string{true: "starts", false: "does not start"}[st.State.Enabled])
		for i, path := range st.Installed {
			s.Row(map[bool]string{true: "files"}[i == 0], cli.Clean(path))
		}
		if st.Packaged != "" {
			s.Row("file", cli.Clean(st.Packaged))
			s.Note("a package installed this service for all users; to install " +
				"a service with your settings, run: emberd service install")
			return
		}
		s.Row("settings", cli.Clean(st.Config))
		switch {
		case st.Problem != "":
			s.Note("cannot check whether the service matches the settings: %s", cli.Clean(st.Problem))
		case len(st.Stale) > 0:
			WarnStale(s)
		}
	})
}

func serviceLogsCommand(s *cli.App) *cobra.Command {
	var lines int
	var follow bool
	cmd := cli.Command("logs", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		if lines < 1 || lines > 100_000 {
			return cli.UsageError(cmd, "--lines %d is out of range (1 to 100000)", lines)
		}
		if follow && s.JSON {
			return cli.UsageError(cmd, "--follow and --json cannot be combined")
		}
		m, in, err := Installed(s)
		if err != nil {
			return err
		}
		if _, err := needsService(cmd.Context(), m, in); err != nil {
			return err
		}
		if !s.JSON {
			return m.Logs(cmd.Context(), s.Terminal, lines, follow)
		}
		var text bytes.Buffer
		if err := m.Logs(cmd.Context(), &text, lines, false); err != nil {
			return err
		}
		return s.PrintJSON(map[string]any{"lines": strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")})
	})
	cmd.Flags().IntVarP(&lines, "lines", "n", 100, "")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "")
	return cmd
}
