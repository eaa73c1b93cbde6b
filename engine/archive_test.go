package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// shelf is a desk whose clock is an hour ahead, so that every note has been left alone.
func shelf(t testing.TB, notes map[string]string) *desk {
	t.Helper()
	d := newDesk(t, notes)
	d.ms.Store(time.Now().Add(time.Hour).UnixMilli())
	return d
}

// to plans moves of memories as they are.
func (d *desk) to(stage memory.Stage, ids ...memory.ID) []rekindle.Move {
	d.t.Helper()
	var moves []rekindle.Move
	for _, id := range ids {
		row, live := d.Stm.Get(id)
		if !live {
			d.t.Fatalf("no memory %s", id)
		}
		moves = append(moves, rekindle.Move{ID: id, From: row.Stage(), To: stage, Used: stm.LastTouched(row)})
	}
	return moves
}

func keeper() memory.Actor { return memory.Actor{Via: "emberd", Client: "lifecycle"} }

// archived archives memories, all of them.
func (d *desk) archived(ids ...memory.ID) lifecycle.ArchiveRequest {
	d.t.Helper()
	got, err := d.Engine.Lifecycle.Archive(d.t.Context(), d.to(memory.Archived, ids...), "unused for 30 days", keeper(), "")
	ok(d.t, err)
	if len(got.Skipped) > 0 || !slices.Equal(got.Done, ids) {
		d.t.Fatalf("archived %v, skipped %+v", got.Done, got.Skipped)
	}
	return got
}

// skipped archives a memory, which must not work.
func (d *desk) skipped(id memory.ID, why string) {
	d.t.Helper()
	before, files := look(d.t, d.Engine, id), d.files(d.t)
	got, err := d.Engine.Lifecycle.Archive(d.t.Context(), d.to(memory.Archived, id), "unused for 30 days", keeper(), "")
	ok(d.t, err)
	if len(got.Skipped) != 1 || got.Entry != "" || !strings.Contains(got.Skipped[0].Reason, why) {
		d.t.Errorf("got %+v, want it skipped for %q", got, why)
	}
	if after := look(d.t, d.Engine, id); after.Rev != before.Rev {
		d.t.Errorf("skipped, and written: %+v", after)
	}
	wantFiles(d.t, d.house, files...)
}

// rekindled brings a memory back.
func (d *desk) rekindled(id memory.ID) *op.RekindleResult {
	d.t.Helper()
	res, err := d.Engine.Lifecycle.RekindleMemory(d.t.Context(), id, memory.Actor{Via: "cli"})
	ok(d.t, err)
	return res
}

const leaky = "The kettle leaks at the seam. Ann ordered a new gasket from the shop in Leith, part 4417.\n\n- drain it at night\n"

func TestArchive(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	m := do(t, d.Engine, op.Save, &op.SaveRequest{Content: leaky, Tags: []string{"kitchen"}, Entities: []string{"Ann"}}).Memory
	got := d.archived(m.ID)
	const home = "Memories/Archive/The kettle leaks at the seam. Ann ordered a new gasket from.md"
	wantFiles(t, d.house, home)
	wantNote(t, d.house, home, `memory-id: "`+string(m.ID)+`"`, "kitchen", leaky, "!stage")
	cold := look(t, d.Engine, m.ID)
	if cold.Stage != memory.Archived || cold.VaultPath != home || cold.PromotedTo != "" || cold.ArchiveReason != "unused for 30 days" ||
		!cold.ArchivedAt.Equal(core.StampTime(d.clock.Now())) || !strings.Contains(leaky, strings.TrimSuffix(cold.Content, "…")) || cold.Summary != cold.Content || len(cold.NoteSeen) != 5 {
		t.Errorf("the memory is %+v", cold.Memory)
	}
	if n := len([]rune(cold.Content)); n == 0 || n > 80 {
		t.Errorf("the summary has %d characters: %q", n, cold.Content)
	}
	if v := d.newest(m.ID); v.Verb != "archive" || v.Tx != got.Entry || v.By.Client != "lifecycle" {
		t.Errorf("the log says %+v", v)
	}
	d.clock.advance(time.Hour)
	back := d.rekindled(m.ID)
	if back.Verdict != "unchanged" || back.Path != home || back.Edited || back.Memory.Content != leaky || back.Memory.Stage != memory.Active {
		t.Errorf("rekindled %+v", back)
	}
	if warm := back.Memory; warm.UseCount != 1 || !warm.LastUsed.Equal(core.StampTime(d.clock.Now())) || warm.VaultPath != home || !warm.UpdatedAt.Equal(m.UpdatedAt) || !warm.ArchivedAt.IsZero() {
		t.Errorf("the memory is %+v", warm.Memory)
	}
	if v := d.newest(m.ID); v.Verb != "rekindle" || v.Tx != back.Tx || v.By.Via != "cli" {
		t.Errorf("the log says %+v", v)
	}
	wantFiles(t, d.house, home)
	d.archived(m.ID) // again: the note is there already
	wantFiles(t, d.house, home)
	if got := d.rekindled(m.ID).Memory.Content; got != leaky {
		t.Errorf("the second time it says %q", got)
	}
}

// Whatever a note can keep comes back to the byte, by way of a vault on the disk.
func TestArchivingAndRekindlingGivesTheSameText(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	d.DetectSecrets = false
	rapid.Check(t, func(rt *rapid.T) {
		content := rapid.StringMatching(`[ \n\t]{0,3}(\PC|\n|#|-|%|<|:){1,60}[ \n]{0,3}`).Draw(rt, "content")
		saved, err := op.Save.Call(t.Context(), d.Engine, &op.SaveRequest{Content: content, AllowSecret: true, Again: true})
		if err != nil {
			rt.Skip(err)
		}
		id := saved.Memory.ID
		stage := rapid.SampledFrom([]memory.Stage{memory.Archived, memory.Rehydratable}).Draw(rt, "stage")
		got, err := d.Engine.Lifecycle.Archive(t.Context(), d.to(stage, id), "asked for", keeper(), "")
		ok(t, err)
		keepable := core.FitsNote(saved.Memory.Content)
		if done := len(got.Done) == 1; done != keepable {
			rt.Fatalf("archived: %t, keepable: %t, %+v", done, keepable, got.Skipped)
		}
		if !keepable {
			return
		}
		if cold := look(t, d.Engine, id); cold.Stage != stage {
			rt.Fatalf("it is %s", cold.Stage)
		}
		if back := d.rekindled(id); back.Verdict != "unchanged" || back.Memory.Content != saved.Memory.Content {
			rt.Fatalf("%s %q, want %q", back.Verdict, back.Memory.Content, saved.Memory.Content)
		}
	})
}

func TestWhatIsNotArchived(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	odd, core := save(t, d.Engine, "a\r\nb"), do(t, d.Engine, op.Save, &op.SaveRequest{Content: "the family's birthdays", Core: true}).Memory
	d.skipped(odd.ID, "a note cannot store the text exactly, because it contains control characters, line endings other than LF, or plugin code")
	d.skipped(core.ID, "core memories never fade")
	used := save(t, d.Engine, "the tide turns at six")
	moves := d.to(memory.Archived, used.ID)
	d.clock.advance(time.Minute)
	do(t, d.Engine, op.Show, &op.ShowRequest{ID: string(used.ID)})
	got, err := d.Engine.Lifecycle.Archive(t.Context(), moves, "unused for 30 days", keeper(), "")
	ok(t, err)
	if len(got.Skipped) != 1 || got.Skipped[0].Reason != "the memory was used or opened in the meantime" {
		t.Errorf("got %+v", got)
	}
	d.archived(used.ID)
	d.skipped(used.ID, "the memory is already archived")
}

// Without a vault in which all notes are known, nothing is done by halves.
func TestArchivingWithoutItsVault(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	d := &desk{house: h, t: t, Engine: h.open(t)}
	id := save(t, d.Engine, leaky).ID
	d.skipped(id, "still reading the notes for the first time")
	d.batch(nil, nil)
	ok(t, os.Rename(h.Vaults[0], h.Vaults[0]+" away"))
	got, err := d.Engine.Lifecycle.Archive(t.Context(), d.to(memory.Archived, id), "gc", keeper(), "")
	ok(t, err)
	if len(got.Skipped) != 1 || !strings.Contains(got.Skipped[0].Reason, "the vault is missing; connect its disk, or wait for the sync tool to restore it") {
		t.Errorf("got %+v", got)
	}
	ok(t, os.Rename(h.Vaults[0]+" away", h.Vaults[0]))
	d.archived(id)

	e, _ := newEngine(t)
	bare := &desk{house: newHouse(t), t: t, Engine: e}
	_, err = op.Archive.Call(t.Context(), e, &op.ArchiveRequest{ID: string(save(t, e, leaky).ID)})
	wantCode(t, err, memory.NotFound, "no vault configured; set vaults: in the config file, or run: emberd serve --vault DIR")
	got, err = e.Lifecycle.Archive(t.Context(), bare.to(memory.Archived, save(t, e, "short").ID), "gc", keeper(), "")
	ok(t, err)
	if len(got.Skipped) != 1 || !strings.Contains(got.Skipped[0].Reason, "no vault configured") {
		t.Errorf("got %+v", got)
	}
}

// Many are one entry, which one undo takes back, whatever became of their notes. The notes that the archiving made
// go with it, but for one that somebody edited.
func TestArchivingManyAndUndoing(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	var ids []memory.ID
	texts := map[memory.ID]string{}
	for i := range 70 {
		text := strings.Repeat("word ", 1+i%3*4000) + fmt.Sprint(i)
		id := save(t, d.Engine, text).ID
		ids, texts[id] = append(ids, id), look(t, d.Engine, id).Content
	}
	got := d.archived(ids...)
	d.write(t, look(t, d.Engine, ids[0]).VaultPath, noteFor(ids[0], "edited since"))
	ok(t, os.Remove(filepath.Join(d.Vaults[0], look(t, d.Engine, ids[1]).VaultPath)))
	edited := look(t, d.Engine, ids[0]).VaultPath
	undone := do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: got.Entry})
	if len(undone.Items) != len(ids) {
		t.Errorf("%d of %d undone", len(undone.Items), len(ids))
	}
	for _, id := range ids {
		if m := look(t, d.Engine, id); m.Content != texts[id] || m.Stage != memory.Active || m.TextDigest != "" {
			t.Errorf("undone, the memory is %s with %d bytes", m.Stage, len(m.Content))
		}
	}
	wantFiles(t, d.house, edited)
}

// An undo of the undo archives again, and has the text in a note before the log leaves it. Where it cannot be
// written yet, nothing is undone.
func TestUndoingTheUndoOfAnArchiving(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	id := save(t, d.Engine, leaky).ID
	first := do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: d.archived(id).Entry})
	wantFiles(t, d.house)
	again := &op.UndoRequest{Tx: first.Tx}
	wantCode(t, refused(t, d.Engine, op.Undo, again), memory.Busy, "cannot undo the change: emberd would archive 1 memory again, but cannot write the note of memory "+string(id)+" now; try again in a minute")
	d.advance(2 * time.Minute)
	d.rest(t, d.Engine)
	do(t, d.Engine, op.Undo, again)
	cold := look(t, d.Engine, id)
	if cold.Stage != memory.Archived || cold.Content == leaky {
		t.Fatalf("the memory is %+v", cold.Memory)
	}
	d.settle()
	if back := d.rekindled(id); back.Memory.Content != leaky {
		t.Errorf("it came back as %q", back.Memory.Content)
	}
}

// After an undo it can be archived again at once, in a note of another name.
func TestArchivingAgainAfterAnUndo(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	id := save(t, d.Engine, leaky).ID
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: d.archived(id).Entry})
	d.archived(id)
	wantFiles(t, d.house, look(t, d.Engine, id).VaultPath)
	if back := d.rekindled(id); back.Memory.Content != leaky {
		t.Errorf("it came back as %q", back.Memory.Content)
	}
}

func TestFading(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	id := save(t, d.Engine, leaky).ID
	first := d.archived(id)
	text := look(t, d.Engine, id).Content
	ok(t, os.Rename(d.Vaults[0], d.Vaults[0]+" away")) // fading needs no vault
	got, err := d.Engine.Lifecycle.Archive(t.Context(), d.to(memory.Rehydratable, id), "unused for 90 days", keeper(), first.Entry)
	ok(t, err)
	if m := look(t, d.Engine, id); len(got.Done) != 1 || got.Entry != first.Entry || m.Stage != memory.Rehydratable || m.Content != text || m.ArchiveReason != "unused for 30 days" {
		t.Errorf("%+v: the memory is %+v", got, m.Memory)
	}
	if v := d.newest(id); v.Verb != "fade" {
		t.Errorf("the log says %+v", v)
	}
}
