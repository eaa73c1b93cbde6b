package evalcmd

import (
	"fmt"
	"maps"
	"slices"
)

func printHours(s *session, r *hoursReport) error {
	if s.json {
		return s.printJSON(r)
	}
	s.printf("%-12s %6s  %s\n", "rule", "kept", "of messages that a reader wants something of")
	for _, rule := range slices.Sorted(maps.Keys(r.Rules)) {
		s.printf("%-12s %6d  %d\n", rule, r.Rules[rule].All, r.Rules[rule].Both)
	}
	s.printf("\n%-12s %6s  %s\n", "kind", "wanted", "of messages that something was kept of")
	for _, kind := range slices.Sorted(maps.Keys(r.Wanted)) {
		s.printf("%-12s %6d  %d\n", kind, r.Wanted[kind].All, r.Wanted[kind].Both)
	}
	s.printf("\n")
	of := len(r.Questions)
	count := func(is func(*answeredBy) bool) string {
		n := 0
		for i := range r.Questions {
			if is(&r.Questions[i]) {
				n++
			}
		}
		return fmt.Sprintf("%d of %d questions", n, of)
	}
	s.row("kept", count(func(a *answeredBy) bool { return a.Kept })+" are answered by a kept sentence")
	s.row("start", count(func(a *answeredBy) bool { return a.Start })+" by the start of the session")
	s.row("beside", count(func(a *answeredBy) bool { return a.Beside })+" by memories given beside the prompt")
	s.row("either", count(func(a *answeredBy) bool { return a.Start || a.Beside })+" by one of both")
	s.row("search", count(func(a *answeredBy) bool { return a.Search })+" by a search with the prompt")
	s.row("fired", count(func(a *answeredBy) bool { return a.Tokens > 0 })+" get memories beside the prompt")
	s.row("foreign", fmt.Sprintf("%d of %d questions of another project get memories", r.Foreign, of))
	s.row("orders", fmt.Sprintf("%d of %d orders get memories", len(r.Orders), r.Asked))
	return nil
}
