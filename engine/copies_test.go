package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"emberd/engine/core"
	"emberd/engine/notewrite"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// copyNames are what sync tools call a copy of Broker.md.
func copyNames() map[string]string {
	return map[string]string{
		"Syncthing":     "Broker.sync-conflict-20261122-101112-ABCDEFG.md",
		"Dropbox":       "Broker (ada's conflicted copy 2026-11-22).md",
		"iCloud":        "Broker 2.md",
		"OneDrive":      "Broker-DESKTOP-7.md",
		"Obsidian Sync": "Broker (Conflicted copy laptop 202611221011).md",
	}
}

// gone waits until there is no file at a path of the vault.
func (d *desk) gone(path string) {
	d.t.Helper()
	until(d.t, path+" is gone", func() bool {
		_, err := os.Lstat(d.at(path))
		return os.IsNotExist(err)
	})
}

// brokerDesk has a memory with a note, whose text was changed once.
func brokerDesk(t *testing.T) (*desk, memory.ID) {
	d := watching(t, promotingHouse(t, garden()))
	id := d.keep(broker, "Broker.md")
	d.write(t, "Broker.md", noteFor(id, strings.Replace(broker, "RabbitMQ", "Kafka", 1)))
	until(t, "the edit counts", func() bool { return strings.Contains(d.memory(id).Content, "Kafka") })
	return d, id
}

func TestACopyWithoutAHumansChangeIsRemoved(t *testing.T) {
	t.Parallel()
	for tool, name := range copyNames() {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			d, id := brokerDesk(t)
			d.write(t, name, noteFor(id, broker))
			d.gone(name)
			if text := d.memory(id).Content; !strings.Contains(text, "Kafka") {
				t.Errorf("the text is %q", text)
			}
			if !strings.Contains(d.note(t, "Broker.md"), "Kafka") {
				t.Error("the note was changed")
			}
			if items := do(t, d.Engine, op.ReviewList, &op.ReviewListRequest{}).Items; len(items) > 0 {
				t.Errorf("asked about %+v", items)
			}
			until(t, "the history has it", func() bool {
				return slices.ContainsFunc(do(t, d.Engine, op.Journal, &op.JournalRequest{}).Entries,
					func(e op.JournalEntry) bool {
						return e.Verb == notewrite.CopyVerb && slices.Equal(e.Notes, []string{name})
					})
			})
		})
	}
}

func TestACopyWithAChangeIsMergedIntoTheNote(t *testing.T) {
	t.Parallel()
	for tool, name := range copyNames() {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			d, id := brokerDesk(t)
			d.write(t, name, noteFor(id, strings.Replace(broker, "5672", "9092", 1)))
			want := "The broker is Kafka. It has two queues. The port is 9092."
			until(t, "the texts are one", func() bool { return d.memory(id).Content == want })
			d.gone(name)
			d.rest(t, d.Engine)
			until(t, "the note has both", func() bool { return strings.Contains(d.note(t, "Broker.md"), want) })
		})
	}
}

func TestACopyThatCollidesStaysUntilTheUserDecides(t *testing.T) {
	t.Parallel()
	d, id := brokerDesk(t)
	name := copyNames()["Syncthing"]
	d.write(t, name, noteFor(id, strings.Replace(broker, "RabbitMQ", "Pulsar", 1)))
	var item memory.ReviewItem
	until(t, "somebody is asked", func() bool {
		items := do(t, d.Engine, op.ReviewList, &op.ReviewListRequest{}).Items
		if len(items) == 1 {
			item = items[0]
		}
		return len(items) == 1
	})
	if len(item.Texts) != 1 || !strings.Contains(item.Texts[0].Text, "Pulsar") || item.Texts[0].Note != name {
		t.Errorf("asked about %+v", item)
	}
	if hits := searchFor(t, d.Engine, "pulsar"); len(hits) == 0 || hits[0].ID != id {
		t.Errorf("a search for the copy's text finds %+v", hits)
	}
	if !strings.Contains(d.note(t, name), "Pulsar") {
		t.Error("the copy was changed")
	}
	do(t, d.Engine, op.ReviewClose, &op.ReviewCloseRequest{ID: item.ID, Decision: op.DecideKeep})
	d.gone(name)
	if text := d.memory(id).Content; !strings.Contains(text, "Kafka") {
		t.Errorf("the text is %q", text)
	}
}

func TestACopyOfWhatIsNoMemorysNoteIsNotTouched(t *testing.T) {
	t.Parallel()
	d, id := brokerDesk(t)
	plain := "Plain.sync-conflict-20261122-101112-ABCDEFG.md"
	d.write(t, "Plain.md", "mine\n")
	d.write(t, plain, "mine, too\n")
	own := "Broker.sync-conflict-20261122-101112-HIJKLMN.md"
	d.write(t, own, strings.Replace(noteFor(id, broker), "---\n", "---\nrating: 5\n", 1))
	name := copyNames()["Dropbox"]
	d.write(t, name, noteFor(id, broker))
	d.gone(name) // and so emberd has looked at the folder
	if got := d.note(t, plain); got != "mine, too\n" {
		t.Errorf("the copy of a plain note is %q", got)
	}
	if got := d.note(t, own); !strings.Contains(got, "rating: 5") {
		t.Errorf("the copy with a property of the user is %q", got)
	}
}

// A note that comes back at the path from which it was renamed goes when the memory has what it says. One whose edit
// collides with the memory's text stays and is asked about.
func TestANoteAtAnEarlierPathIsMergedUnlessItsEditCollides(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		broker: "",
		strings.Replace(broker, "5672", "9092", 1):       "The broker is Kafka. It has two queues. The port is 9092.",
		strings.Replace(broker, "RabbitMQ", "Pulsar", 1): "asked",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			d, id := brokerDesk(t)
			ok(t, os.Rename(d.at("Broker.md"), d.at("Message broker.md")))
			until(t, "the rename counts", func() bool { return d.memory(id).PromotedTo == "Message broker.md" })
			d.write(t, "Broker.md", noteFor(id, text))
			if want != "asked" {
				d.gone("Broker.md")
				d.rest(t, d.Engine)
				until(t, "the note has it", func() bool { return strings.Contains(d.note(t, "Message broker.md"), want) })
				if m := d.memory(id); m.PromotedTo != "Message broker.md" || !strings.Contains(m.Content, want) {
					t.Errorf("the memory is %+v", m.Memory)
				}
				return
			}
			until(t, "somebody is asked", func() bool {
				return len(do(t, d.Engine, op.ReviewList, &op.ReviewListRequest{Agent: op.ReviewNote}).Items) == 1
			})
			found := do(t, d.Engine, op.VaultCheck, &op.VaultCheckRequest{}).Findings
			if !slices.ContainsFunc(found, func(f op.Finding) bool {
				return f.Kind == "duplicate" && f.Path == "Broker.md" && strings.Contains(f.Text, "emberd review show rev-")
			}) {
				t.Errorf("found %+v", found)
			}
		})
	}
}

// A note is edited and renamed, and the other device renames it, too, without the edit. The edit is in the one that stays.
func TestTheSecondOfTwoRenamesIsMerged(t *testing.T) {
	t.Parallel()
	d, id := brokerDesk(t)
	before := d.memory(id).Content
	want := strings.Replace(before, "5672", "9092", 1)
	d.write(t, "Broker.md", noteFor(id, want))
	until(t, "the edit counts", func() bool { return d.memory(id).Content == want })
	ok(t, os.Rename(d.at("Broker.md"), d.at("Mine.md")))
	until(t, "the rename counts", func() bool { return d.memory(id).PromotedTo == "Mine.md" })
	d.logHome(id, "Theirs.md")
	d.write(t, "Theirs.md", noteFor(id, before))
	d.gone("Mine.md")
	until(t, "the note has the edit", func() bool {
		d.rest(t, d.Engine)
		m := d.memory(id)
		return m.Content == want && m.PromotedTo == "Theirs.md" && strings.Contains(d.note(t, "Theirs.md"), want)
	})
}

// Two devices may each take away the note that the other one keeps: the memory's note comes back once. When a person
// deletes it then, the memory goes to the trash.
func TestTheMergedNoteComesBackWhenTheOtherGoes(t *testing.T) {
	t.Parallel()
	d, id := brokerDesk(t)
	text := d.memory(id).Content
	ok(t, os.Rename(d.at("Broker.md"), d.at("Message broker.md")))
	until(t, "the rename counts", func() bool { return d.memory(id).PromotedTo == "Message broker.md" })
	d.write(t, "Broker.md", noteFor(id, text))
	d.gone("Broker.md")
	ok(t, os.Remove(d.at("Message broker.md")))
	until(t, "the note is back", func() bool {
		got, err := os.ReadFile(d.at("Message broker.md"))
		return err == nil && strings.Contains(string(got), text)
	})
	if _, live := d.Stm.Get(id); !live {
		t.Error("the memory moved to the trash")
	}
	d.rest(t, d.Engine)
	until(t, "the note counts", func() bool { return len(d.Notes.Vault.Carriers.Of(id)) == 1 && !d.Sync.Sync.Contains(id) })
	ok(t, os.Remove(d.at("Message broker.md")))
	until(t, "the deletion counts", func() bool { return d.Stm.Trashed(id) })
}

// Two daemons look after a note that came back at its earlier path at the same time: one note stays, with both texts.
func TestTwoDaemonsMergeANoteAtAnEarlierPath(t *testing.T) {
	t.Parallel()
	desktop := promotingHouse(t, garden())
	laptop := promotingHouse(t, nil)
	laptop.Vaults, laptop.Data = desktop.Vaults, desktop.Data
	desktop.Options.Pace = core.SyncDelays{Settle: brisk().Settle, Others: brisk().Settle}
	laptop.Options.Pace = desktop.Options.Pace
	one, two := watching(t, desktop), watching(t, laptop)
	id := one.keep(broker, "Broker.md")
	both := []memory.ID{id}
	until(t, "both know the note", func() bool { return agree(both, one, two) && two.memory(id).PromotedTo != "" })
	ok(t, os.Rename(one.at("Broker.md"), one.at("Message broker.md")))
	until(t, "the rename counts", func() bool {
		return agree(both, one, two) && one.memory(id).PromotedTo == "Message broker.md"
	})
	one.write(t, "Broker.md", noteFor(id, strings.Replace(broker, "5672", "9092", 1)))
	one.gone("Broker.md")
	want := strings.Replace(broker, "5672", "9092", 1)
	until(t, "one note has it", func() bool {
		one.rest(t, one.Engine)
		two.rest(t, two.Engine)
		m := one.memory(id)
		return agree(both, one, two) && m.Content == want && m.PromotedTo == "Message broker.md" &&
			strings.Contains(one.note(t, "Message broker.md"), want)
	})
}

// logHome gives a memory another path of its note in the log, as a device does that saw a rename.
func (d *desk) logHome(id memory.ID, path string) {
	d.t.Helper()
	raw, err := json.Marshal(path)
	ok(d.t, err)
	_, err = d.Stm.Update(d.t.Context(), []memory.ID{id}, "", func([]*stm.Row) (*stm.Tx, error) {
		set := map[string]json.RawMessage{"promoted_to": raw, "vault_path": raw}
		return &stm.Tx{Verb: "note", Changes: []stm.Change{{ID: id, Set: set}}}, nil
	})
	ok(d.t, err)
}

// A copy has the earlier name of the note of a memory in the trash, and the copy goes, since the log has what it says.
func TestACopyBesideTheRenamedNoteOfAForgottenMemory(t *testing.T) {
	t.Parallel()
	d, id := brokerDesk(t)
	text := d.memory(id).Content
	do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(id)})
	ok(t, os.Rename(d.at("Broker.md"), d.at("Message broker.md")))
	d.write(t, "Message broker.md", noteFor(id, text+" A person adds this."))
	name := copyNames()["Syncthing"]
	d.write(t, name, noteFor(id, text))
	d.gone(name)
	if !strings.Contains(d.note(t, "Message broker.md"), "A person adds this.") {
		t.Error("the note was changed")
	}
}

// Beside the note of a memory in the trash a copy goes if the log has what it says, and stays otherwise.
func TestACopyBesideTheNoteOfAForgottenMemory(t *testing.T) {
	t.Parallel()
	d, id := brokerDesk(t)
	do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(id)})
	kept := "Broker.sync-conflict-20261122-101113-ABCDEFG.md"
	d.write(t, kept, noteFor(id, broker+" Nobody else says this."))
	name := copyNames()["Syncthing"]
	d.write(t, name, noteFor(id, broker))
	d.gone(name)
	if !strings.Contains(d.note(t, kept), "Nobody else") {
		t.Error("the copy with a change was touched")
	}
}

// The text of a copy beside the note of a memory in the trash is none that the memory had, and the memory has all of its
// lines. The copy goes.
func TestACopyWhoseLinesAForgottenMemoryHas(t *testing.T) {
	t.Parallel()
	d, id := brokerDesk(t)
	for _, text := range []string{broker + "\n\nIt has a mirror.", "Ask Ada.\n\n" + broker + "\n\nIt has a mirror.\n\nIt is old."} {
		do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: &text})
		d.rest(t, d.Engine)
	}
	do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(id)})
	kept := "Broker.sync-conflict-20261122-101113-ABCDEFG.md"
	d.write(t, kept, noteFor(id, "Ask Ada.\n\nIt has a mirror.\n\nIt is old.")) // one line was removed
	name := copyNames()["Syncthing"]
	d.write(t, name, noteFor(id, broker+"\n\nIt has a mirror.\n\nIt is old."))
	d.gone(name)
	if strings.Contains(d.note(t, kept), broker) {
		t.Error("the copy with a change was touched")
	}
}

// An archived memory that was never promoted has its note in the archive folder. A copy beside that goes, too.
func TestACopyBesideTheNoteOfAnArchivedMemory(t *testing.T) {
	t.Parallel()
	d := watching(t, promotingHouse(t, garden()))
	id := save(t, d.Engine, broker).ID
	do(t, d.Engine, op.Archive, &op.ArchiveRequest{ID: string(id)})
	path := d.memory(id).VaultPath
	note := d.note(t, path)
	name := strings.TrimSuffix(path, ".md") + ".sync-conflict-20261122-101112-ABCDEFG.md"
	d.write(t, name, note)
	d.gone(name)
	if got := d.note(t, path); got != note {
		t.Errorf("the note was changed to %q", got)
	}
}

// A write that waits for a copy to go keeps neither an edit of the note nor the copy waiting.
func TestACopyAWriteAndAnEditDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	d, id := brokerDesk(t)
	note := d.note(t, "Broker.md")
	name := copyNames()["Syncthing"]
	ok(t, os.WriteFile(d.at(name), []byte(noteFor(id, broker)), 0o600))
	text := strings.Replace(d.memory(id).Content, "two queues", "three queues", 1)
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: &text, AddTags: []string{"queue"}})
	ok(t, os.WriteFile(d.at("Broker.md"), []byte(strings.Replace(note, "5672", "9092", 1)), 0o600))
	want := "The broker is Kafka. It has three queues. The port is 9092."
	until(t, "memory and note have both edits", func() bool {
		d.rest(t, d.Engine)
		return d.memory(id).Content == want && strings.Contains(d.note(t, "Broker.md"), want)
	})
}

// A memory comes back from the trash while its note says more, about which emberd asks. A copy beside that note goes
// if the log has what it says, and stays otherwise.
func TestACopyBesideANoteThatIsAskedAbout(t *testing.T) {
	t.Parallel()
	d, id := brokerDesk(t)
	text := d.memory(id).Content
	do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(id)})
	d.write(t, "Broker.md", noteFor(id, text+" A person adds this."))
	d.rest(t, d.Engine)
	do(t, d.Engine, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(id)}})
	until(t, "emberd asks about the note", func() bool {
		return len(do(t, d.Engine, op.ReviewList, &op.ReviewListRequest{}).Items) == 1
	})
	kept := "Broker.sync-conflict-20261122-101113-ABCDEFG.md"
	d.write(t, kept, noteFor(id, broker+" Only this copy says this."))
	name := copyNames()["Syncthing"]
	d.write(t, name, noteFor(id, broker))
	d.gone(name)
	if d.memory(id).Content != text || !strings.Contains(d.note(t, "Broker.md"), "A person adds this.") ||
		!strings.Contains(d.note(t, kept), "Only this copy") {
		t.Error("the memory, its note, or the copy with a change was touched")
	}
}

// The note of a memory whose first line changed has no alias, a copy of its earlier note has that line as one. Only an
// alias that emberd did not give keeps the copy.
func TestACopyWithAnEarlierAlias(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("a long first line that no file name has room for, ", 3) + "the end."
	d := watching(t, promotingHouse(t, garden()))
	id := d.keep(line, "Broker.md")
	text := "A short title.\n\n" + line
	d.write(t, "Broker.md", noteFor(id, text))
	until(t, "the edit counts", func() bool { return d.memory(id).Content == text })
	kept := "Broker.sync-conflict-20261122-101113-ABCDEFG.md"
	d.write(t, kept, withProperties(id, "aliases:\n  - \"Given by a person\"\n", line))
	name := copyNames()["Syncthing"]
	d.write(t, name, withProperties(id, fmt.Sprintf("aliases:\n  - %q\n", line), line))
	d.gone(name)
	if !strings.Contains(d.note(t, kept), "Given by a person") {
		t.Error("the copy with an alias of a person was touched")
	}
}
