package memories

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/engine/graph"
	"emberd/internal/durable"
	"emberd/internal/entity"
	"emberd/memory"
	"emberd/stm"
)

// FindVerb is the journal verb of entities that emberd found again in texts that it has.
const FindVerb = "find entities"

// Entities are found again a while after the start, in portions with a rest between them. Each portion is
// a line of the log, and all of one run are one entry of the journal.
const (
	findAfter    = 2 * time.Minute
	findAtOnce   = 200
	findRest     = 100 * time.Millisecond
	findRetry    = time.Hour
	findingChore = "extracting the entities of earlier memories"
)

func findActor() memory.Actor { return memory.Actor{Via: stm.Itself, Client: "entities"} }

// foundBy is the content of the file that says what found the entities of the store.
type foundBy struct {
	Revision int `json:"revision"`
}

func (e *Memories) foundFile() string { return filepath.Join(e.Opt.State, "entities.json") }

// Tasks finds the entities of memories again that an earlier version found, once. A new store has none.
func (e *Memories) Tasks() []*core.Task {
	var by foundBy
	data, err := durable.ReadAll(e.Opt.FS, e.foundFile())
	if err == nil {
		err = json.Unmarshal(data, &by)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.Opt.Logger.Warn("version of the entity extraction not read", "error", err)
	}
	if by.Revision >= entity.Revision {
		return nil
	}
	if e.Stm.Len() == 0 {
		e.found()
		return nil
	}
	return []*core.Task{{First: e.Opt.Now().Add(findAfter), Do: e.findWhenIndexed}}
}

// found records that the entities of the store are found by this version.
func (e *Memories) found() {
	data, err := json.Marshal(foundBy{entity.Revision})
	if err == nil {
		err = durable.ReplaceFile(e.Opt.FS, e.foundFile(), data)
	}
	e.Chores.Settle(findingChore, err)
}

// findWhenIndexed finds entities again on the primary device, and returns when to try again, zero if that
// is done.
func (e *Memories) findWhenIndexed(ctx context.Context) time.Time {
	if !e.Lifecycle.IsPrimary() || !e.Indexed.Load() {
		return e.Opt.Now().Add(findRetry)
	}
	if _, err := e.FindAgain(ctx); err != nil {
		if ctx.Err() == nil {
			e.Chores.Settle(findingChore, err)
		}
		return e.Opt.Now().Add(findRetry)
	}
	return time.Time{}
}

// FindAgain finds the entities of all memories again whose entities emberd found, or for which it found none,
// as one change that can be undone. It changes nothing else of a memory but its note, is no edit or use of it, and
// leaves entities that were given alone. It returns the journal's entry, "" if nothing changed. If a portion fails,
// those before it stay.
func (e *Memories) FindAgain(ctx context.Context) (entry string, err error) {
	var ids []memory.ID
	var all [][16]byte // keys, which take a quarter of the memory of IDs
	for r := range e.Stm.Rows() {
		if e.findable(r) {
			all = append(all, r.Key)
		}
	}
	names := e.Graph.Names.GivenNames()
	err = e.inPortions(ctx, all, func(r *stm.Row) {
		names.Learn(false, e.Graph.FindAgain(r.Content(), names)...)
	})
	if err != nil {
		return "", err
	}
	err = e.inPortions(ctx, all, func(r *stm.Row) {
		if !sameNames(r.Entities(), e.Graph.FindAgain(r.Content(), names)) {
			ids = append(ids, r.ID())
		}
	})
	if err != nil {
		return "", err
	}
	e.Graph.Names.KeepFound(names)
	for some := range slices.Chunk(ids, findAtOnce) {
		if entry, err = e.findSome(ctx, some, names, entry); err == nil {
			err = rest(ctx)
		}
		if err != nil {
			return entry, err
		}
	}
	e.found()
	return entry, nil
}

// inPortions calls do for each memory that is still there and findable, and rests between portions.
func (e *Memories) inPortions(ctx context.Context, keys [][16]byte, do func(*stm.Row)) error {
	for some := range slices.Chunk(keys, findAtOnce) {
		for _, key := range some {
			if r, live := e.Stm.Get(memory.IDFromBytes(key)); live && e.findable(r) {
				do(r)
			}
		}
		if err := rest(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rest waits between two portions, and returns why the context ended if it did.
func rest(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(findRest):
		return nil
	}
}

// findable reports whether emberd looked for entities in the text of a memory, which it has as a whole.
func (e *Memories) findable(r *stm.Row) bool {
	return !core.Cold(r) && !r.Has("text_digest") &&
		(r.EntitiesFound() || len(r.Entities()) == 0 && r.Has("strength_found"))
}

// sameNames reports whether two lists have the same names, in any order and spelling.
func sameNames(a, b []string) bool {
	keys := func(names []string) map[string]bool {
		set := make(map[string]bool, len(names))
		for _, name := range names {
			set[entity.Key(name)] = true
		}
		return set
	}
	return maps.Equal(keys(a), keys(b))
}

// findSome changes some memories, as a part of a journal entry unless that is "", and returns the entry.
func (e *Memories) findSome(ctx context.Context, ids []memory.ID, names *graph.KnownNames, entry string) (string,
	error) {
	var inNote []memory.ID
	receipt, err := e.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: FindVerb, By: findActor(), Entry: entry}
		for _, r := range rows {
			if r == nil || !e.findable(r) {
				continue
			}
			set, note, err := e.refound(r, names)
			if err != nil {
				return nil, err
			}
			if len(set) > 0 {
				tx.Changes = append(tx.Changes, stm.Change{ID: r.ID(), Set: set})
			}
			if note {
				inNote = append(inNote, r.ID())
			}
		}
		if len(tx.Changes) == 0 {
			return nil, nil
		}
		return tx, nil
	})
	if err != nil {
		return entry, err
	}
	for _, id := range inNote {
		e.Promote.FollowEdit(ctx, id)
	}
	if receipt.Entry != "" {
		entry = receipt.Entry
	}
	return entry, nil
}

// refound returns the fields of a locked memory that change when its entities are found again, and whether
// its note is to be written.
func (e *Memories) refound(r *stm.Row, names *graph.KnownNames) (map[string]json.RawMessage, bool, error) {
	m, err := r.Memory()
	if err != nil {
		return nil, false, err
	}
	before, err := core.Fields(&m)
	if err != nil {
		return nil, false, err
	}
	m.Entities = e.Graph.FindAgain(m.Content, names)
	m.EntitiesFound = len(m.Entities) > 0
	after, err := core.Fields(&m)
	if err != nil {
		return nil, false, err
	}
	set := core.Difference(before, after)
	if len(set) == 0 {
		return nil, false, nil
	}
	note, err := e.Promote.EditedNote(&m, set, findActor())
	return set, note, err
}
