package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"emberd/internal/contain"
	"emberd/internal/words"
	"emberd/memory"
	"emberd/stm/journal"
	"emberd/stm/record"
	"emberd/stm/table"
)

var (
	errPlace = errors.New("the snapshot refers to a file that is not in its file list")
	errCount = errors.New(
		"invalid part of the snapshot: the sizes of its entries add up to more than the length of the part")
)

// Meta reads what the snapshot tells about its log.
func (f *File) Meta() (*Meta, error) {
	for e := range f.of(kindMeta) {
		b, err := f.content(e)
		if err != nil {
			return nil, err
		}
		d := &record.Decoder{B: b}
		m := getMeta(d)
		return m, d.Err
	}
	return nil, fmt.Errorf("%w: part %q is missing", errNone, kindMeta)
}

func getMeta(d *record.Decoder) *Meta {
	m := &Meta{Analyzer: d.Text(), Seen: map[record.Device]*record.Ranges{}, Taken: map[string]bool{}}
	m.Device, _ = record.ParseDevice(d.Text())
	m.Clock, m.Seq, m.Dead, m.LastUse = d.Uint(), d.Uint(), int64(d.Uint()), int64(d.Uint())
	for range d.Count(6) {
		m.Files = append(m.Files, Mark{Name: d.Text(), Size: int64(d.Uint()), MTime: int64(d.Uint()),
			Inode: d.Uint(), Growing: d.Bool(), Sum: uint32(d.Uint())})
	}
	for range d.Count(9) {
		dev, _ := record.ParseDevice(d.Text())
		m.Seen[dev] = d.Spans()
	}
	m.Lost = *d.Spans()
	for range d.Count(1) {
		m.Taken[d.Text()] = true
	}
	return m
}

// each decodes the parts of one kind, whose items take size bytes at least, with one decoder, so
// that texts that repeat are held once.
func (f *File) each(k kind, size int, get func(d *record.Decoder, n int)) error {
	d := &record.Decoder{}
	for e := range f.of(k) {
		if err := f.decode(e, d, size, get); err != nil {
			return err
		}
	}
	return nil
}

// decode decodes one part.
func (f *File) decode(e *entry, d *record.Decoder, size int, get func(d *record.Decoder, n int)) error {
	b, err := f.content(e)
	if err != nil {
		return err
	}
	if int64(e.count) > e.length/int64(size) {
		return fmt.Errorf("part %q at %d: %w", e.kind, e.at, errCount)
	}
	d.B, d.At = b, 0
	if get(d, int(e.count)); d.Err != nil {
		return fmt.Errorf("part %q at %d: %w", e.kind, e.at, d.Err)
	}
	return nil
}

// atOnce is each for parts that may be decoded in any order, on all processors. Each of these has a decoder of its
// own; get is called by several goroutines at once.
func (f *File) atOnce(k kind, size int, get func(d *record.Decoder, n int)) error {
	var (
		parts   = slices.Collect(f.of(k))
		errs    = make([]error, len(parts))
		next    atomic.Int64
		decoded contain.Group
	)
	for range min(len(parts), runtime.GOMAXPROCS(0)) {
		decoded.Go(func() {
			d := &record.Decoder{}
			for i := int(next.Add(1)) - 1; i < len(parts) && d.Err == nil; i = int(next.Add(1)) - 1 {
				errs[i] = f.decode(parts[i], d, size, get)
			}
		})
	}
	decoded.Wait()
	return cmp.Or(errs...)
}

// Journal fills a journal, whose places are in the first files of the log.
func (f *File) Journal(j *journal.Journal, files int) error {
	j.Refs = make([]record.LineRef, 0, f.count(kindRefs, refSize))
	err := f.each(kindRefs, refSize, func(d *record.Decoder, n int) { getRefs(d, n, j, files) })
	if err != nil {
		return err
	}
	return f.each(kindUndone, 32, func(d *record.Decoder, n int) { getUndone(d, n, j) })
}

// What an item takes at least.
const (
	refSize   = 37
	rowSize   = 16
	graveSize = 48
	purgeSize = 33

	openedSize = 16 + 8 + 1
	bareSize   = 32
)

func getRefs(d *record.Decoder, n int, j *journal.Journal, files int) {
	for range n {
		j.Refs = append(j.Refs, record.LineRef{Stamp: d.Stamp(), Tx: d.Stamp(), At: getPlace(d, files),
			Undo: d.Bool(), Cut: d.Bool()})
	}
}

func getUndone(d *record.Decoder, n int, j *journal.Journal) {
	for range n {
		tx := d.Stamp()
		j.Undone[tx] = d.Stamp()
	}
}

// getPlace reads a place in one of so many files.
func getPlace(d *record.Decoder, files int) record.Place {
	at := d.Place()
	if int64(at.File) >= int64(files) && d.Err == nil {
		d.Err = errPlace
	}
	return at
}

// Keys fills the index of idempotency keys.
func (f *File) Keys(keys *journal.Keys) error {
	return f.each(kindKeys, 5, func(d *record.Decoder, n int) { getKeys(d, n, keys) })
}

func getKeys(d *record.Decoder, n int, keys *journal.Keys) {
	for range n {
		key := d.Text()
		use := journal.KeyUse{Replayed: journal.Replayed{Entry: d.Text(), Hash: d.Text()},
			At: record.Millis(int64(d.Uint()))}
		for range d.Count(1) {
			use.IDs = append(use.IDs, memory.ID(d.Text()))
		}
		keys.Known[key] = use
	}
}

// Table fills an empty table and returns the cells of live memories by the number of their document in the word
// index, and those of them that are cold. Deletes have places in the first files of the log. again is for the files
// that documents are in, see [table.DocFile].
func (f *File) Table(t *table.Table, files int,
	again func(*table.Row) ([]byte, error)) (byDoc, cold []*table.Cell, err error) {
	t.Cells = make(map[[16]byte]*table.Cell, f.count(kindRows, rowSize))
	in := filling{t: t, version: f.version}
	if in.files, err = f.openDocuments(); err != nil {
		return nil, nil, err
	}
	for _, file := range in.files {
		file.Again = again
	}
	if err := f.atOnce(kindRows, rowSize, in.rows); err != nil {
		return nil, nil, err
	}
	if err := f.each(kindOpened, openedSize, in.opened); err != nil {
		return nil, nil, err
	}
	if err := f.each(kindGraves, graveSize, func(d *record.Decoder, n int) { getGraves(d, n, t, files) }); err != nil {
		return nil, nil, err
	}
	if err := f.each(kindBare, bareSize, func(d *record.Decoder, n int) { getBare(d, n, t) }); err != nil {
		return nil, nil, err
	}
	return in.byDoc, in.cold, f.each(kindPurges, purgeSize, func(d *record.Decoder, n int) { getPurges(d, n, t) })
}

// filling is a table that takes rows in. Several goroutines may decode rows for it.
type filling struct {
	version int              // of the snapshot
	files   []*table.DocFile // that documents are in

	taking sync.Mutex // guards the fields below
	t      *table.Table
	byDoc  []*table.Cell
	cold   []*table.Cell // of byDoc
	regs   table.SharedRegisters
}

// rows takes n rows in, up to the first that cannot be decoded. Those of older versions keep the bytes that they are
// decoded from.
func (in *filling) rows(d *record.Decoder, n int) {
	rows, docs := make([]table.Row, n), make([]uint32, n)
	for i := range rows {
		if docs[i] = in.row(d, &rows[i]); d.Err != nil {
			rows = rows[:i]
			break
		}
	}
	cells := make([]table.Cell, len(rows))
	in.taking.Lock()
	defer in.taking.Unlock()
	for i := range rows {
		in.regs.Share(&rows[i])
		cells[i].Row.Store(&rows[i])
		in.take(&cells[i], &rows[i], docs[i])
	}
}

// row decodes one row and returns the number of its document in the word index.
func (in *filling) row(d *record.Decoder, r *table.Row) (doc uint32) {
	switch in.version {
	case Version:
		return table.DecodeRow(d, r, in.files)
	case withoutParts:
		return table.DecodeRow8(d, r, in.files)
	case withAllDocuments:
		return table.DecodeRow7(d, r)
	}
	return table.DecodeRow6(d, r)
}

func (in *filling) take(c *table.Cell, r *table.Row, doc uint32) {
	in.t.Cells[r.Key] = c
	if r.Live() {
		in.t.Live.Add(1)
		in.t.Staged[r.Hot.Stage].Add(1)
	}
	if r.Cold() {
		in.t.Cold.Add(1)
	}
	if r.Odd != nil && r.Odd.Forgot != nil && !r.Odd.Forgot.At.IsZero() {
		in.t.NotePrint(r.Odd.Forgot.Print, r.Key)
	}
	if doc != 0 && doc <= words.MaxDocs && r.Live() {
		c.Doc.Store(doc)
		in.byDoc = append(in.byDoc, make([]*table.Cell, max(0, int(doc)-len(in.byDoc)))...)
		in.byDoc[doc-1] = c
		if r.Cold() {
			in.cold = append(in.cold, c)
		}
	}
}

// opened adds n openings to the rows that were taken in.
func (in *filling) opened(d *record.Decoder, n int) {
	for range n {
		o := table.DecodeOpened(d)
		if c := in.t.Cells[o.Key]; c != nil && d.Err == nil {
			c.Row.Store(table.WithOpened(c.Row.Load(), o))
		}
	}
}

func getGraves(d *record.Decoder, n int, t *table.Table, files int) {
	for range n {
		var key [16]byte
		copy(key[:], d.Take(16))
		g := table.TombstoneRef{Stamp: d.Stamp(), Tx: d.Stamp(), At: getPlace(d, files)}
		for range d.Count(1) {
			g.Aliases = append(g.Aliases, d.Text())
		}
		t.Graves[key] = g
	}
}

func getBare(d *record.Decoder, n int, t *table.Table) {
	for range n {
		var key [16]byte
		copy(key[:], d.Take(16))
		t.Bare[key] = d.Stamp()
	}
}

func getPurges(d *record.Decoder, n int, t *table.Table) {
	for range n {
		var key [16]byte
		copy(key[:], d.Take(16))
		t.Purges[key] = table.Purge{Stamp: d.Stamp(), Due: d.Bool()}
	}
}

// Words reads the word index.
func (f *File) Words() (*words.Index, error) {
	for e := range f.of(kindWords) {
		b, err := f.content(e)
		if err != nil {
			return nil, err
		}
		index, err := words.Read(b)
		if errors.Is(err, words.ErrVersion) {
			return nil, fmt.Errorf("%w: %w", ErrStale, err)
		}
		return index, err
	}
	return nil, fmt.Errorf("%w: part %q is missing", errNone, kindWords)
}
