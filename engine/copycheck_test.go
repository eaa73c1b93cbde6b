package engine_test

import (
	"slices"
	"strings"
	"testing"

	"emberd/op"
)

const syncCopy = "Broker.sync-conflict-20261122-101112-ABCDEFG.md"

// A check of the vault asks the user for work only if emberd neither settles a copy nor asks about it.
func TestACheckSaysWhatBecomesOfACopy(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		home, path string
		change     func(note string) string
		says       string
	}{
		"another text":       {"Broker.md", syncCopy, func(note string) string { return strings.Replace(note, "RabbitMQ", "Pulsar", 1) }, "run: emberd review show rev-"},
		"an added property":  {"Broker.md", syncCopy, func(note string) string { return strings.Replace(note, "---\n", "---\nrating: 5\n", 1) }, `compare it with the original and delete one of them; emberd does not resolve the conflict automatically: the property "rating" differs between this note and the note of the memory`},
		"another tag":        {"Broker.md", "Broker 2.md", func(note string) string { return strings.Replace(note, "---\n", "---\ntags: [mine]\n", 1) }, `remove the property memory-id from this note; emberd does not resolve the conflict automatically: the property "tags" of this note has a value that the memory never had`},
		"a part at its end":  {"Broker.md", syncCopy, func(note string) string { return note + "\n<!-- emberd:links -->\nmine\n<!-- /emberd:links -->\n" }, "this note differs from the note of the memory outside of the text"},
		"of a note of yours": {"Plain.md", "Plain (conflicted copy).md", func(string) string { return "mine, too\n" }, "compare it with the original and delete one of them"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d := shelf(t, map[string]string{"Plain.md": "mine\n"})
			id := d.kept(broker, "Broker.md")
			do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: new(strings.Replace(broker, "RabbitMQ", "Kafka", 1))})
			d.rest(t, d.Engine)
			d.write(t, c.path, c.change(noteFor(id, broker)))
			d.batch([]string{c.path}, nil)
			if young := d.found(c.path); young.Waits != (c.home == "Broker.md") || young.Waits && !strings.Contains(young.Text, "if the notes do not change for two minutes") {
				t.Errorf("at first: %+v", young)
			}
			d.settle()
			got := d.found(c.path)
			if !strings.Contains(got.Text, c.says) || got.Waits || (got.Item != "") != strings.Contains(c.says, "review show") {
				t.Errorf("found %+v, want %q", got, c.says)
			}
		})
	}
}

// found is what a check of the vault finds about a note.
func (d *desk) found(path string) op.Finding {
	d.t.Helper()
	all := do(d.t, d.Engine, op.VaultCheck, &op.VaultCheckRequest{}).Findings
	i := slices.IndexFunc(all, func(f op.Finding) bool { return f.Path == path })
	if i < 0 {
		d.t.Fatalf("nothing about %s in %+v", path, all)
	}
	return all[i]
}

// The question about a note at an earlier path says why the note was not merged.
func TestTheQuestionAboutANoteSaysWhyItWasNotMerged(t *testing.T) {
	t.Parallel()
	for why, note := range map[string]func(note string) string{
		`the property "rating" differs between this note and the note of the memory`:   func(note string) string { return strings.Replace(note, "---\n", "---\nrating: 5\n", 1) },
		"this note and the memory have different changes in the same part of the text": func(note string) string { return strings.Replace(note, "RabbitMQ", "Pulsar", 1) },
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			d := shelf(t, nil)
			id := d.kept(broker, "Broker.md")
			d.move("Broker.md", "Message broker.md")
			d.edit("Message broker.md", noteFor(id, strings.Replace(broker, "RabbitMQ", "Kafka", 1)))
			d.edit("Broker.md", note(noteFor(id, broker)))
			asked := d.claims()
			if len(asked) != 1 || !strings.Contains(asked[0].Evidence, "emberd does not merge this note into the note of the memory automatically: "+why+".") {
				t.Errorf("asked %+v", asked)
			}
		})
	}
}
