package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// places knows where things lie by default on one platform for one user.
type places struct {
	goos     string
	userHome string
	env      map[string]string

	home     string // absolute, empty unless asked for
	homeFrom string // --home or EMBERD_HOME
	file     string // the config file, absolute
	fileFrom string // --config or EMBERD_CONFIG, when one of them named the file
	data     string
	state    string
	models   string
}

// locate finds the config file and the default directories. The XDG variables
// count on every system but macOS, and only when absolute, as the XDG Base
// Directory Specification demands. On macOS a launchd service would not see
// them, and the daemon and the command would look in different places.
func locate(s Source, env map[string]string) (*places, error) {
	pl := &places{goos: cmp.Or(s.GOOS, runtime.GOOS), env: env}
	if filepath.IsAbs(s.UserHome) {
		pl.userHome = s.UserHome
	}
	if err := pl.findHome(s.Home); err != nil {
		return nil, err
	}
	switch {
	case pl.home != "":
		pl.data = filepath.Join(pl.home, "data")
		pl.state = filepath.Join(pl.home, "state")
		pl.models = filepath.Join(pl.home, "models")
		pl.file = filepath.Join(pl.home, "config.yaml")
	case pl.userHome == "":
		return nil, errors.New(
			"the home directory is unknown; set HOME, or set EMBERD_HOME to a directory for emberd only")
	case pl.goos == "darwin":
		support := filepath.Join(pl.userHome, "Library", "Application Support")
		pl.data = filepath.Join(support, "emberd")
		pl.state = filepath.Join(support, "emberd-state")
		pl.models = filepath.Join(support, "emberd-models")
		pl.file = filepath.Join(support, "emberd", "config.yaml")
	default:
		pl.data = filepath.Join(pl.xdg("XDG_DATA_HOME", ".local/share"), "emberd")
		pl.state = filepath.Join(pl.xdg("XDG_STATE_HOME", ".local/state"), "emberd")
		pl.models = filepath.Join(pl.xdg("XDG_DATA_HOME", ".local/share"), "emberd-models")
		pl.file = filepath.Join(pl.xdg("XDG_CONFIG_HOME", ".config"), "emberd", "config.yaml")
	}
	return pl, pl.findFile(s.ConfigFile)
}

func (pl *places) findHome(flag string) (err error) {
	pl.home, pl.homeFrom, err = pl.named(flag, "--home", envHome)
	return err
}

func (pl *places) findFile(flag string) error {
	file, from, err := pl.named(flag, "--config", envConfig)
	if file != "" {
		pl.file, pl.fileFrom = file, from
	}
	return err
}

// named returns the path that a flag or else a variable names, and which of
// the two did.
func (pl *places) named(flag, flagName, variable string) (dir, from string, err error) {
	dir, from = flag, flagName
	if dir == "" {
		dir, from = pl.env[variable], variable
	}
	if dir == "" {
		return "", "", nil
	}
	dir, err = pl.expand(dir, "")
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", from, err)
	}
	return dir, from, nil
}

func (pl *places) xdg(name, fallback string) string {
	if dir := pl.env[name]; filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(pl.userHome, fallback)
}

// socket returns the default socket path for a given state directory.
func (pl *places) socket(state string) string {
	if pl.home != "" {
		return filepath.Join(pl.home, "emberd.sock")
	}
	if dir := pl.env["XDG_RUNTIME_DIR"]; filepath.IsAbs(dir) && pl.goos != "darwin" {
		return filepath.Join(dir, "emberd", "emberd.sock")
	}
	return filepath.Join(state, "run", "emberd.sock")
}

// maxSocket returns how many bytes of a socket's path the platform can hold:
// sockaddr_un has 108 bytes for it on Linux and 104 on macOS and the BSDs, and
// the last one is the terminating zero.
func (pl *places) maxSocket() int {
	if pl.goos == "linux" {
		return 107
	}
	return 103
}

// expand replaces a leading ~ and every $VAR or ${VAR}, with $$ for a dollar
// sign, and makes the path absolute from base or, when that is empty, from the
// working directory.
func (pl *places) expand(text, base string) (string, error) {
	if err := onOneLine(text); err != nil {
		return "", err
	}
	rest, atHome := strings.CutPrefix(text, "~")
	if atHome && rest != "" && rest[0] != '/' {
		return "", fmt.Errorf("%s: emberd does not expand the home directory of another user; write the full path",
			text)
	}
	if atHome && pl.userHome == "" {
		return "", fmt.Errorf("%s: the home directory is unknown; write the full path", text)
	}
	p, err := pl.variables(rest)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", text, err)
	case atHome:
		return filepath.Join(pl.userHome, p), nil
	case p == "":
		return "", errors.New("the path is empty")
	case filepath.IsAbs(p) || base == "":
		return filepath.Abs(p)
	}
	return filepath.Join(base, p), nil
}

func (pl *places) variables(text string) (string, error) {
	if strings.Contains(text, "${}") || strings.LastIndex(text, "${") > strings.LastIndex(text, "}") {
		return "", errors.New("${ requires a variable name and a closing }")
	}
	var missing error
	p := os.Expand(text, func(name string) string {
		if name == "$" {
			return "$"
		}
		if pl.env[name] == "" {
			missing = fmt.Errorf("variable %s is not set; set it, or write the full path", name)
		}
		return pl.env[name]
	})
	return p, missing
}
