// Package extent remembers outside the log how far each of its files was written, so that a file
// that is shorter, older or gone is noticed although nothing in it is wrong.
//
//	state/written/<device>/s-00000042    the extents of stm/<device>/s-00000042.jsonl
//
// Such a file has one line an extent, the last sound one counts:
//
//	{"bytes":4096,"sum":"9f8e7d6c","last":418,"change":417,"at":"0192f3a1b2c3-0004-k7q2mzxa","c":"…"}
//
// bytes is the length of the log file, sum the CRC-32C of them, last the highest number of a record,
// change that of a caller's change, at its stamp, c the checksum that lines of the log have. Of a file
// that is not written any more, mtime (in nanoseconds) and inode tell how it looked: while it looks so,
// a start does not read it. An extent is written after the log was synced and is not synced itself: a
// power cut leaves an earlier one, or none, and what is not told by one is not missed. Without the
// folder nothing is missed at all.
package extent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"emberd/internal/durable"
	"emberd/stm/record"
)

// An Extent is how far a file of the log was written.
type Extent struct {
	Bytes int64
	Sum   uint32 // CRC-32C of so many bytes, 0 if unknown
	Last  uint64 // highest number of a record, 0 for none
	// Change is no less than the highest number of a change that a caller made: what is after it are totals
	// of use and what came back from copies. 0 if unknown.
	Change uint64
	At     record.Stamp
	// MTime and Inode are those of a file that is complete, 0 if unknown.
	MTime int64
	Inode uint64
}

// Files are the extents of one device. Any goroutine may use it.
type Files struct {
	fs  durable.FS
	dir string

	mu     sync.Mutex // guards what follows
	known  map[string]Extent
	open   durable.File // of the file that was noted last
	name   string
	length int64
}

// trimAt is the length at which a file of extents begins anew.
const trimAt = 1 << 16

// Open returns the extents that a state folder has for a device, and makes the folder that
// holds them.
func Open(fsys durable.FS, state string, dev record.Device) (*Files, error) {
	f := &Files{fs: fsys, dir: folder(state, dev)}
	if err := durable.MkdirAll(fsys, f.dir); err != nil {
		return nil, fmt.Errorf("cannot create the folder for the write positions of the log: %w", err)
	}
	f.known = read(fsys, f.dir)
	return f, nil
}

func (f *Files) path(name string) string {
	return filepath.Join(f.dir, strings.TrimSuffix(name, ".jsonl"))
}

// Note remembers the extent of a log file, given by its base name. An error means that the
// extent before it may count still.
func (f *Files) Note(name string, e Extent) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.use(name); err != nil {
		return fmt.Errorf("cannot store the write position of the log: %w", err)
	}
	if f.length > trimAt {
		if err := f.open.Truncate(0); err != nil {
			return fmt.Errorf("cannot store the write position of the log: %w", err)
		}
		f.length = 0
	}
	n, err := f.open.Write(e.line())
	if f.length += int64(n); err != nil {
		f.done()
		return fmt.Errorf("cannot store the write position of the log: %w", err)
	}
	f.known[name] = e
	return nil
}

// use opens the file of a name.
func (f *Files) use(name string) error {
	if f.open != nil && f.name == name {
		return nil
	}
	f.done()
	if err := f.fs.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := f.fs.CreateAppend(f.path(name))
	f.open, f.name, f.length = file, name, 0
	return err
}

// done closes the file that was noted last. What it says needs no sync.
func (f *Files) done() {
	if f.open != nil {
		_ = f.open.Close()
		f.open = nil
	}
}

// Forget forgets files that are about to be removed. It returns once that is on the disk.
func (f *Files) Forget(names ...string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	gone := false
	for _, name := range names {
		if f.name == name {
			f.done()
		}
		delete(f.known, name)
		err := f.fs.Remove(f.path(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot delete the write position of the log: %w", err)
		}
		gone = gone || err == nil
	}
	if !gone {
		return nil
	}
	return f.fs.SyncDir(f.dir)
}

// All returns what is remembered, by base names of log files. What could not be read is left out.
func (f *Files) All() map[string]Extent {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.known)
}

// Of returns what is remembered of one file.
func (f *Files) Of(name string) (e Extent, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, known = f.known[name]
	return e, known
}

// Read returns what a state folder remembers of a device's files, and changes nothing.
func Read(fsys durable.FS, state string, dev record.Device) map[string]Extent {
	return read(fsys, folder(state, dev))
}

// Damaged returns the files of a state folder that no longer say how far a log file was written, by the base
// names of these. One that a power cut left empty, or with NUL bytes, is none.
func Damaged(fsys durable.FS, state string, dev record.Device) map[string]string {
	out, dir := map[string]string{}, folder(state, dev)
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		text, err := durable.ReadAtMost(fsys, name, 2*trimAt)
		if _, ok := lastOf(text); !ok && (err != nil || len(bytes.Trim(text, "\x00")) > 0) {
			out[e.Name()+".jsonl"] = name
		}
	}
	return out
}

// Drop forgets all files of a device.
func Drop(fsys durable.FS, state string, dev record.Device) error {
	f := Files{fs: fsys, dir: folder(state, dev)}
	return f.Forget(slices.Collect(maps.Keys(read(fsys, f.dir)))...)
}

func folder(state string, dev record.Device) string {
	return filepath.Join(state, "written", dev.String())
}

func read(fsys durable.FS, dir string) map[string]Extent {
	out := map[string]Extent{}
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return out
	}
	for _, e := range entries {
		text, err := durable.ReadAtMost(fsys, filepath.Join(dir, e.Name()), 2*trimAt)
		if last, ok := lastOf(text); err == nil && ok {
			out[e.Name()+".jsonl"] = last
		}
	}
	return out
}

// onDisk is the form of a line.
type onDisk struct {
	Bytes  int64  `json:"bytes"`
	Sum    string `json:"sum,omitempty"`
	Last   uint64 `json:"last"`
	Change uint64 `json:"change,omitempty"`
	At     string `json:"at,omitempty"`
	MTime  int64  `json:"mtime,omitempty"`
	Inode  uint64 `json:"inode,omitempty"`
}

func (e Extent) line() []byte {
	l := onDisk{Bytes: e.Bytes, Last: e.Last, Change: e.Change, MTime: e.MTime, Inode: e.Inode}
	if e.Sum != 0 {
		l.Sum = fmt.Sprintf("%08x", e.Sum)
	}
	if !e.At.IsZero() {
		l.At = e.At.String()
	}
	return record.SealLine(bytes.TrimSuffix(record.Encode(l), []byte("}")), 0)
}

// lastOf reads the last sound line.
func lastOf(text []byte) (last Extent, ok bool) {
	for b := range bytes.Lines(text) {
		if e, err := parse(b); err == nil {
			last, ok = e, true
		}
	}
	return last, ok
}

func parse(b []byte) (Extent, error) {
	good, err := record.Trim(b)
	var l onDisk
	if err == nil {
		err = json.Unmarshal(good, &l)
	}
	e := Extent{Bytes: l.Bytes, Last: l.Last, Change: l.Change, MTime: l.MTime, Inode: l.Inode}
	if err == nil && l.Sum != "" {
		_, err = fmt.Sscanf(l.Sum, "%08x", &e.Sum)
	}
	if err == nil && l.At != "" {
		e.At, err = record.ParseStamp(l.At)
	}
	return e, err
}
