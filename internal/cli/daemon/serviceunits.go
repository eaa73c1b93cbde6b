package daemon

import (
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/service"
)

func serviceUnitsCommand(s *cli.App) *cobra.Command {
	var program string
	cmd := &cobra.Command{
		Use:    "units FOLDER",
		Hidden: true, // for who packs emberd
		Args:   cli.ArgCount(1, 1, "one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := service.Packaged(program)
			if err != nil {
				return err
			}
			var units []cli.SharedFile
			for _, f := range files {
				units = append(units, cli.SharedFile{Name: f.Name, Text: f.Text})
			}
			return cli.WriteShared(s, args[0], units)
		},
	}
	cmd.Flags().StringVar(&program, "program", "/usr/bin/emberd", "")
	return cmd
}
