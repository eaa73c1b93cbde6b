package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/config"
	"emberd/memory"
)

func (s *state) configSetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Change one setting in the config file",
		Long: `Change one setting in the config file, where it stands or at the end. All else
in the file stays as it is, and what the setting does not take is refused. The
daemon reads it when it is started again, some settings on SIGHUP already.`,
		Example: `  emberd config set decay.half_life 7d
  emberd config set log.level debug`,
		Annotations:       exits(endings{exitDisk: "the config file cannot be written"}),
		Args:              takes(2, 2, "a key and a value"),
		ValidArgsFunction: s.completeSetting,
		RunE:              func(_ *cobra.Command, args []string) error { return s.changeSetting(args[0], args[1]) },
	}
}

func (s *state) changeSetting(key, value string) error {
	home, _ := os.UserHomeDir() // Load says what to do without one
	tried := config.Source{Flags: append(slices.Clone(s.set), key+"="+value), Env: s.env, Home: s.home, ConfigFile: s.configFile, UserHome: home}
	then, err := config.Load(tried)
	if err != nil {
		return memory.Errorf(memory.Invalid, "%s", strings.TrimPrefix(strings.ReplaceAll(err.Error(), "--set "+key, key), "--set: "))
	}
	was, err := s.setFrom(then, key, value)
	if err != nil {
		return err
	}
	s.config = nil // which the file was read for before
	c, err := s.load()
	if err != nil {
		return err
	}
	is, err := c.Explain(key)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(settingChange{Setting: key, Was: was, Value: is.Value})
	}
	s.printf("%s  %s → %s\n", key, s.screen.paint(faint, clean(was)), s.screen.paint(green, clean(is.Value)))
	when := "start the daemon again for it"
	if is.Live {
		when = "a daemon that runs takes it over on SIGHUP"
	}
	s.note("written to %s; %s", clean(c.File), when)
	s.noteVaults(c, key)
	s.warnStale()
	return nil
}

// noteVaults tells which of the vaults that were just named cannot be served.
func (s *state) noteVaults(c *config.Config, key string) {
	if key != "vaults" {
		return
	}
	for _, dir := range c.Vaults {
		if err := checkVaultFolder(c, dir); err != nil {
			s.note("%s", clean(err.Error()))
		}
	}
}

// setFrom writes a value and returns the one before. then are the settings with it: where those
// that are are wrong, it is what mends them.
func (s *state) setFrom(then *config.Config, key, value string) (was string, err error) {
	c, err := s.load()
	if err != nil {
		return "not right", changeConfig(then.File, []config.Change{{Key: key, Value: value}})
	}
	st, err := c.Explain(key)
	if err != nil {
		return "", memory.Errorf(memory.Invalid, "%w", err)
	}
	return st.Value, s.writeSettings(c, []settingChange{{Setting: key, Was: st.Value, Value: value}})
}
