package engine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// binderText is a text whose summary has its first sentence alone.
const binderText = "The harbour office keeps the tide tables of every port between Leith and Dunbar in one green binder. " +
	"The staging database runs on port 5432. Nobody remembers who bought the binder.\n"

const (
	portKnown = "The staging database runs on port 5432"
	portOther = "The staging database runs on port 5433"
)

// archivedBinder archives binderText among others, with a note of its own or in the archive folder.
func archivedBinder(t *testing.T, own bool) (*desk, memory.ID) {
	t.Helper()
	d := shelf(t, nil)
	id := save(t, d.Engine, binderText).ID
	if own {
		do(t, d.Engine, op.Promote, &op.PromoteRequest{ID: string(id)})
		d.settle()
	}
	d.archived(id)
	if got := look(t, d.Engine, id).Memory.Content; strings.Contains(got, "5432") {
		t.Fatalf("the summary has the fact: %q", got)
	}
	return d, id
}

func TestVerifyComparesWithTheTextsOfArchivedMemories(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		d, id := archivedBinder(t, own)
		res := verify(t, d.Engine, portKnown)
		if res.Status != op.StatusConfirmed || len(res.Matches) == 0 || res.Matches[0].Memory == nil || res.Matches[0].Memory.ID != id ||
			res.Matches[0].Text != portKnown+"." {
			t.Errorf("with a note of its own %t: got %s with %+v", own, res.Status, res.Matches)
		}
		if res := verify(t, d.Engine, binderText); res.Status != op.StatusConfirmed || res.Confidence != 1 {
			t.Errorf("with a note of its own %t: its whole text is %s, %v", own, res.Status, res.Confidence)
		}
		c := verify(t, d.Engine, portOther).Conflicts
		if len(c) != 1 || c[0].Why != "5433 against 5432" || c[0].Memory == nil || c[0].Memory.ID != id {
			t.Errorf("with a note of its own %t: conflicts %+v", own, c)
		}
		if stage := look(t, d.Engine, id).Stage; stage != memory.Archived {
			t.Errorf("with a note of its own %t: it is %s after it was compared", own, stage)
		}
	}
}

func TestAddReinforcesWhatIsArchived(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		d, id := archivedBinder(t, own)
		res := do(t, d.Engine, op.Add, &op.AddRequest{Content: portKnown})
		if res.New || res.Memory.ID != id || !strings.Contains(res.Message, "the memory was archived, and emberd restores its full text") {
			t.Errorf("with a note of its own %t: got %+v", own, res)
		}
	}
}

func TestAddTellsWhatArchivedMemoriesContradict(t *testing.T) {
	t.Parallel()
	d, id := archivedBinder(t, false)
	res := do(t, d.Engine, op.Add, &op.AddRequest{Content: portOther})
	if !res.New || len(res.Conflicts) != 1 || res.Conflicts[0].Memory.ID != id || !strings.Contains(res.Message, "5433 against 5432") {
		t.Fatalf("got %+v", res)
	}
	rels := leadingFrom(t, d.Engine, res.Memory.ID)
	if len(rels) != 1 || rels[0].Type != memory.Contradicts || rels[0].To != id {
		t.Errorf("relations %+v", rels)
	}
}

// A note that is gone or says something else counts as what is there: the summary, or its new text.
func TestVerifyComparesWithWhatTheNoteSays(t *testing.T) {
	t.Parallel()
	d, id := archivedBinder(t, false)
	home := d.at(look(t, d.Engine, id).VaultPath)
	data, err := os.ReadFile(home)
	ok(t, err)
	ok(t, os.WriteFile(home, []byte(strings.ReplaceAll(string(data), "5432", "6432")), 0o600))
	if res := verify(t, d.Engine, "The staging database runs on port 6432"); res.Status != op.StatusConfirmed {
		t.Errorf("what the note was edited to is %s: %+v", res.Status, res.Conflicts)
	}
	ok(t, os.Remove(home))
	summary := look(t, d.Engine, id).Content
	for claim, want := range map[string]string{portKnown: op.StatusNew, strings.TrimSuffix(summary, "…"): op.StatusConfirmed} {
		if got := verify(t, d.Engine, claim).Status; got != want {
			t.Errorf("with the note deleted, %q is %s, want %s", claim, got, want)
		}
	}
}

// However many archived memories have the words, what is read is bounded, and the nearest are.
func TestVerifyReadsTheNearestNotes(t *testing.T) {
	t.Parallel()
	d, id := archivedBinder(t, false)
	var ids []memory.ID
	for i := range 30 {
		ids = append(ids, save(t, d.Engine, fmt.Sprintf(
			"Entry %d of the log speaks of weather and of nothing else that would be worth a second reading. "+
				"A database was mentioned once in passing by somebody on the staging area number %d.\n", i, i)).ID)
	}
	d.archived(ids...)
	res := verify(t, d.Engine, portKnown)
	if res.Status != op.StatusConfirmed || res.Matches[0].Memory.ID != id {
		t.Errorf("got %s with %+v", res.Status, res.Matches)
	}
}
