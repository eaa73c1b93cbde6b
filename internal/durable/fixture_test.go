package durable_test

import (
	"io"
	"path/filepath"
	"strings"

	"pgregory.net/rapid"

	"emberd/internal/durable"
)

// must reports a failure of something that the test only builds on.
func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// save puts a file on the disk for good.
func save(t rapid.TB, fsys durable.FS, name, content string) {
	t.Helper()
	f, err := fsys.CreateAppend(name)
	must(t, err)
	_, err = io.WriteString(f, content)
	must(t, err)
	must(t, f.Sync())
	must(t, f.Close())
	must(t, fsys.SyncDir(filepath.Dir(name)))
}

// content reads a whole file.
func content(t rapid.TB, fsys durable.FS, name string) string {
	t.Helper()
	f, err := fsys.OpenRead(name)
	must(t, err)
	data, err := io.ReadAll(f)
	must(t, err)
	must(t, f.Close())
	return string(data)
}

// listing is the names in a directory, joined by blanks.
func listing(t rapid.TB, fsys durable.FS, dir string) string {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
