package engine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/engine/review"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// storedItems are the items of all memories, live and in the trash, as they are stored.
func storedItems(t testing.TB, e *engine.Engine) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for _, r := range exported(t, e) {
		for key, value := range r.Fields {
			if stm.IsReviewKey(key) {
				out[key] = string(op.Canonical(value))
			}
		}
	}
	return out
}

func TestReviewItemsAreExportedAndImported(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b, c := save(t, e, "anchor"), save(t, e, "boat"), save(t, e, "crane")
	item := fileOne(t, e, op.ReviewCluster, "merge", true, a, b)
	closed := fileOne(t, e, op.ReviewDecay, review.NeedsReview, true, a)
	decide(t, e, closed, op.DecideKeep)
	fileOne(t, e, op.ReviewDecay, review.NeedsReview, true, c)
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(c.ID)})
	records := exported(t, e)

	other, _ := newEngine(t)
	for _, want := range []string{op.ImportAdded, op.ImportPresent} {
		if got := fates(t, other, &op.ImportRequest{Records: records}); got[want] != 3 {
			t.Errorf("the fates are %v, want three %s", got, want)
		}
	}
	if x, y := stateOf(t, e), stateOf(t, other); x != y {
		t.Errorf("the state is\n%s, was\n%s", y, x)
	}
	wantOpen(t, other, item)
	do(t, other, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(c.ID)}})
	if got := openItems(other); len(got) != 2 {
		t.Errorf("after the restore there are open %q", got)
	}
	fileOne(t, e, op.ReviewPromote, "promote", true, b) // which is no other memory
	if got := fates(t, other, &op.ImportRequest{Records: exported(t, e)}); got[op.ImportPresent] != 2 {
		t.Errorf("what was asked since makes the fates %v", got)
	}
}

func TestImportRefusesWhatIsNoReviewItem(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	ids := []memory.ID{memory.DeriveID([]byte("from")), memory.DeriveID([]byte("to"))}
	slices.Sort(ids)
	key := func(agent string) string { return stm.ReviewKey(memory.ReviewItemID(agent, ids)) }
	good := fmt.Sprintf(`{"agent":"decay","action":"gc","urgency":"low","memory_ids":[%q,%q],"status":"open","created_at":"2026-01-01T00:00:00Z"}`, ids[0], ids[1])
	changed := func(old, now string) string { return strings.Replace(good, old, now, 1) }
	for _, c := range []struct{ name, key, value, want string }{
		{"good", key("decay"), good, ""},
		{"short key", "review.abc", good, "invalid review item"},
		{"upper case", strings.ToUpper(key("decay")), good, ""}, // a field that is not known
		{"key of another", key("merge"), good, "the review item is about other memories, or another agent created it"},
		{"agent", key("me"), changed("decay", "me"), "invalid agent"},
		{"order", key("decay"), changed(fmt.Sprintf("%q,%q", ids[0], ids[1]), fmt.Sprintf("%q,%q", ids[1], ids[0])), "about other memories"},
		{"state", key("decay"), changed("open", "lost"), "the status of the review item is not open, claimed or closed"},
		{"urgency", key("decay"), changed("low", "now"), "use high, medium or low"},
		{"text", key("decay"), `"x"`, "invalid review item"},
		{"null", key("decay"), `null`, "has no memories"},
		{"evidence", key("decay"), changed(`"low"`, `"low","evidence":"`+strings.Repeat("m", 2100)+`"`), "too many characters in evidence: 2100"},
	} {
		in := op.Record{ID: ids[0], Fields: map[string]json.RawMessage{"content": json.RawMessage(`"fine"`), "created_at": json.RawMessage(`"2026-01-01T00:00:00Z"`),
			c.key: json.RawMessage(c.value)}}
		got := do(t, e, op.Import, &op.ImportRequest{Records: []op.Record{in}}).Results[0]
		if failed := got.Fate == op.ImportFailed; failed != (c.want != "") || failed && !strings.Contains(got.Error.Detail, c.want) {
			t.Errorf("%s: %s %+v, want %q", c.name, got.Fate, got.Error, c.want)
		}
	}
}

// Of two devices that claim the same item the later one has it, on both.
func TestTwoDevicesClaimTheSameItem(t *testing.T) {
	t.Parallel()
	desk, lap := newHouse(t), newHouse(t)
	here, there := desk.open(t), lap.open(t)
	a, b := save(t, here, "anchor"), save(t, here, "boat")
	both := []*engine.Engine{here, there}
	exchange := func() {
		t.Helper()
		carry(t, desk, lap, status(t, here).Device)
		carry(t, lap, desk, status(t, there).Device)
		for _, e := range both {
			if _, err := e.Stm.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if x, y := stateOf(t, here), stateOf(t, there); x != y {
			t.Errorf("they differ:\n%s%s", x, y)
		}
	}
	exchange()
	one := fileOne(t, here, op.ReviewCluster, "merge", true, a, b)
	lap.advance(time.Second)
	if two := fileOne(t, there, op.ReviewCluster, "merge", true, b, a); two.ID != one.ID {
		t.Errorf("the item is %s here and %s there", one.ID, two.ID)
	}
	exchange()
	for _, e := range both {
		wantOpen(t, e, one)
	}
	do(t, here, op.ReviewClaim, &op.ReviewClaimRequest{ID: one.ID, By: "ann"})
	lap.advance(time.Second)
	do(t, there, op.ReviewClaim, &op.ReviewClaimRequest{ID: one.ID, By: "bob"}) // later
	exchange()
	for _, e := range both {
		err := refused(t, e, op.ReviewClaim, &op.ReviewClaimRequest{ID: one.ID, By: "ann"})
		wantCode(t, err, memory.Conflict, "choose another item, or close this item")
	}
	desk.advance(time.Minute)
	do(t, here, op.ReviewClose, &op.ReviewCloseRequest{ID: one.ID, Decision: op.DecideForgetOne + string(b.ID)})
	exchange()
	wantOpen(t, there)
	if _, live := there.Stm.Get(b.ID); live {
		t.Error("what was decided on one device is not on the other")
	}
}

// Closed items are kept for some time, and open ones are as many as somebody may read.
func TestTheItemsOfAMemoryAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	first := save(t, e, "anchor")
	var items []memory.ReviewItem
	for i := range core.MaxItemsOpen + 6 {
		other := save(t, e, fmt.Sprint("boat ", i))
		items = append(items, memory.ReviewItem{Agent: op.ReviewUser, Action: "merge", MemoryIDs: []memory.ID{first.ID, other.ID}})
	}
	_, filed, err := e.Review.FileItems(t.Context(), memory.Actor{}, "", items)
	if err != nil || len(filed) != core.MaxItemsOpen {
		t.Fatalf("filed %d items, %v", len(filed), err)
	}
	last := items[len(items)-1]
	err = refused(t, e, op.ReviewCreate, &op.ReviewCreateRequest{Action: "merge", MemoryIDs: []string{string(last.MemoryIDs[0]), string(last.MemoryIDs[1])}})
	wantCode(t, err, memory.Conflict, "close some of these items")
	for _, item := range filed {
		h.advance(time.Second)
		do(t, e, op.ReviewClose, &op.ReviewCloseRequest{ID: item.ID})
	}
	ok(t, e.Close())
	e = h.open(t)
	row, _ := e.Stm.Get(first.ID)
	left := row.ReviewItems()
	for _, item := range left {
		if !slices.ContainsFunc(filed[len(filed)-core.MaxItemsClosed:], func(f memory.ReviewItem) bool { return f.ID == item.ID }) {
			t.Errorf("item %s is kept, which is one of the oldest", item.ID)
		}
	}
	if len(left) != core.MaxItemsClosed {
		t.Errorf("%d closed items are kept", len(left))
	}
}

// queueWorld is some memories, and what somebody does with what is asked about them.
type queueWorld struct {
	*rapid.T
	e     *engine.Engine
	clock *clock
	ids   []memory.ID
}

// Whatever is filed, claimed, closed, forgotten, brought back and undone: no set of memories
// is open twice for one agent or for one action, no item is lost, and undo puts every item
// back as it was.
func TestNoReviewItemIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		e, clock := newEngine(t)
		w := &queueWorld{T: rt, e: e, clock: clock}
		for i := range 4 {
			w.ids = append(w.ids, save(t, e, fmt.Sprint("memory ", i)).ID)
		}
		for range 12 {
			w.step(t)
		}
		ok(t, e.Close())
	})
}

func (w *queueWorld) step(t testing.TB) {
	before := storedItems(t, w.e)
	tx, what := w.act(t)
	w.clock.advance(time.Minute)
	after := storedItems(t, w.e)
	for key := range before {
		if after[key] == "" {
			w.Fatalf("%s lost %s", what, before[key])
		}
	}
	w.wantApart()
	if tx == "" {
		if !maps.Equal(before, after) {
			w.Fatalf("%s made of %v the items %v, without an entry", what, before, after)
		}
		return
	}
	if rapid.IntRange(0, 2).Draw(w.T, "undo") == 0 {
		do(t, w.e, op.Undo, &op.UndoRequest{Tx: tx})
		if is := storedItems(t, w.e); !maps.Equal(is, before) {
			w.Fatalf("after undo of %s the items are %v, were %v", what, is, before)
		}
		w.wantApart()
	}
}

// act does something, and returns its journal entry, "" if it came to nothing.
func (w *queueWorld) act(t testing.TB) (tx, what string) {
	what = rapid.SampledFrom([]string{"file", "file", "claim", "close", "keep", "forget one", "decide to forget", "forget", "restore", "edit"}).Draw(w.T, "what")
	id := rapid.SampledFrom(w.ids).Draw(w.T, "whose")
	var items []memory.ReviewItem
	for item := range w.e.Review.ReviewItems() {
		items = append(items, item)
	}
	slices.SortFunc(items, review.ByUrgency)
	if slices.Contains([]string{"claim", "close", "keep", "forget one", "decide to forget"}, what) {
		if len(items) == 0 {
			return "", what
		}
		item := rapid.SampledFrom(items).Draw(w.T, "item")
		return w.actOn(t, what, item), what + " " + item.Agent
	}
	switch what {
	case "file":
		item := memory.ReviewItem{Agent: rapid.SampledFrom([]string{op.ReviewDecay, op.ReviewMerge}).Draw(w.T, "agent"),
			Action:    rapid.SampledFrom([]string{"a", "b"}).Draw(w.T, "action"),
			MemoryIDs: rapid.SliceOfNDistinct(rapid.SampledFrom(w.ids), 1, 3, rapid.ID[memory.ID]).Draw(w.T, "about")}
		tx, _, err := w.e.Review.FileItems(t.Context(), memory.Actor{}, "", []memory.ReviewItem{item})
		ok(t, err)
		return tx, what
	case "forget":
		res, err := op.Forget.Call(t.Context(), w.e, &op.ForgetRequest{ID: string(id)})
		if err == nil {
			tx = res.Tx
		}
	case "restore":
		res, err := op.TrashRestore.Call(t.Context(), w.e, &op.TrashRestoreRequest{IDs: []string{string(id)}})
		if err == nil {
			tx = res.Tx
		}
	case "edit":
		res, err := op.Edit.Call(t.Context(), w.e, &op.EditRequest{ID: string(id), Content: new(rapid.StringN(1, 5, 10).Draw(w.T, "content") + "x")})
		if err == nil {
			tx = res.Tx
		}
	}
	return tx, what
}

// actOn does something with an item. Half of what is drawn is refused.
func (w *queueWorld) actOn(t testing.TB, what string, item memory.ReviewItem) string {
	if what == "claim" {
		res, err := op.ReviewClaim.Call(t.Context(), w.e, &op.ReviewClaimRequest{ID: item.ID, By: rapid.SampledFrom([]string{"ann", "bob"}).Draw(w.T, "by")})
		if err != nil {
			return ""
		}
		return res.Tx
	}
	decision := map[string]string{"keep": op.DecideKeep, "decide to forget": op.DecideForget,
		"forget one": op.DecideForgetOne + string(item.MemoryIDs[len(item.MemoryIDs)-1])}[what]
	res, err := op.ReviewClose.Call(t.Context(), w.e, &op.ReviewCloseRequest{ID: item.ID, Decision: decision})
	if err != nil {
		return ""
	}
	return res.Tx
}

// wantApart wants no set to be open twice.
func (w *queueWorld) wantApart() {
	seen := make(map[string]bool)
	for item := range w.e.Review.ReviewItems() {
		if item.Status == memory.ItemClosed {
			continue
		}
		set := fmt.Sprint(item.MemoryIDs)
		for _, key := range []string{"agent " + item.Agent + set, "action " + item.Action + set} {
			if seen[key] {
				w.Fatalf("open twice: %s", key)
			}
			seen[key] = true
		}
	}
}
