package evalcmd

import (
	"emberd/internal/cli"
	"fmt"
	"strings"

	"github.com/rivo/uniseg"

	"emberd/internal/eval"
)

// printSet shows one unit as a table.
func (s *session) printSet(r *eval.SetReport) {
	s.printf("%s  %s of %s, %s, %s to load\n", string(r.Unit), cli.Grouped(r.Loaded),
		cli.Count(r.Documents, "document", "documents"), cli.Count(r.Questions, "question", "questions"),
		cli.Millis(r.LoadMillis))
	if v := r.Vectors; v != nil {
		s.printf("%s\n", vectorsLine(v))
	}
	s.printResults(r.Results)
	s.printf("\n  latency of %s: p50 %s, p95 %s, p99 %s\n\n", cli.Count(r.Latency.Searches, "search", "searches"),
		cli.Millis(r.Latency.P50), cli.Millis(r.Latency.P95), cli.Millis(r.Latency.P99))
	s.noteSet(r)
}

// vectorsLine says whose vectors took part, and how much.
func vectorsLine(v *eval.Vectors) string {
	if v.Weight == 0 {
		return fmt.Sprintf("vectors of %s, %s, take no part: %s", v.Provider, cli.Clean(v.Model), cli.Clean(v.Without))
	}
	return fmt.Sprintf("vectors of %s, %s, for %s of %s, trusted %.2f, %s to make", v.Provider, cli.Clean(v.Model),
		cli.Grouped(v.Covered), cli.Grouped(v.Total), v.Weight, cli.Millis(v.Millis))
}

// printResults shows lines of figures, below a title wherever what they are about changes.
func (s *session) printResults(results []eval.Result) {
	judgements, scope := "", ""
	width := nameWidth(results)
	for _, line := range results {
		if line.Judgements != judgements || line.Scope != scope {
			judgements, scope = line.Judgements, line.Scope
			s.printf("\n%s %6s %6s %6s %6s %7s %6s\n", cli.Pad(scopeTitle(&line), width+2), "n", "R@5", "R@10",
				"MRR@10",
				"nDCG@10", "hit@5")
		}
		s.printf("  %s %6s %6.3f %6.3f %6.3f %7.3f %6.3f\n", cli.Pad(resultName(&line), width),
			cli.Grouped(line.Questions), line.Recall5, line.Recall10, line.MRR10, line.NDCG10, line.Hit5)
	}
}

// noteSet says what the figures are without, or how they are to be read.
func (s *session) noteSet(r *eval.SetReport) {
	unit := string(r.Unit)
	if n := r.Documents - r.Loaded; n > 0 {
		s.note("%s: %s could not be loaded%s", unit, cli.Count(n, "document", "documents"), firstReason(r.Refused))
	}
	if r.Lost > 0 {
		s.note("%s: %s that the judgements name cannot be found at all, and count as not found", unit, cli.Count(r.Lost,
			"document", "documents"))
	}
	if len(r.Failed) > 0 {
		s.note("%s: %s refused, and counted as without a hit%s", unit, cli.Count(len(r.Failed), "question was",
			"questions were"), firstReason(r.Failed))
	}
	if len(r.Missing) > 0 {
		s.note("%s: %s no text and not counted: %s", unit, cli.Count(len(r.Missing), "judged question has",
			"judged questions have"), list(r.Missing))
	}
	if len(r.Unjudged) > 0 {
		s.note("%s: %s not judged and not asked: %s", unit, cli.Count(len(r.Unjudged), "question is", "questions are"),
			list(r.Unjudged))
	}
	if r.Ambiguous > 0 {
		s.note("%s: %s more than one note; not used", unit, cli.Count(r.Ambiguous, "text matches",
			"texts match"))
	}
	if r.Unit == eval.Notes && r.Repeated == 0 {
		s.note("%s: no search found a note twice, so counting each note once changes nothing", unit)
	}
}

func firstReason(all []eval.Refusal) string {
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("; the first is %s: %s", cli.Clean(all[0].Name), cli.Clean(all[0].Reason))
}

// list names the first few.
func list(names []string) string {
	const most = 5
	out := cli.Clean(strings.Join(names[:min(most, len(names))], ", "))
	if len(names) > most {
		out += ", …"
	}
	return out
}

func scopeTitle(r *eval.Result) string {
	if r.Scope == eval.ScopeGroup {
		return "within the conversation, " + r.Judgements
	}
	return "everything together, " + r.Judgements
}

func resultName(r *eval.Result) string {
	if r.Kept > 0 {
		return fmt.Sprintf("%s (%.0f %% of the characters)", r.System, 100*r.Kept)
	}
	if r.Category == "" {
		return r.System
	}
	return cli.Clean(r.Category) + ": " + r.System
}

func nameWidth(results []eval.Result) int {
	width := 0
	for _, r := range results {
		width = max(width, uniseg.StringWidth(resultName(&r)), uniseg.StringWidth(scopeTitle(&r))-2)
	}
	return width
}
