package engine_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
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

// After a rename on one side and an old copy of the note on the other, the old name goes; one that was edited stays and
// is asked about.
func TestANoteAtAnEarlierPathIsRemovedUnlessItWasEdited(t *testing.T) {
	t.Parallel()
	for edited, text := range map[bool]string{false: broker, true: strings.Replace(broker, "5672", "9092", 1)} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			d, id := brokerDesk(t)
			ok(t, os.Rename(d.at("Broker.md"), d.at("Message broker.md")))
			until(t, "the rename counts", func() bool { return d.memory(id).PromotedTo == "Message broker.md" })
			d.write(t, "Broker.md", noteFor(id, text))
			if !edited {
				d.gone("Broker.md")
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
