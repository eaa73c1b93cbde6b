package daemon

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"

	"emberd/embedding"
	"emberd/engine/core"
	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/llamawire"
	"emberd/internal/models"
	"emberd/memory"
)

// meaning turns settings into how vectors take part. There is no Embedder when they are
// off, or nothing that could make them is named; else it is the caller's to close.
func meaning(ctx context.Context, c *config.Config, log *slog.Logger) (core.Meaning, error) {
	if c.Search.Meaning == 0 {
		return core.Meaning{Off: "search.meaning is off"}, nil
	}
	if !makesVectors(&c.Embedding) {
		return core.Meaning{Off: unmade(&c.Embedding)}, nil
	}
	key, err := cli.ReadKey(c.Embedding.KeyFile, "key")
	if err != nil {
		return core.Meaning{}, memory.Errorf(memory.Invalid, "embedding.key_file: %w", err)
	}
	helper, dir, why := native(ctx, c)
	embedder, err := embedding.Open(embedding.Options{
		Providers: c.Embedding.Providers, Model: c.Embedding.Model,
		Helper: helper, Engine: dir, NoEngine: why, Memory: BadPairs(c), Unconfined: Unconfined(c),
		URL: c.Embedding.URL, URLModel: c.Embedding.URLModel, Key: key,
		MaxTokens: c.Embedding.MaxTokens, Logger: log,
		QueryPrefix: spaced(c.Embedding.QueryPrefix), PassagePrefix: spaced(c.Embedding.PassagePrefix),
	})
	if err != nil {
		return core.Meaning{}, memory.Errorf(memory.Invalid, "%w", err)
	}
	root := map[string]string{"state": c.State, "data": c.Data}[c.Embedding.Store]
	return core.Meaning{
		Embedder: embedder, Dir: filepath.Join(root, "vectors"), Shared: c.Embedding.Store == "data",
		Weight: c.Search.Meaning, Wait: c.Search.MeaningWait, Share: c.Embedding.CPUShare,
	}, nil
}

// BadPairs is the file that remembers which models bring which engines down.
func BadPairs(c *config.Config) string { return filepath.Join(c.State, "engines.json") }

// native finds the helper and the folder of libraries that settings choose, or says in a
// sentence why there are none: nothing where they want none. The libraries are those that were
// installed, byte by byte.
func native(ctx context.Context, c *config.Config) (helper, dir, why string) {
	if c.Embedding.Engine == NoEngine {
		return "", "", ""
	}
	dir, err := EngineDir(c)
	if err == nil {
		_, err = VerifyEngine(ctx, c, dir)
	}
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
	AnyEngine = "auto"
	NoEngine  = "none"
)

// EngineDir is the folder of the libraries that embedding.engine chooses, once nobody else
// can have changed what is in it.
func EngineDir(c *config.Config) (string, error) {
	at := c.Embedding.Engine
	if filepath.IsAbs(at) {
		return at, models.CheckLibraries(at)
	}
	find := func() (*models.Runtime, error) { return RuntimesOf(c).Intact(at) }
	if at == AnyEngine {
		find = RuntimesOf(c).Current
	}
	e, err := find()
	if err != nil {
		return "", err
	}
	return e.Dir, nil
}

// VerifyEngine compares the files of the installed engine in dir with the SHA-256 that they had when
// they were installed, and returns how many those are: 0 for an engine that was not copied, which
// has nothing to compare with.
func VerifyEngine(ctx context.Context, c *config.Config, dir string) (files int, err error) {
	all := RuntimesOf(c)
	installed, err := all.List()
	if err != nil {
		return 0, err
	}
	for _, e := range installed {
		if e.Dir == dir && e.Linked == "" {
			_, err := all.Verify(ctx, e.Name)
			return len(e.Files), err
		}
	}
	return 0, nil
}

// RuntimesOf returns the installed builds of llama.cpp.
func RuntimesOf(c *config.Config) *models.Runtimes {
	return models.OpenRuntimes(filepath.Join(c.Embedding.Folder, "engines"),
		func(ctx context.Context, dir string) (llamawire.Hello, error) { return probe(ctx, dir, Unconfined(c)) })
}

// Unconfined reports whether the user switched sandboxes off, the helper's included.
func Unconfined(c *config.Config) bool { return c.Sandbox == "off" }

// probe loads the libraries of a folder in the helper, and tells what they say.
func probe(ctx context.Context, dir string, unconfined bool) (llamawire.Hello, error) {
	helper, err := embedding.FindHelper()
	if err != nil {
		return llamawire.Hello{}, err
	}
	hello, err := embedding.Probe(ctx, helper, dir, unconfined)
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

// unmade says what is missing from settings that make no vectors, "" if no model and no server is set.
func unmade(e *config.Embedding) string {
	switch {
	case e.Model != "":
		return "embedding.model requires \"llama\" or \"go\" in embedding.providers"
	case e.URL != "":
		return "embedding.url requires \"http\" in embedding.providers"
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
