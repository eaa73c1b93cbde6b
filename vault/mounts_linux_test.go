package vault_test

import (
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"emberd/vault"
)

// mounted is a small file system of another kind, or the test is skipped: it takes
// root and the programs.
func mounted(t *testing.T, make, mount []string) string {
	t.Helper()
	for _, program := range []string{make[0], mount[0]} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may mount")
	}
	image, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	must(t, os.WriteFile(image, nil, 0o600))
	must(t, os.Truncate(image, 64<<20))
	run := func(args ...string) error {
		out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
		if err != nil {
			t.Logf("%v: %s", args, out)
		}
		return err
	}
	must(t, run(append(make, image)...))
	device, err := exec.CommandContext(t.Context(), "losetup", "--find", "--show", image).Output()
	if err != nil {
		t.Skipf("no loop device: %v", err)
	}
	loop := strings.TrimSpace(string(device))
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "--detach", loop).CombinedOutput(); err != nil {
			t.Errorf("losetup: %v: %s", err, out)
		}
	})
	if run(append(mount, loop, dir)...) != nil {
		t.Skipf("%s cannot mount here", mount[0])
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// Case 58 on file systems that are really different, with the state on another one,
// and case 57 where Note and note are one name.
func TestCase58OtherFileSystems(t *testing.T) {
	for name, c := range map[string]struct{ make, mount []string }{
		"exfat-fuse": {[]string{"mkfs.exfat"}, []string{"mount.exfat-fuse"}},
		"lowntfs-3g": {[]string{"mkntfs", "-F", "-Q", "-q"}, []string{"lowntfs-3g", "-o", "ignore_case"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, nil)
			d.dir = mounted(t, c.make, c.mount)
			d.save(t, "a.md", before)
			d.reopen(t)
			t.Cleanup(func() { d.vault.Close() })
			res, err := d.writer.Update(t.Context(), "a.md", stamp("1"))
			wantOutcome(t, res, err, vault.Written, "")
			res, err = d.writer.Create(t.Context(), "Note.md", []byte("new"))
			wantOutcome(t, res, err, vault.Written, "")
			for _, other := range []string{"note.md", "NOTE.md"} {
				res, err = d.writer.Create(t.Context(), other, []byte("other"))
				wantOutcome(t, res, err, vault.Refused, vault.NameTaken)
			}
			res, err = d.writer.Move(t.Context(), "Note.md", "Archive/Note.md")
			wantOutcome(t, res, err, vault.Written, "")
			res, err = d.writer.Remove(t.Context(), "Archive/Note.md", sha256.Sum256([]byte("new")))
			wantOutcome(t, res, err, vault.Written, "")
			d.finish(t)
			if got := d.read(t, "a.md"); got != stamped("1", before) {
				t.Errorf("the note is %q", got)
			}
			t.Logf("without exchange: %v", d.writer.Fallback())
			d.contested(t)
		})
	}
}

// contested has a human save just before names change.
func (d *desk) contested(t *testing.T) {
	t.Helper()
	saved := false
	d.step = func(op, name string) error {
		if name == "a.md" && (op == "exchange" && !d.writer.FellBack() || op == "rename") && !saved {
			saved = true
			d.save(t, "a.md", newer)
		}
		return nil
	}
	res, err := d.writer.Update(t.Context(), "a.md", stamp("2"))
	wantOutcome(t, res, err, vault.Conflict, vault.HumanChanged)
	d.finish(t)
	if got := d.read(t, "a.md"); got != newer {
		t.Errorf("the note is %q, want what the human saved", got)
	}
}

// A vault that is mounted read-only refuses for that reason, and the record of the
// attempt is gone.
func TestAVaultThatIsMountedReadOnly(t *testing.T) {
	d := newDesk(t, files{"a.md": "x"})
	if err := unix.Mount(d.dir, d.dir, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("mounting a folder onto itself takes root: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(d.dir, unix.MNT_DETACH)) })
	must(t, unix.Mount("", d.dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	d.reopen(t)
	t.Cleanup(func() { d.vault.Close() })
	for _, name := range []string{"b.md", "New/b.md"} {
		res, err := d.writer.Create(t.Context(), name, []byte("y"))
		wantOutcome(t, res, err, vault.Refused, vault.DiskReadOnly)
	}
	res, err := d.writer.Update(t.Context(), "a.md", stamp("1"))
	wantOutcome(t, res, err, vault.Refused, vault.DiskReadOnly)
	d.finish(t)
}
