package stm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"emberd/internal/durable"
)

// Past is what the log tells of an earlier moment: the memories that were live
// then, by the stamps of what was written, wherever it was. It does not change,
// and may be shared.
type Past struct {
	Memories
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

// pasts keeps the last Past that somebody asked for.
type pasts struct {
	mu   sync.Mutex // held while one is read, and guards what follows
	last *Past
	of   int64 // counters.rewritten when it was read
	// upto is the latest millisecond of the moment that was asked about last.
	upto atomic.Int64
}

// tellPast takes note of a line that an answer may lack: one that purges, or that is as
// old as the moment, since it waited for the disk or came in the same millisecond.
func (s *Store) tellPast(l *line) {
	if l.purges() || l.stamp.Time().UnixMilli() <= s.pasts.upto.Load() {
		s.rewritten.Add(1)
	}
}

// At reads from the log, history files included, what the memories were at t:
// what is stamped up to that millisecond counts, undone or not as it was then.
// A memory that was purged since is not there. It takes about as long as a start
// without a snapshot; the answer to the last question is kept until [Store.LetGo].
// Writers do not wait for it.
func (s *Store) At(ctx context.Context, t time.Time) (*Past, error) {
	s.pasts.mu.Lock()
	defer s.pasts.mu.Unlock()
	t = t.UTC().Truncate(time.Millisecond)
	s.pasts.upto.Store(t.UnixMilli())
	begun := s.rewritten.Load()
	if p := s.pasts.last; p != nil && p.At.Equal(t) && s.pasts.of == begun {
		return p, nil
	}
	now := s.now()
	for ctx.Err() == nil {
		p, err := s.readPast(ctx, t)
		if errors.Is(err, fs.ErrNotExist) {
			continue // compaction has replaced a file meanwhile
		}
		if err != nil {
			return nil, err
		}
		if t.Before(now) { // no use is counted for then any more
			s.pasts.last, s.pasts.of = p, begun
		}
		return p, nil
	}
	return nil, context.Cause(ctx)
}

// LetGo frees what [Store.At] keeps.
func (s *Store) LetGo() {
	s.pasts.mu.Lock()
	defer s.pasts.mu.Unlock()
	s.pasts.last = nil
}

// Index indexes the words of the memories, which a search needs to rank as one of
// those of now does. It returns early when ctx ends; once done it costs nothing.
func (p *Past) Index(ctx context.Context) error { return p.BuildIndex(ctx) }

// pastReader adds up what counts at a moment.
type pastReader struct {
	s     *Store
	at    Stamp // the last one that counts
	rows  map[[16]byte]*pastRow
	began Stamp
	since time.Time // see Past.Since
	// totals is per device the stamp up to which only the highest totals of use are
	// in the log.
	totals map[Device]Stamp
}

// pastRow is one memory: what was written up to the moment, and, where that may be
// missing by now, what later lines say they superseded.
type pastRow struct {
	*Row
	put    Stamp // last put up to the moment
	next   Stamp // first put or delete after the moment
	ended  []byte
	before map[string]earlierValue
}

// earlierValue is the value that a key had before it was written at a stamp later
// than the moment; null if it had none.
type earlierValue struct {
	at    Stamp
	value json.RawMessage
}

func (s *Store) readPast(ctx context.Context, t time.Time) (*Past, error) {
	r := &pastReader{s: s, rows: map[[16]byte]*pastRow{}, totals: map[Device]Stamp{}}
	r.at = Stamp{T: uint64(max(0, t.UnixMilli()))<<16 | 0xffff, Dev: forever().Dev}
	names, err := LogFiles(s.fs, s.data)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		r.header(name)
	}
	for _, name := range names {
		if err := r.file(ctx, name); err != nil && s.ownOrGone(name, err) {
			return nil, err
		}
	}
	r.presentUse()
	return r.past(t)
}

// header takes note of what a compacted file has left out for good.
func (r *pastReader) header(name string) {
	if parseFileName(filepath.Base(name)).kind != Compacted {
		return
	}
	l, ok := headLine(r.s.fs, name)
	h, err := decodeHeader(l.data)
	if !ok || err != nil {
		return
	}
	r.totals[l.stamp.Dev] = later(r.totals[l.stamp.Dev], l.stamp)
	for _, since := range []time.Time{h.since(), r.s.now().Add(-r.s.historyKeep)} {
		if since.After(r.since) {
			r.since = since
		}
	}
}

// since is from when on a compacted file left nothing out for good: before it was
// made, if it does not say.
func (h *header) since() time.Time {
	if h.Generation == 0 || h.Oldest != "" { // no compacted file
		return time.Time{}
	}
	for _, text := range []string{h.Since, h.Created} {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at
		}
	}
	return time.Unix(math.MaxInt32, 0)
}

// file reads one file. A line that no start would take is passed over.
func (r *pastReader) file(ctx context.Context, name string) error {
	f, err := r.s.fs.OpenRead(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return eachLine(ctx, f, func(b []byte, whole bool) error {
		if l, ok := countable(b, whole); ok && !r.s.review.waits(l.stamp) {
			return r.line(&l)
		}
		return nil
	})
}

// eachLine calls fn for every line of a file.
func eachLine(ctx context.Context, f durable.ReadFile, fn func(b []byte, whole bool) error) error {
	in := newLineReader(f, 0, 0)
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b, _, whole, err := in.next()
		if errors.Is(err, io.EOF) {
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
func countable(b []byte, whole bool) (line, bool) {
	good, err := mend(b)
	var l line
	switch {
	case err == nil:
		l, err = decodeLine(good)
	case errors.Is(err, errNoSum) && whole && isHandEdit(good):
		l, err = parseEdit(good)
	}
	if err != nil || l.version != formatVersion || l.stamp.IsZero() || l.applicable() != nil {
		return l, false
	}
	return l, l.op == opUse && l.useful() || len(l.changes) > 0
}

func (r *pastReader) line(l *line) error {
	if r.began.IsZero() || r.began.after(l.stamp) {
		r.began = l.stamp
	}
	if l.op == opUse {
		return decodeUse(l.data, l.stamp.Dev, func(key [16]byte, u useTotal) { r.use(key, u, l.stamp) })
	}
	for i := range l.changes {
		if err := r.change(&l.changes[i], l.stamp); err != nil {
			return err
		}
	}
	return nil
}

func (r *pastReader) row(key [16]byte) *pastRow {
	row := r.rows[key]
	if row == nil {
		row = &pastRow{Row: &Row{key: key}}
		r.rows[key] = row
	}
	return row
}

func (r *pastReader) change(c *change, at Stamp) (err error) {
	key := c.id.Bytes()
	switch {
	case !at.after(r.s.table.purgedAt(key)) || c.op == opPurge:
		return nil
	case !at.after(r.at):
		row := r.row(key)
		if c.op == opPut {
			row.put = later(row.put, at)
		}
		row.Row, err = r.apply(row.Row, c, at)
		return err
	case r.since.IsZero():
	case c.op == opSet:
		r.row(key).superseded(c, at)
	default:
		r.row(key).end(c, at)
	}
	return nil
}

// apply is merged, but that a memory that still is as it was written first shares
// what the live one has.
func (r *pastReader) apply(row *Row, c *change, at Stamp) (*Row, error) {
	if c.op == opPut && row.odd == nil && row.base.IsZero() {
		if now := r.s.table.get(c.id); now != nil && now.base == at && bytes.Equal(now.doc, c.data) {
			return &Row{key: row.key, doc: now.doc, base: at, hot: now.hot}, nil
		}
	}
	return merged(row, c, at)
}

// end takes note of the first put or delete after the moment, and of what was
// deleted. The same line may be met cut, and does not tell then.
func (row *pastRow) end(c *change, at Stamp) {
	if at == row.next && row.ended != nil || !row.next.IsZero() && at.after(row.next) {
		return
	}
	row.next, row.ended = at, nil
	if prior, err := c.superseded(); err == nil && c.op == opDelete && !prior.wasNone() && len(prior.Keys) > 0 {
		row.ended = encode(prior.Keys)
	}
}

// superseded takes note of the values before the first change after the moment.
func (row *pastRow) superseded(c *change, at Stamp) {
	prior, err := c.superseded()
	if err != nil || c.prev == nil {
		return
	}
	if row.before == nil {
		row.before = map[string]earlierValue{}
	}
	_ = eachField(c.data, func(name, _ []byte) bool { // applicable has walked it
		if have, ok := row.before[string(name)]; ok && !have.at.after(at) {
			return true
		}
		value := prior.Keys[string(name)]
		if value == nil {
			value = null
		}
		row.before[string(name)] = earlierValue{at, value}
		return true
	})
}

// settled is the row with what is missing put in as if it had been written right
// before everything is told. What is known to be later stays. A memory of which
// histories tell that it was saved, and nothing that it was deleted, does not count
// if by now it is deleted: that may have come first, and be too old to be told.
func (r *pastReader) settled(row *pastRow) (*Row, error) {
	set := map[string]json.RawMessage{}
	if row.ended != nil {
		set = values(row.ended)
		for key := range row.Fields() { // what was not deleted with it was removed before
			if set[key] == nil {
				set[key] = null
			}
		}
	}
	for key, v := range row.before {
		if row.next.IsZero() || row.next.after(v.at) {
			set[key] = v.value
		}
	}
	at := Stamp{T: uint64(max(1, r.since.UnixMilli()))<<16 - 1, Dev: forever().Dev}
	if !r.since.IsZero() && row.put.after(at) {
		// It was not there before, so what histories tell of an earlier life had been
		// deleted, by a line that may be too old to be told.
		var err error
		if row.Row, err = merged(row.Row, &change{op: opDelete}, Stamp{T: at.T - 1, Dev: at.Dev}); err != nil {
			return nil, err
		}
	}
	switch now := r.s.table.cell(row.key); {
	case len(set) > 0:
	case row.born().after(at), now != nil && row.born().after(now.row.Load().rest().tomb):
		return row.Row, nil
	default:
		return &Row{key: row.key}, nil
	}
	return merged(row.Row, &change{op: opPut, data: encode(set)}, at)
}

// use takes the running totals of a device. Of those that were written after the
// moment, the parts count that were reached before it.
func (r *pastReader) use(key [16]byte, u useTotal, at Stamp) {
	if at.after(r.at) {
		moment := r.at.Time().UnixMilli()
		if u.used > moment {
			u.uses, u.used = 0, 0
		}
		if u.accessed > moment {
			u.accesses, u.accessed = 0, 0
		}
	}
	if u.uses > 0 || u.accesses > 0 {
		row := r.row(key)
		row.Row = withUse(row.Row, u)
	}
}

// presentUse takes the totals of now, some of which are not on the disk yet.
func (r *pastReader) presentUse() {
	for key := range r.rows {
		if c := r.s.table.cell(key); c != nil {
			for _, u := range c.row.Load().rest().use {
				r.use(key, u, forever())
			}
		}
	}
}

// past makes a table of the rows that were live.
func (r *pastReader) past(t time.Time) (*Past, error) {
	p := &Past{Memories: Memories{table: newTable(), index: newIndex(r.s.index.analyzer, r.s.log)}, At: t, Since: r.since}
	if !r.began.IsZero() {
		p.Began = r.began.Time()
	}
	for key, row := range r.rows {
		one, err := r.settled(row)
		if err != nil {
			return nil, err
		}
		if !one.live() {
			continue
		}
		c := &cell{}
		c.row.Store(one)
		p.table.cells[key] = c
		p.table.count(&Row{}, one)
		if r.uncounted(one) {
			p.Uncounted++
		}
	}
	return p, nil
}

// uncounted reports whether a memory was used since the moment, and how much of
// that before is not told any more.
func (r *pastReader) uncounted(row *Row) bool {
	now := r.s.table.cell(row.key)
	if now == nil {
		return false
	}
	for _, u := range now.row.Load().rest().use {
		if used := max(u.used, u.accessed); r.totals[u.dev].after(r.at) && used > r.at.Time().UnixMilli() {
			return true
		}
	}
	return false
}
