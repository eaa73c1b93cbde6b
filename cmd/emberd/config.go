package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"emberd/internal/config"
	"emberd/memory"
)

func (s *state) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config [KEY]",
		Short: "List every setting with its value and where it comes from",
		Long: `List every setting with its value and where that comes from, or tell all about
one. Flags win over variables, variables over the file, the file over defaults.
This reads the configuration as a daemon started now would; it asks no daemon.`,
		Example: `  emberd config
  emberd config decay.half_life
  emberd config example > config.yaml`,
		Annotations:       exits(nil),
		Args:              takes(0, 1, "at most one key"),
		ValidArgsFunction: s.completeKey,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return s.explainSetting(c, args[0])
			}
			return s.listSettings(c)
		},
	}
	cmd.AddCommand(s.configSetCommand(), s.configExampleCommand(), s.configPathCommand(), s.configPhrasesCommand())
	return cmd
}

func (s *state) listSettings(c *config.Config) error {
	settings := c.Effective()
	if s.json {
		return s.printJSON(settings)
	}
	name, value := 0, 0
	for _, st := range settings {
		name, value = max(name, len(st.Key)), max(value, min(32, len(st.Value)))
	}
	for _, st := range settings {
		line := fmt.Sprintf("%-*s  %-*s  %s", name, st.Key, value, clean(st.Value), clean(st.From))
		if st.Origin != config.FromDefault {
			line = s.screen.paint(bold, line)
		}
		s.printf("%s\n", line)
	}
	return nil
}

func (s *state) explainSetting(c *config.Config, name string) error {
	st, err := c.Explain(name)
	if err != nil {
		return memory.Errorf(memory.Invalid, "%w", err)
	}
	if s.json {
		return s.printJSON(st)
	}
	s.printf("%s = %s\n", s.screen.paint(bold, st.Key), clean(st.Value))
	s.printf("%s", s.screen.paragraph(st.Help, nil, "  "))
	s.row("  from", clean(st.From))
	for _, weaker := range st.Overrules {
		s.row("  overrules", clean(weaker))
	}
	s.row("  accepts", st.Accepts)
	s.row("  default", st.Default)
	for _, v := range st.Variables {
		s.row("  variable", v)
	}
	return nil
}

func (s *state) configExampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "example",
		Short: "Print a config file with every setting, explained",
		Long: `Print a config file with every setting, explained. All lines are comments, so it
may go to the end of a config file that is there; emberd config path names it.`,
		Example: `  emberd config example > config.yaml
  emberd serve --config config.yaml`,
		Annotations: exits(nil),
		Args:        takes(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if s.json {
				return s.printJSON(map[string]string{"example": string(config.Example())})
			}
			s.printf("%s", config.Example())
			return nil
		},
	}
}

func (s *state) configPathCommand() *cobra.Command {
	return &cobra.Command{
		Use:         "path",
		Short:       "Print where the config file is looked for",
		Example:     `  $EDITOR "$(emberd config path)"`,
		Annotations: exits(nil),
		Args:        takes(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(map[string]any{"path": c.File, "exists": c.FileRead})
			}
			s.printf("%s\n", c.File)
			return nil
		},
	}
}
