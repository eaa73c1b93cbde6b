package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/engine/listnotes"
	"emberd/engine/memories"
	"emberd/engine/review"
	"emberd/memory"
	"emberd/op"
)

// A daemon that is killed after a decision does not make it twice.
func TestKilledBehindATick(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	do(t, d.Engine, op.KeeperHere, &op.KeeperHereRequest{}) // whatever the ids of the devices are
	item, _ := d.asked("needs_review", "the tide turns at six")
	d.listed()
	d.write(t, inboxNote, d.withTicks("Keep it as it is"))
	d.rest(t, d.Engine)
	d.batch(d.all(), nil)
	done := busy(t, d.house) // so that nothing is written
	d.Lists.WriteLists(t.Context())
	d.wantItem(item, memory.ItemOpen, "") // and so nothing decided
	done()
	d.advance(time.Hour)
	d.Lists.WriteLists(t.Context())
	was, err := d.Engine.Review.FindItem(item.ID)
	ok(t, err)
	d.write(t, inboxNote, d.backups()[len(d.backups())-1]) // as if the note had not been written
	d = d.killed()
	d.listed() // a copy of its folders is another device, which takes its place as the keeper
	d.wantInbox([]string{"No item needs your decision", "## Decided"}, "- [", "[!failure]")
	if is, err := d.Engine.Review.FindItem(item.ID); err != nil || was.Decision != op.DecideKeep || !is.ClosedAt.Equal(was.ClosedAt) {
		t.Errorf("the item was %+v and is %+v, %v", was, is, err)
	}
}

// A daemon that was killed between the log and the state folder knows that it was at it.
func TestKilledWithinATick(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	item, ids := d.asked("gc_candidate", "The parking ticket was 4 euros")
	d.listed()
	ok(t, d.Lists.Lists.Remember(func(f *listnotes.ListFile) bool {
		f.Inbox.Done = append(f.Inbox.Done, listnotes.DecidedItem{Item: item.ID, At: core.StampTime(d.clock.Now()), Decision: op.DecideForget, IDs: ids})
		return true
	}))
	d.write(t, inboxNote, d.withTicks("Forget it"))
	_, _, err := d.Engine.Review.DecideItem(t.Context(), review.InboxActor(), item.ID, op.DecideForget, "box checked in this note")
	ok(t, err)
	d.restart()
	d.listed()
	d.wantInbox([]string{"No item needs your decision"}, "- [", "[!failure]")
	d.asked("gc_candidate", "the tide turns at six")
	ok(t, d.Lists.Lists.Remember(func(f *listnotes.ListFile) bool { // and one that was at nothing yet
		open := slices.Collect(d.Engine.Review.ReviewItems())
		f.Inbox.Done = append(f.Inbox.Done, listnotes.DecidedItem{Item: open[0].ID, At: core.StampTime(d.clock.Now()), Decision: op.DecideKeep, IDs: open[0].MemoryIDs})
		return true
	}))
	d.listed()
	d.ticked("Keep it as it is")
	d.wantInbox([]string{"No item needs your decision", " · kept · the tide turns at six"}, "- [")
}

// What is too large for one line of the log is forgotten in several. A daemon that is killed
// between them finishes it, by itself or when somebody decides the same again.
func TestKilledWithinALargeForget(t *testing.T) {
	t.Parallel()
	for _, again := range []string{"ticked", "asked"} {
		t.Run(again, func(t *testing.T) {
			t.Parallel()
			d := inboxDesk(t, nil)
			texts := []string{"a note on " + strings.Repeat("木", 45_000), "a page on " + strings.Repeat("林", 45_000), "a leaf on " + strings.Repeat("森", 45_000)}
			item, ids := d.asked("gc_candidate", texts...)
			d.listed()
			ok(t, d.Lists.Lists.Remember(func(f *listnotes.ListFile) bool {
				f.Inbox.Done = append(f.Inbox.Done, listnotes.DecidedItem{Item: item.ID, At: core.StampTime(d.clock.Now()), Decision: op.DecideForget, IDs: ids})
				return true
			}))
			part := review.DecisionRun{E: d.Engine.Review, By: review.InboxActor(), Item: item, Decision: op.DecideForget}
			ok(t, part.Intend(t.Context()))
			f := memories.ForgetRun{E: d.Engine.Memories, Entry: part.Entry}
			ok(t, f.Some(op.WithCaller(t.Context(), review.InboxActor()), ids[2:]))
			d.wantItem(item, memory.ItemClosed, op.DecideForget)
			if got, err := d.Engine.Review.FindItem(item.ID); err != nil || !strings.Contains(got.Reason, "is in the trash") {
				t.Errorf("half done it says %q, %v", got.Reason, err)
			}
			if again == "ticked" {
				d.write(t, inboxNote, d.withTicks("Forget all 3"))
				d.listed()
				d.wantInbox([]string{" · forgotten · ", "box checked in this note", "emberd undo " + part.Entry}, "- [")
			} else {
				do(t, d.Engine, op.ReviewClose, &op.ReviewCloseRequest{ID: item.ID, Decision: op.DecideForget})
			}
			for _, id := range ids {
				if !d.Stm.Trashed(id) {
					t.Errorf("%s is not in the trash", id)
				}
			}
			do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: part.Entry})
			d.wantItem(item, memory.ItemOpen, "")
			if d.Stm.Len() != 3 {
				t.Errorf("%d memories are back", d.Stm.Len())
			}
		})
	}
}
