package unpack_test

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
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/unpack"
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

// contents reads an archive: the text of each kept file, and links with an arrow.
func contents(ctx context.Context, archive string, o unpack.Options) (found []string, err error) {
	err = unpack.Read(ctx, archive, o, func(e unpack.Entry, content io.Reader) error {
		if e.Link != "" {
			found = append(found, e.Name+" -> "+e.Link)
			return nil
		}
		text, err := io.ReadAll(content)
		if err == nil && len(text) != int(e.Size) {
			err = errors.Join(err, fmt.Errorf("%d bytes of %+v", len(text), e))
		}
		found = append(found, e.Name+": "+string(text))
		return err
	})
	return found, err
}

func isLibrary(name string) bool { return strings.HasPrefix(path.Base(name), "lib") }

func TestRead(t *testing.T) {
	all := []string{"build/bin/llama-server: program", "build/bin/libllama.so -> libllama.so.0",
		"build/bin/libllama.so.0 -> libllama.so.0.5.0", "build/bin/libllama.so.0.5.0: " +
			"llama", "build/bin/libggml.so: ggml", "LICENSE: MIT"}
	for format, pack := range formats {
		archive := file(t, pack(t, release...))
		for name, tt := range map[string]struct {
			keep func(string) bool
			want []string
		}{"all": {nil, all}, "libraries": {isLibrary, all[1:5]}, "none": {func(string) bool { return false }, nil}} {
			got, err := contents(t.Context(), archive, unpack.Options{Keep: tt.keep})
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s of %s: %q, %v, want %q", name, format, got, err, tt.want)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	small := unpack.Options{MaxEntries: 3, MaxFile: 10, MaxBytes: 4096}
	none := unpack.Options{Keep: func(string) bool { return false }}
	big := strings.Repeat("a", 3000)
	for _, tt := range []struct {
		name  string
		items []item
		o     unpack.Options
		want  string
	}{
		{"out of it", []item{{name: "../x"}}, unpack.Options{}, "leads outside the target folder"},
		{"out of it though not kept", []item{{name: "../x"}}, none, "leads outside the target folder"},
		{"out of it and back", []item{{name: "a/../../b"}}, unpack.Options{}, "leads outside the target folder"},
		{"up and down inside", []item{{name: "a/../b"}}, unpack.Options{}, "leads outside the target folder"},
		{"absolute", []item{{name: "/etc/passwd"}}, unpack.Options{}, "leads outside the target folder"},
		{"backslash", []item{{name: `..\x`}}, unpack.Options{}, "contains the invalid name"},
		{"long name", []item{{name: strings.Repeat("n", 1025)}}, unpack.Options{}, "1025 bytes (limit 1024)"},
		{"twice", []item{{name: "lib"}, {name: "./lib"}}, unpack.Options{}, `"lib" twice`},
		{"twice where case is nothing", []item{{name: "lib"}, {name: "LIB"}}, unpack.Options{}, `"LIB" twice`},
		{"pipe", []item{{name: "pipe", kind: tar.TypeFifo}}, unpack.Options{}, "instead of a regular file"},
		{"many entries", []item{{name: "a"}, {name: "b"}, {name: "c"}, {name: "d"}}, small, "too many entries (limit 3)"},
		{"large file", []item{{name: "a", text: "01234567890"}}, small, "is larger than 10 bytes"},
		{"large in all", []item{{name: "a", text: big}, {name: "b", text: big}}, unpack.Options{MaxBytes: 4096},
			"too large when unpacked (limit 4096 bytes)"},
	} {
		for format, pack := range formats {
			t.Run(tt.name+" "+format, func(t *testing.T) {
				_, err := contents(t.Context(), file(t, pack(t, tt.items...)), tt.o)
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("Read: %v, want one line with %q", err, tt.want)
				}
			})
		}
	}
}

func TestHardLinksAndDevicesOfTar(t *testing.T) {
	for _, kind := range []byte{tar.TypeLink, tar.TypeChar, tar.TypeBlock} {
		archive := file(t, tarball(t, item{name: "x", text: ""}, item{name: "lib", link: "x", kind: kind}))
		if _, err := contents(t.Context(), archive, unpack.Options{}); err == nil || !strings.Contains(err.Error(),
			"instead of a regular file") {
			t.Errorf("kind %q: %v, want a refusal", kind, err)
		}
		o := unpack.Options{Keep: func(name string) bool { return name == "x" }}
		if got, err := contents(t.Context(), archive, o); err != nil || len(got) != 1 {
			t.Errorf("kind %q where it is not kept: %v, %v, want the one file", kind, got, err)
		}
	}
}

// A small archive that unpacks to more than it says, or than there may be, ends at the bound.
func TestBomb(t *testing.T) {
	zeros := strings.Repeat("\x00", 1<<20)
	for format, pack := range formats {
		data := pack(t, item{name: "lib", text: zeros})
		if len(data) > 10_000 {
			t.Fatalf("%s: the bomb has %d bytes, want a small one", format, len(data))
		}
		_, err := contents(t.Context(), file(t, data), unpack.Options{MaxBytes: 1 << 19})
		if err == nil || !strings.Contains(err.Error(), "is too large when unpacked") {
			t.Errorf("%s: %v, want the bound", format, err)
		}
	}
	// Headers are bytes, too, and files of a tar file that are not kept.
	var folders []item
	for i := range 100 {
		folders = append(folders, item{name: strings.Repeat("d", i+1) + "/"})
	}
	for _, items := range [][]item{folders, {{name: "x", text: zeros}}} {
		o := unpack.Options{MaxBytes: 4096, Keep: func(string) bool { return false }}
		_, err := contents(t.Context(), file(t, tarball(t, items...)), o)
		if err == nil || !strings.Contains(err.Error(), "is too large when unpacked") {
			t.Errorf("Read: %v, want the bound", err)
		}
	}
}

func TestZipThatLies(t *testing.T) {
	for _, size := range []byte{0x01, 0xff} { // as the low byte of 5000, 0x1388
		data := zipped(t, item{name: "lib", text: strings.Repeat("a", 5000)})
		for _, at := range indexes(data, []byte{0x88, 0x13, 0, 0}) {
			data[at] = size
		}
		if _, err := contents(t.Context(), file(t, data), unpack.Options{}); err == nil {
			t.Errorf("a file of 5000 bytes that says %d was taken", 0x1300+int(size))
		}
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
	for format, pack := range formats {
		whole := pack(t, release...)
		for n := 0; n < len(whole); n += 7 {
			_, err := contents(t.Context(), file(t, whole[:n]), unpack.Options{})
			if err == nil {
				t.Fatalf("%s: %d of %d bytes were taken for the whole", format, n, len(whole))
			}
			if n >= 20 && !strings.Contains(err.Error(), "download it again") {
				t.Fatalf("%s cut at %d: %v, want to download it again", format, n, err)
			}
		}
	}
}

func TestNotAnArchive(t *testing.T) {
	for name, archive := range map[string]string{"page": file(t, []byte("<!DOCTYPE html>")), "empty": file(t, nil)} {
		_, err := contents(t.Context(), archive, unpack.Options{})
		if err == nil || !strings.Contains(err.Error(), "is not a .tar.gz or .zip file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := contents(t.Context(), t.TempDir(), unpack.Options{})
	if err == nil || !strings.Contains(err.Error(), "use the path of the archive") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := contents(t.Context(), filepath.Join(t.TempDir(), "none"), unpack.Options{}); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("no file: %v, want fs.ErrNotExist", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := contents(ctx, file(t, tarball(t, release...)), unpack.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Read: %v, want context.Canceled", err)
	}
}

// Read skips what is not kept of a zip file, bytes over the bound included, and returns the
// errors of its caller unchanged.
func TestReadSkipsTheRest(t *testing.T) {
	items := []item{{name: "big", text: strings.Repeat("x", 100)}, {name: "a/small", text: "small"}, {name: "link",
		link: "big"}}
	for format, pack := range formats {
		archive := file(t, pack(t, items...))
		o := unpack.Options{Keep: func(name string) bool { return name == "a/small" }, MaxFile: 10}
		if got, err := contents(t.Context(), archive, o); err != nil || !slices.Equal(got, []string{"a/small: small"}) {
			t.Errorf("%s: read %q, %v", format, got, err)
		}
		want := errors.New("no more")
		if err := unpack.Read(t.Context(), archive, o, func(unpack.Entry,
			io.Reader) error {
			return want
		}); err != want {
			t.Errorf("%s: an error of the caller comes back as %v", format, err)
		}
	}
}
