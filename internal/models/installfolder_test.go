package models_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"emberd/internal/models"
	"emberd/internal/testutil/trainedtest"
	"emberd/internal/tinybert"
)

// published is a folder as makers of a model publish it.
func published(t *testing.T, seed uint64) string {
	t.Helper()
	s, dir := tinybert.Tiny(), t.TempDir()
	s.Seed = seed
	if err := tinybert.WriteFolder(dir, s); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A folder is converted and installed at once, as what convert makes of it.
func TestInstallAFolder(t *testing.T) {
	m, dir := openModels(t), published(t, 1)
	made, err := models.Convert(dir, filepath.Join(t.TempDir(), "made.gguf"), "q8_0")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it is there already
		got := m.install(t, models.Source{Place: dir, SHA256: made.Source})
		if got.Name != "A-tiny-one" || got.SHA256 != made.SHA256 || got.Licence != "apache-2.0" || got.Source != dir ||
			got.Weights != "Q8_0" || got.Known != nil {
			t.Errorf("installed is %+v, want A-tiny-one with %s", got, made.SHA256)
		}
	}
	holds(t, m.dir, "A-tiny-one.gguf", "A-tiny-one.json")
	if got := m.install(t, models.Source{Place: dir, Name: "wide", Type: "f32"}); got.Weights != "F32" {
		t.Errorf("weights are %s, want F32", got.Weights)
	}
}

// What is not the folder that was meant is not kept, and takes the place of nothing.
func TestFoldersThatAreNotInstalled(t *testing.T) {
	m, dir, other := openModels(t), published(t, 1), published(t, 2)
	before := m.install(t, models.Source{Place: dir, Name: "tiny"})
	for name, test := range map[string]struct {
		source models.Source
		is     error
		says   string
	}{
		"other weights":       {models.Source{Place: other, Name: "tiny"}, models.ErrTaken, "already exists with a different SHA-256 (" + before.SHA256 + ")"},
		"not those weights":   {models.Source{Place: dir, Name: "new", SHA256: before.SHA256}, nil, "the weights are damaged or from a different model"},
		"no model":            {models.Source{Place: t.TempDir(), Name: "new"}, models.ErrInput, "config.json not found"},
		"no such type":        {models.Source{Place: dir, Name: "new", Type: "q4_0"}, models.ErrInput, "q8_0, f16 or f32"},
		"the type of a file":  {models.Source{Place: before.Path, Name: "new", Type: "f16"}, models.ErrInput, "--type requires a folder"},
		"a name of no folder": {models.Source{Place: dir, Name: "a/b"}, models.ErrInput, `invalid model name "a/b"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := m.Install(t.Context(), test.source, nil)
			fails(t, err, test.says)
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %v, want %v", err, test.is)
			}
		})
	}
	holds(t, m.dir, "tiny.gguf", "tiny.json")
	if after := m.install(t, models.Source{Place: other, Name: "tiny", Replace: true}); after.SHA256 == before.SHA256 {
		t.Error("the other model did not take its place")
	}
}

// The makers' weights of a known model are known in a file that was converted, until it is another file.
func TestAConvertedModelIsKnownByItsWeights(t *testing.T) {
	m := openModels(t)
	got := m.install(t, models.Source{Place: trainedtest.Folder(t)})
	if got.Name != trainedtest.Name || got.Known == nil || got.Known.Name != trainedtest.Name || got.Known.SHA256 == got.SHA256 {
		t.Fatalf("installed is %+v, want it known by its weights", got)
	}
	if again, err := m.Verify(t.Context(), got.Name, nil); err != nil || again.Known == nil || again.Known.Name != trainedtest.Name {
		t.Errorf("Verify = %+v, %v, want it known", again, err)
	}
	if err := os.Remove(filepath.Join(m.dir, got.Name+".json")); err != nil {
		t.Fatal(err)
	}
	if again, err := m.Verify(t.Context(), got.Name, nil); err != nil || again.Known != nil {
		t.Errorf("without a note Verify = %+v, %v, want that it is not known", again, err)
	}
}
