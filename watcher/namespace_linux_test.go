package watcher

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inside is set in the child of inNamespace.
const inside = "EMBERD_TEST_NAMESPACE"

// inNamespace runs the calling test again in a user namespace of its own, as the
// given user, and tells whether this is that run. User 0 may lower its limits
// there, others lack the right to read everything.
func inNamespace(t *testing.T, uid int) bool {
	t.Helper()
	if os.Getenv(inside) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil && len(out) == 0:
		t.Skipf("a user namespace cannot be made here: %v", err)
	case err != nil:
		t.Errorf("in the namespace: %v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("in the namespace: %s", out)
	}
	return false
}

// limit sets a limit of this user namespace.
func limit(t *testing.T, name string, n int) {
	t.Helper()
	if err := os.WriteFile("/proc/sys/user/"+name, fmt.Append(nil, n), 0); err != nil {
		t.Skipf("%s cannot be set here: %v", name, err)
	}
}

func TestWithoutWatchesThereIsPolling(t *testing.T) {
	t.Parallel()
	if !inNamespace(t, 0) {
		return
	}
	for name, test := range map[string]struct{ few, many int }{
		"max_inotify_watches":   {3, 1000},
		"max_inotify_instances": {0, 10},
	} {
		t.Run(name, func(t *testing.T) {
			limit(t, name, test.few)
			defer limit(t, name, 1000)
			d := disk{t, t.TempDir()}
			d.populate("notes", 300)
			opt := soon()
			opt.Poll = 20 * time.Millisecond
			f := follow(t, d.dir, opt)
			if s := f.Status(); s.Mode != Polling || !strings.Contains(s.Reason, "fs.inotify.max_user") {
				t.Errorf("status %+v, want polling with the name of the limit", s)
			}
			d.write("notes/00/5/note 299.md", "edited without a watch")
			d.note("a/b/c.md", "made without a watch")
			d.remove("notes/00/0/note 0.md")
			f.settled()
			limit(t, name, test.many)
			f.until("watches again", func() bool { return f.Status().Mode == Watching })
			d.write("a/b/c.md", "edited with a watch")
			f.settled()
			f.audit()
		})
	}
}

func TestAnUnmountedRootIsAway(t *testing.T) {
	t.Parallel()
	if !inNamespace(t, 0) {
		return
	}
	d := disk{t, t.TempDir()}
	mount := func() {
		t.Helper()
		if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, ""); err != nil {
			t.Skipf("mounting a tmpfs is not permitted in this user namespace: %v", err)
		}
	}
	mount()
	d.populate(".", 100)
	f := follow(t, d.dir, soon())
	d.ok(syscall.Unmount(d.dir, 0)) // nothing of the watcher's keeps it busy
	f.buffer.markAll()              // in place of the pulse
	f.frozen()
	mount()
	d.populate(".", 100)
	f.buffer.markAll()
	f.thawed()
	f.settled()
	d.write("00/0/note 1.md", "edited on the new disk")
	f.audit()
	d.ok(syscall.Unmount(d.dir, 0))
}

func TestWatchesLostWithoutAnEventAreMissed(t *testing.T) {
	t.Parallel()
	if !inNamespace(t, 0) {
		return
	}
	d := disk{t, t.TempDir()}
	d.mkdir("disk")
	if err := syscall.Mount("tmpfs", d.path("disk"), "tmpfs", 0, ""); err != nil {
		t.Skipf("mounting a tmpfs is not permitted in this user namespace: %v", err)
	}
	d.note("disk/note.md", "text")
	w, err := New(d.dir, nil)
	d.ok(err)
	w.begin()
	d.ok(w.look(t.Context(), time.Now(), work{all: true}, quietly))
	if w.disturbed() {
		t.Error("the watches are not intact to begin with")
	}
	d.ok(syscall.Unmount(d.path("disk"), 0))
	d.mkdir("sentinel") // one event, read after the end of the watch
	<-w.buffer.wake
	w.buffer.take(time.Now().Add(time.Hour))
	if !w.disturbed() {
		t.Error("a watch that was lost is not missed")
	}
	w.closeFeed()
}

// Nothing tells that a disk below the root is back, so what is held back is
// looked for often.
func TestAnUnmountedFolderIsHeldBack(t *testing.T) {
	t.Parallel()
	if !inNamespace(t, 0) {
		return
	}
	d, disk := disk{t, t.TempDir()}, t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, ""); err != nil {
		t.Skipf("mounting a tmpfs is not permitted in this user namespace: %v", err)
	}
	d.mkdir("disk")
	bind := func() { t.Helper(); d.ok(syscall.Mount(disk, d.path("disk"), "", syscall.MS_BIND, "")) }
	bind()
	d.populate("disk", 100)
	opt := soon()
	opt.Poll, opt.Rescan = 20*time.Millisecond, time.Hour
	f := follow(t, d.dir, opt)
	d.ok(syscall.Unmount(d.path("disk"), 0))
	f.buffer.mark("disk")
	f.frozen()
	bind()
	f.thawed()
	f.audit()
	d.ok(syscall.Unmount(d.path("disk"), 0))
	d.ok(syscall.Unmount(disk, 0))
}

// What cannot be looked at is neither gone nor empty, and is not looked at again
// and again.
func TestAFolderThatIsClosedMeanwhile(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 && !inNamespace(t, 1000) {
		return
	}
	inBubble(t, 0, Options{Poll: never}, func(t *testing.T, d disk, f *follower) {
		d.note("folder/truncated.md", "text")
		d.note("folder/removed.md", "text")
		f.event("folder")
		d.write("folder/truncated.md", "")
		d.remove("folder/removed.md")
		f.event("folder")
		d.ok(os.Chmod(d.path("folder"), 0))
		f.pass(time.Hour)
		if len(f.gone()) > 0 || f.Status().Pending != 1 {
			t.Errorf("%v are gone, status %+v; want one pending", f.gone(), f.Status())
		}
		d.ok(os.Chmod(d.path("folder"), 0o700))
		f.event("folder")
		f.pass(time.Hour)
		f.settled()
	})
}

func TestAFolderThatCannotBeReadKeepsItsNotes(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 && !inNamespace(t, 1000) {
		return
	}
	d := disk{t, t.TempDir()}
	d.note("closed/note.md", "text")
	f := follow(t, d.dir, soon())
	d.ok(os.Chmod(d.path("closed"), 0))
	defer os.Chmod(d.path("closed"), 0o700)
	f.buffer.markAll()
	d.write("sentinel.md", "text")
	f.until("the sentinel", func() bool { _, ok := f.told["sentinel.md"]; return ok })
	if s := f.Status(); s.Pending > 0 || len(s.Skipped) != 1 {
		t.Errorf("status %+v, want nothing pending and one folder skipped", s)
	}
}
