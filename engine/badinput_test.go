package engine_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/engine/memories"
	"emberd/memory"
	"emberd/op"
)

func numbered(prefix string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(prefix, i))
	}
	return out
}

func TestBadInputSave(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	const good = "the kettle is in the galley"
	for _, c := range []struct {
		name  string
		req   op.SaveRequest
		code  memory.Code
		field string
		says  string
	}{
		{"empty", op.SaveRequest{}, memory.Invalid, "content", "missing content; pass the text to save"},
		{"blank", op.SaveRequest{Content: " \n"}, memory.Invalid, "content", "missing content; pass the text to save"},
		{"too long", op.SaveRequest{Content: strings.Repeat("x", 50_001)}, memory.TooLarge, "content", "too many characters in content: 50001 (limit"},
		{"too many bytes", op.SaveRequest{Content: strings.Repeat("世", 70_000)}, memory.TooLarge, "content", "200 KiB); save the text in parts"},
		{"not UTF-8", op.SaveRequest{Content: "tea\xff"}, memory.Invalid, "content", "content is not valid UTF-8 at byte 3"},
		{"51 tags", op.SaveRequest{Content: good, Tags: numbered("t", 51)}, memory.TooLarge, "tags", "too many tags: 51 (limit 50)"},
		{"a tag of signs", op.SaveRequest{Content: good, Tags: []string{"!?"}}, memory.Invalid, "tags", "use at least one letter or digit"},
		{"101 entities", op.SaveRequest{Content: good, Entities: numbered("e", 101)}, memory.TooLarge, "entities", "limit 100"},
		{"long source", op.SaveRequest{Content: good, Source: strings.Repeat("s", 501)}, memory.TooLarge, "source", "too many characters in source: 501 (limit"},
		{"long context", op.SaveRequest{Content: good, Context: strings.Repeat("s", 1001)}, memory.TooLarge, "context", "too many characters in context: 1001 (limit"},
		{"long project", op.SaveRequest{Content: good, Project: strings.Repeat("p", 201)}, memory.TooLarge, "project", "too many characters in project: 201 (limit"},
		{"session not UTF-8", op.SaveRequest{Content: good, SessionID: "\xff"}, memory.Invalid, "session_id", "the text is not UTF-8"},
		{"collection all", op.SaveRequest{Content: good, Collection: "all"}, memory.Invalid, "collection", "is reserved for all collections; choose another name"},
		{"big meta", op.SaveRequest{Content: good, Meta: map[string]json.RawMessage{"a": json.RawMessage(`"` + strings.Repeat("m", 64<<10) + `"`)}}, memory.TooLarge, "meta", "limit 65536, 64 KiB"},
		{"meta not JSON", op.SaveRequest{Content: good, Meta: map[string]json.RawMessage{"a": json.RawMessage(`{`)}}, memory.Invalid, "meta", "not JSON"},
		{"meta not UTF-8", op.SaveRequest{Content: good, Meta: map[string]json.RawMessage{"a": json.RawMessage("\"\xff\"")}}, memory.Invalid, "meta", "the text is not UTF-8"},
		{"confidence", op.SaveRequest{Content: good, Confidence: new(1.1)}, memory.Invalid, "confidence", "confidence 1.1 is out of range (0 to 1)"},
		{"importance", op.SaveRequest{Content: good, Importance: new(-0.1)}, memory.Invalid, "importance", "is out of range (0 to 1)"},
		{"strength", op.SaveRequest{Content: good, Strength: new(math.NaN())}, memory.Invalid, "strength", "strength NaN is out of range (0 to 2)"},
		{"use count", op.SaveRequest{Content: good, UseCount: -1}, memory.Invalid, "use_count", "use_count -1 is out of range (0 to"},
		{"from the future", op.SaveRequest{Content: good, CreatedAt: clock.daysAgo(-1.1)}, memory.Invalid, "created_at", "is in the future; the clock of the daemon shows"},
		{"used in the future", op.SaveRequest{Content: good, LastUsed: clock.daysAgo(-1.1)}, memory.Invalid, "last_used", "is in the future; the clock of the daemon shows"},
		{"before computers", op.SaveRequest{Content: good, CreatedAt: time.Date(1066, 10, 14, 9, 0, 0, 0, time.UTC)}, memory.Invalid, "created_at", "is before 1970"},
		{"used before created", op.SaveRequest{Content: good, CreatedAt: clock.daysAgo(1), LastUsed: clock.daysAgo(2)}, memory.Invalid, "last_used", "is before created_at"},
		{"id", op.SaveRequest{Content: good, ID: "seven"}, memory.Invalid, "id", `invalid memory ID "seven"; copy a UUID from emberd list or emberd search`},
		{"long key", op.SaveRequest{Content: good, IdempotencyKey: strings.Repeat("k", 201)}, memory.TooLarge, "Idempotency-Key", "too many characters in Idempotency-Key: 201"},
		{"key with a newline", op.SaveRequest{Content: good, IdempotencyKey: "a\nb"}, memory.Invalid, "Idempotency-Key", "not printable"},
		{"key not UTF-8", op.SaveRequest{Content: good, IdempotencyKey: "a\xff"}, memory.Invalid, "Idempotency-Key", "not printable"},
	} {
		err := refused(t, e, op.Save, &c.req)
		if err.Code != c.code || err.Field != c.field || !strings.Contains(err.Message, c.says) {
			t.Errorf("%s: got %s at %q: %q, want %s at %q saying %q", c.name, err.Code, err.Field, err, c.code, c.field, c.says)
		}
	}
	if n := do(t, e, op.Stats, &op.StatsRequest{}).Total; n != 0 {
		t.Errorf("%d memories were saved by bad requests", n)
	}
}

func TestBadInputReading(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "the kettle is in the galley")
	searching := func(r op.SearchRequest) *memory.Error { return refused(t, e, op.Search, &r) }
	listing := func(r op.ListRequest) *memory.Error { return refused(t, e, op.List, &r) }
	for _, c := range []struct {
		err   *memory.Error
		code  memory.Code
		field string
		says  string
	}{
		{searching(op.SearchRequest{Limit: 101}), memory.Invalid, "limit", "is out of range"},
		{searching(op.SearchRequest{Limit: -1}), memory.Invalid, "limit", "is out of range (1 to 100)"},
		{searching(op.SearchRequest{Query: strings.Repeat("q", 4097)}), memory.TooLarge, "q", "use fewer words"},
		{searching(op.SearchRequest{Query: "\xff"}), memory.Invalid, "q", "invalid query: the text is not UTF-8"},
		{searching(op.SearchRequest{Filter: op.Filter{WindowDays: 3651}}), memory.Invalid, "window_days", "window_days 3651 is out of range (0 to 3650)"},
		{searching(op.SearchRequest{Filter: op.Filter{MinScore: -1}}), memory.Invalid, "min_score", "invalid min_score"},
		{searching(op.SearchRequest{Filter: op.Filter{MinScore: math.Inf(1)}}), memory.Invalid, "min_score", "invalid min_score"},
		{searching(op.SearchRequest{Filter: op.Filter{Stages: []memory.Stage{"asleep"}}}), memory.Invalid, "stage", "use active, demoted, archived or rehydratable"},
		{searching(op.SearchRequest{Filter: op.Filter{Tags: []string{"?"}}}), memory.Invalid, "tags", "use at least one letter or digit"},
		{searching(op.SearchRequest{Filter: op.Filter{Project: strings.Repeat("p", 201)}}), memory.TooLarge, "project", "too many characters in project: 201 (limit"},
		{searching(op.SearchRequest{Filter: op.Filter{Collection: "attic"}}), memory.NotFound, "collection", `to select all collections, use all`},
		{listing(op.ListRequest{Filter: op.Filter{Collection: "attic"}}), memory.NotFound, "collection", `to select all collections, use all`},
		{listing(op.ListRequest{Limit: 101}), memory.Invalid, "limit", "is out of range (1 to 100)"},
		{listing(op.ListRequest{Sort: "colour"}), memory.Invalid, "sort", `use created, used, score, uses or accesses`},
		{listing(op.ListRequest{Cursor: "?"}), memory.Invalid, "cursor", "use next_cursor of the previous page"},
		{listing(op.ListRequest{Cursor: "YWJj"}), memory.Invalid, "cursor", "invalid cursor; use next_cursor of the previous page, or omit it for the first page"},
		{listing(op.ListRequest{Cursor: core.Position{Order: memories.ByUsed, ID: "0192f3a1-b2c3-7000-8000-000000000000"}.String()}), memory.Invalid, "cursor", "invalid cursor; use the sort order of the previous page, or omit the cursor"},
		{refused(t, e, op.TrashList, &op.TrashListRequest{Limit: 500}), memory.Invalid, "limit", "is out of range (1 to 100)"},
		{refused(t, e, op.Stats, &op.StatsRequest{Collection: "attic"}), memory.NotFound, "collection", `to select all collections, use all`},
		{refused(t, e, op.Show, &op.ShowRequest{ID: "0192f3a1-b2c3-7000-8000-000000000000"}), memory.NotFound, "id", "0192f3a1-b2c3-7000-8000-000000000000"},
	} {
		if c.err.Code != c.code || c.err.Field != c.field || !strings.Contains(c.err.Message, c.says) {
			t.Errorf("got %s at %q: %q, want %s at %q saying %q", c.err.Code, c.err.Field, c.err, c.code, c.field, c.says)
		}
	}
}

func TestBadInputChanging(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "the kettle is in the galley")
	editing := func(r op.EditRequest) *memory.Error {
		r.ID = string(m.ID)
		return refused(t, e, op.Edit, &r)
	}
	for _, c := range []struct {
		err  *memory.Error
		code memory.Code
		says string
	}{
		{editing(op.EditRequest{Content: new("")}), memory.Invalid, "missing content; pass the text to save"},
		{editing(op.EditRequest{Strength: new(3.0)}), memory.Invalid, "strength 3 is out of range (0 to 2)"},
		{editing(op.EditRequest{AddTags: numbered("t", 51)}), memory.TooLarge, "limit 50"},
		{editing(op.EditRequest{Tags: &[]string{"!"}}), memory.Invalid, "use at least one letter or digit"},
		{editing(op.EditRequest{Entities: new(numbered("e", 101))}), memory.TooLarge, "limit 100"},
		{editing(op.EditRequest{Collection: new("all")}), memory.Invalid, "is reserved for all collections; choose another name"},
		{editing(op.EditRequest{Meta: map[string]json.RawMessage{"a": json.RawMessage(`[`)}}), memory.Invalid, "not JSON"},
		{editing(op.EditRequest{IfMatch: "another"}), memory.Conflict, "has changed; read it again and repeat the edit with revision"},
		{refused(t, e, op.Edit, &op.EditRequest{ID: "0192f3a1-b2c3-7000-8000-000000000000"}), memory.NotFound, "0192f3a1"},
		{refused(t, e, op.Forget, &op.ForgetRequest{}), memory.Invalid, "missing memory ID; run: emberd list, or emberd search"},
		{refused(t, e, op.Forget, &op.ForgetRequest{ID: strings.Join(slices.Repeat([]string{string(m.ID)}, 101), ",")}), memory.TooLarge, "split the request"},
		{refused(t, e, op.TrashRestore, &op.TrashRestoreRequest{}), memory.Invalid, "missing memory ID; run: emberd list, or emberd search"},
		{refused(t, e, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(m.ID)}}), memory.Invalid, ", because it is not deleted"},
		{refused(t, e, op.Undo, &op.UndoRequest{Tx: "yesterday"}), memory.Invalid, "copy the ID"},
		{refused(t, e, op.SaveBatch, &op.SaveBatchRequest{}), memory.Invalid, "no items"},
		{refused(t, e, op.SaveBatch, &op.SaveBatchRequest{Items: make([]op.SaveRequest, 501)}), memory.TooLarge, "too many items in the batch: 501"},
	} {
		if c.err.Code != c.code || !strings.Contains(c.err.Message, c.says) {
			t.Errorf("got %s %q, want %s saying %q", c.err.Code, c.err, c.code, c.says)
		}
	}
	if after := look(t, e, m.ID); after.Rev != m.Rev {
		t.Errorf("a refused change moved the revision from %s to %s", m.Rev, after.Rev)
	}
}
