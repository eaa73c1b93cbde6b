package models

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/tinybert"
)

// tiny is a model that both engines run.
func tiny(t testing.TB) []byte { return written(t, tinybert.Tiny()) }

// pieces is one that only llama.cpp runs.
func pieces(t testing.TB) []byte {
	spec := tinybert.Tiny()
	spec.Tokenizer = "t5"
	return written(t, spec)
}

func written(t testing.TB, spec tinybert.Spec) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "m")
	if err := tinybert.New(spec).WriteFile(name); err != nil {
		t.Fatal(err)
	}
	return read(t, name)
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// file is a file of that name with the content.
func file(t testing.TB, name string, data []byte) string {
	t.Helper()
	full := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(full, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return full
}

func serve(t testing.TB, data []byte) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(data)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func open(t testing.TB) *Models {
	t.Helper()
	return Open(filepath.Join(t.TempDir(), "models"))
}

func (m *Models) install(t testing.TB, s Source) *Model {
	t.Helper()
	model, err := m.Install(t.Context(), s, nil)
	if err != nil {
		t.Fatalf("Install: %v", err)
	}
	return model
}

// holds checks which files are in the folder.
func (m *Models) holds(t testing.TB, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(m.folder)
	if err != nil && len(want) > 0 {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// fails checks that an error is one sentence with these parts.
func fails(t testing.TB, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", want)
		return
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q, want it to have %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has more than one line", err)
	}
}
