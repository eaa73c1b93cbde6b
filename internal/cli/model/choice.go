package model

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/embedding"
	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/models"
	"emberd/memory"
)

// ByWords is the name of the choice to search by words alone.
const ByWords = "words"

// A Choice is what vectors are to be made with, and the settings that have to change for it.
type Choice struct {
	Name    string
	Changes []cli.SettingChange
	Known   *models.KnownModel // that has to be downloaded first; nil if nothing has
}

// Chosen returns what the settings choose: ByWords, embedding.Static or a model, by its name if it is
// in the folder of models, and "" for a server and whatever else init does not offer.
func Chosen(c *config.Config) string {
	has := func(provider string) bool { return slices.Contains(c.Embedding.Providers, provider) }
	switch {
	case c.Search.Meaning == 0:
		return ByWords
	case c.Embedding.URL != "" && has(embedding.HTTP), has(embedding.Words):
		return ""
	case c.Embedding.Model != "" && makesWith(c):
		if m, err := modelsOf(c).Find(nameOf(c.Embedding.Model)); err == nil && m.Path == c.Embedding.Model {
			return m.Name
		}
		return c.Embedding.Model
	case has(embedding.Static):
		return embedding.Static
	}
	return ByWords
}

// Choose returns the choice of ByWords, embedding.Static, a model that is installed, a model file or
// the name of a known model.
func Choose(c *config.Config, name string) (*Choice, error) {
	choice := &Choice{Name: name}
	want, err := choice.settings(c)
	if err == nil {
		choice.Changes, err = settingChanges(c, want, "")
	}
	if err != nil {
		return nil, err
	}
	return choice, nil
}

// settings are those that the choice needs, and sets Known.
func (choice *Choice) settings(c *config.Config) ([]config.Change, error) {
	switch choice.Name {
	case ByWords:
		return []config.Change{{Key: "search.meaning", Value: "off"}}, nil
	case embedding.Static:
		return trusted(c, withoutModel()), nil
	}
	m, value, err := installedOrFile(c, choice.Name)
	if memory.CodeOf(err) == memory.NotFound && models.IsPinned(choice.Name) {
		m, value, err = choice.toDownload()
	}
	switch {
	case err != nil:
		return nil, err
	case m.Problem != "":
		return nil, memory.Errorf(memory.Invalid, "emberd cannot use %s: %s", choice.Name, m.Problem)
	case m.Path != "" && m.Path == c.Embedding.Model && makesWith(c):
		return trusted(c, nil), nil // its other settings may be the user's own
	}
	want := modelSettings(c, m, value)
	if c.Embedding.URL != "" { // a server may come first
		want = append(want, config.Change{Key: "embedding.url", Value: none})
	}
	return trusted(c, want), nil
}

// toDownload is a known model as it will be.
func (choice *Choice) toDownload() (*models.Model, string, error) {
	for _, k := range models.Pinned().Models {
		if k.Name != choice.Name {
			continue
		}
		if k.SHA256 == "" {
			return nil, "", memory.Errorf(memory.Invalid, "the SHA-256 of %s is unknown; run: emberd model "+
				"install %s --sha256 HEX, and then: emberd model use %s", k.Name, k.Name, k.Name)
		}
		choice.Known = &k
		return &models.Model{Name: k.Name, Known: &k, MaxTokens: k.MaxTokens}, k.Name, nil
	}
	return nil, "", memory.Errorf(memory.NotFound, "model %q not found; run: emberd model list", choice.Name)
}

// withoutModel are the settings under which nothing but static embeddings makes vectors.
func withoutModel() []config.Change {
	return []config.Change{{Key: "embedding.model", Value: none}, {Key: "embedding.url", Value: none},
		{Key: "embedding.providers", Value: defaultProviders}}
}

// defaultProviders is the default of embedding.providers.
const defaultProviders = "llama,http,go,static"

// none is the value of a setting for none.
const none = "none"

// trusted adds that searches use vectors, if the settings say that they do not.
func trusted(c *config.Config, want []config.Change) []config.Change {
	if c.Search.Meaning == 0 {
		want = append(want, config.Change{Key: "search.meaning", Value: "auto"})
	}
	return want
}

// About says what a known model is that would be downloaded: its size, its licence and where it comes
// from.
func (choice *Choice) About() string {
	row := knownRow(choice.Known)
	return strings.Join(cli.NonEmpty(cmp.Or(modelSize(&row), "of unknown size"), "license "+row.Licence,
		"from "+row.URL), ", ")
}

// Install downloads the known model, as the user agreed.
func (choice *Choice) Install(ctx context.Context, s *cli.App, c *config.Config) error {
	_, err := fetch(ctx, s, c, models.Source{Place: choice.Name}, choice.Name)
	return err
}

// CompleteChoices completes the names of choices that need no download.
func CompleteChoices(s *cli.App) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		names := []cobra.Completion{cobra.CompletionWithDesc(ByWords, "keyword search only"),
			cobra.CompletionWithDesc(embedding.Static, "built-in word embeddings")}
		return append(names, offerModels(s, nil, func(m *modelRow) bool { return m.Installed })...),
			cobra.ShellCompDirectiveNoFileComp
	}
}
