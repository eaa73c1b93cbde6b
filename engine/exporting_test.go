package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// exported pages through an export.
func exported(t testing.TB, e *engine.Engine) []op.Record {
	t.Helper()
	var all []op.Record
	req := &op.ExportRequest{}
	for {
		page := do(t, e, op.Export, req)
		all = append(all, page.Records...)
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			return all
		}
	}
}

// stateOf is what an export says about memories and not about their use or age.
func stateOf(t testing.TB, e *engine.Engine) string {
	t.Helper()
	var b strings.Builder
	for _, r := range exported(t, e) {
		fmt.Fprintf(&b, "%s forgotten %t", r.ID, !r.Forgotten.IsZero())
		for _, key := range slices.Sorted(maps.Keys(r.Fields)) {
			if !op.IsCounter(key) {
				fmt.Fprintf(&b, " %s=%s", key, op.Canonical(r.Fields[key]))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func fates(t testing.TB, e *engine.Engine, req *op.ImportRequest) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, a := range do(t, e, op.Import, req).Results {
		counts[a.Fate]++
		if a.Error != nil {
			t.Logf("failed: %s", a.Error.Detail)
		}
	}
	return counts
}

// strange puts a field into a memory that this version does not know.
func strange(t testing.TB, e *engine.Engine, id memory.ID, value string) {
	t.Helper()
	_, err := e.Stm.Update(context.Background(), []memory.ID{id}, "", func([]*stm.Row) (*stm.Tx, error) {
		return &stm.Tx{Verb: "edit", Changes: []stm.Change{{ID: id, Set: map[string]json.RawMessage{"from_the_future": json.RawMessage(value)}}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestExportHoldsEverything(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	used := save(t, e, "used <b>bold</b> & \u2028 odd", "x/y")
	strange(t, e, used.ID, `{"n":12345678901234567890,"a":[1.0,1e2]}`)
	for range 3 {
		do(t, e, op.Touch, &op.TouchRequest{ID: string(used.ID)})
	}
	searchFor(t, e, "bold")
	gone := save(t, e, "forgotten")
	do(t, e, op.Touch, &op.TouchRequest{ID: string(gone.ID)})
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(gone.ID)})
	before := exported(t, e)
	if len(before) != 2 || before[1].Forgotten.IsZero() || before[0].Use.Uses != 3 || before[0].Use.Accesses != 1 || before[1].Use.Uses != 1 {
		t.Fatalf("exported %+v", before)
	}

	clock.advance(time.Hour)
	other, _ := newEngine(t)
	req := &op.ImportRequest{Records: before}
	if got := fates(t, other, req); got[op.ImportAdded] != 2 {
		t.Errorf("the first import: %v", got)
	}
	for range 2 {
		if got := fates(t, other, req); got[op.ImportPresent] != 2 {
			t.Errorf("a further import: %v", got)
		}
	}
	after := exported(t, other)
	for i := range before {
		if *after[i].Use != *before[i].Use {
			t.Errorf("use of %s is %+v, was %+v", after[i].ID, after[i].Use, before[i].Use)
		}
	}
	if a, b := stateOf(t, e), stateOf(t, other); a != b {
		t.Errorf("the state is\n%s, was\n%s", b, a)
	}
	if got := string(after[0].Fields["from_the_future"]); got != `{"n":12345678901234567890,"a":[1.0,1e2]}` {
		t.Errorf("the unknown field is %s", got)
	}
	if got := do(t, other, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(gone.ID)}}); got.Restored[0].Content != "forgotten" || got.Restored[0].UseCount != 1 {
		t.Errorf("from the trash came %+v", got.Restored[0])
	}
}

func TestImportLeavesWhatIsThere(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	edited, forgotten, dead := save(t, e, "edited"), save(t, e, "forgotten here"), save(t, e, "forgotten there")
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(dead.ID)})
	records := exported(t, e)
	do(t, e, op.Undo, &op.UndoRequest{})
	do(t, e, op.Edit, &op.EditRequest{ID: string(edited.ID), Content: new("edited here")})
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(forgotten.ID)})
	before := stateOf(t, e)
	if got := fates(t, e, &op.ImportRequest{Records: records}); got[op.ImportChanged] != 2 || got[op.ImportForgotten] != 1 {
		t.Errorf("fates are %v", got)
	}
	if stateOf(t, e) != before {
		t.Error("the import changed something")
	}
	if got := fates(t, e, &op.ImportRequest{Records: records, Again: true}); got[op.ImportAdded] != 1 {
		t.Errorf("again: %v", got)
	}
	look(t, e, forgotten.ID)
}

// One undo takes the whole run back, and what came in forgotten stays gone.
func TestImportIsOneEntry(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "one")
	b := save(t, e, "two")
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(b.ID)})
	records := exported(t, e)
	other, _ := newEngine(t)
	first := do(t, other, op.Import, &op.ImportRequest{Records: records[:1]})
	second := do(t, other, op.Import, &op.ImportRequest{Records: records[1:], Tx: first.Tx})
	if first.Tx == "" || second.Tx != first.Tx {
		t.Errorf("entries %q and %q, want one", first.Tx, second.Tx)
	}
	undone := do(t, other, op.Undo, &op.UndoRequest{Tx: first.Tx})
	if len(undone.Items) != 2 || do(t, other, op.Stats, &op.StatsRequest{}).Total != 0 {
		t.Errorf("undone %+v", undone.Items)
	}
}

func TestImportRefusesWhatIsNoMemory(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	id := memory.DeriveID([]byte("x"))
	raw := func(pairs ...string) map[string]json.RawMessage {
		out := map[string]json.RawMessage{"content": json.RawMessage(`"fine"`), "created_at": json.RawMessage(`"2026-01-01T00:00:00Z"`)}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = json.RawMessage(pairs[i+1])
		}
		return out
	}
	for want, r := range map[string]op.Record{
		`invalid memory ID "nope"`:                          {ID: "nope", Fields: raw()},
		`the field "id" must be next to the field "memory"`: {ID: id, Fields: raw("id", `"x"`)},
		"cannot read the memory":                            {ID: id, Fields: raw("tags", `"x"`)},
		"missing field created_at of the memory":            {ID: id, Fields: map[string]json.RawMessage{"content": json.RawMessage(`"x"`)}},
		"content":                                           {ID: id, Fields: raw("content", `""`)},
		"importance":                                        {ID: id, Fields: raw("importance", `7`)},
		"stage":                                             {ID: id, Fields: raw("stage", `"gone"`)},
		"is not valid JSON":                                 {ID: id, Fields: raw("odd", `{`)},
		"the batch has no records; pass at":                 {},
	} {
		req := &op.ImportRequest{Records: []op.Record{r}}
		if strings.HasPrefix(want, "the batch") {
			wantCode(t, refused(t, e, op.Import, &op.ImportRequest{}), memory.Invalid, want)
			continue
		}
		got := do(t, e, op.Import, req).Results[0]
		if got.Fate != op.ImportFailed || got.Error == nil || !strings.Contains(got.Error.Detail, want) {
			t.Errorf("want %q, got %+v", want, got.Error)
		}
	}
	wantCode(t, refused(t, e, op.Export, &op.ExportRequest{Cursor: "x"}), memory.Invalid, "cursor")
}

// Whatever happened in a store, importing its export into an empty one gives the
// same state, and doing it twice changes nothing.
func TestExportAndImportAreInverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		one, _ := newEngine(t)
		var ids []memory.ID
		r.Repeat(map[string]func(*rapid.T){
			"save": func(r *rapid.T) {
				text := rapid.StringMatching(`[a-z<&"\\\x{2028}é\n]{1,20}x`).Draw(r, "text")
				req := &op.SaveRequest{Content: text, Again: true, Meta: map[string]json.RawMessage{"k": json.RawMessage(rapid.SampledFrom([]string{`1.50`, `"<"`, `{"b":1,"a":[null]}`}).Draw(r, "meta"))}}
				ids = append(ids, do(t, one, op.Save, req).Memory.ID)
			},
			"use": func(r *rapid.T) {
				if m := pick(r, one, ids); m != "" {
					do(t, one, op.Show, &op.ShowRequest{ID: string(m)})
				}
			},
			"edit": func(r *rapid.T) {
				if m := pick(r, one, ids); m != "" {
					do(t, one, op.Edit, &op.EditRequest{ID: string(m), Source: new(rapid.String().Draw(r, "source"))})
				}
			},
			"unknown field": func(r *rapid.T) {
				if m := pick(r, one, ids); m != "" {
					strange(t, one, m, rapid.SampledFrom([]string{`1`, `[1e400]`, `"\u00e9"`}).Draw(r, "value"))
				}
			},
			"forget": func(r *rapid.T) {
				if m := pick(r, one, ids); m != "" {
					do(t, one, op.Forget, &op.ForgetRequest{ID: string(m)})
				}
			},
		})
		two, _ := newEngine(t)
		for range 2 {
			if records := exported(t, one); len(records) > 0 {
				do(t, two, op.Import, &op.ImportRequest{Records: records})
			}
			if a, b := stateOf(t, one), stateOf(t, two); a != b {
				r.Fatalf("the state was\n%s and is\n%s", a, b)
			}
			records := exported(t, one)
			for i, rec := range exported(t, two) {
				if was := records[i]; was.Use != nil && *was.Use != *rec.Use {
					r.Fatalf("use of %s was %+v and is %+v", rec.ID, was.Use, rec.Use)
				}
			}
		}
	})
}

// pick draws a live memory, "" when there is none.
func pick(r *rapid.T, e *engine.Engine, ids []memory.ID) memory.ID {
	live := slices.DeleteFunc(slices.Clone(ids), func(id memory.ID) bool { _, ok := e.Stm.Get(id); return !ok })
	if len(live) == 0 {
		return ""
	}
	return rapid.SampledFrom(live).Draw(r, "id")
}
