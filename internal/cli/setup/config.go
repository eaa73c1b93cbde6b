package setup

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/memory"
)

func ConfigCommand(s *cli.App) *cobra.Command {
	cmd := cli.Command("config [KEY]", cli.ArgCount(0, 1, "at most one key"), s.CompleteKey,
		s.Configured(func(cmd *cobra.Command, args []string, c *config.Config) error {
			if len(args) == 1 {
				return explainSetting(s, c, args[0])
			}
			return listSettings(s, c)
		}))
	cmd.AddCommand(configSetCommand(s), configExampleCommand(s), configPathCommand(s), configPhrasesCommand(s),
		primaryDeviceCommand(s))
	return cmd
}

func listSettings(s *cli.App, c *config.Config) error {
	defer noteIgnored(s, c)
	settings := c.Effective()
	return s.Answer(settings, func() {
		name, value := 0, 0
		for _, st := range settings {
			name, value = max(name, len(st.Key)), max(value, min(32, len(st.Value)))
		}
		for _, st := range settings {
			line := fmt.Sprintf("%-*s  %-*s  %s", name, st.Key, value, cli.Clean(st.Value), cli.Clean(st.From))
			if st.Origin != config.FromDefault {
				line = s.Screen.Paint(cli.Bold, line)
			}
			s.Printf("%s\n", line)
		}
	})
}

// noteIgnored lists what is set and has no effect.
func noteIgnored(s *cli.App, c *config.Config) {
	for _, text := range c.Warnings {
		s.Note("%s", cli.Clean(text))
	}
}

func explainSetting(s *cli.App, c *config.Config, name string) error {
	st, err := c.Explain(name)
	if err != nil {
		return memory.Errorf(memory.Invalid, "%w", err)
	}
	return s.Answer(st, func() {
		s.Printf("%s = %s\n", s.Screen.Paint(cli.Bold, st.Key), cli.Clean(st.Value))
		s.Printf("%s", s.Screen.Paragraph(st.Help, nil, "  "))
		s.Row("  from", cli.Clean(st.From))
		for _, weaker := range st.Overrules {
			s.Row("  overrules", cli.Clean(weaker))
		}
		s.Row("  accepts", st.Accepts)
		s.Row("  default", st.Default)
		for _, v := range st.Variables {
			s.Row("  variable", v)
		}
	})
}

func configExampleCommand(s *cli.App) *cobra.Command {
	return cli.Command("example", cli.NoArgs, nil, func(*cobra.Command, []string) error {
		return s.Answer(map[string]string{"example": string(config.Example())}, func() {
			s.Printf("%s", config.Example())
		})
	})
}

func configPathCommand(s *cli.App) *cobra.Command {
	return cli.Command("path", cli.NoArgs, nil,
		func(*cobra.Command, []string) error { // without reading the file, which may have faults
			file, err := config.File(s.ConfigSource())
			if err != nil {
				return memory.Errorf(memory.Invalid, "%w", err)
			}
			_, missing := os.Stat(file)
			return s.Answer(map[string]any{"path": file, "exists": missing == nil}, func() { s.Printf("%s\n", file) })
		})
}
