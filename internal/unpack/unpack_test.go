package unpack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An item is an entry of an archive that a test makes.
type item struct {
	name, text, link string
	kind             byte // of tar; 0 is what name and link say
}

// release is an archive as llama.cpp publishes them.
var release = []item{
	{name: "./build/bin/"},
	{name: "build/bin/llama-server", text: "program"},
	{name: "build/bin/libllama.so", link: "libllama.so.0"},
	{name: "build/bin/libllama.so.0", link: "libllama.so.0.5.0"},
	{name: "build/bin/libllama.so.0.5.0", text: "llama"},
	{name: "build/bin/libggml.so", text: "ggml"},
	{name: "LICENSE", text: "MIT"},
}

func tarball(t testing.TB, items ...item) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, it := range items {
		h := &tar.Header{Name: it.name, Linkname: it.link, Size: int64(len(it.text)), Mode: 0o777, Typeflag: it.kind}
		switch {
		case it.kind != 0:
		case it.link != "":
			h.Typeflag = tar.TypeSymlink
		case strings.HasSuffix(it.name, "/"):
			h.Typeflag = tar.TypeDir
		default:
			h.Typeflag = tar.TypeReg
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(it.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipped(t testing.TB, items ...item) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, it := range items {
		h := &zip.FileHeader{Name: it.name, Method: zip.Deflate}
		h.SetMode(0o777)
		text := it.text
		switch {
		case it.kind == tar.TypeFifo:
			h.SetMode(fs.ModeNamedPipe | 0o777)
		case it.link != "":
			h.SetMode(fs.ModeSymlink | 0o777)
			text = it.link
		case strings.HasSuffix(it.name, "/"):
			h.SetMode(fs.ModeDir | 0o777)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// formats makes an archive of each kind.
var formats = map[string]func(testing.TB, ...item) []byte{"tar.gz": tarball, "zip": zipped}

func file(t testing.TB, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// tree is what a directory holds: files with their text, links with an arrow.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		within, _ := filepath.Rel(dir, name)
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(name)
			found = append(found, within+" -> "+target)
			return err
		}
		text, err := os.ReadFile(name)
		found = append(found, within+": "+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func libraries(name string) bool { return strings.HasPrefix(name, "lib") }

func TestUnpack(t *testing.T) {
	for format, make := range formats {
		t.Run(format, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "new")
			o := Options{Folder: "build/bin", Keep: libraries}
			archive := file(t, make(t, release...))
			got, err := Unpack(t.Context(), archive, dir, o)
			if err != nil {
				t.Fatal(err)
			}
			want := []Entry{{Name: "libllama.so", Link: "libllama.so.0"}, {Name: "libllama.so.0", Link: "libllama.so.0.5.0"},
				{Name: "libllama.so.0.5.0", Size: 5}, {Name: "libggml.so", Size: 4}}
			if !slices.Equal(got, want) {
				t.Errorf("Unpack = %v, want %v", got, want)
			}
			listed, err := List(t.Context(), archive, o)
			if err != nil || !slices.Equal(listed, want) {
				t.Errorf("List = %v, %v, want %v", listed, err, want)
			}
			wantTree := []string{"libggml.so: ggml", "libllama.so -> libllama.so.0", "libllama.so.0 -> libllama.so.0.5.0", "libllama.so.0.5.0: llama"}
			if got := tree(t, dir); !slices.Equal(got, wantTree) {
				t.Errorf("the directory holds %q, want %q", got, wantTree)
			}
			info, err := os.Stat(filepath.Join(dir, "libggml.so"))
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("a file has mode %v (%v), want 0600", info.Mode(), err)
			}
		})
	}
}

func TestEverythingIsKept(t *testing.T) {
	for format, make := range formats {
		t.Run(format, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "new")
			if _, err := Unpack(t.Context(), file(t, make(t, release...)), dir, Options{}); err != nil {
				t.Fatal(err)
			}
			want := []string{"LICENSE: MIT", "build/bin/libggml.so: ggml", "build/bin/libllama.so -> libllama.so.0", "build/bin/libllama.so.0 -> libllama.so.0.5.0",
				"build/bin/libllama.so.0.5.0: llama", "build/bin/llama-server: program"}
			if got := tree(t, dir); !slices.Equal(got, want) {
				t.Errorf("the directory holds %q, want %q", got, want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	long := strings.Repeat("n", mostName+1)
	small := Options{MostEntries: 3, MostFile: 10, MostBytes: 4096}
	for _, tt := range []struct {
		name  string
		items []item
		o     Options
		want  string
	}{
		{"out of it", []item{{name: "../x"}}, Options{}, "leads out of it"},
		{"out of it though not taken", []item{{name: "../x"}}, Options{Folder: "bin"}, "leads out of it"},
		{"out of it and back", []item{{name: "a/../../b"}}, Options{}, "leads out of it"},
		{"up and down inside", []item{{name: "a/../b"}}, Options{}, "leads out of it"},
		{"absolute", []item{{name: "/etc/passwd"}}, Options{}, "leads out of it"},
		{"backslash", []item{{name: `..\x`}}, Options{}, "which is none"},
		{"long name", []item{{name: long}}, Options{}, "1024 are the most"},
		{"twice", []item{{name: "lib"}, {name: "./lib"}}, Options{}, `"lib" twice`},
		{"twice where case is nothing", []item{{name: "lib"}, {name: "LIB"}}, Options{}, `"LIB" twice`},
		{"link out", []item{{name: "a/lib", link: "../../x"}}, Options{}, "leads out of it"},
		{"link out of the folder", []item{{name: "bin/lib", link: "../x"}, {name: "x"}}, Options{Folder: "bin"}, "leads out of it"},
		{"absolute link", []item{{name: "lib", link: "/usr/lib/x"}}, Options{}, "absolute name"},
		{"link to nothing", []item{{name: "lib", link: "none"}}, Options{}, "no file that was taken out"},
		{"link to what is not taken", []item{{name: "lib", link: "x"}, {name: "x"}}, Options{Keep: libraries}, "no file that was taken out"},
		{"link to itself", []item{{name: "lib", link: "lib"}}, Options{}, "no file that was taken out"},
		{"links in a circle", []item{{name: "a", link: "b"}, {name: "b", link: "a"}}, Options{}, "no file that was taken out"},
		{"link to a folder", []item{{name: "a", link: "b"}, {name: "b/x"}}, Options{}, "no file that was taken out"},
		{"pipe", []item{{name: "pipe", kind: tar.TypeFifo}}, Options{}, "where a file was expected"},
		{"many entries", []item{{name: "a"}, {name: "b"}, {name: "c"}, {name: "d"}}, small, "more than 3 entries"},
		{"large file", []item{{name: "a", text: "01234567890"}}, small, "more than 10 bytes"},
		{"large file that is not taken", []item{{name: "a", text: "01234567890"}}, Options{MostFile: 10, Folder: "bin"}, "more than 10 bytes"},
		{"large in all", []item{{name: "a", text: strings.Repeat("a", 3000)}, {name: "b", text: strings.Repeat("b", 3000)}},
			Options{MostBytes: 4096}, "more than 4096 bytes"},
	} {
		for format, make := range formats {
			t.Run(tt.name+" "+format, func(t *testing.T) {
				parent := t.TempDir()
				_, err := Unpack(t.Context(), file(t, make(t, tt.items...)), filepath.Join(parent, "new"), tt.o)
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("Unpack: %v, want one line with %q", err, tt.want)
				}
				if left := tree(t, parent); len(left) > 0 {
					t.Errorf("%q was left behind", left)
				}
			})
		}
	}
}

func TestHardLinksAndDevicesOfTar(t *testing.T) {
	for _, kind := range []byte{tar.TypeLink, tar.TypeChar, tar.TypeBlock} {
		archive := file(t, tarball(t, item{name: "x", text: ""}, item{name: "lib", link: "x", kind: kind}))
		_, err := Unpack(t.Context(), archive, filepath.Join(t.TempDir(), "new"), Options{})
		if err == nil || !strings.Contains(err.Error(), "where a file was expected") {
			t.Errorf("kind %q: %v, want a refusal", kind, err)
		}
		if got, err := List(t.Context(), archive, Options{Keep: func(name string) bool { return name == "x" }}); err != nil || len(got) != 1 {
			t.Errorf("kind %q where it is not taken: %v, %v, want the one file", kind, got, err)
		}
	}
}

func TestWriteThroughALink(t *testing.T) {
	outside := t.TempDir()
	archive := file(t, tarball(t, item{name: "lib", link: "sub"}, item{name: "lib/x", text: "x"}, item{name: "sub/y", text: "y"}))
	if _, err := Unpack(t.Context(), archive, filepath.Join(outside, "new"), Options{}); err == nil {
		t.Error("a file was written where a link should be, want an error")
	}
	if left := tree(t, outside); len(left) > 0 {
		t.Errorf("%q was left behind", left)
	}
}

// A small archive that unpacks to more than it says, or than there may be, ends at the bound.
func TestBomb(t *testing.T) {
	zeros := strings.Repeat("\x00", 1<<20)
	for format, make := range formats {
		data := make(t, item{name: "lib", text: zeros})
		if len(data) > 10_000 {
			t.Fatalf("%s: the bomb has %d bytes, want a small one", format, len(data))
		}
		_, err := Unpack(t.Context(), file(t, data), filepath.Join(t.TempDir(), "new"), Options{MostBytes: 1 << 19})
		if err == nil || !strings.Contains(err.Error(), "the most that is unpacked") {
			t.Errorf("%s: %v, want the bound", format, err)
		}
	}
}

// Headers are bytes, too.
func TestBombOfFolders(t *testing.T) {
	var items []item
	for i := range 100 {
		items = append(items, item{name: strings.Repeat("d", i+1) + "/"})
	}
	_, err := List(t.Context(), file(t, tarball(t, items...)), Options{MostBytes: 4096})
	if err == nil || !strings.Contains(err.Error(), "the most that is unpacked") {
		t.Errorf("List: %v, want the bound", err)
	}
}

func TestZipThatLies(t *testing.T) {
	for _, size := range []byte{0x01, 0xff} { // as the low byte of 5000, 0x1388
		data := zipped(t, item{name: "lib", text: strings.Repeat("a", 5000)})
		for _, at := range indexes(data, []byte{0x88, 0x13, 0, 0}) {
			data[at] = size
		}
		if _, err := Unpack(t.Context(), file(t, data), filepath.Join(t.TempDir(), "new"), Options{}); err == nil {
			t.Errorf("a file of 5000 bytes that says %d was taken", 0x1300+int(size))
		}
	}
}

// counting counts what is read of an archive.
type counting struct {
	io.ReaderAt
	bytes int
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	c.bytes += len(p)
	return c.ReaderAt.ReadAt(p, at)
}

// A list that is longer than any that is taken is not read to its end.
func TestZipWithALongList(t *testing.T) {
	var items []item
	for i := range 4000 {
		items = append(items, item{name: fmt.Sprintf("%s%d", strings.Repeat("x", 200), i)})
	}
	data := zipped(t, items...)
	o := Options{MostEntries: 100, MostFile: 1, MostBytes: 1}
	archive := &counting{ReaderAt: bytes.NewReader(data)}
	w := &walker{ctx: t.Context().Err, o: &o, names: map[string]bool{}}
	err := w.walkZip(archive, int64(len(data)))
	if err == nil || !strings.Contains(err.Error(), "more than 100 entries") {
		t.Errorf("walk: %v, want too many entries", err)
	}
	if most := 100*mostListed + endOfList; archive.bytes > most {
		t.Errorf("%d bytes of %d were read, want at most %d", archive.bytes, len(data), most)
	}
}

// What follows the last file comes out of the same bomb, and is given up with the rest.
func TestCancelledAfterTheLastFile(t *testing.T) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(make([]byte, 8<<20)); err != nil { // of which the first KiB ends the tar file
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	asked := 0
	o := Options{MostEntries: 1, MostFile: 1, MostBytes: 1 << 30}
	w := &walker{o: &o, names: map[string]bool{}, ctx: func() error {
		if asked++; asked > 10 {
			return context.Canceled
		}
		return nil
	}}
	if err := w.walkTar(&out); !errors.Is(err, context.Canceled) {
		t.Errorf("walk: %v, want context.Canceled", err)
	}
}

func indexes(data, what []byte) (at []int) {
	for i := range len(data) - len(what) + 1 {
		if bytes.Equal(data[i:i+len(what)], what) {
			at = append(at, i)
		}
	}
	return at
}

func TestCutShortAnywhere(t *testing.T) {
	for format, make := range formats {
		whole := make(t, release...)
		parent := t.TempDir()
		for n := 0; n < len(whole); n += 7 {
			archive := file(t, whole[:n])
			_, err := Unpack(t.Context(), archive, filepath.Join(parent, "new"), Options{})
			if err == nil {
				t.Fatalf("%s: %d of %d bytes were taken for the whole", format, n, len(whole))
			}
			if n >= 20 && !strings.Contains(err.Error(), "download it again") {
				t.Fatalf("%s cut at %d: %v, want to download it again", format, n, err)
			}
		}
		if left := tree(t, parent); len(left) > 0 {
			t.Errorf("%s: %q was left behind", format, left)
		}
	}
}

func TestNotAnArchive(t *testing.T) {
	for name, archive := range map[string]string{"page": file(t, []byte("<!DOCTYPE html>")), "empty": file(t, nil)} {
		if _, err := List(t.Context(), archive, Options{}); err == nil || !strings.Contains(err.Error(), "neither a .tar.gz nor a .zip") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := List(t.Context(), t.TempDir(), Options{}); err == nil || !strings.Contains(err.Error(), "name the archive itself") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := List(t.Context(), filepath.Join(t.TempDir(), "none"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v, want fs.ErrNotExist", err)
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	keep := filepath.Join(dir, "keep")
	if err := os.WriteFile(keep, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Unpack(t.Context(), file(t, tarball(t, release...)), dir, Options{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Unpack: %v, want fs.ErrExist", err)
	}
	if _, err := os.Stat(keep); err != nil {
		t.Error(err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	parent := t.TempDir()
	_, err := Unpack(ctx, file(t, tarball(t, release...)), filepath.Join(parent, "new"), Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Unpack: %v, want context.Canceled", err)
	}
	if entries, _ := os.ReadDir(parent); len(entries) > 0 {
		t.Errorf("%v was left behind", entries)
	}
}

// TestReadPassesTheRestOver reads one file of an archive whose others would be refused.
func TestReadPassesTheRestOver(t *testing.T) {
	items := []item{{name: "big", text: strings.Repeat("x", 100)}, {name: "a/small", text: "small"}, {name: "link", link: "big"}}
	for name, data := range map[string][]byte{"zip": zipped(t, items...), "tar": tarball(t, items...)} {
		var got []string
		o := Options{Keep: func(name string) bool { return name == "a/small" }, MostFile: 10}
		err := Read(t.Context(), file(t, data), o, func(e Entry, content io.Reader) error {
			text, err := io.ReadAll(content)
			got = append(got, e.Name+"="+string(text))
			return err
		})
		if err != nil || !slices.Equal(got, []string{"a/small=small"}) {
			t.Errorf("%s: read %q, %v", name, got, err)
		}
		if _, err := List(t.Context(), file(t, data), Options{Keep: o.Keep, MostFile: 10}); err == nil {
			t.Errorf("%s: listing it passes the big file over, too", name)
		}
		want := errors.New("no more")
		if err := Read(t.Context(), file(t, data), o, func(Entry, io.Reader) error { return want }); err != want {
			t.Errorf("%s: an error of the reader comes back as %v", name, err)
		}
	}
}
