package models

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A user who can rename a directory on the way can put another one in its place.
func TestWayToAnEngine(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(top, dir string) error
		want   string // "" where it may be used
	}{
		{"nobody else may write", func(string, string) error { return nil }, ""},
		{"the parent", func(top, _ string) error { return os.Chmod(filepath.Join(top, "a"), 0o777) },
			"a is writable by all users"},
		{"one higher up", func(top, _ string) error { return os.Chmod(top, 0o777) }, "is writable by all users"},
		{"a place like /tmp on the way", func(top, _ string) error { return os.Chmod(top, 0o777|fs.ModeSticky) }, ""},
		{"a place like /tmp itself", func(_, dir string) error { return os.Chmod(dir, 0o777|fs.ModeSticky) },
			"is writable by all users"},
		{"another user's on the way", func(top, _ string) error { return os.Chown(top, 12345, 12345) },
			"belongs to another user"},
		{"another user's link", func(top, _ string) error {
			return os.Lchown(filepath.Join(top, "link"), 12345,
				12345)
		}, "link belongs to another user"},
		{"what the link leads through", func(top, _ string) error {
			return os.Chmod(filepath.Join(top, "b"),
				0o777)
		}, "b is writable by all users"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if strings.HasPrefix(tt.name, "another user's") && os.Getuid() != 0 {
				t.Skip("giving something away takes root")
			}
			top := t.TempDir()
			dir := filepath.Join(top, "a", "lib")
			if err := errors.Join(os.MkdirAll(dir, 0o755), os.Mkdir(filepath.Join(top, "b"), 0o755),
				os.Symlink("../a", filepath.Join(top, "b", "back")), os.Symlink(filepath.Join(top, "b/back"),
					filepath.Join(top, "link")),
				tt.change(top, dir)); err != nil {
				t.Fatal(err)
			}
			err := checkOwner(filepath.Join(top, "link", "lib"))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("checkOwner: %v, want %q", err, tt.want)
			}
		})
	}
}

func TestLinksWithoutEnd(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := checkOwner(filepath.Join(dir, "loop")); err == nil || !strings.Contains(err.Error(), "too many symbolic links") {
		t.Errorf("checkOwner: %v, want too many links", err)
	}
}

func TestFileOwner(t *testing.T) {
	const me, other, top = 1000, 1001, 65534
	for _, tt := range []struct {
		name string
		h    fileOwner
		way  bool
		want string
	}{
		{"mine", fileOwner{0o700, me, me}, false, ""},
		{"root's", fileOwner{0o755, 0, 0}, false, ""},
		{"root's, and its group's", fileOwner{0o775, 0, 50}, false, ""},
		{"in a sandbox, whose root has no number", fileOwner{0o755, top, top}, true, ""},
		{"another's", fileOwner{0o700, other, me}, true, "another user"},
		{"mine, and a group's", fileOwner{0o770, me, 100}, false, "by its group"},
		{"mine, and a group's, on the way", fileOwner{0o770, me, 100}, true, "by its group"},
		{"mine, and that of my own group", fileOwner{0o770, me, me}, false, ""},
		{"everybody's", fileOwner{0o702, me, me}, true, "by all users"},
		{"root's and everybody's", fileOwner{0o777, 0, 0}, true, "by all users"},
		{"/tmp", fileOwner{0o777 | fs.ModeSticky, 0, 0}, true, ""},
		{"/tmp itself", fileOwner{0o777 | fs.ModeSticky, 0, 0}, false, "by all users"},
		{"a link of mine", fileOwner{0o777 | fs.ModeSymlink, me, me}, true, ""},
	} {
		got := tt.h.fault(me, top, tt.way)
		if got == "" != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
