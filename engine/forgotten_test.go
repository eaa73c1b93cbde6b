package engine_test

import (
	"strings"
	"testing"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// However a forgotten text comes in, it is refused with a sentence that says when it
// was forgotten and what to do, and comes in when that is meant.
func TestAForgottenTextIsNotSavedAgainUnasked(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "The harbour lights are green")
	exported := do(t, e, op.Export, &op.ExportRequest{})
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	again := "the harbour  lights are GREEN"

	err := refused(t, e, op.Save, &op.SaveRequest{Content: again})
	wantCode(t, err, memory.Forgotten, "the memory with this text was deleted on 2026-03-01; to restore the memory, run emberd rekindle "+m.ID.Short()+"; to save the text again, use --again (again)")
	if strings.Contains(err.Error(), "harbour") {
		t.Errorf("the refusal tells the text: %s", err)
	}
	batch := do(t, e, op.SaveBatch, &op.SaveBatchRequest{Items: []op.SaveRequest{{Content: again}, {Content: "something else"}}})
	if p := batch.Results[0].Error; p == nil || p.Code != memory.Forgotten || batch.Results[1].ID == "" {
		t.Errorf("the batch is answered with %+v", batch.Results)
	}
	stray := op.Record{ID: memory.DeriveID([]byte("stray")), Fields: exported.Records[0].Fields}
	imported := do(t, e, op.Import, &op.ImportRequest{Records: []op.Record{stray, exported.Records[0]}})
	for _, r := range imported.Results {
		if r.Fate != op.ImportForgotten {
			t.Errorf("the import is answered with %+v", imported.Results)
		}
	}

	saved := do(t, e, op.Save, &op.SaveRequest{Content: again, Again: true}).Memory
	other := save(t, e, again) // it does not count any more
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(saved.ID) + "," + string(other.ID)})
	refused(t, e, op.Save, &op.SaveRequest{Content: again})
	do(t, e, op.SaveBatch, &op.SaveBatchRequest{Items: []op.SaveRequest{{Content: again, Again: true}}})
	save(t, e, again)
}

func TestImportAgainTakesAForgottenText(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "the harbour lights are green")
	record := do(t, e, op.Export, &op.ExportRequest{}).Records[0]
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	record.ID = memory.DeriveID([]byte("another"))
	got := do(t, e, op.Import, &op.ImportRequest{Again: true, Records: []op.Record{record}})
	if got.Results[0].Fate != op.ImportAdded {
		t.Errorf("the import is answered with %+v", got.Results)
	}
	save(t, e, m.Content)
}

func TestWhatWasPurgedIsRefusedToo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	m := save(t, e, "the harbour lights are green")
	do(t, e, op.Purge, &op.PurgeRequest{ID: string(m.ID)})
	wantCode(t, refused(t, e, op.Save, &op.SaveRequest{Content: m.Content}), memory.Forgotten, "to save the text again, use --again (again")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = h.open(t)
	refused(t, e, op.Save, &op.SaveRequest{Content: m.Content})
}

func TestBringingAMemoryBackLiftsTheRefusal(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]func(e *engine.Engine, m op.Memory, tx string){
		"restored": func(e *engine.Engine, m op.Memory, _ string) {
			do(t, e, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(m.ID)}})
		},
		"undone": func(e *engine.Engine, _ op.Memory, tx string) { do(t, e, op.Undo, &op.UndoRequest{Tx: tx}) },
		"saved under its id": func(e *engine.Engine, m op.Memory, _ string) {
			do(t, e, op.Save, &op.SaveRequest{ID: m.ID, Content: m.Content, Again: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := newEngine(t)
			m := save(t, e, "the harbour lights are green")
			tx := do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)}).Tx
			refused(t, e, op.Save, &op.SaveRequest{Content: m.Content})
			back(e, m, tx)
			save(t, e, m.Content)
		})
	}
}

// A human who deletes the note of a memory has its text forgotten; the note that comes
// back brings it back.
func TestADeletedNoteIsAForgottenText(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md")
	note := d.note(t, "Kettle.md")
	d.remove("Kettle.md")
	wantCode(t, refused(t, d.Engine, op.Save, &op.SaveRequest{Content: "The kettle leaks"}), memory.Forgotten, "to save the text again, use --again (again")
	d.edit("Kettle.md", note)
	if m := d.memory(id); m.Content != "the kettle leaks" {
		t.Errorf("the memory is %+v", m.Memory)
	}
	save(t, d.Engine, "The kettle leaks")
}

// A text that was archived is known again by all of it, not by what was left.
func TestAnArchivedTextIsForgottenWhole(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.kept("the kettle leaks. Its lid is lost.", "Kettle.md")
	_, err := d.Stm.Update(t.Context(), []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		m, err := rows[0].Memory()
		if err != nil {
			return nil, err
		}
		before, err := core.Fields(&m)
		if err != nil || !core.ArchiveText(&m, core.ArchivedText{Stage: memory.Archived, Path: "Kettle.md", Summary: "the kettle leaks"}, d.Engine.Opt.Now()) {
			t.Fatalf("not archived: %v", err)
		}
		after, err := core.Fields(&m)
		return &stm.Tx{Verb: "archive", Changes: []stm.Change{{ID: id, Set: core.Difference(before, after)}}}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(id)})
	refused(t, d.Engine, op.Save, &op.SaveRequest{Content: "The kettle leaks. Its lid is lost."})
	save(t, d.Engine, "the kettle leaks")
}
