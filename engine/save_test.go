package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

func TestSaveFillsInDefaults(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	clock.advance(1500 * time.Microsecond)
	m := save(t, e, "use JWT tokens for authentication", "Security", "#api v2.0")
	if m.Confidence != 1 || m.Importance != 0.5 || m.Strength != 1 || m.Collection != "knowledge" || m.Stage != memory.Active {
		t.Errorf("defaults are %+v", m.Memory)
	}
	if now := clock.Now(); !m.CreatedAt.Equal(now) || !m.LastUsed.Equal(now) || !m.UpdatedAt.IsZero() {
		t.Errorf("times are %v, %v, %v, want now, now and none", m.CreatedAt, m.LastUsed, m.UpdatedAt)
	}
	if want := []string{"security", "api_v2-0"}; !slices.Equal(m.Tags, want) {
		t.Errorf("tags are %q, want %q", m.Tags, want)
	}
	if m.Status != "active" || m.Score != 1 || m.AgeDays != 0 || m.Rev == "" {
		t.Errorf("derived fields are %q, %v, %v, %q", m.Status, m.Score, m.AgeDays, m.Rev)
	}
}

func TestAnImportedMemoryIsAsOldAsItSays(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	m := do(t, e, op.Save, &op.SaveRequest{Content: "an old story", CreatedAt: clock.daysAgo(30), LastUsed: clock.daysAgo(30), UseCount: 4}).Memory
	if !m.LastUsed.Equal(m.CreatedAt) || m.AgeDays != 30 || m.UseCount != 4 {
		t.Errorf("got last use %v, age %v, %d uses, want the creation, 30 and 4", m.LastUsed, m.AgeDays, m.UseCount)
	}
	if fresh := save(t, e, "a new story"); m.Score >= fresh.Score {
		t.Errorf("it scores %v, no less than the fresh one's %v", m.Score, fresh.Score)
	}
}

func TestMetaKeepsItsSpelling(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	meta := map[string]json.RawMessage{
		"big": json.RawMessage(`12345678901234567890`), "price": json.RawMessage(`1.10`),
		"html": json.RawMessage(`"<b>&</b>"`), "nothing": json.RawMessage(`null`), "surrogate": json.RawMessage(`"\ud800"`),
	}
	m := do(t, e, op.Save, &op.SaveRequest{Content: "verbatim", Meta: meta}).Memory
	for key, want := range meta {
		if got := look(t, e, m.ID).Meta[key]; string(got) != string(want) {
			t.Errorf("meta %s is %s, want %s", key, got, want)
		}
	}
}

func TestWhatIsSavedIsFoundByTheNextSearch(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for i := range 50 {
		word := fmt.Sprintf("marker%04d", i)
		m := save(t, e, "a note with "+word+" in it")
		if hits := searchFor(t, e, word); len(hits) != 1 || hits[0].ID != m.ID {
			t.Fatalf("search for %s found %q", word, hitContents(hits))
		}
	}
}

func TestManySaveAndSearchAtOnce(t *testing.T) {
	t.Parallel()
	const clients, each = 64, 10
	e, _ := newEngine(t)
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for i := range each {
				word := fmt.Sprintf("client%dword%d", c, i)
				res, err := op.Save.Call(t.Context(), e, &op.SaveRequest{Content: word + " common"})
				if err != nil {
					t.Error(err)
					return
				}
				found, err := op.Search.Call(t.Context(), e, &op.SearchRequest{Query: word})
				if err != nil || len(found.Hits) != 1 || found.Hits[0].ID != res.Memory.ID {
					t.Errorf("search for %s: %v, %v", word, found, err)
				}
			}
		})
	}
	all.Wait()
	if got := do(t, e, op.Search, &op.SearchRequest{Query: "common"}).Total; got != clients*each {
		t.Errorf("found %d, want %d", got, clients*each)
	}
}

func TestAKeyRepeatsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	req := &op.SaveRequest{Content: "once is enough", IdempotencyKey: "retry 1", Tags: []string{"a"}}
	first := do(t, e, op.Save, req)
	clock.advance(23 * time.Hour)
	again := do(t, e, op.Save, req)
	if first.Replayed || !again.Replayed || again.Memory.ID != first.Memory.ID || again.Tx != first.Tx {
		t.Errorf("the repetition got %+v, want the first's %+v", again, first)
	}

	other := *req
	other.Tags = []string{"b"}
	wantCode(t, refused(t, e, op.Save, &other), memory.Conflict, "this Idempotency-Key was used for another request in the last 24 hours; use a new key")

	clock.advance(2 * time.Hour)
	if third := do(t, e, op.Save, req); third.Replayed || third.Memory.ID == first.Memory.ID {
		t.Errorf("after 25 hours the key still stands for %s", first.Memory.ID)
	}
}

func TestAKeyOutlivesARestart(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	req := &op.SaveRequest{Content: "once is enough", IdempotencyKey: "retry 1"}
	first := do(t, e, op.Save, req)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if again := do(t, h.open(t), op.Save, req); !again.Replayed || again.Memory.ID != first.Memory.ID {
		t.Errorf("after the restart the key saved again: %+v", again)
	}
}

func TestAKeyInParallelSavesOnce(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	results := make(chan *op.SaveResult, 20)
	var all sync.WaitGroup
	for range cap(results) {
		all.Go(func() {
			res, err := op.Save.Call(t.Context(), e, &op.SaveRequest{Content: "all at once", IdempotencyKey: "same"})
			if err != nil {
				t.Error(err)
				return
			}
			results <- res
		})
	}
	all.Wait()
	close(results)
	fresh := 0
	ids := make(map[memory.ID]bool)
	for res := range results {
		ids[res.Memory.ID] = true
		if !res.Replayed {
			fresh++
		}
	}
	if len(ids) != 1 || fresh != 1 {
		t.Errorf("got %d memories and %d first answers, want 1 and 1", len(ids), fresh)
	}
}

func TestAClientID(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	const id = "0192F3A1-B2C3-7000-8000-0123456789AB"
	first := do(t, e, op.Save, &op.SaveRequest{ID: id, Content: "mine"})
	if want := memory.ID(strings.ToLower(id)); first.Memory.ID != want {
		t.Errorf("saved as %s, want %s", first.Memory.ID, want)
	}
	if again := do(t, e, op.Save, &op.SaveRequest{ID: id, Content: "mine"}); !again.Replayed {
		t.Error("the same id with the same content was saved again")
	}
	err := refused(t, e, op.Save, &op.SaveRequest{ID: id, Content: "other"})
	wantCode(t, err, memory.Conflict, "already exists with different text; change it with emberd edit, or save the text with a new ID")
	if err.Current != first.Memory.Rev {
		t.Errorf("current is %q, want %q", err.Current, first.Memory.Rev)
	}
	do(t, e, op.Forget, &op.ForgetRequest{ID: id})
	wantCode(t, refused(t, e, op.Save, &op.SaveRequest{ID: id, Content: "mine"}), memory.Forgotten, "was deleted; to restore the memory, run emberd rekindle")
	anew := do(t, e, op.Save, &op.SaveRequest{ID: id, Content: "mine", Again: true})
	if anew.Memory.Content != "mine" {
		t.Errorf("saved anew: %+v", anew.Memory)
	}
}

func TestAKeyOfAForgottenMemorySaysSo(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	req := &op.SaveRequest{Content: "gone again", IdempotencyKey: "k"}
	m := do(t, e, op.Save, req).Memory
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	wantCode(t, refused(t, e, op.Save, req), memory.Forgotten, "emberd rekindle "+m.ID.Short())
}

func TestABatchAnswersEachItemInItsPlace(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	const twice = "0192f3a1-b2c3-7000-8000-0123456789ab"
	res := do(t, e, op.SaveBatch, &op.SaveBatchRequest{Items: []op.SaveRequest{
		{Content: "first"},
		{Content: ""},
		{ID: twice, Content: "second"},
		{ID: twice, Content: "second"},
		{ID: twice, Content: "not second"},
		{Content: "keyed", IdempotencyKey: "k"},
		{Content: "deploy with password: hunter2hunter2 AKIAIOSFODNN7QZ4XWPL"},
		{Content: "last"},
	}})
	var got []string
	for _, r := range res.Results {
		switch {
		case r.Error != nil:
			got = append(got, string(r.Error.Code))
		case r.Replayed:
			got = append(got, "replayed")
		default:
			got = append(got, look(t, e, r.ID).Content)
		}
	}
	want := []string{"first", "invalid", "second", "replayed", "conflict", "invalid", "secret", "last"}
	if !slices.Equal(got, want) {
		t.Errorf("answers are %q, want %q", got, want)
	}
	undone := do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	if n := do(t, e, op.Stats, &op.StatsRequest{}).Total; n != 0 || len(undone.Items) != 3 {
		t.Errorf("one undo took back %d and left %d memories, want 3 and 0", len(undone.Items), n)
	}
}

func TestBatchesOfOneRunAreOneEntry(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	batch := func(tx string, n int) *op.SaveBatchResult {
		req := &op.SaveBatchRequest{Tx: tx}
		for i := range n {
			// Large enough that a batch takes several lines of the log.
			req.Items = append(req.Items, op.SaveRequest{Content: fmt.Sprint(i, strings.Repeat(" long", 9_000))})
		}
		return do(t, e, op.SaveBatch, req)
	}
	first := batch("", 30)
	second := batch(first.Tx, 25)
	if second.Tx != first.Tx {
		t.Errorf("the second batch has entry %s, want to join %s", second.Tx, first.Tx)
	}
	undone := do(t, e, op.Undo, &op.UndoRequest{})
	if undone.Entry.Tx != first.Tx || undone.Entry.Verb != "save" || undone.Entry.IDs != 55 || len(undone.Items) != 55 {
		t.Errorf("undo took back entry %+v with %d items, want all 55 of %s", undone.Entry, len(undone.Items), first.Tx)
	}
}

// On the command line a batch is an import, elsewhere it is many saves.
func TestABatchOfTheCommandLineIsAnImport(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for via, want := range map[string]string{core.ViaCLI: "import", "http": "save", core.ViaMCP: "save"} {
		ctx := op.WithCaller(t.Context(), memory.Actor{Via: via, UID: 1000})
		res, err := op.SaveBatch.Call(ctx, e, &op.SaveBatchRequest{Items: []op.SaveRequest{{Content: "by " + via}}})
		if err != nil {
			t.Fatal(err)
		}
		undone, err := op.Undo.Call(ctx, e, &op.UndoRequest{Tx: res.Tx})
		if err != nil || undone.Entry.Verb != want {
			t.Errorf("a batch by %s is %+v, %v; want %s", via, undone, err, want)
		}
	}
}

// The items of a batch are prepared side by side, and get IDs and times in their order all the same.
func TestABatchKeepsTheOrderOfItsItems(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	req := &op.SaveBatchRequest{}
	for i := range op.MaxBatch {
		req.Items = append(req.Items, op.SaveRequest{Content: fmt.Sprint("item ", i)})
	}
	res := do(t, e, op.SaveBatch, req)
	var before op.Memory
	for i, answer := range res.Results {
		if answer.Error != nil || answer.ID <= before.ID {
			t.Fatalf("item %d has ID %q behind %q, %v", i, answer.ID, before.ID, answer.Error)
		}
		m := look(t, e, answer.ID)
		if m.Content != req.Items[i].Content || m.CreatedAt.Before(before.CreatedAt) {
			t.Fatalf("item %d is %q of %v, behind %v", i, m.Content, m.CreatedAt, before.CreatedAt)
		}
		before.ID, before.CreatedAt = m.ID, m.CreatedAt
	}
	if req.Items[0].ID != "" {
		t.Error("the batch changed the request of its caller")
	}
}

func TestABatchCannotJoinWhatIsNotThere(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for _, tx := range []string{"yesterday", "0192f3a1b2c3-0004-k7q2mzxa"} {
		_, err := op.SaveBatch.Call(t.Context(), e, &op.SaveBatchRequest{Tx: tx, Items: []op.SaveRequest{{Content: "alone"}}})
		if memory.CodeOf(err) != memory.Invalid && memory.CodeOf(err) != memory.NotFound {
			t.Errorf("joining %s: %v, want an error", tx, err)
		}
	}
}
