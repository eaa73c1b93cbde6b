package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

func why(t testing.TB, e *engine.Engine, of string, req op.WhyNotRequest) *op.WhyNotResult {
	t.Helper()
	req.Of = of
	return do(t, e, op.WhyNot, &req)
}

// wantCause says that one thing alone keeps it out, and how it is mended.
func wantCause(t testing.TB, got *op.WhyNotResult, stage, reason, fix string) {
	t.Helper()
	if got.Shown || len(got.Causes) != 1 || got.Causes[0].Stage != stage || !strings.Contains(got.Causes[0].Reason, reason) || !strings.Contains(got.Causes[0].Fix, fix) {
		t.Errorf("%q: got %+v, want %s: … %s …, mended by … %s …", got.Query, got, stage, reason, fix)
	}
}

func TestWhyAMemoryIsNotShown(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	m := do(t, e, op.Save, &op.SaveRequest{Content: "The authentication service rotates its tokens", Tags: []string{"security"}, Project: "gate", Category: "fact",
		CreatedAt: clock.daysAgo(100), LastUsed: clock.daysAgo(100)}).Memory
	save(t, e, "an authentication draft")
	for _, c := range []struct {
		req                op.WhyNotRequest
		stage, reason, fix string
	}{
		{op.WhyNotRequest{Query: "tokens", Filter: op.Filter{Tags: []string{"go"}}}, op.WhyFilter, "the tags are security", "remove --tag go"},
		{op.WhyNotRequest{Query: "tokens", Filter: op.Filter{Project: "boat"}}, op.WhyFilter, "the memory has the value gate", "remove --project boat"},
		{op.WhyNotRequest{Query: "tokens", Filter: op.Filter{Category: "note", Project: "gate"}}, op.WhyFilter, "the memory has the value fact", "remove --category note"},
		{op.WhyNotRequest{Query: "tokens", Filter: op.Filter{Stages: []memory.Stage{"archived"}}}, op.WhyFilter, "the stage of the memory is active", "--stage archived"},
		{op.WhyNotRequest{Query: "tokens", Filter: op.Filter{WindowDays: 7}}, op.WhyFilter, "the last use of the memory was on 2025-11-21", "--within 7d"},
		{op.WhyNotRequest{Query: "tokens", Filter: op.Filter{MinScore: 0.5}}, op.WhyFilter, "the score of the memory is 0.02", "--min-score 0.5"},
		{op.WhyNotRequest{Query: "tokens", Scope: "archive"}, op.WhyScope, "a memory with the stage active", "remove --scope archive"},
		{op.WhyNotRequest{Query: "authentication -rotates"}, op.WhyOperator, "the text contains the phrase", `remove -"rotates" from the query`},
		{op.WhyNotRequest{Query: `"authentication draft"`}, op.WhyOperator, "the text does not contain the phrase", `remove "authentication draft" from the query`},
		{op.WhyNotRequest{Query: "tokens tag:go"}, op.WhyOperator, "the tags are security", "remove tag:go from the query"},
		{op.WhyNotRequest{Query: "tokens -#security"}, op.WhyOperator, "the tags are security", "remove -tag:security from the query"},
		{op.WhyNotRequest{Query: "tokens path:Notes/"}, op.WhyOperator, "only notes have this field", "remove path:Notes/ from the query"},
		{op.WhyNotRequest{Query: "tokens after:2026"}, op.WhyOperator, "saved on 2025-11-21", "remove after:2026-01-01 from the query"},
		{op.WhyNotRequest{Query: "authenticator2 draft of a plan"}, op.WhyWords, "none of the words", `"authentication", which the text contains`},
		{op.WhyNotRequest{Query: "draft"}, op.WhyWords, `"draft"`, `search for "service"`},
		{op.WhyNotRequest{Query: "!!!"}, op.WhyWords, "the query contains no searchable words", "a more specific word"},
	} {
		wantCause(t, why(t, e, m.ID.Short(), c.req), c.stage, c.reason, c.fix)
	}
	both := why(t, e, string(m.ID), op.WhyNotRequest{Query: "tokens before:2020", Filter: op.Filter{Project: "boat"}})
	if len(both.Causes) != 2 || both.Causes[0].Stage != op.WhyFilter || both.Causes[1].Stage != op.WhyOperator {
		t.Errorf("two conditions: %+v", both.Causes)
	}
	if got := why(t, e, string(m.ID), op.WhyNotRequest{Query: "tokens"}); !got.Shown || got.Place != 1 || len(got.Causes) != 0 {
		t.Errorf("what is shown: %+v", got)
	}
	if look(t, e, m.ID).AccessCount != 0 {
		t.Error("asking why counted as an access")
	}
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	wantCause(t, why(t, e, string(m.ID), op.WhyNotRequest{Query: "tokens"}), op.WhyTrash, "in the trash", "emberd rekindle "+m.ID.Short())
	do(t, e, op.Purge, &op.PurgeRequest{ID: string(m.ID)})
	wantCause(t, why(t, e, string(m.ID), op.WhyNotRequest{Query: "tokens"}), op.WhyPurged, "and its text is neither in the trash nor in the log", "")
	wantCause(t, why(t, e, "0123456789", op.WhyNotRequest{Query: "tokens"}), op.WhyAbsent, "memory 0123456789 not found", "")
	wantCause(t, why(t, e, "not an id", op.WhyNotRequest{Query: "x"}), op.WhyAbsent, `memory "not an id" not found`, "")
	wantCode(t, refused(t, e, op.WhyNot, &op.WhyNotRequest{Query: "x", Of: "a\nb"}), memory.Invalid, "invalid memory ID")
	wantCode(t, refused(t, e, op.WhyNot, &op.WhyNotRequest{Query: "before:soon", Of: "0123456789"}), memory.Invalid, "soon")
}

func TestWhyAMemoryRanksLow(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	for i := range 150 {
		save(t, e, fmt.Sprintf("the harbour light number %d", i))
	}
	old := do(t, e, op.Save, &op.SaveRequest{Content: "the harbour light on Mull", CreatedAt: clock.daysAgo(60), LastUsed: clock.daysAgo(60)}).Memory.ID
	move(t, e, old, memory.Demoted)
	got := why(t, e, string(old), op.WhyNotRequest{Query: "harbour light"})
	wantCause(t, got, op.WhyLimit, "this match is number 151, but the search returns only 10 results", `add "Mull"`)
	if got.Place != 151 || got.Total != 151 || len(got.Drags) != 1 || got.Drags[0].What != "age" || got.Drags[0].Factor >= 0.9 {
		t.Errorf("it is held down by %+v", got)
	}
	near := why(t, e, string(old), op.WhyNotRequest{Query: "harbour light", Filter: op.Filter{}, Limit: 100})
	if near.Causes[0].Fix != `add "Mull", which the text contains, to the query` {
		t.Errorf("with a limit of 100: %+v", near.Causes)
	}
	res := do(t, e, op.Search, &op.SearchRequest{Query: "harbour light mull"})
	if res.Hits[0].ID != old {
		t.Errorf("the search that was suggested begins with %q", res.Hits[0].Content)
	}
	other := save(t, e, "light").ID
	if fix := why(t, e, string(other), op.WhyNotRequest{Query: "harbour light", Limit: 5, Scope: "memories"}).Causes[0].Fix; !strings.Contains(fix, "harbour") && !strings.Contains(fix, "raise the limit") && fix != "" {
		t.Errorf("one that has nothing of its own: %q", fix)
	}
}

func TestWhyAHitMadeRoom(t *testing.T) {
	t.Parallel()
	e := harbour(t)
	plain := do(t, e, op.Search, &op.SearchRequest{Query: "harbour light", IncludeReview: new(false)}).Hits
	got := why(t, e, string(plain[9].ID), op.WhyNotRequest{Query: "harbour light"})
	wantCause(t, got, op.WhyReview, "this match is number 10", "--no-review")
	shown := why(t, e, string(searchFor(t, e, "harbour light")[2].ID), op.WhyNotRequest{Query: "harbour light"})
	if !shown.Shown || shown.Place != 3 || shown.As != "a memory that is about to fade" {
		t.Errorf("what took its place: %+v", shown)
	}
}

func TestWhyAnArchivedMemoryIsFoundOrNot(t *testing.T) {
	t.Parallel()
	d, id := sleeper(t)
	rev := d.memory(id).Rev
	asked := op.WhyNotRequest{Query: "from"}
	if strings.Contains(d.memory(id).Content, "night") {
		t.Fatal("the summary has the word")
	}
	asked.Query = "night"
	got := why(t, d.Engine, string(id), asked)
	if slices.Contains(d.memory(id).KeyTerms, "night") {
		t.Fatal("so have the key terms")
	}
	if !got.Shown || got.Place != 1 {
		t.Errorf("by a word of its text: %+v", got)
	}
	wantCause(t, why(t, d.Engine, string(id), op.WhyNotRequest{Query: "zebra"}), op.WhyWords, "none of the words", "search for")
	d.wantAsleep(id, rev)
}

func TestWhyANoteIsNotShown(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	h.VaultIgnore = []string{"Private/"}
	h.write(t, "Private/Secret.md", "tomatoes in private\n")
	h.write(t, "Memories/Archive/Old.md", "old tomatoes\n")
	h.write(t, "List.txt", "tomatoes\n")
	h.write(t, "Long.md", strings.Repeat("compost and more of it\n", 50_000)+"tomatoes\n")
	e := h.following(t)
	m := save(t, e, "Bought tomatoes at the market", "food")
	for _, c := range []struct {
		of                 string
		req                op.WhyNotRequest
		stage, reason, fix string
	}{
		{"Private/Secret.md", op.WhyNotRequest{Query: "tomatoes"}, op.WhyUnread, "ignore pattern", "vault.ignore"},
		{"Memories/Archive/Old.md", op.WhyNotRequest{Query: "tomatoes"}, op.WhyFolder, "archive folder Memories/Archive", "move the note out of Memories/Archive"},
		{"List.txt", op.WhyNotRequest{Query: "tomatoes"}, op.WhyUnread, "emberd does not read this note", "must end in .md"},
		{"Garden/Tomatos.md", op.WhyNotRequest{Query: "tomatoes"}, op.WhyAbsent, "memory or note \"Garden/Tomatos.md\" not found", "search for note Garden/Tomatoes.md"},
		{"nothing like that", op.WhyNotRequest{Query: "tomatoes"}, op.WhyAbsent, "memory or note \"nothing like that\" not found", ""},
		{"Garden/Soil.md", op.WhyNotRequest{Query: "tomatoes"}, op.WhyWords, `none of the words "tomatoes"`, "which the text contains"},
		{"Long.md", op.WhyNotRequest{Query: "tomatoes"}, op.WhyWords, `searches cover only the first 1 MiB of this note, which has 1.1 MiB, and that part contains none of the words "tomatoes"`, "split the note"},
		{"Soil", op.WhyNotRequest{Query: "compostella tomatoes"}, op.WhyWords, "", `"Compost"`},
		{"Garden/Tomatoes.md", op.WhyNotRequest{Query: "tomatoes path:Journal/"}, op.WhyOperator, "the path of the note is Garden/Tomatoes.md", "remove path:Journal/ from the query"},
		{"Garden/Tomatoes.md", op.WhyNotRequest{Query: "tomatoes [status:done]"}, op.WhyOperator, "another value", "remove [status:done] from the query"},
		{"Journal/2024.md", op.WhyNotRequest{Query: "tomatoes after:2025"}, op.WhyOperator, "the note was created on 2024-05-01", "remove after:2025-01-01 from the query"},
		{"Garden/Tomatoes.md", op.WhyNotRequest{Query: "tomatoes", Scope: "memories"}, op.WhyScope, "this is a note", "remove --memories"},
		{"Garden/Tomatoes.md", op.WhyNotRequest{Query: "tomatoes", Filter: op.Filter{Project: "x"}}, op.WhyFilter, "only memories have this field", "--project x"},
		{string(m.ID), op.WhyNotRequest{Query: "tomatoes", Scope: "notes"}, op.WhyScope, "this is a memory", "remove --notes"},
	} {
		wantCause(t, why(t, e, c.of, c.req), c.stage, c.reason, c.fix)
	}
	if got := why(t, e, "love apples", op.WhyNotRequest{Query: "tomatoes"}); !got.Shown || got.Note != "Garden/Tomatoes.md" {
		t.Errorf("by an alias: %+v", got)
	}
}

func TestAMemoryMayBeShownAsItsNote(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	id := d.kept("The pressure valve of the boiler was set to nine bar", "Boiler.md")
	d.archived(id)
	for _, of := range []string{string(id), "Boiler.md"} {
		if got := why(t, d.Engine, of, op.WhyNotRequest{Query: "pressure valve nine bar"}); !got.Shown || got.Place != 1 {
			t.Errorf("%s: %+v", of, got)
		}
	}
}
