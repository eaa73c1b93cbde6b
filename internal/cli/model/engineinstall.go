package model

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/config"
	"emberd/internal/models"
)

func engineInstallCommand(s *cli.App) *cobra.Command {
	var what models.Source
	var yes bool
	cmd := cli.Command("install PATH|URL", cli.ArgCount(1, 1, "the path or URL of a llama.cpp build"), nil,
		s.Configured(func(cmd *cobra.Command, args []string, c *config.Config) error {
			what.Place, what.Trust = args[0], yes
			if err := daemon.RuntimesOf(c).Check(what); err != nil {
				return engineError(err)
			}
			if err := helperMissing(); err != nil {
				return err
			}
			return installEngine(cmd.Context(), s, c, what)
		}))
	f := cmd.Flags()
	f.StringVar(&what.SHA256, "sha256", "", "")
	f.StringVar(&what.Name, "name", "", "")
	f.BoolVar(&what.Link, "link", false, "")
	f.BoolVar(&what.Replace, "replace", false, "")
	f.BoolVarP(&yes, "yes", "y", false, "")
	return cmd
}

// transferEngine installs, and shows how far that is.
func transferEngine(ctx context.Context, s *cli.App, c *config.Config, what models.Source) (*models.Runtime, error) {
	shown := cli.NewTransfer(s, "installing")
	defer shown.Done()
	return daemon.RuntimesOf(c).Install(ctx, what, shown.Reached)
}

// installEngine installs, shows the result, and says how to go on.
func installEngine(ctx context.Context, s *cli.App, c *config.Config, what models.Source) error {
	e, err := transferEngine(ctx, s, c, what)
	if errors.Is(err, models.ErrUntrusted) && s.Interactive() {
		question := cli.Clean(what.Place) + " is not a known build of llama.cpp. Load its libraries, in a " +
			"sandbox, and install it?"
		if what.Trust, err = s.Agreed(ctx, question); err == nil && !what.Trust {
			s.Note("nothing was loaded or installed")
			return &cli.Exit{Code: cli.ExitNothing}
		}
		if err == nil {
			e, err = transferEngine(ctx, s, c, what)
		}
	}
	if err != nil {
		return engineError(err)
	}
	row := rowOf(e)
	used, _ := daemon.EngineDir(c) // engine list explains why there is none
	row.Used = used == e.Dir
	return s.Answer(row, func() {
		printEngineRow(s, &row)
		if row.Used {
			noteChosen(s, c, row.Name)
		} else {
			s.Note("to select the runtime, run: emberd model runtime use %s", cli.Clean(row.Name))
		}
		s.Note("to test the runtime, run: emberd model runtime selftest")
	})
}
