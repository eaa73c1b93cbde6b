package compaction

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/record"
)

// Job lists what to rewrite and what to keep.
type Job struct {
	// Inputs are base names of this device's files: sealed segments, compacted
	// files, and odd copies. Of what lies between the first and the last segment
	// they name, all must be there.
	Inputs []string
	// HistoryKeep is how long superseded lines are kept, not less than the trash.
	HistoryKeep time.Duration
	// Droppable reports whether every other device knows of a deletion and has so
	// for long enough; nil is never. The tombstone is dropped if the inputs begin
	// with the device's first segment, too, and no other device's file mentions
	// the memory.
	Droppable func(deleted time.Time, seq uint64) bool
	// DryRun only counts.
	DryRun bool
	// Rest is how long to rest for the time worked, 3 being three times as long, so
	// that saves and searches find a free processor. 0 does not rest.
	Rest int

	// Histories allows history files among the inputs, so that nothing of a purged
	// memory is left.
	Histories bool
}

// Result is what a compaction did, or would.
type Result struct {
	Inputs       []string
	Output       string // name of the compacted file
	History      string // and of its history, "" when nothing was superseded
	Before       int64  // bytes of the inputs
	After        int64  // bytes of the compacted file
	HistoryBytes int64
	Lines        int // operations read, those of use among them
	Whole        int // kept as they were
	Cut          int // kept in part
	Superseded   int // nothing of which counts any more
	Repeated     int // there twice
	Expired      int // of those cut or superseded, too old for the history
	Verbatim     int // damaged or of a later version, kept as they were
	Live         int // memories that the inputs alone make live
	Tombstones   int // kept
	Dropped      int // tombstones dropped
	Took         time.Duration
}

var ErrVerify = errors.New("the compacted file does not contain the same data as the original segments")

// Source is the log of one device as a compaction sees it. Its functions are called
// on the goroutine of the compaction and may be called again and again.
type Source struct {
	FS     durable.FS
	Dir    string // of the device's own files
	Device record.Device
	Log    *slog.Logger
	Now    time.Time
	// TrashKeep is how long a deleted memory can be restored.
	TrashKeep time.Duration
	// Hide has the deletions by other devices that can no longer be reverted.
	Hide map[[16]byte]record.Stamp
	// Purged is what no file may contain after the compaction.
	Purged record.Redaction
	// Decided has the hashes of the damaged lines that a person has decided about.
	Decided map[string]bool
	// Cold reports whether a memory is archived; nil is none.
	Cold func(key [16]byte) bool
	// IsActive reports whether the writer may still append to a file.
	IsActive func(base string) bool
	// Seen returns how far each device has been read without a gap.
	Seen func() map[record.Device]uint64
	// Missing are the sequence numbers of this device that none of its files has.
	Missing *record.Ranges
	// Foreign lists the paths of the files of other devices that a start reads.
	Foreign func() ([]string, error)
}

// A compactionRun is one compaction in progress. One goroutine owns it.
type compactionRun struct {
	Source
	ctx     context.Context
	job     Job
	inputs  []input
	name    record.Name // of the compacted file
	fold    *Fold
	want    Sum // of the fold, once the files are written
	emitter *recordFilter
	seed    maphash.Seed
	got     Result
	temps   []string
	dropped map[[16]byte]record.Stamp // tombstones
	worked  time.Time                 // since when without a rest
	archive bool                      // the input being read is a history
	scanned int                       // lines, to look at the clock now and then
}

// input is one file to be folded in, and how it was when it was read first.
type input struct {
	record.Name
	base  string
	bytes int64
	crc   uint32
	read  bool
}

// Output is what a compaction made. Places have no file yet: the caller numbers it.
type Output struct {
	Result
	Lines   []record.LineRef            // of the compacted file, in its order
	Deletes map[[16]byte]record.LineRef // those that can be restored, by memory
	Dropped map[[16]byte]record.Stamp   // tombstones
	// Floor and Seen are those of the header, see [record.Header]; Seen is nil if no
	// tombstone was ever dropped.
	Floor record.Stamp
	Seen  map[string]uint64
	// All says that no older file of the device is left.
	All bool
}

// Run applies a compaction up to the names of its files, and removes what a
// failure leaves. With DryRun it only counts.
func Run(ctx context.Context, from Source, job Job) (Output, error) {
	begin := time.Now()
	r := newCompaction(ctx, from, job)
	defer r.sweep()
	if err := r.choose(); err != nil {
		return Output{}, err
	}
	if err := r.count(); err != nil {
		return Output{}, err
	}
	out := Output{Dropped: r.dropped, Floor: r.fold.floor, Seen: r.fold.seen, All: r.beginsWithFirst()}
	if !job.DryRun {
		v, err := r.write()
		if err != nil {
			return Output{}, err
		}
		out.Lines, out.Deletes = v.refs, v.deletes
	}
	out.Result = r.got
	out.Inputs, out.Took = job.Inputs, time.Since(begin)
	return out, nil
}

// Count reports what compacting the inputs would do, without a look at whether they may
// be compacted.
func Count(ctx context.Context, from Source, job Job) (Result, error) {
	r := newCompaction(ctx, from, job)
	err := r.count()
	return r.got, err
}

// write makes the files, reads them back, and gives them their names.
func (r *compactionRun) write() (*verified, error) {
	if err := r.writeFiles(); err != nil {
		return nil, err
	}
	r.sum()
	v, err := r.verify()
	if err != nil {
		return nil, err
	}
	return v, r.publish()
}

// sum replaces what the inputs add up to by its sum. To read the files back takes as much memory again.
func (r *compactionRun) sum() {
	r.want = r.fold.Sum(r.seed)
	r.fold.rows, r.fold.use, r.fold.shapes, r.fold.useLines = nil, nil, nil, nil
	r.emitter.hot.seen, r.emitter.cold.seen = lineSet{}, lineSet{}
}

// newCompaction prepares a compaction of the inputs that the job names. The caller
// calls choose, count, write and sweep, in this order.
func newCompaction(ctx context.Context, from Source, job Job) *compactionRun {
	r := &compactionRun{Source: from, ctx: ctx, job: job, seed: maphash.MakeSeed(), worked: time.Now()}
	r.name = record.Name{Kind: record.Compacted, From: math.MaxUint32}
	for _, base := range job.Inputs {
		n := record.ParseName(base)
		r.inputs = append(r.inputs, input{Name: n, base: base})
		if n.Kind != record.Odd {
			r.name.From, r.name.To = min(r.name.From, n.From), max(r.name.To, n.To)
		}
	}
	slices.SortFunc(r.inputs, input.order)
	return r
}

// count runs a compaction without writing anything.
func (r *compactionRun) count() error {
	if err := r.foldAll(); err != nil {
		return err
	}
	if err := r.dropTombstones(); err != nil {
		return err
	}
	return r.measure()
}

// choose checks the inputs against the folder.
func (r *compactionRun) choose() error {
	entries, err := r.FS.ReadDir(r.Dir)
	if err != nil {
		return err
	}
	for _, in := range r.inputs {
		if in.Kind == record.History && !r.job.Histories || r.IsActive(in.base) {
			return memory.Errorf(memory.Invalid,
				"cannot compact %s: it is a history segment, or emberd still writes to it", in.base)
		}
		if l, err := record.FirstLine(r.FS, filepath.Join(r.Dir, in.base)); err == nil && l.Op == record.OpSegment &&
			l.Version > record.FormatVersion {
			return errLater(in.base)
		}
	}
	if r.name.To == 0 {
		return memory.Errorf(memory.Invalid, "no sealed segment to compact")
	}
	for _, e := range entries {
		n := record.ParseName(e.Name())
		r.name.Gen = max(r.name.Gen, n.Gen)
		between := (n.Kind == record.Raw || n.Kind == record.Compacted) && n.From <= r.name.To && r.name.From <= n.To
		if between && !slices.Contains(r.job.Inputs, e.Name()) {
			return memory.Errorf(memory.Invalid, "%s lies between the files to compact; compact it too", e.Name())
		}
	}
	r.name.Gen++
	return nil
}

// order puts files so that stamps mostly rise: what a compacted file stands for
// before what came after it.
func (a input) order(b input) int {
	if a.Kind != b.Kind && (a.Kind == record.Odd || b.Kind == record.Odd) {
		if a.Kind == record.Odd {
			return 1
		}
		return -1
	}
	if a.From != b.From {
		return int(a.From) - int(b.From)
	}
	return b.Gen - a.Gen
}

// each calls fn for every line of every input, in order. The second and later
// times the bytes must be those of the first.
func (r *compactionRun) each(fn func(b, good []byte, l *record.Line, is record.Class) error) error {
	for i := range r.inputs {
		in := &r.inputs[i]
		r.archive = in.Kind == record.History
		size, crc, err := r.scan(in, fn)
		if err != nil {
			return fmt.Errorf("compact %s: %w", in.base, err)
		}
		if in.read && (size != in.bytes || crc != in.crc) {
			return memory.Errorf(memory.Busy, "%s changed during the compaction; try again", in.base)
		}
		in.bytes, in.crc, in.read = size, crc, true
	}
	return nil
}

func (r *compactionRun) scan(in *input, fn func(b, good []byte, l *record.Line, is record.Class) error) (int64, uint32,
	error) {
	f, err := r.FS.OpenRead(filepath.Join(r.Dir, in.base))
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	crc := crc32.New(record.Castagnoli)
	var from io.Reader = f
	if in.read {
		from = io.LimitReader(f, in.bytes) // of one that still grows, what there was
	}
	size, err := record.ScanLines(r.ctx, io.TeeReader(from, crc), record.AtOnce(f, 0), func(b []byte, _ record.Place,
		whole bool) error {
		l, good, is := record.Classify(b, whole, r.Device)
		if is == record.Counted {
			r.fold.number(&l)
		}
		if b, good, is, _ = r.Purged.Redact(b, good, &l, is); is == record.Empty || is == record.Verbatim &&
			r.Decided[record.HashOf(b)] {
			return nil
		}
		r.rest()
		return fn(b, good, &l, is)
	})
	return size, crc.Sum32(), err
}

// work is how long a compaction works before it rests. It is short beside the
// sync of a save.
const work = 2 * time.Millisecond

// rest pauses now and then, for as long as was asked for.
func (r *compactionRun) rest() {
	if r.scanned++; r.job.Rest == 0 || r.scanned%16 != 0 {
		return
	}
	if worked := time.Since(r.worked); worked >= work {
		select {
		case <-time.After(min(worked, 5*work) * time.Duration(r.job.Rest)):
		case <-r.ctx.Done(): // scanning ends soon
		}
		r.worked = time.Now()
	}
}

// foldAll is K1.
func (r *compactionRun) foldAll() error {
	r.fold = NewFold(r.Device, r.Hide)
	err := r.each(func(_, good []byte, l *record.Line, is record.Class) error {
		switch {
		case is == record.Meta:
			return r.fold.meta(l)
		case r.archive: // superseded long ago
			return nil
		}
		switch is {
		case record.Counted:
			return r.fold.Add(l)
		case record.Verbatim:
			r.fold.opaque = true
			r.got.Verbatim++
		}
		return nil
	})
	for _, in := range r.inputs {
		if in.Kind != record.History {
			r.got.Before += in.bytes
		}
	}
	r.got.Lines = r.fold.count
	return err
}

// meta takes the sequence numbers that a header or a seal accounts for. A file
// of a later format is refused: what its lines mean may have changed.
func (f *Fold) meta(l *record.Line) error {
	f.newest = record.Later(f.newest, l.Stamp)
	if l.Op == record.OpSeal {
		var end record.Seal
		if json.Unmarshal(l.Data, &end) == nil {
			f.last = max(f.last, end.Last)
		}
		return nil
	}
	h, err := record.DecodeHeader(l.Data)
	if err != nil || h.Format > record.FormatVersion {
		return errLater("it")
	}
	if f.first == 0 || h.First < f.first {
		f.first = h.First
	}
	f.last = max(f.last, h.Last)
	f.lost, f.kept = append(f.lost, h.Lost...), append(f.kept, h.Kept...)
	if at, err := record.ParseStamp(h.Floor); err == nil {
		f.hold(at, h.Seen)
	}
	if since := h.HistorySince(); since.After(f.since) {
		f.since = since
	}
	return nil
}

func errLater(name string) error {
	return memory.Errorf(memory.Incompatible,
		"a later version of emberd wrote %s, so this version did not change it; upgrade emberd", name)
}

// measure runs everything but the writing, which reports what the files will be.
func (r *compactionRun) measure() error {
	r.emitter = r.newEmitter(nil, nil)
	if err := r.emit(r.fold.value); err != nil {
		return err
	}
	e := r.emitter
	r.got.Whole, r.got.Cut, r.got.Superseded = e.count.whole, e.count.cut, e.count.gone
	r.got.Repeated, r.got.Expired = e.count.repeated, e.count.expired
	r.got.Output = r.name.String()
	head, seal := r.frame(e.hot, record.Compacted)
	r.got.After = e.hot.size + int64(len(head)+len(seal))
	if e.cold.lines > 0 {
		head, seal = r.frame(e.cold, record.History)
		r.got.History, r.got.HistoryBytes = r.name.Companion().String(), e.cold.size+int64(len(head)+len(seal))
	}
	return nil
}

func (r *compactionRun) newEmitter(hot, cold io.Writer) *recordFilter {
	file := func(w io.Writer) *output { return &output{w: w, seen: lineSet{seed: r.seed}} }
	return &recordFilter{Fold: r.fold, now: r.Now, trashKeep: r.TrashKeep, historyKeep: r.job.HistoryKeep,
		hot: file(hot), cold: file(cold), kept: lineSum{seed: r.seed}, isCold: r.Cold}
}

// emit runs the inputs through the emitter; value sees every change.
func (r *compactionRun) emit(value func(*record.Change, record.Stamp, maphash.Seed)) error {
	err := r.each(func(b, good []byte, l *record.Line, is record.Class) error {
		if is == record.Meta {
			return nil
		}
		if r.archive {
			return r.emitter.archived(b, good, l, is)
		}
		if is == record.Counted {
			for i := range l.Changes {
				value(&l.Changes[i], l.Stamp, r.seed)
			}
		}
		return r.emitter.line(b, good, l, is)
	})
	if err == nil {
		err = r.emitter.totals()
	}
	return err
}

// frame returns header and seal of an output whose lines are known. What the
// header adds to size and sums is in neither.
func (r *compactionRun) frame(o *output, kind record.Kind) (head, end []byte) {
	h := record.Header{Dev: r.Device.String(), From: r.name.From, Segment: r.name.To, First: max(r.fold.first, 1),
		Last: r.fold.last, Format: record.FormatVersion, Created: r.Now.UTC().Format(time.RFC3339),
		Generation: r.name.Gen}
	if kind == record.Compacted {
		h.Lost, h.Kept, h.History = r.fold.lost, r.fold.kept, r.emitter.cold.lines
		if r.Missing != nil {
			h.Missing = r.Missing.Within(h.First, h.Last)
		}
		h.Since = r.since().UTC().Format(time.RFC3339)
		if h.Seen = r.fold.seen; h.Seen != nil {
			h.Floor = r.fold.floor.String()
		}
		for _, in := range r.inputs {
			h.Replaces = append(h.Replaces, record.Replaced{Name: in.base, Bytes: in.bytes, CRC: fmt.Sprintf("%08x",
				in.crc)})
		}
	} else {
		h.Oldest, h.Newest = o.oldest.String(), o.newest.String()
	}
	at := r.fold.newest
	if at.IsZero() { // not a line of the inputs can be read
		at = record.Stamp{T: uint64(max(1, r.Now.UnixMilli())) << 16, Dev: r.Device}
	}
	return record.MetaLine(record.OpSegment, at, h), o.end(at, r.fold.last)
}

// since is from when on nothing is lost for good: in seconds, so rounded up.
func (r *compactionRun) since() time.Time {
	if at := r.Now.Add(time.Second - r.job.HistoryKeep); at.After(r.fold.since) {
		return at
	}
	return r.fold.since
}

// sweep removes what a failure left. What cannot be removed goes at the next
// start.
func (r *compactionRun) sweep() {
	for _, name := range r.temps {
		if err := r.FS.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.Log.Warn("temporary file of a compaction not removed", "file", name, "error", err)
		}
	}
}
