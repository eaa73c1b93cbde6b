package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
)

func (s *state) printReviewItems(ctx context.Context, res *op.ReviewListResult, req *op.ReviewListRequest) {
	var shown []memory.ID
	for i := range res.Items {
		shown = append(shown, firstOf(&res.Items[i])...)
	}
	texts := s.briefs(ctx, shown)
	for i := range res.Items {
		s.printReviewItem(&res.Items[i], texts)
	}
	switch more := res.Total - len(res.Items); {
	case more > 0:
		s.note("%s more; --limit shows them", grouped(more))
	case res.Total == 0 && req.Status == memory.ItemOpen:
		s.note("nothing waits for a decision; --status all shows what was decided")
	}
}

// printReviewItem prints an item on a line, and below it the first of its memories and why
// it is there.
func (s *state) printReviewItem(item *memory.ReviewItem, texts map[memory.ID]string) {
	s.printf("%s  %s  %s: %s\n", item.Short(), pad(clean(item.Urgency), 6), clean(item.Agent), clean(item.Action))
	first := firstOf(item)
	for _, id := range first {
		s.printBrief(id, texts)
	}
	if more := len(item.MemoryIDs) - len(first); more > 0 {
		s.printf("  and %d more\n", more)
	}
	for _, text := range nonEmpty(item.Evidence, s.reviewState(item)) {
		s.printf("  %s\n", s.screen.paint(faint, s.gist(clean(text), 2)))
	}
}

// firstOf are the memories of an item that a list shows.
func firstOf(item *memory.ReviewItem) []memory.ID {
	return item.MemoryIDs[:min(3, len(item.MemoryIDs))]
}

// briefs are the texts of those memories that are there, without counting a use of any. A
// list without some is a list.
func (s *state) briefs(ctx context.Context, ids []memory.ID) map[memory.ID]string {
	texts := make(map[memory.ID]string, len(ids))
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	for some := range slices.Chunk(ids, memory.MaxIDs) {
		req := &op.OpenManyRequest{Relations: new(bool), Track: new(bool)}
		for _, id := range some {
			req.IDs = append(req.IDs, string(id))
		}
		res, err := call(ctx, s, op.OpenMany, req)
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
func (s *state) printBrief(id memory.ID, texts map[memory.ID]string) {
	text, live := texts[id]
	if live {
		text = "  " + s.gist(text, len("  12345678  "))
	}
	s.printf("  %s%s\n", s.short(id), text)
}

// reviewState says what became of an item, "" while it is open.
func (s *state) reviewState(item *memory.ReviewItem) string {
	switch item.Status {
	case memory.ItemClaimed:
		return fmt.Sprintf("claimed by %s, %s", item.ClaimedBy, s.when(item.ClaimedAt))
	case memory.ItemClosed:
		text := "closed"
		if !item.ClosedAt.IsZero() {
			text += ", " + s.when(item.ClosedAt)
		}
		if why := strings.Join(nonEmpty(item.Decision, item.Reason), ", "); why != "" {
			text += ": " + why
		}
		return text
	}
	return ""
}

// printReview prints an item with all that is needed to decide.
func (s *state) printReview(res *op.ReviewShowResult) {
	item := &res.Item
	s.printf("%s  %s\n", s.screen.paint(bold, item.ID), clean(cmp.Or(s.reviewState(item), item.Status)))
	s.printf("%s proposes %s, urgency %s, %s\n", clean(item.Agent), clean(item.Action), clean(item.Urgency), s.when(item.CreatedAt))
	s.printf("%s\n", s.screen.paint(faint, clean(strings.Join(item.Labels, ", "))))
	if item.Evidence != "" {
		s.printf("%s", s.screen.paragraph(clean(item.Evidence), nil, ""))
	}
	for i := range res.Memories {
		m := &res.Memories[i]
		s.printf("\n%s  %s\n", s.short(m.ID), s.screen.paint(faint, fmt.Sprintf("%s, score %.2f, used %s", clean(string(m.Status)), m.Score, count(int(m.UseCount), "time", "times"))))
		s.printf("%s", s.screen.paragraph(clean(m.Content), nil, "  "))
	}
	if len(res.Diff) > 0 {
		s.printf("\n")
		s.printDiff(res.Diff)
	}
	s.printChoices(res)
}

func (s *state) printDiff(lines []string) {
	for _, line := range lines {
		line = clean(line)
		switch {
		case strings.HasPrefix(line, "- "):
			line = s.screen.paint(red, line)
		case strings.HasPrefix(line, "+ "):
			line = s.screen.paint(green, line)
		}
		s.printf("%s\n", line)
	}
}

// printChoices tells how to decide.
func (s *state) printChoices(res *op.ReviewShowResult) {
	if len(res.Choices) > 0 {
		s.printf("\n")
	}
	for _, choice := range res.Choices {
		if id, one := strings.CutPrefix(choice, op.DecideForgetOne); one {
			choice = op.DecideForgetOne + memory.ID(id).Short()
		}
		s.printf("emberd review close %s %s\n", res.Item.Short(), clean(choice))
	}
	if res.MergeRefused != "" {
		s.note("they cannot be merged: %s", clean(res.MergeRefused))
	}
	if res.DecidedBy != "" {
		s.note("if nobody decides before %s: %s", clean(res.DecidedAt), clean(res.DecidedBy))
	}
}

func (s *state) printReviewChange(res *op.ReviewChangeResult, what string) error {
	if s.json {
		return s.printJSON(res)
	}
	s.printf("%s %s\n", res.Item.Short(), what)
	s.undoHint(res.Tx)
	return nil
}
