package main

import (
	"github.com/spf13/cobra"

	"emberd/internal/service"
)

func (s *state) serviceUnitsCommand() *cobra.Command {
	var program string
	cmd := &cobra.Command{
		Use:    "units FOLDER",
		Short:  "Write the units that a package has for every user of systemd",
		Hidden: true, // for who packs emberd
		Long: `Write the units that a package has for every user of systemd into a folder. They
allow what any settings may need, for no settings are known when a package is
made. What emberd service install writes for one user comes before them.`,
		Example:     `  emberd service units build/usr/lib/systemd/user --program /usr/bin/emberd`,
		Annotations: exits(endings{exitDisk: "a file cannot be written"}),
		Args:        takes(1, 1, "one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := service.Packaged(program)
			if err != nil {
				return err
			}
			var units []sharedFile
			for _, f := range files {
				units = append(units, sharedFile{f.Name, f.Text})
			}
			return s.writeShared(args[0], units)
		},
	}
	cmd.Flags().StringVar(&program, "program", "/usr/bin/emberd", "`PATH` that the program will have")
	return cmd
}
