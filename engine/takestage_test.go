package engine_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/engine/core"
	"emberd/engine/promote"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/vault/neutralize"
	"emberd/watcher"
)

// longText is a text that its summary is not: numbered, so that each is another.
func longText(n int) string {
	return fmt.Sprintf("The kettle number %d leaks at the seam. It was bought in the autumn, from the shop on the corner.\n\n"+
		"- the lid is loose\n- the handle was mended twice, by Ann\n\nWhoever makes tea should look below it first, and wipe the shelf.", n)
}

// wantCold checks that a memory's text is in its note only.
func (d *desk) wantCold(id memory.ID, stage memory.Stage, text string) {
	d.t.Helper()
	m := d.memory(id)
	if m.Stage != stage || m.TextDigest != rekindle.Digest(text) || m.Content == "" || m.Content == text || len(m.KeyTerms) == 0 || m.ArchivedAt.IsZero() {
		d.t.Errorf("the memory is %+v, want %s and what is left of %q", m.Memory, stage, text)
	}
}

// wantWarm checks that a memory has its text, and nothing of a time without it.
func (d *desk) wantWarm(id memory.ID, stage memory.Stage, text string) {
	d.t.Helper()
	m := d.memory(id)
	if m.Stage != stage || m.Content != text || m.TextDigest != "" || m.KeyTerms != nil || !m.ArchivedAt.IsZero() || m.ArchiveReason != "" {
		d.t.Errorf("the memory is %+v, want %s and %q", m.Memory, stage, text)
	}
}

func TestAStageThatAHumanWrites(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	text := longText(1)
	id := d.kept(text, "Kettle.md", "kitchen")
	writes := func(stage, body string) {
		d.edit("Kettle.md", withProperties(id, "tags: [kitchen]\nstage: "+stage+"\n", body))
	}
	writes("demoted", text)
	d.wantWarm(id, memory.Demoted, text)
	d.clock.advance(time.Second)
	writes("active", text)
	d.wantWarm(id, memory.Active, text)
	if got := d.memory(id).LastUsed; !got.Equal(d.clock.Now()) {
		t.Errorf("last used at %s, want now", got)
	}
	writes("Archived", text)
	d.wantCold(id, memory.Archived, text)
	if m := d.memory(id); m.ArchiveReason != "the note sets this stage" || m.PromotedTo != "Kettle.md" || m.VaultPath != "Kettle.md" || !slices.Equal(m.Tags, []string{"kitchen"}) {
		t.Errorf("the memory is %+v", m.Memory)
	}
	writes("rehydratable", text)
	d.wantCold(id, memory.Rehydratable, text)
	d.edit("Kettle.md", noteFor(id, text, "kitchen")) // that says nothing of the stage
	d.wantCold(id, memory.Rehydratable, text)

	used := d.memory(id).LastUsed
	d.clock.advance(time.Second)
	writes("active", longText(2))
	d.wantWarm(id, memory.Active, longText(2))
	if got := d.memory(id).LastUsed; !got.After(used) {
		t.Errorf("last used at %s, want now", got)
	}
	lines := d.lines(id)
	d.seen("Kettle.md")
	if got := d.lines(id); got != lines {
		t.Errorf("%d lines for nothing", got-lines)
	}
	// Archived together with a change of the text, it is the new text that is archived.
	writes("rehydratable", longText(3))
	d.wantCold(id, memory.Rehydratable, longText(3))
	writes("demoted", longText(3))
	d.wantWarm(id, memory.Demoted, longText(3))
	wantNames(t, d.Engine, "number kettle", longText(3))
	d.wantNoFindings()
}

// The same for a memory that was never promoted, whose text is in the archive folder.
func TestAStageWrittenIntoAnArchiveNote(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	text := longText(1)
	id := d.filed(text, archiveDir+"Kettle.md")
	d.edit(archiveDir+"Kettle.md", withProperties(id, "stage: active\n", text))
	d.wantWarm(id, memory.Active, text)
	d.wantHome(id, archiveDir+"Kettle.md", false)
	d.edit(archiveDir+"Kettle.md", withProperties(id, "stage: archived\n", text))
	d.wantCold(id, memory.Archived, text)

	// Its text is newer here than in the note: that one would be lost.
	d.edit(archiveDir+"Kettle.md", withProperties(id, "stage: active\n", text))
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: new(longText(2))})
	d.edit(archiveDir+"Kettle.md", withProperties(id, "stage: archived\n", text))
	d.wantWarm(id, memory.Active, longText(2))
	d.wantFinding("memory "+archiveDir+"Kettle.md", "the text of the note differs from the text of the memory")
	d.edit(archiveDir+"Kettle.md", withProperties(id, "stage: archived\n", longText(3)))
	d.wantCold(id, memory.Archived, longText(3))
	d.wantNoFindings()
}

func TestAStageThatAMemoryCannotHave(t *testing.T) {
	t.Parallel()
	token := "ghp_" + "zQ4mT7rX1nV9kB3sW6yD8fH2jL5pC0aGuEi1"
	for what, c := range map[string]struct {
		content string
		core    bool
		from    string // what the note says first
		to      string
		body    string
		says    string
	}{
		"a core memory":       {"the kettle leaks", true, "", "archived", "the kettle leaks", "core memories never fade"},
		"a text of two kinds": {"first\r\nsecond", false, "", "archived", "first\nsecond", "emberd does not sync the stage of the note, because a note cannot store this text exactly; remove the property stage"},
		"an emptied note":     {longText(1), false, "archived", "active", "", "the note has no text"},
		"a credential":        {longText(1), false, "archived", "active", "it is " + token, "remove the credential from the note"},
		"half a merge":        {longText(1), false, "archived", "demoted", "<<<<<<< a\nx\n=======\ny\n>>>>>>> b", "contains merge conflict markers"},
		"too much":            {longText(1), false, "archived", "active", strings.Repeat("a line of it\n", 90_000), "split the note"},
		"no such stage":       {"the kettle leaks", false, "", "asleep", "the kettle leaks", "use active, demoted, archived or rehydratable"},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDesk(t, nil)
			id := do(t, d.Engine, op.Save, &op.SaveRequest{Content: c.content, Core: c.core}).Memory.ID
			d.edit("Kettle.md", noteFor(id, c.content))
			if c.from != "" {
				d.edit("Kettle.md", withProperties(id, "stage: "+c.from+"\n", c.content))
			}
			before := d.memory(id)
			d.edit("Kettle.md", withProperties(id, "stage: "+c.to+"\n", c.body))
			if m := d.memory(id); m.Stage != before.Stage || m.Content != before.Content || m.TextDigest != before.TextDigest {
				t.Errorf("the memory is %+v", m.Memory)
			}
			d.wantFinding("memory Kettle.md", c.says)
		})
	}
}

// A text with a credential that was allowed once comes back without another question.
func TestACredentialThatWasAllowedComesBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	text := longText(1) + " The token is ghp_" + "zQ4mT7rX1nV9kB3sW6yD8fH2jL5pC0aGuEi1"
	id := do(t, d.Engine, op.Save, &op.SaveRequest{Content: text, AllowSecret: true}).Memory.ID
	d.edit("Kettle.md", noteFor(id, text))
	d.edit("Kettle.md", withProperties(id, "stage: archived\n", text))
	d.wantCold(id, memory.Archived, text)
	d.edit("Kettle.md", withProperties(id, "stage: active\n", text))
	d.wantWarm(id, memory.Active, text)
}

// Only a note that states a stage is told of another one.
func TestTheStageIsToldToANoteThatStatesOne(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	states, silent := d.kept("the kettle leaks", "Kettle.md"), d.kept("the pot shines", "Pot.md")
	d.edit("Kettle.md", withProperties(states, "stage: active\n", "the kettle leaks"))
	was := d.note(t, "Pot.md")
	for _, id := range []memory.ID{states, silent} {
		d.rewrite(id, "demote", func(m *memory.Memory) {
			m.Stage = memory.Demoted
			ok(t, d.Promote.TellStages(d.Promote.StageWrites(m, keeper())))
		})
	}
	if got := d.Promote.Pending.List(); len(got) != 1 || got[0].Memory != states || !slices.Equal(got[0].Fields, []string{"stage"}) {
		t.Errorf("waiting: %+v", got)
	}
	d.rest(t, d.Engine)
	wantNote(t, d.house, "Kettle.md", "stage: \"demoted\"")
	if got := d.note(t, "Pot.md"); got != was {
		t.Errorf("the note that states none says %q", got)
	}
	d.seen("Kettle.md")
	if got := d.memory(states); got.Stage != memory.Demoted || promote.StageTold(new(d.memory(silent).Memory)) || !promote.StageTold(&got.Memory) {
		t.Errorf("the memory is %+v", got.Memory)
	}
	d.wantNoFindings()
}

// fading is a memory whose note a human edits, stage and all, while emberd archives it
// and brings it back.
type fading struct {
	*desk
	id    memory.ID
	path  string
	body  string
	stage string // as the note states it, "" for not
	texts []string
}

func (f *fading) newText() string {
	f.texts = append(f.texts, longText(len(f.texts)))
	return f.texts[len(f.texts)-1]
}

func (f *fading) write() {
	properties := ""
	if f.stage != "" {
		properties = "stage: " + f.stage + "\n"
	}
	f.desk.write(f.t, f.path, withProperties(f.id, properties, f.body))
	f.batch([]string{f.path}, nil)
}

// follow takes in what emberd may have written to the note.
func (f *fading) follow() {
	f.rest(f.t, f.Engine)
	f.batch([]string{f.path}, nil)
	note, err := f.Notes.Vault.Root.Load().Read(f.t.Context(), f.path)
	ok(f.t, err)
	f.body, f.stage = note.Carried.Body, note.Carried.Fields["stage"]
}

func (f *fading) actions() map[string]func(*rapid.T) {
	stages := []string{"", "active", "demoted", "archived", "rehydratable"}
	return map[string]func(*rapid.T){
		"type":          func(*rapid.T) { f.body = f.newText(); f.write() },
		"type a stage":  func(r *rapid.T) { f.stage = rapid.SampledFrom(stages).Draw(r, "stage"); f.write() },
		"type both":     func(r *rapid.T) { f.stage, f.body = rapid.SampledFrom(stages).Draw(r, "stage"), f.newText(); f.write() },
		"a minute":      func(*rapid.T) { f.settle() },
		"restart":       func(*rapid.T) { f.restart() },
		"emberd writes": func(*rapid.T) { f.follow() },
		"edit text": func(*rapid.T) {
			_, err := op.Edit.Call(f.t.Context(), f.Engine, &op.EditRequest{ID: string(f.id), Content: new(f.newText())})
			if code := memory.CodeOf(err); err != nil && code != memory.Conflict && code != memory.Busy {
				f.t.Fatal(err)
			}
			f.follow()
		},
		"edit tags": func(*rapid.T) {
			_, err := op.Edit.Call(f.t.Context(), f.Engine, &op.EditRequest{ID: string(f.id), AddTags: []string{fmt.Sprint("t", len(f.texts))}})
			if err != nil && memory.CodeOf(err) != memory.Conflict {
				f.t.Fatal(err)
			}
			f.follow()
		},
		"archive": func(r *rapid.T) {
			to := rapid.SampledFrom([]memory.Stage{memory.Archived, memory.Rehydratable}).Draw(r, "to")
			_, err := f.Engine.Lifecycle.Archive(f.t.Context(), f.to(to, f.id), "unused", keeper(), "")
			ok(f.t, err)
		},
		"rekindle": func(*rapid.T) {
			_, err := f.Engine.Lifecycle.RekindleMemory(f.t.Context(), f.id, keeper())
			if err != nil && memory.CodeOf(err) != memory.Conflict && memory.CodeOf(err) != memory.Busy {
				f.t.Fatal(err)
			}
		},
		"move": func(*rapid.T) {
			to := map[bool]string{true: archiveDir + "Kettle.md", false: "Kettle.md"}[f.path == "Kettle.md"]
			ok(f.t, os.MkdirAll(filepath.Dir(f.at(to)), 0o700))
			ok(f.t, os.Rename(f.at(f.path), f.at(to)))
			f.batch([]string{to}, []string{f.path}, watcher.Move{From: f.path, To: to})
			f.path = to
		},
		"": func(r *rapid.T) {
			if wrong := f.wrong(); wrong != "" {
				r.Logf("the memory is %+v", f.memory(f.id).Memory)
				r.Fatal(wrong) // the same words each time, or rapid would not shrink it
			}
		},
	}
}

// wrong is how what the memory has does not go together, "" if it does.
func (f *fading) wrong() string {
	m := f.memory(f.id).Memory
	whole := slices.Contains(f.texts, m.Content)
	switch cold := m.Stage.Cold(); {
	case cold && whole:
		return "it is cold and has its whole text"
	case cold && (m.TextDigest == "" || len(m.KeyTerms) == 0 || m.ArchivedAt.IsZero()):
		return "it is cold and does not say of which text"
	case !cold && !whole:
		return "it is warm and has not its text"
	case !cold && (m.TextDigest != "" || m.KeyTerms != nil || !m.ArchivedAt.IsZero()):
		return "it is warm and says that it is archived"
	case m.VaultPath == "" || m.PromotedTo != "" && m.PromotedTo != m.VaultPath:
		return "its note is not known"
	}
	return ""
}

// Whatever stages and texts are written into a note, and whatever fading does meanwhile:
// a cold memory never has its text, a warm one always does, and a human has the last word.
func TestStageAndTextGoTogether(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	ok(t, checks.Value.Set(fmt.Sprint(size(12, 300))))
	defer func() { ok(t, checks.Value.Set(before)) }()
	rapid.Check(t, func(r *rapid.T) {
		f := &fading{desk: shelf(t, nil), path: "Kettle.md"}
		promoted := rapid.Bool().Draw(r, "promoted")
		f.body = f.newText()
		if promoted {
			f.id = f.kept(f.body, f.path)
		} else {
			f.path = archiveDir + "Kettle.md"
			f.id = f.filed(f.body, f.path)
		}
		r.Repeat(f.actions())
		for range 2 { // what had to wait is tried again, also if it waited until the note was found at its new path
			f.advance(promote.LastTry)
			f.follow()
			f.settle()
		}
		f.stage, f.body = "active", f.newText()
		f.write()
		f.settle()
		f.rest(f.t, f.Engine)
		if m := f.memory(f.id); m.Stage != memory.Active || m.Content != f.body || (m.PromotedTo != "") != promoted || core.NotePath(&m.Memory) != f.path {
			r.Logf("the memory is %+v, and its note %q says %q", m.Memory, f.path, f.body)
			r.Fatal("in the end the memory is not as its note says")
		}
		f.stage = "archived"
		f.write()
		f.settle()
		if m := f.memory(f.id); m.Stage != memory.Archived || m.TextDigest != rekindle.Digest(neutralize.Body(f.body)) || f.wrong() != "" {
			r.Logf("the memory is %+v", m.Memory)
			r.Fatal("archived in the end, the memory is not as its note says")
		}
	})
}
