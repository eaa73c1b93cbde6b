package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// The rights of each kind of path. A right to a folder holds for all below it.
const (
	reading = ll.AccessFSReadFile | ll.AccessFSReadDir
	running = reading | ll.AccessFSExecute
	control = ll.AccessFSReadFile | ll.AccessFSReadDir | ll.AccessFSWriteFile | ll.AccessFSIoctlDev
	writing = reading | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRefer |
		ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSym | ll.AccessFSMakeSock |
		ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSResolveUnix
	ofFiles = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSExecute |
		ll.AccessFSIoctlDev | ll.AccessFSResolveUnix
)

// The versions from which rules can be enforced without taking what is needed.
const (
	// Before, no file could be moved from one folder to another, allowed or not.
	moves = 2
	// Before, each thread got a domain of its own, and a helper started by one of them
	// could not be ended by another.
	together = 8
)

// Restrict puts the whole process, all its threads and all that it starts from now on
// under rules, for good, and makes sure that no program it starts gets privileges that it
// has not itself. A kernel without Landlock is not an error: [State] reports why nothing
// is enforced. Calls add up: what one took, none gives back.
func Restrict(r *Policy) (State, error) {
	abi, err := ll.LandlockGetABIVersion()
	switch {
	case errors.Is(err, unix.ENOSYS):
		return State{Why: "this kernel does not support Landlock (Linux 5.19 or later required)"}, nil
	case errors.Is(err, unix.EOPNOTSUPP):
		return State{Why: "Landlock is disabled in this kernel (add landlock to lsm= at boot)"}, nil
	case err != nil:
		return State{Why: fmt.Sprintf("Landlock is not available (%v)", err)}, nil
	case abi < moves:
		return State{Why: "the Landlock version of this kernel does not support file moves between folders (Linux " +
			"5.19 or later required)"}, nil
	}
	rules, err := r.landlock()
	if err != nil {
		return State{}, err
	}
	config := landlock.V11
	if abi < together {
		config.Scoped &^= ll.ScopeSignal
	}
	if err := config.BestEffort().Restrict(rules...); err != nil {
		return State{}, fmt.Errorf("cannot run this process in a sandbox: %w", err)
	}
	return State{ABI: abi}, nil
}

// landlock are the rules as the library takes them.
func (r *Policy) landlock() ([]landlock.Rule, error) {
	var rules []landlock.Rule
	for _, kind := range []struct {
		paths  []string
		rights landlock.AccessFSSet
	}{
		{r.Write, writing}, {r.Read, reading}, {r.Run, running}, {r.Devices, control},
		{r.Sockets, ll.AccessFSResolveUnix},
	} {
		for _, path := range kind.paths {
			info, err := os.Stat(path)
			switch {
			case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
				continue
			case err != nil:
				return nil, fmt.Errorf("cannot run this process in a sandbox: %w", err)
			case info.IsDir():
				rules = append(rules, landlock.PathAccess(kind.rights, path))
			default:
				rules = append(rules, landlock.PathAccess(kind.rights&ofFiles, path))
			}
		}
	}
	for _, port := range r.Connect {
		rules = append(rules, landlock.ConnectTCP(port))
	}
	if r.Names { // by UDP, and by TCP what does not fit
		rules = append(rules, landlock.ConnectTCP(53), landlock.ConnectSendUDP(53), landlock.BindUDP(0))
	}
	return rules, nil
}

// Undumpable keeps other programs of the same user, unless they have the privilege, from
// reading the memory of this process, by a debugger or /proc, and the kernel from writing
// it into a file when the process ends (PR_SET_DUMPABLE, prctl(2)). A program that it
// starts is as it would be otherwise.
func Undumpable() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot block other processes from reading the memory of this process: %w", err)
	}
	return nil
}
