package durable_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"emberd/internal/durable"
)

// childRole names the environment variable that turns this test binary into another process.
const childRole = "DURABLE_TEST_CHILD"

func TestMain(m *testing.M) {
	var err error
	switch role := os.Getenv(childRole); role {
	case "":
		os.Exit(m.Run())
	case "hold a lock":
		err = holdLock(os.Args[1])
	case "hit the size limit":
		err = hitSizeLimit(os.Args[1])
	default:
		err = fmt.Errorf("unknown role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child is this test binary in another role, not yet started.
func child(t *testing.T, role, arg string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self, arg)
	cmd.Env = append(os.Environ(), childRole+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestLinksAreNotFollowed(t *testing.T) {
	dir, disk := t.TempDir(), durable.OS{}
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	must(t, os.Symlink(target, link))
	_, err := disk.CreateAppend(link)
	wantCause(t, err, fs.ErrExist)

	save(t, disk, target, "secret")
	_, err = disk.OpenRead(link)
	wantCause(t, err, syscall.ELOOP)
	_, err = durable.AcquireLock(link)
	wantCause(t, err, syscall.ELOOP)
}

// Opening a pipe to read would wait for a writer, and this one has none.
func TestOpenReadRefusesPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, unix.Mkfifo(pipe, 0o600))
	_, err := durable.OS{}.OpenRead(pipe)
	wantCause(t, err, durable.ErrNotRegular)
}

func TestShortWrite(t *testing.T) {
	must(t, child(t, "hit the size limit", filepath.Join(t.TempDir(), "a")).Run())
}

// hitSizeLimit writes records of 11 bytes into a file that may have 20.
func hitSizeLimit(name string) error {
	limit := unix.Rlimit{Cur: 20, Max: 20}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	f, err := durable.OS{}.CreateAppend(name)
	if err != nil {
		return err
	}
	if n, err := io.WriteString(f, "0123456789\n"); n != 11 || err != nil {
		return fmt.Errorf("first write: got %d, %w, want 11, nil", n, err)
	}
	if n, err := io.WriteString(f, "0123456789\n"); n != 9 || !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("second write: got %d, %w, want 9, EFBIG", n, err)
	}
	if err := f.Truncate(11); err != nil {
		return err
	}
	if got, err := os.ReadFile(name); string(got) != "0123456789\n" || err != nil {
		return fmt.Errorf("after truncating: got %q, %w, want the first record", got, err)
	}
	return f.Close()
}

// On most file systems the exclusive rename of the kernel hides the other way, so it is tried on
// its own.
func TestRenameByLink(t *testing.T) {
	disk := at{durable.OS{}, t.TempDir()}
	save(t, disk, disk.path("a"), "mine")
	save(t, disk, disk.path("b"), "theirs")
	wantCause(t, durable.LinkAndUnlink(disk.path("a"), disk.path("b")), fs.ErrExist)
	wantListing(t, disk, "a b")
	must(t, durable.LinkAndUnlink(disk.path("a"), disk.path("c")))
	wantListing(t, disk, "b c")
	if got := content(t, disk, disk.path("c")); got != "mine" {
		t.Errorf("got %q, want %q", got, "mine")
	}
}
