package stm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"time"

	"emberd/memory"
)

// Compaction says what to rewrite and what to keep.
type Compaction struct {
	// Inputs are base names of this device's files: sealed segments, compacted
	// files, and odd copies. Of what lies between the first and the last segment
	// they name, all must be there.
	Inputs []string
	// HistoryKeep is how long superseded lines are kept, not less than the trash.
	HistoryKeep time.Duration
	// Droppable says whether every other device knows of a deletion and has so
	// for long enough; nil is never. The tombstone is dropped if the inputs begin
	// with the device's first segment, too, and no other device's file mentions
	// the memory.
	Droppable func(deleted time.Time, seq uint64) bool
	// DryRun only counts.
	DryRun bool
	// Rest is how long to rest for the time worked, 3 being three times as long, so
	// that saves and searches find a free processor. 0 does not rest.
	Rest int

	histories bool // among the inputs, so that nothing of a purged memory is left
}

// Rewritten is what a compaction did, or would.
type Rewritten struct {
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

var errVerify = errors.New("the compacted file does not say what its inputs say")

// rewrite is one compaction under way.
type rewrite struct {
	s       *Store
	ctx     context.Context
	job     Compaction
	now     time.Time
	inputs  []input
	name    fileName // of the compacted file
	fold    *fold
	emitter *emitter
	seed    maphash.Seed
	got     Rewritten
	temps   []string
	dropped map[[16]byte]Stamp // tombstones
	worked  time.Time          // since when without a rest
	purged  purged             // what is left out
	decided map[string]bool    // damaged lines that are left out, by their hash
	archive bool               // the input being read is a history
	scanned int                // lines, to look at the clock now and then
}

// input is one file to be folded in, and how it was when it was read first.
type input struct {
	fileName
	base  string
	bytes int64
	crc   uint32
	read  bool
}

// Rewrite folds sealed files of this device into one, verifies it, and puts it
// beside them with a history of what was superseded. Saves and searches go on
// meanwhile; only one Rewrite or Unlink at a time, others are busy. The inputs
// stay until Unlink. What a crash after each step leaves:
//
//	K1 fold the inputs              nothing
//	K2 write two temporary files    temporary files, removed by the next Open
//	K3 sync them                    the same
//	K4 read them back and compare   the same
//	K5 rename history, then output  names that may or may not be there; the
//	                                inputs still are, and say the same
//	K6 sync the folder              the output for good, the inputs replaced
//
// An error leaves the inputs as they are, and no temporary file if the disk lets
// go of it.
func (s *Store) Rewrite(ctx context.Context, job Compaction) (Rewritten, error) {
	if !s.rewriting.TryLock() {
		return Rewritten{}, errRewriting()
	}
	defer s.rewriting.Unlock()
	begin := time.Now()
	r := s.newRewrite(ctx, job)
	defer r.sweep()
	if err := r.choose(); err != nil {
		return Rewritten{}, r.failed(err)
	}
	if err := r.count(); err != nil {
		return Rewritten{}, r.failed(err)
	}
	if !job.DryRun {
		if err := r.carryOut(); err != nil {
			return Rewritten{}, r.failed(err)
		}
	}
	r.got.Inputs, r.got.Took = job.Inputs, time.Since(begin)
	return r.got, nil
}

func (s *Store) newRewrite(ctx context.Context, job Compaction) *rewrite {
	r := &rewrite{s: s, ctx: ctx, job: job, now: s.now(), seed: maphash.MakeSeed(), worked: time.Now(), purged: s.table.purged(), decided: s.decided.hashes()}
	r.name = fileName{kind: Compacted, from: math.MaxUint32}
	for _, base := range job.Inputs {
		n := parseFileName(base)
		r.inputs = append(r.inputs, input{fileName: n, base: base})
		if n.kind != Odd {
			r.name.from, r.name.to = min(r.name.from, n.from), max(r.name.to, n.to)
		}
	}
	slices.SortFunc(r.inputs, input.order)
	return r
}

// count runs a compaction without writing anything.
func (r *rewrite) count() error {
	if err := r.foldAll(); err != nil {
		return err
	}
	if err := r.dropTombstones(); err != nil {
		return err
	}
	return r.measure()
}

func errRewriting() error {
	return memory.Errorf(memory.Busy, "a compaction is running; try again when it is done")
}

// failed says what went wrong in a way that a caller can act on.
func (r *rewrite) failed(err error) error {
	if _, ok := errors.AsType[*memory.Error](err); ok || r.ctx.Err() != nil {
		return err
	}
	code, reason := explain(r.s.data, err)
	if errors.Is(err, errVerify) {
		code, reason = memory.Internal, err.Error()
	}
	return memory.Errorf(code, "compaction stopped and left the log as it was: %s", reason)
}

func (r *rewrite) carryOut() error {
	if err := r.write(); err != nil {
		return err
	}
	v, err := r.verify()
	if err != nil {
		return err
	}
	if err := r.publish(); err != nil {
		return err
	}
	return r.commit(v)
}

func (s *Store) ownDir() string { return filepath.Join(s.data, "stm", s.device.String()) }

// choose checks the inputs against the folder.
func (r *rewrite) choose() error {
	entries, err := r.s.fs.ReadDir(r.s.ownDir())
	if err != nil {
		return err
	}
	for _, in := range r.inputs {
		if in.kind == History && !r.job.histories || r.s.isActive(in.base) {
			return memory.Errorf(memory.Invalid, "%s cannot be compacted: it is a history or still being written", in.base)
		}
		if l, err := firstLine(r.s.fs, filepath.Join(r.s.ownDir(), in.base)); err == nil && l.op == opSegment && l.version > formatVersion {
			return errLater(in.base)
		}
	}
	if r.name.to == 0 {
		return memory.Errorf(memory.Invalid, "there is no sealed segment to compact")
	}
	for _, e := range entries {
		n := parseFileName(e.Name())
		r.name.gen = max(r.name.gen, n.gen)
		between := (n.kind == Raw || n.kind == Compacted) && n.from <= r.name.to && r.name.from <= n.to
		if between && !slices.Contains(r.job.Inputs, e.Name()) {
			return memory.Errorf(memory.Invalid, "%s lies between the files to compact; compact it too", e.Name())
		}
	}
	r.name.gen++
	return nil
}

// order puts files so that stamps mostly rise: what a compacted file stands for
// before what came after it.
func (a input) order(b input) int {
	if a.kind != b.kind && (a.kind == Odd || b.kind == Odd) {
		if a.kind == Odd {
			return 1
		}
		return -1
	}
	if a.from != b.from {
		return int(a.from) - int(b.from)
	}
	return b.gen - a.gen
}

// isActive reports whether a file may still be written: while a segment gets its
// seal, its successor is there already.
func (s *Store) isActive(base string) bool {
	n := parseFileName(base)
	return n.kind == Raw && n.to >= s.unsealed.Load()
}

// each calls fn for every line of every input, in order. The second and later
// times the bytes must be those of the first.
func (r *rewrite) each(fn func(b, good []byte, l *line, is class) error) error {
	for i := range r.inputs {
		in := &r.inputs[i]
		r.archive = in.kind == History
		size, crc, err := r.scan(in, fn)
		if err != nil {
			return fmt.Errorf("compact %s: %w", in.base, err)
		}
		if in.read && (size != in.bytes || crc != in.crc) {
			return memory.Errorf(memory.Busy, "%s was changed while it was compacted; try again", in.base)
		}
		in.bytes, in.crc, in.read = size, crc, true
	}
	return nil
}

func (r *rewrite) scan(in *input, fn func(b, good []byte, l *line, is class) error) (int64, uint32, error) {
	f, err := r.s.fs.OpenRead(filepath.Join(r.s.ownDir(), in.base))
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	crc := crc32.New(castagnoli)
	var from io.Reader = f
	if in.read {
		from = io.LimitReader(f, in.bytes) // of one that still grows, what there was
	}
	size, err := scanLines(r.ctx, io.TeeReader(from, crc), atOnce(f, 0), func(b []byte, _ place, whole bool) error {
		l, good, is := classify(b, whole, r.s.device)
		if is == counted {
			r.fold.number(&l)
		}
		if b, good, is, _ = r.purged.redact(b, good, &l, is); is == empty || is == verbatim && r.decided[hashOf(b)] {
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
func (r *rewrite) rest() {
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

// scanLines calls fn for every line that is not empty, with its offset and
// length, and returns how many bytes there were. atOnce is how many to read. A line longer than MaxLine is
// an error.
func scanLines(ctx context.Context, from io.Reader, atOnce int, fn func(b []byte, at place, whole bool) error) (int64, error) {
	in := readLines(from, atOnce)
	for lines := 0; ; lines++ {
		if lines%1024 == 0 && ctx.Err() != nil {
			return in.off, context.Cause(ctx)
		}
		b, at, whole, err := in.next()
		if errors.Is(err, io.EOF) {
			return in.off, nil
		}
		if err != nil {
			return in.off, err
		}
		n := in.off - at
		if n > int64(len(b)) {
			return in.off, memory.Errorf(memory.Invalid, "a line at byte %d is longer than %d bytes, which no emberd writes; move the file out of the log", at, MaxLine)
		}
		if err := fn(b, place{off: at, n: uint32(n)}, whole); err != nil {
			return in.off, err
		}
	}
}

// foldAll is K1.
func (r *rewrite) foldAll() error {
	r.fold = newFold(r.s.device, r.foreignTombstones())
	err := r.each(func(_, good []byte, l *line, is class) error {
		switch {
		case is == meta:
			return r.fold.meta(l)
		case r.archive: // superseded long ago
			return nil
		}
		switch is {
		case counted:
			return r.fold.add(l)
		case verbatim:
			r.fold.opaque = true
			r.got.Verbatim++
		}
		return nil
	})
	for _, in := range r.inputs {
		if in.kind != History {
			r.got.Before += in.bytes
		}
	}
	r.got.Lines = r.fold.count
	return err
}

// meta takes the sequence numbers that a header or a seal accounts for. A file
// of a later format is refused: what its lines mean may have changed.
func (f *fold) meta(l *line) error {
	f.newest = later(f.newest, l.stamp)
	if l.op == opSeal {
		var end seal
		if json.Unmarshal(l.data, &end) == nil {
			f.last = max(f.last, end.Last)
		}
		return nil
	}
	h, err := decodeHeader(l.data)
	if err != nil || h.Format > formatVersion {
		return errLater("it")
	}
	if f.first == 0 || h.First < f.first {
		f.first = h.First
	}
	f.last = max(f.last, h.Last)
	f.lost = append(f.lost, h.Lost...)
	if at, err := ParseStamp(h.Floor); err == nil {
		f.hold(at, h.Seen)
	}
	if since := h.since(); since.After(f.since) {
		f.since = since
	}
	return nil
}

func errLater(name string) error {
	return memory.Errorf(memory.Incompatible, "%s was written by a later version of emberd and stays as it is; update this one", name)
}

// measure runs everything but the writing, which tells what the files will be.
func (r *rewrite) measure() error {
	r.emitter = r.newEmitter(nil, nil)
	if err := r.emit(r.fold.value); err != nil {
		return err
	}
	e := r.emitter
	r.got.Whole, r.got.Cut, r.got.Superseded = e.count.whole, e.count.cut, e.count.gone
	r.got.Repeated, r.got.Expired = e.count.repeated, e.count.expired
	r.got.Output = r.name.String()
	head, seal := r.frame(e.hot, Compacted)
	r.got.After = e.hot.size + int64(len(head)+len(seal))
	if e.cold.lines > 0 {
		head, seal = r.frame(e.cold, History)
		r.got.History, r.got.HistoryBytes = r.name.companion().String(), e.cold.size+int64(len(head)+len(seal))
	}
	return nil
}

func (r *rewrite) newEmitter(hot, cold io.Writer) *emitter {
	file := func(w io.Writer) *output { return &output{w: w, seen: lineSet{seed: r.seed}} }
	return &emitter{fold: r.fold, now: r.now, trashKeep: r.s.trashKeep, historyKeep: r.job.HistoryKeep,
		hot: file(hot), cold: file(cold), kept: lineSum{seed: r.seed}}
}

// emit runs the inputs through the emitter; value sees every change.
func (r *rewrite) emit(value func(*change, Stamp, maphash.Seed)) error {
	err := r.each(func(b, good []byte, l *line, is class) error {
		if is == meta {
			return nil
		}
		if r.archive {
			return r.emitter.archived(b, good, l, is)
		}
		if is == counted {
			for i := range l.changes {
				value(&l.changes[i], l.stamp, r.seed)
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
func (r *rewrite) frame(o *output, kind Kind) (head, end []byte) {
	h := header{Dev: r.s.device.String(), From: r.name.from, Segment: r.name.to, First: max(r.fold.first, 1),
		Last: r.fold.last, Format: formatVersion, Created: r.now.UTC().Format(time.RFC3339), Generation: r.name.gen}
	if kind == Compacted {
		h.Lost, h.History = r.fold.lost, r.emitter.cold.lines
		h.Since = r.since().UTC().Format(time.RFC3339)
		if h.Seen = r.fold.seen; h.Seen != nil {
			h.Floor = r.fold.floor.String()
		}
		for _, in := range r.inputs {
			h.Replaces = append(h.Replaces, replaced{in.base, in.bytes, fmt.Sprintf("%08x", in.crc)})
		}
	} else {
		h.Oldest, h.Newest = o.oldest.String(), o.newest.String()
	}
	at := r.fold.newest
	if at.IsZero() { // not a line of the inputs can be read
		at = Stamp{T: uint64(max(1, r.now.UnixMilli())) << 16, Dev: r.s.device}
	}
	return metaLine(opSegment, at, h), o.end(at, r.fold.last)
}

// since is from when on nothing is lost for good: in seconds, so rounded up.
func (r *rewrite) since() time.Time {
	if at := r.now.Add(time.Second - r.job.HistoryKeep); at.After(r.fold.since) {
		return at
	}
	return r.fold.since
}

// sweep removes what a failure left. What cannot be removed goes at the next
// start.
func (r *rewrite) sweep() {
	for _, name := range r.temps {
		if err := r.s.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.s.log.Warn("temporary file of a compaction not removed", "file", name, "error", err)
		}
	}
}
