package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// logText gives a memory a text in the log and not in its note, as an edit does whose note has to wait.
func (d *desk) logText(id memory.ID, text string) {
	d.t.Helper()
	raw, err := json.Marshal(text)
	ok(d.t, err)
	_, err = d.Stm.Update(d.t.Context(), []memory.ID{id}, "", func([]*stm.Row) (*stm.Tx, error) {
		return &stm.Tx{Verb: "edit", Changes: []stm.Change{{ID: id, Set: map[string]json.RawMessage{"content": raw}}}}, nil
	})
	ok(d.t, err)
}

func TestAnEditOfTheNoteAndOneOfTheMemoryAtOnceMerge(t *testing.T) {
	t.Parallel()
	d := watching(t, promotingHouse(t, garden()))
	id := d.keep(broker, "Broker.md")
	d.logText(id, strings.Replace(broker, "RabbitMQ", "Kafka", 1))
	d.write(t, "Broker.md", noteFor(id, strings.Replace(broker, "5672", "9092", 1)))
	want := "The broker is Kafka. It has two queues. The port is 9092."
	until(t, "the texts are one", func() bool { return d.memory(id).Content == want })
	d.rest(t, d.Engine)
	until(t, "the note has it", func() bool { return strings.Contains(d.note(t, "Broker.md"), want) })
	if items := do(t, d.Engine, op.ReviewList, &op.ReviewListRequest{}).Items; len(items) > 0 {
		t.Errorf("asked about %+v", items)
	}
}

func TestAnEditOfTheNoteWinsAndTheMemorysTextIsAskedAbout(t *testing.T) {
	t.Parallel()
	d := watching(t, promotingHouse(t, garden()))
	id := d.keep(broker, "Broker.md")
	d.logText(id, strings.Replace(broker, "RabbitMQ", "Kafka", 1))
	d.write(t, "Broker.md", noteFor(id, strings.Replace(broker, "RabbitMQ", "Pulsar", 1)))
	until(t, "the note counts", func() bool { return strings.Contains(d.memory(id).Content, "Pulsar") })
	items := do(t, d.Engine, op.ReviewList, &op.ReviewListRequest{}).Items
	if len(items) != 1 || !strings.Contains(items[0].Texts[0].Text, "Kafka") {
		t.Fatalf("asked about %+v", items)
	}
	if hits := searchFor(t, d.Engine, "kafka"); len(hits) == 0 || hits[0].ID != id {
		t.Errorf("a search for the other text finds %+v", hits)
	}
	d.advance(time.Hour)
	choices := do(t, d.Engine, op.ReviewShow, &op.ReviewShowRequest{ID: items[0].ID}).Choices
	do(t, d.Engine, op.ReviewClose, &op.ReviewCloseRequest{ID: items[0].ID, Decision: choices[1]})
	until(t, "the note has the other text", func() bool { return strings.Contains(d.note(t, "Broker.md"), "Kafka") })
	if text := d.memory(id).Content; !strings.Contains(text, "Kafka") {
		t.Errorf("the text is %q", text)
	}
}

// The write of a memory's fields to its note may wait for long. What the user changes there meanwhile does not.
func TestAnEditOfANoteCountsWhileAWriteToItWaits(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	id := d.kept("the kettle leaks", "Kettle.md", "kitchen")
	done := busy(t, d.house)
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: new("the pot leaks"), Tags: new([]string{"pots"}), Category: new("tea")})
	d.edit("Kettle.md", noteFor(id, "the can leaks", "kitchen"))
	if m := d.memory(id); m.Content != "the can leaks" || m.Tags[0] != "pots" || m.Category != "tea" {
		t.Errorf("the memory is %+v", m.Memory)
	}
	if got := d.Promote.Pending.Fields(id); strings.Join(got, " ") != "category tags" {
		t.Errorf("waiting %q", got)
	}
	done()
	d.rest(t, d.Engine)
	wantNote(t, d.house, "Kettle.md", "the can leaks", "- \"pots\"", "category: \"tea\"")
	wantSettled(t, d.Engine, id)
}

// A search that finds a memory by a text that waits for a decision says so, and so does the memory.
func TestASearchForATextThatWaitsNamesTheQuestion(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	id := d.kept(broker, "Broker.md")
	d.logText(id, strings.Replace(broker, "RabbitMQ", "Kafka", 1))
	d.edit("Broker.md", noteFor(id, strings.Replace(broker, "RabbitMQ", "Pulsar", 1)))
	item := do(t, d.Engine, op.ReviewList, &op.ReviewListRequest{Agent: op.ReviewText}).Items[0]
	for word, why := range map[string]string{"kafka": "matches another text of the memory; to choose one of the texts, run: emberd review show " + item.Short(), "pulsar": ""} {
		hits := searchFor(t, d.Engine, word)
		if len(hits) == 0 || hits[0].ID != id || hits[0].Why != why || hits[0].Undecided != item.ID {
			t.Errorf("%s finds %+v, want the reason %q", word, hits, why)
		}
	}
	do(t, d.Engine, op.ReviewClose, &op.ReviewCloseRequest{ID: item.ID, Decision: op.DecideKeep})
	if m := d.memory(id); m.Undecided != "" {
		t.Errorf("decided, the memory is %+v", m)
	}
}
