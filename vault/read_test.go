package vault_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/vault"
)

func TestRead(t *testing.T) {
	text := "# Hello\nworld\n"
	dir := folder(t, files{"dir/Note.md": text})
	v := openVault(t, dir, nil)
	n, err := v.Read(t.Context(), "dir/Note.md")
	if err != nil {
		t.Fatal(err)
	}
	if n.Title != "Note" || n.Digest != sha256.Sum256([]byte(text)) || n.Size != int64(len(text)) || n.Inode == 0 {
		t.Errorf("read %+v", n.File)
	}
	if f, err := v.Stat("dir/Note.md"); err != nil || f != n.File {
		t.Errorf("stat %+v, %v, want %+v", f, err, n.File)
	}
	if want := filepath.Base(dir); v.Name() != want {
		t.Errorf("the vault is called %q, want %q", v.Name(), want)
	}
}

func TestReadRefuses(t *testing.T) {
	dir := folder(t, files{
		"a.md": "a", "b.txt": "b", ".hidden.md": "h", ".obsidian/x.md": "o", "a.md~": "t", "dir.md/in.md": "i",
		"private/p.md": "p", "dir/draft-1.md": "d", "utf16.md": "\xff\xfea\x00", ".cloud.md.icloud": "stub",
	})
	outside := folder(t, files{"secret.md": "canary"})
	link(t, filepath.Join(outside, "secret.md"), filepath.Join(dir, "out.md"))
	link(t, outside, filepath.Join(dir, "out"))
	link(t, "a.md", filepath.Join(dir, "in.md"))
	link(t, ".", filepath.Join(dir, "loop"))
	link(t, "nowhere.md", filepath.Join(dir, "dangling.md"))
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	v := openVault(t, dir, &vault.Options{Ignore: []string{"private", "dir/draft-*.md"}})
	for path, want := range map[string]vault.Reason{
		"":                        vault.BadPath,
		".":                       vault.BadPath,
		"/a.md":                   vault.BadPath,
		"../a.md":                 vault.BadPath,
		"dir/../a.md":             vault.BadPath,
		"./a.md":                  vault.BadPath,
		"a.md/":                   vault.BadPath,
		"a\x00.md":                vault.BadPath,
		strings.Repeat("a/", 3e3): vault.BadPath,
		"a\xff.md":                vault.BadName,
		"b.txt":                   vault.NotNote,
		".hidden.md":              vault.Hidden,
		".obsidian/x.md":          vault.Hidden,
		"a.md~":                   vault.Temporary,
		"x.swp":                   vault.Temporary,
		"~syncthing~a.md.tmp":     vault.Temporary,
		".#a.md":                  vault.Hidden,
		".syncthing.a.md.tmp":     vault.Hidden,
		"private/p.md":            vault.Ignored,
		"dir/draft-1.md":          vault.Ignored,
		"out.md":                  vault.Symlink,
		"out/secret.md":           vault.Symlink,
		"in.md":                   vault.Symlink,
		"loop/a.md":               vault.Symlink,
		"dangling.md":             vault.Symlink,
		"pipe.md":                 vault.NotRegular,
		"dir.md":                  vault.NotRegular,
		"cloud.md":                vault.NotLocal,
		".cloud.md.icloud":        vault.NotLocal,
		"utf16.md":                vault.NotText,
	} {
		_, err := v.Read(t.Context(), path)
		skipped, ok := errors.AsType[*vault.Skipped](err)
		if !ok || skipped.Reason != want {
			t.Errorf("%.40q: %v, want it skipped because %s", path, err, want)
		}
	}
	for _, gone := range []string{"gone.md", `dir\..\a.md`, `dir\in.md`} {
		if _, err := v.Read(t.Context(), gone); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v, want that it does not exist", gone, err)
		}
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func TestWalk(t *testing.T) {
	dir := folder(t, files{
		"b.md": "", "a/c.MD": "", "a/x.png": "", ".git/d.md": "", "private/e.md": "", "a/.f.md": "", `back\slash.md`: "",
		"deep/.g.md.icloud": "", "folder.md/h.md": "",
	})
	link(t, "..", filepath.Join(dir, "a", "up"))
	link(t, "b.md", filepath.Join(dir, "l.md"))
	v := openVault(t, dir, &vault.Options{Ignore: []string{"private", "x.md"}})
	var got []string
	for path, err := range v.Walk(t.Context()) {
		if skipped, ok := errors.AsType[*vault.Skipped](err); ok {
			path += ": " + strings.Join(strings.Fields(string(skipped.Reason))[:3], " ")
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, path)
	}
	want := []string{"a/c.MD", "a/up: the path contains", "b.md", `back\slash.md`, "deep/g.md: the content of", "folder.md/h.md", "l.md: the path contains"}
	if !slices.Equal(got, want) {
		t.Errorf("walked %q, want %q", got, want)
	}
}

func TestWalkEndsWithItsContext(t *testing.T) {
	v := openVault(t, folder(t, files{"a.md": "", "b.md": "", "c.md": ""}), nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	n := 0
	for _, err := range v.Walk(ctx) {
		cancel()
		last = err
		n++
	}
	if n != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d steps, the last with %v; want one note and then the end of the context", n, last)
	}
}

// An empty note that was just written may be one that an editor is saving.
func TestFreshEmptyNoteIsReadAgain(t *testing.T) {
	dir := folder(t, files{"new.md": "", "old.md": ""})
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "old.md"), past, past); err != nil {
		t.Fatal(err)
	}
	v := openVault(t, dir, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Read(ctx, "new.md"); !errors.Is(err, context.Canceled) {
		t.Errorf("a fresh empty note: %v, want to be waited for until the context ends", err)
	}
	if n, err := v.Read(ctx, "old.md"); err != nil || len(n.Sections) != 0 {
		t.Errorf("an old empty note: %v, want it read at once", err)
	}
	if n, err := v.Read(t.Context(), "new.md"); err != nil || len(n.Sections) != 0 {
		t.Errorf("a fresh empty note: %v, want it read in the end", err)
	}
}

// A save in place shows through as an empty file, half a text, or two halves.
func TestReadNeverMixesTwoSaves(t *testing.T) {
	const size = 256 << 10
	dir := folder(t, files{"n.md": strings.Repeat("a", size)})
	v := openVault(t, dir, nil)
	stop := make(chan struct{})
	done := make(chan error)
	go func() { done <- saveUntil(stop, filepath.Join(dir, "n.md"), size) }()
	for range 4 {
		n, err := v.Read(t.Context(), "n.md")
		if skipped, ok := errors.AsType[*vault.Skipped](err); ok && skipped.Reason == vault.Unsettled {
			continue
		}
		if err != nil {
			t.Error(err)
			break
		}
		text := shown(n)
		if strings.Contains(text, "a") && strings.Contains(text, "b") {
			t.Error("a note of two saves was read")
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// saveUntil saves in place as an editor does, all "a" and all "b" by turns.
func saveUntil(stop chan struct{}, path string, size int) error {
	for _, letter := range strings.Repeat("ba", 1e6) {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := os.WriteFile(path, []byte(strings.Repeat(string(letter), size)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func TestLargeFileIsHashedWhole(t *testing.T) {
	text := strings.Repeat("x\n", vault.MaxIndexed)
	v := openVault(t, folder(t, files{"n.md": text}), nil)
	n, err := v.Read(t.Context(), "n.md")
	if err != nil {
		t.Fatal(err)
	}
	if n.Digest != sha256.Sum256([]byte(text)) || len(n.Problems) == 0 {
		t.Errorf("problems %v, want the digest of all and a word on the size", n.Problems)
	}
}

func TestOpenWithoutFolder(t *testing.T) {
	if _, err := vault.Open(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open: %v, want that the folder does not exist", err)
	}
}

func TestOpenRefusesPatterns(t *testing.T) {
	for _, bad := range []string{"", "[", "a//b"} {
		if _, err := vault.Open(t.TempDir(), &vault.Options{Ignore: []string{bad}}); err == nil {
			t.Errorf("the pattern %q is taken", bad)
		}
	}
}
