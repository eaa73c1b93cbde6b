package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"emberd/internal/durable"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// PastView is what the log contains of an earlier moment: the memories that were live
// then, by the stamps of what was written, wherever it was. It does not change,
// and may be shared.
type PastView struct {
	table.MemorySet
	At time.Time
	// Began is the stamp of the oldest operation there is; zero if there is none.
	Began time.Time
	// Since is the moment from which on everything is told as it was; zero if all
	// is. Of what was superseded before, compaction has left out some: a memory
	// that was changed or forgotten between At and Since may be missing or in part.
	Since time.Time
	// Uncounted is how many of the memories were used at least as often as it says,
	// and maybe more: compaction keeps only the latest count.
	Uncounted int
}

// pastCache keeps the view of the past that was asked for last.
type pastCache struct {
	mu   sync.Mutex // held while one is read, and guards what follows
	last *PastView
	of   int64 // counters.rewritten when it was read
}

// At reads from the log, history files included, what the memories were at t:
// what is stamped up to that millisecond counts, undone or not as it was then.
// A memory that was purged since is not there. It takes about as long as a start
// without a snapshot; the answer to the last question is kept until [Store.LetGo].
// Writers do not wait for it.
func (s *Timeline) At(ctx context.Context, t time.Time) (*PastView, error) {
	s.last.mu.Lock()
	defer s.last.mu.Unlock()
	t = t.UTC().Truncate(time.Millisecond)
	s.wal.Asked.Store(t.UnixMilli())
	begun := s.wal.Rewritten.Load()
	if p := s.last.last; p != nil && p.At.Equal(t) && s.last.of == begun {
		return p, nil
	}
	now := s.wal.Now()
	for ctx.Err() == nil {
		p, err := s.readPast(ctx, t)
		if errors.Is(err, fs.ErrNotExist) {
			continue // compaction has replaced a file in the meantime
		}
		if err != nil {
			return nil, err
		}
		if t.Before(now) { // no use is counted for then any more
			s.last.last, s.last.of = p, begun
		}
		return p, nil
	}
	return nil, context.Cause(ctx)
}

// ReleasePast frees what [Store.At] keeps.
func (s *Timeline) ReleasePast() {
	s.last.mu.Lock()
	defer s.last.mu.Unlock()
	s.last.last = nil
}

// Index indexes the words of the memories, which a search needs to rank as one of
// those of now does. It returns early when ctx ends; once done it costs nothing.
func (p *PastView) Index(ctx context.Context) error { return p.BuildIndex(ctx) }

// pastReader adds up what counts at a moment.
type pastReader struct {
	s     *wal.Log
	at    record.Stamp // the last one that counts
	rows  map[[16]byte]*pastRow
	began record.Stamp
	since time.Time // see Past.Since
	// totals is per device the stamp up to which only the highest totals of use are
	// in the log.
	totals map[record.Device]record.Stamp
}

// pastRow is one memory: what was written up to the moment, and, where that may be
// missing by now, what later lines say they superseded.
type pastRow struct {
	*table.Row
	put    record.Stamp // last put up to the moment
	next   record.Stamp // first put or delete after the moment
	ended  []byte
	before map[string]earlierValue
}

// earlierValue is the value that a key had before it was written at a stamp later
// than the moment; null if it had none.
type earlierValue struct {
	at    record.Stamp
	value json.RawMessage
}

func (s *Timeline) readPast(ctx context.Context, t time.Time) (*PastView, error) {
	r := &pastReader{s: s.wal, rows: map[[16]byte]*pastRow{}, totals: map[record.Device]record.Stamp{}}
	r.at = record.Stamp{T: uint64(max(0, t.UnixMilli()))<<16 | 0xffff, Dev: record.MaxStamp().Dev}
	names, err := record.LogFiles(s.wal.FS, s.wal.Data)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		r.header(name)
	}
	for _, name := range names {
		if err := r.file(ctx, name); err != nil && s.wal.OwnOrGone(name, err) {
			return nil, err
		}
	}
	r.presentUse()
	return r.view(t)
}

// header takes note of what a compacted file has left out for good.
func (r *pastReader) header(name string) {
	if record.ParseName(filepath.Base(name)).Kind != record.Compacted {
		return
	}
	l, ok := record.HeadLine(r.s.FS, name)
	h, err := record.DecodeHeader(l.Data)
	if !ok || err != nil {
		return
	}
	r.totals[l.Stamp.Dev] = record.Later(r.totals[l.Stamp.Dev], l.Stamp)
	for _, since := range []time.Time{h.HistorySince(), r.s.Now().Add(-r.s.HistoryKeep)} {
		if since.After(r.since) {
			r.since = since
		}
	}
}

// file reads one file. A line that no start would take is passed over.
func (r *pastReader) file(ctx context.Context, name string) error {
	f, err := r.s.FS.OpenRead(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return eachLine(ctx, f, func(b []byte, whole bool) error {
		if l, ok := countable(b, whole); ok && !r.s.Review.Waits(l.Stamp) {
			return r.line(&l)
		}
		return nil
	})
}

// eachLine calls fn for every line of a file that a start reads.
func eachLine(ctx context.Context, f durable.ReadFile, fn func(b []byte, whole bool) error) error {
	in := record.NewLineReader(f, 0, 0)
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b, _, whole, err := in.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, record.ErrGarbage) {
			return nil
		}
		if err == nil {
			err = fn(b, whole)
		}
		if err != nil {
			return err
		}
	}
}

// countable decodes a line that a start would apply: a good one, or one that was
// edited by hand.
func countable(b []byte, whole bool) (record.Line, bool) {
	good, err := record.Trim(b)
	var l record.Line
	switch {
	case err == nil:
		l, err = record.Decode(good)
	case errors.Is(err, record.ErrNoSum) && whole && record.IsHandEdit(good):
		l, err = record.ParseEdit(good)
	}
	if err != nil || l.Version != record.FormatVersion || l.Stamp.IsZero() || l.Applicable() != nil {
		return l, false
	}
	return l, l.Op == record.OpUse && l.Useful() || len(l.Changes) > 0
}

func (r *pastReader) line(l *record.Line) error {
	if r.began.IsZero() || r.began.After(l.Stamp) {
		r.began = l.Stamp
	}
	if l.Op == record.OpUse {
		return record.DecodeUse(l.Data, l.Stamp.Dev, func(key [16]byte, u record.UseTotal) { r.use(key, u, l.Stamp) })
	}
	for i := range l.Changes {
		if err := r.change(&l.Changes[i], l.Stamp); err != nil {
			return err
		}
	}
	return nil
}

func (r *pastReader) row(key [16]byte) *pastRow {
	row := r.rows[key]
	if row == nil {
		row = &pastRow{Row: &table.Row{Key: key}}
		r.rows[key] = row
	}
	return row
}

func (r *pastReader) change(c *record.Change, at record.Stamp) (err error) {
	key := c.ID.Bytes()
	switch {
	case !at.After(r.s.Table.PurgedAt(key)) || c.Op == record.OpPurge:
		return nil
	case !at.After(r.at):
		row := r.row(key)
		if c.Op == record.OpPut {
			row.put = record.Later(row.put, at)
		}
		row.Row, err = r.apply(row.Row, c, at)
		return err
	case r.since.IsZero():
	case c.Op == record.OpSet:
		r.row(key).superseded(c, at)
	default:
		r.row(key).end(c, at)
	}
	return nil
}

// apply is merged, but that a memory that still is as it was written first shares
// what the live one has.
func (r *pastReader) apply(row *table.Row, c *record.Change, at record.Stamp) (*table.Row, error) {
	if c.Op == record.OpPut && row.Odd == nil && row.Base.IsZero() {
		if now := r.s.Table.Get(c.ID); now != nil && now.Base == at && bytes.Equal(now.JSON(), c.Data) {
			return &table.Row{Key: row.Key, Doc: now.JSON(), Base: at, Hot: now.Hot}, nil
		}
	}
	return table.Merged(row, c, at)
}

// end takes note of the first put or delete after the moment, and of what was
// deleted. The same line may be met cut, and does not tell then.
func (row *pastRow) end(c *record.Change, at record.Stamp) {
	if at == row.next && row.ended != nil || !row.next.IsZero() && at.After(row.next) {
		return
	}
	row.next, row.ended = at, nil
	if prior, err := c.Superseded(); err == nil && c.Op == record.OpDelete && !prior.WasNone() && len(prior.Keys) > 0 {
		row.ended = record.Encode(prior.Keys)
	}
}

// superseded takes note of the values before the first change after the moment.
func (row *pastRow) superseded(c *record.Change, at record.Stamp) {
	prior, err := c.Superseded()
	if err != nil || c.Prev == nil {
		return
	}
	if row.before == nil {
		row.before = map[string]earlierValue{}
	}
	_ = record.EachField(c.Data, func(name, _ []byte) bool { // applicable has walked it
		if have, ok := row.before[string(name)]; ok && !have.at.After(at) {
			return true
		}
		value := prior.Keys[string(name)]
		if value == nil {
			value = record.Null
		}
		row.before[string(name)] = earlierValue{at, value}
		return true
	})
}

// complete returns the row with missing fields added as if they had been written right
// before the oldest line. Fields known to be later stay out. A memory that histories
// contain the save but not the deletion of does not count if it is deleted now: the
// deletion can be older than the histories.
func (r *pastReader) complete(row *pastRow) (*table.Row, error) {
	set := map[string]json.RawMessage{}
	if row.ended != nil {
		set = record.Values(row.ended)
		for key := range row.Fields() { // what was not deleted with it was removed before
			if set[key] == nil {
				set[key] = record.Null
			}
		}
	}
	for key, v := range row.before {
		if row.next.IsZero() || row.next.After(v.at) {
			set[key] = v.value
		}
	}
	at := record.Stamp{T: uint64(max(1, r.since.UnixMilli()))<<16 - 1, Dev: record.MaxStamp().Dev}
	if !r.since.IsZero() && row.put.After(at) {
		// It was not there before, so what histories contain of an earlier life had been
		// deleted, by a line that may be too old to be told.
		var err error
		if row.Row, err = table.Merged(row.Row, &record.Change{Op: record.OpDelete}, record.Stamp{T: at.T - 1,
			Dev: at.Dev}); err != nil {
			return nil, err
		}
	}
	switch now := r.s.Table.Cell(row.Key); {
	case len(set) > 0:
	case row.Born().After(at), now != nil && row.Born().After(now.Row.Load().Rest().Tomb):
		return row.Row, nil
	default:
		return &table.Row{Key: row.Key}, nil
	}
	return table.Merged(row.Row, &record.Change{Op: record.OpPut, Data: record.Encode(set)}, at)
}

// use takes the running totals of a device. Of those that were written after the
// moment, the parts count that were reached before it.
func (r *pastReader) use(key [16]byte, u record.UseTotal, at record.Stamp) {
	if at.After(r.at) {
		moment := r.at.Time().UnixMilli()
		if u.Used > moment {
			u.Uses, u.Used = 0, 0
		}
		if u.Accessed > moment {
			u.Accesses, u.Accessed = 0, 0
		}
		if u.Opened > moment {
			u.Opened = 0
		}
	}
	if u.Uses > 0 || u.Accesses > 0 {
		row := r.row(key)
		row.Row = table.WithUse(row.Row, u)
	}
}

// presentUse takes the totals of now, some of which are not on the disk yet.
func (r *pastReader) presentUse() {
	for key := range r.rows {
		if c := r.s.Table.Cell(key); c != nil {
			for _, u := range c.Row.Load().Rest().Use {
				r.use(key, u, record.MaxStamp())
			}
		}
	}
}

// view returns a table of the rows that were live.
func (r *pastReader) view(t time.Time) (*PastView, error) {
	p := &PastView{MemorySet: table.MemorySet{Table: table.NewTable(), Words: table.NewIndex(r.s.Words.Analyzer,
		r.s.Logger, nil)}, At: t, Since: r.since}
	if !r.began.IsZero() {
		p.Began = r.began.Time()
	}
	for key, row := range r.rows {
		one, err := r.complete(row)
		if err != nil {
			return nil, err
		}
		if !one.Live() {
			continue
		}
		c := &table.Cell{}
		c.Row.Store(one)
		p.Table.Cells[key] = c
		p.Table.Count(&table.Row{}, one)
		if r.uncounted(one) {
			p.Uncounted++
		}
	}
	return p, nil
}

// uncounted reports whether a memory was used since the moment, and how much of
// that before is not told any more.
func (r *pastReader) uncounted(row *table.Row) bool {
	now := r.s.Table.Cell(row.Key)
	if now == nil {
		return false
	}
	for _, u := range now.Row.Load().Rest().Use {
		if used := max(u.Used, u.Accessed); r.totals[u.Dev].After(r.at) && used > r.at.Time().UnixMilli() {
			return true
		}
	}
	return false
}
