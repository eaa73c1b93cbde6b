package device

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/record"
)

// Identity identifies this device in the log. It is kept under state/, which is never synced.
// When it no longer fits what it describes (state copied to another machine,
// data moved, another emberd wrote into our directory), a new identity is
// minted and the old directory becomes a foreign one, read but never written.
type Identity struct {
	path    string
	damaged bool // the file could not be read, and the rest is what else the state folder says

	ID      string `json:"device"`
	Machine string `json:"machine"`
	Data    uint64 `json:"data_inode"`
	State   uint64 `json:"state_inode,omitempty"` // of the folder of this file; one that was copied has another
	Segment uint32 `json:"last_segment"`          // highest number ever reserved
	// Heads are the stamps of the headers of the latest segments, by number.
	Heads map[uint32]string `json:"heads,omitempty"`
	// Forgotten is set before another data folder replaces the one
	// described: whatever is there then, the next device to write is a new one.
	Forgotten bool `json:"forgotten,omitempty"`
	// Former are the names under which this device wrote before a backup was restored, the latest
	// last. No program writes under them any more.
	Former []string `json:"former,omitempty"`
	// TakenOver are devices whose log this one goes on with, and since when: by a restore of their backup, or
	// since their log, folder or machine is not there any more. Each may live on elsewhere, see [Peers].
	TakenOver map[string]time.Time `json:"taken_over,omitempty"`
	// Sole are the former names that nobody else can write under: they were given to the state folder that is here.
	Sole []string `json:"sole,omitempty"`
	// Restored is the device whose backup takes the place of the log, until the next start.
	Restored string `json:"restored,omitempty"`
}

// maxHeads bounds Heads: a clone is found out by the first segment that a sync
// tool brings, which is one of the latest.
const maxHeads = 16

// Reserve records a segment's number and stamp before the file is made, so that
// a higher number, or another stamp, in our directory can only come from
// another emberd: from a clone of this state on another machine.
func (d *Identity) Reserve(fsys durable.FS, number uint32, head record.Stamp) error {
	segment, heads := d.Segment, d.Heads
	d.Segment, d.Heads = number, map[uint32]string{}
	maps.Copy(d.Heads, heads)
	d.Heads[number] = head.String()
	maps.DeleteFunc(d.Heads, func(n uint32, _ string) bool { return n+maxHeads <= number })
	if err := d.save(fsys); err != nil {
		d.Segment, d.Heads = segment, heads // not reserved, and so not to be used
		return err
	}
	return nil
}

func (d *Identity) save(fsys durable.FS) error {
	if err := durable.ReplaceFile(fsys, d.path, append(record.Encode(d), '\n')); err != nil {
		return fmt.Errorf("cannot save the device identity: %w", err)
	}
	return nil
}

// OpenIdentity returns the identity to write under, and why it is a new one.
func OpenIdentity(fsys durable.FS, data, state string, at time.Time) (*Identity, string, error) {
	info, err := fsys.Lstat(data)
	if err != nil {
		return nil, "", fmt.Errorf("cannot read the data folder: %w", err)
	}
	now := Identity{path: filepath.Join(state, "device.json"), Machine: MachineID(), Data: InodeOf(info),
		State: Inode(fsys, state)}
	known, err := readDevice(fsys, now.path)
	if err == nil && known != nil && known.damaged {
		err = known.settle(fsys, data, state, &now)
	}
	if err != nil {
		return nil, "", err
	}
	why := known.mismatch(fsys, data, &now)
	if why == "" {
		known.path, known.State = now.path, now.State // which the next segment writes down
		return known, "", nil
	}
	dev, err := record.NewDevice()
	if err != nil {
		return nil, "", err
	}
	now.ID = dev.String()
	now.Former, now.TakenOver = known.retired(&now), known.takenOver(at)
	if why != programWrote && why != machineWrote {
		now.Sole = known.sole(&now)
	}
	return &now, why, now.save(fsys)
}

// Named returns the device that a state folder is of, false if it is of none yet, or if its log
// was replaced since.
func Named(fsys durable.FS, state string) (record.Device, bool) {
	d, err := readDevice(fsys, filepath.Join(state, "device.json"))
	if err != nil || d == nil || d.Forgotten {
		return record.Device{}, false
	}
	return record.ParseDevice(d.ID)
}

// maxFormer bounds Former: who restores more often is told of the files of the oldest as of another device's.
const maxFormer = 32

// retired are the former names of the device that takes the place of d. Only after a restore is it certain that
// nothing goes on under the name of d: a copy of the state folder may be in use.
func (d *Identity) retired(now *Identity) []string {
	if d == nil || d.Machine != now.Machine {
		return nil
	}
	former := slices.Clone(d.Former)
	if _, ok := record.ParseDevice(d.ID); ok && d.Forgotten {
		former = append(former, d.ID)
	}
	return former[max(0, len(former)-maxFormer):]
}

// sole are the former names under which nobody but the device that takes the place of d can write. A copy of the
// state folder lies elsewhere, and a device that came with a copy cannot tell whether the other one lives on.
func (d *Identity) sole(now *Identity) []string {
	if d == nil || d.Machine != now.Machine || d.State == 0 || d.State != now.State {
		return nil
	}
	names := slices.Clone(d.Sole)
	if _, ok := record.ParseDevice(d.ID); ok {
		names = append(names, d.ID)
	}
	return names[max(0, len(names)-maxFormer):]
}

// takenOver are the devices that the one that takes the place of d goes on for.
func (d *Identity) takenOver(at time.Time) map[string]time.Time {
	if d == nil {
		return nil
	}
	for id, since := range d.TakenOver {
		if since.IsZero() { // it is known from state/written alone
			d.TakenOver[id] = at.UTC()
		}
	}
	all := map[string]time.Time{}
	for _, id := range []string{d.ID, d.Restored} {
		if _, ok := record.ParseDevice(id); ok {
			all[id] = at.UTC()
		}
	}
	for id, since := range d.TakenOver {
		if _, again := all[id]; !again && len(all) < maxFormer {
			all[id] = since
		}
	}
	return all
}

// ErrLogGone is the cause when the state folder knows of a log that is not in
// the data folder.
var ErrLogGone = errors.New("log not found")

// Gone is the error of [Open] for a data folder that has lost the log of this device,
// [ErrLogGone] its cause, and nil for any other: its disk may only not be mounted, and what is saved
// into the empty folder would be hidden once it is. Another error is that of reading which device this is.
// Nothing is changed.
func Gone(fsys durable.FS, data, state string) error {
	known, err := readDevice(fsys, filepath.Join(state, "device.json"))
	if err != nil {
		return Fault(data, err)
	}
	if known == nil || !known.logGone(fsys, data) {
		return nil
	}
	if folder := filepath.Join(data, "stm", known.ID); !known.beforeRestore(fsys, data) {
		return GoneFrom(folder)
	}
	return memory.Errorf(memory.Unavailable, "%w: the data folder %s contains the log from before a restore, but not "+
		"the log from after it; to use the memories from before the restore, run: emberd serve --accept-empty-data; "+
		"to keep the restored memories, put the other data folder back", ErrLogGone, data)
}

// beforeRestore reports whether the data folder has the log of a name that this device had before a restore.
func (d *Identity) beforeRestore(fsys durable.FS, data string) bool {
	return slices.ContainsFunc(d.Former, func(name string) bool {
		entries, err := fsys.ReadDir(filepath.Join(data, "stm", name))
		return err == nil && slices.ContainsFunc(entries, isWritten)
	})
}

// GoneFrom is the error for a log that is not in its folder any more.
func GoneFrom(folder string) error {
	return memory.Errorf(memory.Unavailable, "%w: the folder %s, which contained the log of this device, is missing "+
		"or empty; mount the disk or restore the folder; if the log is lost, run: emberd doctor "+
		"log repair; to start an empty log instead, run: emberd serve --accept-empty-data", ErrLogGone, folder)
}

// HasLog reports whether a folder has a log file that emberd named, or cannot be looked into.
func HasLog(fsys durable.FS, folder string) bool {
	entries, err := fsys.ReadDir(folder)
	return err != nil && !errors.Is(err, fs.ErrNotExist) || slices.ContainsFunc(entries, isWritten)
}

// IsForgotten reports whether the log of a state folder was replaced on purpose since.
func IsForgotten(fsys durable.FS, state string) bool {
	d, err := readDevice(fsys, filepath.Join(state, "device.json"))
	return err == nil && d != nil && d.Forgotten
}

// logGone reports whether this device wrote a log of which nothing is left. One
// number may have been reserved without a file. Of a device that was forgotten any
// log stands in for its own.
func (d *Identity) logGone(fsys durable.FS, data string) bool {
	switch {
	case d.Segment == 0:
		return false
	case d.Forgotten, d.ID == "": // the latter of a damaged file
		return noLog(fsys, filepath.Join(data, "stm"))
	}
	entries, err := fsys.ReadDir(filepath.Join(data, "stm", d.ID))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return d.Segment > 1 && !slices.ContainsFunc(entries, isWritten)
}

// isWritten reports whether a directory entry is a log file that emberd named.
func isWritten(e fs.DirEntry) bool {
	return record.IsLogFile(e) && record.ParseName(e.Name()).Kind != record.Odd
}

// Unbegun reports whether the first number is reserved and has no file: a power
// cut came in between. Were it not used again, a second one would leave a device
// that wrote two segments, it seems, and has none.
func (d *Identity) Unbegun(fsys durable.FS, dir string) bool {
	return d.Segment == 1 && !HasLog(fsys, dir)
}

// noLog reports whether no device has a folder, or the folder of them all is gone.
func noLog(fsys durable.FS, dir string) bool {
	devices, err := fsys.ReadDir(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !slices.ContainsFunc(devices, fs.DirEntry.IsDir)
}

func readDevice(fsys durable.FS, path string) (*Identity, error) {
	b, err := durable.ReadAll(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the device identity: %w", err)
	}
	var d Identity
	err = json.Unmarshal(b, &d)
	if _, named := record.ParseDevice(d.ID); err != nil || !named && !d.Forgotten {
		return recovered(fsys, filepath.Dir(path)), nil
	}
	return &d, nil
}

// Reasons for a new name that say that the old one is in use.
const (
	programWrote = "another program wrote to the log with the ID of this device"
	machineWrote = "another machine wrote to the log with the ID of this device"
)

// mismatch reports why a stored identity must not be used, "" when it may.
func (d *Identity) mismatch(fsys durable.FS, data string, now *Identity) string {
	if d == nil {
		return "first start"
	}
	if d.Forgotten {
		return "a backup was restored"
	}
	if _, ok := record.ParseDevice(d.ID); !ok {
		return "the device identity was damaged"
	}
	switch {
	case d.Machine != now.Machine:
		return "the state folder is from another machine"
	case d.logGone(fsys, data):
		return "the earlier log is missing"
	case d.Data != now.Data:
		return "the data folder was moved or copied"
	}
	entries, _ := fsys.ReadDir(filepath.Join(data, "stm", d.ID))
	for _, e := range entries {
		if n := record.ParseName(e.Name()); n.To > d.Segment && !d.isAnothers(fsys, data, e.Name()) {
			return programWrote
		}
	}
	for number, head := range d.Heads {
		name := record.SegmentName(number)
		l, ok := record.HeadLine(fsys, filepath.Join(data, "stm", d.ID, name))
		if ok && l.Stamp.String() != head && !d.isAnothers(fsys, data, name) {
			return machineWrote
		}
	}
	return ""
}

// isAnothers reports whether a file in the folder of this device has the header of another file, so that it is
// damage and not what a clone wrote: a clone gives its files their own names.
func (d *Identity) isAnothers(fsys durable.FS, data, base string) bool {
	l, ok := record.HeadLine(fsys, filepath.Join(data, "stm", d.ID, base))
	if !ok {
		return false
	}
	h, err := record.DecodeHeader(l.Data)
	return err == nil && (h.Dev != d.ID || h.Segment != record.ParseName(base).To)
}

// Predecessors returns the devices that the one of a state folder goes on for, unless their log was replaced on
// purpose, by a restore.
func Predecessors(fsys durable.FS, state string) (out []record.Device) {
	d, err := readDevice(fsys, filepath.Join(state, "device.json"))
	if err != nil || d == nil || d.Forgotten {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(d.TakenOver)) {
		if dev, ok := record.ParseDevice(id); ok && !slices.Contains(d.Former, id) {
			out = append(out, dev)
		}
	}
	return out
}

// MachineID is a hash, so that a synced or published state tells nothing.
func MachineID() string {
	raw, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		host, _ := os.Hostname()
		raw = []byte(host)
	}
	sum := sha256.Sum256(append([]byte("emberd\x00"), raw...))
	return hex.EncodeToString(sum[:8])
}

func Inode(fsys durable.FS, name string) uint64 {
	info, err := fsys.Lstat(name)
	if err != nil {
		return 0
	}
	return InodeOf(info)
}

func InodeOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// ForgetDevice makes the next Open mint a new device, as after a restore of a backup of the device restored: what
// the old one wrote since must not be mistaken for what the new one will. It comes
// before the data folder is replaced; should that end half-way and leave none, Open
// still refuses to begin an empty log. The caller holds the lock of the state
// folder. The snapshot is put aside: a start is not to repair the folder that comes with what
// the one that goes holds.
func ForgetDevice(fsys durable.FS, state, restored string) error {
	path := filepath.Join(state, "device.json")
	d, err := readDevice(fsys, path)
	if err == nil && d == nil && restored != "" {
		d = &Identity{Machine: MachineID()}
	}
	if err == nil && d != nil {
		d.Restored = restored
		d.path, d.Forgotten = path, true
		err = d.save(fsys)
	}
	if err == nil {
		err = forgetSeen(fsys, state)
	}
	if err == nil {
		err = putSnapshotAside(fsys, state)
	}
	if err != nil {
		return fmt.Errorf("cannot reset the device identity: %w", err)
	}
	return nil
}

// AsideIn is where the snapshot of a log lies that a restored backup took the place of.
func AsideIn(state string) string { return filepath.Join(state, "index", "earlier.snap") }

// putSnapshotAside keeps the snapshot of a log that a backup takes the place of, instead of one that
// was put aside before.
func putSnapshotAside(fsys durable.FS, state string) error {
	err := fsys.Rename(SnapshotIn(state), AsideIn(state))
	if err == nil || errors.Is(err, fs.ErrNotExist) { // a try before this one may have failed to sync it
		err = fsys.SyncDir(filepath.Dir(AsideIn(state)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
