package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/review"
	"emberd/memory"
	"emberd/op"
)

// decide closes an item with a decision, which has to succeed.
func decide(t testing.TB, e *engine.Engine, item memory.ReviewItem, decision string) (memory.ReviewItem, string) {
	t.Helper()
	res := do(t, e, op.ReviewClose, &op.ReviewCloseRequest{ID: item.ID, Decision: decision, Reason: "because"})
	return res.Item, res.Tx
}

// wantOpen wants exactly these items to be open.
func wantOpen(t testing.TB, e *engine.Engine, items ...memory.ReviewItem) {
	t.Helper()
	var want []string
	for _, item := range items {
		want = append(want, item.ID)
	}
	got := openItems(e)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("open are %q, want %q", got, want)
	}
}

// Every decision is one journal entry with the close, and undo takes back both.
func TestADecisionIsOneEntry(t *testing.T) {
	t.Parallel()
	const text = "The parser reads one token ahead of the grammar."
	for _, decision := range []string{op.DecidePromote, op.DecideMerge, op.DecideForget, "forget:first", "forget:second"} {
		t.Run(decision, func(t *testing.T) {
			t.Parallel()
			d := shelf(t, nil)
			a, b := save(t, d.Engine, text), save(t, d.Engine, text+" It is quick.")
			item := fileOne(t, d.Engine, op.ReviewCluster, "merge", true, a, b)
			gone := map[string][]memory.ID{op.DecideForget: item.MemoryIDs, "forget:first": item.MemoryIDs[:1], "forget:second": item.MemoryIDs[1:]}[decision]
			asked := decision
			if strings.HasPrefix(decision, op.DecideForgetOne) {
				asked = op.DecideForgetOne + string(gone[0])
			}
			if choices := do(t, d.Engine, op.ReviewShow, &op.ReviewShowRequest{ID: item.ID}).Choices; !slices.Contains(choices, asked) {
				t.Errorf("%s is none of the choices %q", asked, choices)
			}
			closed, tx := decide(t, d.Engine, item, asked)
			if closed.Status != memory.ItemClosed || closed.Decision != asked || closed.Reason != "because" || tx == "" {
				t.Fatalf("closed: %+v under %q", closed, tx)
			}
			wantOpen(t, d.Engine)
			for _, id := range item.MemoryIDs {
				if d.Stm.Trashed(id) != slices.Contains(gone, id) {
					t.Errorf("%s is in the trash: %t", id, d.Stm.Trashed(id))
				}
			}
			all := d.Stm.Len()
			if decision == op.DecideMerge && all != 3 || decision == op.DecidePromote && !look(t, d.Engine, a.ID).PromotedAt.Equal(look(t, d.Engine, b.ID).PromotedAt) {
				t.Errorf("%d memories, %+v", all, look(t, d.Engine, a.ID))
			}
			do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: tx})
			wantOpen(t, d.Engine, item)
			if d.Stm.Len() != 2 || look(t, d.Engine, a.ID).Content != text {
				t.Errorf("after undo there are %d memories", d.Stm.Len())
			}
		})
	}
}

// To keep memories is to use them: what is about to fade does not.
func TestToKeepIsToUse(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	a := save(t, e, "anchor")
	item := fileOne(t, e, op.ReviewDecay, review.NeedsReview, true, a)
	clock.advance(time.Hour)
	decide(t, e, item, op.DecideKeep)
	if m := look(t, e, a.ID); m.UseCount != 1 || !m.LastUsed.Equal(clock.Now()) {
		t.Errorf("kept: used %d times, last at %v", m.UseCount, m.LastUsed)
	}
	fileOne(t, e, op.ReviewDecay, review.NeedsReview, false, a)
	clock.advance(time.Hour)
	do(t, e, op.Touch, &op.TouchRequest{ID: string(a.ID)})
	fileOne(t, e, op.ReviewDecay, review.NeedsReview, true, a) // it fades once more
}

// What is refused leaves everything as it was.
func TestARefusedDecisionLeavesTheItemOpen(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	a := save(t, d.Engine, "The database listens on port 5432.")
	b := save(t, d.Engine, "The database listens on port 5433.")
	core := do(t, d.Engine, op.Save, &op.SaveRequest{Content: "Never deploy on Fridays.", Core: true}).Memory
	other := save(t, d.Engine, "something else")
	pair := fileOne(t, d.Engine, op.ReviewRelations, "contradiction", true, a, b)
	kept := fileOne(t, d.Engine, op.ReviewCleanup, "forget", true, a, core)
	for _, c := range []struct {
		item     memory.ReviewItem
		decision string
		code     memory.Code
		says     string
	}{
		{pair, op.DecideMerge, memory.Conflict, "the memories differ: different numbers or dates: 5432 and 5433"},
		{pair, op.DecideForget, memory.Invalid, "one of them might be true"},
		{pair, "burn", memory.Invalid, "use promote, keep, merge, forget, forget:ID, or supersede:ID"},
		{pair, op.DecideForgetOne + string(other.ID), memory.Invalid, "does not belong to the review item"},
		{pair, op.DecideForgetOne + "x", memory.NotFound, `memory "x" not found`},
		{kept, op.DecideForget, memory.Conflict, "is a core memory"},
		{kept, op.DecideForgetOne + string(core.ID), memory.Conflict, "is a core memory"},
		{kept, op.DecideMerge, memory.Conflict, "core"},
	} {
		err := refused(t, d.Engine, op.ReviewClose, &op.ReviewCloseRequest{ID: c.item.ID, Decision: c.decision})
		wantCode(t, err, c.code, c.says)
		wantOpen(t, d.Engine, pair, kept)
		if choices := d.Engine.Review.ChoicesOf(&c.item); slices.Contains(choices, c.decision) {
			t.Errorf("%s is among the choices %q", c.decision, choices)
		}
	}
	if d.Stm.Len() != 4 {
		t.Errorf("%d memories are left", d.Stm.Len())
	}
	decide(t, d.Engine, kept, op.DecideForgetOne+string(a.ID))
	wantOpen(t, d.Engine) // the pair's memory is gone
	e, _ := newEngine(t)
	alone := fileOne(t, e, op.ReviewPromote, "promote", true, save(t, e, "anchor"))
	wantCode(t, refused(t, e, op.ReviewClose, &op.ReviewCloseRequest{ID: alone.ID, Decision: op.DecidePromote}), memory.NotFound, "no vault")
	if choices := e.Review.ChoicesOf(&alone); !slices.Equal(choices, []string{op.DecideKeep, op.DecideForget}) {
		t.Errorf("the choices without a vault are %q", choices)
	}
}

// What is kept of a decision is scanned like all else that is kept.
func TestACredentialIsNoReason(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	e.Opt.DetectSecrets = true
	item := fileOne(t, e, op.ReviewUser, "needs_review", true, save(t, e, "anchor"))
	wantCode(t, refused(t, e, op.ReviewClaim, &op.ReviewClaimRequest{ID: item.ID, By: token}), memory.Secret, "remove the credential, or to save the text anyway, set allow_secret (--allow-secret)")
	wantCode(t, refused(t, e, op.ReviewClose, &op.ReviewCloseRequest{ID: item.ID, Reason: "rotated " + token}), memory.Secret, "remove the credential, or to save the text anyway, set allow_secret (--allow-secret)")
	wantOpen(t, e, item)
	closed := do(t, e, op.ReviewClose, &op.ReviewCloseRequest{ID: item.ID, Reason: "rotated " + token, AllowSecret: true})
	if !strings.Contains(closed.Item.Reason, token) {
		t.Errorf("closed although asked to keep the reason: %+v", closed.Item)
	}
}

func TestAnItemSaysWhyItCannotBeMerged(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	a, b := save(t, d.Engine, "The database listens on port 5432."), save(t, d.Engine, "The database listens on port 5433.")
	core := do(t, d.Engine, op.Save, &op.SaveRequest{Content: "The garden has two gates, always.", Core: true}).Memory
	gate := save(t, d.Engine, "The garden has two gates")
	pond := save(t, d.Engine, "The garden has two gates, and a pond")
	apart := do(t, d.Engine, op.Save, &op.SaveRequest{Content: "The garden has two gates!", Project: "other"}).Memory
	for _, c := range []struct {
		about []op.Memory
		says  string
	}{
		{[]op.Memory{a, b}, " differ: different numbers"},
		{[]op.Memory{core, gate}, "core memory"},
		{[]op.Memory{gate, apart}, "different collections or projects"},
		{[]op.Memory{gate, pond}, ""},
		{[]op.Memory{gate}, ""},
	} {
		item := fileOne(t, d.Engine, op.ReviewUser, "merge", true, c.about...)
		res := do(t, d.Engine, op.ReviewShow, &op.ReviewShowRequest{ID: item.ID})
		if (res.MergeRefused == "") != (c.says == "") || !strings.Contains(res.MergeRefused, c.says) {
			t.Errorf("a merge is refused with %q, want %q", res.MergeRefused, c.says)
		}
		if can := slices.Contains(res.Choices, op.DecideMerge); can != (c.says == "" && len(c.about) > 1) {
			t.Errorf("with %q refused, a merge is a choice: %t", res.MergeRefused, can)
		}
	}
}

// An alias that several memories have names the one that the item is about.
func TestOneOfAnItemIsNamedByItsAlias(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	known := func(content string, aliases ...string) op.Memory {
		return do(t, e, op.Save, &op.SaveRequest{Content: content, Aliases: aliases}).Memory
	}
	known("a lamp in the attic", "lamp", "dead")
	a, b := known("the kettle whistles", "lamp", "both"), known("the tide turns at six", "dead", "both")
	item := fileOne(t, e, op.ReviewUser, "review", true, a, b)
	err := refused(t, e, op.ReviewClose, &op.ReviewCloseRequest{ID: item.ID, Decision: op.DecideForgetOne + "both"})
	wantCode(t, err, memory.Ambiguous, string(a.ID))
	if err.Field != "decision" {
		t.Errorf("the error is about %q", err.Field)
	}
	closed := do(t, e, op.ReviewClose, &op.ReviewCloseRequest{ID: item.ID, Decision: op.DecideForgetOne + "dead"})
	if _, live := e.Stm.Get(b.ID); live || closed.Item.Decision != op.DecideForgetOne+string(b.ID) {
		t.Errorf("decided was %q, and %s is live: %t", closed.Item.Decision, b.ID, live)
	}
}

// Of two memories that contradict each other the newer one can supersede the older one, in one change with the close.
func TestTheNewerOfTwoSupersedesTheOlder(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	for i, newerFirst := range []bool{false, true} {
		of := []string{"money", "debts"}[i]
		old := save(t, d.Engine, "We store "+of+" as integer cents, never floats.")
		d.clock.advance(time.Minute)
		current := save(t, d.Engine, "We store "+of+" as decimal strings, not integer cents.")
		item := fileOne(t, d.Engine, op.ReviewCluster, "contradiction", true, old, current)
		want := []string{op.DecideKeep, op.DecideSupersede + string(old.ID), op.DecideForgetOne + string(item.MemoryIDs[0]),
			op.DecideForgetOne + string(item.MemoryIDs[1])}
		if got := d.Engine.Review.ChoicesOf(&item); !slices.Equal(got, want) {
			t.Errorf("the choices are %q, want %q", got, want)
		}
		gone, stays := old, current
		if newerFirst { // a decision may also be that the older one is right
			gone, stays = current, old
		}
		closed, tx := decide(t, d.Engine, item, op.DecideSupersede+gone.ID.Short())
		if closed.Decision != op.DecideSupersede+string(gone.ID) || look(t, d.Engine, gone.ID).SupersededBy != stays.ID ||
			look(t, d.Engine, stays.ID).SupersededBy != "" {
			t.Errorf("closed %+v, the memory is superseded by %q", closed, look(t, d.Engine, gone.ID).SupersededBy)
		}
		wantOpen(t, d.Engine)
		do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: tx})
		wantOpen(t, d.Engine, item)
		if by := look(t, d.Engine, gone.ID).SupersededBy; by != "" {
			t.Errorf("after the undo the memory is superseded by %s", by)
		}
		// A memory that comes back from the trash is no newer for it.
		_, tx = decide(t, d.Engine, item, op.DecideForgetOne+string(old.ID))
		do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: tx})
		if got := d.Engine.Review.ChoicesOf(&item); !slices.Equal(got, want) {
			t.Errorf("after it was forgotten and came back the choices are %q, want %q", got, want)
		}
		decide(t, d.Engine, item, op.DecideKeep)
	}
}
