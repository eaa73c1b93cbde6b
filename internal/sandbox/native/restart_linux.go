package native

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"syscall"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"emberd/internal/sandbox"
)

// The rights of each kind of path. A right to a folder holds for all below it.
const (
	listing = ll.AccessFSReadDir
	reading = ll.AccessFSReadFile | ll.AccessFSReadDir
	running = ll.AccessFSReadFile | ll.AccessFSExecute
	control = reading | ll.AccessFSWriteFile | ll.AccessFSIoctlDev
	ofFiles = ll.AccessFSReadFile | ll.AccessFSExecute | ll.AccessFSWriteFile | ll.AccessFSIoctlDev
)

// Restart puts this process under the rules of Landlock for p and executes the same program again,
// with args, the same environment and all descriptors that are not closed on exec. It returns only
// an error: [ErrUnavailable] if the kernel has no Landlock. No library may have been loaded yet.
func Restart(p *Policy, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find the path of this program: %w", err)
	}
	runtime.LockOSThread() // and never unlocked: after an error the thread is of no use
	if err := restrictThread(p, self); err != nil {
		return err
	}
	return fmt.Errorf("cannot restart %s in its sandbox: %w", self, syscall.Exec(self, args, os.Environ()))
}

// restrictThread puts the calling thread under rules in which it can execute self and nothing else.
func restrictThread(p *Policy, self string) error {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return fmt.Errorf("%w: Landlock is missing or disabled in this kernel (%w)", ErrUnavailable, err)
	}
	attr := handled(abi)
	rules, err := ll.LandlockCreateRuleset(attr, 0)
	if err != nil {
		return fmt.Errorf("cannot create the sandbox rules: %w", err)
	}
	defer unix.Close(rules)
	read, devices := sandbox.NativeSystem()
	for _, kind := range []struct {
		paths  []string
		rights uint64
	}{
		{slices.Concat(read, p.Files), reading}, {p.Folders, listing}, {devices, control},
		{[]string{self, sandbox.Loader(self)}, running},
	} {
		for _, path := range kind.paths {
			if err := permit(rules, path, kind.rights&attr.HandledAccessFS); err != nil {
				return fmt.Errorf("cannot allow access to %s in the sandbox: %w", path, err)
			}
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot prevent this process from gaining privileges: %w", err)
	}
	if err := ll.LandlockRestrictSelf(rules, 0); err != nil {
		return fmt.Errorf("cannot enter the sandbox: %w", err)
	}
	return nil
}

// handled returns everything that a version of Landlock can take away.
func handled(abi int) *ll.RulesetAttr {
	attr := &ll.RulesetAttr{HandledAccessFS: ll.AccessFSMakeSym<<1 - 1}
	for since, right := range map[int]uint64{2: ll.AccessFSRefer, 3: ll.AccessFSTruncate, 5: ll.AccessFSIoctlDev,
		9: ll.AccessFSResolveUnix} {
		if abi >= since {
			attr.HandledAccessFS |= right
		}
	}
	if abi >= 4 {
		attr.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
	}
	if abi >= 6 {
		attr.Scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	return attr
}

// permit adds a path to the rules. One that does not exist or cannot be reached is left out.
func permit(rules int, path string, rights uint64) error {
	if path == "" {
		return nil
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return err
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	if rights == 0 {
		return nil
	}
	return ll.LandlockAddPathBeneathRule(rules, &ll.PathBeneathAttr{AllowedAccess: rights, ParentFd: fd}, 0)
}
