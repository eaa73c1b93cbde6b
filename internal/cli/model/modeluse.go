package model

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"emberd/embedding"
	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/models"
	"emberd/memory"
)

func modelUseCommand(s *cli.App) *cobra.Command {
	var dry bool
	cmd := cli.Command("use NAME|FILE", cli.ArgCount(1, 1, "the name of an installed model, or a file"),
		completeModelsOrFiles(s, func(m *modelRow) bool { return m.Installed }),
		s.Configured(func(_ *cobra.Command, args []string, c *config.Config) error {
			return useModel(s, c, args[0], dry)
		}))
	cmd.Flags().BoolVar(&dry, "dry-run", false, "")
	return cmd
}

func useModel(s *cli.App, c *config.Config, which string, dry bool) error {
	if which == embedding.Static || which == ByWords {
		choice, err := Choose(c, which)
		if err != nil {
			return err
		}
		return writeChanges(s, c, &models.Model{Name: which}, choice.Changes, dry)
	}
	m, value, err := installedOrFile(c, which)
	if err != nil {
		return err
	}
	if m.Problem != "" {
		return &cli.Exit{Code: cli.ExitNothing, Err: memory.Errorf(memory.Invalid, "emberd cannot use %s: %s", which,
			m.Problem)}
	}
	changes, err := modelChanges(c, m, value)
	if err != nil {
		return err
	}
	return writeChanges(s, c, m, changes, dry)
}

// writeChanges writes what a model needs, unless that is only to be shown, and tells it.
func writeChanges(s *cli.App, c *config.Config, m *models.Model, changes []cli.SettingChange, dry bool) error {
	if len(changes) > 0 && !dry {
		if err := cli.WriteSettings(s, c, changes); err != nil {
			return err
		}
	}
	return s.Answer(map[string]any{"changes": changes, "file": c.File, "written": len(changes) > 0 && !dry}, func() {
		printChanges(s, c, m, changes, dry)
	})
}

// installedOrFile is a model by its name or its path, and what embedding.model says of it.
func installedOrFile(c *config.Config, which string) (*models.Model, string, error) {
	if !isFile(which) {
		m, err := modelsOf(c).Find(which)
		switch {
		case errors.Is(err, models.ErrUnknown) && models.IsPinned(which):
			return nil, "", memory.Errorf(memory.NotFound,
				"model %s is not installed; run: emberd model install %s, and then: emberd model use %s", which, which,
				which)
		case err != nil:
			return nil, "", engineError(err)
		}
		return m, m.Name, nil
	}
	path, err := filepath.Abs(which)
	if err != nil {
		return nil, "", fmt.Errorf("find %s: %w", which, err)
	}
	name, named := strings.CutSuffix(filepath.Base(path), ModelSuffix)
	if !named {
		return nil, "", memory.Errorf(memory.Invalid, "invalid model file %s; use a file whose name ends in %s", which,
			ModelSuffix)
	}
	m, err := models.Open(filepath.Dir(path)).Find(name)
	if errors.Is(err, models.ErrUnknown) {
		return nil, "", memory.Errorf(memory.NotFound,
			"file %s not found; check the path, or use the name of an installed model", path)
	}
	if err != nil {
		return nil, "", engineError(err)
	}
	return m, path, nil
}

// modelChanges are the settings that a model needs, and that are not as it needs them.
func modelChanges(c *config.Config, m *models.Model, value string) ([]cli.SettingChange, error) {
	return settingChanges(c, trusted(c, modelSettings(c, m, value)), m.Path)
}

// modelSettings are the settings that a model needs.
func modelSettings(c *config.Config, m *models.Model, value string) []config.Change {
	want := []config.Change{{Key: "embedding.model", Value: value}}
	if k := m.Known; k != nil {
		want = append(want,
			config.Change{Key: "embedding.query_prefix", Value: cmp.Or(strings.TrimSpace(k.QueryPrefix), "none")},
			config.Change{Key: "embedding.passage_prefix", Value: cmp.Or(strings.TrimSpace(k.PassagePrefix), "none")})
	}
	if m.MaxTokens < c.Embedding.MaxTokens {
		want = append(want, config.Change{Key: "embedding.max_tokens", Value: strconv.Itoa(m.MaxTokens)})
	}
	if !makesWith(c) {
		want = append(want, config.Change{Key: "embedding.providers", Value: defaultProviders})
	}
	return want
}

// settingChanges are those that are not as they are wanted. The path of a model is as good as its name.
func settingChanges(c *config.Config, want []config.Change, path string) ([]cli.SettingChange, error) {
	changes := []cli.SettingChange{}
	for _, w := range want {
		st, err := c.Explain(w.Key)
		if err != nil {
			return nil, err
		}
		if st.Value == w.Value || w.Key == "embedding.model" && st.Value == path {
			continue
		}
		changes = append(changes, cli.SettingChange{Setting: w.Key, Was: st.Value, Value: w.Value})
	}
	return changes, nil
}

// makesWith reports whether the settings list a provider that runs model files.
func makesWith(c *config.Config) bool {
	set := c.Embedding.Providers
	return slices.Contains(set, embedding.Llama) || slices.Contains(set, embedding.Go)
}

func printChanges(s *cli.App, c *config.Config, m *models.Model, changes []cli.SettingChange, dry bool) {
	if len(changes) == 0 {
		s.Printf("%s is already in use\n", cli.Clean(m.Name))
		return
	}
	width := 0
	for _, change := range changes {
		width = max(width, len(change.Setting))
	}
	for _, change := range changes {
		s.Printf("%s  %s → %s\n", cli.Pad(change.Setting, width), s.Screen.Paint(cli.Faint, cli.Clean(change.Was)),
			s.Screen.Paint(cli.Green, cli.Clean(change.Value)))
	}
	if dry {
		s.Note("nothing changed; to write the settings to %s, omit --dry-run", cli.Clean(c.File))
		return
	}
	if m.Name == ByWords {
		s.Note("saved to %s; after you restart the daemon, searches use keywords only", cli.Clean(c.File))
		return
	}
	s.Note("saved to %s; after you restart the daemon, it computes all embeddings "+
		"again; to see the progress, run: emberd model status --wait", cli.Clean(c.File))
	if m.Known == nil && (c.Embedding.QueryPrefix != "" || c.Embedding.PassagePrefix != "") {
		s.Note("emberd did not change the settings embedding.query_prefix and " +
			"embedding.passage_prefix, because the prefixes of this model are unknown")
	}
}
