package memories

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const SaveVerb = "save"

// maxKey is the maximum length of an idempotency key, in characters.
const maxKey = 200

// Save stores one memory. A used key or ID is checked with its lock held, so that of many
// equal requests at once one saves and the others get its result.
func (e *Memories) Save(ctx context.Context, req *op.SaveRequest) (*op.SaveResult, error) {
	if err := CheckKey(req.IdempotencyKey); err != nil {
		return nil, err
	}
	req, added, err := e.GrantedSave(req)
	if err != nil {
		return nil, err
	}
	res, err := e.saveWithin(ctx, req)
	if err == nil && res.Memory.ID != "" {
		by := op.CallerFrom(ctx)
		_, res.RecordedOrigin = e.RecordedOrigin(&req.Provenance, &by)
		res.Added = added
	}
	return res, err
}

func (e *Memories) saveWithin(ctx context.Context, req *op.SaveRequest) (*op.SaveResult, error) {
	m, err := e.Draft(req, e.Source(ctx, &req.Provenance, req.Project))
	if err != nil {
		return nil, err
	}
	tx, err := newSaveTx(req, m)
	if err != nil {
		return nil, err
	}
	tx.By = op.CallerFrom(ctx)
	if said := e.unconfirmedSame(req, m); said != nil {
		return e.saveConfirming(ctx, req, m, said.ID(), tx)
	}
	olds, err := e.Similar.Replaced(req.Supersedes, m.ID)
	if err != nil {
		return nil, err
	}
	var before earlier
	var of *op.Echo
	receipt, err := e.Stm.Update(ctx, append([]memory.ID{m.ID}, olds...), tx.Key,
		func(rows []*stm.Row) (*stm.Tx, error) {
			var err error
			at := stored{rows[0], e.Stm.Deleted(m.ID)[m.ID]}
			if before, err = e.earlierSave(tx, m, at, req.Again); err != nil || before.row != nil {
				return nil, err
			}
			if of = e.checkRecalled(req, m); of != nil {
				return nil, nil
			}
			others, err := e.Similar.Supersede(m, nil, olds, rows[1:], tx.Changes[0].Set)
			tx.Changes = append(tx.Changes, others...)
			return tx, err
		})
	if err != nil {
		return nil, err
	}
	if of != nil {
		return e.saveEcho(ctx, req, of, m, tx)
	}
	now := e.Opt.Now()
	if before.row != nil {
		answer, err := e.MemoryView(before.row, now)
		return &op.SaveResult{Memory: answer, Tx: before.entry, Replayed: true,
			EnrichmentApplied: e.Graph.Enriches(req)}, err
	}
	e.Graph.Names.LearnFrom(receipt.Rows...)
	answer, err := e.MemoryView(receipt.Rows[0], now)
	return &op.SaveResult{Memory: answer, Tx: receipt.Entry, EnrichmentApplied: e.Graph.Enriches(req),
		Superseded: olds}, err
}

// CheckKey returns an error if a caller's idempotency key does not fit one header line.
func CheckKey(key string) error {
	printable := func(r rune) bool { return unicode.IsPrint(r) && r != utf8.RuneError }
	if n := utf8.RuneCountInString(key); n > maxKey {
		return memory.Errorf(memory.TooLarge, "too many characters in Idempotency-Key: %d (limit %d); use a UUID", n,
			maxKey).At("Idempotency-Key")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return !printable(r) }) {
		return memory.Errorf(memory.Invalid,
			"invalid Idempotency-Key: it contains a character that is not printable; use a UUID").At("Idempotency-Key")
	}
	return nil
}

// newSaveTx returns the transaction that stores m.
func newSaveTx(req *op.SaveRequest, m *memory.Memory) (*stm.Tx, error) {
	set, err := core.Fields(m)
	if err != nil {
		return nil, err
	}
	tx := &stm.Tx{Verb: SaveVerb, Key: req.IdempotencyKey,
		Changes: []stm.Change{{ID: m.ID, Set: set, Allowed: req.AllowSecret}}}
	tx.KeyHash, err = KeyHash(tx.Key, req)
	return tx, err
}

// KeyHash returns what distinguishes requests with the same idempotency key; "" without a key.
func KeyHash(key string, req any) (string, error) {
	if key == "" {
		return "", nil
	}
	raw, err := core.Encode(req)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16]), nil
}

// stored is the state of an ID: the live memory, nil for none, and whether a caller deleted it.
type stored struct {
	row     *stm.Row
	deleted bool
}

// earlier is the result of an equal request before.
type earlier struct {
	row   *stm.Row
	entry string
}

// earlierSave looks up what tx would repeat. The key and the ID must be locked; at is the
// state of that ID. A deleted memory stays deleted unless again is set.
func (e *Memories) earlierSave(tx *stm.Tx, m *memory.Memory, at stored, again bool) (earlier, error) {
	if tx.Key != "" {
		if was, ok := e.Stm.Replay(tx.Key); ok {
			return e.replayed(was, tx.KeyHash)
		}
	}
	switch {
	case at.row != nil && at.row.Content() == m.Content:
		return earlier{row: at.row}, nil
	case at.row != nil:
		err := memory.Errorf(memory.Conflict,
			"memory %s already exists with different text; change it with emberd edit, or save the text with a new ID",
			m.ID).At("id")
		err.Current = at.row.Rev()
		return earlier{}, err
	case at.deleted && !again:
		return earlier{}, forgotten(m.ID)
	}
	return earlier{}, e.Lifecycle.AskedAgain(tx, m.Content, again)
}

// EarlierResult returns the memory that an idempotency key stood for, and the journal entry; nil without a key
// or if it was not used. The key must be locked, or requests with it must wait for each other.
func EarlierResult(e *Memories, key, hash string) (*stm.Row, string, error) {
	was, ok := e.Stm.Replay(key)
	if key == "" || !ok {
		return nil, "", nil
	}
	before, err := e.replayed(was, hash)
	return before.row, before.entry, err
}

func (e *Memories) replayed(was stm.Replayed, hash string) (earlier, error) {
	if was.Hash != hash || len(was.IDs) == 0 {
		return earlier{}, memory.Errorf(memory.Conflict, "this Idempotency-Key was used for another "+
			"request in the last 24 hours; use a new key").At("Idempotency-Key")
	}
	row, ok := e.Stm.Get(was.IDs[0])
	if !ok {
		return earlier{}, forgotten(was.IDs[0])
	}
	return earlier{row: row, entry: was.Entry}, nil
}

func forgotten(id memory.ID) error {
	return memory.Errorf(memory.Forgotten, "memory %s was deleted; to restore the memory, run emberd "+
		"rekindle %s; to save the text again, use --again (again)", id, id.Short()).At("id")
}
