package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/agents"
	"emberd/engine/review"
	"emberd/memory"
	"emberd/op"
)

// fileOne files one item and wants it to be new, or not.
func fileOne(t testing.TB, e *engine.Engine, agent, action string, isNew bool, about ...op.Memory) memory.ReviewItem {
	t.Helper()
	item := memory.ReviewItem{Agent: agent, Action: action}
	for _, m := range about {
		item.MemoryIDs = append(item.MemoryIDs, m.ID)
	}
	tx, filed, err := e.Review.FileItems(t.Context(), memory.Actor{Client: "test"}, "", []memory.ReviewItem{item})
	if err != nil || (len(filed) == 1) != isNew || (tx != "") != isNew {
		t.Fatalf("filed %+v under %q, %v; want it to be new: %t", filed, tx, err, isNew)
	}
	if isNew {
		return filed[0]
	}
	return item
}

// openItems are the ids of the items that are not closed.
func openItems(e *engine.Engine) []string {
	var ids []string
	for item := range e.Review.ReviewItems() {
		if item.Status != memory.ItemClosed {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

func wantConflict(t testing.TB, err error, says string) {
	t.Helper()
	if memory.CodeOf(err) != memory.Conflict || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want a conflict that says %q", err, says)
	}
}

func TestAReviewItemIsFiledOnceClaimedAndClosed(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	a, b := save(t, e, "anchor"), save(t, e, "boat")
	item := fileOne(t, e, op.ReviewCluster, "merge", true, b, a)
	if item.MemoryIDs[0] > item.MemoryIDs[1] || item.Urgency != op.UrgencyMedium || !item.CreatedAt.Equal(clock.Now()) ||
		strings.Join(item.Labels, " ") != "consolidation:cluster urgency:medium" || item.ID != memory.ReviewItemID("cluster", item.MemoryIDs) {
		t.Errorf("filed: %+v", item)
	}
	fileOne(t, e, op.ReviewCluster, "merge", false, a, b)
	fileOne(t, e, op.ReviewMerge, "merge", false, a, b) // the same is proposed already
	fileOne(t, e, op.ReviewDecay, "gc_candidate", true, a)
	if got := look(t, e, a.ID); got.Rev != a.Rev || !got.UpdatedAt.Equal(a.UpdatedAt) {
		t.Errorf("filing an item changed the memory: %+v", got)
	}
	by := memory.Actor{Client: "test"}
	claimed, tx, err := e.Review.ClaimItem(t.Context(), by, "", item.ID[:10], "ann")
	if err != nil || tx == "" || claimed.ClaimedBy != "ann" || claimed.Status != memory.ItemClaimed {
		t.Errorf("claimed: %+v, %q, %v", claimed, tx, err)
	}
	if _, tx, err = e.Review.ClaimItem(t.Context(), by, "", item.ID, "ann"); err != nil || tx != "" {
		t.Errorf("claimed again by the same: %q, %v", tx, err)
	}
	_, _, err = e.Review.ClaimItem(t.Context(), by, "", item.ID, "bob")
	wantConflict(t, err, "ann claimed")
	fileOne(t, e, op.ReviewCluster, "merge", false, a, b)
	clock.advance(time.Minute)
	closed, _, err := e.Review.CloseItem(t.Context(), by, "", item.ID, "keep", "they differ")
	if err != nil || closed.Status != memory.ItemClosed || closed.Decision != "keep" || !closed.ClosedAt.Equal(clock.Now()) {
		t.Errorf("closed: %+v, %v", closed, err)
	}
	_, _, err = e.Review.CloseItem(t.Context(), by, "", item.ID, "keep", "")
	wantConflict(t, err, "they differ")
	fileOne(t, e, op.ReviewCluster, "merge", false, a, b) // nothing was changed since
	clock.advance(time.Minute)
	do(t, e, op.Edit, &op.EditRequest{ID: string(b.ID), Content: new("big boat")})
	again := fileOne(t, e, op.ReviewCluster, "merge", true, a, b)
	if again.ID != item.ID || again.ClaimedBy != "" || !again.ClosedAt.IsZero() || len(openItems(e)) != 2 {
		t.Errorf("filed again: %+v; waiting %q", again, openItems(e))
	}
}

// What is not there cannot be decided; when it comes back, it can.
func TestAnItemOfWhatWasForgottenWaitsForIt(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b := save(t, e, "anchor"), save(t, e, "boat")
	item := fileOne(t, e, op.ReviewCluster, "merge", true, a, b)
	for _, gone := range item.MemoryIDs {
		tx := do(t, e, op.Forget, &op.ForgetRequest{ID: string(gone)}).Tx
		if got := openItems(e); len(got) != 0 {
			t.Errorf("waiting while one is in the trash: %q", got)
		}
		do(t, e, op.Undo, &op.UndoRequest{Tx: tx})
		if got := openItems(e); len(got) != 1 {
			t.Errorf("waiting afterwards: %q", got)
		}
	}
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(item.MemoryIDs[1])})
	_, _, err := e.Review.ClaimItem(t.Context(), memory.Actor{}, "", item.ID, "ann")
	wantConflict(t, err, "in the trash")
}

// Of many who claim an item at the same time one has it, and the others are told who.
func TestOneOfManyClaimsAnItem(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	item := fileOne(t, e, op.ReviewDecay, review.NeedsReview, true, save(t, e, "anchor"))
	var wins, conflicts atomic.Int32
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			switch _, _, err := e.Review.ClaimItem(context.Background(), memory.Actor{}, "", item.ID, fmt.Sprint("agent ", i)); memory.CodeOf(err) {
			case memory.Conflict:
				conflicts.Add(1)
			default:
				ok(t, err)
				wins.Add(1)
			}
		})
	}
	all.Wait()
	if wins.Load() != 1 || conflicts.Load() != 15 {
		t.Errorf("%d have it, and %d were refused", wins.Load(), conflicts.Load())
	}
}

// What fades is asked about while there is something to lose.
func TestAnItemOfWhatFadesIsClosedWhileThatIsArchived(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	m := save(t, d.Engine, leaky)
	fading := fileOne(t, d.Engine, op.ReviewDecay, "needs_review", true, m)
	asked := fileOne(t, d.Engine, op.ReviewUser, "look", true, m)
	waits := func(what string, want ...string) {
		t.Helper()
		got := openItems(d.Engine)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s %q wait, want %q", what, got, want)
		}
	}
	waits("at first", fading.ID, asked.ID)
	d.archived(m.ID)
	waits("archived", asked.ID)
	d.rekindled(m.ID)
	waits("brought back", fading.ID, asked.ID)
}

// A group that has grown is asked about once, not once for each size that it had.
func TestALargerItemTakesTheParts(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b, c, d := save(t, e, "anchor"), save(t, e, "boat"), save(t, e, "crane"), save(t, e, "dock")
	part := fileOne(t, e, op.ReviewCluster, "merge", true, b, c) // of another memory than the larger one
	other := fileOne(t, e, op.ReviewCluster, "contradiction", true, a, b)
	outside := fileOne(t, e, op.ReviewCluster, "merge", true, c, d)
	taken := fileOne(t, e, op.ReviewCluster, "merge", true, a, c)
	mine := fileOne(t, e, op.ReviewUser, "merge", true, a, b)
	do(t, e, op.ReviewClaim, &op.ReviewClaimRequest{ID: taken.ID, By: "Ann"})
	item := memory.ReviewItem{Agent: op.ReviewCluster, Action: "merge", MemoryIDs: []memory.ID{a.ID, b.ID, c.ID}}
	tx, filed, err := e.Review.FileItems(t.Context(), memory.Actor{Client: "test"}, "", []memory.ReviewItem{item})
	if err != nil || len(filed) != 1 {
		t.Fatalf("filed %+v, %v", filed, err)
	}
	wantOpen(t, e, other, outside, taken, mine, filed[0])
	if got, err := e.Review.FindItem(part.ID); err != nil || got.Reason != review.PartReason {
		t.Errorf("the part: %+v, %v", got, err)
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: tx}) // the entry has both
	wantOpen(t, e, part, other, outside, taken, mine)
}

// Who closes what was listed leaves what somebody claimed or closed meanwhile, or what went,
// and goes on with the rest.
func TestWhatChangedSinceItWasListedIsLeft(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b, c, d := save(t, e, "anchor"), save(t, e, "boat"), save(t, e, "crane"), save(t, e, "dock")
	claimed := fileOne(t, e, op.ReviewCluster, "merge", true, a, b)
	closed := fileOne(t, e, op.ReviewCluster, "merge", true, b, c)
	gone := fileOne(t, e, op.ReviewCluster, "merge", true, d, c)
	same := fileOne(t, e, op.ReviewCluster, "merge", true, a, c)
	do(t, e, op.ReviewClaim, &op.ReviewClaimRequest{ID: claimed.ID, By: "Ann"})
	do(t, e, op.ReviewClose, &op.ReviewCloseRequest{ID: closed.ID, Reason: "they differ"})
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(gone.MemoryIDs[0])})
	entry := ""
	for _, item := range []memory.ReviewItem{claimed, closed, gone, same} {
		next, err := e.Review.CloseAsListed(t.Context(), agents.AgentsActor(), entry, item, "", "nobody looked")
		if changed := next != entry; err != nil || changed != (item.ID == same.ID) {
			t.Errorf("%v: entry %q after %q, %v", item.MemoryIDs, next, entry, err)
		}
		entry = next
	}
	wantOpen(t, e, claimed)
	if got, err := e.Review.FindItem(closed.ID); err != nil || got.Reason != "they differ" {
		t.Errorf("the closed one: %+v, %v", got, err)
	}
}

// Items have the labels that CortexGraph's agents give their issues.
func TestLabelsOfTheAgents(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for agent, want := range map[string]string{
		op.ReviewDecay: "consolidation:decay", op.ReviewCluster: "consolidation:cluster", op.ReviewMerge: "consolidation:merge",
		op.ReviewPromote: "consolidation:promote", op.ReviewRelations: "consolidation:relations",
	} {
		if got := fileOne(t, e, agent, "review", true, save(t, e, "a kettle for "+agent)).Labels; len(got) == 0 || got[0] != want {
			t.Errorf("an item of %s has the labels %q, want %s first", agent, got, want)
		}
	}
}

// A decision about two memories that have no review item is one change: undoing it leaves no open item.
func TestADecisionWithoutAnItemIsUndoneWhole(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	a, b := save(t, e, "boat"), save(t, e, "big boat")
	keep := &op.ReviewCreateRequest{MemoryIDs: []string{string(a.ID), string(b.ID)}, Action: "merge", Decision: op.DecideKeep}
	got := do(t, e, op.ReviewCreate, keep)
	if got.Item.Status != memory.ItemClosed || got.Item.Decision != op.DecideKeep || got.Item.ClosedAt.IsZero() || !got.Made || len(openItems(e)) > 0 {
		t.Errorf("created %+v; waiting %q", got.Item, openItems(e))
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: got.Tx})
	if all := do(t, e, op.ReviewList, &op.ReviewListRequest{Status: op.AnyStatus}); len(all.Items) > 0 {
		t.Errorf("after the undo there is %+v", all.Items)
	}
	asked := fileOne(t, e, op.ReviewCluster, "merge", true, a, b)
	if got = do(t, e, op.ReviewCreate, keep); got.Made || got.Item.ID != asked.ID || len(openItems(e)) > 0 {
		t.Errorf("the open item is %+v; waiting %q", got.Item, openItems(e))
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: got.Tx})
	if len(openItems(e)) != 1 {
		t.Errorf("after the undo there wait %q", openItems(e))
	}
	keep.Decision = op.DecideMerge
	if err := refused(t, e, op.ReviewCreate, keep); err.Code != memory.Invalid {
		t.Errorf("another decision: %v", err)
	}
}
