package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
	"emberd/vault/noteedit"
)

const (
	indexNote = "Memories/Index.md"
	coreNote  = "Memories/Core.md"
)

// listing is a house with a vault whose lists are to be written, and in which all notes
// have been left alone for an hour.
func listing(t testing.TB, notes map[string]string) *house {
	t.Helper()
	h := promotingHouse(t, notes)
	h.VaultIndex, h.VaultCore = indexNote, coreNote
	return h
}

// listDesk opens an engine on it, which has read the notes.
func listDesk(t testing.TB, notes map[string]string) *desk {
	t.Helper()
	d := &desk{house: listing(t, notes), t: t}
	d.start()
	return d
}

// listed lets what was written rest, and what humans did be read, and has the lists written.
func (d *desk) listed() {
	d.t.Helper()
	d.rest(d.t, d.Engine)
	d.batch(d.all(), d.vanished())
	d.Lists.WriteLists(d.t.Context())
	d.batch(d.all(), nil)
}

// wantList compares a note with what is around the list and the lines about memories in it.
func (d *desk) wantList(path, above, below string, lines ...string) {
	d.t.Helper()
	note := d.note(d.t, path)
	kind := "index"
	if strings.Contains(note, "<!-- emberd:core -->") {
		kind = "core"
	}
	before, rest, ok := strings.Cut(note, "<!-- emberd:"+kind+" -->\n")
	list, after, closed := strings.Cut(rest, "<!-- /emberd:"+kind+" -->\n")
	var has []string
	for line := range strings.Lines(list) {
		if text, is := strings.CutPrefix(line, "- "); is {
			text, _, _ = strings.Cut(text, " · ")
			has = append(has, text)
		}
	}
	if !ok || !closed || before != above || after != below || !slices.Equal(has, lines) {
		d.t.Errorf("the note is\n%s\nwant %q around %q", note, above+"…"+below, lines)
	}
}

// wantListState asks status what became of a list.
func (d *desk) wantListState(kind, path, state, says string) {
	d.t.Helper()
	for _, l := range status(d.t, d.Engine).Vaults[0].Lists {
		if l.Kind == kind && l.Path == path && l.State == state && strings.Contains(l.Reason, says) && (says == "") == (l.Reason == "") {
			return
		}
	}
	d.t.Errorf("the lists are %+v, want %s %s %s %q", status(d.t, d.Engine).Vaults[0].Lists, kind, path, state, says)
}

// listWarnings are those about the vault.
func (d *desk) listWarnings() []string {
	d.t.Helper()
	return slices.DeleteFunc(status(d.t, d.Engine).Warnings, func(w string) bool { return !strings.HasPrefix(w, "vault ") })
}

func marked(kind string) string { return fmt.Sprintf("---\nemberd: %q\n---\n", kind) }

func TestListsAreWritten(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	d.listed()
	wantFiles(t, d.house)
	d.wantListState("index", indexNote, op.ListEmpty, "the list has no entries yet")
	tea := save(t, d.Engine, "Tea is brewed at 80 degrees").ID
	d.listed()
	wantFiles(t, d.house, indexNote)
	want := marked("index") + "<!-- emberd:index -->\nemberd keeps this list of memories (1) up to date. " +
		"Write your own text above or below the list: emberd overwrites edits in the list.\n\n## Everything else\n\n- Tea is brewed at 80 degrees · `" +
		tea.Short() + "` · " + look(t, d.Engine, tea).CreatedAt.Format(time.DateOnly) + " · agent\n<!-- /emberd:index -->\n"
	if got := d.note(t, indexNote); got != want {
		t.Errorf("the note is\n%s\nwant\n%s", got, want)
	}
	d.wantListState("index", indexNote, op.ListWritten, "")
	d.wantListState("core", coreNote, op.ListEmpty, "the list has no entries yet")

	core := do(t, d.Engine, op.Save, &op.SaveRequest{Content: "My name is Ann", Core: true, Section: "people & entities", Importance: new(0.9)}).Memory
	promoteByID(t, d.Engine, tea)
	d.listed()
	d.wantList(indexNote, marked("index"), "", "My name is Ann", "Tea is brewed at 80 degrees ([[Memories/Tea is brewed at 80 degrees|note]])")
	d.wantList(coreNote, marked("core"), "", "My name is Ann")
	if !strings.Contains(d.note(t, coreNote), "\n## Relationships\n") {
		t.Errorf("the core is\n%s", d.note(t, coreNote))
	}
	do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(core.ID)})
	d.listed()
	d.wantList(indexNote, marked("index"), "", "Tea is brewed at 80 degrees ([[Memories/Tea is brewed at 80 degrees|note]])")
	d.wantList(coreNote, marked("core"), "")
}

// What did not change is not written, and what only was used is no change.
func TestListsAreWrittenOnlyWhenTheyDiffer(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	id := save(t, d.Engine, "the tide turns at six").ID
	d.listed()
	before, err := os.Stat(d.at(indexNote))
	ok(t, err)
	do(t, d.Engine, op.Show, &op.ShowRequest{ID: string(id)})
	searchFor(t, d.Engine, "tide")
	d.listed()
	if at := d.Lists.Lists.Next(); !at.IsZero() {
		t.Errorf("at rest the lists are due at %s", at)
	}
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Category: new("sea")})
	d.listed()
	d.restart()
	d.listed()
	after, err := os.Stat(d.at(indexNote))
	if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("the note was written again: %v", err)
	}
}

// A list tells of memories, and so is nothing that is searched, counted or carries one.
func TestListsAreNeverIndexed(t *testing.T) {
	t.Parallel()
	d := listDesk(t, map[string]string{"Home.md": "See [[Index]] and [[Memories/Core]].\n"})
	id := save(t, d.Engine, "quixotic zeppelin").ID
	d.listed()
	d.write(t, indexNote, strings.Replace(d.note(t, indexNote), "emberd: \"index\"\n", "emberd: index\nmemory-id: "+string(id)+"\naliases: [Overview of everything]\n", 1)+"\nmine: quixotic, see [[Home]]\n")
	d.listed()
	wantNames(t, d.Engine, "zeppelin", "quixotic zeppelin")
	wantNames(t, d.Engine, "emberd keeps this list up to date")
	if got := d.Notes.Vault.Carriers.Of(id); len(got) > 0 {
		t.Errorf("%q carries the memory", got)
	}
	if m := d.memory(id); m.VaultPath != "" || m.PromotedTo != "" {
		t.Errorf("the memory is %+v", m)
	}
	if _, known := d.Graph.Names.Spelling("overview of everything"); known {
		t.Error("the list's name is one that entities are found by")
	}
	if v := status(t, d.Engine).Vaults[0]; v.Notes != 1 || v.Archived != 0 || v.Memories != 0 {
		t.Errorf("status counts %+v", v)
	}
	if c := do(t, d.Engine, op.VaultCheck, &op.VaultCheckRequest{}); c.Notes != 1 || c.Total != 1 || !strings.Contains(c.Findings[0].Text, "Memories/Core") {
		t.Errorf("the check found %+v", c) // the core is not there
	}
	links := do(t, d.Engine, op.Links, &op.LinksRequest{Note: "Home"})
	if len(links.Outgoing) != 2 || links.Outgoing[0].Path != indexNote || len(links.Incoming) != 1 {
		t.Errorf("the links are %+v", links)
	}
	wantEntities(t, d.Engine, op.EntityListRequest{Query: "index"})
	wantEntities(t, d.Engine, op.EntityListRequest{Query: "home"}, "Home 0") // which the list links to
	why := do(t, d.Engine, op.WhyNot, &op.WhyNotRequest{Of: indexNote, Query: "zeppelin"})
	if len(why.Causes) == 0 || !strings.Contains(why.Causes[0].Reason, "a list that emberd writes") {
		t.Errorf("why not: %+v", why)
	}
	got := promoteByID(t, d.Engine, save(t, d.Engine, "Index").ID)
	if got.Outcome != op.PromotionWritten || got.Path == indexNote {
		t.Errorf("a memory of the list's name was promoted to %+v", got)
	}
}

// A human's text around the list stays byte for byte, whatever its line ends, and with the
// list anywhere in it.
func TestAListKeepsAHumansText(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	save(t, d.Engine, "the tide turns at six")
	d.listed()
	list := strings.TrimPrefix(d.note(t, indexNote), marked("index"))
	above := "---\ntags: [home]   # mine\nemberd: index\n---\n# Home\n\n> [!note] mine\n\n"
	below := "\n## Below\n\n- [ ] to do\n%% hidden %%\nno end of line"
	d.write(t, indexNote, above+list+below)
	save(t, d.Engine, "the moon is full")
	d.listed()
	d.wantList(indexNote, above, below, "the moon is full", "the tide turns at six")

	d.write(t, indexNote, strings.ReplaceAll(d.note(t, indexNote), "\n", "\r\n"))
	save(t, d.Engine, "the wind is west")
	d.listed()
	got := d.note(t, indexNote)
	if strings.Count(got, "\n") != strings.Count(got, "\r\n") || !strings.Contains(got, "- the wind is west") || !strings.HasSuffix(got, strings.ReplaceAll(below, "\n", "\r\n")) {
		t.Errorf("the note is %q", got)
	}
	edited := strings.Replace(got, "- the moon is full", "- MINE the moon is full", 1)
	d.write(t, indexNote, edited)
	d.listed()
	if d.note(t, indexNote) != got {
		t.Errorf("what was written into the list stays: %q", d.note(t, indexNote))
	}
	if !slices.Contains(d.backups(), edited) {
		t.Error("what a human wrote into the list is not among the backups")
	}
}

// backups are what the writer kept of notes.
func (d *desk) backups() []string {
	d.t.Helper()
	names, err := filepath.Glob(filepath.Join(core.BackupFolder(d.State), "notes", "*"))
	ok(d.t, err)
	var out []string
	for _, name := range names {
		data, err := os.ReadFile(name)
		ok(d.t, err)
		out = append(out, string(data))
	}
	return out
}

// A note of that name which is not marked is a human's, until it is.
func TestAHumansOwnNoteIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, own := range []string{"", "# My index\n", "---\ntags: [x]\n---\n", "---\nbroken: [\n---\n", "---\nemberd: core\n---\n"} {
		d := listDesk(t, map[string]string{indexNote: own})
		d.VaultCore = ""
		d.restart()
		save(t, d.Engine, "the tide turns at six")
		d.listed()
		if got := d.note(t, indexNote); got != own {
			t.Errorf("%q became %q", own, got)
		}
		d.wantListState("index", indexNote, op.ListRefused, "does not belong to emberd")
		if w := d.listWarnings(); len(w) != 1 || !strings.Contains(w[0], "vault.index_note") || !strings.Contains(w[0], "emberd: index") {
			t.Errorf("the warnings are %q", w)
		}
		d.write(t, indexNote, "---\nemberd: index\n---\n# My index\n")
		d.listed()
		d.wantList(indexNote, "---\nemberd: index\n---\n# My index\n\n", "", "the tide turns at six")
		if w := d.listWarnings(); len(w) > 0 {
			t.Errorf("the warnings are %q", w)
		}
	}
}

// A list that was deleted stays away, over a restart, until somebody asks for one.
func TestADeletedListStaysAway(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]func(d *desk) (path string){
		"a note that is marked": func(d *desk) string {
			d.write(d.t, "Elsewhere.md", "---\nemberd: index\n---\n")
			return "Elsewhere.md"
		},
		"another setting": func(d *desk) string {
			d.VaultIndex = "Lists/All.md"
			d.restart()
			return "Lists/All.md"
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := listDesk(t, nil)
			save(t, d.Engine, "the tide turns at six")
			d.listed()
			ok(t, os.Remove(d.at(indexNote)))
			for range 2 {
				save(t, d.Engine, "the moon is full")
				d.listed()
				wantFiles(t, d.house)
				d.wantListState("index", indexNote, op.ListDeleted, "the note was deleted, so emberd does not write it again")
				if w := d.listWarnings(); len(w) > 0 {
					t.Errorf("the warnings are %q", w)
				}
				d.restart()
			}
			path := back(d)
			d.listed()
			wantFiles(t, d.house, path)
			d.wantListState("index", path, op.ListWritten, "")
		})
	}
}

// A list that a human moves or renames is followed, and a new name in the settings
// moves it with all that a human wrote in it.
func TestAListThatMoves(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	save(t, d.Engine, "the tide turns at six")
	d.listed()
	d.write(t, indexNote, d.note(t, indexNote)+"mine\n")
	d.listed()
	d.move(indexNote, "Home/All.md")
	save(t, d.Engine, "the moon is full")
	d.listed()
	wantFiles(t, d.house, "Home/All.md")
	d.wantList("Home/All.md", marked("index"), "mine\n", "the moon is full", "the tide turns at six")

	d.VaultIndex = "Lists/Index.md"
	d.restart()
	save(t, d.Engine, "the wind is west")
	d.listed()
	d.listed()
	wantFiles(t, d.house, "Lists/Index.md")
	d.wantList("Lists/Index.md", marked("index"), "mine\n", "the wind is west", "the moon is full", "the tide turns at six")

	d.VaultIndex = ""
	d.restart()
	before := d.note(t, "Lists/Index.md")
	save(t, d.Engine, "the sea is calm")
	d.listed()
	if d.note(t, "Lists/Index.md") != before {
		t.Error("a list that is switched off was written")
	}
	wantNames(t, d.Engine, "tide", "the tide turns at six")
}

// A new name in the settings that a note of a human's has is told, and the list goes on
// where it is until the name is free.
func TestAListWhoseNewNameIsTaken(t *testing.T) {
	t.Parallel()
	d := listDesk(t, map[string]string{"Home.md": "mine\n"})
	save(t, d.Engine, "the tide turns at six")
	d.listed()
	d.VaultIndex = "Home.md"
	d.restart()
	for _, text := range []string{"the moon is full", "the wind is west"} {
		save(t, d.Engine, text)
		d.listed()
		d.wantListState("index", indexNote, op.ListWritten, "cannot move the list to Home.md")
		if w := d.listWarnings(); len(w) != 1 || !strings.Contains(w[0], "rename the other note, or set another note in vault.index_note") {
			t.Errorf("the warnings are %q", w)
		}
		if got := d.note(t, "Home.md"); got != "mine\n" || !strings.Contains(d.note(t, indexNote), text) {
			t.Errorf("the human's note is %q and the list\n%s", got, d.note(t, indexNote))
		}
	}
	d.move("Home.md", "Old home.md")
	save(t, d.Engine, "the sea is calm")
	d.listed()
	d.listed()
	wantFiles(t, d.house, "Home.md", "Old home.md")
	d.wantListState("index", "Home.md", op.ListWritten, "")
	if w := d.listWarnings(); len(w) != 0 {
		t.Errorf("the warnings are %q", w)
	}
}

// Two devices may each have said that the other memory took the place of theirs: the one
// that counts is listed.
func TestACircleOfSuccessorsIsListed(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	a, b := save(t, d.Engine, "the port is 5432").ID, save(t, d.Engine, "the port is 5433").ID
	for _, word := range [][2]memory.ID{{a, b}, {b, a}} {
		d.advance(time.Minute)
		_, err := d.Stm.Update(t.Context(), []memory.ID{word[0]}, "", func([]*stm.Row) (*stm.Tx, error) {
			return &stm.Tx{Verb: "edit", Changes: []stm.Change{{ID: word[0], Set: d.Similar.PlaceTaken(word[1])}}}, nil
		})
		ok(t, err)
	}
	d.listed()
	d.wantList(indexNote, marked("index"), "", "the port is 5432")
}

// What would mislead or leak is not listed: what was superseded or archived, and credentials.
func TestWhatIsNotListed(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	old, newer, faded := save(t, d.Engine, "the port is 5432").ID, save(t, d.Engine, "the port is 5433").ID, save(t, d.Engine, "long ago").ID
	do(t, d.Engine, op.Save, &op.SaveRequest{Content: "the token is ghp_16C7e42F292c6912E7710c838347Ae178B4a", Importance: new(0.9), AllowSecret: true})
	d.rewrite(old, "edit", func(m *memory.Memory) { m.SupersededBy = newer })
	d.archived(faded)
	d.listed()
	d.wantList(indexNote, marked("index"), "", "not shown: the text contains characters that look like a credential", "the port is 5433")
	do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(newer)})
	d.listed()
	d.wantList(indexNote, marked("index"), "", "not shown: the text contains characters that look like a credential", "the port is 5432")
	if strings.Contains(d.note(t, indexNote), "ghp") {
		t.Error("the list shows a credential")
	}
}

// A list whose frontmatter does not read any more is left alone, and is not searched.
func TestAListThatCannotBeRead(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	save(t, d.Engine, "quixotic zeppelin")
	d.listed()
	broken := strings.Replace(d.note(t, indexNote), "---\n", "---\ntags: [\n", 1)
	d.write(t, indexNote, broken)
	d.listed()
	if d.note(t, indexNote) != broken {
		t.Error("the note was written")
	}
	wantNames(t, d.Engine, "zeppelin", "quixotic zeppelin")
	d.wantListState("index", indexNote, op.ListRefused, string(noteedit.NotMarked))
}

// A note that somebody has just saved waits, and so does the vault that is away.
func TestAListThatWaits(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	save(t, d.Engine, "the tide turns at six")
	done := busy(t, d.house)
	d.listed()
	d.wantListState("index", indexNote, op.ListWaits, string(vault.GitBusy))
	if at := d.Lists.Lists.Next(); !at.After(d.clock.Now()) {
		t.Errorf("it is tried again at %s", at)
	}
	done()
	d.listed()
	d.wantList(indexNote, marked("index"), "", "the tide turns at six")

	save(t, d.Engine, "the moon is full")
	away := d.Vaults[0] + " away"
	ok(t, os.Rename(d.Vaults[0], away))
	d.Lists.WriteLists(t.Context())
	d.wantListState("index", indexNote, op.ListWaits, "the vault is missing; connect its disk, or wait for the sync tool to restore it")
	ok(t, os.Rename(away, d.Vaults[0]))
	d.batch(nil, nil)
	if d.Lists.Lists.Next().IsZero() {
		t.Error("the vault is back, and the lists are not due")
	}
	d.listed()
	d.wantList(indexNote, marked("index"), "", "the moon is full", "the tide turns at six")
}

func TestWhenListsAreDue(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	d.Lists.WriteLists(t.Context())
	begun := d.clock.Now()
	for range 20 {
		save(t, d.Engine, "a ripple")
		if due := d.Lists.Lists.Next().Sub(d.clock.Now()); due > core.Quiet || d.Lists.Lists.Next().After(begun.Add(core.Latest)) {
			t.Fatalf("%s after the first change they are due in %s", d.clock.Now().Sub(begun), due)
		}
		d.advance(20 * time.Second)
	}
	d.Lists.WriteLists(t.Context())
	if at := d.Lists.Lists.Next(); !at.IsZero() {
		t.Errorf("at rest they are due at %s", at)
	}
}
