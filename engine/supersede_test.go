package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/engine/promote"
	"emberd/engine/search"
	"emberd/internal/dedupe"
	"emberd/internal/notegen"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	oldPort = "The staging database listens on port 5432"
	newPort = "Since the tunnel came the database of staging listens on 5433"
)

// replace makes one memory take the place of others.
func replace(t testing.TB, e *engine.Engine, by memory.ID, olds ...memory.ID) *op.EditResult {
	t.Helper()
	req := op.EditRequest{ID: string(by)}
	for _, id := range olds {
		req.Supersedes = append(req.Supersedes, string(id))
	}
	return do(t, e, op.Edit, &req)
}

// wantReplaced says which memory took the place of another, "" for none.
func wantReplaced(t testing.TB, e *engine.Engine, old, by memory.ID) {
	t.Helper()
	m := look(t, e, old)
	if m.SupersededBy != by || m.SupersededAt.IsZero() != (by == "") {
		t.Errorf("memory %s is superseded by %q at %v, want by %q", old.Short(), m.SupersededBy, m.SupersededAt, by)
	}
}

func TestOneEditSupersedesAndOneUndoTakesItBack(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b, by := save(t, e, oldPort), save(t, e, "staging's port is 5432"), save(t, e, newPort)
	res := do(t, e, op.Edit, &op.EditRequest{ID: by.ID.Short(), Supersedes: []string{a.ID.Short(), string(b.ID), string(a.ID)}})
	if !slices.Equal(res.Changed, []string{"supersedes"}) || res.Tx == "" {
		t.Errorf("the edit changed %q in %q", res.Changed, res.Tx)
	}
	wantReplaced(t, e, a.ID, by.ID)
	wantReplaced(t, e, b.ID, by.ID)
	rel := do(t, e, op.Show, &op.ShowRequest{ID: string(by.ID), Track: new(false)}).Relations.Outgoing
	if len(rel) != 2 || rel[0].Type != memory.Related || rel[0].Kind != "supersedes" || string(rel[0].Metadata["kind"]) != `"supersedes"` {
		t.Errorf("its relations are %+v", rel)
	}
	if now := look(t, e, by.ID); !now.UpdatedAt.Equal(by.UpdatedAt) {
		t.Errorf("it was changed at %v, and its text and fields are as they were", now.UpdatedAt)
	}
	if again := replace(t, e, by.ID, a.ID); again.Tx != "" || len(again.Changed) > 0 {
		t.Errorf("the same again changed %q", again.Changed)
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	wantReplaced(t, e, a.ID, "")
	wantReplaced(t, e, b.ID, "")
	if got := do(t, e, op.Show, &op.ShowRequest{ID: string(by.ID), Track: new(false)}).Relations; got != nil {
		t.Errorf("left are the relations %+v", got)
	}
}

func TestASaveTakesThePlaceOfWhatItNames(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	old := save(t, e, oldPort)
	req := &op.SaveRequest{Content: newPort, Supersedes: []string{old.ID.Short()}, IdempotencyKey: "k"}
	res := do(t, e, op.Save, req)
	wantReplaced(t, e, old.ID, res.Memory.ID)
	if again := do(t, e, op.Save, req); !again.Replayed || again.Memory.ID != res.Memory.ID {
		t.Errorf("the same again is answered with %+v", again)
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	wantReplaced(t, e, old.ID, "")
	if _, live := e.Stm.Get(res.Memory.ID); live {
		t.Error("the undo left what was saved")
	}
	answer := do(t, e, op.SaveBatch, &op.SaveBatchRequest{Items: []op.SaveRequest{{Content: "x", Supersedes: []string{string(old.ID)}}}}).Results[0]
	if answer.Error == nil || !strings.Contains(answer.Error.Detail, "save the item in a separate request") {
		t.Errorf("a batch answers %+v", answer)
	}
}

func TestWhatCannotTakeAPlace(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b, c := save(t, e, "one"), save(t, e, "two"), save(t, e, "three")
	gone := save(t, e, "gone")
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(gone.ID)})
	said := do(t, e, op.Save, &op.SaveRequest{Content: "a page says so"}).Memory
	setOrigin(t, e, said.ID, memory.FromWeb)
	replace(t, e, b.ID, a.ID)
	replace(t, e, c.ID, b.ID)
	many := make([]string, memory.MaxIDs+1)
	for name, c := range map[string]struct {
		by, says string
		olds     []string
		code     memory.Code
	}{
		"itself":           {string(a.ID), "cannot supersede itself", []string{string(a.ID)}, memory.Invalid},
		"its successor":    {string(a.ID), "so the reverse is not possible", []string{string(b.ID)}, memory.Conflict},
		"that one's":       {string(a.ID), "so the reverse is not possible; undo the change that added this relation, or remove the relation", []string{string(c.ID)}, memory.Conflict},
		"what is gone":     {string(a.ID), "in the trash", []string{string(gone.ID)}, memory.NotFound},
		"nothing":          {string(a.ID), "pass a memory ID", []string{""}, memory.Invalid},
		"too many":         {string(a.ID), "split the request", many, memory.TooLarge},
		"what a page says": {string(said.ID), "emberd edit --confirm", []string{string(a.ID)}, memory.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			err := refused(t, e, op.Edit, &op.EditRequest{ID: c.by, Supersedes: c.olds})
			wantCode(t, err, c.code, c.says)
		})
	}
	wantCode(t, refused(t, e, op.Relate, &op.RelateRequest{From: string(a.ID), To: string(c.ID), Type: memory.Related, Kind: "supersedes"}), memory.Conflict, "so the reverse is not possible; undo the change that added this relation, or remove the relation")
}

// setOrigin says whose words a memory is.
func setOrigin(t testing.TB, e *engine.Engine, id memory.ID, origin string) {
	t.Helper()
	_, err := e.Stm.Update(t.Context(), []memory.ID{id}, "", func([]*stm.Row) (*stm.Tx, error) {
		return &stm.Tx{Verb: "edit", Changes: []stm.Change{{ID: id, Set: map[string]json.RawMessage{"origin": json.RawMessage(`"` + origin + `"`)}}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestACoreMemoryIsSupersededWhenAsked(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	core := do(t, e, op.Save, &op.SaveRequest{Content: oldPort, Core: true}).Memory
	by := save(t, e, newPort)
	replace(t, e, by.ID, core.ID)
	wantReplaced(t, e, core.ID, by.ID)
	if !look(t, e, core.ID).Core {
		t.Error("it is no core memory any more")
	}
}

// What took the place of a memory is told as long as it is there, and the relation that
// says so is.
func TestWhatIsReplacedCountsAgain(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]func(t *testing.T, e *engine.Engine, by memory.ID){
		"forgotten": func(t *testing.T, e *engine.Engine, by memory.ID) {
			do(t, e, op.Forget, &op.ForgetRequest{ID: string(by)})
		},
		"purged": func(t *testing.T, e *engine.Engine, by memory.ID) {
			do(t, e, op.Purge, &op.PurgeRequest{ID: string(by)})
		},
		"unrelated": func(t *testing.T, e *engine.Engine, by memory.ID) {
			r := do(t, e, op.Show, &op.ShowRequest{ID: string(by)}).Relations.Outgoing[0]
			do(t, e, op.Unrelate, &op.UnrelateRequest{ID: r.ID})
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := newEngine(t)
			old, by := save(t, e, oldPort), save(t, e, newPort)
			replace(t, e, by.ID, old.ID)
			wantReplaced(t, e, old.ID, by.ID)
			back(t, e, by.ID)
			wantReplaced(t, e, old.ID, "")
			if h := searchFor(t, e, "staging database port")[0]; h.Superseded != nil {
				t.Errorf("the hit says it is superseded by %s", h.Superseded.By)
			}
			if row, _ := e.Stm.Get(old.ID); name != "forgotten" && row.SupersededBy() != "" {
				t.Error("the log has it still")
			}
		})
	}
}

func TestTheRelationIsTheSupersession(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	old, one, two := save(t, e, oldPort), save(t, e, newPort), save(t, e, "staging's database is reached on 5434 now")
	first := do(t, e, op.Relate, &op.RelateRequest{From: string(one.ID), To: string(old.ID), Type: memory.Related, Kind: "supersedes"})
	wantReplaced(t, e, old.ID, one.ID)
	clock.advance(time.Minute)
	replace(t, e, two.ID, old.ID)
	wantReplaced(t, e, old.ID, two.ID)
	second := do(t, e, op.Show, &op.ShowRequest{ID: string(two.ID)}).Relations.Outgoing[0]
	gone := do(t, e, op.Unrelate, &op.UnrelateRequest{ID: second.ID})
	wantReplaced(t, e, old.ID, one.ID)
	do(t, e, op.Unrelate, &op.UnrelateRequest{ID: first.Relation.ID})
	wantReplaced(t, e, old.ID, "")
	do(t, e, op.Undo, &op.UndoRequest{})
	do(t, e, op.Undo, &op.UndoRequest{Tx: gone.Tx})
	wantReplaced(t, e, old.ID, two.ID)
}

func TestASuccessorStandsRightAboveWhatItReplaced(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	old := save(t, e, oldPort)
	by := save(t, e, "Staging answers on 5433 now that the tunnel is there, and whoever asks elsewhere finds nothing at all")
	for i := range 8 {
		save(t, e, fmt.Sprintf("The staging database and its port were looked at on day %d of the review", i))
	}
	before := searchFor(t, e, "staging database listens port 5432")
	if before[0].ID != old.ID || before[1].ID == by.ID {
		t.Fatalf("before, the hits are %q", hitContents(before))
	}
	replace(t, e, by.ID, old.ID)
	for _, limit := range []int{1, 2, 5, 20} {
		res := do(t, e, op.Search, &op.SearchRequest{Query: "staging database listens port 5432", Limit: limit, Explain: true})
		if len(res.Hits) != min(limit, 10) || res.Total != 10 {
			t.Errorf("limit %d: %d of %d hits", limit, len(res.Hits), res.Total)
		}
		first := res.Hits[0]
		if first.ID != by.ID || first.Explain.Above != old.ID || first.Superseded != nil {
			t.Fatalf("limit %d: the first hit is %+v", limit, first)
		}
		if limit == 1 {
			continue
		}
		second := res.Hits[1]
		if second.ID != old.ID || second.Superseded == nil || second.Superseded.By != by.ID || !strings.HasPrefix(by.Content, strings.TrimSuffix(second.Superseded.Text, "…")) || second.Rank != first.Rank {
			t.Errorf("limit %d: the second hit is %+v", limit, second)
		}
	}
	seen := map[memory.ID]int{}
	for offset := range 10 {
		for _, h := range do(t, e, op.Search, &op.SearchRequest{Query: "staging database listens port 5432", Limit: 1, Offset: offset}).Hits {
			seen[h.ID]++
		}
	}
	if len(seen) != 10 {
		t.Errorf("page by page there are %d memories, want 10: %v", len(seen), seen)
	}
}

func TestOnlyWhatWasReplacedMatches(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	old, by := save(t, e, "The zeppelin is moored at Rye"), save(t, e, "The airship lies at Winchelsea now")
	replace(t, e, by.ID, old.ID)
	hits := searchFor(t, e, "zeppelin")
	if len(hits) != 1 || hits[0].ID != old.ID || hits[0].Superseded == nil || hits[0].Superseded.By != by.ID {
		t.Fatalf("the hits are %+v", hits)
	}
}

func TestAChainNamesItsLast(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b, c := save(t, e, "port 5432 of staging"), save(t, e, "port 5433 of staging"), save(t, e, "port 5434 of staging")
	replace(t, e, b.ID, a.ID)
	replace(t, e, c.ID, b.ID)
	hits := searchFor(t, e, "port 5432 staging")
	if got, want := hitContents(hits), []string{c.Content, b.Content, a.Content}; !slices.Equal(got, want) {
		t.Errorf("the hits are %q, want %q", got, want)
	}
	for _, h := range hits[1:] {
		if h.Superseded == nil || h.Superseded.By != c.ID {
			t.Errorf("%q says it is superseded by %+v, want by %s", h.Content, h.Superseded, c.ID)
		}
	}
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(b.ID)})
	wantReplaced(t, e, a.ID, "")
}

func TestWhatIsReplacedIsLeftAlone(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	old := do(t, e, op.Save, &op.SaveRequest{Content: oldPort, CreatedAt: clock.daysAgo(5), LastUsed: clock.Now(), UseCount: 9}).Memory
	by := save(t, e, newPort)
	due := func() bool {
		due, _ := e.Promote.Promotable(clock.Now(), e.Opt.Promotion)
		return slices.ContainsFunc(due, func(c promote.Candidate) bool { return c.Row.ID() == old.ID })
	}
	if !due() {
		t.Fatal("it is not due for a note")
	}
	replace(t, e, by.ID, old.ID)
	if due() {
		t.Error("it is due for a note although it is superseded")
	}
	if slices.ContainsFunc(e.Merge.Gather(true).Items, func(i dedupe.Item) bool { return i.ID == old.ID }) {
		t.Error("it may be merged with others")
	}
}

// exchange has both devices of a pair read what the other wrote.
func exchange(t testing.TB, one, two *house, a, b *engine.Engine) {
	t.Helper()
	carry(t, one, two, status(t, a).Device)
	carry(t, two, one, status(t, b).Device)
	a.Admin.Refresh(t.Context())
	b.Admin.Refresh(t.Context())
}

func TestTwoDevicesThatReplaceAtOnce(t *testing.T) {
	t.Parallel()
	one, two, a, b := pair(t)
	old, x, y := save(t, a, oldPort), save(t, a, newPort), save(t, a, "staging's database is reached on 5434 now")
	exchange(t, one, two, a, b)
	replace(t, a, x.ID, old.ID)
	two.advance(time.Hour)
	replace(t, b, y.ID, old.ID)
	one.advance(2 * time.Hour)
	exchange(t, one, two, a, b)
	for _, e := range []*engine.Engine{a, b} {
		wantReplaced(t, e, old.ID, y.ID)
	}
}

// Each of two devices says the other way round which memory took whose place: the newest
// word counts on both, and neither memory is hidden.
func TestTwoDevicesThatMakeACircle(t *testing.T) {
	t.Parallel()
	for _, size := range []int{2, 3} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			one, two, a, b := pair(t)
			var ids []memory.ID
			for i := range size {
				ids = append(ids, save(t, a, fmt.Sprintf("staging database port, word %d", i)).ID)
			}
			exchange(t, one, two, a, b)
			for i := 1; i < size; i++ {
				replace(t, a, ids[i], ids[i-1])
				one.advance(time.Minute)
			}
			two.advance(time.Hour)
			replace(t, b, ids[0], ids[size-1])
			one.advance(2 * time.Hour)
			exchange(t, one, two, a, b)
			for _, e := range []*engine.Engine{a, b} {
				wantReplaced(t, e, ids[0], "") // the oldest word was said of it
				wantReplaced(t, e, ids[size-1], ids[0])
				all, _ := e.Lists.ListEntries()
				all = slices.DeleteFunc(all, func(l notegen.Entry) bool { return !slices.Contains(ids, l.ID) })
				if len(all) != 1 || all[0].ID != ids[0] {
					t.Errorf("the list has %+v, want %s alone", all, ids[0])
				}
				hits := searchFor(t, e, "staging database port")
				if len(hits) != size || hits[0].Superseded != nil {
					t.Errorf("the hits are %q, and the first says %+v", hitContents(hits), hits[0].Superseded)
				}
			}
		})
	}
}

// Whatever several devices say of a few memories, each is told to have a successor that
// has none itself, and one of them always counts.
func TestSomeMemoryAlwaysCounts(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	rapid.Check(t, func(r *rapid.T) {
		var ids []memory.ID
		for i := range rapid.IntRange(2, 6).Draw(r, "memories") {
			ids = append(ids, save(t, e, fmt.Sprint("one of several, ", i)).ID)
		}
		for range rapid.IntRange(1, 12).Draw(r, "words") {
			old, by := rapid.SampledFrom(ids).Draw(r, "old"), rapid.SampledFrom(ids).Draw(r, "by")
			clock.advance(time.Duration(rapid.IntRange(0, 2).Draw(r, "ms")) * time.Millisecond)
			_, err := e.Stm.Update(t.Context(), []memory.ID{old}, "", func([]*stm.Row) (*stm.Tx, error) {
				return &stm.Tx{Verb: "edit", Changes: []stm.Change{{ID: old, Set: e.Similar.PlaceTaken(by)}}}, nil
			})
			if err != nil {
				r.Fatal(err)
			}
		}
		counts := 0
		for _, id := range ids {
			row, _ := e.Stm.Get(id)
			by := core.Successor(e.Stm.Get, row)
			if by == nil {
				counts++
			} else if core.Successor(e.Stm.Get, by) != nil || by.ID() == id {
				r.Fatalf("%s is superseded by %s, which is superseded itself", id, by.ID())
			}
		}
		if counts == 0 {
			r.Fatal("none of them counts")
		}
	})
}

// A cold memory that was superseded is found like any other, and stays what it is.
func TestAColdMemoryThatWasReplacedStaysCold(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	ids := make(map[bool]memory.ID)
	for _, taken := range []bool{false, true} {
		id := do(t, d.Engine, op.Save, &op.SaveRequest{Content: fmt.Sprintf("The quixotic zeppelin number %t is moored at Rye", taken), CreatedAt: d.daysAgo(60), LastUsed: d.daysAgo(60)}).Memory.ID
		do(t, d.Engine, op.Archive, &op.ArchiveRequest{ID: string(id)})
		ids[taken] = id
	}
	by := save(t, d.Engine, "The airship lies at Winchelsea now")
	replace(t, d.Engine, by.ID, ids[true])
	wantReplaced(t, d.Engine, ids[true], by.ID)
	wantCode(t, refused(t, d.Engine, op.Edit, &op.EditRequest{ID: string(ids[false]), Supersedes: []string{string(by.ID)}}), memory.Conflict, "emberd rekindle")
	if h := searchFor(t, d.Engine, "quixotic zeppelin number true moored Rye"); h[0].ID != ids[true] || h[0].Superseded == nil || !h[0].Stage.Cold() {
		t.Errorf("the first hit is %+v", h[0])
	}
	if got := d.memory(ids[true]).Stage; !got.Cold() {
		t.Errorf("it came back: %s", got)
	}
	do(t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: string(ids[true])})
	if got := d.memory(ids[true]).Stage; got.Cold() {
		t.Error("it does not come back when asked for")
	}
}

// The notes of superseded memories rank below, too, also where notes alone are asked.
func TestTheNoteOfWhatIsReplacedRanksBelow(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	old := d.kept("The staging database listens on port 5432", "Old.md")
	by := d.kept("Staging answers on 5433 now that the tunnel is there", "New.md")
	replace(t, d.Engine, by, old)
	for _, scope := range []string{search.ScopeAll, search.ScopeNotes, search.ScopeMemories} {
		for _, limit := range []int{1, 5} {
			hits := do(t, d.Engine, op.Search, &op.SearchRequest{Query: "staging database port 5432", Scope: scope, Limit: limit}).Hits
			if search.MemoryOf(&hits[0]) != by || hits[0].Superseded != nil {
				t.Errorf("%s, %d: the first hit is %+v", scope, limit, hits[0])
			}
			if limit > 1 && (search.MemoryOf(&hits[1]) != old || hits[1].Superseded == nil) {
				t.Errorf("%s: the second hit is %+v", scope, hits[1])
			}
		}
	}
}

// An answer of then tells what had taken whose place then.
func TestWhatHadTakenAPlaceThen(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	old, by := save(t, e, oldPort), save(t, e, newPort)
	clock.advance(time.Minute)
	res := replace(t, e, by.ID, old.ID)
	clock.advance(time.Minute)
	then := clock.Now()
	clock.advance(time.Minute)
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(by.ID)})
	wantReplaced(t, e, old.ID, "")
	if m := do(t, e, op.Show, &op.ShowRequest{ID: string(old.ID), AsOf: then}).Memory; m.SupersededBy != by.ID {
		t.Errorf("then it was superseded by %q, want by %s", m.SupersededBy, by.ID)
	}
	if hits := do(t, e, op.Search, &op.SearchRequest{Query: "staging database port", AsOf: then}).Hits; len(hits) != 2 || hits[0].ID != by.ID || hits[1].Superseded == nil {
		t.Errorf("the hits of then are %q", hitContents(hits))
	}
}

// The undo of a supersession whose memory was purged has nothing left to take back, and
// leaves what it replaced as it is.
func TestUndoOfWhatWasSupersededByWhatIsPurged(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	old, by := save(t, e, oldPort), save(t, e, newPort)
	res := replace(t, e, by.ID, old.ID)
	do(t, e, op.Purge, &op.PurgeRequest{ID: string(by.ID)})
	_, err := op.Undo.Call(t.Context(), e, &op.UndoRequest{Tx: res.Tx})
	wantReplaced(t, e, old.ID, "")
	if _, live := e.Stm.Get(by.ID); live {
		t.Errorf("the undo brought back what was purged; it says %v", err)
	}
	if row, _ := e.Stm.Get(old.ID); row.Content() != oldPort || row.Has(core.SupersededAt) {
		t.Errorf("what was superseded holds %q, and when: %t", row.Content(), row.Has(core.SupersededAt))
	}
}

// What was superseded before it went to the trash was superseded then, when it is back.
func TestTheTimeOfASuccessorOutlivesTheTrash(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	old, by := save(t, e, "the port is 5432").ID, save(t, e, "the port is 5433").ID
	do(t, e, op.Edit, &op.EditRequest{ID: string(by), Supersedes: []string{string(old)}})
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(old)})
	do(t, e, op.Undo, &op.UndoRequest{})
	chain := do(t, e, op.History, &op.HistoryRequest{ID: string(old)}).Chain
	if len(chain) != 2 || chain[0].SupersededBy != by || chain[0].SupersededAt.Year() != h.clock.Now().Year() {
		t.Errorf("the chain is %+v", chain)
	}
}
