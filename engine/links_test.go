package engine_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/vault/frontmatter"
)

// linkDesk opens an engine on a vault whose notes have been left alone for an hour.
func linkDesk(t testing.TB, notes map[string]string) *desk {
	t.Helper()
	d := &desk{house: promotingHouse(t, notes), t: t}
	d.start()
	return d
}

// linked has what persons did be read, and the links written.
func (d *desk) linked() {
	d.t.Helper()
	d.rest(d.t, d.Engine)
	d.batch(d.all(), d.vanished())
	d.Links.WriteLinks(d.t.Context())
	d.batch(d.all(), nil)
}

// promoted saves and promotes a memory, and returns it with the path of its note.
func (d *desk) promoted(content string, entities ...string) op.Memory {
	d.t.Helper()
	m := do(d.t, d.Engine, op.Save, &op.SaveRequest{Content: content, Entities: entities}).Memory
	return promoteByID(d.t, d.Engine, m.ID).Memory
}

// wantList compares a property of the note of a memory.
func (d *desk) wantItems(m op.Memory, key string, want ...string) {
	d.t.Helper()
	note := d.note(d.t, look(d.t, d.Engine, m.ID).PromotedTo)
	got, err := frontmatter.Lists([]byte(note), key)
	if err != nil || !slices.Equal(got[key], want) {
		d.t.Errorf("%s is %q, want %q (%v), in\n%s", key, got[key], want, err, note)
	}
}

// change has a person change the note of a memory.
func (d *desk) change(m op.Memory, old, new string) {
	d.t.Helper()
	path := look(d.t, d.Engine, m.ID).PromotedTo
	note := d.note(d.t, path)
	if !strings.Contains(note, old) {
		d.t.Fatalf("there is no %q in\n%s", old, note)
	}
	d.write(d.t, path, strings.Replace(note, old, new, 1))
}

func (d *desk) wantRelations(m op.Memory, want ...string) {
	d.t.Helper()
	row, _ := d.Stm.Get(m.ID)
	var got []string
	for _, r := range d.Stm.Relations(row) {
		to, _ := d.Stm.Get(r.To)
		got = append(got, strings.TrimSuffix(r.Type+" "+r.Kind, " ")+" "+to.Content())
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		d.t.Errorf("the relations of %q are %q, want %q", m.Content, got, want)
	}
}

func TestEntitiesAreLinksThatLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode core.EntityLinks
		want []string
	}{
		{core.LinkShared, []string{"[[Ada Lovelace]]", "[[Turbine|Engine]]", "Difference"}},
		{core.LinkExisting, []string{"Ada Lovelace", "[[Turbine|Engine]]", "Difference"}},
		{core.LinkAll, []string{"[[Ada Lovelace]]", "[[Turbine|Engine]]", "[[Difference]]"}},
		{core.LinkNone, []string{"Ada Lovelace", "Engine", "Difference"}},
	} {
		h := promotingHouse(t, map[string]string{"Machines/Turbine.md": "---\naliases: [Engine]\n---\n"})
		h.LinkEntities = c.mode
		d := &desk{house: h, t: t}
		d.start()
		if _, err := d.Notes.Vault.AllLinks(t.Context()); err != nil { // so that aliases are known
			t.Fatal(err)
		}
		a := d.promoted("Ada wrote the first program", "Ada Lovelace", "Engine", "Difference")
		b := d.promoted("the notes are by Ada", "ada lovelace")
		d.promoted("nobody else built it", "Ada Lovelace")
		d.wantItems(a, "entities", "Ada Lovelace", "Engine", "Difference")
		d.linked()
		d.wantItems(a, "entities", c.want...)
		d.wantItems(b, "entities", c.want[0]) // in the form that most texts have
	}
}

func TestRelationsAreInBothNotes(t *testing.T) {
	t.Parallel()
	d := linkDesk(t, nil)
	a, b, c := d.promoted("the tide is high"), d.promoted("the moon is full"), d.promoted("the moon is new")
	none := save(t, d.Engine, "the sun is hot")
	do(t, d.Engine, op.Relate, relating(b, a, memory.Causes))
	do(t, d.Engine, op.Relate, relating(b, c, memory.Contradicts))
	do(t, d.Engine, op.Relate, relating(a, none, memory.Supports))
	do(t, d.Engine, op.Relate, &op.RelateRequest{From: string(c.ID), To: string(a.ID), Type: memory.Related, Kind: memory.KindSupersedes})
	before := d.note(t, a.PromotedTo)
	d.linked()
	d.wantItems(a, "superseded-by", "[[the moon is new]]")
	d.wantItems(a, "supports")
	d.wantItems(b, "causes", "[[the tide is high]]")
	d.wantItems(b, "contradicts", "[[the moon is new]]")
	d.wantItems(c, "contradicts", "[[the moon is full]]")
	d.wantItems(c, "supersedes", "[[the tide is high]]")
	entries := do(t, d.Engine, op.Journal, &op.JournalRequest{}).Entries
	if entries[0].Verb != "note.link" || len(entries[0].Notes) != 3 {
		t.Errorf("the journal begins with %+v, want one entry of three notes", entries[0])
	}
	texts := d.texts(a, b, c)
	d.linked()
	if got := d.texts(a, b, c); !slices.Equal(got, texts) {
		t.Errorf("a second pass wrote %q, before %q", got, texts)
	}

	// An undo takes the links out, and leaves the relations; they are written again when the user asks for it.
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: entries[0].Tx})
	if got := d.note(t, a.PromotedTo); got != before {
		t.Errorf("after an undo the note is\n%s\nwas\n%s", got, before)
	}
	d.linked()
	d.wantItems(c, "contradicts")
	d.wantRelations(b, "causes the tide is high", "contradicts the moon is new")
	would := do(t, d.Engine, op.VaultLinks, &op.VaultLinksRequest{DryRun: true})
	if res := do(t, d.Engine, op.VaultLinks, &op.VaultLinksRequest{}); res.Total == 0 || res.Total != would.Total {
		t.Errorf("it wrote %+v, and said before that it would write %+v", res, would)
	}
	if got := d.texts(a, b, c); !slices.Equal(got, texts) {
		t.Errorf("asked for, a pass wrote %q, before %q", got, texts)
	}

	// A relation that is removed takes its links along.
	row, _ := d.Stm.Get(b.ID)
	for _, r := range d.Stm.Relations(row) {
		do(t, d.Engine, op.Unrelate, &op.UnrelateRequest{ID: r.ID})
	}
	d.linked()
	d.wantItems(b, "causes")
	d.wantItems(c, "contradicts")
	if strings.Contains(d.note(t, b.PromotedTo), "causes") {
		t.Error("an empty list stays")
	}
}

func (d *desk) texts(all ...op.Memory) (out []string) {
	for _, m := range all {
		out = append(out, d.note(d.t, look(d.t, d.Engine, m.ID).PromotedTo))
	}
	return out
}

func TestLinksAreReadBack(t *testing.T) {
	t.Parallel()
	d := linkDesk(t, map[string]string{"Mine.md": "mine\n"})
	a, b, c := d.promoted("the tide is high"), d.promoted("the moon is full"), d.promoted("the moon is new")
	do(t, d.Engine, op.Relate, relating(a, b, memory.Related))
	d.linked()
	d.wantItems(b, "related", "[[the tide is high]]")

	// Removed in one note, the relation goes, and the link in the other.
	d.change(b, "related:\n  - \"[[the tide is high]]\"\n", "")
	d.linked()
	d.wantRelations(a)
	d.wantItems(a, "related")
	entry := do(t, d.Engine, op.Journal, &op.JournalRequest{})
	at := slices.IndexFunc(entry.Entries, func(j op.JournalEntry) bool { return j.Verb == "unrelate" })
	if at < 0 {
		t.Fatalf("the journal is %+v", entry.Entries)
	}
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: entry.Entries[at].Tx})
	d.linked()
	d.wantRelations(a, "related the moon is full")
	d.wantItems(b, "related", "[[the tide is high]]")

	// Added to a note, with and without quotes, in whatever way it names the other.
	d.change(a, "---\nthe tide", "causes: \"[[the moon is new]]\"\nsupports: [[Memories/the moon is new]]\n---\nthe tide")
	d.change(c, "---\nthe moon", "superseded-by:\n  - \"[[the moon is full|newer]]\"\n  - \"[[Mine]]\"\n  - nothing\n---\nthe moon")
	d.linked()
	d.wantRelations(a, "causes the moon is new", "related the moon is full", "supports the moon is new")
	d.wantRelations(b, "related supersedes the moon is new")
	d.wantItems(b, "supersedes", "[[the moon is new]]")
	d.wantItems(c, "superseded-by", "[[the moon is full|newer]]", "[[Mine]]", "nothing")
	d.wantItems(a, "supports", "[[Memories/the moon is new]]")

	// What a person wrote stays when the relation goes, and makes none again.
	for _, m := range []op.Memory{a, b} {
		row, _ := d.Stm.Get(m.ID)
		for _, r := range d.Stm.Relations(row) {
			if r.IsSupersession() || r.Type == memory.Causes {
				do(t, d.Engine, op.Unrelate, &op.UnrelateRequest{ID: r.ID})
			}
		}
	}
	d.linked()
	d.linked()
	d.wantItems(a, "causes", "[[the moon is new]]")
	d.wantItems(b, "supersedes")
	d.wantItems(c, "superseded-by", "[[the moon is full|newer]]", "[[Mine]]", "nothing")
	d.wantRelations(b)

	// A link that a person edited is theirs.
	d.change(a, "[[the moon is full]]", "[[the moon is full|full]]")
	d.linked()
	d.wantItems(a, "related", "[[the moon is full|full]]")
	d.wantRelations(a, "related the moon is full", "supports the moon is new")
}

func TestLinksFollowARename(t *testing.T) {
	t.Parallel()
	d := linkDesk(t, map[string]string{"Other/the moon is full.md": "another one\n"})
	a, b := d.promoted("the tide is high"), d.promoted("the moon is full")
	do(t, d.Engine, op.Relate, relating(a, b, memory.Related))
	d.linked()
	d.wantItems(a, "related", "[[Memories/the moon is full|the moon is full]]")

	// Obsidian renames the note, and the user has it leave links alone.
	ok(t, os.Rename(d.at("Memories/the moon is full.md"), d.at("Memories/Full.md")))
	d.batch([]string{"Memories/Full.md"}, []string{"Memories/the moon is full.md"})
	d.Links.WriteLinks(t.Context())
	d.wantItems(a, "related", "[[Full]]")
	d.wantRelations(a, "related the moon is full")

	// It renames it and rewrites the link.
	ok(t, os.Rename(d.at("Memories/Full.md"), d.at("Memories/Fuller.md")))
	d.write(t, a.PromotedTo, strings.Replace(d.note(t, a.PromotedTo), "[[Full]]", "[[Fuller]]", 1))
	d.batch([]string{"Memories/Fuller.md", a.PromotedTo}, []string{"Memories/Full.md"})
	d.Links.WriteLinks(t.Context())
	d.wantItems(a, "related", "[[Fuller]]")
	d.wantRelations(a, "related the moon is full")

	// The link is emberd's still: it goes with the relation.
	row, _ := d.Stm.Get(a.ID)
	do(t, d.Engine, op.Unrelate, &op.UnrelateRequest{ID: d.Stm.Relations(row)[0].ID})
	d.linked()
	d.wantItems(a, "related")
}

// A property cannot have "<%" as it is, so a note with that in its name has no link, and an edit takes no relation away.
func TestANameThatAPropertyCannotHaveIsNoLink(t *testing.T) {
	t.Parallel()
	d := linkDesk(t, nil)
	a, b := d.promoted("the tide is high"), d.promoted("the moon is full")
	ok(t, os.Rename(d.at(b.PromotedTo), d.at("Memories/<% x %>.md")))
	d.batch([]string{"Memories/<% x %>.md"}, []string{b.PromotedTo})
	do(t, d.Engine, op.Relate, relating(a, b, memory.Supports))
	d.linked()
	d.wantItems(a, "supports")
	d.change(a, "the tide is high", "the tide is high today")
	d.linked()
	d.wantRelations(a, "supports the moon is full")
}

// A memory that names an entity in two ways is one memory that names it, and lists it once.
func TestAnEntityInTwoCasesIsOne(t *testing.T) {
	t.Parallel()
	d := linkDesk(t, nil)
	a := d.promoted("the tide is high", "Moon", "MOON", "Sea")
	d.linked()
	d.wantItems(a, "entities", "Moon", "Sea")
}

// A comment within a list that a person wrote stays.
func TestACommentInAListStays(t *testing.T) {
	t.Parallel()
	d := linkDesk(t, nil)
	a, b := d.promoted("the tide is high"), d.promoted("the moon is full")
	d.change(a, "---\nthe tide", "supports:\n  - \"[[Elsewhere]]\" # to be checked\n---\nthe tide")
	d.linked()
	do(t, d.Engine, op.Relate, relating(a, b, memory.Supports))
	d.linked()
	if note := d.note(t, a.PromotedTo); !strings.Contains(note, "# to be checked") {
		t.Errorf("the comment is gone from\n%s", note)
	}
}

// The notes of earlier versions have entities in small letters, all as links, and guesses in the property related.
// They stay until their memory changes, or the user asks.
func TestOldNotesAreLeftAlone(t *testing.T) {
	t.Parallel()
	d := linkDesk(t, nil)
	a, b := d.promoted("Ada met Charles", "ada lovelace", "charles babbage"), d.promoted("Ada wrote to Charles", "Ada Lovelace", "Charles Babbage")
	c := d.promoted("Ada was ill", "Ada Lovelace")
	old := func(m op.Memory, entities, related string) {
		note := d.note(t, m.PromotedTo)
		head, _, _ := strings.Cut(note, "origin:")
		_, body, _ := strings.Cut(note, "\n---\n")
		d.write(t, m.PromotedTo, head+"entities:\n"+entities+"related:\n"+related+"---\n"+body)
	}
	old(a, "  - \"[[ada lovelace]]\"\n  - \"[[charles babbage]]\"\n", "  - \"[[Memories/Ada wrote to Charles|Ada wrote to Charles]]\"\n")
	old(b, "  - \"[[Ada]]\"\n", "  - \"[[Memories/Ada met Charles|Ada met Charles]]\"\n")
	d.advance(time.Hour)
	d.restart() // as a version that writes links for the first time
	d.linked()
	texts := d.texts(a, b, c)
	would := do(t, d.Engine, op.VaultLinks, &op.VaultLinksRequest{DryRun: true})
	if got := d.texts(a, b, c); !slices.Equal(got, texts) || would.Total != 3 {
		t.Errorf("the notes are %q, were %q; %+v", got, texts, would)
	}

	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(a.ID), Category: new("people")})
	d.linked()
	d.wantItems(a, "entities", "[[Ada Lovelace]]", "[[Charles Babbage]]")
	d.wantItems(a, "related", "[[Memories/Ada wrote to Charles|Ada wrote to Charles]]")
	if got := d.texts(b, c); !slices.Equal(got, texts[1:]) {
		t.Errorf("the others are %q, were %q", got, texts[1:])
	}

	res := do(t, d.Engine, op.VaultLinks, &op.VaultLinksRequest{})
	d.wantItems(b, "entities", "[[Ada]]") // which a person wrote
	d.wantItems(c, "entities", "[[Ada Lovelace]]")
	d.wantRelations(a)
	d.wantRelations(b)
	d.linked()
	d.wantRelations(b)
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: res.Tx})
	if got := d.texts(b, c); !slices.Equal(got, texts[1:]) {
		t.Errorf("after an undo the others are %q, were %q", got, texts[1:])
	}
}

func TestAPromotionWithLinksIsUndone(t *testing.T) {
	t.Parallel()
	d := linkDesk(t, nil)
	a, b := d.promoted("the tide is high", "Moon"), save(t, d.Engine, "the moon is full")
	do(t, d.Engine, op.Relate, relating(a, b, memory.Related))
	got := do(t, d.Engine, op.Promote, &op.PromoteRequest{ID: string(b.ID), Force: true})
	d.linked()
	d.wantItems(a, "related", "[[the moon is full]]")
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: got.Tx})
	if slices.Contains(d.files(t), got.Path) {
		t.Error("the undone note is still there")
	}
	d.linked()
	d.wantItems(a, "related")
	d.wantRelations(a, "related the moon is full")

	// A link of the user's keeps the note.
	again := do(t, d.Engine, op.Promote, &op.PromoteRequest{ID: string(b.ID), Force: true})
	d.change(again.Memory, "---\nthe moon", "supports: \"[[Elsewhere]]\"\n---\nthe moon")
	d.linked()
	if err := refused(t, d.Engine, op.Undo, &op.UndoRequest{Tx: again.Tx}); err.Code != memory.Conflict {
		t.Errorf("the undo of a note that the user changed: %v", err)
	}
}

func TestPurgedWordsLeaveLinks(t *testing.T) {
	t.Parallel()
	d := linkDesk(t, nil)
	a, b := d.promoted("the tide is high"), d.promoted("swordfish is the word")
	do(t, d.Engine, op.Relate, relating(a, b, memory.Related))
	d.linked()
	d.wantItems(a, "related", "[[swordfish is the word]]")
	ok(t, os.Remove(d.at(b.PromotedTo)))
	d.batch(nil, []string{b.PromotedTo})
	if res := do(t, d.Engine, op.Purge, &op.PurgeRequest{ID: string(b.ID)}); len(left(res, "note")) > 0 {
		t.Errorf("the note is gone, but the purge left %+v", res.Left)
	}
	d.wantItems(a, "related")
	d.wantWordGone("swordfish")
}

func TestAutomaticLinksAreNotWhatUndoTakes(t *testing.T) {
	t.Parallel()
	d := linkDesk(t, nil)
	a, b := d.promoted("the tide is high"), d.promoted("the moon is full")
	made := do(t, d.Engine, op.Relate, relating(a, b, memory.Related))
	d.linked()
	if res := do(t, d.Engine, op.Undo, &op.UndoRequest{}); res.Entry.Tx != made.Tx {
		t.Errorf("undone was %+v, want the relation", res.Entry)
	}
	d.linked()
	d.wantItems(b, "related")
}

// A daemon that is killed in the middle of a pass leaves notes with links and notes without, and the entry of all. An
// undo takes the links out of the former and leaves the latter.
func TestAPassThatWasCutOffIsUndone(t *testing.T) {
	t.Parallel()
	d := linkDesk(t, nil)
	a, b := d.promoted("the tide is high"), d.promoted("the moon is full")
	do(t, d.Engine, op.Relate, relating(a, b, memory.Related))
	before := d.texts(a, b)
	d.linked()
	all, err := d.NoteWrite.Journal.Entries()
	ok(t, err)
	d.write(t, b.PromotedTo, before[1])
	d = d.killed()
	res := do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: all[0].Tx})
	if got := d.texts(a, b); !slices.Equal(got, before) {
		t.Errorf("the notes are %q, want %q", got, before)
	}
	if len(res.Items) != 2 || res.Items[0].Action == res.Items[1].Action {
		t.Errorf("undone %+v", res.Items)
	}
}

// What is known of links outlives the daemon: a link that was removed while it did not run is read back.
func TestLinksAreReadBackAfterARestart(t *testing.T) {
	t.Parallel()
	d := linkDesk(t, nil)
	a, b := d.promoted("the tide is high"), d.promoted("the moon is full")
	do(t, d.Engine, op.Relate, relating(a, b, memory.Related))
	d.linked()
	ok(t, d.Close())
	d.rewritten(a.PromotedTo, "related:\n  - \"[[the moon is full]]\"\n", "")
	d.start()
	d.linked()
	d.wantRelations(a)
	d.wantItems(b, "related")
}

// rewritten changes a note while no engine runs.
func (d *desk) rewritten(path, old, new string) {
	d.t.Helper()
	d.write(d.t, path, strings.Replace(d.note(d.t, path), old, new, 1))
}

// A note that a person saved a moment ago is not read back yet.
func TestAYoungNoteIsNotReadBack(t *testing.T) {
	t.Parallel()
	d := linkDesk(t, nil)
	a, b := d.promoted("the tide is high"), d.promoted("the moon is full")
	do(t, d.Engine, op.Relate, relating(a, b, memory.Related))
	d.linked()
	d.change(a, "related:\n  - \"[[the moon is full]]\"\n", "")
	ok(t, os.Chtimes(d.at(a.PromotedTo), d.clock.Now(), d.clock.Now()))
	d.batch([]string{a.PromotedTo}, nil)
	d.Links.WriteLinks(t.Context())
	d.wantRelations(a, "related the moon is full")
	d.wantItems(a, "related")
	d.advance(2 * time.Minute)
	d.Links.WriteLinks(t.Context())
	d.wantRelations(a)
}

func TestRelationsAreNotLinkedIfNotWanted(t *testing.T) {
	t.Parallel()
	d := linkDesk(t, nil)
	d.Engine.Close()
	d.LinkRelations = false
	d.start()
	a, b := d.promoted("the tide is high"), d.promoted("the moon is full")
	do(t, d.Engine, op.Relate, relating(a, b, memory.Related))
	d.change(b, "---\nthe moon", "supports: \"[[the tide is high]]\"\n---\nthe moon")
	d.linked()
	d.wantItems(a, "related")
	d.wantRelations(b)
}
