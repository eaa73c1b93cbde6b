package stm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"

	_ "emberd/internal/testutil/ramdisk"
	"emberd/internal/words"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/device"
	"emberd/stm/history"
	"emberd/stm/journal"
	"emberd/stm/record"
	"emberd/stm/table"
)

// world is what a client of the store believes: the requests that were carried
// out for sure or perhaps, in order. It is the judge of every crash test, and
// shares no code with what it judges.
type world struct {
	events  []event
	used    map[memory.ID]int64 // uses counted so far
	settled map[memory.ID]int64 // those that a crash must not lose
	long    bool                // a line may have been longer than a block of the disk
	saved   int                 // events that the backup holds
	moved   bool                // a restore was begun, after which the device is another
}

// event is a request. One whose answer never came may be in the log or not,
// but only as a whole.
type event struct {
	name, entry, key string
	sure             bool
	effects          []effect
	// foreign is an event of another device, which may show whenever its file
	// does. Once that has landed, which is for good, every start shows it.
	foreign, landed bool
	back            int // of a restore: how many of the events before it count
}

// effect is what a request does to one memory.
type effect struct {
	id  memory.ID
	op  string // opPut, opSet, opDelete or opPurge
	set fields
}

// fields are the texts of a memory by key. In an effect, "" removes a key.
type fields map[string]string

// state is what the memories are like.
type state struct {
	live, trash map[memory.ID]fields
}

func newWorld() *world {
	return &world{used: map[memory.ID]int64{}, settled: map[memory.ID]int64{}}
}

func (w *world) clone() *world {
	c := *w
	c.events, c.used, c.settled = slices.Clone(w.events), maps.Clone(w.used), maps.Clone(w.settled)
	return &c
}

// note remembers a request that was acknowledged, or may have been. A file of
// another device may be brought again.
func (w *world) note(e event) {
	again := slices.IndexFunc(w.events, func(old event) bool { return e.foreign && old.name == e.name })
	if again >= 0 {
		w.events[again] = e
		return
	}
	w.events = append(w.events, e)
	for _, f := range e.effects {
		w.long = w.long || len(f.set["content"]) > 4096
	}
}

// legal yields every state that the memories may be in: the sure events with
// each choice of the others, a bit for each of these.
func (w *world) legal() iter.Seq2[int, state] {
	open := 0
	for _, e := range w.events {
		if !e.sure {
			open++
		}
	}
	return func(yield func(int, state) bool) {
		for choice := range 1 << open {
			s := state{live: map[memory.ID]fields{}, trash: map[memory.ID]fields{}}
			for _, e := range w.chosen(choice).events {
				s.apply(e.effects)
			}
			if !yield(choice, s) {
				return
			}
		}
	}
}

func (st *state) apply(effects []effect) {
	for _, e := range effects {
		switch e.op {
		case record.OpPut:
			st.live[e.id] = maps.Clone(e.set)
			delete(st.trash, e.id)
		case record.OpSet:
			one := st.live[e.id]
			if one == nil {
				one = st.trash[e.id]
			}
			one = maps.Clone(one)
			maps.Copy(one, e.set)
			maps.DeleteFunc(one, func(_, v string) bool { return v == "" })
			if st.live[e.id] != nil {
				st.live[e.id] = one
			} else {
				st.trash[e.id] = one
			}
		case record.OpPurge:
			delete(st.live, e.id)
			delete(st.trash, e.id)
		case record.OpDelete:
			if st.live[e.id] != nil {
				st.trash[e.id] = st.live[e.id]
			}
			delete(st.live, e.id)
		}
	}
}

// check compares a store with what the client believes, and what the store
// says in one place with what it says in another.
func (w *world) check(s *stm.Store) error {
	_, err := w.matches(s)
	return err
}

// restarted is check after a start, which settles what was open: a later crash
// must not take back what the client sees now. What another device's file says
// that has not landed may still come, or go with the power.
func (w *world) restarted(s *stm.Store) error {
	if n := s.Wal().StatusNow().Unreadable; n > 0 {
		return fmt.Errorf("%d files of other devices cannot be read now, so nothing is settled", n)
	}
	for i := range w.events {
		w.events[i].sure = w.events[i].sure || w.events[i].landed
	}
	var then *world
	err := atTheEdge(func() (err error) {
		then, err = w.matches(s)
		return err
	})
	if err != nil {
		return err
	}
	onItsWay := func(e event) bool { return e.foreign && !e.landed }
	left := slices.DeleteFunc(then.events, onItsWay)
	for _, e := range w.events {
		if onItsWay(e) {
			left = append(left, e)
		}
	}
	w.events = left
	for id := range w.used {
		if row, ok := s.Get(id); ok {
			w.used[id], w.settled[id] = row.UseCount(), row.UseCount()
		}
	}
	return nil
}

// matches returns the choice of the open events that the store shows.
func (w *world) matches(s *stm.Store) (*world, error) {
	var differs []error
	for choice, legal := range w.legal() {
		then := w.chosen(choice)
		err := errors.Join(legal.compare(s), then.checkJournal(s))
		if err == nil {
			return then, errors.Join(w.checkWords(s, legal), w.checkUses(s), w.checkRecovery(s))
		}
		differs = append(differs, err)
	}
	return nil, fmt.Errorf("none of %d legal states: %w", len(differs), errors.Join(differs...))
}

// chosen is the world in which that choice of the open events came true.
func (w *world) chosen(choice int) *world {
	then, open := newWorld(), 0
	before := make([]int, len(w.events)) // how many came true
	for i, e := range w.events {
		before[i] = len(then.events)
		if !e.sure {
			if open++; choice>>(open-1)&1 == 0 {
				continue
			}
			e.sure = true
		}
		if e.back > 0 {
			then.events = then.events[:before[e.back]]
			continue
		}
		then.events = append(then.events, e)
	}
	return then
}

// compare says how the store's memories and its trash differ from the state.
func (st *state) compare(s *stm.Store) error {
	if s.Len() != len(st.live) {
		return fmt.Errorf("%d memories, want %d", s.Len(), len(st.live))
	}
	for row := range s.Rows() {
		if err := sameFields(row.ID(), row.Value, st.live[row.ID()]); err != nil {
			return err
		}
	}
	items := s.Trash()
	if len(items) != len(st.trash) {
		return fmt.Errorf("%d memories in the trash, want %d", len(items), len(st.trash))
	}
	for _, item := range items {
		keys, err := s.ForgottenFields(item.ID)
		if err != nil {
			return fmt.Errorf("in the trash: %w", err)
		}
		if err := sameFields(item.ID, func(key string) json.RawMessage { return keys[key] }, st.trash[item.ID]); err != nil {
			return fmt.Errorf("in the trash: %w", err)
		}
	}
	return checkPrints(s)
}

// checkPrints wants the key of every fingerprint that counts to be there, and the
// right one. A key that cannot be read now is not known.
func checkPrints(s *stm.Store) error {
	s.Table.Mu.RLock()
	defer s.Table.Mu.RUnlock()
	for key, c := range s.Table.Cells {
		row := c.Row.Load()
		f := row.Rest().Forgot
		if row.Live() || !f.Counts() {
			continue
		}
		if _, err := s.Wal().FS.Lstat(s.Wal().Prints.KeyPath(f.At.Dev)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the key of a fingerprint of %s is gone", row.ID())
		}
		secret := s.Wal().Prints.Get(f.At.Dev)
		if secret != nil && !slices.ContainsFunc(forgettable(), func(text string) bool { return f.Print == *device.FingerprintOf(secret, table.NormalizedText(text)) }) {
			return fmt.Errorf("%x has a fingerprint that its key does not make", key)
		}
	}
	return nil
}

// forgettable are the texts that leave a fingerprint.
func forgettable() []string { return []string{"apple pie", "banana split", "elder flower"} }

func sameFields(id memory.ID, got func(key string) json.RawMessage, want fields) error {
	for _, key := range []string{"content", "source"} {
		text := ""
		if v := got(key); v != nil {
			text, _ = record.Text(v)
		}
		if text != want[key] {
			return fmt.Errorf("%s of memory %s is %.40q, want %.40q", key, id, text, want[key])
		}
	}
	return nil
}

// checkWords looks for every word that was ever written, first with the index
// as the start left it, then with all memories in it.
func (w *world) checkWords(s *stm.Store, now state) error {
	want := map[string][]memory.ID{}
	for _, e := range w.events {
		for _, f := range e.effects {
			for word := range f.set.words() {
				want[word] = nil
			}
		}
	}
	for id, f := range now.live {
		for word := range f.words() {
			if !slices.Contains(want[word], id) {
				want[word] = append(want[word], id)
			}
		}
	}
	if err := sameMatches(s, want); err != nil {
		return fmt.Errorf("as started: %w", err)
	}
	return errors.Join(s.BuildIndex(context.Background()), sameMatches(s, want))
}

func (f fields) words() iter.Seq[string] {
	return strings.FieldsFuncSeq(f["content"]+" "+f["source"], func(r rune) bool { return !unicode.IsLetter(r) })
}

func sameMatches(s *stm.Store, want map[string][]memory.ID) error {
	for word, ids := range want {
		var terms []words.QueryTerm
		for _, t := range s.Words.Analyzer.Query(word) {
			terms = append(terms, words.QueryTerm{Term: t.Text, Weight: 1})
		}
		var got []memory.ID
		for _, m := range s.Search(table.Query{Terms: terms, Limit: 20}).Matches {
			got = append(got, m.Row.ID())
		}
		slices.Sort(got)
		slices.Sort(ids)
		if !slices.Equal(got, ids) {
			return fmt.Errorf("the word %s finds %v, want %v", word, got, ids)
		}
	}
	return nil
}

// checkJournal sees that every acknowledged request has its entry, that the
// entry can be read back, and that no entry comes from nowhere.
func (w *world) checkJournal(s *stm.Store) error {
	gone := 0
	for i, e := range w.events {
		if w.purgedAfter(i) || e.foreign && !e.landed {
			gone++
			continue // its line may be gone, and its key with it
		}
		if e.entry == "" {
			continue // its answer never came
		}
		_, err := s.Undo(context.Background(), history.Undo{Entry: e.entry, Force: true, DryRun: true})
		if err != nil && memory.CodeOf(err) != memory.Invalid { // undone before
			return fmt.Errorf("journal entry of %s: %w", e.name, err)
		}
		if use, ok := s.Replay(e.key); e.key != "" && (!ok || use.Entry != e.entry) {
			return fmt.Errorf("key of %s stands for %+v, want entry %s", e.name, use, e.entry)
		}
	}
	s.Wal().Journal.LoadHistory()
	known := map[record.Stamp]bool{}
	for _, r := range journal.MergedRefs(s.Wal().Journal.Refs, s.Wal().Journal.Cold) {
		known[r.Tx] = true
	}
	if len(known) > len(w.events) || len(known) < len(w.events)-gone {
		return fmt.Errorf("the journal has %d entries, want %d, %d of which may be gone", len(known), len(w.events), gone)
	}
	return nil
}

// purgedAfter reports whether all that an event was about was purged after it.
func (w *world) purgedAfter(i int) bool {
	left := map[memory.ID]bool{}
	for _, f := range w.events[i].effects {
		left[f.id] = true
	}
	for _, e := range w.events[i+1:] {
		for _, f := range e.effects {
			if f.op == record.OpPurge {
				delete(left, f.id)
			}
		}
	}
	return len(left) == 0
}

func (w *world) checkUses(s *stm.Store) error {
	for id, most := range w.used {
		row, ok := s.Get(id)
		if !ok {
			continue
		}
		if got := row.UseCount(); got < w.settled[id] || got > most {
			return fmt.Errorf("memory %s has %d uses, want %d to %d", id, got, w.settled[id], most)
		}
	}
	return nil
}

// checkRecovery sees that a crash is not reported as damage. A line of several
// disk blocks is the exception: with a hole in it and a good line after it, it
// looks like one that was damaged later.
func (w *world) checkRecovery(s *stm.Store) error {
	if w.long {
		return nil
	}
	r := s.Status().Recovery
	if r.Quarantined+r.HandEdited+r.Unknown+r.Future+r.Gaps > 0 {
		return fmt.Errorf("recovery reports damage: %+v", r)
	}
	return nil
}
