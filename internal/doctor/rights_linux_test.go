package doctor

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// inside is set in the child of ordinary.
const inside = "EMBERD_TEST_ORDINARY"

// ordinary tells whether this process heeds modes. As root, who does not, it runs the calling
// test again as a user without rights, in a user namespace of its own.
func ordinary(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 || os.Getenv(inside) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil && len(out) == 0:
		t.Skipf("a user namespace cannot be made here: %v", err)
	case err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Errorf("as a user without rights: %v\n%s", err, out)
	}
	return false
}

func TestFoldersThatMayNotBeWritten(t *testing.T) {
	t.Parallel()
	if !ordinary(t) {
		return
	}
	h := newHome(t)
	h.ok(os.Chmod(h.Data, 0o500))
	h.wants("bad data-unwritable", false, func() []Finding { return Access(h.Places) })
	h.ok(os.Chmod(h.State, 0o300))
	h.wants("bad state-unwritable", false, func() []Finding { return Access(h.Places) })
}

func TestVaultsThatMayNotBeUsed(t *testing.T) {
	t.Parallel()
	if !ordinary(t) {
		return
	}
	h := home{t: t, dir: t.TempDir()}
	h.write("closed/A.md", "a", 0o600)
	defer os.Chmod(h.dir, 0o700)
	defer os.Chmod(h.dir+"/closed", 0o700)
	for _, test := range []struct {
		path string
		mode os.FileMode
		want string
	}{
		{h.dir + "/closed", 0, "look vault-unreadable"},
		{h.dir, 0o500, "bad vault-readonly"},
		{h.dir, 0o300, "bad vault-unreadable"},
	} {
		h.ok(os.Chmod(test.path, test.mode))
		s, err := Vault(t.Context(), h.dir, "", nil, nil)
		h.ok(err)
		if got := strings.Join(codes(s.Findings), ", "); got != test.want {
			t.Errorf("mode %04o: %q, want %q", test.mode, got, test.want)
		}
		for _, f := range s.Findings { // what it says mends it
			if f.Next != "" {
				if out, err := exec.Command("sh", "-c", f.Next).CombinedOutput(); err != nil {
					t.Errorf("%s: %v %s", f.Next, err, out)
				}
			}
		}
		if s, err = Vault(t.Context(), h.dir, "", nil, nil); err != nil || len(codes(s.Findings)) > 0 {
			t.Errorf("mended, there is %q, %v", codes(s.Findings), err)
		}
	}
}

// The limits of this very system are read, and watches of this process counted.
func TestWatchesOfThisSystem(t *testing.T) {
	t.Parallel()
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
	if err != nil {
		t.Skipf("no watches can be had here: %v", err)
	}
	defer syscall.Close(fd)
	if _, err := syscall.InotifyAddWatch(fd, t.TempDir(), syscall.IN_CREATE); err != nil {
		t.Skipf("no watch can be had here: %v", err)
	}
	if watches, instances := inUse("/proc"); watches < 1 || instances < 1 {
		t.Errorf("counted %d watches and %d instances", watches, instances)
	}
	if got := codes(Watches("/proc", 1<<40, false)); len(got) != 1 || got[0] != "look watches-few" {
		t.Errorf("for a vault of too many folders: %q", got)
	}
}
