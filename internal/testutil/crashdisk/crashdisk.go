// Package crashdisk is a disk in memory that forgets: the tool for proving that what a program
// acknowledged survives a power loss.
//
// A [Disk] is a [durable.FS] that knows, for every file, which bytes have been synced, and for
// every directory, which names. It is as pessimistic as POSIX allows and sometimes more so than
// any one file system:
//
//   - Unsynced data may be gone, cut short at any byte, read as NUL bytes at full length (ext4),
//     or miss some of its 4 KiB blocks.
//   - Unsynced names are kept or dropped one change at a time, in any combination. A rename is one
//     change until one of its two directories is synced; from then on each directory stands for
//     itself, so that a file may be found under both names or under none. A rename whose source
//     name did not come to be is dropped with it.
//   - Syncing a file does not sync its name, and a directory that is lost takes its contents along.
//   - An unsynced Truncate may be undone.
//   - Data written before a Sync that failed never becomes durable by a later Sync of that file,
//     though it can still be read (the pages are marked clean; see package durable).
//   - A SyncDir that failed synced nothing; a later one may succeed.
//
// What was synced is there, whole, after every crash.
//
// There are no symbolic links and no permissions, a directory cannot be moved into another
// directory (errors.ErrUnsupported), names are cleaned and then taken from the root, and
// modification times count operations instead of seconds. A file keeps its inode number over Crash
// and Kill, and its modification time unless a crash took something from it.
//
// # Use
//
// Run the program once on a fresh Disk and read [Disk.Ops]. Then for each n below that, run it on
// a fresh Disk with [Disk.StopAfter](n), take the disk after several [Disk.Crash] and one
// [Disk.Kill], and let the program recover from each. [Disk.Fail] injects errors in the same way.
// Crash and Kill end the old disk's power but leave it as it is, so that it can crash again, with
// other luck. A given rng and the same operations in the same order give the same disk.
//
// All methods may be called from several goroutines.
package crashdisk

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"emberd/internal/durable"
)

// ErrPowerOff is the cause in the error of every operation after [Disk.StopAfter]'s count was
// reached, or after the disk crashed or was killed.
var ErrPowerOff = errors.New("the power is off")

// defaultCapacity is far more than a test writes.
const defaultCapacity = 1 << 40

// Disk is one disk in memory during one power cycle. See the package documentation.
type Disk struct {
	mu       sync.Mutex // guards all below and every node
	root     *node
	pending  []*change // unsynced changes of names, oldest first
	capacity uint64
	used     uint64 // bytes in files that have a name
	inodes   uint64 // handed out
	epoch    int    // operations of the disks before the last Crash or Kill
	ops      int
	stop     int
	off      bool
	faults   []*fault
	trace    []string
}

var _ durable.FS = (*Disk)(nil)

// New returns an empty disk: a root directory and 1 TiB.
func New() *Disk {
	d := &Disk{root: newDir(), capacity: defaultCapacity, inodes: 1, stop: math.MaxInt}
	d.root.inode = d.inodes
	return d
}

// Ops is how many mutating operations (see [Op]) have been applied or have failed on a disk
// with power. A Write counts as one, however long.
func (d *Disk) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// StopAfter cuts the power once n mutating operations have been counted: every operation after
// the nth returns [ErrPowerOff] and has no effect. The count is that of [Disk.Ops].
func (d *Disk) StopAfter(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop = n
}

// Limit sets the capacity in bytes of file content; names and directories take none. A Write that
// exceeds it writes what fits and returns syscall.ENOSPC. The limit stays after Crash and Kill.
func (d *Disk) Limit(capacity uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.capacity = capacity
}

// Trace is a line for every mutating operation and every injected error, numbered as [Disk.Ops]
// counts, with the lines of the disks before the last Crash or Kill in front.
func (d *Disk) Trace() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.trace)
}

// time is what modification times show.
func (d *Disk) time() int { return d.epoch + d.ops }

func (d *Disk) free() uint64 { return d.capacity - min(d.used, d.capacity) }

// begin lets an operation in, or returns the cause of its failure. It is called with mu held.
// For a write that is to fail, short reports how many of its bytes are not to arrive.
func (d *Disk) begin(op Op, names ...string) (short int, err error) {
	if d.off || d.ops >= d.stop {
		return 0, ErrPowerOff
	}
	if op.mutates() {
		d.ops++
	}
	short, err = d.injected(op, names)
	if op.mutates() || err != nil {
		d.note(op, names, err)
	}
	return short, err
}

func (d *Disk) note(op Op, names []string, err error) {
	line := fmt.Sprintf("%d %s %s", d.ops, op, strings.Join(names, " -> "))
	if err != nil {
		line += ": " + err.Error()
	}
	d.trace = append(d.trace, line)
}
