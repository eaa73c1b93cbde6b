package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/engine/review"
	"emberd/internal/beads"
	"emberd/memory"
	"emberd/op"
)

// fakeTracker is a bd on PATH that keeps each issue as a file: its status, its assignee
// and its reference. It fails while there is a file "broken" beside them, and after it made
// an issue while there is one "late".
type fakeTracker struct {
	t   testing.TB
	dir string
}

const fakeBD = `#!/bin/sh
cd %q || exit 1
echo "$@" >>calls
[ -e broken ] && { echo 'database is locked' >&2; exit 1; }
for a in "$@"; do case $a in
	--status=*) status=${a#*=} ;; --assignee=*) who=${a#*=} ;; --external-ref=*) ref=${a#*=} ;;
esac; done
case $1 in
create) id=em-$(($(ls | grep -c '^em-') + 1)); echo "open - $ref" >$id; [ -e late ] && exit 1; echo "{\"id\":\"$id\"}" ;;
update) read -r _ _ ref <$2; echo "$status ${who:--} $ref" >$2; echo '[]' ;;
close) ref=$(sed 's/.* //' $2); echo "closed - $ref" >$2; echo '[]' ;;
list) printf '['; sep=; for i in em-*; do [ -e $i ] || continue; printf '%%s{"id":"%%s","external_ref":"%%s"}' "$sep" $i "$(sed 's/.* //' $i)"; sep=,; done; echo ']' ;;
esac
`

func newFakeTracker(t *testing.T) *fakeTracker {
	t.Helper()
	f := &fakeTracker{t: t, dir: t.TempDir()}
	bin := t.TempDir()
	f.write(filepath.Join(bin, beads.Program), fmt.Sprintf(fakeBD, f.dir))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return f
}

func (f *fakeTracker) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
		f.t.Fatal(err)
	}
}

// issues tells the status of each issue, and whose it is.
func (f *fakeTracker) issues() string {
	f.t.Helper()
	files, err := filepath.Glob(filepath.Join(f.dir, "em-*"))
	if err != nil {
		f.t.Fatal(err)
	}
	var out []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.t.Fatal(err)
		}
		words := strings.Fields(string(b))
		out = append(out, filepath.Base(file)+" "+strings.Join(words[:len(words)-1], " "))
	}
	return strings.Join(out, ", ")
}

func (f *fakeTracker) calls() string {
	b, _ := os.ReadFile(filepath.Join(f.dir, "calls")) // none without a call
	return string(b)
}

// mirrored wants one look to leave these issues.
func (f *fakeTracker) mirrored(e *engine.Engine, when, want string) {
	f.t.Helper()
	if err := e.Review.MirrorItems(context.Background()); err != nil {
		f.t.Errorf("%s: %v", when, err)
	}
	if got := f.issues(); got != want {
		f.t.Errorf("%s the issues are %q, want %q", when, got, want)
	}
}

// The tracker follows what happens to items, and is told no word of a memory.
func TestReviewItemsAreMirrored(t *testing.T) {
	f := newFakeTracker(t)
	h := newHouse(t)
	h.Beads = &beads.Tracker{}
	e := h.open(t)
	a, b := save(t, e, "quixotic zeppelin"), save(t, e, "quixotic balloon")
	made := do(t, e, op.ReviewCreate, &op.ReviewCreateRequest{MemoryIDs: []string{string(a.ID), string(b.ID)}, Agent: op.ReviewCluster, Action: "merge quixotic",
		Urgency: op.UrgencyHigh, Evidence: "both are quixotic", Labels: []string{"quixotic"}})
	item := made.Item
	f.mirrored(e, "filed", "em-1 open -")
	if got := do(t, e, op.ReviewShow, &op.ReviewShowRequest{ID: item.ID}).Item.Bead; got != "em-1" {
		t.Errorf("the item's issue is %q", got)
	}
	calls := f.calls()
	for _, want := range []string{"--labels=consolidation:cluster,urgency:high", "--priority=1", "--external-ref=" + item.ID, string(b.ID)} {
		if !strings.Contains(calls, want) {
			t.Errorf("bd was not told %s: %s", want, calls)
		}
	}
	do(t, e, op.ReviewClaim, &op.ReviewClaimRequest{ID: item.ID, By: "ann"})
	f.mirrored(e, "claimed", "em-1 in_progress ann")
	closed := do(t, e, op.ReviewClose, &op.ReviewCloseRequest{ID: item.ID, Decision: op.DecideKeep, Reason: "quixotic"})
	f.mirrored(e, "closed", "em-1 closed -")
	do(t, e, op.Undo, &op.UndoRequest{Tx: closed.Tx})
	f.mirrored(e, "undone", "em-1 in_progress ann")
	forgot := do(t, e, op.Forget, &op.ForgetRequest{ID: string(a.ID)})
	f.mirrored(e, "forgotten", "em-1 closed -")
	do(t, e, op.Undo, &op.UndoRequest{Tx: forgot.Tx})
	f.mirrored(e, "brought back", "em-1 in_progress ann")
	ok(t, e.Close())

	e = h.open(t)
	before := f.calls()
	f.mirrored(e, "after a start", "em-1 in_progress ann")
	if after := f.calls(); after != before {
		t.Errorf("a start without changes called bd: %s", strings.TrimPrefix(after, before))
	}
	ok(t, e.Close())
	ok(t, os.RemoveAll(filepath.Join(h.State, "beads")))
	e = h.open(t)
	f.mirrored(e, "without its state", "em-1 in_progress ann") // and not em-2
	do(t, e, op.Undo, &op.UndoRequest{Tx: made.Tx, Force: true})
	f.mirrored(e, "rolled back", "em-1 closed -")
	if calls := f.calls(); strings.Contains(calls, "quixotic") {
		t.Errorf("bd was told words of memories: %s", calls)
	}
}

// An issue that was made although bd failed, or the daemon was killed then, is not made twice.
func TestAnIssueIsNotMadeTwice(t *testing.T) {
	f := newFakeTracker(t)
	h := newHouse(t)
	h.Beads = &beads.Tracker{}
	e := h.open(t)
	fileOne(t, e, op.ReviewDecay, review.NeedsReview, true, save(t, e, "anchor"))
	late := filepath.Join(f.dir, "late")
	f.write(late, "")
	if err := e.Review.MirrorItems(t.Context()); err == nil {
		t.Error("bd failed, and nobody was told")
	}
	ok(t, os.Remove(late))
	ok(t, e.Close())
	e = h.open(t)
	f.mirrored(e, "after a start", "em-1 open -")
	fileOne(t, e, op.ReviewDecay, review.NeedsReview, true, save(t, e, "boat"))
	f.mirrored(e, "with another", "em-1 open -, em-2 open -")
}

// Without bd, or with one that fails, all works but the mirror, and status says so.
func TestATrackerThatFailsKeepsNothingFromWorking(t *testing.T) {
	f := newFakeTracker(t)
	h := newHouse(t)
	h.Beads, h.Pace = &beads.Tracker{}, core.SyncDelays{Settle: core.SettleAfter, Others: core.OthersAfter, Mirror: time.Millisecond}
	e := h.open(t)
	f.write(filepath.Join(f.dir, "broken"), "")
	stop := inTheBackground(t, e)
	item := fileOne(t, e, op.ReviewDecay, review.NeedsReview, true, save(t, e, "anchor"))
	until(t, "status tells of the failure", func() bool {
		return strings.Contains(strings.Join(do(t, e, op.Status, &op.StatusRequest{}).Warnings, " "), "database is locked")
	})
	decide(t, e, item, op.DecideKeep)
	stop()
	ok(t, os.Remove(filepath.Join(f.dir, "broken")))
	again := fileOne(t, e, op.ReviewPromote, "promote", true, save(t, e, "boat"))
	stop = inTheBackground(t, e)
	until(t, "the item has an issue", func() bool { return e.Review.Mirror.Bead(again.ID) == "em-1" })
	stop()
	f.mirrored(e, "in the end", "em-1 open -")
	t.Setenv("PATH", t.TempDir())
	do(t, e, op.ReviewClaim, &op.ReviewClaimRequest{ID: again.ID, By: "ann"})
	if err := e.Review.MirrorItems(t.Context()); err == nil || !strings.Contains(err.Error(), "program bd not found on PATH, or its folder is missing") {
		t.Errorf("without a program: %v", err)
	}
	if got, err := e.Review.FindItem(again.ID); err != nil || got.Status != memory.ItemClaimed {
		t.Errorf("the item is %+v, %v", got, err)
	}
}
