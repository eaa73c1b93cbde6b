// Package logcheck reads every line of a log and reports what is wrong: checksums, headers, seals, stamps,
// numbers that no file holds, and files that hold less than was written to them. It changes nothing, and
// the daemon may write the log in the meantime.
//
// [Check] judges a log by its files alone. [CheckDecided] also has the state folder of the device that the
// log belongs to: it tells how far files were written, and which damaged lines a person has decided about.
package logcheck

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/durable"
	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/quarantine"
	"emberd/stm/record"
	"emberd/stm/repair"
)

// A Report is what reading every line of a log showed.
type Report struct {
	Files []File
	// Bare are deletes of which no line has the text that they moved to the trash, by memory, unless that
	// was given up.
	Bare map[[16]byte]record.Stamp
	// Missing are sequence numbers that no file of a device holds, unless a
	// damaged line in their place explains them.
	Missing []Finding
}

// A File is what reading one file showed.
type File struct {
	Path     string
	Lines    int
	Bytes    int64
	Sealed   bool      // its last line says that it is whole, and it is
	Newest   time.Time // stamp of a record, zero if there is none
	Findings []Finding
}

// A Finding is one thing that is wrong, or, if Harmless, one that a crash or a later version explains and
// that costs nothing that was acknowledged.
type Finding struct {
	File     string
	Offset   int64
	Line     int // 0 for the file as a whole
	Reason   string
	Harmless bool
}

// Newest is the latest stamp of a record, zero if there is none.
func (r *Report) Newest() (newest time.Time) {
	for _, f := range r.Files {
		if f.Newest.After(newest) {
			newest = f.Newest
		}
	}
	return newest
}

// Wrong counts the findings that are not harmless.
func (r *Report) Wrong() int {
	n := len(r.Missing)
	for _, f := range r.Files {
		for _, g := range f.Findings {
			if !g.Harmless {
				n++
			}
		}
	}
	return n
}

// BareSince counts [Report.Bare] as far as memories were deleted after a time, and can be restored still.
func (r *Report) BareSince(after time.Time) (n int) {
	for _, at := range r.Bare {
		if at.Time().After(after) {
			n++
		}
	}
	return n
}

// Check reads the log under path, see [record.LogFiles], and verifies every checksum, header, seal, stamp
// and sequence number. A file that cannot be read is a finding; the error is for a path that is no log,
// and for ctx.
func Check(ctx context.Context, fsys durable.FS, path string, now time.Time) (*Report, error) {
	c := newChecker(fsys, path, now, &quarantine.Lines{})
	if err := c.all(ctx); err != nil {
		return nil, err
	}
	return &c.Report, nil
}

// CheckDecided is Check for a data folder whose state folder is at hand: what is gone of it is told, and damaged
// lines that a person has decided about are harmless.
func CheckDecided(ctx context.Context, fsys durable.FS, path, state string, now time.Time) (*Report, error) {
	decided, err := quarantine.Open(&device.Home{FS: fsys, State: state})
	if err != nil {
		return nil, err
	}
	c := newChecker(fsys, path, now, decided)
	c.upto = writtenUpto(fsys, path, state)
	if err := c.all(ctx); err != nil {
		return nil, err
	}
	c.short(fsys, path, state)
	return &c.Report, nil
}

// writtenUpto returns the highest number that this device gave to a caller's change, and those up to which it had read
// the logs of other devices, by their folders.
func writtenUpto(fsys durable.FS, data, state string) map[string]uint64 {
	dev, ok := device.Named(fsys, state)
	if !ok {
		return nil
	}
	folder := func(of record.Device) string { return filepath.Join(data, "stm", of.String()) }
	upto := map[string]uint64{}
	for of, last := range device.HadSeen(fsys, data, state, dev) {
		upto[folder(of)] = last
	}
	written, last := extent.Read(fsys, state, dev), uint64(0)
	for _, e := range written {
		last = max(last, cmp.Or(e.Change, e.Last)) // what is after a change is missed by no one
	}
	if len(written) == 0 {
		last = device.Told(fsys, data, dev)
	}
	upto[folder(dev)] = last
	return upto
}

// short adds the files of this device that hold less than was written to them.
func (r *Report) short(fsys durable.FS, data, state string) {
	if dev, ok := device.Named(fsys, state); ok {
		r.shortOf(fsys, data, state, dev)
	}
	for _, dev := range device.Predecessors(fsys, state) {
		r.shortOf(fsys, data, state, dev)
	}
}

func (r *Report) shortOf(fsys durable.FS, data, state string, dev record.Device) {
	dir := filepath.Join(data, "stm", dev.String())
	for _, f := range extent.ShortFiles(fsys, dir, extent.Read(fsys, state, dev)) {
		name := filepath.Join(dir, f.Name)
		i := slices.IndexFunc(r.Files, func(g File) bool { return g.Path == name })
		if i < 0 {
			r.Files = append(r.Files, File{Path: name})
			i = len(r.Files) - 1
		}
		if !f.Change {
			r.Files[i].cutShort()
		}
		if f.Change && len(r.Files[i].Findings) > 0 { // which say what is changed
			continue
		}
		r.Files[i].Findings = append(r.Files[i].Findings, Finding{File: name, Reason: f.String()})
	}
}

// cutShort takes a last line that is not whole for damage: more was written to the file than a crash left.
func (f *File) cutShort() {
	for i := range f.Findings {
		if g := &f.Findings[i]; g.Reason == record.TornReason {
			g.Harmless, g.Reason = false, "the last line is incomplete, because the file was truncated"
		}
	}
}

// A checker makes a report.
type checker struct {
	Report
	fs      durable.FS
	path    string
	now     time.Time
	decided *quarantine.Lines
	upto    map[string]uint64 // highest number that is missed, by folder

	numbers  map[string]*sequence     // by folder
	kept     map[string][]record.Kept // by file
	misnamed map[string][]misnamed    // by folder
	bare     bool                     // a file has a delete that came back without its text
}

func newChecker(fsys durable.FS, path string, now time.Time, decided *quarantine.Lines) *checker {
	return &checker{fs: fsys, path: path, now: now, decided: decided, numbers: map[string]*sequence{},
		kept: map[string][]record.Kept{}, misnamed: map[string][]misnamed{}}
}

func (c *checker) all(ctx context.Context) error {
	names, err := record.LogFiles(c.fs, c.path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c.file(name)
	}
	if len(names) == 1 && names[0] == c.path {
		return nil // one file says nothing about the numbers of the others
	}
	for dir, upto := range c.upto {
		if c.numbers[dir] == nil {
			c.numbers[dir] = &sequence{}
		}
		c.numbers[dir].upto = max(c.numbers[dir].upto, upto)
	}
	c.forgiveNames()
	c.believe(ctx)
	if err := c.takeBare(ctx); err != nil {
		return err
	}
	for _, dir := range slices.Sorted(maps.Keys(c.numbers)) {
		c.Missing = append(c.Missing, c.numbers[dir].missing(dir)...)
	}
	return nil
}

func (c *checker) file(name string) {
	dir := filepath.Dir(name)
	if c.numbers[dir] == nil {
		c.numbers[dir] = &sequence{}
	}
	f := &fileChecker{File: File{Path: name}, name: record.ParseName(filepath.Base(name)), now: c.now,
		numbers: c.numbers[dir], decided: c.decided, inOrder: true}
	if f.name.Kind == record.History { // the compacted file that it goes with has all of its numbers
		f.numbers = &sequence{}
	}
	f.all(c.fs)
	c.numbers[dir].upto = max(c.numbers[dir].upto, f.numbers.upto)
	c.kept[name], c.bare = f.kept, c.bare || f.bare
	if f.misnamed > 0 {
		c.misnamed[dir] = append(c.misnamed[dir], misnamed{len(c.Files), f.name.To, f.misnamed})
	}
	c.Files = append(c.Files, f.File)
}

// misnamed is a segment that has the name of another one.
type misnamed struct {
	file     int // its index
	name, is uint32
}

// forgiveNames takes for harmless that segments of a device have the names of one another: all of them are there, and
// are read whatever they are called.
func (c *checker) forgiveNames() {
	for _, files := range c.misnamed {
		var names, are []uint32
		for _, f := range files {
			names, are = append(names, f.name), append(are, f.is)
		}
		slices.Sort(names)
		slices.Sort(are)
		if !slices.Equal(names, are) {
			continue
		}
		for _, f := range files {
			found := c.Files[f.file].Findings
			i := slices.IndexFunc(found, func(g Finding) bool { return g.Line == 1 && !g.Harmless })
			found[i].Harmless = true
			found[i].Reason += "; the segment with this name is in another file"
		}
	}
}

// believe takes numbers as known that other devices have written again.
func (c *checker) believe(ctx context.Context) {
	for dev, written := range repair.Believed(ctx, c.fs, c.kept) {
		for dir, s := range c.numbers {
			if filepath.Base(dir) == dev.String() {
				s.known.AddAll(written)
			}
		}
	}
}

// takeBare finds out of which deletes no line has the text. It takes as much memory as the table.
func (c *checker) takeBare(ctx context.Context) error {
	if !c.bare {
		return nil
	}
	have, err := repair.Fold(ctx, c.fs, c.path, slog.New(slog.DiscardHandler))
	if err == nil {
		c.Bare = have.Table.Bare
		maps.DeleteFunc(c.Bare, c.decided.GaveUp)
	}
	return err
}
