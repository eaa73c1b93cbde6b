package models_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/llamawire"
	"emberd/internal/models"
	"emberd/internal/testutil/llamatest"
)

// ask is a probe by the real helper.
func ask(helper string) models.Probe {
	return func(ctx context.Context, dir string) (hello llamawire.Hello, err error) {
		r, w, err := os.Pipe()
		if err != nil {
			return hello, err
		}
		defer r.Close()
		child := exec.CommandContext(ctx, helper, "--engine", dir)
		child.ExtraFiles = []*os.File{w} // descriptor 3
		if err := errors.Join(child.Start(), w.Close()); err != nil {
			return hello, err
		}
		err = llamawire.Read(r, &hello)
		_ = child.Wait() // that it failed is in the hello, too
		return hello, err
	}
}

// small is a directory that leads to the libraries of another one, without those for processors
// that are none of the plainest: they are most of the bytes, and each is synced to the disk.
func small(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	plain := []string{"libggml-cpu.so", "libggml-cpu-x64.so", "libggml-cpu-armv8.0_1.so"}
	to := t.TempDir()
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, "libggml-cpu") && !slices.Contains(plain, name) {
			continue
		}
		if err := os.Symlink(filepath.Join(dir, name), filepath.Join(to, name)); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// Real libraries are installed from their directory and from an archive, and work where they
// are put.
func TestRealLibraries(t *testing.T) {
	probe := ask(llamatest.Helper(t))
	for _, dir := range llamatest.Libraries(t) {
		e := openRuntimes(t, probe)
		engine := e.install(t, models.Source{Place: small(t, dir)})
		if engine.Release == "" || engine.Name != engine.Release || len(engine.Backends) == 0 {
			t.Errorf("%s: Install = %+v, want a release and backends", dir, engine)
		}
		archive := build{}
		for _, f := range engine.Files {
			data, err := os.ReadFile(filepath.Join(engine.Dir, f.Name))
			if err != nil {
				t.Fatal(err)
			}
			archive["package/bins/here/"+f.Name] = string(data)
		}
		again := e.install(t, models.Source{Place: archive.file(t)})
		if again.Dir != engine.Dir || !slices.Equal(again.Files, engine.Files) {
			t.Errorf("%s: the same from an archive = %+v, want %+v", dir, again, engine)
		}
		linked := e.install(t, models.Source{Place: dir, Link: true})
		if linked.Release != engine.Release || linked.Dir != dir {
			t.Errorf("%s: linked = %+v", dir, linked)
		}
	}
}

// A library that was cut short ends the process that loads it, and so does one with a hole.
func TestDamagedLibraries(t *testing.T) {
	probe := ask(llamatest.Helper(t))
	whole := openRuntimes(t, probe).install(t, models.Source{Place: small(t, llamatest.Libraries(t)[0])})
	main := whole.Files[slices.IndexFunc(whole.Files, func(f models.File) bool {
		return strings.HasPrefix(f.Name,
			"libllama.") && f.Link == ""
	})]
	library := filepath.Join(whole.Dir, main.Name)
	if err := os.Remove(filepath.Join(whole.Dir, "engine.json")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		damage func() error
		want   string
	}{
		{"a hole", func() error { return writeHole(library, main.Size/10, main.Size*8/10) }, whole.Dir},
		{"cut short", func() error { return os.Truncate(library, main.Size/2) }, "is incomplete or not a library"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.damage(); err != nil {
				t.Fatal(err)
			}
			e := openRuntimes(t, probe)
			_, err := e.Install(t.Context(), models.Source{Place: whole.Dir, Trust: true}, nil)
			fails(t, err, tt.want)
			holds(t, e.dir)
		})
	}
}

func writeHole(name string, from, n int64) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, n), from)
	return errors.Join(err, f.Close())
}
