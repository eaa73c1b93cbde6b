package review

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// FileNoteClaim creates a review item for a note that carries the ID of a memory and is not the
// memory's note. The item shows what the note would change in the memory. The decision
// promote makes this note the memory's, unless its bytes have changed; keep leaves the memory as
// it is. left says why the note was not merged into the memory's, "" if it is no copy of that.
func (e *Review) FileNoteClaim(ctx context.Context, id memory.ID, note *vault.Note, left string) error {
	row, live := e.Stm.Get(id)
	if !live {
		return e.Missing(id)
	}
	m, err := row.Memory()
	if err != nil {
		return err
	}
	item := memory.ReviewItem{Agent: op.ReviewNote, Action: op.AdoptNote, MemoryIDs: []memory.ID{id},
		Labels: []string{op.NoteLabel + hex.EncodeToString(note.Digest[:]), core.NotePathLabel(note.Path)},
		ID:     memory.ReviewItemID(op.ReviewNote, []memory.ID{id})}
	item.Evidence = claimEvidence(&item, &m, note, left, e.Opt.DetectSecrets)
	there, err := e.FindItem(item.ID)
	if err == nil && there.ClosedAt.IsZero() {
		return e.showAgain(ctx, there, &item)
	}
	_, _, err = e.FileItems(ctx, core.VaultActor(), "", []memory.ReviewItem{item})
	return err
}

// showAgain updates an open item to the note as it is now.
func (e *Review) showAgain(ctx context.Context, there memory.ReviewItem, is *memory.ReviewItem) error {
	if !slices.ContainsFunc(is.Labels, func(l string) bool { return !slices.Contains(there.Labels, l) }) {
		return nil
	}
	_, _, err := e.changeFound(ctx, core.VaultActor(), core.FileVerb, "", there, func(item *memory.ReviewItem) error {
		item.Evidence, item.Labels = is.Evidence, append(core.StandardLabels(item), is.Labels...)
		return nil
	})
	return err
}

// mayAdopt returns an error if the caller cannot confirm that a note is a memory's. A model cannot, and
// neither can a tick in the review note, which anyone who writes to the vault can make.
func mayAdopt(item *memory.ReviewItem, by memory.Actor, decision string) error {
	if !adopts(item, decision) || !slices.Contains([]string{core.ViaMCP, InboxActor().Via}, by.Via) {
		return nil
	}
	return memory.Errorf(memory.Forbidden,
		"only the user can confirm that a note belongs to memory %s; run: emberd review show %s",
		item.MemoryIDs[0].Short(), item.ID).At("decision")
}

// adoptDecision returns the decision that the note of an item, as the item shows it, is the memory's. Its
// digits are 64 bits of the SHA-256 of what the labels say of the note: its bytes and its path.
func adoptDecision(item *memory.ReviewItem) string {
	shown := slices.DeleteFunc(slices.Clone(item.Labels), func(l string) bool {
		return !strings.HasPrefix(l, op.NoteLabel) && !strings.HasPrefix(l, op.NotePathLabel)
	})
	slices.Sort(shown)
	sum := sha256.Sum256([]byte(strings.Join(shown, "\n")))
	return op.DecideAdopt + hex.EncodeToString(sum[:8])
}

// withoutNote returns a decision without the digits of a note.
func withoutNote(item *memory.ReviewItem, decision string) string {
	if item.Agent == op.ReviewNote && strings.HasPrefix(decision, op.DecideAdopt) {
		return op.DecidePromote
	}
	return decision
}

// adopts reports whether a decision is that the note of an item is the memory's.
func adopts(item *memory.ReviewItem, decision string) bool {
	return item.Agent == op.ReviewNote && withoutNote(item, decision) == op.DecidePromote
}

// checkShown returns an error for the decision that a note is the memory's, unless it names the note that
// the item shows now: a note can change after the user has looked at it, and the item with it.
func checkShown(item *memory.ReviewItem, decision string) error {
	switch {
	case !adopts(item, decision) || decision == adoptDecision(item):
		return nil
	case decision == op.DecidePromote:
		return memory.Errorf(memory.Invalid,
			"missing version of the note in the decision; to see the note and the command, run: emberd review show %s",
			item.Short()).At("decision")
	}
	return memory.Errorf(memory.Conflict,
		"the note has changed, so emberd did nothing; to see the current note, run: emberd review show %s",
		item.Short()).At("decision")
}

// claimOverReason returns why nothing is left to decide about a note: the log names it as the memory's
// by now, or it no longer carries the ID. It returns "" if there is.
func (e *Review) claimOverReason(item *memory.ReviewItem, row *stm.Row) string {
	if item.Agent != op.ReviewNote {
		return ""
	}
	shown := shownWith(item)
	claims := func(path string) bool { return path != "" && shown(path) }
	switch {
	case claims(core.NoteOfRow(row)) && !row.Has("note_gone"):
		return "the note now belongs to memory " + row.ID().Short()
	case e.Notes.Vault == nil || !e.Notes.Vault.Complete.Load():
		return ""
	case !slices.ContainsFunc(e.Notes.Vault.Carriers.Of(row.ID()), claims):
		return "the note no longer contains the ID of memory " + row.ID().Short()
	}
	return ""
}

// shownWith returns whether the note that an item is about was shown with a path.
func shownWith(item *memory.ReviewItem) func(path string) bool {
	return func(path string) bool { return slices.Contains(item.Labels, core.NotePathLabel(path)) }
}

// claimedDigest returns the digest of the note that an item is about, zero for none.
func claimedDigest(item *memory.ReviewItem) (digest [sha256.Size]byte) {
	for _, label := range item.Labels {
		if text, is := strings.CutPrefix(label, op.NoteLabel); is && item.Agent == op.ReviewNote {
			if raw, err := hex.DecodeString(text); err == nil && len(raw) == len(digest) {
				return [sha256.Size]byte(raw)
			}
		}
	}
	return digest
}
