package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/engine/listnotes"
	"emberd/memory"
	"emberd/op"
)

// A decision as a daemon makes it: the watcher finds what Obsidian saved, the actor of the
// lists carries it out and writes the note, and undo takes it back.
func TestTheInboxOfADaemon(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, map[string]string{"Home.md": "mine\n"})
	h.ReviewInbox = inboxNote
	e := h.running(t)
	file := filepath.Join(h.Vaults[0], inboxNote)
	says := func(has, not string) func() bool {
		return func() bool {
			note, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(note), has) && !strings.Contains(string(note), not)
		}
	}
	// soon lets what waits become due, and again what that leads to.
	soon := func(what string, is func() bool) {
		t.Helper()
		looks := 0
		until(t, what, func() bool {
			if looks++; looks%300 == 1 {
				h.advance(10 * time.Minute)
				e.Promote.Writing.Nudge()
				e.Lists.Lists.Nudge()
			}
			return is()
		})
	}
	until(t, "the vault is read", func() bool { return e.Notes.Vault.Complete.Load() })
	id := save(t, e, "The parking ticket was 4 euros").ID
	item := do(t, e, op.ReviewCreate, &op.ReviewCreateRequest{MemoryIDs: []string{string(id)}, Action: "gc_candidate", Evidence: "used once"}).Item
	soon("the item appears", says("- [ ] Forget it ^rev-", "## Decided"))

	note, err := os.ReadFile(file)
	ok(t, err)
	ok(t, os.WriteFile(file, []byte(strings.Replace(string(note), "- [ ] Forget it", "- [x] Forget it", 1)), 0o600)) // as Obsidian does
	soon("the tick is carried out", says("## Decided", "- [x]"))
	if !e.Stm.Trashed(id) {
		t.Fatal("the memory is not in the trash")
	}
	note, err = os.ReadFile(file)
	ok(t, err)
	tx := undoIn.FindStringSubmatch(string(note))
	if tx == nil {
		t.Fatalf("the note does not say how to undo it:\n%s", note)
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: tx[1]})
	soon("the item is open again", says("- [ ] Forget it ^rev-", "## Decided"))
	if got, err := e.Review.FindItem(item.ID); err != nil || got.Status != memory.ItemOpen {
		t.Errorf("the item is %+v, %v", got, err)
	}
	l := status(t, e).Vaults[0].Lists
	if len(l) != 1 || l[0].Kind != listnotes.InboxKind || l[0].Path != inboxNote || l[0].Open != 1 {
		t.Errorf("the lists are %+v", l)
	}
}
