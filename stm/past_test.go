package stm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/compaction"
	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// chronicle is a store under a clock that only goes forward, with what its table
// was at some moments.
type chronicle struct {
	*rapid.T
	*stm.Store
	disk    *crashdisk.Disk
	time    time.Time
	moments []time.Time
	tables  []map[memory.ID]string
	entries []string
	texts   int
}

const chronicleKeep = 40 * day

func newChronicle(t *rapid.T) *chronicle {
	c := &chronicle{T: t, disk: crashdisk.New(), time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	c.open()
	return c
}

func (c *chronicle) open() {
	s, err := stm.Open("/data", "/state", &wal.Options{FS: c.disk,
		Now: func() time.Time { return c.time }, HistoryKeep: chronicleKeep, SegmentBytes: 1500})
	if err != nil {
		c.Fatal(err)
	}
	c.Store = s
}

func (c *chronicle) close() {
	if err := c.Close(); err != nil {
		c.Error(err)
	}
}

// described tells memories by id: every field, how often they were used, and when.
func described(m *table.MemorySet) map[memory.ID]string {
	out := map[memory.ID]string{}
	for r := range m.Rows() {
		out[r.ID()] = fmt.Sprintf("%s used %d× last %s found %d× last %s", record.Encode(r.Fields()), r.UseCount(), r.LastUsed(), r.AccessCount(), r.LastAccessed())
	}
	return out
}

func (c *chronicle) update(verb string, changes ...wal.Change) {
	var ids []memory.ID
	for _, one := range changes {
		ids = append(ids, one.ID)
	}
	got, err := c.Update(context.Background(), ids, "", func([]*table.Row) (*wal.Tx, error) { return &wal.Tx{Verb: verb, Changes: changes}, nil })
	if err != nil {
		c.Fatalf("%s: %v", verb, err)
	}
	c.entries = append(c.entries, got.Entry)
}

// step does one thing, and time passes.
func (c *chronicle) step() {
	c.time = c.time.Add(time.Duration(rapid.IntRange(1, 3*24*60).Draw(c.T, "minutes")) * time.Minute)
	c.texts++
	text := record.Encode(fmt.Sprintf("text %d", c.texts))
	id := idOf(rapid.IntRange(1, 5).Draw(c.T, "memory"))
	_, live := c.Get(id)
	switch what := rapid.IntRange(0, 11).Draw(c.T, "what"); {
	case what == 0:
		c.remember()
	case what == 1:
		c.reopen()
	case what == 2:
		c.compact()
	case what == 3 && len(c.entries) > 0:
		// What cannot be undone any more is refused.
		_, _ = c.Undo(context.Background(), history.Undo{Entry: rapid.SampledFrom(c.entries).Draw(c.T, "entry"), Force: rapid.Bool().Draw(c.T, "force")})
	case what == 4 && c.Trashed(id) && !live:
		if _, err := c.Restore(context.Background(), []memory.ID{id}, memory.Actor{}); err != nil {
			c.Fatal(err)
		}
	case !live:
		c.update("save", wal.Change{ID: id, Set: map[string]json.RawMessage{"content": text, "created_at": record.Encode(c.time), "source": text}})
	case what <= 5:
		c.update("forget", wal.Change{ID: id, Delete: true})
	case what <= 7:
		c.Use(table.Use{ID: id, Uses: int64(what - 5), Accesses: 1})
		if err := c.Wal().FlushUses(context.Background()); err != nil { // or two uses share a line
			c.Fatal(err)
		}
	case what == 8:
		c.update("edit", wal.Change{ID: id, Set: map[string]json.RawMessage{"source": record.Null, "context": text}})
	default:
		c.update("edit", wal.Change{ID: id, Set: map[string]json.RawMessage{"content": text}})
	}
}

func (c *chronicle) remember() {
	c.moments = append(c.moments, c.time)
	c.tables = append(c.tables, described(&c.MemorySet))
}

func (c *chronicle) reopen() {
	if err := c.Close(); err != nil {
		c.Fatal(err)
	}
	c.open()
}

// compact folds all that can be, and removes what was folded.
func (c *chronicle) compact() {
	files, err := c.Segments()
	if err != nil {
		c.Fatal(err)
	}
	job := compaction.Job{HistoryKeep: chronicleKeep}
	for _, g := range files {
		if g.Kind != record.History && !g.Active {
			job.Inputs = append(job.Inputs, g.Name)
		}
	}
	if len(job.Inputs) == 0 {
		return
	}
	if _, err := c.Rewrite(context.Background(), job); err != nil {
		c.Fatal(err)
	}
	c.time = c.time.Add(time.Hour)
	if _, err := c.Unlink(context.Background(), c.time, c.time.Add(-chronicleKeep)); err != nil {
		c.Fatal(err)
	}
}

// check compares every remembered moment with what the log tells of it now, uses
// where all are counted.
func (c *chronicle) check() {
	for i, at := range c.moments {
		p, err := c.At(context.Background(), at)
		if err != nil {
			c.Fatal(err)
		}
		if at.Before(p.Since) {
			continue
		}
		got := described(&p.MemorySet)
		if p.Uncounted > 0 {
			got, c.tables[i] = fieldsOnly(got), fieldsOnly(c.tables[i])
		}
		if len(got) != len(c.tables[i]) || p.Len() != len(got) {
			c.Fatalf("at %s (all is told since %s): %v\nwant %v", at, p.Since, got, c.tables[i])
		}
		for id, want := range c.tables[i] {
			if got[id] != want {
				c.Fatalf("at %s (all is told since %s) %s is\n%s\nwant\n%s", at, p.Since, id, got[id], want)
			}
		}
	}
}

func fieldsOnly(table map[memory.ID]string) map[memory.ID]string {
	out := map[memory.ID]string{}
	for id, text := range table {
		var keys map[string]json.RawMessage
		_ = json.NewDecoder(strings.NewReader(text)).Decode(&keys)
		out[id] = string(record.Encode(keys))
	}
	return out
}

func TestThePastIsWhatTheTableWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newChronicle(t)
		defer c.close()
		for range rapid.IntRange(5, 80).Draw(t, "steps") {
			c.step()
		}
		c.remember()
		c.check()
		c.reopen()
		c.check()
		c.compact()
		c.check()
	})
}

// at is the past at a moment, indexed.
func (ts *testStore) at(moment time.Time) *history.PastView {
	ts.t.Helper()
	p, err := ts.At(context.Background(), moment)
	if err == nil {
		err = p.Index(context.Background())
	}
	if err != nil {
		ts.t.Fatal(err)
	}
	return p
}

func TestThePastRanksAsThePresentDid(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }})
	pie := ts.save("apple pie with apple sauce").ID()
	tart := ts.save("plum tart and an apple", "sweet").ID()
	want := ts.Search(table.Query{Terms: asTerms("apple"), Limit: 10})
	then := now
	now = now.Add(time.Hour)
	ts.edit(pie, "content", "cherry pie")
	ts.forget(tart)
	ts.save("apple cake")

	p := ts.at(then)
	got := p.Search(table.Query{Terms: asTerms("apple"), Limit: 10})
	if got.Loading || got.Total != want.Total || len(got.Matches) != 2 {
		t.Fatalf("found %+v, want %+v", got, want)
	}
	for i, m := range got.Matches {
		if w := want.Matches[i]; m.Row.ID() != w.Row.ID() || m.Relevance != w.Relevance || m.Row.Rev() != w.Row.Rev() {
			t.Errorf("match %d is %s at %v, want %s at %v", i, m.Row.Text(), m.Relevance, w.Row.Text(), w.Relevance)
		}
	}
	if id, err := p.Resolve(string(tart)[:13]); err != nil && memory.CodeOf(err) != memory.Ambiguous || err == nil && id != tart {
		t.Errorf("%s was live then: %s, %v", tart, id, err)
	}
	if again := ts.at(then); again != p {
		t.Error("the same question was answered anew")
	}
	if ts.ReleasePast(); ts.at(then) == p {
		t.Error("what was let go is still there")
	}
}

// What another device wrote counts from its stamp on, whenever it arrived.
func TestThePastCountsWhatArrivedLater(t *testing.T) {
	now := time.Now()
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }})
	ts.save("apple pie")
	then := now
	if n := ts.at(then).Len(); n != 1 {
		t.Fatalf("%d memories, want 1", n)
	}
	now = now.Add(time.Hour)
	ts.peerFile("s-00000001.jsonl", lineOf(1, then.Add(-time.Hour), record.OpPut, idOf(1), string(record.Encode(map[string]string{"content": "plum tart"}))))
	if n := ts.at(then.Add(-time.Minute)).Len(); n != 1 {
		t.Errorf("%d memories before it was read, want the one that is there", n)
	}
	ts.refresh()
	if n := ts.at(then).Len(); n != 2 {
		t.Errorf("%d memories, want 2", n)
	}
}

func TestThePastDoesNotShowWhatWasPurged(t *testing.T) {
	now := time.Now()
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }})
	id := ts.save("quixotic zeppelin").ID()
	ts.edit(id, "source", "a dream")
	then := now
	now = now.Add(time.Hour)
	if _, ok := ts.at(then).Get(id); !ok {
		t.Fatal("it is not there before it is purged")
	}
	ts.purge(id)
	if _, ok := ts.at(then).Get(id); ok {
		t.Error("a purged memory shows in the past")
	}
	ts.put(id, "another text")
	if _, ok := ts.at(then).Get(id); ok {
		t.Error("a purged memory that was saved anew shows in the past")
	}
}

// Beside a count that compaction took together, it is said that there may be more.
func TestThePastSaysWhichUsesItDoesNotKnow(t *testing.T) {
	now := time.Now()
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }})
	often, once := ts.save("apple pie").ID(), ts.save("plum tart").ID()
	count := func(id memory.ID) {
		ts.Use(table.Use{ID: id, Uses: 1})
		if err := ts.Wal().FlushUses(context.Background()); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Hour)
	}
	count(often)
	count(once)
	then := now
	now = now.Add(time.Hour)
	count(often)
	ts.reopen()
	ts.compact()
	ts.unlink()
	p := ts.at(then)
	if p.Uncounted != 1 {
		t.Errorf("%d memories may have been used more often, want 1", p.Uncounted)
	}
	if r, ok := p.Get(once); !ok || r.UseCount() != 1 {
		t.Errorf("what was not used since has another count: %v", r)
	}
}

// While others save, edit, use and compact, an earlier moment stays what it was.
func TestThePastBesideAWriter(t *testing.T) {
	ts := openStore(t, wal.Options{Durability: wal.None, SegmentBytes: 2000, HistoryKeep: 90 * day})
	for n := range 20 {
		ts.put(idOf(n), fmt.Sprintf("text %d", n))
	}
	want, then := described(&ts.MemorySet), ts.Wal().Now()
	for !ts.Wal().Now().Truncate(time.Millisecond).After(then) { // what follows is of another millisecond
		runtime.Gosched()
	}
	stop := make(chan struct{})
	var writers sync.WaitGroup
	writers.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			set := map[string]json.RawMessage{"content": record.Encode(fmt.Sprintf("later text %d", n))}
			id := idOf(n % 20)
			if _, err := ts.Update(context.Background(), []memory.ID{id}, "", func([]*table.Row) (*wal.Tx, error) {
				return &wal.Tx{Verb: "edit", Changes: []wal.Change{{ID: id, Set: set}}}, nil
			}); err != nil {
				t.Error(err)
				return
			}
			ts.Use(table.Use{ID: id, Uses: 1})
		}
	})
	for n := range 20 {
		ts.ReleasePast()
		if got := described(&ts.at(then).MemorySet); !maps.Equal(got, want) {
			t.Errorf("it is %v, was %v", got, want)
			break
		}
		if n%5 == 4 {
			ts.compact()
			ts.unlink()
		}
	}
	close(stop)
	writers.Wait()
}

// What is saved within the millisecond that was asked about is there when it is asked
// about again, and so is what was stamped then and reaches the disk later.
func TestThePastOfThisVeryMoment(t *testing.T) {
	now := time.Now().Truncate(time.Millisecond)
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }})
	ts.save("apple pie")
	then := now
	now = now.Add(500 * time.Microsecond)
	if n := ts.at(then).Len(); n != 1 {
		t.Fatalf("%d memories, want 1", n)
	}
	ts.save("plum tart")
	if n := ts.at(then).Len(); n != 2 {
		t.Errorf("%d memories, want 2", n)
	}
}

// Nothing of the past is shown when a purge was given up on by whoever asked for it
// and is carried out all the same.
func TestThePastForgetsAPurgeInDoubt(t *testing.T) {
	now := time.Now()
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }})
	id := ts.save("quixotic zeppelin").ID()
	then := now
	now = now.Add(time.Hour)
	if n := ts.at(then).Len(); n != 1 {
		t.Fatalf("%d memories, want 1", n)
	}
	impatient, giveUp := context.WithCancel(context.Background())
	var asked sync.WaitGroup
	err := ts.Wal().OnWriter(context.Background(), func() { // nothing is written meanwhile
		asked.Go(func() {
			_, err := ts.Purge(impatient, id, memory.Actor{})
			wantCode(t, "purge", err, memory.Unknown)
		})
		for len(ts.Wal().Writer.Queue) == 0 {
			runtime.Gosched()
		}
		giveUp()
		asked.Wait()
	})
	if err != nil {
		t.Fatal(err)
	}
	ts.save("apple pie") // comes after the purge
	if n := ts.at(then).Len(); n != 0 {
		t.Errorf("%d memories, want none", n)
	}
}

func TestThePastCountsColdMemories(t *testing.T) {
	now := time.Now()
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }})
	id := ts.save("apple pie").ID()
	ts.edit(id, "stage", string(memory.Archived))
	then := now
	now = now.Add(time.Hour)
	ts.edit(id, "stage", string(memory.Active))
	if then, now := ts.at(then).Cold(), ts.Cold(); then != 1 || now != 0 {
		t.Errorf("%d cold memories then and %d now, want 1 and none", then, now)
	}
}

// vanishing calls look before a file is opened.
type vanishing struct {
	durable.OS
	look atomic.Pointer[func()]
}

func (d *vanishing) OpenRead(name string) (durable.ReadFile, error) {
	if look := d.look.Swap(nil); look != nil {
		(*look)()
	}
	return d.OS.OpenRead(name)
}

// Files that compaction removes while the past is read are looked for again.
func TestThePastIsReadWhileFilesGo(t *testing.T) {
	now, disk := time.Now(), &vanishing{}
	ts := openStore(t, wal.Options{FS: disk, Now: func() time.Time { return now }})
	id := ts.save("apple pie").ID()
	then := now
	now = now.Add(time.Hour)
	ts.edit(id, "content", "plum tart")
	ts.reopen()
	disk.look.Store(new(func() { ts.compact(); ts.unlink() }))
	if r, ok := ts.at(then).Get(id); !ok || r.Content() != "apple pie" {
		t.Error("the memory is not there as it was")
	}
	if files := ts.segments(); disk.look.Load() != nil || slices.Contains(files, filepath.Join(ts.Wal().Writer.Dir, record.SegmentName(1))) {
		t.Errorf("nothing was removed meanwhile: %v", files)
	}
}

// What an earlier compaction left out is missing for good, however long later ones keep
// what is superseded.
func TestThePastLacksWhatAnEarlierCompactionLeftOut(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }, HistoryKeep: 365 * day})
	id := ts.save("apple pie").ID()
	ts.edit(id, "content", "plum tart")
	now = now.Add(100 * day)
	want := now.Add(time.Second - 90*day)
	ts.reopen()
	ts.compact() // which keeps 90 days
	ts.unlink()
	ts.reopen()
	now = now.Add(time.Hour)
	if _, err := ts.Rewrite(context.Background(), compaction.Job{Inputs: ts.sealed(), HistoryKeep: 365 * day}); err != nil {
		t.Fatal(err)
	}
	ts.unlink()
	if got := ts.at(now).Since; !got.Equal(want) {
		t.Errorf("all is told since %s, want %s", got, want)
	}
}
