package stm

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math"
	"runtime"
	"slices"

	"emberd/internal/contain"
	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// Update locks ids and key, shows fn the live rows (nil where there is none),
// and commits what fn returns; a nil Tx commits nothing. It returns when the
// transaction is on disk and visible to searches. When ctx ends first, the
// error has code Unknown and the transaction may still be stored; the locks
// stay held until that is decided. fn must not call Update.
func (s *Store) Update(ctx context.Context, ids []memory.ID, key string, fn func(rows []*table.Row) (*wal.Tx,
	error)) (wal.Receipt, error) {
	names := make([]string, 0, len(ids)+1)
	for _, id := range ids {
		names = append(names, string(id))
	}
	if key != "" {
		names = append(names, "key "+key)
	}
	release, err := s.wal.Locks.Acquire(ctx, names)
	if err != nil {
		return wal.Receipt{}, err
	}
	var p *wal.Pending
	defer func() {
		if p == nil { // nothing to write, or fn panicked
			release()
		}
	}()
	if err = s.wal.CheckDurable(ctx); err != nil {
		return wal.Receipt{}, err
	}
	if p, err = s.prepare(ctx, ids, fn); err != nil || p == nil {
		return wal.Receipt{}, err
	}
	p.Release = release
	return s.enqueue(ctx, p)
}

func (s *Store) prepare(ctx context.Context, ids []memory.ID,
	fn func([]*table.Row) (*wal.Tx, error)) (*wal.Pending, error) {
	rows := make([]*table.Row, len(ids))
	for i, id := range ids {
		if c := s.Table.Cell(id.Bytes()); c != nil {
			if err := c.Fetch(); err != nil { // so that no change is merged with nothing
				return nil, err
			}
		}
		if r := s.Table.Get(id); s.Shows(r) {
			rows[i] = r
		}
	}
	tx, err := fn(rows)
	if err != nil || tx == nil || len(tx.Changes) == 0 && tx.Undoes.IsZero() {
		return nil, err
	}
	if s.complete != nil {
		if err := s.complete(ctx, tx); err != nil {
			return nil, err
		}
	}
	if err := s.allowed(tx); err != nil {
		return nil, err
	}
	if s.vet != nil {
		if err := s.vet(tx, rows); err != nil {
			return nil, err
		}
	}
	return s.pending(tx)
}

// pending encodes and analyses a transaction on the caller's goroutine, which
// leaves the writer little to do.
func (s *Store) pending(tx *wal.Tx) (*wal.Pending, error) {
	p := &wal.Pending{Done: make(chan struct{}), By: tx.By}
	p.Line = record.Line{Op: record.OpAll, Verb: tx.Verb, By: record.Encode(tx.By), Key: tx.Key, KeyHash: tx.KeyHash,
		Ref: tx.Undoes}
	if tx.Entry != "" {
		entry, err := s.wal.Journal.Joined(tx.Entry)
		if err != nil {
			return nil, err
		}
		p.Line.Tx = entry
	}
	if err := encodeChanges(s, p, tx.Changes); err != nil {
		return nil, err
	}
	p.Line.Lift = s.restored(tx, p.Line.Changes)
	if len(p.Line.Changes) == 1 {
		p.Line.Op = p.Line.Changes[0].Op
	}
	p.Line.Packed = !slices.ContainsFunc(p.Line.Changes, func(c record.Change) bool { return !c.Archives() })
	if err := s.readBack(p); err != nil {
		return nil, err
	}
	return p, nil
}

// encodeChanges encodes and analyses changes on all processors.
func encodeChanges(s *Store, p *wal.Pending, changes []wal.Change) error {
	p.Line.Changes, p.Terms = make([]record.Change, len(changes)), make([]table.TermCounts, len(changes))
	errs := make([]error, len(changes))
	encode := func(i int) { p.Line.Changes[i], p.Terms[i], errs[i] = s.change(changes[i]) }
	if len(changes) == 1 {
		encode(0)
	} else {
		contain.Each(len(changes), runtime.GOMAXPROCS(0), encode)
	}
	once := make(map[memory.ID]bool, len(changes))
	for i, c := range changes {
		if errs[i] != nil {
			return errs[i]
		}
		if once[c.ID] {
			return memory.Errorf(memory.Invalid, "the request changes memory %s twice; combine the two changes",
				c.ID).At("id")
		}
		once[c.ID] = true
	}
	return nil
}

// readBack refuses a transaction whose line recovery would not take. It is
// tried with the longest number, so that the real line is no longer.
func (s *Store) readBack(p *wal.Pending) error {
	l := p.Line
	l.Seq, l.Stamp = math.MaxUint64, record.Stamp{Dev: s.wal.Device}
	if l.Tx.IsZero() {
		l.Tx = l.Stamp
	}
	size := 512
	for i := range l.Changes {
		size += 128 + len(l.Changes[i].Data) + len(l.Changes[i].Prev)
	}
	b := l.Append(make([]byte, 0, size))
	if p.Bytes = len(b); p.Bytes > record.MaxLine {
		return memory.Errorf(memory.TooLarge,
			"too many bytes in the change: %d (limit %d for one log record); split the change", p.Bytes, record.MaxLine)
	}
	if _, err := record.Decode(bytes.TrimSuffix(b, []byte("\n"))); err != nil {
		return memory.Errorf(memory.Invalid, "the change is not a valid log record: %w", err)
	}
	return nil
}

// change encodes one change against the memory as it is, checks it, and returns
// the terms of the text after it, none for a delete.
func (s *Store) change(c wal.Change) (record.Change, table.TermCounts, error) {
	row := s.Table.Get(c.ID)
	out := record.Change{Op: record.OpSet, ID: c.ID}
	if c.Delete && row == nil {
		row = c.Was
	}
	var terms table.TermCounts
	set, err := compacted(c.Set)
	switch {
	case c.Purge:
		out.Op, out.Print = record.OpPurge, s.purgedPrint(c.ID)
		return out, terms, nil
	case err != nil:
		return out, terms, err
	case c.Delete && row == nil && len(set) == 0:
		return out, terms, memory.Errorf(memory.NotFound, "memory %s not found, so nothing was deleted", c.ID).At("id")
	case c.Delete:
		err = s.encodeDelete(&out, row, set, c.Text)
	case row == nil:
		if err = encodePut(&out, set); err == nil {
			terms = s.Words.Analyze(out.Data)
		}
	default:
		if err = encodeSet(&out, row, set, c.Knows); err == nil {
			terms = s.Words.AnalyzeChange(row, set)
		}
	}
	if err != nil {
		return out, terms, memory.Errorf(memory.Invalid, "invalid change to memory %s: %w", c.ID, err)
	}
	return out, terms, nil
}

// encodePut encodes a new memory.
func encodePut(c *record.Change, set map[string]json.RawMessage) error {
	doc, h, err := record.CheckedDoc(nil, set)
	if err != nil {
		return err
	}
	c.Op, c.Data, c.Ready = record.OpPut, bytes.Clone(doc), &h // the row keeps the data; doc has room to grow
	return nil
}

// encodeSet encodes new values of some keys. Only they are checked: a document can be
// read back if each of its members can, and the others were here before. knows are texts that a new
// text takes into account beside the one that it replaces.
func encodeSet(c *record.Change, row *table.Row, set map[string]json.RawMessage, knows []record.Stamp) error {
	if _, _, err := record.CheckedDoc(nil, set); err != nil {
		return err
	}
	was, err := valuesOf(row, set)
	if err != nil {
		return err
	}
	prev, err := record.WithKeys(nil, was)
	var from []record.Stamp
	if set[record.TextKey] != nil {
		from = append([]record.Stamp{row.StampOf(record.TextKey)}, knows...)
	}
	c.Data, c.Prev = record.Encode(set), record.EncodePrev(row.Latest(), from, prev)
	return err
}

// encodeDelete encodes a delete. That of a memory that goes to the trash without having
// been here has a revision before it that is none, which tells undo that there is
// nothing to go back to.
func (s *Store) encodeDelete(c *record.Change, row *table.Row, set map[string]json.RawMessage, text string) error {
	var doc []byte
	rev := record.Stamp{Dev: s.wal.Device}
	if row != nil {
		doc, rev, c.Print = row.JSON(), row.Latest(), s.wal.Prints.PrintOf(text)
	}
	doc, _, err := record.CheckedDoc(doc, set)
	c.Op, c.Prev = record.OpDelete, record.EncodePrev(rev, nil, doc)
	return err
}

// compacted returns set with the spaces between tokens taken out, line feeds
// among them, and refuses what is not JSON. It returns set itself if there are none.
func compacted(set map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	out, cloned := set, false
	for key, value := range set {
		if isCompact(value) {
			continue
		}
		var b bytes.Buffer
		if err := json.Compact(&b, value); err != nil {
			return nil, memory.Errorf(memory.Invalid, "field %s is not valid JSON: %w", key, err).At(key)
		}
		if !cloned {
			out, cloned = maps.Clone(set), true
		}
		out[key] = b.Bytes()
	}
	return out, nil
}

// isCompact reports whether a value is JSON without spaces between tokens, as most are that emberd encoded itself.
func isCompact(value []byte) bool {
	return isPlainText(value) || !bytes.ContainsAny(value, " \t\r\n") && json.Valid(value)
}

// isPlainText reports whether a value is a JSON string without escapes.
func isPlainText(value []byte) bool {
	last := len(value) - 1
	if last < 1 || value[0] != '"' || value[last] != '"' {
		return false
	}
	for _, c := range value[1:last] {
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// valuesOf returns the row's values of the keys in set.
func valuesOf(r *table.Row, set map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage, len(set))
	err := record.EachField(r.JSON(), func(name, value []byte) bool {
		if _, ok := set[string(name)]; ok {
			out[string(name)] = value
		}
		return len(out) < len(set)
	})
	return out, err
}

// enqueue hands the transaction to the writer and waits for the answer.
func (s *Store) enqueue(ctx context.Context, p *wal.Pending) (wal.Receipt, error) {
	if err := s.wal.Send(p); err != nil {
		p.Release()
		return wal.Receipt{}, err
	}
	select {
	case <-p.Done:
	case <-ctx.Done():
		return wal.Receipt{}, memory.Errorf(memory.Unknown, "unknown whether the change succeeded, because the "+
			"request ended before the disk confirmed it; read the memory "+
			"again, or repeat the request with the same idempotency key: %w", context.Cause(ctx))
	}
	if p.Err != nil {
		return wal.Receipt{}, p.Err
	}
	return wal.Receipt{Entry: p.Line.Tx.String(), At: p.Line.Stamp.Time(), Rows: p.Rows}, nil
}
