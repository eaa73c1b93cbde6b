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
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			return s.changeSetting(c, args[0], args[1])
		},
	}
}

func (s *state) changeSetting(c *config.Config, key, value string) error {
	was, err := c.Explain(key)
	if err != nil {
		return memory.Errorf(memory.Invalid, "%w", err)
	}
	home, _ := os.UserHomeDir() // Load says what to do without one
	tried := config.Source{Flags: append(slices.Clone(s.set), key+"="+value), Env: s.env, Home: s.home, ConfigFile: s.configFile, UserHome: home}
	if _, err := config.Load(tried); err != nil {
		return memory.Errorf(memory.Invalid, "%s", strings.ReplaceAll(err.Error(), "--set "+key, key))
	}
	if err := s.writeSettings(c, []settingChange{{Setting: key, Was: was.Value, Value: value}}); err != nil {
		return err
	}
	s.config = nil // which the file was read for before
	if c, err = s.load(); err != nil {
		return err
	}
	is, err := c.Explain(key)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(settingChange{Setting: key, Was: was.Value, Value: is.Value})
	}
	s.printf("%s  %s → %s\n", key, s.screen.paint(faint, clean(was.Value)), s.screen.paint(green, clean(is.Value)))
	when := "start the daemon again for it"
	if is.Live {
		when = "a daemon that runs takes it over on SIGHUP"
	}
	s.note("written to %s; %s", clean(c.File), when)
	s.warnStale()
	return nil
}
