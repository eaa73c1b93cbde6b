package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"emberd/internal/config"
	"emberd/internal/durable"
	"emberd/memory"
)

// configHead begins a config file that emberd makes.
const configHead = "# Settings of emberd. To list all, run: emberd config; " +
	"for descriptions, run: emberd config example\n"

// ChangeConfig writes settings to a config file, which need not be there yet. A link to
// one stays a link.
func ChangeConfig(file string, changes []config.Change) error {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	text, err := durable.ReadGiven(file, config.MaxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &Exit{Code: ExitDisk, Err: err}
	}
	if err != nil {
		text = []byte(configHead)
	}
	if text, err = config.Set(file, text, changes); err != nil {
		return memory.Errorf(memory.Invalid, "%w", err)
	}
	err = os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = durable.ReplaceFile(durable.OS{}, file, text)
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err // its path is that of a file which is renamed when it is whole
	}
	if err != nil {
		return &Exit{Code: ExitDisk, Err: fmt.Errorf("cannot write config file %s: %w", file, err)}
	}
	return nil
}

// SettingChange is one setting that a command changes in the config file.
type SettingChange struct {
	Setting string `json:"setting"`
	Was     string `json:"was"`
	Value   string `json:"value"`
}

// WriteSettings writes changes to the config file. What is set in a stronger place would
// not be heeded, and is refused by name.
func WriteSettings(s *App, c *config.Config, changes []SettingChange) error {
	if err := Changeable(s, c, changes); err != nil {
		return err
	}
	var all []config.Change
	for _, change := range changes {
		all = append(all, config.Change{Key: change.Setting, Value: change.Value})
	}
	return ChangeConfig(c.File, all)
}

// Changeable refuses changes that a stronger place than the config file would overrule.
func Changeable(s *App, c *config.Config, changes []SettingChange) error {
	for _, change := range changes {
		st, err := c.Explain(change.Setting)
		if err != nil {
			return err
		}
		if st.Origin == config.FromFlag || st.Origin == config.FromEnv {
			return memory.Errorf(memory.Invalid,
				"%s is set by %s, which overrides the config file; change the value there to %s", change.Setting,
				st.From, change.Value)
		}
	}
	return nil
}
