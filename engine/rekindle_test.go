package engine_test

import (
	"encoding/json"
	"maps"
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
	"emberd/watcher"
)

// promotedShelf has one memory with a note, which is known.
func promotedShelf(t *testing.T, content string) (*desk, op.Memory) {
	t.Helper()
	d := shelf(t, nil)
	m := promoteByID(t, d.Engine, save(t, d.Engine, content).ID).Memory
	d.seen(m.PromotedTo)
	return d, m
}

// With the note that a human has dealt with since, for promoted memories and for those
// that were only archived.
func TestRekindlingReadsWhatTheNoteSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what    string
		since   func(d *desk, id memory.ID, home string)
		verdict string
		edited  bool
		says    string
	}{
		{"nothing", func(*desk, memory.ID, string) {}, "unchanged", false, leaky},
		{"saved again", func(d *desk, id memory.ID, home string) {
			d.write(d.t, home, withProperties(id, "mood: odd\n", leaky)+"\n\n")
		}, "unchanged", false, leaky},
		{"edited", func(d *desk, id memory.ID, home string) { d.write(d.t, home, noteFor(id, "It is mended.")) }, "edited", true, "It is mended."},
		{"id taken out", func(d *desk, id memory.ID, home string) { d.write(d.t, home, leaky) }, "unchanged", false, leaky},
		{"moved", func(d *desk, _ memory.ID, home string) {
			d.move(home, "Kitchen/Kettle.md")
		}, "moved", false, leaky},
		{"copied by a sync tool and edited there", func(d *desk, id memory.ID, home string) {
			conflict := strings.TrimSuffix(home, ".md") + ".sync-conflict-20260101-000000-ABCDEFG.md"
			d.write(d.t, conflict, noteFor(id, "It is mended."))
			d.batch([]string{conflict}, nil)
		}, "unchanged", false, leaky},
	} {
		for _, promoted := range []bool{false, true} {
			d := shelf(t, nil)
			id := save(t, d.Engine, leaky).ID
			if promoted {
				d.seen(promoteByID(t, d.Engine, id).Path)
			}
			d.archived(id)
			home := look(t, d.Engine, id).VaultPath
			c.since(d, id, home)
			before := d.contentsOfVault()
			res := d.rekindled(id)
			m := res.Memory
			if res.Verdict != c.verdict || res.Edited != c.edited || strings.TrimSpace(m.Content) != strings.TrimSpace(c.says) || m.Stage != memory.Active || res.Tx == "" {
				t.Errorf("%s, promoted %t: %+v", c.what, promoted, res)
			}
			if res.Path != m.VaultPath || promoted != (m.PromotedTo == res.Path) {
				t.Errorf("%s: the note is %q, the memory %+v", c.what, res.Path, m.Memory)
			}
			if !c.edited && m.Content != leaky {
				t.Errorf("%s: the text is %q", c.what, m.Content)
			}
			if after := d.contentsOfVault(); !maps.Equal(before, after) {
				t.Errorf("%s: rekindling changed the vault: %v, was %v", c.what, after, before)
			}
		}
	}
}

func (d *desk) contentsOfVault() map[string]string {
	d.t.Helper()
	out := map[string]string{}
	for _, path := range d.files(d.t) {
		out[path] = d.note(d.t, path)
	}
	return out
}

func TestRekindlingATextThatIsGone(t *testing.T) {
	t.Parallel()
	d := shelf(t, map[string]string{"Shop.md": "The shop in Leith sells a gasket and a kettle.", "Other.md": "nothing alike"})
	id, other := save(t, d.Engine, leaky).ID, save(t, d.Engine, "the tide turns at six").ID
	got := d.archived(id, other)
	cold := look(t, d.Engine, id)
	ok(t, os.Remove(d.at(cold.VaultPath)))
	res := d.rekindled(id)
	if res.Verdict != "gone" || res.Memory.Content != cold.Content || res.Memory.Stage != memory.Archived || res.Path != cold.VaultPath ||
		!res.Memory.NoteGone.Equal(core.StampTime(d.clock.Now())) || res.Memory.UseCount != 0 {
		t.Errorf("got %+v", res)
	}
	if len(res.Near) != 1 || res.Near[0].Path != "Shop.md" {
		t.Errorf("near are %+v", res.Near)
	}
	if !strings.Contains(res.Hint, "to restore the text of this memory and of 1 more memory archived with this memory, run: emberd undo "+got.Entry) || !res.Until.After(d.clock.Now()) {
		t.Errorf("the hint is %q, until %s", res.Hint, res.Until)
	}
	again := d.rekindled(id)
	if again.Tx != "" || again.Memory.Rev != res.Memory.Rev || again.Verdict != "gone" {
		t.Errorf("said again, %+v", again)
	}
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: got.Entry})
	if m := look(t, d.Engine, id); m.Content != leaky || m.Stage != memory.Active {
		t.Errorf("undone, the memory is %+v", m.Memory)
	}
}

// A note that cannot be read now is not gone, and neither is one that is on its way.
func TestANoteThatMayBeThereIsNotGone(t *testing.T) {
	t.Parallel()
	d, m := promotedShelf(t, leaky)
	d.archived(m.ID)
	rev := look(t, d.Engine, m.ID).Rev
	busy := func(what string, code memory.Code, says string) {
		t.Helper()
		_, err := d.Engine.Lifecycle.RekindleMemory(t.Context(), m.ID, keeper())
		wantCode(t, err, code, says)
		if got := look(t, d.Engine, m.ID); got.Rev != rev {
			t.Errorf("%s, and written: %+v", what, got.Memory)
		}
	}
	ok(t, os.Rename(d.at(m.PromotedTo), d.at("Elsewhere.md")))
	busy("renamed a moment ago", memory.Busy, "note")
	d.batch([]string{"Elsewhere.md"}, []string{m.PromotedTo}, watcher.Move{From: m.PromotedTo, To: "Elsewhere.md"})
	whole := d.note(t, "Elsewhere.md")
	d.write(t, "Elsewhere.md", strings.Replace(whole, "---\n", "---\ntags: [a\n", 1))
	busy("broken frontmatter", memory.Conflict, "has invalid frontmatter, which might contain the memory ID; fix the frontmatter")
	ok(t, os.Remove(d.at("Elsewhere.md")))
	ok(t, os.Symlink("Other.md", d.at("Elsewhere.md")))
	busy("a link", memory.Conflict, "symbolic link")
	ok(t, os.Remove(d.at("Elsewhere.md")))
	ok(t, os.Rename(d.Vaults[0], d.Vaults[0]+" away"))
	busy("no vault", memory.Busy, "of")
	ok(t, os.Rename(d.Vaults[0]+" away", d.Vaults[0]))
	d.write(t, "Elsewhere.md", whole)
	if res := d.rekindled(m.ID); res.Verdict != "moved" || res.Memory.Content != leaky {
		t.Errorf("got %+v", res)
	}
}

// A text that would not be taken over of a promoted note is not rekindled either.
func TestTextsThatAreNotRekindled(t *testing.T) {
	t.Parallel()
	for body, says := range map[string]string{
		"": "the note has no text",
		"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs":                       "because emberd cannot apply the edited text of its note",
		"the key is ghp_" + "x7Kq9mPz2LwR4vTn8sYb3dFg6hJc5aQe1uXo" + " now": "text that looks like a credential",
	} {
		d := shelf(t, nil)
		id := save(t, d.Engine, leaky).ID
		d.archived(id)
		cold := look(t, d.Engine, id)
		d.write(t, cold.VaultPath, noteFor(id, body))
		_, err := d.Engine.Lifecycle.RekindleMemory(t.Context(), id, keeper())
		wantCode(t, err, memory.Conflict, says)
		if m := look(t, d.Engine, id); m.Rev != cold.Rev {
			t.Errorf("%.20q: the memory is %+v", body, m.Memory)
		}
	}
}

// A credential that was allowed comes back with the text that it stands in.
func TestAnAllowedCredentialIsRekindled(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	text := "the key is ghp_" + "x7Kq9mPz2LwR4vTn8sYb3dFg6hJc5aQe1uXo" + " now"
	id := do(t, d.Engine, op.Save, &op.SaveRequest{Content: text, AllowSecret: true}).Memory.ID
	d.archived(id)
	if got := d.rekindled(id).Memory.Content; got != text {
		t.Errorf("it says %q", got)
	}
	d.archived(id)
	d.write(t, look(t, d.Engine, id).VaultPath, noteFor(id, text+", says Ann"))
	if got := d.rekindled(id); !got.Edited || got.Memory.Content != text+", says Ann" {
		t.Errorf("edited, it says %+v", got)
	}
}

func TestRekindlingWhatIsWarmOrMerged(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	m := save(t, d.Engine, leaky)
	if res := d.rekindled(m.ID); res.Tx != "" || res.Verdict != "" || res.Memory.Rev != m.Rev || !strings.Contains(res.Hint, "the memory is already active") {
		t.Errorf("got %+v", res)
	}
	again := save(t, d.Engine, strings.ToUpper(leaky))
	into := d.merged(m.ID, again.ID)
	_, err := d.Engine.Lifecycle.RekindleMemory(t.Context(), m.ID, keeper())
	wantCode(t, err, memory.Conflict, "was merged into "+string(into.NewMemoryID))
	do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(into.NewMemoryID)})
	if back := d.rekindled(m.ID); back.Memory.Content != leaky || back.Memory.ConsolidatedInto != "" {
		t.Errorf("what it was merged into was forgotten, and it came back as %+v", back)
	}
	_, err = d.Engine.Lifecycle.RekindleMemory(t.Context(), memory.DeriveID([]byte("x")), keeper())
	wantCode(t, err, memory.NotFound, "not found")
}

// Of a memory that was only put into a cold stage, the log has the text.
func TestRekindlingAMemoryThatWasNeverInANote(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	d := &desk{house: newHouse(t), t: t, Engine: e}
	clock.advance(time.Hour)
	id := save(t, e, leaky).ID
	_, err := e.Stm.Update(t.Context(), []memory.ID{id}, "", func([]*stm.Row) (*stm.Tx, error) {
		return &stm.Tx{Verb: "note", Changes: []stm.Change{{ID: id, Set: map[string]json.RawMessage{"stage": json.RawMessage(`"archived"`)}}}}, nil
	})
	ok(t, err)
	if res := d.rekindled(id); res.Verdict != "unchanged" || res.Memory.Content != leaky || res.Memory.Stage != memory.Active {
		t.Errorf("got %+v", res)
	}
}

func TestRekindleByWords(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	kettle := save(t, d.Engine, leaky).ID
	var others []memory.ID
	for _, text := range []string{"The tide turns at six in the harbour.", "Ann plays the fiddle on Thursdays.", "The gasket order form is in the blue folder."} {
		others = append(others, save(t, d.Engine, text).ID)
	}
	d.archived(append(slices.Clone(others), kettle)...)
	ask := func(q string, dry bool) *op.RekindleAnswer {
		t.Helper()
		return do(t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: q, DryRun: dry})
	}
	if got := ask("kettle leaks seam", true); len(got.Results) != 1 || got.Results[0].Verdict != "unchanged" || got.Results[0].Tx != "" || !got.DryRun || look(t, d.Engine, kettle).Stage != memory.Archived {
		t.Errorf("a dry run got %+v", got)
	}
	if got := ask("kettle leaks seam", false); len(got.Results) != 1 || got.Results[0].Memory.Content != leaky {
		t.Errorf("got %+v", got)
	}
	if got := ask("harbour bicycle lamp candle", false); len(got.Results) != 0 || len(got.Nearest) != 1 || got.Nearest[0].ID != others[0] || got.Nearest[0].Summary == "" || !strings.Contains(got.Hint, "no archived memory matches these words well enough; pass an ID") {
		t.Errorf("got %+v", got)
	}
	if got := ask("bicycle", false); len(got.Results)+len(got.Nearest) != 0 || got.Hint == "" {
		t.Errorf("got %+v", got)
	}
	if got := ask(others[1].Short(), false); len(got.Results) != 1 || got.Results[0].Memory.Content != "Ann plays the fiddle on Thursdays." {
		t.Errorf("got %+v", got)
	}
	ok(t, os.Remove(filepath.Join(d.Vaults[0], look(t, d.Engine, others[2]).VaultPath)))
	d.write(t, look(t, d.Engine, others[2]).VaultPath, noteFor(others[2], ""))
	if got := ask("gasket order form", false); len(got.Results) != 1 || !strings.Contains(got.Results[0].Hint, "the note has no text") {
		t.Errorf("got %+v", got)
	}
	wantCode(t, refused(t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: " "}), memory.Invalid, "missing memory ID or words to search for")
}
