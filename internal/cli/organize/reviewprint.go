package organize

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"emberd/internal/cli"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

func printReviewItems(ctx context.Context, s *cli.App, res *op.ReviewListResult, req *op.ReviewListRequest) {
	var shown []memory.ID
	for i := range res.Items {
		shown = append(shown, firstOf(&res.Items[i])...)
	}
	texts := briefs(ctx, s, shown)
	for i := range res.Items {
		printReviewItem(s, &res.Items[i], texts)
	}
	switch {
	case res.NextCursor != "":
		s.Note("%s of %s shown; for the next page, add: --cursor %s", cli.Grouped(len(res.Items)),
			cli.Count(res.Total, "item", "items"), res.NextCursor)
	case len(res.Items) > 0 && req.Status == "":
		s.Note("to see the decisions for an item, run: %s", cli.Again(s, "review", "show", res.Items[0].Short()))
	case res.Total == 0 && req.Status == "":
		s.Note("no undecided review items; to include closed items, use --status all")
	}
}

// printReviewItem prints an item on a line, and below it the first of its memories and why
// it is there.
func printReviewItem(s *cli.App, item *memory.ReviewItem, texts map[memory.ID]string) {
	s.Printf("%s  %s  %s: %s\n", item.Short(), cli.Pad(cli.Clean(item.Urgency), 6), cli.Clean(item.Agent),
		cli.Clean(cli.ActionText(item)))
	first := firstOf(item)
	for _, id := range first {
		printBrief(s, id, texts)
	}
	if more := len(item.MemoryIDs) - len(first); more > 0 {
		s.Printf("  and %d more\n", more)
	}
	for _, text := range cli.NonEmpty(item.Evidence, reviewState(s, item)) {
		s.Printf("  %s\n", s.Screen.Paint(cli.Faint, s.Gist(cli.Clean(text), 2)))
	}
}

// firstOf are the memories of an item that a list shows.
func firstOf(item *memory.ReviewItem) []memory.ID {
	return item.MemoryIDs[:min(3, len(item.MemoryIDs))]
}

// briefs are the texts of those memories that are there, without counting a use of any. A
// list without some is a list.
func briefs(ctx context.Context, s *cli.App, ids []memory.ID) map[memory.ID]string {
	texts := make(map[memory.ID]string, len(ids))
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	for some := range slices.Chunk(ids, memory.MaxIDs) {
		req := &op.OpenManyRequest{Relations: new(bool), Track: new(bool)}
		for _, id := range some {
			req.IDs = append(req.IDs, string(id))
		}
		res, err := cli.Call(ctx, s, op.OpenMany, req)
		if err != nil {
			return texts
		}
		for i := range res.Memories {
			texts[res.Memories[i].ID] = res.Memories[i].Content
		}
	}
	return texts
}

// printBrief prints the id of a memory and how its text begins, unless it is gone.
func printBrief(s *cli.App, id memory.ID, texts map[memory.ID]string) {
	text, live := texts[id]
	if live {
		text = "  " + s.Gist(text, len("  12345678  "))
	}
	s.Printf("  %s%s\n", s.Short(id), text)
}

// reviewState says what became of an item, "" while it is open.
func reviewState(s *cli.App, item *memory.ReviewItem) string {
	switch item.Status {
	case memory.ItemClaimed:
		return fmt.Sprintf("claimed by %s, %s", item.ClaimedBy, s.When(item.ClaimedAt))
	case memory.ItemClosed:
		text := "closed"
		if !item.ClosedAt.IsZero() {
			text += ", " + s.When(item.ClosedAt)
		}
		if why := strings.Join(cli.NonEmpty(item.Decision, item.Reason), ", "); why != "" {
			text += ": " + why
		}
		return text
	}
	return ""
}

// printReview prints an item with all that is needed to decide.
func printReview(s *cli.App, res *op.ReviewShowResult) {
	item := &res.Item
	s.Printf("%s  %s\n", s.Screen.Paint(cli.Bold, item.ID), cli.Clean(cmp.Or(reviewState(s, item), item.Status)))
	says := cli.Clean(item.Agent) + " proposes " + cli.Clean(item.Action)
	if item.Action == op.AdoptNote || item.Action == op.ChooseText {
		says = cli.Clean(item.Agent) + " asks: " + cli.ActionText(item)
	}
	s.Printf("%s, urgency %s, %s\n", says, cli.Clean(item.Urgency), s.When(item.CreatedAt))
	s.Printf("%s\n", s.Screen.Paint(cli.Faint, cli.Clean(strings.Join(shownLabels(item), ", "))))
	if item.Evidence != "" {
		printEvidence(s, cli.Clean(item.Evidence))
	}
	if item.Agent == op.ReviewNote && len(res.Memories) > 0 {
		s.Printf("\nText of the memory:")
	}
	for i := range res.Memories {
		m := &res.Memories[i]
		s.Printf("\n%s  %s\n", s.Short(m.ID),
			s.Screen.Paint(cli.Faint, fmt.Sprintf("%s, score %.2f, used %s", cli.Clean(string(m.Status)), m.Score,
				cli.Count(int(m.UseCount), "time", "times"))))
		s.Printf("%s", s.Screen.Paragraph(cli.Clean(m.Content), nil, "  "))
	}
	printOtherTexts(s, item)
	if len(res.Diff) > 0 {
		s.Printf("\n")
		printDiff(s, res.Diff)
	}
	printChoices(s, res)
}

// printOtherTexts prints the texts that the memory could have, each with the decision that gives it to it.
func printOtherTexts(s *cli.App, item *memory.ReviewItem) {
	for _, o := range item.Texts {
		about := "other text"
		if o.Note != "" {
			about += ", in the note " + cli.Clean(o.Note)
		}
		if !o.At.IsZero() {
			about += ", " + s.When(o.At)
		}
		s.Printf("\n%s  %s\n", op.DecideTake+o.Digits(), s.Screen.Paint(cli.Faint, about))
		s.Printf("%s", s.Screen.Paragraph(cli.Clean(o.Text), nil, "  "))
	}
}

// printEvidence keeps the mark of quoted lines when it breaks them.
func printEvidence(s *cli.App, evidence string) {
	for line := range strings.Lines(evidence) {
		line = strings.TrimSuffix(line, "\n")
		said, quoted := strings.CutPrefix(line, text.QuoteMark)
		if quoted {
			s.Printf("%s", s.Screen.Paragraph(said, nil, text.QuoteMark))
			continue
		}
		s.Printf("%s", s.Screen.Paragraph(line, nil, ""))
	}
}

// shownLabels are the labels of an item, without those by which emberd recognizes a note.
func shownLabels(item *memory.ReviewItem) []string {
	return slices.DeleteFunc(slices.Clone(item.Labels), func(label string) bool {
		return strings.HasPrefix(label, op.NoteLabel) || strings.HasPrefix(label, op.NotePathLabel) ||
			strings.HasPrefix(label, op.TextLabel)
	})
}

func printDiff(s *cli.App, lines []string) {
	for _, line := range lines {
		line = cli.Clean(line)
		style := cli.Style("")
		switch {
		case strings.HasPrefix(line, "- "):
			style = cli.Red
		case strings.HasPrefix(line, "+ "):
			style = cli.Green
		}
		mark, text := line[:min(2, len(line))], line[min(2, len(line)):]
		for i, l := range cli.Lines(text, max(0, s.Screen.Width-2)) {
			if i > 0 {
				mark = "  "
			}
			s.Printf("%s\n", s.Screen.Paint(style, mark+text[l.From:l.To]))
		}
	}
}

// printChoices tells how to decide.
func printChoices(s *cli.App, res *op.ReviewShowResult) {
	if len(res.Choices) > 0 {
		s.Printf("\n")
	}
	for _, choice := range res.Choices {
		for _, of := range [...]string{op.DecideForgetOne, op.DecideSupersede} {
			if id, one := strings.CutPrefix(choice, of); one {
				choice = of + memory.ID(id).Short()
			}
		}
		s.Printf("%s\n", cli.Again(s, "review", "close", res.Item.Short(), cli.Clean(choice)))
	}
	if res.MergeRefused != "" {
		s.Note("cannot merge these memories: %s", cli.Clean(res.MergeRefused))
	}
	if res.DecidedBy != "" {
		s.Note("unless you decide before %s, emberd applies the decision: %s", cli.Clean(res.DecidedAt),
			cli.Clean(res.DecidedBy))
	}
}

func printReviewChange(s *cli.App, res *op.ReviewChangeResult, what string) error {
	return s.Answer(res, func() {
		s.Printf("%s %s\n", res.Item.Short(), what)
		s.UndoHint(res.Tx)
	})
}
