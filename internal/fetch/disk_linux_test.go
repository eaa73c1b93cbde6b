package fetch

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// disk is a folder on a small disk of its own.
func disk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mounting a tmpfs takes root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func remount(t *testing.T, dir string, flags uintptr, options string) {
	t.Helper()
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|flags, options); err != nil {
		t.Fatal(err)
	}
}

func wantText(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, part := range want {
		if !strings.Contains(got, part) {
			t.Errorf("error %q, want it to have %q", got, part)
		}
	}
}

// Where the server tells no size, a full disk is found out while writing, and what fitted is
// gone on with when there is room.
func TestDiskFull(t *testing.T) {
	dir := disk(t, "6m")
	data := content(large)
	s := newShelf(t, data, `"v1"`)
	source := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") != "" {
			s.ServeHTTP(w, r)
			return
		}
		w.Header().Set("ETag", `"v1"`)
		w.(http.Flusher).Flush()
		_, _ = w.Write(data)
	})
	o := Options{Source: source, To: filepath.Join(dir, "m.gguf")}
	wantText(t, refused(t, o), "no space left on the disk that holds "+dir, "make room", "to go on from there")
	remount(t, dir, 0, "size=64m")
	if file := fetched(t, o); file.Resumed < checkpoint {
		t.Errorf("resumed %d bytes, want those of a checkpoint", file.Resumed)
	}
	holds(t, o.To, data)
}

func TestTooLittleRoomIsToldFirst(t *testing.T) {
	dir := disk(t, "1m")
	data := content(2 << 20)
	to := filepath.Join(dir, "m.gguf")
	from := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(from, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{newShelf(t, data, "").URL, from} {
		wantText(t, refused(t, Options{Source: source, To: to}), "no space left on the disk that holds "+dir, "1.0 MB are free and 2.1 MB are needed; make room and run this again")
		if _, err := Fetch(t.Context(), Options{Source: source, To: to, Most: 4 << 20}); !errors.Is(err, ErrNoSpace) {
			t.Errorf("got %v, want it told apart by ErrNoSpace", err)
		}
		only(t, to)
	}
}

func TestReadOnlyDisk(t *testing.T) {
	dir := disk(t, "1m")
	remount(t, dir, syscall.MS_RDONLY, "")
	wantText(t, refused(t, Options{Source: newShelf(t, content(10), "").URL, To: filepath.Join(dir, "m.gguf")}), dir+" cannot be written to: choose another folder")
}
