package contradiction

import (
	"slices"
	"strings"
)

// label are the words before a colon that the word at i is all the rest behind, in one;
// "" if it is not. What several may be has a label in the plural.
func (s *sentence) label(i int) string {
	if !s.words[i].labelled || i == 0 || i > 4 {
		return ""
	}
	var stems []string
	for _, w := range s.words[:i] {
		if w.value != nil || w.negates {
			return ""
		}
		if w.content {
			stems = append(stems, w.stem)
		}
	}
	head := s.words[i-1].lower
	plural := strings.HasSuffix(head, "s") && !strings.HasSuffix(head, "ss") && !strings.HasSuffix(head, "us")
	if plural || slices.ContainsFunc(s.words[i+1:], func(w word) bool { return !w.name }) {
		return ""
	}
	return strings.Join(stems, " ")
}
