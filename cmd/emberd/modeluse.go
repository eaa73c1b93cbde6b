package main

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
	"emberd/internal/config"
	"emberd/internal/models"
	"emberd/memory"
)

// settingChange is one setting that a command changes in the config file.
type settingChange struct {
	Setting string `json:"setting"`
	Was     string `json:"was"`
	Value   string `json:"value"`
}

func (s *state) modelUseCommand() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "use NAME|FILE",
		Short: "Have vectors made with a model from now on",
		Long: `Write into the config file which model makes vectors: embedding.model and, for a
model that emberd knows, what it wants before texts (embedding.query_prefix,
embedding.passage_prefix). Where it takes in fewer tokens than
embedding.max_tokens says, that is lowered. All else in the file stays as it is.

It counts when the daemon is started again. All vectors are then made anew, in
the background; until that is done, those of the earlier model answer.`,
		Example: `  emberd model use all-MiniLM-L6-v2
  emberd model use ~/models/mine.gguf --dry-run`,
		Annotations: exits(endings{
			exitNothing: "no model of that name is installed, or no engine runs it", exitDisk: "the config file cannot be written"}),
		Args: takes(1, 1, "the name of an installed model, or a file"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return s.offerModels(args, func(m *modelRow) bool { return m.Installed && !isFile(typed) }), cobra.ShellCompDirectiveDefault
		},
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := s.load()
			if err != nil {
				return err
			}
			return s.useModel(c, args[0], dry)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "tell what would be written, change nothing")
	return cmd
}

func (s *state) useModel(c *config.Config, which string, dry bool) error {
	m, value, err := installedOrFile(c, which)
	if err != nil {
		return err
	}
	if m.Problem != "" {
		return &exit{code: exitNothing, err: memory.Errorf(memory.Invalid, "%s cannot be used: %s", which, m.Problem)}
	}
	changes, err := modelChanges(c, m, value)
	if err != nil {
		return err
	}
	if len(changes) > 0 && !dry {
		if err := s.writeSettings(c, changes); err != nil {
			return err
		}
	}
	if s.json {
		return s.printJSON(map[string]any{"changes": changes, "file": c.File, "written": len(changes) > 0 && !dry})
	}
	s.printChanges(c, m, changes, dry)
	return nil
}

// installedOrFile is a model by its name or its path, and what embedding.model says of it.
func installedOrFile(c *config.Config, which string) (*models.Model, string, error) {
	if !isFile(which) {
		m, err := modelsOf(c).Find(which)
		if err != nil {
			return nil, "", engineError(err)
		}
		return m, m.Name, nil
	}
	path, err := filepath.Abs(which)
	if err != nil {
		return nil, "", fmt.Errorf("find %s: %w", which, err)
	}
	name, named := strings.CutSuffix(filepath.Base(path), modelSuffix)
	if !named {
		return nil, "", memory.Errorf(memory.Invalid, "%s is not called like a model; names of models end in %s", which, modelSuffix)
	}
	m, err := models.Open(filepath.Dir(path)).Find(name)
	if errors.Is(err, models.ErrUnknown) {
		return nil, "", memory.Errorf(memory.NotFound, "there is no file %s; check its path, or use an installed model by its name alone", path)
	}
	if err != nil {
		return nil, "", engineError(err)
	}
	return m, path, nil
}

// modelChanges are the settings that a model needs, and that are not as it needs them.
func modelChanges(c *config.Config, m *models.Model, value string) ([]settingChange, error) {
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
		want = append(want, config.Change{Key: "embedding.providers", Value: "llama,http,go"})
	}
	changes := []settingChange{}
	for _, w := range want {
		st, err := c.Explain(w.Key)
		if err != nil {
			return nil, err
		}
		if st.Value == w.Value || w.Key == "embedding.model" && st.Value == m.Path {
			continue
		}
		changes = append(changes, settingChange{Setting: w.Key, Was: st.Value, Value: w.Value})
	}
	return changes, nil
}

// makesWith reports whether the settings list a provider that runs model files.
func makesWith(c *config.Config) bool {
	return slices.ContainsFunc(c.Embedding.Providers, func(name string) bool { return name == embedding.Llama || name == embedding.Go })
}

// writeSettings writes changes to the config file. What is set in a stronger place would
// not be heeded, and is refused by name.
func (s *state) writeSettings(c *config.Config, changes []settingChange) error {
	if err := s.changeable(c, changes); err != nil {
		return err
	}
	var all []config.Change
	for _, change := range changes {
		all = append(all, config.Change{Key: change.Setting, Value: change.Value})
	}
	return changeConfig(c.File, all)
}

// changeable refuses changes that a stronger place than the config file would overrule.
func (s *state) changeable(c *config.Config, changes []settingChange) error {
	for _, change := range changes {
		st, err := c.Explain(change.Setting)
		if err != nil {
			return err
		}
		if st.Origin == config.FromFlag || st.Origin == config.FromEnv {
			return memory.Errorf(memory.Invalid, "%s is set by %s, which overrules the config file; set it to %s there", change.Setting, st.From, change.Value)
		}
	}
	return nil
}

func (s *state) printChanges(c *config.Config, m *models.Model, changes []settingChange, dry bool) {
	if len(changes) == 0 {
		s.printf("%s is the model that is used already\n", clean(m.Name))
		return
	}
	width := 0
	for _, change := range changes {
		width = max(width, len(change.Setting))
	}
	for _, change := range changes {
		s.printf("%s  %s → %s\n", pad(change.Setting, width), s.screen.paint(faint, clean(change.Was)), s.screen.paint(green, clean(change.Value)))
	}
	if dry {
		s.note("nothing was written; without --dry-run it goes to %s", clean(c.File))
		return
	}
	s.note("written to %s; start the daemon again for it. All vectors are then made anew, and emberd engine status --wait shows how far that is", clean(c.File))
	if m.Known == nil && (c.Embedding.QueryPrefix != "" || c.Embedding.PassagePrefix != "") {
		s.note("embedding.query_prefix and embedding.passage_prefix stay as they are, for what this model wants there is not known")
	}
}
