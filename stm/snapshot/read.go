package snapshot

import (
	"errors"
	"fmt"

	"emberd/internal/words"
	"emberd/memory"
	"emberd/stm/journal"
	"emberd/stm/record"
	"emberd/stm/table"
)

var (
	errPlace = errors.New("it points to a file that it does not name")
	errCount = errors.New("it says that it holds more than it can")
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
		b, err := f.content(e)
		if err != nil {
			return err
		}
		if int64(e.count) > e.length/int64(size) {
			return fmt.Errorf("part %q at %d: %w", k, e.at, errCount)
		}
		d.B, d.At = b, 0
		if get(d, int(e.count)); d.Err != nil {
			return fmt.Errorf("part %q at %d: %w", k, e.at, d.Err)
		}
	}
	return nil
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

// Table fills an empty table and returns its cells by the number of their document in the word
// index. Deletes have places in the first files of the log.
func (f *File) Table(t *table.Table, files int) ([]*table.Cell, error) {
	t.Cells = make(map[[16]byte]*table.Cell, f.count(kindRows, rowSize))
	in := filling{t: t, plain: f.plain}
	if err := f.each(kindRows, rowSize, in.rows); err != nil {
		return nil, err
	}
	if err := f.each(kindOpened, openedSize, in.opened); err != nil {
		return nil, err
	}
	if err := f.each(kindGraves, graveSize, func(d *record.Decoder, n int) { getGraves(d, n, t, files) }); err != nil {
		return nil, err
	}
	if err := f.each(kindBare, bareSize, func(d *record.Decoder, n int) { getBare(d, n, t) }); err != nil {
		return nil, err
	}
	return in.byDoc, f.each(kindPurges, purgeSize, func(d *record.Decoder, n int) { getPurges(d, n, t) })
}

// filling is a table that takes rows in.
type filling struct {
	t     *table.Table
	byDoc []*table.Cell
	plain bool // rows are of the version withPlainRows
	regs  table.SharedRegisters
}

// rows takes n rows in, which keep the bytes that they are decoded from.
func (in *filling) rows(d *record.Decoder, n int) {
	rows, cells := make([]table.Row, n), make([]table.Cell, n)
	for i := range n {
		var doc uint32
		if in.plain {
			doc = table.DecodeRow6(d, &rows[i])
		} else {
			doc = table.DecodeRow(d, &rows[i], &in.regs)
		}
		if d.Err != nil {
			return
		}
		cells[i].Row.Store(&rows[i])
		in.take(&cells[i], &rows[i], doc)
	}
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
	if f := r.Rest().Forgot; f != nil && !f.At.IsZero() {
		in.t.NotePrint(f.Print, r.Key)
	}
	if doc != 0 && doc <= words.MaxDocs {
		c.Doc.Store(doc)
		in.byDoc = append(in.byDoc, make([]*table.Cell, max(0, int(doc)-len(in.byDoc)))...)
		in.byDoc[doc-1] = c
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
