package reviewnote_test

import (
	"strings"
	"testing"
	"time"

	"emberd/internal/notegen"
	"emberd/internal/notegen/reviewnote"
	"emberd/op"
)

// An item about two texts of one memory shows both, and a box for each thing that can be done.
func TestTwoTextsOfOneMemory(t *testing.T) {
	t.Parallel()
	choices := []string{op.DecideKeep, op.DecideTake + "0123456789abcdef", op.DecideMerge}
	item := reviewnote.Item{ID: "rev-5e21c0a4b7d1ffffffffffffffffffff", Seen: "b598b3a6", Agent: op.ReviewText,
		Action: op.ChooseText, Urgency: op.UrgencyMedium, Created: time.Unix(0, 0), Choices: choices,
		Memories: []notegen.Entry{{Text: "The broker is Kafka"}, {Text: "The broker is Pulsar"}}}
	page := &reviewnote.Page{Open: []reviewnote.Item{item}}
	region := reviewnote.Render(page, &reviewnote.Note{})
	for _, line := range []string{"## Which text is right? · The broker is Kafka", "- **A** The broker is **Kafka**",
		"- **B** The broker is **Pulsar**",
		"- [ ] Keep A, the current text of the memory ^rev-5e21c0a4b7d1-b598b3a6-keep",
		"- [ ] Take B instead ^rev-5e21c0a4b7d1-b598b3a6-take-1",
		"- [ ] Keep all texts, one below the other ^rev-5e21c0a4b7d1-b598b3a6-merge"} {
		if !strings.Contains(region, line) {
			t.Errorf("the note lacks %q:\n%s", line, region)
		}
	}
	for choice, want := range map[string]string{"keep": choices[0], "take-1": choices[1], "merge": choices[2], "take-2": "", "take-0": ""} {
		if got, offered := item.Decision(choice); offered != (want != "") || offered && got != want {
			t.Errorf("%s is %q, %v", choice, got, offered)
		}
	}
}
