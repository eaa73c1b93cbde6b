package daemon

import (
	"context"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/service"
)

func serviceUninstallCommand(s *cli.App) *cobra.Command {
	return cli.Command("uninstall", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		m, in, err := Installed(s)
		if err != nil {
			return err
		}
		packaged, _ := needsService(cmd.Context(), m, in) // where no manager answers there is nothing to stop
		removed, err := removeService(cmd.Context(), m, in, packaged)
		if err != nil {
			return err
		}
		if s.JSON {
			return s.PrintJSON(map[string]any{"removed": append([]string{}, removed...)})
		}
		return printRemoved(cmd.Context(), s, m, removed, packaged)
	})
}

// removeService stops the daemon, has it not come back, and removes the user's own files.
func removeService(ctx context.Context, m serviceManager, in *service.Installed,
	packaged *service.State) (removed []string, err error) {
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
func printRemoved(ctx context.Context, s *cli.App, m serviceManager, removed []string, packaged *service.State) error {
	for _, path := range removed {
		s.Printf("removed %s\n", cli.Clean(path))
	}
	switch {
	case len(removed) > 0:
		below, err := packagedService(ctx, m)
		if err != nil {
			return err
		}
		if below != nil {
			s.Note("emberd kept %s, which belongs to a package; this service does not start automatically",
				cli.Clean(below.File))
		}
	case packaged == nil:
		s.Printf("%s\n", noService)
	case packaged.Running || packaged.Enabled:
		s.Printf("stopped %s, but kept the file, because it belongs to a package\n", cli.Clean(packaged.File))
	default:
		s.Printf("%s is not running; emberd kept the file, because it belongs to a package\n", cli.Clean(packaged.File))
	}
	return nil
}
