package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/engine/textmerge"
	"emberd/memory"
	"emberd/op"
)

// meet brings what two engines wrote to each other, and has both join texts, the first one first.
func meet(t testing.TB, a, b *house, here, there *engine.Engine) {
	t.Helper()
	for range 2 {
		carry(t, a, b, status(t, here).Device)
		carry(t, b, a, status(t, there).Device)
		for _, e := range []*engine.Engine{here, there} {
			e.Admin.Refresh(t.Context())
		}
	}
}

// eager returns a house whose engine does not wait for the primary device.
func eager(t testing.TB) *house {
	h := newHouse(t)
	h.Options.Pace = core.SyncDelays{Settle: 1, Others: -1} // the clock of a house stands still
	return h
}

// apart returns two devices that have the same memory with a text.
func apart(t testing.TB, text string) (desk, lap *house, here, there *engine.Engine, id memory.ID) {
	desk, lap = eager(t), eager(t)
	here, there = desk.open(t), lap.open(t)
	id = save(t, here, text).ID
	meet(t, desk, lap, here, there)
	return desk, lap, here, there, id
}

func retext(t testing.TB, e *engine.Engine, id memory.ID, text string) {
	t.Helper()
	do(t, e, op.Edit, &op.EditRequest{ID: string(id), Content: &text})
}

// joinTexts has an engine join what waits there.
func joinTexts(t testing.TB, e *engine.Engine) {
	t.Helper()
	e.Texts.Collect()
	e.Texts.JoinDue(t.Context())
}

func textOfBoth(t testing.TB, id memory.ID, here, there *engine.Engine) string {
	t.Helper()
	a, b := look(t, here, id), look(t, there, id)
	if a.Content != b.Content || a.Rev != b.Rev {
		t.Fatalf("one device has %q (%s), the other %q (%s)", a.Content, a.Rev, b.Content, b.Rev)
	}
	return a.Content
}

const broker = "The broker is RabbitMQ. It has two queues. The port is 5672."

func TestTwoDevicesThatChangeDifferentSentencesBothSucceed(t *testing.T) {
	t.Parallel()
	desk, lap, here, there, id := apart(t, broker)
	retext(t, here, id, strings.Replace(broker, "RabbitMQ", "Kafka", 1))
	retext(t, there, id, strings.Replace(broker, "5672", "9092", 1))
	meet(t, desk, lap, here, there)
	joinTexts(t, here)
	meet(t, desk, lap, here, there)
	want := "The broker is Kafka. It has two queues. The port is 9092."
	if got := textOfBoth(t, id, here, there); got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
	if v := do(t, there, op.History, &op.HistoryRequest{ID: string(id)}).Versions; v[0].Verb != textmerge.Verb {
		t.Errorf("the newest version is by %s", v[0].Verb)
	}
	if items := do(t, here, op.ReviewList, &op.ReviewListRequest{}).Items; len(items) > 0 {
		t.Errorf("asked about %+v", items)
	}
}

// Both devices join at once, without knowing of each other's. They write the same bytes, and nothing follows.
func TestTwoDevicesThatJoinTextsAtOnceAgree(t *testing.T) {
	t.Parallel()
	desk, lap, here, there, id := apart(t, broker)
	retext(t, here, id, strings.Replace(broker, "RabbitMQ", "Kafka", 1))
	retext(t, there, id, strings.Replace(broker, "5672", "9092", 1))
	meet(t, desk, lap, here, there)
	joinTexts(t, here)
	joinTexts(t, there)
	if a, b := look(t, here, id).Content, look(t, there, id).Content; a != b {
		t.Fatalf("one joined %q, the other %q", a, b)
	}
	meet(t, desk, lap, here, there)
	before := look(t, here, id).Rev
	joinTexts(t, here)
	joinTexts(t, there)
	meet(t, desk, lap, here, there)
	textOfBoth(t, id, here, there)
	if after := look(t, here, id).Rev; after != before {
		t.Errorf("the memory was written again: %s, then %s", before, after)
	}
}

// disputed returns two devices that changed the same sentence, and have met. The laptop's text is shown.
func disputed(t testing.TB) (desk, lap *house, here, there *engine.Engine, id memory.ID) {
	desk, lap, here, there, id = apart(t, broker)
	retext(t, here, id, strings.Replace(broker, "RabbitMQ", "Kafka", 1))
	retext(t, there, id, strings.Replace(broker, "RabbitMQ", "Pulsar", 1))
	meet(t, desk, lap, here, there)
	joinTexts(t, here)
	meet(t, desk, lap, here, there)
	return desk, lap, here, there, id
}

func TestTwoDevicesThatChangeOneSentenceHaveBothTextsInOneReviewItem(t *testing.T) {
	t.Parallel()
	desk, lap, here, there, id := disputed(t)
	joinTexts(t, there)
	meet(t, desk, lap, here, there)
	shown := textOfBoth(t, id, here, there)
	for _, e := range []*engine.Engine{here, there} {
		items := do(t, e, op.ReviewList, &op.ReviewListRequest{Agent: op.ReviewText}).Items
		if len(items) != 1 || len(items[0].Texts) != 1 {
			t.Fatalf("asked about %+v", items)
		}
		other := items[0].Texts[0].Text
		if !strings.Contains(shown+other, "Kafka") || !strings.Contains(shown+other, "Pulsar") {
			t.Errorf("the texts are %q and %q", shown, other)
		}
		for _, word := range []string{"kafka", "pulsar"} {
			if hits := searchFor(t, e, word); len(hits) != 1 || hits[0].ID != id {
				t.Errorf("a search for %s finds %+v", word, hits)
			}
		}
		if inbox := do(t, e, op.ReviewShow, &op.ReviewShowRequest{ID: items[0].ID}); len(inbox.Choices) != 3 || len(inbox.Diff) == 0 {
			t.Errorf("to decide about is %+v", inbox)
		}
	}
}

func TestADecisionAboutTwoTextsEndsTheQuestionForGood(t *testing.T) {
	t.Parallel()
	for _, decision := range []string{op.DecideKeep, op.DecideTake, op.DecideMerge} {
		t.Run(decision, func(t *testing.T) {
			t.Parallel()
			desk, lap, here, there, id := disputed(t)
			shown := look(t, here, id).Content
			item := do(t, here, op.ReviewList, &op.ReviewListRequest{}).Items[0]
			other := item.Texts[0].Text
			want := map[string]string{op.DecideKeep: shown, op.DecideTake: other, op.DecideMerge: shown + "\n\n" + other}[decision]
			for _, c := range do(t, here, op.ReviewShow, &op.ReviewShowRequest{ID: item.ID}).Choices {
				if strings.HasPrefix(c, decision) {
					decision = c
				}
			}
			closed := do(t, here, op.ReviewClose, &op.ReviewCloseRequest{ID: item.ID, Decision: decision})
			meet(t, desk, lap, here, there)
			joinTexts(t, there)
			meet(t, desk, lap, here, there)
			if got := textOfBoth(t, id, here, there); got != want {
				t.Errorf("the text is %q, want %q", got, want)
			}
			if items := do(t, there, op.ReviewList, &op.ReviewListRequest{}).Items; len(items) > 0 {
				t.Errorf("asked again about %+v", items)
			}
			if decision == op.DecideKeep {
				if hits := searchFor(t, here, "kafka pulsar"); len(hits) != 1 {
					t.Errorf("the shown text is found %d times", len(hits))
				}
			}
			do(t, here, op.Undo, &op.UndoRequest{Tx: closed.Tx})
			again := do(t, here, op.ReviewList, &op.ReviewListRequest{}).Items
			if got := look(t, here, id).Content; got != shown || len(again) != 1 || again[0].Texts[0].Text != other {
				t.Errorf("after undo the text is %q, and asked about is %+v", got, again)
			}
		})
	}
}

// A device without an index reads all that was ever written and asks nothing again.
func TestANewIndexAsksNothingAgain(t *testing.T) {
	t.Parallel()
	desk, lap, here, there, id := disputed(t)
	item := do(t, here, op.ReviewList, &op.ReviewListRequest{}).Items[0]
	do(t, here, op.ReviewClose, &op.ReviewCloseRequest{ID: item.ID, Decision: op.DecideKeep})
	for range 3 { // in turns, each with knowledge of the last
		retext(t, here, id, look(t, here, id).Content+" More.")
		meet(t, desk, lap, here, there)
		retext(t, there, id, look(t, there, id).Content+" Still more.")
		meet(t, desk, lap, here, there)
	}
	want := textOfBoth(t, id, here, there)
	new := eager(t)
	carry(t, desk, new, status(t, here).Device)
	carry(t, lap, new, status(t, there).Device)
	e := new.open(t)
	joinTexts(t, e)
	if m := look(t, e, id); m.Content != want {
		t.Errorf("the text is %q, want %q", m.Content, want)
	}
	if items := do(t, e, op.ReviewList, &op.ReviewListRequest{}).Items; len(items) > 0 {
		t.Errorf("asked about %+v", items)
	}
}

// Devices change sentences, meet in any order and join texts whenever they like. In the end all have the same, and
// every change that was not replaced by somebody who knew it is in the text or in the review item.
func TestTextsOfManyDevicesConverge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		const sentences = 5
		words := make([]string, sentences)
		for i := range words {
			words[i] = fmt.Sprintf("Part %d is first.", i)
		}
		var houses []*house
		var engines []*engine.Engine
		for range rapid.IntRange(2, 3).Draw(rt, "devices") {
			houses = append(houses, eager(t))
			engines = append(engines, houses[len(houses)-1].open(t))
		}
		id := save(t, engines[0], strings.Join(words, " ")).ID
		bring := func(from, to int) {
			carry(t, houses[from], houses[to], status(t, engines[from]).Device)
			engines[to].Admin.Refresh(t.Context())
		}
		all := func() {
			for from := range engines {
				for to := range engines {
					if from != to {
						bring(from, to)
					}
				}
			}
		}
		all()
		wrote := make(map[string]bool)
		for n := range rapid.IntRange(2, 8).Draw(rt, "steps") {
			i := rapid.IntRange(0, len(engines)-1).Draw(rt, "device")
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0:
				bring((i+1)%len(engines), i)
			case 1:
				joinTexts(t, engines[i])
			default:
				part := rapid.IntRange(0, sentences-1).Draw(rt, "part")
				text := look(t, engines[i], id).Content
				now := fmt.Sprintf("Part %d is change%d.", part, n)
				wrote[now] = true
				retext(t, engines[i], id, replacePart(text, part, now, wrote))
			}
		}
		for range 3 {
			all()
			for _, e := range engines {
				joinTexts(t, e)
			}
		}
		all()
		checkConverged(rt, t, id, engines, wrote)
	})
}

// replacePart replaces a sentence. What it replaced was known, so that it may be gone.
func replacePart(text string, part int, now string, wrote map[string]bool) string {
	sentences := strings.SplitAfter(text, ".")
	for i, s := range sentences {
		if s = strings.TrimSpace(s); strings.HasPrefix(s, fmt.Sprintf("Part %d ", part)) {
			delete(wrote, s)
			sentences[i] = strings.Replace(sentences[i], s, now, 1)
			break
		}
	}
	return strings.Join(sentences, "")
}

func checkConverged(rt *rapid.T, t *testing.T, id memory.ID, engines []*engine.Engine, wrote map[string]bool) {
	first := look(t, engines[0], id)
	items := do(t, engines[0], op.ReviewList, &op.ReviewListRequest{}).Items
	var texts strings.Builder
	texts.WriteString(first.Content)
	for _, item := range items {
		for _, o := range item.Texts {
			texts.WriteString(o.Text)
		}
	}
	for _, e := range engines {
		if m := look(t, e, id); m.Content != first.Content || m.Rev != first.Rev {
			rt.Fatalf("one device has %q, another %q", first.Content, m.Content)
		}
	}
	for s := range wrote {
		if !strings.Contains(texts.String(), s) {
			rt.Fatalf("%q is neither in the text %q nor in %+v", s, first.Content, items)
		}
	}
	if len(items) > 1 {
		rt.Fatalf("asked %d times: %+v", len(items), items)
	}
}

// Two people change different sentences of a note while apart. Both texts are joined in the log, and the note gets the
// joined text on the device that joined them: what it says is in that text already. The sync tool may then keep the
// other device's note, and put the one with the joined text beside it: it gets the joined text, too.
func TestTheNoteGetsTheTextThatJoinsThoseOfTwoNotes(t *testing.T) {
	t.Parallel()
	first, second := watching(t, promotingHouse(t, nil)), watching(t, promotingHouse(t, nil))
	id := save(t, first.Engine, broker).ID
	path := promoteByID(t, first.Engine, id).Path
	first.carryTo(second)
	second.write(t, path, first.note(t, path))
	until(t, "the other device knows the note", func() bool { return len(second.Notes.Vault.Carriers.Of(id)) == 1 })
	texts := []string{strings.Replace(broker, "RabbitMQ", "Kafka", 1), strings.Replace(broker, "5672", "9092", 1)}
	for i, d := range []*desk{first, second} {
		d.rest(t, d.Engine)
		d.write(t, path, strings.Replace(d.note(t, path), broker, texts[i], 1))
		until(t, "the edit counts", func() bool { return d.memory(id).Content == texts[i] })
	}
	second.carryTo(first)
	first.wantJoined(t, id, path)

	joined := first.note(t, path)
	for _, text := range texts {
		first.write(t, copyOf(path), joined)
		first.write(t, path, strings.Replace(joined, joinedBroker, text, 1))
		first.gone(copyOf(path))
		first.wantJoined(t, id, path)
	}
}

// joinedBroker has both changes of the broker's text.
const joinedBroker = "The broker is Kafka. It has two queues. The port is 9092."

// copyOf is what Syncthing calls a copy of a note.
func copyOf(path string) string {
	return strings.TrimSuffix(path, ".md") + ".sync-conflict-20261122-101112-ABCDEFG.md"
}

// wantJoined waits until a memory and its note have the joined text.
func (d *desk) wantJoined(t *testing.T, id memory.ID, path string) {
	t.Helper()
	until(t, "memory and note have the joined text", func() bool {
		joinTexts(t, d.Engine)
		d.rest(t, d.Engine)
		return d.memory(id).Content == joinedBroker && strings.Contains(d.note(t, path), joinedBroker)
	})
}

// After texts were joined, undoing the edit of this device leaves the text, and says so.
func TestAnUndoAfterTextsWereJoinedSaysThatItLeavesThem(t *testing.T) {
	t.Parallel()
	desk, lap, here, there, id := apart(t, broker)
	retext(t, here, id, strings.Replace(broker, "RabbitMQ", "Kafka", 1))
	retext(t, there, id, strings.Replace(broker, "5672", "9092", 1))
	meet(t, desk, lap, here, there)
	joinTexts(t, here)
	meet(t, desk, lap, here, there)
	joined := textOfBoth(t, id, here, there)
	for _, e := range []*engine.Engine{here, there} {
		res := do(t, e, op.Undo, &op.UndoRequest{})
		if len(res.Items) != 1 || res.Items[0].Action != "left" || look(t, e, id).Content != joined {
			t.Errorf("undone: %+v, the text is %q", res, look(t, e, id).Content)
		}
	}
}
