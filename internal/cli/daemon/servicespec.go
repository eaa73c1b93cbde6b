package daemon

import (
	"context"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"emberd/embedding"
	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/service"
	"emberd/memory"
)

// ServiceSpec is what a service for these settings is made of. A manager starts programs
// without the variables of this terminal, so what they and flags say becomes flags, and
// whether the daemon would then see the same settings is looked at before.
func ServiceSpec(s *cli.App) (*service.Spec, error) {
	c, err := s.Load()
	if err != nil {
		return nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "cannot determine the home directory; set HOME")
	}
	spec := &service.Spec{Config: c.File, Socket: c.Socket, Writable: writableFolders(c), Network: usesTCP(c),
		Native: startsNative(c),
		Log:    filepath.Join(home, "Library", "Logs", "emberd.log")}
	if spec.Program, err = cli.ThisProgram(); err != nil {
		return nil, err
	}
	places, err := cli.PlaceArgs(s)
	if err != nil {
		return nil, err
	}
	sets := settingFlags(s, c)
	spec.Args = append([]string{"serve"}, places...)
	for _, set := range sets {
		spec.Args = append(spec.Args, "--set", set)
	}
	if runtime.GOOS != "darwin" {
		spec.Env = folderVariables(s)
	}
	if c.Review.Beads && c.Review.BeadsDir == "" {
		return nil, memory.Errorf(memory.Invalid, "review.beads is true, so bd uses the tracker in the working "+
			"directory, but a service has no working directory; set review.beads to the folder of the tracker")
	}
	return spec, seesTheSame(s, c, sets, spec.Env, home)
}

// settingFlags are the settings that flags or variables make here, as --set takes them,
// their paths in full. The socket has a flag of its own.
func settingFlags(s *cli.App, c *config.Config) (sets []string) {
	for _, st := range c.Effective() {
		if st.Key != "socket" && (st.Origin == config.FromFlag || st.Origin == config.FromEnv) {
			sets = append(sets, st.Key+"="+st.Value)
		}
	}
	return sets
}

// folderVariables are those that choose default folders.
func folderVariables(s *cli.App) (env []string) {
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		if dir := cli.Getenv(s, name); filepath.IsAbs(dir) {
			env = append(env, name+"="+dir)
		}
	}
	return env
}

// seesTheSame refuses a service whose daemon would have other settings than this command.
func seesTheSame(s *cli.App, c *config.Config, sets, env []string, home string) error {
	flags := slices.Clone(sets)
	if st, err := c.Explain("socket"); err == nil && (st.Origin == config.FromFlag || st.Origin == config.FromEnv) {
		flags = append(flags, "socket="+st.Value)
	}
	env = append(slices.Clone(env), "HOME="+home, "XDG_RUNTIME_DIR="+cli.Getenv(s, "XDG_RUNTIME_DIR"))
	src := config.Source{Flags: flags, Env: env, Home: s.Home, ConfigFile: s.ConfigFile, UserHome: home}
	for name, value := range map[string]*string{"EMBERD_HOME": &src.Home, "EMBERD_CONFIG": &src.ConfigFile} {
		if *value == "" {
			*value = cli.Getenv(s, name)
		}
	}
	there, err := config.Load(src)
	if err != nil {
		return memory.Errorf(memory.Invalid, "a service does not inherit the environment variables of this "+
			"terminal; without these variables, the settings are invalid: %w", err)
	}
	var other []string
	theirs := there.Effective()
	for i, st := range c.Effective() {
		if st.Value != theirs[i].Value {
			other = append(other, st.Key)
		}
	}
	if len(other) > 0 {
		return memory.Errorf(memory.Invalid, "a service does not inherit the environment variables of this terminal, "+
			"so the service would use other values of %s; write these settings to %s", strings.Join(other, ", "),
			c.File)
	}
	return nil
}

// writableFolders are all that the daemon writes to.
func writableFolders(c *config.Config) []string {
	dirs := append([]string{c.Data, c.State}, c.Vaults...)
	if c.Review.Beads && c.Review.BeadsDir != "" { // by bd, which the daemon runs
		dirs = append(dirs, c.Review.BeadsDir)
	}
	return dirs
}

// usesTCP tells whether settings have the daemon connect by TCP.
func usesTCP(c *config.Config) bool {
	over := func(url string) bool { return strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") }
	return over(c.LLM.URL) || over(c.Embedding.URL)
}

// startsNative tells whether settings let the daemon start native code of somebody else's.
func startsNative(c *config.Config) bool {
	return c.Embedding.Model != "" && c.Embedding.Engine != NoEngine && slices.Contains(c.Embedding.Providers,
		embedding.Llama)
}

// A serviceManager keeps the daemon running: systemd's or launchd.
type serviceManager interface {
	Folder() string
	Render(*service.Spec) ([]service.File, error)
	Answers(context.Context) error
	Enable(ctx context.Context, changed bool) error
	Disable(context.Context) error
	Forget(context.Context) error
	Start(context.Context) error
	Stop(context.Context) error
	Restart(context.Context) error
	State(context.Context) (*service.State, error)
	Logs(ctx context.Context, out io.Writer, lines int, follow bool) error
	Advice() string
}

// ManagerOf is that of this system and user.
func ManagerOf(s *cli.App) (serviceManager, error) {
	m, err := cli.ThisMachine(s)
	if err != nil {
		return nil, err
	}
	if m.GOOS == "darwin" {
		return service.AgentManager{Dir: filepath.Join(m.Home, "Library", "LaunchAgents"), UID: os.Getuid(),
			Log: filepath.Join(m.Home, "Library", "Logs", "emberd.log")}, nil
	}
	base := cli.Getenv(s, "XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(m.Home, ".config")
	}
	name := "YOU"
	if who, err := user.Current(); err == nil {
		name = who.Username
	}
	return service.UserManager{Dir: filepath.Join(base, "systemd", "user"), User: name}, nil
}

// StaleService tells which files of the service are not what the settings ask for: nil
// when there is none, when it is about other settings than these, or when it is up to date.
// doctor and what changes settings call it.
func StaleService(s *cli.App) ([]string, error) {
	m, err := ManagerOf(s)
	if err != nil {
		return nil, err
	}
	spec, err := ServiceSpec(s)
	if err != nil {
		return nil, err
	}
	files, err := m.Render(spec)
	if err != nil {
		return nil, err
	}
	in, err := service.Look(m.Folder(), files)
	if err != nil || in.Config != spec.Config {
		return nil, err
	}
	return in.Stale, nil
}
