package watcher

import (
	"fmt"
	"maps"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestLostEventsMakeAScan(t *testing.T) {
	t.Parallel()
	d := disk{t, t.TempDir()}
	var files []*os.File
	for i := range 50 {
		file, err := os.Create(d.path(fmt.Sprintf("%d.md", i)))
		d.ok(err)
		defer file.Close()
		files = append(files, file)
	}
	f := follow(t, d.dir, soon())
	f.buffer.mu.Lock() // nobody reads events any more
	for i := range 20_000 {
		_, err := files[i%50].WriteString("one more line\n")
		d.ok(err)
	}
	d.note("a/new/folder/note.md", "among all that")
	f.buffer.mu.Unlock()
	f.settled()
	if got := f.Status().Overflows; got == 0 {
		t.Error("the system dropped no events; the test needs more writes")
	}
	d.write("a/new/folder/note.md", "edited afterwards")
	f.audit()
}

func TestASourceOfEventsThatBreaksIsReplaced(t *testing.T) {
	t.Parallel()
	d := disk{t, t.TempDir()}
	d.note("a/note.md", "text")
	f := follow(t, d.dir, soon())
	first := f.feed.fs // Run sleeps, and nothing wakes it
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	d.write("a/note.md", "written while there are no events")
	f.settled()
	d.write("a/note.md", "written afterwards")
	f.audit()
}

func TestMoreFoldersThanMayBeWatched(t *testing.T) {
	t.Parallel()
	d := disk{t, t.TempDir()}
	d.populate("notes", 500)
	opt := soon()
	opt.Poll = 20 * time.Millisecond
	f := follow(t, d.dir, opt, func(w *Watcher) { w.maxFolders = 5 })
	if s := f.Status(); s.Mode != Polling || s.Reason == "" || s.Watches != 5 {
		t.Errorf("status %+v, want polling with 5 watches", s)
	}
	d.write("notes/00/9/note 499.md", "edited where no watch is")
	f.audit()
}

func TestNothingButFilesIsFollowed(t *testing.T) {
	t.Parallel()
	d, outside := disk{t, t.TempDir()}, disk{t, t.TempDir()}
	outside.note("secret/canary.md", "outside the vault")
	d.note("real/note.md", "text")
	d.ok(os.Symlink(outside.path("secret"), d.path("folder")))
	d.ok(os.Symlink(outside.path("secret/canary.md"), d.path("link.md")))
	d.ok(os.Symlink(".", d.path("real/loop")))
	d.ok(os.Symlink("real/note.md", d.path("inside.md")))
	d.write(".evicted.md.icloud", "")
	d.write(".picture.png.icloud", "")
	d.write("caf\xe9.md", "text")
	d.note("dir\xff/note.md", "text")
	d.ok(syscall.Mkfifo(d.path("pipe.md"), 0o600))
	d.ok(syscall.Mkfifo(d.path("pipe"), 0o600))
	socket, err := net.Listen("unix", d.path("s.md"))
	d.ok(err)
	defer socket.Close()

	f := follow(t, d.dir, soon())
	f.settled()
	if len(f.told) != 1 {
		t.Errorf("told of %v, want real/note.md alone", f.told)
	}
	want := map[string]string{"folder": Symlink, "link.md": Symlink, "inside.md": Symlink, "real/loop": Symlink,
		"pipe.md": NotRegular, "s.md": NotRegular, "evicted.md": NotLocal, "caf\xe9.md": BadName, "dir\xff": BadName}
	if got := f.Status().Skipped; !maps.Equal(got, want) {
		t.Errorf("skipped are %q, want %q", got, want)
	}

	d.remove("caf\xe9.md")
	d.remove("dir\xff")
	d.remove("pipe.md")
	d.write("pipe.md", "a note now")
	d.remove("real/note.md")
	d.ok(os.Symlink(outside.path("secret/canary.md"), d.path("real/note.md")))
	maps.DeleteFunc(want, func(p, why string) bool { return why == BadName || p == "pipe.md" })
	want["real/note.md"] = Symlink
	f.until("events to tell what is skipped", func() bool { return maps.Equal(f.Status().Skipped, want) })
	f.settled()
	d.rename("real", "kept")
	d.ok(os.Symlink(outside.path("secret"), d.path("real")))
	d.write("kept/new.md", "text")
	f.audit()
}

func TestFoldersBelowFolders(t *testing.T) {
	t.Parallel()
	d := disk{t, t.TempDir()}
	deepest, err := os.OpenRoot(d.dir)
	d.ok(err)
	for range maxDepth + 20 {
		d.ok(deepest.Mkdir("a", 0o700))
		below, err := deepest.OpenRoot("a")
		d.ok(err)
		d.ok(deepest.Close())
		deepest = below
	}
	defer deepest.Close()
	d.ok(deepest.WriteFile("note.md", nil, 0o600))
	d.write("note.md", "text")
	f := follow(t, d.dir, soon())
	if len(f.told) != 1 || len(f.Status().Skipped) != 1 {
		t.Errorf("told of %d notes, want the one at the top, and why the other is not; status %+v", len(f.told), f.Status())
	}
}

func TestFoldersThatAreRefused(t *testing.T) {
	d := disk{t, t.TempDir()}
	d.write("file.md", "text")
	d.ok(os.Symlink("loop", d.path("loop")))
	for _, name := range []string{"file.md", "loop"} {
		if _, err := New(d.path(name), nil); err == nil {
			t.Errorf("New accepted %s", name)
		}
	}
	if _, err := New(d.dir, &Options{Grace: -1}); err == nil {
		t.Error("New accepted a negative grace")
	}
}

func TestARootBehindALink(t *testing.T) {
	t.Parallel()
	d := disk{t, t.TempDir()}
	d.note("real/note.md", "text")
	d.ok(os.Symlink("real", d.path("link")))
	f := follow(t, d.path("link"), soon())
	d.write("real/note.md", "edited")
	f.dir = d.path("real")
	f.audit()
}
