package intent

import (
	"fmt"
	"strings"
)

// saveReasoning and recallReasoning are in the form of CortexGraph's answers, with
// what spoke against a save behind.
func (s *signals) saveReasoning(entities int) string {
	var b strings.Builder
	marker := "False"
	if s.marked() {
		marker = "True"
	}
	fmt.Fprintf(&b, "Detected: %s importance_marker: %s entities_found: %d", quoted(append(s.save, s.importance...)),
		marker, entities)
	for _, against := range []struct {
		name    string
		phrases []string
	}{{"question", s.exclusion}, {"doubt", s.doubt}, {"negated", s.negated}} {
		if len(against.phrases) > 0 {
			fmt.Fprintf(&b, " %s: %s", against.name, quoted(against.phrases))
		}
	}
	return b.String()
}

func (s *signals) recallReasoning(entities int) string {
	return fmt.Sprintf("Detected: %s entities_found: %d", quoted(s.recall), entities)
}

// quoted writes a list as Python does, which callers of CortexGraph may look for.
func quoted(phrases []string) string {
	var parts []string
	for _, p := range phrases {
		mark := "'"
		if strings.Contains(p, "'") {
			mark = `"`
		}
		parts = append(parts, mark+p+mark)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
