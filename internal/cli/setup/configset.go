package setup

import (
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/config"
	"emberd/memory"
)

func configSetCommand(s *cli.App) *cobra.Command {
	return cli.Command("set KEY VALUE", cli.ArgCount(2, 2, "a key and a value"), s.CompleteSetting,
		func(_ *cobra.Command, args []string) error { return changeSetting(s, args[0], args[1]) })
}

func changeSetting(s *cli.App, key, value string) error {
	tried := s.ConfigSource()
	tried.Flags = append(tried.Flags, key+"="+value)
	then, err := config.Load(tried)
	if err != nil {
		return memory.Errorf(memory.Invalid, "%s",
			strings.TrimPrefix(strings.ReplaceAll(err.Error(), "--set "+key, key), "--set: "))
	}
	if _, err := then.Explain(key); err != nil { // a setting of an earlier version
		return memory.Errorf(memory.Invalid, "%w", err)
	}
	if key == "vaults" {
		if err := checkVaults(then); err != nil {
			return err
		}
	}
	was, err := setFrom(s, then, key, value)
	if err != nil {
		return err
	}
	s.Config = nil // which the file was read for before
	c, err := s.Load()
	if err != nil {
		return err
	}
	is, err := c.Explain(key)
	if err != nil {
		return err
	}
	return s.Answer(cli.SettingChange{Setting: key, Was: was, Value: is.Value}, func() {
		s.Printf("%s  %s → %s\n", key, s.Screen.Paint(cli.Faint, cli.Clean(was)),
			s.Screen.Paint(cli.Green, cli.Clean(is.Value)))
		when := "to apply the change, restart the daemon"
		if is.Live {
			when = "to apply the change, send SIGHUP to the running daemon"
		}
		s.Note("saved to %s; %s", cli.Clean(c.File), when)
		noteIgnored(s, c)
		daemon.WarnStale(s)
	})
}

// checkVaults refuses a folder that cannot be served as a vault.
func checkVaults(c *config.Config) error {
	for _, dir := range c.Vaults {
		if err := checkVaultFolder(c, dir); err != nil {
			return err
		}
	}
	return nil
}

// setFrom writes a value and returns the one before. then are the settings with it: where those
// that are are wrong, it is what mends them.
func setFrom(s *cli.App, then *config.Config, key, value string) (was string, err error) {
	c, err := s.Load()
	if err != nil {
		return "not right", cli.ChangeConfig(then.File, []config.Change{{Key: key, Value: value}})
	}
	st, err := c.Explain(key)
	if err != nil {
		return "", memory.Errorf(memory.Invalid, "%w", err)
	}
	return st.Value, cli.WriteSettings(s, c, []cli.SettingChange{{Setting: key, Was: st.Value, Value: value}})
}
