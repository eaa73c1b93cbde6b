package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"emberd/op"
)

func (s *state) healthCommand() *cobra.Command {
	var req op.HealthRequest
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Report on how well the memories are",
		Long: `Report on one screen how well the memories are: which stages and scores they
have, when a search last returned them, and what is stale, hardly ever found,
double, about to fade or waiting for a decision, with the commands that help.

Comparing all memories takes a while where there are many, so the report is kept
for a day, or until the memories are others; it says how old it is.`,
		Example: `  emberd health
  emberd health --fresh -c knowledge
  emberd health duplicates`,
		Annotations: exits(endings{exitNothing: "there are no memories, or no such collection", exitNoDaemon: ""}),
		Args:        cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(cmd, args[0])
			}
			res, err := reporting(cmd.Context(), s, "comparing memories", op.Health, &req)
			if err != nil {
				return err
			}
			return s.found(res, res.Memories, func() { s.printHealth(res) })
		},
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.Flags().BoolVar(&req.Fresh, "fresh", false, "look again, whatever report there is")
	cmd.Flags().StringVarP(&req.Collection, "collection", "c", "", "only of this `COLLECTION`; default all")
	cmd.AddCommand(s.healthStaleCommand(), s.healthLowAccessCommand(), s.healthDuplicatesCommand(), s.healthMergeCommand())
	return cmd
}

// reporting calls an operation that tells how far it is.
func reporting[Req, Res any](ctx context.Context, s *state, what string, o op.Op[Req, Res], req *Req) (*Res, error) {
	p := s.newSteps(what, -1)
	defer p.done()
	return call(op.WithProgress(ctx, func(done, total int) { p.reached(int64(done), int64(total)) }), s, o, req)
}

// Columns of the report. Below twoColumns the bars stand below each other.
const (
	bandCells  = 10
	bandName   = 13
	bandNumber = 7
	twoColumns = 72
)

func (s *state) printHealth(r *op.HealthResult) {
	in := "all collections"
	if r.Collection != "all" {
		in = flat(r.Collection)
	}
	s.printf("%s of %s\n", s.screen.paint(bold, count(r.Memories, "memory", "memories")), in)
	if r.Cached {
		s.printf("%s\n", s.screen.paint(faint, fmt.Sprintf("as it was %s; --fresh looks again", ago(s.now(), r.At))))
	}
	if r.Memories == 0 {
		return
	}
	var stages []string
	for _, st := range r.Stages {
		stages = append(stages, fmt.Sprintf("%s %s", st.Stage, grouped(st.Count)))
	}
	s.printf("%s\n\n", strings.Join(stages, ", "))
	left, right := s.bandLines("by score", r.Scores, r.Memories), s.bandLines("found or saved within", r.Ages, r.Memories)
	if s.screen.width > 0 && s.screen.width < twoColumns {
		s.printf("%s\n\n%s\n\n", strings.Join(left, "\n"), strings.Join(right, "\n"))
	} else {
		s.besideEachOther(left, right)
	}
	s.printFindings(r)
}

// bandLines draws counts as bars under a heading.
func (s *state) bandLines(heading string, bands []op.HealthBand, total int) []string {
	out := []string{s.screen.paint(faint, heading)}
	for _, b := range bands {
		share := float64(b.Count) / float64(max(1, total))
		out = append(out, fmt.Sprintf("  %s %s %*s", pad(clean(b.Name), bandName), s.screen.paint(cyan, bar(share, bandCells)), bandNumber, grouped(b.Count)))
	}
	return out
}

func (s *state) besideEachOther(left, right []string) {
	const width = 2 + bandName + 1 + bandCells + 1 + bandNumber + 3
	for i := range max(len(left), len(right)) {
		var one, other string
		if i < len(left) {
			one = left[i]
		}
		if i < len(right) {
			other = right[i]
		}
		gap := strings.Repeat(" ", max(0, width-uniseg.StringWidth(uncoloured(one))))
		s.printf("%s\n", strings.TrimRight(one+gap+other, " "))
	}
	s.printf("\n")
}

// uncoloured takes the colours off a line of our own.
func uncoloured(line string) string {
	for _, st := range []style{bold, faint, red, green, yellow, cyan} {
		line = strings.ReplaceAll(line, "\x1b["+string(st)+"m", "")
	}
	return strings.ReplaceAll(line, "\x1b[0m", "")
}

// finding is a line of the report, and the command that mends it.
type finding struct {
	n             int
	one, many     string
	next          string // how that command begins
	worse, wanted bool   // it deserves a look; it is told even if there is none
}

func (s *state) printFindings(r *op.HealthResult) {
	all := []finding{
		{r.Duplicates, "pair says nearly the same", "pairs say nearly the same", "emberd health duplicates", true, true},
		{r.Clusters, "group could be merged or linked", "groups could be merged or linked", "emberd cluster", false, true},
		{r.Stale, "was not found for 30 days", "were not found for 30 days", "emberd health stale", true, true},
		{r.LowAccess, "is a week old, found twice at most", "are a week old, found twice at most", "emberd health low-access", false, true},
		{r.AtRisk, "is about to fade", "are about to fade", "", true, true},
		{r.Review, "waits for a decision", "wait for a decision", "emberd review list", true, true},
		{r.Migrate, "old record lacks fields", "old records lack fields", "emberd migrate", true, false},
	}
	if r.Junk != nil {
		all = append(all, finding{*r.Junk, "is of low quality", "are of low quality", "emberd cleanup", true, true})
	}
	for _, f := range all {
		if f.n > 0 || f.wanted {
			s.printf("%s\n", s.findingLine(r, &f))
		}
	}
}

func (s *state) findingLine(r *op.HealthResult, f *finding) string {
	const numbers, words = 9, 37
	text, colour := f.many, style("")
	if f.n == 1 {
		text = f.one
	}
	switch {
	case f.n == 0:
		return s.screen.paint(faint, fmt.Sprintf("%*s  %s", numbers, "0", text))
	case f.worse:
		colour = yellow
	}
	line := fmt.Sprintf("%s  %s", s.screen.paint(colour, fmt.Sprintf("%*s", numbers, grouped(f.n))), pad(text, words))
	for _, next := range r.Next {
		if f.next != "" && f.n > 0 && (next == f.next || strings.HasPrefix(next, f.next+" ")) {
			if width := s.screen.width; width > 0 && width < numbers+2+words+len(next) {
				return strings.TrimRight(line, " ") + "\n" + strings.Repeat(" ", numbers+2) + s.screen.paint(faint, clean(next))
			}
			return line + s.screen.paint(faint, clean(next))
		}
	}
	return strings.TrimRight(line, " ")
}
