package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/testutil/clitest"
	"emberd/op"
)

// drive is a file system in a file, at a folder of its own, as a disk that is plugged in and out.
type drive struct {
	t          *testing.T
	image, dir string
}

// newDrive makes a drive with eight notes, or skips: mounting takes root.
func newDrive(t *testing.T) *drive {
	t.Helper()
	d := &drive{t: t, image: filepath.Join(t.TempDir(), "image"), dir: filepath.Join(t.TempDir(), "Notes")}
	mkfs, err := exec.LookPath("mkfs.ext4")
	if os.Geteuid() != 0 || err != nil {
		t.Skip("mounting a disk takes root and mkfs.ext4")
	}
	if err := os.WriteFile(d.image, make([]byte, 16<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), mkfs, "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := d.run("mount", "-o", "loop", d.image, d.dir); err != nil {
		t.Skipf("no disk can be mounted here: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", d.dir).Run() })
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		if err := os.WriteFile(filepath.Join(d.dir, name+".md"), []byte("about the kettle\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d *drive) run(args ...string) (string, error) {
	out, err := exec.CommandContext(d.t.Context(), args[0], args[1:]...).CombinedOutput()
	return string(out), err
}

func (d *drive) mount() {
	d.t.Helper()
	if out, err := d.run("mount", "-o", "loop", d.image, d.dir); err != nil {
		d.t.Fatalf("mount: %s", out)
	}
}

func (d *drive) unmount() {
	d.t.Helper()
	if out, err := d.run("umount", d.dir); err != nil {
		d.t.Fatalf("umount: %s", out)
	}
}

// serveDrive starts a daemon with a vault on a drive.
func serveDrive(t *testing.T, home string, v *drive) *tester {
	t.Helper()
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	config := "vaults: [" + strconv.Quote(v.dir) + "]\n"
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	d := runDaemonIn(t, home)
	t.Cleanup(func() { _ = d.ended.stop(syscall.SIGTERM) })
	return d
}

// vaultIs waits until the vault's state is as is says.
func (d *tester) vaultIs(what string, is func(v *op.VaultStatus) bool) {
	d.t.Helper()
	d.until(what, func(s *op.StatusResult) bool { return len(s.Vaults) == 1 && is(&s.Vaults[0]) })
}

// A vault on a disk that is plugged in after the start, released, pulled, and plugged in again: no memory is lost,
// nothing counts as deleted, each request is answered, and what waited for the disk is written to it.
func TestAVaultThatComesAndGoes(t *testing.T) {
	v, home := newDrive(t), filepath.Join(clitest.ShortDir(t), "h")
	d := serveDrive(t, home, v)
	d.vaultIs("the notes are read", func(v *op.VaultStatus) bool { return v.Notes == 8 })
	m, err := op.Save.Call(t.Context(), d, &op.SaveRequest{Content: "the tide turns at six"})
	if err != nil {
		t.Fatal(err)
	}
	id := string(m.Memory.ID)
	promoted, err := op.Promote.Call(t.Context(), d, &op.PromoteRequest{ID: id, Force: true})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := v.run("umount", v.dir); err == nil {
		t.Errorf("a disk that is in use could be unmounted: %s", out)
	}

	if _, err := op.VaultRelease.Call(t.Context(), d, &op.VaultReleaseRequest{}); err != nil {
		t.Fatal(err)
	}
	v.unmount()
	d.vaultIs("the vault is away", func(v *op.VaultStatus) bool { return v.Released && !v.Away.IsZero() })
	found, err := op.Search.Call(t.Context(), d, &op.SearchRequest{Query: "kettle"})
	if err != nil || len(found.Hits) == 0 || found.Away.IsZero() {
		t.Errorf("a search without the disk answers %+v, %v", found, err)
	}
	text := "the tide turns at seven"
	edited, err := op.Edit.Call(t.Context(), d, &op.EditRequest{ID: id, Content: &text})
	if err != nil || edited.Pending == nil {
		t.Errorf("an edit without the disk answers %+v, %v", edited, err)
	}

	time.Sleep(4 * time.Second) // a disk that is back at once is not noticed to have been gone
	v.mount()
	answered := d.askUntil(func(v *op.VaultStatus) bool { return v.Away.IsZero() && v.Pending == 0 && v.Notes == 9 })
	t.Logf("%d requests answered while the disk came back", answered)
	note, err := os.ReadFile(filepath.Join(v.dir, promoted.Path))
	if err != nil || !strings.Contains(string(note), text) {
		t.Errorf("the note is %q, %v", note, err)
	}
	if st := d.status(); st.Memories != 1 || st.Trash != 0 || len(st.Warnings) > 0 {
		t.Errorf("status %+v", st)
	}

	// Without the disk there is an empty folder at the start.
	if err := d.ended.stop(syscall.SIGTERM); err != nil {
		t.Errorf("stop: %v", err)
	}
	v.unmount()
	d = serveDrive(t, home, v)
	d.vaultIs("the vault is away", func(v *op.VaultStatus) bool { return !v.Away.IsZero() && v.Notes == 9 })
	if st := d.status(); st.Memories != 1 || st.Trash != 0 {
		t.Errorf("without the disk, status %+v", st)
	}
	v.mount()
	d.askUntil(func(v *op.VaultStatus) bool { return v.Away.IsZero() && v.Absent == 0 && v.Notes == 9 })
	if _, err := os.Stat(filepath.Join(v.dir, promoted.Path)); err != nil {
		t.Errorf("the note: %v", err)
	}
}

// askUntil asks for the status without a pause, each time over a new connection, until the vault is as is says. Each
// request is answered, although the daemon may start again meanwhile.
func (d *tester) askUntil(is func(v *op.VaultStatus) bool) (answered int) {
	d.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); answered++ {
		c := api.NewClient(filepath.Join(d.home, "emberd.sock"), nil)
		st, err := op.Status.Call(d.t.Context(), c, &op.StatusRequest{})
		c.Close()
		if err != nil {
			d.t.Errorf("request %d: %v", answered, err)
		}
		if err == nil && len(st.Vaults) == 1 && is(&st.Vaults[0]) {
			return answered
		}
	}
	d.t.Errorf("after %d requests the vault is not as it should be", answered)
	return answered
}
