package stm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/stm"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// toldBy is a link of an agent that gives its name, n hours into a day.
func toldBy(client string, n int) memory.Source {
	return memory.Source{Kind: memory.FromAgent, At: time.Date(2026, 3, 1, n, 0, 0, 0, time.UTC),
		By: &memory.Actor{Via: "mcp", UID: 1000, PID: 10 + n, Client: client}}
}

// learnt has a memory learned once more, as one transaction.
func learnt(s *stm.Store, id memory.ID, link memory.Source) (wal.Receipt, error) {
	return s.Update(context.Background(), []memory.ID{id}, "", func(rows []*table.Row) (*wal.Tx, error) {
		key, value := s.Learned(rows[0], link)
		return &wal.Tx{Verb: "reinforce", Changes: []wal.Change{{ID: id, Set: map[string]json.RawMessage{key: value}}}}, nil
	})
}

func (ts *testStore) learn(id memory.ID, link memory.Source) wal.Receipt {
	ts.t.Helper()
	got, err := learnt(ts.Store, id, link)
	if err != nil {
		ts.t.Fatal(err)
	}
	return got
}

// learnedFirst saves a memory with a chain of one link.
func learnedFirst(s *stm.Store, id memory.ID, link memory.Source) error {
	m := memory.Memory{CreatedAt: link.At, Sources: []memory.Source{link}, Origin: link.Kind}
	record.Implied(&m)
	set := map[string]json.RawMessage{"content": record.Encode("the kettle leaks"), "created_at": record.Encode(link.At), "sources": record.Encode(m.Sources)}
	_, err := s.Update(context.Background(), []memory.ID{id}, "", func([]*table.Row) (*wal.Tx, error) {
		return &wal.Tx{Verb: "save", Changes: []wal.Change{{ID: id, Set: set}}}, nil
	})
	return err
}

// chain writes what a live memory was learned from as words.
func (ts *testStore) chain(id memory.ID) []string {
	ts.t.Helper()
	row, ok := ts.Get(id)
	if !ok {
		ts.t.Fatalf("memory %s is gone", id)
	}
	m, err := row.Memory()
	if err != nil {
		ts.t.Fatal(err)
	}
	var out []string
	for _, s := range m.Sources {
		out = append(out, fmt.Sprintf("%s @%d ×%d", s.By.Client, s.At.Hour(), s.Count()))
	}
	if m.SourcesDropped > 0 {
		out = append(out, fmt.Sprintf("dropped %d", m.SourcesDropped))
	}
	return out
}

func (ts *testStore) wantChain(when string, id memory.ID, want ...string) {
	ts.t.Helper()
	if got := ts.chain(id); !slices.Equal(got, want) {
		ts.t.Errorf("%s the chain is %q, want %q", when, got, want)
	}
}

func TestWhatIsLearnedLaterIsAKeyOfItsOwn(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := idOf(1)
	if err := learnedFirst(ts.Store, id, toldBy("a/1", 1)); err != nil {
		t.Fatal(err)
	}
	ts.learn(id, toldBy("b/1", 2))
	third := ts.learn(id, toldBy("a/1", 3))
	want := []string{"a/1 @3 ×2", "b/1 @2 ×1"}
	ts.wantChain("at once", id, want...)
	row, _ := ts.Get(id)
	if m, err := row.Memory(); err != nil || m.Origin != memory.FromAgent {
		t.Errorf("it is of origin %q, %v; want that of its first link", m.Origin, err)
	}
	ts.reopen()
	ts.wantChain("after a start", id, want...)
	ts.withoutSnapshot()
	ts.wantChain("read anew", id, want...)
	ts.compact()
	ts.unlink()
	ts.wantChain("compacted", id, want...)
	ts.undo(third.Entry)
	ts.wantChain("after undo", id, "a/1 @1 ×1", "b/1 @2 ×1")
	ts.forget(id)
	if m, err := ts.ReadTrashed(id); err != nil || m.Learned() != 2 {
		t.Errorf("in the trash it was learned %d times, %v; want 2", m.Learned(), err)
	}
	ts.restore(id)
	ts.wantChain("restored", id, "a/1 @1 ×1", "b/1 @2 ×1")
}

func TestUndoOfAnEarlierLinkLeavesALaterOne(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("the kettle leaks").ID()
	first := ts.learn(id, toldBy("a/1", 1))
	ts.learn(id, toldBy("b/1", 2))
	again := ts.learn(id, toldBy("b/1", 3))
	ts.undo(first.Entry)
	ts.wantChain("without the first", id, "b/1 @3 ×2")
	ts.learn(id, toldBy("b/1", 4))
	if items := ts.undo(again.Entry).Items; items[0].Action != history.Left || items[0].Reason != "a source changed later" {
		t.Errorf("undoing a link that was counted again: %+v", items)
	}
	ts.wantChain("counted again", id, "b/1 @4 ×3")
}

func TestAFullDeviceWritesOverItsOldestLink(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("the kettle leaks").ID()
	ts.learn(id, toldBy("once/1", 5))
	for n := range memory.MaxSources - 1 {
		ts.learn(id, toldBy(fmt.Sprintf("more/%d", n), 9))
	}
	ts.learn(id, toldBy("once/1", 6))
	ts.learn(id, toldBy("new/1", 12))
	row, _ := ts.Get(id)
	m, err := row.Memory()
	if err != nil || m.Learned() != memory.MaxSources+2 || len(m.Sources) != memory.MaxSources || m.SourcesDropped != 2 {
		t.Errorf("%d links, %d dropped, %d in all, %v; want %d, 2, %d", len(m.Sources), m.SourcesDropped, m.Learned(), err, memory.MaxSources, memory.MaxSources+2)
	}
	keys := 0
	for key := range row.Fields() {
		if record.IsSourceKey(key) {
			keys++
		}
	}
	if keys != memory.MaxSources {
		t.Errorf("%d keys hold links, want %d", keys, memory.MaxSources)
	}
}

func TestKeysThatOnlyLookLikeSourcesAreNone(t *testing.T) {
	ts := openStore(t, wal.Options{})
	good := record.Encode(toldBy("a/1", 1))
	set := map[string]json.RawMessage{"content": record.Encode("x"), "created_at": record.Encode(time.Unix(1, 0))}
	for _, key := range []string{"source.abcdefgh.50", "source.abcdefgh.01", "source.abcdefgh", "source.ABCDEFGH.1", "source..1", "source.abcdefgh.-1"} {
		set[key] = good
		if _, err := record.ParseSource(key, good); err == nil {
			t.Errorf("%s is taken for a source", key)
		}
	}
	set["source.abcdefgh.2"] = json.RawMessage(`"what is this"`)
	set["source.abcdefgh.49"] = good
	ts.commit(wal.Tx{Verb: "import", Changes: []wal.Change{{ID: idOf(1), Set: set}}})
	ts.wantChain("of them all", idOf(1), "a/1 @1 ×1")
	if row, _ := ts.Get(idOf(1)); len(row.Fields()) != len(set) {
		t.Errorf("%d keys are kept of %d", len(row.Fields()), len(set))
	}
}

func TestQuotesOfAPurgedMemoryAreLeftNowhere(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := idOf(1)
	first, later, over := toldBy("zanzibar/1", 1), toldBy("b/1", 2), toldBy("c/1", 3)
	first.Evidence, later.Evidence, over.Ref = "marzipan", "gargoyle", "kumquat.md"
	if err := learnedFirst(ts.Store, id, first); err != nil {
		t.Fatal(err)
	}
	ts.learn(id, later)
	taken := ts.learn(id, over)
	ts.undo(taken.Entry)
	ts.reopen()
	ts.compact()
	ts.purge(id)
	ts.reopen()
	ts.wantNowhere("zanzibar", "marzipan", "gargoyle", "kumquat")
}

// Whatever arrives when and in which order, what devices learned at once is counted on
// all of them, and all have the same chain.
func TestNoDeviceLosesWhatAnotherLearned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newFleet(t)
		defer w.close()
		if err := learnedFirst(w.devices[0].Store, idOf(1), toldBy("first/1", 1)); err != nil {
			t.Fatal(err)
		}
		wrote := 1
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			d := w.any("device")
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				w.deliver(w.devices[0], d)
			case 1:
				w.deliver(w.any("from"), d)
			default:
				if _, live := d.Get(idOf(1)); !live {
					continue
				}
				client := rapid.SampledFrom([]string{"first/1", "b/1", "c/1"}).Draw(t, "client")
				if _, err := learnt(d.Store, idOf(1), toldBy(client, rapid.IntRange(0, 23).Draw(t, "hour"))); err != nil {
					t.Fatal(err)
				}
				wrote++
			}
		}
		w.settle()
		for i, d := range w.devices {
			row, _ := d.Get(idOf(1))
			m, err := row.Memory()
			if err != nil || m.Learned() != wrote || m.Sources[0].By.Client != "first/1" || len(m.Sources) > 3 {
				t.Fatalf("device %d has %d links that count %d of %d writes, %v", i, len(m.Sources), m.Learned(), wrote, err)
			}
		}
	})
}

// What comes back from the trash is learned beside what was learned before.
func TestWhatIsLearnedAnewTakesNoOthersPlace(t *testing.T) {
	ts := openStore(t, wal.Options{})
	id := ts.save("the kettle leaks").ID()
	ts.learn(id, toldBy("a/1", 1))
	ts.forget(id)
	fields, err := ts.ForgottenFields(id)
	if err != nil {
		t.Fatal(err)
	}
	key, value := ts.LearnedAnew(fields, toldBy("b/1", 2))
	fields[key] = value
	ts.commit(wal.Tx{Verb: "note", Changes: []wal.Change{{ID: id, Set: fields}}})
	ts.wantChain("back", id, "a/1 @1 ×1", "b/1 @2 ×1")
}
