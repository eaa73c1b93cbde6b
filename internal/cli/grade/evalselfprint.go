package grade

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/eval"
)

// applyProposals writes what is proposed to the config file.
func applyProposals(s *cli.App, c *config.Config, r *eval.SelfReport) error {
	if len(r.Proposed) == 0 {
		return nil
	}
	var changes []cli.SettingChange
	for _, p := range r.Proposed {
		changes = append(changes, cli.SettingChange{Setting: p.Setting, Value: p.Value})
	}
	if err := cli.WriteSettings(s, c, changes); err != nil {
		return err
	}
	r.Applied = c.File
	return nil
}

// printSelf shows how search answers its user's own words, and what other settings would do.
func printSelf(s *cli.App, r *eval.SelfReport) {
	found := 0
	for _, n := range r.Found {
		found += n
	}
	s.Printf("%s  %s of %s from your notes and memories, %s of them held out for validation\n",
		s.Screen.Paint(cli.Bold, "questions"), cli.Grouped(r.Questions), cli.Grouped(found), cli.Grouped(r.HeldOut))
	width := 0
	for _, line := range r.Present {
		width = max(width, len(className(line.Category)))
	}
	s.Printf("\n%s %6s %6s %6s %6s %7s\n", cli.Pad("current settings", width+2), "n", "R@5", "R@10", "MRR@10",
		"nDCG@10")
	for _, line := range r.Present {
		s.Printf("  %s %6s %6.3f %6.3f %6.3f %7.3f  %s\n", cli.Pad(className(line.Category), width),
			cli.Grouped(line.Questions),
			line.Recall5, line.Recall10, line.MRR10, line.NDCG10, strings.TrimRight(cli.Bar(line.NDCG10, barCells),
				" "))
	}
	printTrials(s, r)
	s.Printf("\n  latency of %s: p50 %s, p95 %s, p99 %s\n", cli.Count(r.Latency.Searches, "search", "searches"),
		cli.Millis(r.Latency.P50), cli.Millis(r.Latency.P95), cli.Millis(r.Latency.P99))
	printProposals(s, r)
	noteSelf(s, r)
}

// barCells is the length of a bar that stands for 1.
const barCells = 20

func className(class string) string {
	return map[string]string{
		"":                   "all queries without the name of the answer",
		string(eval.Alias):   "aliases",
		string(eval.Heading): "headings",
		string(eval.Link):    "link texts",
		string(eval.Asked):   "questions",
		eval.Named:           "all queries with the name of the answer",
	}[class]
}

// printTrials shows one line a setting and value.
func printTrials(s *cli.App, r *eval.SelfReport) {
	if len(r.Trials) == 0 {
		return
	}
	width := len("unchanged")
	for _, t := range r.Trials {
		width = max(width, len(t.Setting)+1+len(t.Value))
	}
	s.Printf("\n%s %7s  %-*s %7s %9s %17s\n", cli.Pad("other settings", width+2), "nDCG@10", barCells, "", "chosen",
		"held out", "95 of 100")
	s.Printf("  %s %7.3f  %s\n", cli.Pad("unchanged", width), r.NDCG10, strings.TrimRight(cli.Bar(r.NDCG10, barCells),
		" "))
	for _, t := range r.Trials {
		line := fmt.Sprintf("  %s %7.3f  %s %+7.3f %+9.3f  %+.3f to %+.3f", cli.Pad(t.Setting+" "+t.Value, width),
			t.NDCG10, cli.Bar(t.NDCG10, barCells), t.Chosen.Mean, t.Confirmed.Mean, t.Confirmed.Low, t.Confirmed.High)
		s.Printf("%s  %s\n", line, cmp.Or(t.Verdict, s.Screen.Paint(cli.Bold, "proposed")))
	}
}

func printProposals(s *cli.App, r *eval.SelfReport) {
	if len(r.Proposed) == 0 {
		s.Printf("\n" +
			"No proposals: no other value of a setting gives significantly better results.\n")
		return
	}
	s.Printf("\nProposed:\n")
	for _, p := range r.Proposed {
		s.Printf("  %s: %s  # now %s, %s\n", p.Setting, p.Value, cli.Clean(p.Was), cli.Clean(p.From))
	}
	if r.Applied != "" {
		s.Printf("Saved to %s; restart the daemon to apply the changes.\n", cli.Clean(r.Applied))
		return
	}
	s.Printf("To write the proposals to the config file, run: emberd eval self --apply\n")
}

// noteSelf says how the figures are to be read.
func noteSelf(s *cli.App, r *eval.SelfReport) {
	for _, class := range slices.Sorted(maps.Keys(r.Found)) {
		if asked, found := r.Classes[class], r.Found[class]; asked < found {
			s.Note("used %s of %s %s, selected at random with seed %d", cli.Grouped(asked), cli.Grouped(found),
				className(class), r.Seed)
		}
	}
	if r.Ambiguous > 0 {
		s.Note("%s more than one note or memory; not used", cli.Count(r.Ambiguous, "text matches",
			"texts match"))
	}
	if r.Failed > 0 {
		s.Note("%s refused; emberd evaluates each of them as a query without results",
			cli.Count(r.Failed, "question was", "questions were"))
	}
	if r.Questions < minTelling {
		s.Note("too few questions: the results might be due to chance")
	}
}

// minTelling is how many questions it takes for figures that mean something.
const minTelling = 50
