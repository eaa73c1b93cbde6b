package maintain

import (
	"context"
	"fmt"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

func HealthCommand(s *cli.App) *cobra.Command {
	var req op.HealthRequest
	cmd := cli.Command("health", cobra.ArbitraryArgs, nil, func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return cli.NoCommand(cmd, args[0])
		}
		res, err := reporting(cmd.Context(), s, "comparing memories", op.Health, &req)
		if err != nil {
			return err
		}
		return s.Answer(res, func() { printHealth(s, res) })
	})
	cmd.SuggestionsMinimumDistance = 2
	cli.Bind(cmd.Flags(), &req, "fresh", "collection,c")
	cmd.AddCommand(healthStaleCommand(s), healthUnusedCommand(s), healthDuplicatesCommand(s), healthMergeCommand(s),
		groupsCommand(s), consolidateCommand(s), cleanupCommand(s))
	return cmd
}

// reporting calls an operation that tells how far it is.
func reporting[Req, Res any](ctx context.Context, s *cli.App, what string, o op.Op[Req, Res], req *Req) (*Res, error) {
	p := cli.NewSteps(s, what, -1)
	defer p.Done()
	return cli.Call(op.WithProgress(ctx, func(done, total int) { p.Reached(int64(done), int64(total)) }), s, o, req)
}

// Columns of the report. Below twoColumns the bars stand below each other.
const (
	bandCells  = 10
	bandName   = 13
	bandNumber = 7
	twoColumns = 72
)

func printHealth(s *cli.App, r *op.HealthResult) {
	in := "all collections"
	if r.Collection != "all" {
		in = cli.Flat(r.Collection)
	}
	s.Printf("%s of %s\n", s.Screen.Paint(cli.Bold, cli.Count(r.Memories, "memory", "memories")), in)
	if r.Cached {
		s.Printf("%s\n", s.Screen.Paint(cli.Faint, fmt.Sprintf("created %s; to create a new report, use --fresh",
			cli.Ago(s.Now(), r.At))))
	}
	if r.Memories == 0 {
		return
	}
	var stages []string
	for _, st := range r.Stages {
		if st.Count == 0 && st.Stage == memory.Rehydratable { // most have none, as in status
			continue
		}
		stages = append(stages, fmt.Sprintf("%s %s", st.Stage, cli.Grouped(st.Count)))
	}
	s.Printf("%s\n\n", strings.Join(stages, ", "))
	left, right := bandLines(s, "by score", r.Scores, r.Memories), bandLines(s, "by last access or save", r.Ages,
		r.Memories)
	if s.Screen.Width > 0 && s.Screen.Width < twoColumns {
		s.Printf("%s\n\n%s\n\n", strings.Join(left, "\n"), strings.Join(right, "\n"))
	} else {
		besideEachOther(s, left, right)
	}
	printFindings(s, r)
}

// bandLines draws counts as bars under a heading.
func bandLines(s *cli.App, heading string, bands []op.HealthBand, total int) []string {
	out := []string{s.Screen.Paint(cli.Faint, heading)}
	for _, b := range bands {
		share := float64(b.Count) / float64(max(1, total))
		out = append(out, fmt.Sprintf("  %s %s %*s", cli.Pad(cli.Clean(b.Name), bandName),
			s.Screen.Paint(cli.Cyan, cli.Bar(share, bandCells)), bandNumber, cli.Grouped(b.Count)))
	}
	return out
}

func besideEachOther(s *cli.App, left, right []string) {
	const width = 2 + bandName + 1 + bandCells + 1 + bandNumber + 3
	for i := range max(len(left), len(right)) {
		var one, other string
		if i < len(left) {
			one = left[i]
		}
		if i < len(right) {
			other = right[i]
		}
		gap := strings.Repeat(" ", max(0, width-uniseg.StringWidth(cli.Uncoloured(one))))
		s.Printf("%s\n", strings.TrimRight(one+gap+other, " "))
	}
	s.Printf("\n")
}

// finding is a line of the report, and the command that mends it.
type finding struct {
	n             int
	one, many     string
	next          string // how that command begins
	worse, wanted bool   // it deserves a look; it is told even if there is none
}

func printFindings(s *cli.App, r *op.HealthResult) {
	all := []finding{
		{r.Duplicates, "pair of near-duplicates", "pairs of near-duplicates", "emberd health duplicates", true,
			true},
		{r.Clusters, "group to merge or link", "groups to merge or link", "emberd health groups",
			false, true},
		{r.Stale, "memory not returned or saved for 30 days", "memories not returned or saved for 30 days",
			"emberd health stale", true, true},
		{r.LowAccess, "memory older than a week, returned at most twice",
			"memories older than a week, returned at most twice",
			"emberd health unused", false, true},
		{r.AtRisk, "about to fade", "about to fade", "", true, true},
		{r.Review, "waiting for review", "waiting for review", "emberd review list", true, true},
	}
	if r.Junk != nil {
		all = append(all, finding{*r.Junk, "low quality", "low quality", "emberd health cleanup", true,
			true})
	}
	for _, f := range all {
		if f.n > 0 || f.wanted {
			s.Printf("%s\n", findingLine(s, r, &f))
		}
	}
}

func findingLine(s *cli.App, r *op.HealthResult, f *finding) string {
	const numbers, words = 9, 37
	text, colour := f.many, cli.Style("")
	if f.n == 1 {
		text = f.one
	}
	switch {
	case f.n == 0:
		return s.Screen.Paint(cli.Faint, fmt.Sprintf("%*s  %s", numbers, "0", text))
	case f.worse:
		colour = cli.Yellow
	}
	line := fmt.Sprintf("%s  %s", s.Screen.Paint(colour, fmt.Sprintf("%*s", numbers, cli.Grouped(f.n))),
		cli.Pad(text, words))
	for _, next := range r.Next {
		if f.next != "" && f.n > 0 && (next == f.next || strings.HasPrefix(next, f.next+" ")) {
			next = cli.Again(s, strings.TrimPrefix(next, "emberd "))
			if width := s.Screen.Width; width > 0 && width < numbers+2+words+len(next) {
				return strings.TrimRight(line, " ") + "\n" + strings.Repeat(" ", numbers+2) +
					s.Screen.Paint(cli.Faint, cli.Clean(next))
			}
			return line + s.Screen.Paint(cli.Faint, cli.Clean(next))
		}
	}
	return strings.TrimRight(line, " ")
}
