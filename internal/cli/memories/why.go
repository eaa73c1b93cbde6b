package memories

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

func WhyCommand(s *cli.App) *cobra.Command {
	return cli.Command("why ID", cli.ArgCount(1, 1, "one memory ID"), s.CompleteIDs,
		func(cmd *cobra.Command, args []string) error {
			res, err := cli.Reach(cmd.Context(), s, op.Why, &op.WhyRequest{ID: args[0]})
			if err != nil {
				return err
			}
			return s.Answer(res, func() { printWhy(s, res) })
		})
}

func printWhy(s *cli.App, r *op.WhyResult) {
	s.Printf("%s  %s\n", s.Short(r.Memory.ID), s.Gist(r.Memory.Content, 10))
	printAbout(s, "score", scoreText(s, &r.Parts))
	printAbout(s, "stage", stageText(&r.Memory))
	if by := r.Memory.SupersededBy; by != "" {
		printAbout(s, "superseded", "by "+by.Short()+", which always ranks higher")
	}
	for _, d := range r.Stages {
		printAbout(s, "then", fmt.Sprintf("%s on %s", d.Stage, ahead(s, d.At)))
	}
	if len(r.Stages) == 0 && !r.Memory.Core {
		printAbout(s, "then", "the memory does not change")
	}
	for _, c := range r.Crossings {
		printAbout(s, cmp.Or(crossingName(c.Name), c.Name), crossingText(s, &c))
	}
	printPromotion(s, &r.Promotion)
	where := "in the log"
	if r.Text != "" {
		where = "in the note " + cli.Flat(r.Text)
	}
	printAbout(s, "text", where)
	printAbout(s, "if used now", usedText(s, &r.Used))
}

// printAbout prints a name and what it says, wrapped under itself on a terminal.
func printAbout(s *cli.App, name, value string) {
	const width = 13
	indent := strings.Repeat(" ", width)
	lines := strings.SplitAfter(strings.TrimSuffix(s.Screen.Paragraph(value, nil, indent), "\n"), "\n")
	lines[0] = s.Screen.Paint(cli.Faint, cli.Pad(name, width)) + strings.TrimPrefix(lines[0], indent)
	s.Printf("%s\n", strings.Join(lines, ""))
}

func scoreText(s *cli.App, p *op.ScoreParts) string {
	text := fmt.Sprintf("%.3f = uses (%d + 1)^%g = %.3f × age %.3f (%s, %s since the last use) × strength %g", p.Score,
		p.UseCount, p.Beta, p.Uses, p.AgeFactor, p.Model, dayCount(p.AgeDays), p.Strength)
	if p.Core && p.Score < 1 {
		text += "; the score counts as 1, because core memories never fade"
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
	return map[string]string{op.CrossPromote: "promotion", op.CrossReview: "danger zone", op.CrossFading: "zone's end",
		op.CrossForget: "forgetting"}[name]
}

func crossingText(s *cli.App, c *op.Crossing) string {
	switch {
	case c.Below:
		return fmt.Sprintf("the score is below %g", c.Score)
	case c.At.IsZero():
		return fmt.Sprintf("the score stays above %g", c.Score)
	}
	return fmt.Sprintf("the score falls below %g on %s", c.Score, ahead(s, c.At))
}

func printPromotion(s *cli.App, p *op.PromotionDue) {
	switch {
	case p.Path != "":
		printAbout(s, "note", "the memory has the note "+cli.Flat(p.Path))
		return
	case p.Rule != "":
		printAbout(s, "note", "the memory qualifies for promotion by "+ruleName(p.Rule))
		return
	}
	for i, r := range p.Rules {
		name := ""
		if i == 0 {
			name = "note"
		}
		printAbout(s, name, fmt.Sprintf("to qualify by %s, the memory needs %s", ruleName(r.Rule),
			strings.Join(r.Missing, "; and ")))
	}
}

func ruleName(rule string) string {
	return map[string]string{"score": "score", "use_count": "uses"}[rule]
}

func usedText(s *cli.App, u *op.WhyUsed) string {
	text := fmt.Sprintf("score %.3f", u.Score)
	if u.Next != nil {
		text += fmt.Sprintf(", %s on %s", u.Next.Stage, ahead(s, u.Next.At))
	}
	if u.Rule != "" {
		text += ", qualifies for promotion by " + ruleName(u.Rule)
	}
	return text
}

// ahead writes a day, with how far off it is.
func ahead(s *cli.App, t time.Time) string {
	now := s.Now()
	if t.After(now) {
		return fmt.Sprintf("%s (in %s)", t.In(s.Zone).Format("2006-01-02"), soon(t.Sub(now)))
	}
	return fmt.Sprintf("%s (%s: due)", t.In(s.Zone).Format("2006-01-02"), cli.Ago(now, t))
}

// soon is age for what is ahead.
func soon(d time.Duration) string {
	if d < time.Minute {
		return "a moment"
	}
	return cli.Age(time.Time{}.Add(d), time.Time{})
}
