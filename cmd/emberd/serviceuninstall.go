package main

import (
	"context"

	"github.com/spf13/cobra"

	"emberd/internal/service"
)

func (s *state) serviceUninstallCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall",
		Short: "Stop the daemon, and have it not come back",
		Long: `Stop the daemon, and remove the files of the service. Memories, settings and
notes stay as they are.`,
		Example:     `  emberd service uninstall`,
		Annotations: exits(endings{exitNoDaemon: noManager, exitConflict: "there is a service of somebody else's"}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, in, err := s.installed()
			if err != nil {
				return err
			}
			packaged, _ := needsService(cmd.Context(), m, in) // where no manager answers there is nothing to stop
			removed, err := removeService(cmd.Context(), m, in, packaged)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(map[string]any{"removed": append([]string{}, removed...)})
			}
			return s.printRemoved(cmd.Context(), m, removed, packaged)
		},
	}
}

// removeService stops the daemon, has it not come back, and removes the user's own files.
func removeService(ctx context.Context, m serviceManager, in *service.Installed, packaged *service.State) (removed []string, err error) {
	if len(in.Present) > 0 || packaged != nil {
		if err := m.Disable(ctx); err != nil {
			return nil, err
		}
	}
	if len(in.Present) == 0 {
		return nil, nil
	}
	if removed, err = service.Remove(in.Present); err != nil {
		return removed, err
	}
	return removed, m.Forget(ctx)
}

// printRemoved says what is gone, and what a package has that stays.
func (s *state) printRemoved(ctx context.Context, m serviceManager, removed []string, packaged *service.State) error {
	for _, path := range removed {
		s.printf("removed %s\n", clean(path))
	}
	switch {
	case len(removed) > 0:
		below, err := packagedService(ctx, m)
		if err != nil {
			return err
		}
		if below != nil {
			s.note("%s, which came with a package, stays and is not started by itself", clean(below.File))
		}
	case packaged == nil:
		s.printf("%s\n", noService)
	case packaged.Running || packaged.Enabled:
		s.printf("stopped %s, which is a package's and stays\n", clean(packaged.File))
	default:
		s.printf("%s, which is a package's and stays, does not run\n", clean(packaged.File))
	}
	return nil
}
