package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"

	"emberd/embedding"
	"emberd/engine"
	"emberd/internal/config"
	"emberd/internal/engines"
	"emberd/internal/llamawire"
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
	key, err := readKey(c.Embedding.KeyFile, "key")
	if err != nil {
		return engine.Meaning{}, memory.Errorf(memory.Invalid, "embedding.key_file: %w", err)
	}
	helper, dir, why := native(c)
	embedder, err := embedding.Open(embedding.Options{
		Providers: c.Embedding.Providers, Model: c.Embedding.Model,
		Helper: helper, Engine: dir, NoEngine: why, Memory: badPairs(c),
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

// badPairs is the file that remembers which models bring which engines down.
func badPairs(c *config.Config) string { return filepath.Join(c.State, "engines.json") }

// native finds the helper and the folder of libraries that settings choose, or says in a
// sentence why there are none: nothing where they want none.
func native(c *config.Config) (helper, dir, why string) {
	if c.Embedding.Engine == noEngine {
		return "", "", ""
	}
	dir, err := engineDir(c)
	if err == nil {
		helper, err = embedding.FindHelper()
	}
	if err != nil {
		return "", "", err.Error()
	}
	return helper, dir, ""
}

// What embedding.engine says besides names and paths.
const (
	anyEngine = "auto"
	noEngine  = "none"
)

// engineDir is the folder of the libraries that embedding.engine chooses, once nobody else
// can have changed what is in it.
func engineDir(c *config.Config) (string, error) {
	at := c.Embedding.Engine
	if filepath.IsAbs(at) {
		return at, engines.Check(at)
	}
	find := func() (*engines.Engine, error) { return enginesOf(c).Intact(at) }
	if at == anyEngine {
		find = enginesOf(c).Current
	}
	e, err := find()
	if err != nil {
		return "", err
	}
	return e.Dir, nil
}

// enginesOf are the installed engines.
func enginesOf(c *config.Config) *engines.Engines {
	return engines.Open(filepath.Join(c.Embedding.Folder, "engines"), probe)
}

// probe loads the libraries of a folder in the helper, and tells what they say.
func probe(ctx context.Context, dir string) (llamawire.Hello, error) {
	helper, err := embedding.FindHelper()
	if err != nil {
		return llamawire.Hello{}, err
	}
	hello, err := embedding.Probe(ctx, helper, dir)
	if failed, ok := errors.AsType[*llamawire.Failed](err); ok {
		hello.Failed, err = failed, nil
	}
	return hello, err
}

// makesVectors reports whether one of the providers has what it needs.
func makesVectors(e *config.Embedding) bool {
	return slices.ContainsFunc(e.Providers, func(name string) bool {
		switch name {
		case embedding.Llama, embedding.Go:
			return e.Model != ""
		case embedding.HTTP:
			return e.URL != ""
		}
		return true
	})
}

// unmade says what is missing from settings that make no vectors, "" where none were
// touched.
func unmade(e *config.Embedding) string {
	switch {
	case e.Model != "":
		return "embedding.providers leaves out llama and go, which embedding.model is for"
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
