// Package model has the commands that install, choose and check embedding models and the
// runtimes that run them. Nothing is downloaded unless the user agrees.
package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/embedding"
	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/models"
	"emberd/memory"
	"emberd/op"
)

func ModelCommand(s *cli.App) *cobra.Command {
	return cli.Group("model",
		modelListCommand(s), modelInstallCommand(s), modelConvertCommand(s), modelVerifyCommand(s),
		modelUseCommand(s), modelRemoveCommand(s), engineStatusCommand(s),
		engineSwitch(s, op.EnginePause, "pause"), engineSwitch(s, op.EngineResume, "resume"), runtimeCommand(s),
		embedCommand(s))
}

// modelRow is a model as lists show it, installed or known.
type modelRow struct {
	Name      string    `json:"name"`
	Installed bool      `json:"installed"`
	Used      bool      `json:"used"`
	Path      string    `json:"path,omitempty"`
	Title     string    `json:"title,omitempty"`
	Bytes     int64     `json:"bytes,omitempty"`
	Dim       int       `json:"dim,omitempty"`
	MaxTokens int       `json:"max_tokens,omitempty"`
	Weights   string    `json:"weights,omitempty"`
	Languages string    `json:"languages,omitempty"`
	Licence   string    `json:"licence,omitempty"`
	Engines   []string  `json:"engines"` // that run it
	SHA256    string    `json:"sha256,omitempty"`
	URL       string    `json:"url,omitempty"`    // of a known one
	Source    string    `json:"source,omitempty"` // of an installed one
	Since     time.Time `json:"since,omitzero"`
	Problem   string    `json:"problem,omitempty"`
}

// modelList is what emberd model list tells.
type modelList struct {
	Models []modelRow `json:"models"`
	Folder string     `json:"folder"`
	Used   string     `json:"used,omitempty"` // the file, "" for none
}

func modelsOf(c *config.Config) *models.Models { return models.Open(c.Embedding.Folder) }

func modelListCommand(s *cli.App) *cobra.Command {
	return cli.Command("list", cli.NoArgs, nil,
		s.Configured(func(_ *cobra.Command, _ []string, c *config.Config) error {
			list, err := listModels(c)
			if err != nil {
				return engineError(err)
			}
			return s.Answer(list, func() {
				for i := range list.Models {
					printModelRow(s, &list.Models[i])
				}
				switch {
				case list.Used != "":
				case slices.Contains(c.Embedding.Providers, embedding.Static):
					s.Note("emberd uses the built-in model %s", embedding.Static)
				default:
					s.Note("no embedding model is selected; to select the built-in model, run: emberd "+
						"model use %s; to install another model, run: emberd model install NAME", embedding.Static)
				}
			})
		}))
}

// listModels tells of the installed models, the one that is used if it lies elsewhere,
// and the known ones that are not here.
func listModels(c *config.Config) (*modelList, error) {
	installed, err := modelsOf(c).List()
	if err != nil {
		return nil, err
	}
	list := &modelList{Models: []modelRow{}, Folder: c.Embedding.Folder, Used: c.Embedding.Model}
	here := map[string]bool{}
	for _, m := range installed {
		row := modelRowOf(&m)
		row.Used = m.Path == list.Used
		list.Models = append(list.Models, row)
		here[m.Name] = true
		if m.Known != nil {
			here[m.Known.Name] = true
		}
	}
	if isUsed := func(r modelRow) bool { return r.Used }; list.Used != "" && !slices.ContainsFunc(list.Models, isUsed) {
		list.Models = append(list.Models, elsewhere(list.Used))
	}
	for _, k := range models.Pinned().Models {
		if !here[k.Name] {
			list.Models = append(list.Models, knownRow(&k))
		}
	}
	return list, nil
}

// elsewhere is the row of the used model that is not in the folder.
func elsewhere(path string) modelRow {
	m, err := models.Open(filepath.Dir(path)).Find(nameOf(path))
	if errors.Is(err, models.ErrUnknown) {
		err = errors.New("file not found; to choose another model, run: emberd model use NAME")
	}
	if err != nil {
		return modelRow{Name: path, Path: path, Used: true, Engines: []string{}, Problem: err.Error()}
	}
	row := modelRowOf(m)
	row.Name, row.Used, row.Installed = path, true, false
	return row
}

// ModelSuffix is what the names of model files end in.
const ModelSuffix = ".gguf"

func modelRowOf(m *models.Model) modelRow {
	row := modelRow{Name: m.Name, Installed: true, Path: m.Path, Title: m.Title, Bytes: m.Size, Dim: m.Dim,
		MaxTokens: m.MaxTokens, Licence: m.Licence,
		Weights: m.Weights, Engines: m.Engines, SHA256: m.SHA256, Source: m.Source, Since: m.Installed,
		Problem: m.Problem}
	if k := m.Known; k != nil {
		row.Languages, row.Licence = k.Languages, k.Licence
	}
	return row
}

func knownRow(k *models.KnownModel) modelRow {
	return modelRow{Name: k.Name, Bytes: k.Size, Dim: k.Dim, MaxTokens: k.MaxTokens, Languages: k.Languages,
		Licence: k.Licence,
		Engines: k.Engines, SHA256: k.SHA256, URL: k.URL}
}

// printModelRow shows a model under its name.
func printModelRow(s *cli.App, m *modelRow) {
	name := s.Screen.Paint(cli.Bold, cli.Clean(m.Name))
	switch {
	case m.Used:
		name += "  " + s.Screen.Paint(cli.Green, "used")
	case !m.Installed:
		name += "  " + s.Screen.Paint(cli.Faint, "not installed")
	}
	s.Printf("%s\n", name)
	dim, engines := "", ""
	if m.Dim > 0 {
		dim = fmt.Sprintf("%d dimensions", m.Dim)
	}
	if len(m.Engines) > 0 {
		engines = "run by " + strings.Join(m.Engines, " or ")
	}
	about := cli.NonEmpty(modelSize(m), dim, languagesText(m.Languages), cli.Clean(m.Licence), engines)
	s.Printf("%s", s.Screen.Paragraph(strings.Join(about, "; "), nil, "    "))
	if m.Problem != "" {
		s.Printf("%s", colouredLines(s, cli.Yellow, cli.Clean(m.Problem)))
	}
}

// languagesText names languages, or says that a number is of them.
func languagesText(languages string) string {
	if strings.HasSuffix(languages, "0") {
		languages += " languages"
	}
	return cli.Clean(languages)
}

func modelSize(m *modelRow) string {
	return strings.Join(cli.NonEmpty(sizeText(m.Bytes), cli.Clean(m.Weights)), " ")
}

// sizeText is a size, or empty for one that is not known.
func sizeText(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return cli.Size(bytes)
}

func modelVerifyCommand(s *cli.App) *cobra.Command {
	return cli.Command("verify [NAME]", cli.ArgCount(0, 1, "the name of one model"), s.Offer(completeModels),
		s.Configured(func(cmd *cobra.Command, args []string, c *config.Config) error {
			names := args
			if len(names) == 0 {
				var err error
				if names, err = modelNames(c); err != nil {
					return engineError(err)
				}
			}
			return verifyModels(cmd.Context(), s, c, names)
		}))
}

func modelNames(c *config.Config) ([]string, error) {
	installed, err := modelsOf(c).List()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range installed {
		names = append(names, m.Name)
	}
	if len(names) == 0 {
		return nil, memory.Errorf(memory.NotFound,
			"no model is installed; to list available models, run: emberd model list")
	}
	return names, nil
}

func verifyModels(ctx context.Context, s *cli.App, c *config.Config, names []string) error {
	rows := []modelRow{}
	whole := true
	for _, name := range names {
		row := modelRow{Name: name, Installed: true, Engines: []string{}}
		shown := cli.NewTransfer(s, "reading "+name)
		m, err := modelsOf(c).Verify(ctx, name, shown.Reached)
		shown.Done()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			row = modelRowOf(m)
		} else if row.Problem = err.Error(); errors.Is(err, models.ErrUnknown) {
			return engineError(err)
		}
		row.Used = row.Path != "" && row.Path == c.Embedding.Model
		rows, whole = append(rows, row), whole && row.Problem == ""
		if !s.JSON {
			printWhole(s, &row)
		}
	}
	if s.JSON {
		if err := s.PrintJSON(map[string]any{"whole": whole, "models": rows}); err != nil {
			return err
		}
	}
	if !whole {
		return &cli.Exit{Code: cli.ExitNothing}
	}
	return nil
}

func printWhole(s *cli.App, m *modelRow) {
	if m.Problem == "" {
		s.Printf("%s  %s\n", s.Screen.Paint(cli.Green, "whole"), cli.Clean(m.Name))
		s.Printf("%s", s.Screen.Paragraph(cmp.Or(m.SHA256, "without a digest"), nil, "       "))
		return
	}
	s.Printf("%s  %s\n%s", s.Screen.Paint(cli.Yellow, "wrong"), cli.Clean(m.Name),
		s.Screen.Paragraph(cli.Clean(m.Problem), nil,
			"       "))
}

func modelRemoveCommand(s *cli.App) *cobra.Command {
	var force bool
	cmd := cli.Command("remove NAME", cli.ArgCount(1, 1, "the name of a model"), s.Offer(completeModels),
		s.Configured(func(_ *cobra.Command, args []string, c *config.Config) error {
			inUse := c.Embedding.Model
			m, err := modelsOf(c).Find(args[0])
			if err != nil {
				return engineError(err)
			}
			named := m.Path == inUse
			if force {
				inUse = ""
			}
			if err := modelsOf(c).Remove(args[0], inUse); err != nil {
				return engineError(err)
			}
			return s.Answer(map[string]string{"removed": args[0]}, func() {
				s.Printf("removed %s\n", strings.Join(cli.NonEmpty(cli.Clean(args[0]), sizeText(m.Size)), ", "))
				if named {
					s.Note("the setting embedding.model still contains the name of the " +
						"removed model; to choose another model, run: emberd model use NAME")
				}
			})
		}))
	cmd.Flags().BoolVar(&force, "force", false, "")
	return cmd
}

// completeModels offers installed models.
func completeModels(s *cli.App,
	_ *cobra.Command, args []string, _ string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	return offerModels(s, args, func(m *modelRow) bool { return m.Installed }), cobra.ShellCompDirectiveNoFileComp
}

// completeModelsOrFiles offers some of the models, and files once a path is typed.
func completeModelsOrFiles(s *cli.App, offered func(*modelRow) bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if isFile(typed) {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return offerModels(s, args, offered), cobra.ShellCompDirectiveDefault
	}
}

func offerModels(s *cli.App, args []string, offered func(*modelRow) bool) (names []cobra.Completion) {
	c, err := s.Load()
	if err != nil || len(args) > 0 {
		return nil
	}
	list, err := listModels(c)
	if err != nil {
		return nil
	}
	for _, m := range list.Models {
		if offered(&m) {
			about := strings.Join(cli.NonEmpty(modelSize(&m), languagesText(m.Languages)), "; ")
			names = append(names, cobra.CompletionWithDesc(m.Name, about))
		}
	}
	return names
}
