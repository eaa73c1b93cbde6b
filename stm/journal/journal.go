package journal

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"
	"time"

	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/record"
)

// Journal remembers, in stamp order, where every transaction line is. Lines
// that compaction moved to a history are not among refs; what was read of
// histories is in cold until the next compaction.
type Journal struct {
	*device.Home
	*FileTable
	Histories histories

	mu     sync.RWMutex // guards all
	Refs   []record.LineRef
	late   []record.LineRef // out of order; the next reader sorts them in
	Cold   []record.LineRef
	loaded bool
	swaps  int                           // how often lines were swapped
	Undone map[record.Stamp]record.Stamp // entry to the latest entry that took it back
}

func NewJournal(h *device.Home, files *FileTable) *Journal {
	return &Journal{Home: h, FileTable: files, Undone: map[record.Stamp]record.Stamp{}}
}

// Reset empties the journal. It is for the goroutine that opens the log.
func (j *Journal) Reset() { j.Refs, j.late, j.Undone = nil, nil, map[record.Stamp]record.Stamp{} }

func (j *Journal) Add(l *record.Line) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.insert(record.RefOf(l))
	markUndone(j.Undone, l)
}

// markUndone notes the entry that a line takes back.
func markUndone(undone map[record.Stamp]record.Stamp, l *record.Line) {
	if !l.Ref.IsZero() {
		undone[l.Ref] = record.Later(undone[l.Ref], l.Tx)
	}
}

// insert keeps refs in order. Own lines come in order; those of other devices
// may not, and one after another they would be moved again and again.
func (j *Journal) insert(r record.LineRef) {
	if n := len(j.Refs); n == 0 || r.Stamp.After(j.Refs[n-1].Stamp) {
		j.Refs = append(j.Refs, r)
		return
	}
	j.late = append(j.late, r)
}

// Read locks for reading, with every ref in order.
func (j *Journal) Read() (unlock func()) {
	j.mu.RLock()
	for len(j.late) > 0 {
		j.mu.RUnlock()
		j.mu.Lock()
		j.order()
		j.mu.Unlock()
		j.mu.RLock()
	}
	return j.mu.RUnlock
}

// order merges late into refs. It copies, since readers hold parts of refs.
func (j *Journal) order() {
	if len(j.late) > 0 {
		j.Refs, j.late = MergedRefs(j.Refs, InOrder(j.late)), nil
	}
}

// InOrder sorts refs. Of a line met twice the later place counts, unless it was
// cut there.
func InOrder(refs []record.LineRef) []record.LineRef {
	slices.SortStableFunc(refs, func(a, b record.LineRef) int { return a.Stamp.Compare(b.Stamp) })
	out := refs[:0]
	for _, r := range refs {
		switch n := len(out); {
		case n == 0 || out[n-1].Stamp != r.Stamp:
			out = append(out, r)
		case out[n-1].Cut || !r.Cut:
			out[n-1] = r
		}
	}
	return out
}

// Tell calls fn with the stamp of every line.
func (j *Journal) Tell(fn func(record.Stamp)) {
	defer j.Read()()
	for _, r := range j.Refs {
		fn(r.Stamp)
	}
}

// Swap takes out the lines of files that are replaced, and puts in those of the
// file that replaces them. It forgets what was read of histories, of which
// there is one more.
func (j *Journal) Swap(gone func(file uint32) bool, refs []record.LineRef) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.order()
	left := slices.DeleteFunc(slices.Clone(j.Refs), func(r record.LineRef) bool { return gone(r.At.File) })
	j.Refs, j.Cold, j.loaded = MergedRefs(left, refs), nil, false
	j.swaps++
}

// historyState returns whether histories were read already, and the swaps when
// reading began, which loadHistory needs.
func (j *Journal) historyState() (loaded bool, swaps int) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.loaded, j.swaps
}

// addHistory takes what was read of histories. If a compaction came between, its history
// is not among them, and the next question reads again.
func (j *Journal) addHistory(cold []record.LineRef, undone map[record.Stamp]record.Stamp, swaps int, all bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for tx, by := range undone {
		j.Undone[tx] = record.Later(j.Undone[tx], by)
	}
	j.Cold, j.loaded = InOrder(cold), all && swaps == j.swaps
}

// MergedRefs joins two lists in order. Of a line in both that of b counts,
// unless it was cut there and is whole in a.
func MergedRefs(a, b []record.LineRef) []record.LineRef {
	if len(b) == 0 {
		return a
	}
	out := make([]record.LineRef, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := a[0].Stamp.Compare(b[0].Stamp); {
		case c < 0:
			out, a = append(out, a[0]), a[1:]
		case c > 0:
			out, b = append(out, b[0]), b[1:]
		case a[0].Cut || !b[0].Cut:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// CutLines are the lines that say a part of what they did, and of which no other line says all.
func (j *Journal) CutLines() []record.LineRef {
	j.LoadHistory()
	defer j.Read()()
	return slices.DeleteFunc(slices.Clone(MergedRefs(j.Refs, j.Cold)), func(r record.LineRef) bool { return !r.Cut })
}

// newest returns the latest entry of a device that a caller asked for, that still
// stands and is not itself an undo; with whole, one of which no line is cut.
func (j *Journal) newest(of record.Device, whole bool) (record.Stamp, bool) {
	defer j.Read()()
	for _, r := range slices.Backward(MergedRefs(j.Refs, j.Cold)) {
		if r.Tx.Dev == of && !r.Undo && !j.takenBack(r.Tx) && !j.isUndo(r.Tx, whole) {
			return r.Tx, true
		}
	}
	return record.Stamp{}, false
}

// isUndo reports whether any line of an entry says that it takes another back, or with orCut is cut.
func (j *Journal) isUndo(tx record.Stamp, orCut bool) bool {
	return slices.ContainsFunc(j.linesOf(tx), func(r record.LineRef) bool { return r.Undo || orCut && r.Cut })
}

// Lines returns the lines of an entry, oldest first, and whether it was undone.
func (j *Journal) Lines(tx record.Stamp) (refs []record.LineRef, undone bool) {
	defer j.Read()()
	return j.linesOf(tx), j.takenBack(tx)
}

// takenBack reports whether an entry was undone by one that was not undone
// itself.
func (j *Journal) takenBack(tx record.Stamp) bool {
	by, ok := j.Undone[tx]
	return ok && by.After(tx) && !j.takenBack(by)
}

func (j *Journal) linesOf(tx record.Stamp) []record.LineRef {
	var refs []record.LineRef
	for _, all := range [][]record.LineRef{j.Refs, j.Cold} {
		i, _ := slices.BinarySearchFunc(all, tx, func(a record.LineRef,
			s record.Stamp) int {
			return a.Stamp.Compare(s)
		})
		for _, r := range all[i:] {
			if r.Tx == tx {
				refs = append(refs, r)
			}
		}
	}
	return InOrder(refs)
}

// ReadLine reads the line with a stamp back from the log and checks it again.
func (j *Journal) ReadLine(at record.Place, stamp record.Stamp) (record.Line, error) {
	name := j.FileName(at.File)
	if name == "" {
		return record.Line{}, memory.Errorf(memory.Busy, "the log was compacted during the undo; try again")
	}
	f, err := j.FS.OpenRead(name)
	if err != nil {
		return record.Line{}, device.Fault(j.Data, err)
	}
	defer f.Close()
	b := make([]byte, at.N)
	if _, err := f.ReadAt(b, at.Off); err != nil && err != io.EOF {
		return record.Line{}, device.Fault(j.Data, err)
	}
	b, err = record.Trim(b)
	if err != nil {
		return record.Line{}, fmt.Errorf("read %s at %d: %w", name, at.Off, err)
	}
	l, err := record.Decode(b)
	if err == nil && l.Stamp != stamp {
		err = fmt.Errorf("cannot read the log record in %s at byte %d: found another record", name, at.Off)
	}
	l.At = at
	return l, err
}

// TrashItem is one forgotten memory, without its text.
type TrashItem struct {
	ID               memory.ID
	Forgotten, Until time.Time
	Entry            string
}

func NotTrashed(id memory.ID) error {
	return memory.Errorf(memory.NotFound, "memory %s is not in the trash; run: emberd list --trash", id)
}

// Joined finds the journal entry that a transaction wants to be part of.
func (j *Journal) Joined(name string) (record.Stamp, error) {
	tx, err := record.ParseStamp(name)
	if err != nil {
		return tx, memory.Errorf(memory.Invalid, "invalid change ID: %w", err).At("tx")
	}
	if !j.hasEntry(tx) {
		return tx, memory.Errorf(memory.NotFound, "change %s not found; run: emberd history", tx).At("tx")
	}
	return tx, j.Stands(tx)
}

// Stands refuses what would continue with an entry that was undone: nothing could take that
// back any more.
func (j *Journal) Stands(tx record.Stamp) error {
	if _, undone := j.Lines(tx); undone {
		return memory.Errorf(memory.Conflict,
			"cannot continue change %s, because the change was undone in the meantime; start the operation again",
			tx).At("tx")
	}
	return nil
}

// Since returns the lines after a stamp, oldest first. Histories are read when they may matter.
func (j *Journal) Since(at record.Stamp) []record.LineRef {
	if j.Histories.mayHold(at) {
		j.LoadHistory()
	}
	defer j.Read()()
	all := MergedRefs(j.Refs, j.Cold)
	i := sort.Search(len(all), func(i int) bool { return all[i].Stamp.After(at) })
	return slices.Clone(all[i:])
}

// UndosOf returns the entries that took an entry back and stand, oldest first.
func (j *Journal) UndosOf(tx record.Stamp) (undos []record.Stamp) {
	for _, r := range j.Since(tx) {
		if !r.Undo {
			continue
		}
		l, err := j.ReadLine(r.At, r.Stamp)
		if err != nil || l.Ref != tx || slices.Contains(undos, l.Tx) {
			continue
		}
		if _, undone := j.Lines(l.Tx); !undone {
			undos = append(undos, l.Tx)
		}
	}
	return undos
}

// EntryAt is the entry of the line with a stamp.
func (j *Journal) EntryAt(stamp record.Stamp) (tx record.Stamp, ok bool) {
	defer j.Read()()
	for _, refs := range [][]record.LineRef{j.Refs, j.Cold} {
		i := sort.Search(len(refs), func(i int) bool { return !stamp.After(refs[i].Stamp) })
		if i < len(refs) && refs[i].Stamp == stamp {
			return refs[i].Tx, true
		}
	}
	return record.Stamp{}, false
}

// Before returns the latest entries before one, newest first.
func (j *Journal) Before(entry record.Stamp, limit int) (chosen []record.Stamp, total int) {
	defer j.Read()()
	all := make([]record.Stamp, 0, len(j.Refs)+len(j.Cold))
	for _, r := range MergedRefs(j.Refs, j.Cold) {
		all = append(all, r.Tx)
	}
	slices.SortFunc(all, func(a, b record.Stamp) int { return b.Compare(a) })
	all = slices.Compact(all)
	i := 0
	if !entry.IsZero() {
		i, _ = slices.BinarySearchFunc(all, entry, func(a, b record.Stamp) int { return b.Compare(a) })
		if i < len(all) && all[i] == entry {
			i++
		}
	}
	return all[i:min(i+limit, len(all))], len(all)
}
