package main

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

	"emberd/internal/config"
	"emberd/internal/models"
	"emberd/memory"
)

func (s *state) modelCommand() *cobra.Command {
	group := &cobra.Command{
		Use:   "model",
		Short: "The models that vectors are made with",
		Long: `A model is a file in GGUF form that turns a text into a vector. With one,
searches find what says the same in other words. Models are kept in
embedding.folder; embedding.model says which one is used, by its name there or
by any path.

emberd brings none along and downloads none by itself: model install does, when
it is told to, and checks what came.`,
		Example: `  emberd model list
  emberd model install all-MiniLM-L6-v2
  emberd model use ~/models/mine.gguf`,
		Annotations: exits(nil),
	}
	asGroup(group)
	group.AddCommand(s.modelListCommand(), s.modelInstallCommand(), s.modelVerifyCommand(), s.modelUseCommand(), s.modelRemoveCommand())
	return group
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

func (s *state) modelListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the models there are, and those that are known",
		Long: `List the installed models, and those that emberd knows and can install: how
large they are, for which languages, under which licence, and what runs them.`,
		Example: `  emberd model list
  emberd model list --json | jq -r '.models[] | select(.used).path'`,
		Annotations: exits(nil),
		Args:        takes(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			list, err := listModels(c)
			if err != nil {
				return engineError(err)
			}
			if s.json {
				return s.printJSON(list)
			}
			for i := range list.Models {
				s.printModelRow(&list.Models[i])
			}
			if list.Used == "" {
				s.note("none is used; emberd model install NAME brings one in, emberd model use NAME has it used")
			}
			return nil
		},
	}
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
	for _, k := range models.Catalogue() {
		if !here[k.Name] {
			list.Models = append(list.Models, knownRow(&k))
		}
	}
	return list, nil
}

// elsewhere is the row of the used model that is not in the folder.
func elsewhere(path string) modelRow {
	m, err := models.Open(filepath.Dir(path)).Find(strings.TrimSuffix(filepath.Base(path), modelSuffix))
	if errors.Is(err, models.ErrUnknown) {
		err = errors.New("there is no such file; emberd model use says which takes its place")
	}
	if err != nil {
		return modelRow{Name: path, Path: path, Used: true, Engines: []string{}, Problem: err.Error()}
	}
	row := modelRowOf(m)
	row.Name, row.Used, row.Installed = path, true, false
	return row
}

// modelSuffix is what the names of model files end in.
const modelSuffix = ".gguf"

func modelRowOf(m *models.Model) modelRow {
	row := modelRow{Name: m.Name, Installed: true, Path: m.Path, Title: m.Title, Bytes: m.Size, Dim: m.Dim, MaxTokens: m.MaxTokens,
		Weights: m.Weights, Engines: m.Engines, SHA256: m.SHA256, Source: m.Source, Since: m.Installed, Problem: m.Problem}
	if k := m.Known; k != nil {
		row.Languages, row.Licence = k.Languages, k.Licence
	}
	return row
}

func knownRow(k *models.Known) modelRow {
	return modelRow{Name: k.Name, Bytes: k.Size, Dim: k.Dim, MaxTokens: k.MaxTokens, Languages: k.Languages, Licence: k.Licence,
		Engines: k.Engines, SHA256: k.SHA256, URL: k.URL}
}

// printModelRow shows a model under its name.
func (s *state) printModelRow(m *modelRow) {
	name := s.screen.paint(bold, clean(m.Name))
	switch {
	case m.Used:
		name += "  " + s.screen.paint(green, "used")
	case !m.Installed:
		name += "  " + s.screen.paint(faint, "not installed")
	}
	s.printf("%s\n", name)
	dim, engines := "", ""
	if m.Dim > 0 {
		dim = fmt.Sprintf("%d numbers a text", m.Dim)
	}
	if len(m.Engines) > 0 {
		engines = "run by " + strings.Join(m.Engines, " or ")
	}
	about := nonEmpty(modelSize(m), dim, languagesText(m.Languages), clean(m.Licence), engines)
	s.printf("%s", s.screen.paragraph(strings.Join(about, "; "), nil, "    "))
	if m.Problem != "" {
		s.printf("%s", s.colouredLines(yellow, clean(m.Problem)))
	}
}

// languagesText names languages, or says that a number is of them.
func languagesText(languages string) string {
	if strings.HasSuffix(languages, "0") {
		languages += " languages"
	}
	return clean(languages)
}

func modelSize(m *modelRow) string {
	return strings.Join(nonEmpty(sizeText(m.Bytes), clean(m.Weights)), " ")
}

// sizeText is a size, or empty for one that is not known.
func sizeText(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return size(bytes)
}

func (s *state) modelVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify [NAME]",
		Short: "Read installed models through and compare them with what came",
		Long: `Read a model through, or all that are installed: its SHA-256 has to be the one
that it had when it was installed, and its contents such as engines can run.`,
		Example:           `  emberd model verify`,
		Annotations:       exits(endings{exitDone: "all are whole", exitNothing: "one is not, or there is none", exitDisk: "a file cannot be read"}),
		Args:              takes(0, 1, "the name of one model"),
		ValidArgsFunction: s.completeModels,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			names := args
			if len(names) == 0 {
				if names, err = modelNames(c); err != nil {
					return engineError(err)
				}
			}
			return s.verifyModels(cmd.Context(), c, names)
		},
	}
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
		return nil, memory.Errorf(memory.NotFound, "no model is installed; emberd model list tells which are known")
	}
	return names, nil
}

func (s *state) verifyModels(ctx context.Context, c *config.Config, names []string) error {
	rows := []modelRow{}
	whole := true
	for _, name := range names {
		row := modelRow{Name: name, Installed: true, Engines: []string{}}
		shown := s.newTransfer("reading " + name)
		m, err := modelsOf(c).Verify(ctx, name, shown.reached)
		shown.done()
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
		if !s.json {
			s.printWhole(&row)
		}
	}
	if s.json {
		if err := s.printJSON(map[string]any{"whole": whole, "models": rows}); err != nil {
			return err
		}
	}
	if !whole {
		return &exit{code: exitNothing}
	}
	return nil
}

func (s *state) printWhole(m *modelRow) {
	if m.Problem == "" {
		s.printf("%s  %s\n", s.screen.paint(green, "whole"), clean(m.Name))
		s.printf("%s", s.screen.paragraph(cmp.Or(m.SHA256, "without a digest"), nil, "       "))
		return
	}
	s.printf("%s  %s\n%s", s.screen.paint(yellow, "wrong"), clean(m.Name), s.screen.paragraph(clean(m.Problem), nil, "       "))
}

func (s *state) modelRemoveCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove an installed model",
		Long: `Remove an installed model, and what a download of it that broke off has left.
The one that embedding.model names goes only with --force; vectors that were
made with it stay until there are others.`,
		Example: `  emberd model remove bge-small`,
		Annotations: exits(endings{exitNothing: "no model of that name", exitConflict: "it is the one that is used; --force removes it all the same",
			exitDisk: "it cannot be removed"}),
		Args:              takes(1, 1, "the name of a model"),
		ValidArgsFunction: s.completeModels,
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			used := c.Embedding.Model
			freed, named := int64(0), false // of what broke off nobody asks how much it was
			if m, err := modelsOf(c).Find(args[0]); err == nil {
				freed, named = m.Size, m.Path == used
			}
			if force {
				used = ""
			}
			err = modelsOf(c).Remove(args[0], used)
			if errors.Is(err, models.ErrInUse) {
				return memory.Errorf(memory.Conflict, "%s is the model that is used: use another first, or remove it all the same with --force", args[0])
			}
			if err != nil {
				return engineError(err)
			}
			if s.json {
				return s.printJSON(map[string]string{"removed": args[0]})
			}
			s.printf("removed %s\n", strings.Join(nonEmpty(clean(args[0]), sizeText(freed)), ", "))
			if named {
				s.note("embedding.model still names it; emberd model use says which takes its place")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "remove it even if it is used")
	return cmd
}

// completeModels offers installed models.
func (s *state) completeModels(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return s.offerModels(args, func(m *modelRow) bool { return m.Installed }), cobra.ShellCompDirectiveNoFileComp
}

func (s *state) offerModels(args []string, offered func(*modelRow) bool) []cobra.Completion {
	c, err := s.load()
	if err != nil || len(args) > 0 {
		return nil
	}
	list, err := listModels(c)
	if err != nil {
		return nil
	}
	var names []cobra.Completion
	for _, m := range list.Models {
		if offered(&m) {
			names = append(names, cobra.CompletionWithDesc(m.Name, strings.Join(nonEmpty(modelSize(&m), languagesText(m.Languages)), "; ")))
		}
	}
	return names
}
