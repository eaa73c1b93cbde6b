package engine_test

import (
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
)

// A note that lists all memories is none of a folder, be it that of the setting or where
// a human moved it.
func TestListsOfAllMemoriesAreForWhoSeesThemAll(t *testing.T) {
	t.Parallel()
	for at, notes := range map[string]map[string]string{
		indexNote:       {},
		"Public/All.md": {"Public/All.md": "---\nemberd: index\n---\n<!-- emberd:index -->\n<!-- /emberd:index -->\n"},
	} {
		notes["Memories/Plan.md"] = "# Plan\n"
		d := listDesk(t, notes)
		save(t, d.Engine, "the zeppelin is moored")
		d.listed()
		if note := d.note(t, at); !strings.Contains(note, "zeppelin") {
			t.Fatalf("the list is %s", note)
		}
		folders := &access.Grant{Token: "job", Read: []access.Scope{{Kind: access.Folder, Value: "Memories"}, {Kind: access.Folder, Value: "Public"}}}
		_, err := as(folders, d.Engine, op.NoteRead, &op.NoteReadRequest{Path: "Memories/Plan.md"})
		ok(t, err)
		for _, path := range []string{at, strings.TrimSuffix(at, ".md"), strings.ToUpper(at), coreNote} {
			wantNoNote(t, d.Engine, folders, path)
		}
		all := &access.Grant{Token: "all", Read: []access.Scope{{Kind: access.All}}}
		_, err = as(all, d.Engine, op.NoteRead, &op.NoteReadRequest{Path: at})
		ok(t, err)
	}
}

// wantNoNote asks about a note as if there were none.
func wantNoNote(t *testing.T, e *engine.Engine, g *access.Grant, path string) {
	t.Helper()
	if res, err := as(g, e, op.NoteRead, &op.NoteReadRequest{Path: path}); memory.CodeOf(err) != memory.NotFound {
		t.Errorf("%s is read to who sees its folder: %v, %v", path, res, err)
	}
	if res, err := as(g, e, op.Links, &op.LinksRequest{Note: path}); memory.CodeOf(err) != memory.NotFound {
		t.Errorf("links of %s are told to who sees its folder: %v, %v", path, res, err)
	}
	why, err := as(g, e, op.WhyNot, &op.WhyNotRequest{Query: "zeppelin", Of: path})
	ok(t, err)
	if len(why.Causes) != 1 || why.Causes[0].Stage != op.WhyAbsent {
		t.Errorf("%s is not found for %+v", path, why.Causes)
	}
}

// Who is given the name of a token that is no more is not given its journal and its keys:
// it may have reached further.
func TestATokenWithTheNameOfAnotherIsAnother(t *testing.T) {
	t.Parallel()
	e, c := newEngine(t)
	work := []access.Scope{{Kind: access.Tag, Value: "work"}}
	first := &access.Grant{Token: "job", Write: work, Made: c.Now()}
	mine, err := as(first, e, op.Save, &op.SaveRequest{Content: "the boiler runs", IdempotencyKey: "one"})
	ok(t, err)
	c.advance(time.Minute)
	second := &access.Grant{Token: "job", Write: work, Made: c.Now()}
	journal, err := as(second, e, op.Journal, &op.JournalRequest{})
	ok(t, err)
	if journal.Total != 0 {
		t.Errorf("the journal is %+v", journal)
	}
	_, err = as(second, e, op.Undo, &op.UndoRequest{Tx: mine.Tx})
	wantCode(t, err, memory.NotFound, "change "+mine.Tx+" not found")
	other, err := as(second, e, op.Save, &op.SaveRequest{Content: "the pump was replaced", IdempotencyKey: "one"})
	ok(t, err)
	if other.Replayed {
		t.Errorf("the key of the first token is answered to the second with %+v", other.Memory)
	}
	_, err = as(first, e, op.Undo, &op.UndoRequest{Tx: mine.Tx})
	ok(t, err)
}
