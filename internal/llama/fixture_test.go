package llama

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"emberd/internal/bert"
	"emberd/internal/testutil/llamatest"
	"emberd/internal/tinybert"
)

// A process can load one llama.cpp only. This one loads the first that there is, and the
// tests of it are run again in other processes for the others.
func TestOtherReleases(t *testing.T) {
	for _, dir := range llamatest.Libraries(t)[1:] {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(dir))), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNative", "-test.count=1")
			cmd.Env = append(os.Environ(), "EMBERD_TEST_LLAMA="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// loaded is the process's engine.
var loaded struct {
	sync.Once
	engine *Engine
	err    error
}

func engine(t testing.TB) *Engine {
	t.Helper()
	dir := llamatest.Libraries(t)[0]
	loaded.Do(func() { loaded.engine, loaded.err = Open(dir, nil) })
	if loaded.err != nil {
		t.Fatal(loaded.err)
	}
	return loaded.engine
}

// edit changes a model before it is written.
type edit func(*tinybert.Model)

func without(keys ...string) edit {
	return func(m *tinybert.Model) {
		m.Meta = slices.DeleteFunc(m.Meta, func(kv tinybert.Meta) bool { return slices.Contains(keys, kv.Key) })
	}
}

func with(key string, value any) edit {
	return func(m *tinybert.Model) {
		without(key)(m)
		m.Meta = append(m.Meta, tinybert.Meta{Key: key, Value: value})
	}
}

func file(t testing.TB, spec tinybert.Spec, edits ...edit) string {
	t.Helper()
	model := tinybert.New(spec)
	for _, e := range edits {
		e(model)
	}
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := model.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func seeded() tinybert.Spec {
	spec := tinybert.Tiny()
	spec.Seed = 42
	return spec
}

func model(t testing.TB, path string, opt Options) *Model {
	t.Helper()
	m, err := engine(t).Load(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// twin is the same model in Go.
func twin(t testing.TB, path string, opt *bert.Options) *bert.Model {
	t.Helper()
	m, err := bert.Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// embedded is the vector of a text that has one.
func embedded(t testing.TB, m *Model, text string, threads int) []float32 {
	t.Helper()
	v, _, _, err := m.Embed(text, threads)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
