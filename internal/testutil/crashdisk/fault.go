package crashdisk

import (
	"cmp"
	"slices"
	"strings"
	"syscall"
)

// Op names a kind of operation. The empty Op in a [Fault] is any mutating one, so that its Nth
// runs along [Disk.Ops].
type Op string

// The operations. Create, write, sync, truncate, rename, remove, mkdir and syncdir are mutating;
// rename is Rename, RenameNoReplace and Exchange; read is Read, ReadAt and Stat of an open file.
const (
	OpCreate   Op = "create"
	OpOpen     Op = "open"
	OpRead     Op = "read"
	OpReadDir  Op = "readdir"
	OpLstat    Op = "lstat"
	OpWrite    Op = "write"
	OpSync     Op = "sync"
	OpTruncate Op = "truncate"
	OpClose    Op = "close"
	OpRename   Op = "rename"
	OpRemove   Op = "remove"
	OpMkdir    Op = "mkdir"
	OpSyncDir  Op = "syncdir"
	OpFree     Op = "free"
)

func (op Op) mutates() bool {
	switch op {
	case OpCreate, OpWrite, OpSync, OpTruncate, OpRename, OpRemove, OpMkdir, OpSyncDir:
		return true
	}
	return false
}

// Fault makes operations fail. The failing operation has no effect, with three exceptions: a
// write may arrive in part, a failed sync loses the data for good, and a failed close has closed.
type Fault struct {
	// Op is the kind of operation; empty is any mutating one.
	Op Op
	// Path must occur in the name, or in one of the names of a rename; empty is any. The
	// name of an open file is the one that it was opened under.
	Path string
	// Nth reports which of the matching operations fails, counted from 1 at the call of
	// [Disk.Fail]; 0 is the first too.
	Nth int
	// Err is the cause in the returned error; nil is syscall.EIO.
	Err error
	// Forever makes all matching operations after the Nth fail too.
	Forever bool
	// ShortBy, for writes only: how many bytes at the end of the write do not arrive. 0 is
	// all of them, so that nothing is written.
	ShortBy int
}

// fault is a Fault and how many operations have matched it.
type fault struct {
	Fault
	seen int
}

// Fail injects a fault. Several may be active; of those that are due at once the oldest wins.
// Faults do not outlive [Disk.Crash] or [Disk.Kill].
func (d *Disk) Fail(f Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, &fault{Fault: f})
}

// Heal ends all faults.
func (d *Disk) Heal() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = nil
}

func (d *Disk) injected(op Op, names []string) (short int, err error) {
	for _, f := range d.faults {
		if due := f.count(op, names); due && err == nil {
			short, err = f.ShortBy, cmp.Or[error](f.Err, syscall.EIO)
		}
	}
	return short, err
}

// count reports whether f is due at this operation.
func (f *fault) count(op Op, names []string) bool {
	if f.Op != op && !(f.Op == "" && op.mutates()) {
		return false
	}
	if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, f.Path) }) {
		return false
	}
	f.seen++
	nth := max(f.Nth, 1)
	return f.seen == nth || f.Forever && f.seen > nth
}
