package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) whyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "why ID",
		Short: "Tell why a memory scores what it does, and what comes next",
		Long: `Tell how the score of a memory comes about, in which stage it is and when it
goes on to the next, when it falls below what matters, what it lacks to be
promoted, and what one use now would change. Asking does not count as a use.`,
		Example: `  emberd why 456789ab
  emberd why 456789ab --json | jq '.stages'`,
		Annotations:       exits(endings{exitNothing: "no memory with that id", exitNoDaemon: "", exitLocked: ""}),
		Args:              takes(1, 1, "one memory id"),
		ValidArgsFunction: s.completeIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := reach(cmd.Context(), s, op.Why, &op.WhyRequest{ID: args[0]})
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printWhy(res)
			return nil
		},
	}
}

func (s *state) printWhy(r *op.WhyResult) {
	s.printf("%s  %s\n", s.short(r.Memory.ID), s.gist(r.Memory.Content, 10))
	s.printAbout("score", s.scoreText(&r.Parts))
	s.printAbout("stage", stageText(&r.Memory))
	if by := r.Memory.SupersededBy; by != "" {
		s.printAbout("superseded", "by "+by.Short()+", below which it ranks whatever it scores")
	}
	for _, d := range r.Stages {
		s.printAbout("then", fmt.Sprintf("%s on %s", d.Stage, s.ahead(d.At)))
	}
	if len(r.Stages) == 0 && !r.Memory.Core {
		s.printAbout("then", "it stays as it is")
	}
	for _, c := range r.Crossings {
		s.printAbout(cmp.Or(crossingName(c.Name), c.Name), s.crossingText(&c))
	}
	s.printPromotion(&r.Promotion)
	where := "in the log"
	if r.Text != "" {
		where = "in the note " + flat(r.Text)
	}
	s.printAbout("text", where)
	s.printAbout("if used now", s.usedText(&r.Used))
}

// printAbout prints a name and what it says, wrapped under itself on a terminal.
func (s *state) printAbout(name, value string) {
	const width = 13
	indent := strings.Repeat(" ", width)
	lines := strings.SplitAfter(strings.TrimSuffix(s.screen.paragraph(value, nil, indent), "\n"), "\n")
	lines[0] = s.screen.paint(faint, pad(name, width)) + strings.TrimPrefix(lines[0], indent)
	s.printf("%s\n", strings.Join(lines, ""))
}

func (s *state) scoreText(p *op.ScoreParts) string {
	text := fmt.Sprintf("%.3f = uses (%d + 1)^%g = %.3f × age %.3f (%s, %s since it was used) × strength %g",
		p.Score, p.UseCount, p.Beta, p.Uses, p.AgeFactor, p.Model, dayCount(p.AgeDays), p.Strength)
	if p.Core && p.Score < 1 {
		text += "; it counts as 1, since core memories never fade"
	}
	return text
}

func dayCount(days float64) string {
	if days < 2 {
		return fmt.Sprintf("%.1f hours", days*24)
	}
	return fmt.Sprintf("%.1f days", days)
}

// crossingName is how a threshold is called on the screen.
func crossingName(name string) string {
	return map[string]string{op.CrossPromote: "promotion", op.CrossReview: "danger zone", op.CrossFading: "zone's end", op.CrossForget: "forgetting"}[name]
}

func (s *state) crossingText(c *op.Crossing) string {
	switch {
	case c.Below:
		return fmt.Sprintf("the score is below %g", c.Score)
	case c.At.IsZero():
		return fmt.Sprintf("the score stays above %g", c.Score)
	}
	return fmt.Sprintf("the score falls below %g on %s", c.Score, s.ahead(c.At))
}

func (s *state) printPromotion(p *op.PromotionDue) {
	switch {
	case p.Path != "":
		s.printAbout("note", "it has one: "+flat(p.Path))
		return
	case p.Rule != "":
		s.printAbout("note", "due by its "+ruleName(p.Rule))
		return
	}
	for i, r := range p.Rules {
		name := ""
		if i == 0 {
			name = "note"
		}
		s.printAbout(name, fmt.Sprintf("by its %s it lacks %s", ruleName(r.Rule), strings.Join(r.Missing, "; and ")))
	}
}

func ruleName(rule string) string {
	return map[string]string{"score": "score", "use_count": "uses"}[rule]
}

func (s *state) usedText(u *op.WhyUsed) string {
	text := fmt.Sprintf("score %.3f", u.Score)
	if u.Next != nil {
		text += fmt.Sprintf(", %s on %s", u.Next.Stage, s.ahead(u.Next.At))
	}
	if u.Rule != "" {
		text += ", a note is due by its " + ruleName(u.Rule)
	}
	return text
}

// ahead writes a day, with how far off it is.
func (s *state) ahead(t time.Time) string {
	now := s.now()
	if t.After(now) {
		return fmt.Sprintf("%s (in %s)", t.In(s.zone).Format("2006-01-02"), soon(t.Sub(now)))
	}
	return fmt.Sprintf("%s (%s: due)", t.In(s.zone).Format("2006-01-02"), ago(now, t))
}

// soon is age for what is ahead.
func soon(d time.Duration) string {
	if d < time.Minute {
		return "a moment"
	}
	return age(time.Time{}.Add(d), time.Time{})
}
