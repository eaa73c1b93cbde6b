package engine_test

import (
	"os"
	"strings"
	"testing"

	"emberd/op"
)

// A note that was renamed in the archive folder is followed before the log has its new path, and it is found once.
func TestSearchFollowsARenamedNoteOfAnArchivedMemory(t *testing.T) {
	t.Parallel()
	d, id := archivedBinder(t, false)
	home := look(t, d.Engine, id).VaultPath
	ok(t, os.Rename(d.at(home), d.at(archiveDir+"Renamed.md")))
	d.batch([]string{archiveDir + "Renamed.md"}, []string{home})
	if at := look(t, d.Engine, id).VaultPath; at != home {
		t.Fatalf("the log has %q already", at)
	}
	hits := searchFor(t, d.Engine, "staging database")
	if len(hits) != 1 || hits[0].Memory == nil || hits[0].ID != id || hits[0].Content != binderText {
		t.Errorf("found %q", hitContents(hits))
	}
	if got := verify(t, d.Engine, portKnown).Status; got != op.StatusConfirmed {
		t.Errorf("verify says %s", got)
	}
}

// A copy with the ID of an archived memory is not the memory's note while that is there.
func TestSearchFindsACopyOfAnArchivedNoteNotTwice(t *testing.T) {
	t.Parallel()
	d, id := archivedBinder(t, false)
	data, err := os.ReadFile(d.at(look(t, d.Engine, id).VaultPath))
	ok(t, err)
	ok(t, os.WriteFile(d.at(archiveDir+"Copy.md"), data, 0o600))
	d.batch([]string{archiveDir + "Copy.md"}, nil)
	if hits := searchFor(t, d.Engine, "staging database"); len(hits) != 1 || hits[0].Memory == nil || hits[0].ID != id {
		t.Errorf("found %q", hitContents(hits))
	}
}

func TestWhyNotTellsThatTheNoteOfAnArchivedMemoryWasDeleted(t *testing.T) {
	t.Parallel()
	d, id := archivedBinder(t, false)
	home := look(t, d.Engine, id).VaultPath
	ok(t, os.Remove(d.at(home)))
	d.batch(nil, []string{home})
	res := do(t, d.Engine, op.WhyNot, &op.WhyNotRequest{Query: "staging database", Of: string(id)})
	if len(res.Causes) != 1 || res.Causes[0].Stage != op.WhyArchived || !strings.Contains(res.Causes[0].Reason, "was deleted") {
		t.Errorf("got %+v", res.Causes)
	}
}
