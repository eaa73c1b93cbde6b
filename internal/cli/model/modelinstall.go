package model

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/models"
	"emberd/memory"
)

func modelInstallCommand(s *cli.App) *cobra.Command {
	var what models.Source
	var yes bool
	cmd := cli.Command("install NAME|FILE|FOLDER|URL",
		cli.ArgCount(1, 1, "the name of a model, a file, a folder or a URL"),
		completeModelsOrFiles(s, func(m *modelRow) bool { return !m.Installed && m.URL != "" }),
		s.Configured(func(cmd *cobra.Command, args []string, c *config.Config) error {
			what.Place = args[0]
			return installModel(cmd.Context(), s, c, what, yes)
		}))
	f := cmd.Flags()
	f.StringVar(&what.SHA256, "sha256", "", "")
	f.StringVar(&what.Name, "name", "", "")
	f.StringVar(&what.Type, "type", "", "")
	f.BoolVar(&what.Replace, "replace", false, "")
	f.BoolVarP(&yes, "yes", "y", false, "")
	return cmd
}

// isFile reports whether a word names a file rather than a model.
func isFile(word string) bool {
	return strings.ContainsRune(word, '/') || strings.EqualFold(filepath.Ext(word), ModelSuffix)
}

// agreeToDownload shows a known model that would be downloaded, and asks the user.
func agreeToDownload(ctx context.Context, s *cli.App, p *models.Plan) error {
	row := knownRow(p.Known)
	if !s.Interactive() {
		return memory.Errorf(memory.Invalid, "cannot ask without a terminal whether to download %s (%s, "+
			"license %s, from %s); to download the model, use --yes", row.Name,
			cmp.Or(modelSize(&row), "of unknown size"), row.Licence, p.From)
	}
	printModelRow(s, &row)
	s.Printf("%s", s.Screen.Paragraph("from "+cli.Clean(p.From), nil, "    "))
	agreed, err := s.Agreed(ctx, "download it?")
	if err == nil && !agreed {
		s.Note("nothing was downloaded")
		err = &cli.Exit{Code: cli.ExitNothing}
	}
	return err
}

// fetch installs a model, and shows how far it is.
func fetch(ctx context.Context, s *cli.App, c *config.Config, what models.Source, name string) (*models.Model, error) {
	shown := cli.NewTransfer(s, "fetching "+name)
	m, err := modelsOf(c).Install(ctx, what, shown.Reached)
	shown.Done()
	return m, engineError(err)
}

// installModel installs, shows the result, and says how to go on.
func installModel(ctx context.Context, s *cli.App, c *config.Config, what models.Source, yes bool) error {
	plan, err := modelsOf(c).Plan(what)
	if err != nil {
		return engineError(err)
	}
	if plan.Remote && plan.Known != nil && !yes {
		if err := agreeToDownload(ctx, s, plan); err != nil {
			return err
		}
	}
	m, err := fetch(ctx, s, c, what, plan.Name)
	if err != nil {
		return err
	}
	row := modelRowOf(m)
	row.Used = row.Path == c.Embedding.Model
	return s.Answer(row, func() {
		printModelRow(s, &row)
		s.Printf("%s", s.Screen.Paragraph("sha256 "+row.SHA256, nil, "    "))
		if !row.Used {
			s.Note("to compute embeddings with the model, run: emberd model use %s", cli.Clean(row.Name))
		}
	})
}
