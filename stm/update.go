package stm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"emberd/memory"
)

// Change is one operation of a transaction on one memory: new values by
// top-level key of memory.Memory's JSON (null removes a key), or a delete.
// With Delete it is what the memory has in the trash, besides what it had. On an
// id that is not live, Set is the whole memory and creates it; with Delete it is
// the memory as it was when it was forgotten, which it stays.
type Change struct {
	ID     memory.ID
	Delete bool
	Set    map[string]json.RawMessage
	// Text is, with Delete, what is not to be saved again unasked: its fingerprint
	// stays when nothing else of the memory does. See [Store.ForgottenAs].
	Text string
	// Allowed says that what is set was looked through, or let pass by who may: the
	// store's Vet is not asked about it.
	Allowed bool

	purge bool // for good: nothing is superseded
	was   *Row // what a delete covers when the memory is not live
}

// Tx is one transaction: all of it is stored, or none.
type Tx struct {
	Verb    string       // save, edit, forget, …: what the journal shows
	By      memory.Actor // who asked
	Entry   string       // journal entry to join, "" starts one
	Key     string       // idempotency key, "" none
	KeyHash string       // hash of the request that the key stands for
	Changes []Change
	// Again are forgotten memories whose text may be saved again from now on.
	Again []memory.ID

	undoes Stamp
}

// Receipt is what a committed transaction left.
type Receipt struct {
	Entry string    // journal entry, "" when nothing was written
	At    time.Time // of the log's stamp
	Rows  []*Row    // in the order of Changes, nil for deletes
}

// Update locks ids and key, shows fn the live rows (nil where there is none),
// and commits what fn returns; a nil Tx commits nothing. It returns when the
// transaction is on disk and visible to searches. When ctx ends first, the
// error has code Unknown and the transaction may still be stored; the locks
// stay held until that is decided. fn must not call Update.
func (s *Store) Update(ctx context.Context, ids []memory.ID, key string, fn func(rows []*Row) (*Tx, error)) (Receipt, error) {
	names := make([]string, 0, len(ids)+1)
	for _, id := range ids {
		names = append(names, string(id))
	}
	if key != "" {
		names = append(names, "key "+key)
	}
	release, err := s.locks.acquire(ctx, names)
	if err != nil {
		return Receipt{}, err
	}
	var p *pending
	defer func() {
		if p == nil { // nothing to write, or fn panicked
			release()
		}
	}()
	if err = s.certain(ctx); err != nil {
		return Receipt{}, err
	}
	if p, err = s.prepare(ids, fn); err != nil || p == nil {
		return Receipt{}, err
	}
	p.release = release
	return s.enqueue(ctx, p)
}

func (s *Store) prepare(ids []memory.ID, fn func([]*Row) (*Tx, error)) (*pending, error) {
	rows := make([]*Row, len(ids))
	for i, id := range ids {
		if r := s.table.get(id); s.shows(r) {
			rows[i] = r
		}
	}
	tx, err := fn(rows)
	if err != nil || tx == nil || len(tx.Changes) == 0 && tx.undoes.IsZero() {
		return nil, err
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
func (s *Store) pending(tx *Tx) (*pending, error) {
	p := &pending{done: make(chan struct{}), by: tx.By}
	p.line = line{op: opAll, verb: tx.Verb, by: encode(tx.By), key: tx.Key, keyHash: tx.KeyHash, ref: tx.undoes}
	if tx.Entry != "" {
		entry, err := s.joined(tx.Entry)
		if err != nil {
			return nil, err
		}
		p.line.tx = entry
	}
	once := make(map[memory.ID]bool, len(tx.Changes))
	for _, c := range tx.Changes {
		done, terms, err := s.change(c)
		if err != nil {
			return nil, err
		}
		if once[c.ID] {
			return nil, memory.Errorf(memory.Invalid, "memory %s is changed twice in one transaction; join the changes", c.ID).At("id")
		}
		once[c.ID] = true
		p.line.changes = append(p.line.changes, done)
		p.terms = append(p.terms, terms)
	}
	p.line.lift = s.lifting(tx, p.line.changes)
	if len(p.line.changes) == 1 {
		p.line.op = p.line.changes[0].op
	}
	if err := s.readBack(p); err != nil {
		return nil, err
	}
	return p, nil
}

// readBack refuses a transaction whose line recovery would not take. It is
// tried with the longest number, so that the real line is no longer.
func (s *Store) readBack(p *pending) error {
	l := p.line
	l.seq, l.stamp = math.MaxUint64, Stamp{Dev: s.device}
	if l.tx.IsZero() {
		l.tx = l.stamp
	}
	b := l.append(nil)
	if p.bytes = len(b); p.bytes > MaxLine {
		return memory.Errorf(memory.TooLarge, "the change has %d bytes, more than the %d of one log line; split it", p.bytes, MaxLine)
	}
	if _, err := decodeLine(bytes.TrimSuffix(b, []byte("\n"))); err != nil {
		return memory.Errorf(memory.Invalid, "the change could not be read back from the log: %w", err)
	}
	return nil
}

// joined finds the journal entry that a transaction wants to be part of.
func (s *Store) joined(name string) (Stamp, error) {
	tx, err := ParseStamp(name)
	if err != nil {
		return tx, memory.Errorf(memory.Invalid, "journal entry %w", err).At("tx")
	}
	if !s.hasEntry(tx) {
		return tx, memory.Errorf(memory.NotFound, "the journal has no entry %s", tx).At("tx")
	}
	return tx, s.stands(tx)
}

// stands refuses what would go on with an entry that was undone: nothing could take that
// back any more.
func (s *Store) stands(tx Stamp) error {
	if _, undone := s.journal.lines(tx); undone {
		return memory.Errorf(memory.Conflict, "journal entry %s was undone meanwhile, so that it does not go on; start again", tx).At("tx")
	}
	return nil
}

// change encodes one change against the memory as it is, checks it, and returns
// the terms of the text after it, none for a delete.
func (s *Store) change(c Change) (change, termCounts, error) {
	row := s.table.get(c.ID)
	out := change{op: opSet, id: c.ID}
	if c.Delete && row == nil {
		row = c.was
	}
	var terms termCounts
	set, err := compacted(c.Set)
	switch {
	case c.purge:
		out.op, out.print = opPurge, s.purgedPrint(c.ID)
		return out, terms, nil
	case err != nil:
		return out, terms, err
	case c.Delete && row == nil && len(set) == 0:
		return out, terms, memory.Errorf(memory.NotFound, "there is no memory %s to forget", c.ID).At("id")
	case c.Delete:
		err = s.bury(&out, row, set, c.Text)
	case row == nil:
		if err = out.create(set); err == nil {
			terms = s.index.analyze(out.data)
		}
	default:
		if err = out.assign(row, set); err == nil {
			terms = s.index.analyzeChange(row, set)
		}
	}
	if err != nil {
		return out, terms, memory.Errorf(memory.Invalid, "memory %s cannot hold this: %w", c.ID, err)
	}
	return out, terms, nil
}

// create encodes a new memory.
func (c *change) create(set map[string]json.RawMessage) error {
	doc, err := checkedDoc(nil, set)
	if err != nil {
		return err
	}
	h, err := hotOf(doc)
	c.op, c.data, c.ready = opPut, bytes.Clone(doc), &h // the row keeps the data; doc has room to grow
	return err
}

// assign encodes new values of some keys. Only they are checked: a document can be
// read back if each of its members can, and the others were here before.
func (c *change) assign(row *Row, set map[string]json.RawMessage) error {
	if _, err := checkedDoc(nil, set); err != nil {
		return err
	}
	was, err := row.some(set)
	if err != nil {
		return err
	}
	prev, err := withKeys(nil, was)
	c.data, c.prev = encode(set), encodePrev(row.rev(), prev)
	return err
}

// checkedDoc is withKeys of what can be read back as a memory.
func checkedDoc(doc []byte, set map[string]json.RawMessage) ([]byte, error) {
	doc, err := withKeys(doc, set)
	if err == nil {
		err = checkDoc(doc)
	}
	return doc, err
}

// bury encodes a delete. That of a memory that goes to the trash without having
// been here has a revision before it that is none, which tells undo that there is
// nothing to go back to.
func (s *Store) bury(c *change, row *Row, set map[string]json.RawMessage, text string) error {
	var doc []byte
	rev := Stamp{Dev: s.device}
	if row != nil {
		doc, rev, c.print = row.doc, row.rev(), s.printOf(text)
	}
	doc, err := checkedDoc(doc, set)
	c.op, c.prev = opDelete, encodePrev(rev, doc)
	return err
}

// wasNone reports whether the revision before a change is that of a memory that
// was not here.
func (p *superseded) wasNone() bool {
	rev, err := ParseStamp(p.Rev)
	return err == nil && rev.T == 0
}

// compacted returns set with the spaces between tokens taken out, line feeds
// among them, and refuses what is not JSON.
func compacted(set map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage, len(set))
	for key, value := range set {
		var b bytes.Buffer
		if err := json.Compact(&b, value); err != nil {
			return nil, memory.Errorf(memory.Invalid, "%s is not JSON: %w", key, err).At(key)
		}
		out[key] = b.Bytes()
	}
	return out, nil
}

// some returns the row's values of the keys in set.
func (r *Row) some(set map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage, len(set))
	err := eachField(r.doc, func(name, value []byte) bool {
		if _, ok := set[string(name)]; ok {
			out[string(name)] = value
		}
		return len(out) < len(set)
	})
	return out, err
}

func encodePrev(rev Stamp, doc []byte) []byte {
	b := append([]byte(nil), `{"t":"`...)
	b = append(append(b, rev.String()...), `","d":`...)
	return append(append(b, doc...), '}')
}

// enqueue hands the transaction to the writer and waits for the answer.
func (s *Store) enqueue(ctx context.Context, p *pending) (Receipt, error) {
	if err := s.send(p); err != nil {
		p.release()
		return Receipt{}, err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		return Receipt{}, memory.Errorf(memory.Unknown, "gave up waiting for the disk, so it is not known whether the change is stored; read it back, or repeat it with the same idempotency key: %w", context.Cause(ctx))
	}
	if p.err != nil {
		return Receipt{}, p.err
	}
	return Receipt{Entry: p.line.tx.String(), At: p.line.stamp.Time(), Rows: p.rows}, nil
}

// send queues p unless the queue is full or the store is closing.
func (s *Store) send(p *pending) error {
	s.closing.RLock()
	defer s.closing.RUnlock()
	if s.closed {
		return memory.Errorf(memory.Unavailable, "emberd is stopping; try again when it runs")
	}
	select {
	case s.writer.queue <- p:
		return nil
	default:
		return memory.Errorf(memory.Busy, "%d changes wait for the disk already; try again in a moment", maxQueue)
	}
}

// indexedAt are the keys that searches look into, by stage: of what is archived the
// summary, which is its content, and the key terms; of what is rehydratable those alone.
func indexedAt(s stage) []string {
	switch stages[s] {
	case memory.Archived:
		return []string{"content", "key_terms"}
	case memory.Rehydratable:
		return []string{"key_terms"}
	default:
		return []string{"content", "tags", "entities", "source", "context", "summary"}
	}
}

// entitiesFound is the key that says of entities that they were found in the content.
const entitiesFound = "entities_found"

// searchText joins what searches look into. Entities that were found in the content
// would only count its words twice.
func searchText(doc []byte) string {
	var b strings.Builder
	stage, _ := textValue(member(doc, "stage"))
	repeated := found(doc)
	for _, key := range indexedAt(stageOf(stage)) {
		if repeated && key == "entities" {
			continue
		}
		_ = eachField(doc, func(name, value []byte) bool {
			if string(name) != key {
				return true
			}
			addText(&b, value)
			return false
		})
	}
	return b.String()
}

func addText(b *strings.Builder, value []byte) {
	if len(value) > 0 && value[0] == '[' {
		var many []string
		// A field of another shape is not text and is not searched.
		_ = json.Unmarshal(value, &many)
		for _, s := range many {
			fmt.Fprintf(b, "%s\n", s)
		}
		return
	}
	if s, err := textValue(value); err == nil {
		b.WriteString(s)
		b.WriteByte('\n')
	}
}
