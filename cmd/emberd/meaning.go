package main

import (
	"log/slog"
	"path/filepath"
	"slices"

	"emberd/embedding"
	"emberd/engine"
	"emberd/internal/config"
	"emberd/memory"
)

// meaning turns settings into how vectors take part. There is no Embedder when they are
// off, or nothing that could make them is named; else it is the caller's to close.
func meaning(c *config.Config, log *slog.Logger) (engine.Meaning, error) {
	if c.Search.Meaning == 0 {
		return engine.Meaning{Off: "search.meaning is off"}, nil
	}
	if !makesVectors(&c.Embedding) {
		return engine.Meaning{Off: unmade(&c.Embedding)}, nil
	}
	key, err := readKey(c.Embedding.KeyFile)
	if err != nil {
		return engine.Meaning{}, memory.Errorf(memory.Invalid, "embedding.key_file: %w", err)
	}
	embedder, err := embedding.Open(embedding.Options{
		Providers: c.Embedding.Providers, Model: c.Embedding.Model,
		URL: c.Embedding.URL, URLModel: c.Embedding.URLModel, Key: key,
		MaxTokens: c.Embedding.MaxTokens, UnloadAfter: c.Embedding.UnloadAfter, Logger: log,
		QueryPrefix: spaced(c.Embedding.QueryPrefix), PassagePrefix: spaced(c.Embedding.PassagePrefix),
	})
	if err != nil {
		return engine.Meaning{}, memory.Errorf(memory.Invalid, "%w", err)
	}
	root := map[string]string{"state": c.State, "data": c.Data}[c.Embedding.Store]
	return engine.Meaning{
		Embedder: embedder, Dir: filepath.Join(root, "vectors"), Shared: c.Embedding.Store == "data",
		Weight: c.Search.Meaning, Wait: c.Search.MeaningWait, Share: c.Embedding.CPUShare,
	}, nil
}

// makesVectors reports whether one of the providers has what it needs.
func makesVectors(e *config.Embedding) bool {
	return slices.ContainsFunc(e.Providers, func(name string) bool {
		return name == embedding.Words || name == embedding.Go && e.Model != "" || name == embedding.HTTP && e.URL != ""
	})
}

// unmade says what is missing from settings that make no vectors, "" where none were
// touched.
func unmade(e *config.Embedding) string {
	switch {
	case e.Model != "":
		return "embedding.providers leaves out go, which embedding.model is for"
	case e.URL != "":
		return "embedding.providers leaves out http, which embedding.url is for"
	}
	return ""
}

// spaced sets a prefix off from the text; settings have no white space at their ends.
func spaced(prefix string) string {
	if prefix == "" {
		return ""
	}
	return prefix + " "
}
