package ledger

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"emberd/internal/durable"
	"emberd/internal/ledger/chain"
	"emberd/internal/stamp"
	"emberd/memory"
)

// The kinds of lines in the chain besides [Looked], [Wrote], [Merged] and [Forgot]. Each batch of
// lines begins with a mark: where journal and reads were before it.
const (
	started  = "start"   // mark: the first of a process
	kept     = "kept"    // mark: a later one
	stopped  = "stop"    // mark: an orderly end, nothing follows in this process
	found    = "found"   // a change that was in the journal without a line, at the next mark
	purging  = "purge"   // memories of which nothing is kept from then on
	expired  = "expire"  // superseded changes from before Before may go
	restored = "restore" // a backup replaced the journal
	ahead    = "ahead"   // the journal was closed after a line that the chain does not have
)

// Bounds of the chain's lines.
const (
	maxDigests = 100 // memories that a line names
	maxBatch   = 500 // lines that are written at once
)

// Journal is the log, as far as the chain is compared with it.
type Journal interface {
	// End returns the number and the stamp of this device's last line, and whether there is
	// certainly no later one.
	End() (seq uint64, stamp string, certain bool)
	// Settle waits until End tells of everything that Changes can have met.
	Settle() error
	// Changes calls fn for every change on the disk, of all devices and in any order, and for
	// some twice. The error is fs.ErrNotExist if it has to be called again.
	Changes(fn func(*Change)) error
	// Closed returns the last orderly end of a device's journal with a seal, nil if there is none.
	Closed(device stamp.Device) *Change
}

// event is what the chain is told: a read, or a change with its place in the journal.
type event struct {
	Read
	kind   string
	change *Change
	before time.Time
	note   string // of a change that was found
}

// point is where journal and reads are.
type point struct {
	Seq   uint64 // of the last line in the journal
	Stamp string
	Read  int64 // the number of the next read
}

func (p point) after(e *event) point {
	if e.change != nil {
		p.Seq, p.Stamp = e.change.Seq, e.change.Stamp
	}
	if e.kind == Looked {
		p.Read = e.Seq + 1
	}
	return p
}

// extent is which reads are kept: from the first to the one before the next.
type extent struct{ First, Next int64 }

func extentOf(reads []held, next int64) extent {
	if len(reads) == 0 {
		return extent{next, next}
	}
	return extent{reads[0].Seq, next}
}

// batch is what happened since the last one.
type batch struct {
	events []event
	from   point // before the first of them
	first  int64 // read that is kept after them
	lost   bool  // there were more before, which are not here
}

// note keeps an event for the chain. Mu must be held.
func (l *Ledger) note(e event) {
	if l.chain == nil {
		return
	}
	l.pending = append(l.pending, e)
	if len(l.pending) > maxPending {
		for i := range l.pending {
			l.from = l.from.after(&l.pending[i])
		}
		l.pending, l.lost = nil, true
	}
}

// takePending returns what happened since the last call. Mu must be held.
func (l *Ledger) takePending() *batch {
	b := &batch{events: l.pending, from: l.from, first: extentOf(l.reads, l.seq).First, lost: l.lost}
	for i := range b.events {
		l.from = l.from.after(&b.events[i])
	}
	l.pending, l.lost = nil, false
	return b
}

// giveBack is for a batch, or the rest of one, that could not be sealed. Mu must be held.
func (l *Ledger) giveBack(b *batch) {
	if l.lost { // there was no room for what came after it
		return
	}
	l.pending, l.from, l.lost = append(b.events, l.pending...), b.from, b.lost
}

// Follow says where the journal is. It must be called before the journal gets a change.
func (l *Ledger) Follow(j Journal) {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.follow(j)
}

func (l *Ledger) follow(j Journal) {
	if l.journal != nil {
		return
	}
	l.journal = j
	l.mu.Lock()
	defer l.mu.Unlock()
	l.from.Seq, l.from.Stamp, _ = j.End()
}

// Begin has the chain say that this process writes, before it does: a later process then takes what
// it finds for what a crash left. Only the first call does something, and a failure is logged.
func (l *Ledger) Begin(j Journal) {
	if l.chain == nil || l.asked.Swap(true) {
		return
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	l.follow(j)
	if err := l.beginSealing(); err != nil {
		l.opt.Logger.Warn("cannot start the audit log; retrying", "err", err)
	}
}

// beginSealing seals what happened so far. Writing must be held.
func (l *Ledger) beginSealing() error {
	if l.begun {
		return nil
	}
	l.mu.Lock()
	b := l.takePending()
	l.mu.Unlock()
	return l.seal(b)
}

// seal appends a batch to the chain, and what is counted next. Writing must be held.
func (l *Ledger) seal(b *batch) error {
	err := l.sealBegin(b)
	for counted := l.next == l.counts; err == nil && (len(b.events) > 0 || !counted); counted = true {
		some := b.events[:min(len(b.events), maxBatch)]
		if err = l.append(l.mark(kept, b.from, b.first), some); err != nil {
			break
		}
		for i := range some {
			b.from = b.from.after(&some[i])
		}
		b.events = b.events[len(some):]
	}
	if err != nil {
		l.mu.Lock()
		l.giveBack(b)
		l.mu.Unlock()
	}
	return err
}

// sealBegin says that the process begins, if it was not said, and takes down what the journal has
// from before the batch and the chain has not.
func (l *Ledger) sealBegin(b *batch) error {
	if l.begun && !b.lost {
		return nil
	}
	report, err := l.chain.Open()
	if err != nil {
		l.Damage.note(l.opt.Logger, err.Error())
		return err
	}
	for _, problem := range report.News() {
		l.Damage.note(l.opt.Logger, problem)
	}
	upTo, missed, err := l.missed(report, b.from)
	if err != nil {
		return fmt.Errorf("cannot read the log for the audit log: %w", err)
	}
	if n, ok := l.closedAfter(deviceOf(b.from.Stamp)); ok && n > report.End() {
		missed = append(missed, event{kind: ahead, note: closedAhead(n, report.End())})
	}
	mark := l.mark(kept, upTo, b.first)
	if !l.begun {
		mark = l.mark(started, upTo, l.saved.First)
		mark.Counts[1] = l.counts
	}
	if b.lost {
		mark.Note = "the daemon dropped earlier lines because it could not write the audit log"
	}
	if err := l.append(mark, nil); err != nil {
		return err
	}
	for some := range slices.Chunk(missed, maxBatch) {
		if err := l.append(l.mark(kept, upTo, mark.First), some); err != nil {
			return err
		}
		upTo = upTo.after(&some[len(some)-1])
	}
	l.begun, b.lost = true, false
	return nil
}

// ChainDamage is damage of the audit log that this process was the first to find.
type ChainDamage struct{ last atomic.Pointer[string] }

func (d *ChainDamage) note(log *slog.Logger, what string) {
	if was := d.last.Swap(&what); was == nil || *was != what {
		log.Warn("audit log damaged", "problem", what)
	}
}

// Warning says what is wrong and what to do, "" if nothing was found since the start.
func (d *ChainDamage) Warning() string {
	what := d.last.Load()
	if what == nil {
		return ""
	}
	return "the audit log is damaged (" + *what + "); to list the damaged records, run: emberd audit --check"
}

// missed returns where the chain is in the journal, and the changes of this device between that and
// a point, in their order.
func (l *Ledger) missed(report *chain.Report, upTo point) (after point, out []event, err error) {
	device := deviceOf(upTo.Stamp)
	after, known, seals := sealedUpTo(report.Lines, device)
	if !known {
		return upTo, nil, nil
	}
	after.Read = upTo.Read
	if upTo.Seq <= after.Seq || l.journal == nil {
		return after, nil, nil
	}
	err = changesOf(l.journal, func() { out = nil }, func(c *Change) {
		if deviceOf(c.Stamp) == device && c.Seq > after.Seq && c.Seq <= upTo.Seq {
			e := changed(c, found, l.now())
			e.note = l.vouchFor(c, report.End(), seals)
			out = append(out, *e)
		}
	})
	slices.SortStableFunc(out, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.change.Seq, b.change.Seq), -cmp.Compare(len(a.IDs), len(b.IDs)))
	})
	return after, slices.CompactFunc(out, func(a, b event) bool { return a.change.Seq == b.change.Seq }), err
}

// changesOf reads the journal again while compaction replaces files of it.
func changesOf(j Journal, reset func(), fn func(*Change)) error {
	for tries := 0; ; tries++ {
		reset()
		if err := j.Changes(fn); !errors.Is(err, fs.ErrNotExist) || tries == 5 {
			return err
		}
	}
}

func changed(c *Change, kind string, at time.Time) *event {
	by := asStored(c.By)
	return &event{kind: kind, change: c, Read: Read{At: at, By: Of(by), PID: by.PID, What: c.What, IDs: c.IDs}}
}

// asStored is an actor as it is read back from JSON, which has no bytes that are not UTF-8.
func asStored(a memory.Actor) memory.Actor {
	if utf8.ValidString(a.Token) && utf8.ValidString(a.Client) && utf8.ValidString(a.Via) {
		return a
	}
	var out memory.Actor
	text, err := json.Marshal(a)
	if err != nil || json.Unmarshal(text, &out) != nil {
		return a
	}
	return out
}

func (l *Ledger) mark(kind string, at point, first int64) chain.Line {
	return chain.Line{Kind: kind, Seq: at.Seq, Stamp: at.Stamp, Read: at.Read, First: first,
		Saved: [2]int64{l.saved.First, l.saved.Next}, Counts: [2]string{l.counts, l.next}, Seals: true}
}

func (l *Ledger) append(mark chain.Line, events []event) error {
	return l.chain.Append(func() []chain.Line {
		lines := []chain.Line{mark}
		for i := range events {
			lines = append(lines, l.line(&events[i]))
		}
		return lines
	})
}

func (l *Ledger) line(e *event) chain.Line {
	line := chain.Line{At: e.At, Kind: e.kind, What: e.What, PID: e.PID, Tx: e.Tx, Read: e.Seq,
		Before: e.before, Note: e.note}
	if e.By != (Caller{}) {
		line.By = e.By.String()
	}
	if c := e.change; c != nil {
		line.Tx, line.Seq, line.Stamp = c.Tx, c.Seq, c.Stamp
	}
	if len(e.IDs) > maxDigests {
		line.Of = len(e.IDs)
	}
	for _, id := range e.IDs[:min(len(e.IDs), maxDigests)] {
		line.IDs = append(line.IDs, l.chain.Digest(string(id)))
	}
	return line
}

// sealedUpTo returns the last line of a device's journal that the chain tells of, whether there is
// one, and whether the device seals its changes.
func sealedUpTo(lines []chain.Line, device stamp.Device) (last point, known, seals bool) {
	for i := range lines {
		if line := &lines[i]; line.Stamp != "" && deviceOf(line.Stamp) == device {
			seals = seals || line.Seals
			if known = true; line.Seq >= last.Seq {
				last.Seq, last.Stamp = line.Seq, line.Stamp
			}
		}
	}
	return last, known, seals
}

// Purged takes down that nothing of some memories will be kept, in the journal either. It returns
// when the chain has that on the disk.
func (l *Ledger) Purged(ids []memory.ID) error {
	l.mu.Lock()
	l.notePurged(ids)
	l.dirty = true
	l.mu.Unlock()
	return l.Flush()
}

// notePurged must be called with mu held.
func (l *Ledger) notePurged(ids []memory.ID) {
	for some := range slices.Chunk(ids, maxDigests) {
		l.note(event{kind: purging, Read: Read{At: l.now(), IDs: some}})
	}
}

// Expiring takes down that superseded changes from before a moment may leave the journal. It
// returns when the chain has that on the disk.
func (l *Ledger) Expiring(before time.Time) error {
	l.mu.Lock()
	l.note(event{kind: expired, Read: Read{At: l.now()}, before: before.UTC().Truncate(time.Millisecond)})
	l.dirty = true
	l.mu.Unlock()
	return l.Flush()
}

// Restored takes down in the chain of a folder that a backup replaces the journal. Nothing else
// may use the chain. A folder without a chain stays so.
func Restored(disk durable.FS, dir string, now func() time.Time) error {
	if _, err := disk.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	c := chain.New(disk, dir, now)
	err := c.Append(func() []chain.Line { return []chain.Line{{Kind: restored}} })
	return errors.Join(err, c.Close())
}

// end says that this process ends in order. Writing must be held.
func (l *Ledger) end() error {
	if !l.begun {
		return nil
	}
	l.mu.Lock()
	at, first, open := l.from, extentOf(l.reads, l.seq).First, len(l.pending) > 0 || l.lost
	l.mu.Unlock()
	certain := true
	if l.journal != nil {
		at.Seq, at.Stamp, certain = l.journal.End()
	}
	if open || !certain || l.saved != (extent{first, at.Read}) {
		return nil
	}
	l.begun = false
	return l.append(l.mark(stopped, at, first), nil)
}
