package engine_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/memory"
	"emberd/op"
)

// tried archives memories, none of which can be, and wants the reason of all.
func (d *desk) tried(why string, ids ...memory.ID) {
	d.t.Helper()
	files := d.files(d.t)
	got, err := d.Engine.Lifecycle.Archive(d.t.Context(), d.to(memory.Archived, ids...), "unused for 30 days", keeper(), "")
	ok(d.t, err)
	if len(got.Skipped) != len(ids) || got.Entry != "" {
		d.t.Errorf("got %+v", got)
	}
	for _, s := range got.Skipped {
		if !strings.Contains(s.Reason, why) {
			d.t.Errorf("skipped for %q, want %q", s.Reason, why)
		}
	}
	for _, id := range ids {
		if m := look(d.t, d.Engine, id); m.Stage.Cold() {
			d.t.Errorf("the memory is %+v", m.Memory)
		}
	}
	wantFiles(d.t, d.house, files...)
}

func TestArchivingAmongOthersNotes(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	one, two, tea := save(t, d.Engine, "Coffee").ID, save(t, d.Engine, "coffee!?").ID, save(t, d.Engine, "Tea").ID
	d.archived(one, two)
	if got := look(t, d.Engine, two).VaultPath; got != "Memories/Archive/coffee! "+two.Short()+".md" && got != "Memories/Archive/coffee!.md" {
		t.Errorf("the second note is %q", got)
	}
	d.write(t, "Memories/Archive/TEA.md", "a human's")
	d.write(t, "Memories/Archive/Tea "+tea.Short()+".md", "another")
	d.tried("already exist; rename one of them", tea)
	bare := lifecycle.Archiver{E: &lifecycle.Lifecycle{View: &core.View{Kernel: &core.Kernel{Opt: d.Options}}}}
	bare.E.Opt.VaultArchive = ""
	if _, why, err := bare.NewKept(t.Context(), &memory.Memory{}); err != nil || !strings.Contains(why, "set vault.archive_folder") {
		t.Errorf("without a folder: %q, %v", why, err)
	}
	ok(t, os.Remove(d.at("Memories/Archive/TEA.md")))
	d.archived(tea)
}

// Who gives up waiting leaves notes that the next run takes.
func TestArchivingThatIsGivenUp(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	id := save(t, d.Engine, leaky).ID
	moves := d.to(memory.Archived, id)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := d.Engine.Lifecycle.Archive(ctx, moves, "gc", keeper(), ""); err == nil || len(got.Done)+len(got.Skipped) > 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	wantFiles(t, d.house)
	d.archived(id)
}

// A memory that was forgotten or edited since the plan was made is not archived.
func TestArchivingWhatChangedSinceThePlan(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	gone, edited := save(t, d.Engine, leaky).ID, save(t, d.Engine, "the tide turns at six").ID
	moves := d.to(memory.Archived, gone, edited)
	do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(gone)})
	a := lifecycle.Archiver{E: d.Engine.Lifecycle, By: keeper()}
	group, _ := a.Portion(t.Context(), moves)
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(edited), Content: new("the tide turns at seven")})
	ok(t, a.ArchiveGroup(t.Context(), group))
	if len(a.Out.Done) > 0 || len(a.Out.Skipped) != 2 || a.Out.Skipped[0].Reason != "the memory was deleted in the meantime" || a.Out.Skipped[1].Reason != "the memory "+
		"was changed in the meantime" {
		t.Errorf("got %+v", a.Out)
	}
	wantFiles(t, d.house)
}
