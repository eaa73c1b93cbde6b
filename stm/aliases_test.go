package stm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/stm"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// nth is an id; any two of them begin and end alike but for two digits.
func nth(n int) memory.ID { return memory.ID(fmt.Sprintf("0192f3a1-b2c3-7000-8000-0000000beef%d", n)) }

func (ts *testStore) putAs(id memory.ID, set map[string]any, aliases ...string) {
	ts.t.Helper()
	fields := map[string]json.RawMessage{"content": record.Encode("text of " + string(id)), "created_at": record.Encode("2026-01-02T03:04:05Z"), "aliases": record.Encode(aliases)}
	for key, value := range set {
		fields[key] = record.Encode(value)
	}
	ts.commit(wal.Tx{Verb: "save", Changes: []wal.Change{{ID: id, Set: fields}}})
}

func (ts *testStore) wantNamed(m *table.MemorySet, name string, want memory.ID, code memory.Code) {
	ts.t.Helper()
	got, err := m.FindNamed(table.Naming(name))
	if got != want || memory.CodeOf(err) != code {
		ts.t.Errorf("%q names %q, %v; want %q, code %q", name, got, err, want, code)
	}
}

func TestAliasesFollowTheirMemories(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.putAs(nth(1), nil, "GH-1", "both", "eef2")
	ts.putAs(nth(2), nil, "gh-1", "both", string(nth(1)))
	check := func(when string) {
		t.Helper()
		for name, want := range map[string]memory.ID{"GH-1": nth(1), " GH-1 ": nth(1), "gh-1": nth(2), "eef2": nth(2), string(nth(1)): nth(1)} {
			if got, err := ts.Resolve(name); got != want {
				t.Errorf("%s, %q names %q, %v; want %q", when, name, got, err, want)
			}
		}
		if _, err := ts.Resolve("both"); memory.CodeOf(err) != memory.Ambiguous || !strings.Contains(err.Error(), string(nth(1))) || !strings.Contains(err.Error(), string(nth(2))) {
			t.Errorf("%s, an alias of two: %v", when, err)
		}
		if _, err := ts.Resolve("Gh-1"); memory.CodeOf(err) != memory.NotFound {
			t.Errorf("%s, in another case: %v", when, err)
		}
	}
	check("at once")
	ts.reopen()
	check("from a snapshot")
	ts.withoutSnapshot()
	check("from the log")
	entry := ts.forget(nth(2)).Entry
	ts.wantNamed(&ts.MemorySet, "both", nth(1), "")
	for _, again := range []func(){func() {}, ts.reopen, ts.withoutSnapshot} {
		again()
		if got, err := ts.Resolve("gh-1"); got != nth(2) {
			t.Errorf("in the trash: %q, %v", got, err)
		}
	}
	if _, err := ts.Undo(context.Background(), history.Undo{Entry: entry}); err != nil {
		t.Fatal(err)
	}
	check("after an undo")
	ts.commit(wal.Tx{Verb: "edit", Changes: []wal.Change{{ID: nth(2), Set: map[string]json.RawMessage{"aliases": record.Encode([]string{"new"})}}}})
	ts.wantNamed(&ts.MemorySet, "new", nth(2), "")
	ts.wantNamed(&ts.MemorySet, "gh-1", "", memory.NotFound)
}

func TestWhoSeesNoMemorySeesNoAlias(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.putAs(nth(1), nil, "shared", "seen")
	ts.putAs(nth(2), nil, "shared", "hidden", "binned")
	seer := ts.WithView(stm.View{Sees: func(r *table.Row) bool { return r.ID() == nth(1) }})
	for name, want := range map[string]memory.Code{"seen": "", "shared": "", "hidden": memory.NotFound, "unheard": memory.NotFound} {
		if _, err := seer.Resolve(name); memory.CodeOf(err) != want {
			t.Errorf("%q: %v, want code %q", name, err, want)
		}
	}
	_, hidden := seer.Resolve("hidden")
	_, unheard := seer.Resolve("unheard")
	if strings.ReplaceAll(hidden.Error(), "hidden", "unheard") != unheard.Error() {
		t.Errorf("%q and %q tell of what is hidden", hidden, unheard)
	}
	ts.forget(nth(2))
	if _, err := seer.Resolve("binned"); memory.CodeOf(err) != memory.NotFound {
		t.Errorf("in the trash and not seen: %v", err)
	}
}

// The memory that others were merged into has their aliases and stands for them.
func TestTheMergedOneIsKnownByTheAlias(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.putAs(nth(1), map[string]any{"consolidated_into": nth(3)}, "part")
	ts.putAs(nth(2), map[string]any{"consolidated_into": nth(3)}, "part", "other")
	ts.putAs(nth(3), nil, "part", "other")
	ts.wantNamed(&ts.MemorySet, "part", nth(3), "")
	ts.wantNamed(&ts.MemorySet, "other", nth(3), "")
	ts.forget(nth(3))
	ts.wantNamed(&ts.MemorySet, "other", nth(2), "")
	ts.wantNamed(&ts.MemorySet, "part", "", memory.Ambiguous)
}

func TestAPurgeLeavesNoAlias(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ts.putAs(nth(1), nil, "PASSPORT-4711")
	ts.forget(nth(1))
	ts.reopen() // a snapshot has it
	ts.purge(nth(1))
	if _, err := ts.Resolve("PASSPORT-4711"); memory.CodeOf(err) != memory.NotFound {
		t.Errorf("it is known still: %v", err)
	}
	ts.reopen()
	ts.wantNowhere("passport-4711")
}
