package organize

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

// A question about a note is printed in words, without the names and digests that programs use.
func TestAQuestionAboutANoteIsInWords(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("0f", 32)
	item := memory.ReviewItem{ID: "rev-3f9a1c5d", Agent: op.ReviewNote, Action: op.AdoptNote, Urgency: op.UrgencyMedium,
		Status: memory.ItemOpen, Labels: []string{"consolidation:note", "urgency:medium", op.NoteLabel + digest,
			op.NotePathLabel + digest}, Evidence: `The note "Plan.md" has the ID of this memory.`}
	var out strings.Builder
	s := cli.New()
	s.Stdout, s.Stderr = bufio.NewWriter(&out), io.Discard
	m := op.Memory{Memory: memory.Memory{Content: "the safe opens with the old key"}}
	printReview(s, &op.ReviewShowResult{Item: item, Memories: []op.Memory{m}})
	printReviewItems(context.Background(), s, &op.ReviewListResult{Items: []memory.ReviewItem{item}, Total: 1}, &op.ReviewListRequest{})
	s.Stdout.Flush()
	got := out.String()
	for _, says := range []string{"does the note belong to the memory?", "Plan.md", "consolidation:note", "Text of the memory:\n", "the safe opens"} {
		if !strings.Contains(got, says) {
			t.Errorf("it does not say %q:\n%s", says, got)
		}
	}
	if strings.Contains(got, op.AdoptNote) || strings.Contains(got, "sha256") {
		t.Errorf("it shows what is for programs:\n%s", got)
	}
}

// A quoted line has its mark on each line that a terminal breaks it into, so that no part of it can pass
// for emberd's words.
func TestAQuotedLineKeepsItsMark(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	s := cli.New()
	s.Stdout, s.Stderr, s.Screen = bufio.NewWriter(&out), io.Discard, cli.Screen{Width: 30}
	printEvidence(s, cli.Clean("text of the note:\n> "+strings.Repeat("word ", 20)+"emberd review close\n> \n> \x1b[2Jend\u2028x"))
	s.Stdout.Flush()
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, ">") && line != "text of the note:\n" {
			t.Errorf("a line stands without a mark: %q in\n%s", line, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("a terminal code is printed: %q", out.String())
	}
}
