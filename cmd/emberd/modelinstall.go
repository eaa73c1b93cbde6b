package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/config"
	"emberd/internal/models"
	"emberd/memory"
)

type modelInstall struct {
	sha256, name string
	replace, yes bool
}

func (s *state) modelInstallCommand() *cobra.Command {
	var o modelInstall
	cmd := &cobra.Command{
		Use:   "install NAME|FILE|URL",
		Short: "Install a known model, a file, or what is at a URL",
		Long: `Install a model: a known one by its name, as emberd model list has it, a file of
this machine, or what is at an address that you name. Before a known model is
downloaded you are shown how large it is, its licence and where it comes from,
and asked.

What was downloaded has to have the SHA-256 that is known or that you name, and
to be a model that an engine can run. A download that breaks off is tried again
a few times, and goes on where it was when it is asked for later. A file is
copied.`,
		Example: `  emberd model install all-MiniLM-L6-v2
  emberd model install ~/Downloads/bge-small-en-v1.5-q8_0.gguf --name bge-small
  emberd model install https://example.org/m.gguf --sha256 3f2c…`,
		Annotations: exits(endings{
			exitNothing:  "it is not known, or what came is not what it should be",
			exitConflict: "another model has the name; --replace takes its place",
			exitDisk:     "the disk is full, or a file cannot be read or written",
			exitAgain:    "another process is installing; try again",
		}),
		Args: takes(1, 1, "the name of a model, a file or a URL"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if strings.ContainsRune(typed, '/') {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return s.offerModels(args, func(m *modelRow) bool { return !m.Installed && m.URL != "" }), cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			what, err := modelAt(args[0], &o)
			if err != nil {
				return err
			}
			return s.installModel(cmd.Context(), c, what, o.yes)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.sha256, "sha256", "", "the `HEX` digest that the file must have")
	f.StringVar(&o.name, "name", "", "call it `NAME`")
	f.BoolVar(&o.replace, "replace", false, "take the place of another model of this name")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask before downloading a known model")
	return cmd
}

// modelAt is where the model comes from that is to be installed.
func modelAt(what string, o *modelInstall) (models.Source, error) {
	src, err := models.From(what)
	if errors.Is(err, models.ErrUnknown) {
		return src, engineError(err)
	}
	if err != nil {
		return src, memory.Errorf(memory.Invalid, "%w", err)
	}
	if src.File != "" {
		if src.File, err = filepath.Abs(src.File); err != nil {
			return src, fmt.Errorf("find %s: %w", what, err)
		}
	}
	src.SHA256, src.Name, src.Replace = o.sha256, o.name, o.replace
	return src, nil
}

// partialSuffix is what the name of a download that is not complete ends in.
const partialSuffix = ".partial"

// isFile reports whether a word names a file rather than a model.
func isFile(word string) bool {
	return strings.ContainsRune(word, '/') || strings.EqualFold(filepath.Ext(word), modelSuffix)
}

// agreeToDownload shows what would be downloaded, and asks.
func (s *state) agreeToDownload(ctx context.Context, p *models.Plan, yes bool) error {
	if !p.Remote || p.Known == nil || yes { // who names an address has said what they want
		return nil
	}
	row := knownRow(p.Known)
	if !s.interactive() {
		return memory.Errorf(memory.Invalid, "nobody can be asked whether to download %s (%s, licence %s, from %s); say so with --yes",
			row.Name, cmp.Or(modelSize(&row), "of unknown size"), row.Licence, p.From)
	}
	s.printModelRow(&row)
	s.printf("%s", s.screen.paragraph("from "+clean(p.From), nil, "    "))
	agreed, err := s.agreed(ctx, "download it?")
	if err == nil && !agreed {
		s.note("nothing was downloaded")
		err = &exit{code: exitNothing}
	}
	return err
}

// installModel installs, shows what became of it, and says how to go on.
func (s *state) installModel(ctx context.Context, c *config.Config, what models.Source, yes bool) error {
	plan, err := modelsOf(c).Plan(what)
	if err != nil {
		return engineError(err)
	}
	if err := s.agreeToDownload(ctx, plan, yes); err != nil {
		return err
	}
	shown := s.newTransfer("fetching " + plan.Name)
	m, err := modelsOf(c).Install(ctx, what, shown.reached)
	shown.done()
	if err != nil {
		if _, gone := os.Stat(plan.Path + partialSuffix); errors.Is(err, context.Canceled) && gone == nil {
			s.note("what has come is kept; run this again to go on from there")
		}
		return engineError(err)
	}
	row := modelRowOf(m)
	row.Used = row.Path == c.Embedding.Model
	if s.json {
		return s.printJSON(row)
	}
	s.printModelRow(&row)
	s.printf("%s", s.screen.paragraph("sha256 "+row.SHA256, nil, "    "))
	if !row.Used {
		s.note("emberd model use %s has vectors made with it", clean(row.Name))
	}
	return nil
}
