package engine_test

import (
	"slices"
	"strings"
	"testing"

	"emberd/engine/review"
	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
)

// claims are the open review items about notes that claim a memory.
func (d *desk) claims() []memory.ReviewItem {
	d.t.Helper()
	return do(d.t, d.Engine, op.ReviewList, &op.ReviewListRequest{Agent: op.ReviewNote}).Items
}

// adopting is the decision that the note of the only claim, as it is shown now, is the memory's.
func (d *desk) adopting() *op.ReviewCloseRequest {
	d.t.Helper()
	return d.adoptingOf(d.claims()[0].ID)
}

func (d *desk) adoptingOf(id string) *op.ReviewCloseRequest {
	d.t.Helper()
	item := do(d.t, d.Engine, op.ReviewShow, &op.ReviewShowRequest{ID: id})
	i := slices.IndexFunc(item.Choices, func(c string) bool { return strings.HasPrefix(c, op.DecideAdopt) })
	if i < 0 {
		d.t.Fatalf("no note can be confirmed: %q", item.Choices)
	}
	return &op.ReviewCloseRequest{ID: item.Item.ID, Decision: item.Choices[i]}
}

// private is a memory that no note was ever made of, and a token for a folder.
func (d *desk) private() (op.Memory, *access.Grant) {
	m := do(d.t, d.Engine, op.Save, &op.SaveRequest{Content: "the safe opens with the old key", Source: "a letter"}).Memory
	return m, &access.Grant{Token: "job", Read: []access.Scope{{Kind: access.Folder, Value: "Work"}}}
}

// Attack 3: a note written by hand, with the ID of a memory that never had a note, changes nothing
// of the memory and shows nothing of it.
func TestANoteByHandTakesNoMemoryOver(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"tags and no text": "---\nmemory-id: %s\ntags: [work]\n---\n",
		"another text":     "---\nmemory-id: %s\n---\nthe safe is open\n",
		"the text alone":   "---\nmemory-id: %s\ntags: [work]\n---\nthe safe opens with the old key\n",
		"stage and text":   "---\nmemory-id: %s\nstage: archived\n---\nthe safe opens with the old key\n",
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, nil)
			m, g := d.private()
			d.edit("Work/Plan.md", strings.Replace(text, "%s", string(m.ID), 1))
			d.restart()
			d.settle()
			now := d.memory(m.ID)
			if now.Content != m.Content || len(now.Tags) > 0 || now.PromotedTo != "" || now.VaultPath != "" || now.Stage != memory.Active {
				t.Errorf("the note took the memory over: %+v", now.Memory)
			}
			_, err := as(g, d.Engine, op.Show, &op.ShowRequest{ID: string(m.ID)})
			wantCode(t, err, memory.NotFound, "")
			items := d.claims()
			if len(items) != 1 || !strings.Contains(items[0].Evidence, "Work/Plan.md") {
				t.Fatalf("the review items are %+v", items)
			}
			shown := do(t, d.Engine, op.ReviewShow, &op.ReviewShowRequest{ID: items[0].ID})
			if shown.Memories[0].Content != m.Content || !slices.Contains(shown.Choices, d.adopting().Decision) {
				t.Errorf("the item shows %+v", shown)
			}
		})
	}
}

// The user confirms the note that was shown, and no other.
func TestTheUserConfirmsANote(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	m, _ := d.private()
	write := func(text string) { d.edit("Plan.md", noteFor(m.ID, text, "safe")) }
	confirm := func(req *op.ReviewCloseRequest) error {
		_, err := op.ReviewClose.Call(t.Context(), d.Engine, req)
		return err
	}
	write("the safe opens with the new key")
	if got := d.claims()[0].Evidence; !strings.Contains(got, "the safe opens with the new key") {
		t.Errorf("the item does not show the note's text: %q", got)
	}
	shown := d.adopting()
	write("the safe opens with no key")
	if got := d.claims()[0].Evidence; !strings.Contains(got, "the safe opens with no key") {
		t.Errorf("the item does not show the note as it is now: %q", got)
	}
	wantCode(t, confirm(shown), memory.Conflict, "the note has changed, so emberd did nothing; to see the current note")
	wantCode(t, confirm(&op.ReviewCloseRequest{ID: shown.ID, Decision: op.DecidePromote}), memory.Invalid, "missing version of the note")
	d.write(t, "Plan.md", noteFor(m.ID, "the safe is empty", "safe"))
	wantCode(t, confirm(d.adopting()), memory.Conflict, "changed or disappeared after emberd showed it")
	if now := d.memory(m.ID); now.Content != m.Content || now.PromotedTo != "" {
		t.Fatalf("a note that the user was not shown became the memory's: %+v", now.Memory)
	}
	write("the safe opens with the new key")
	for _, by := range []memory.Actor{agent, review.InboxActor()} {
		err := refusedAs(t, d.Engine, by, op.ReviewClose, d.adopting())
		wantCode(t, err, memory.Forbidden, "only the user can confirm")
	}
	ok(t, confirm(d.adopting()))
	d.settle()
	if now := d.memory(m.ID); now.Content != "the safe opens with the new key" || now.PromotedTo != "Plan.md" || !slices.Equal(now.Tags, []string{"safe"}) {
		t.Errorf("confirmed, the memory is %+v", now.Memory)
	}
	write("the safe opens with no key")
	if now := d.memory(m.ID); now.Content != "the safe opens with no key" {
		t.Errorf("an edit of the confirmed note was not synced: %+v", now.Memory)
	}
}

// A claim that the user does not accept is not asked again, and the memory can have a note of its own.
func TestTheUserRejectsANote(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	m, _ := d.private()
	d.edit("Plan.md", noteFor(m.ID, "the safe is open"))
	do(t, d.Engine, op.ReviewClose, &op.ReviewCloseRequest{ID: d.claims()[0].ID, Decision: op.DecideKeep})
	d.edit("Plan.md", noteFor(m.ID, "the safe is wide open"))
	if items := d.claims(); len(items) > 0 {
		t.Errorf("asked again: %+v", items)
	}
	got := promoteByID(t, d.Engine, m.ID)
	wantPromotion(t, got, op.PromotionWritten, "Memories/the safe opens with the old key.md")
	d.edit("Plan.md", noteFor(m.ID, "the safe is empty"))
	if now := d.memory(m.ID); now.Content != m.Content {
		t.Errorf("beside the memory's own note another one decides: %+v", now.Memory)
	}
}
