package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// warnsOf reports whether a warning of status has some words.
func warnsOf(st *op.StatusResult, words string) bool {
	return slices.ContainsFunc(st.Warnings, func(w string) bool { return strings.Contains(w, words) })
}

// A damaged list of purged memories is made again from what is left of it and from the log, and told until the
// copy of it is deleted.
func TestADamagedListOfPurgesIsMadeAgain(t *testing.T) {
	t.Parallel()
	for _, cut := range []int{0, 1, -1} {
		h := newHouse(t)
		e := h.open(t)
		gone := save(t, e, "quixotic zeppelin").ID
		do(t, e, op.Purge, &op.PurgeRequest{ID: string(gone)})
		ok(t, e.Close())
		name := filepath.Join(h.State, "purged.json")
		before, err := os.ReadFile(name)
		ok(t, err)
		ok(t, os.WriteFile(name, before[:(len(before)+cut)%len(before)], 0o600))
		e = h.open(t)
		if st := status(t, e); !warnsOf(st, "purged.json was damaged") {
			t.Errorf("%d bytes: status warns %q", cut, st.Warnings)
		}
		if after, err := os.ReadFile(name); err != nil || string(after) != string(before) {
			t.Errorf("%d bytes: the list is %s, was %s (%v)", cut, after, before, err)
		}
		ok(t, os.RemoveAll(filepath.Join(h.State, "damaged")))
		if st := status(t, e); warnsOf(st, "purged.json") {
			t.Errorf("%d bytes: status still warns %q", cut, st.Warnings)
		}
		ok(t, e.Close())
	}
}

// Damage of the audit log is told by the status of the daemon that finds it first.
func TestDamageOfTheAuditChainIsTold(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"key", "head", "00000001.jsonl"} {
		h := newHouse(t)
		e := h.open(t)
		save(t, e, "apple pie")
		ok(t, e.Close())
		file := filepath.Join(h.State, "audit", name)
		if _, err := os.Lstat(file); err != nil {
			t.Fatal(err)
		}
		ok(t, os.WriteFile(file, []byte("garbage\n"), 0o600))
		e = h.open(t)
		save(t, e, "plum tart")
		if st := status(t, e); !warnsOf(st, "the audit log is damaged") || !strings.Contains(h.log.String(), "audit log damaged") {
			t.Errorf("%s: status warns %q", name, st.Warnings)
		}
		ok(t, e.Close())
	}
}

// What is kept of damaged files holds nothing that a purge has to find.
func TestDamagedFilesAreListedByName(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	for range 2 {
		for _, name := range []string{"device.json", "purged.json", "k7q2mzxa.key", "s-00000001", "other"} {
			ok(t, stm.KeepDamaged(durable.OS{}, state, place(t, state, name, "garbage")))
		}
	}
	if told := stm.Damaged(durable.OS{}, state); len(told) != 5 {
		t.Errorf("told is %q", told)
	}
}

// A damaged line of which the ID cannot be read may hold the purged memory: the purge names it. One that names
// another memory is not named.
func TestAPurgeNamesDamagedLinesThatMayHoldTheMemory(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	gone, other := save(t, e, "quixotic zeppelin").ID, save(t, e, "apple pie").ID
	for _, id := range []memory.ID{gone, other} {
		do(t, e, op.Edit, &op.EditRequest{ID: string(id), Content: new("another text")})
	}
	ok(t, e.Close())
	ok(t, os.RemoveAll(filepath.Join(h.State, "index"))) // which makes good what is damaged
	names, err := filepath.Glob(filepath.Join(h.Data, "stm", "*", "s-00000001.jsonl"))
	if ok(t, err); len(names) != 1 {
		t.Fatal(names)
	}
	text, err := os.ReadFile(names[0])
	ok(t, err)
	for _, part := range []string{string(gone), "quixotic zeppelin", "apple pie"} {
		text = []byte(strings.Replace(string(text), part, part[:4]+"??"+part[6:], 1))
	}
	ok(t, os.WriteFile(names[0], text, 0o600))
	e = h.open(t)
	res := do(t, e, op.Purge, &op.PurgeRequest{ID: string(gone)})
	named := left(res, "damaged")
	if len(named) != 1 {
		t.Fatalf("the purge leaves %+v", res.Left)
	}
	if line, err := os.ReadFile(named[0]); err != nil || strings.Contains(string(line), string(other)) {
		t.Errorf("it names the line %s (%v)", line, err)
	}
	ok(t, e.Close())
}
