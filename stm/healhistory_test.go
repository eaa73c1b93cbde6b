package stm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/stm/logcheck"
	"emberd/stm/record"
	"emberd/stm/wal"
)

// TestALostHistoryIsToldAndComesBackWhole damages the history of a compaction, and then copies it from a copy of the
// log, if that has it as it was.
func TestALostHistoryIsToldAndComesBackWhole(t *testing.T) {
	kinds := map[string]func(name, other string){
		"the compacted file": func(name, other string) {
			b, _ := os.ReadFile(other)
			os.WriteFile(name, b, 0o600)
		},
		"garbage as long": func(name, _ string) {
			mangleFile(name, func(b []byte) []byte { return []byte(strings.Repeat("x", len(b))) })
		},
	}
	for _, d := range damages[:5] {
		kinds[d.name] = d.do
	}
	for kind, do := range kinds {
		t.Run(kind, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			var ids []memory.ID
			for _, text := range []string{"the zebra", "the okapi", "the tapir"} {
				id := ts.save(text).ID()
				ts.edit(id, "content", text+" again")
				ids = append(ids, id)
			}
			ts.reopen()
			ts.compact()
			history, made := ts.historyFile()
			whole := filepath.Join(t.TempDir(), "whole")
			copyTree(t, filepath.Join(ts.root, "data"), whole)
			if err := ts.Close(); err != nil {
				t.Fatal(err)
			}
			was, _ := os.ReadFile(history)
			do(history, made)
			for range 2 {
				if len(ts.foundBy(logcheck.CheckDecided)) == 0 {
					t.Error("log check finds nothing wrong")
				}
				ts.open()
				ts.refresh()
				if st := ts.Status(); len(st.Short) != 1 || len(st.Warnings) == 0 {
					t.Errorf("short are %q, warnings %q", st.Short, st.Warnings)
				}
				if err := ts.Close(); err != nil {
					t.Fatal(err)
				}
			}
			ts.open()
			if n, err := ts.ReturnHistories(t.TempDir()); n != 0 || err != nil {
				t.Errorf("%d histories came back from nothing: %v", n, err)
			}
			if n, err := ts.ReturnHistories(whole); n != 1 || err != nil {
				t.Fatalf("%d histories came back: %v", n, err)
			}
			ts.wantSound("back")
			if now, _ := os.ReadFile(history); string(now) != string(was) {
				t.Error("what came back is not what was there")
			}
			ts.withoutSnapshot()
			ts.wantSound("a start later")
			if got := ts.foundBy(logcheck.CheckDecided); len(got) > 0 {
				t.Errorf("log check finds %q", got)
			}
			ts.wantContent(ids[0], "the zebra again")
		})
	}
}

// historyFile returns the history, and the compacted file beside it.
func (ts *testStore) historyFile() (history, made string) {
	ts.t.Helper()
	for _, name := range ts.segments() {
		switch record.ParseName(filepath.Base(name)).Kind {
		case record.History:
			history = name
		case record.Compacted:
			made = name
		}
	}
	if history == "" || made == "" {
		ts.t.Fatalf("no history in %q", ts.segments())
	}
	return history, made
}
