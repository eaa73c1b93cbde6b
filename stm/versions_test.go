package stm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// told writes a history as text: action, verb, and the fields but the times.
func told(versions []history.Version) string {
	var out []string
	for _, v := range versions {
		var line strings.Builder
		line.WriteString(v.Action + " by " + v.Entry.Verb)
		for _, f := range v.Fields {
			if f.Name != "created_at" && f.Name != history.WhenChanged {
				fmt.Fprintf(&line, " %s:%s→%s", f.Name, f.From, f.To)
			}
		}
		out = append(out, line.String())
	}
	return strings.Join(out, "; ")
}

func (ts *testStore) history(id memory.ID) []history.Version {
	ts.t.Helper()
	got, err := ts.History(ts.t.Context(), id)
	if err != nil {
		ts.t.Fatal(err)
	}
	return got
}

func TestHistoryTellsEveryVersion(t *testing.T) {
	ts := openStore(t, wal.Options{})
	a, other := ts.save("one", "x"), ts.save("other")
	ts.Use(table.Use{ID: a.ID(), Uses: 1})
	edit := ts.edit(a.ID(), "content", "two")
	ts.edit(a.ID(), "source", "chat")
	ts.reopen()
	ts.undo(edit.Entry)
	ts.forget(a.ID(), other.ID())
	if _, err := ts.Restore(t.Context(), []memory.ID{a.ID()}, memory.Actor{Via: "test"}); err != nil {
		t.Fatal(err)
	}
	got := ts.history(a.ID())
	const want = `created by save content:→"one" tags:→["x"]; changed by edit content:"one"→"two"; ` +
		`changed by edit source:→"chat"; changed by undo content:"two"→"one"; forgotten by forget; restored by restore`
	if told(got) != want {
		t.Errorf("history is\n%s, want\n%s", told(got), want)
	}
	if got[3].Undoes != edit.Entry || got[5].Entry.By.Via != "test" {
		t.Errorf("the undo takes back %q, want %s; the restore is by %+v", got[3].Undoes, edit.Entry, got[5].Entry.By)
	}
	for i := 1; i < len(got); i++ {
		if !got[i].Stamp.After(got[i-1].Stamp) {
			t.Errorf("version %d is not later than the one before", i)
		}
	}
	if n := len(ts.history(other.ID())); n != 2 {
		t.Errorf("the other memory has %d versions, want 2", n)
	}
	if got := ts.history(memory.DeriveID([]byte("nobody"))); len(got) != 0 {
		t.Errorf("a memory that never was has versions: %s", told(got))
	}
}

// What a change replaced is a part of the history, too, when the file with the line that wrote it is gone.
func TestHistoryTellsWhatALostLineWrote(t *testing.T) {
	for last, want := range map[string]string{"three": `content:"two"→"three"`, "one": `content:"two"→"one"`} {
		ts := openStore(t, wal.Options{})
		id := ts.save("one").ID()
		ts.reopen()
		ts.edit(id, "content", "two")
		ts.reopen()
		ts.edit(id, "content", last)
		names := ts.segments()
		if err := os.Remove(names[1]); err != nil {
			t.Fatal(err)
		}
		if got := told(ts.history(id)); got != `created by save content:→"one"; changed by  content:"one"→"two"; changed by edit `+want {
			t.Errorf("history is %s, want the change %s", got, want)
		}
	}
}

// Compaction leaves the newest values in a c file, cut, and the whole lines in
// an h file. Together they tell the same.
func TestHistoryReadsCompactedFiles(t *testing.T) {
	ts := openStore(t, wal.Options{})
	a := ts.save("one", "x")
	ts.edit(a.ID(), "content", "two")
	ts.edit(a.ID(), "content", "three")
	want := told(ts.history(a.ID()))
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	raw := ts.segments()[0]
	b, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	cut := func(l, from, to string) string { // as compaction would, without what was superseded
		l = strings.Replace(l, from, to, 1)
		return string(record.SealLine([]byte(l[:len(l)-record.SuffixLen-1]), 0))
	}
	prev := lines[3][strings.Index(lines[3], `"prev"`):strings.Index(lines[3], `"d":{"content":"three"`)]
	hot := lines[0] + cut(lines[1], `"d":{"content":"one",`, `"cut":true,"d":{`) + cut(lines[3], prev, `"cut":true,`)
	dir := filepath.Dir(raw)
	for name, text := range map[string]string{
		"c-00000001-00000001.g1.jsonl": hot, "h-00000001-00000001.g1.jsonl": strings.Join(lines[:4], ""),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(raw); err != nil {
		t.Fatal(err)
	}
	if got := told(ts.history(a.ID())); got != want {
		t.Errorf("with history:\n%s, want\n%s", got, want)
	}
	// When the history has been let go, the newest values are still told.
	if err := os.Remove(filepath.Join(dir, "h-00000001-00000001.g1.jsonl")); err != nil {
		t.Fatal(err)
	}
	got := ts.history(a.ID())
	if told(got) != `created by save tags:→["x"]; changed by edit content:→"three"` || !got[1].Cut {
		t.Errorf("without history: %s (cut: %t)", told(got), got[1].Cut)
	}
}

func TestHistoryOfWhatTheLogHalfTells(t *testing.T) {
	ts := openStore(t, wal.Options{})
	a := ts.save("one")
	ts.edit(a.ID(), "content", "two")
	ts.forget(a.ID())
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	raw := ts.segments()[0]
	b, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	if err := os.WriteFile(raw, []byte(lines[0]+lines[2]+lines[3]), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := told(ts.history(a.ID())), `changed by edit content:"one"→"two"; forgotten by forget`; got != want {
		t.Errorf("history is %s, want %s", got, want)
	}
}

// TestHistoryTellsATextWhoseFileIsGone deletes the file with an edit that a later one replaced.
func TestHistoryTellsATextWhoseFileIsGone(t *testing.T) {
	for _, how := range []string{"a snapshot", "none"} {
		t.Run(how, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			id := ts.save("one").ID()
			ts.reopen()
			ts.edit(id, "content", "two")
			ts.reopen()
			ts.edit(id, "content", "three")
			if err := ts.Close(); err != nil {
				t.Fatal(err)
			}
			os.Remove(ts.segments()[1])
			if how == "none" {
				os.RemoveAll(filepath.Join(ts.root, "state", "index"))
			}
			ts.open()
			const want = `created by save content:→"one"; changed by  content:"one"→"two"; changed by edit content:"two"→"three"`
			if got := told(ts.history(id)); got != want {
				t.Errorf("history is\n%s, want\n%s", got, want)
			}
		})
	}
}
