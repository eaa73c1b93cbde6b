package contradiction

import (
	_ "embed"
	"strings"
	"sync"

	"emberd/internal/text"
)

//go:embed parts.txt
var partsFile string

// partsLists are the lists of parts.txt, by name.
var partsLists = sync.OnceValue(func() map[string]string { return text.Lists(partsFile) })

// unitNames are the names of units that words of other languages have, by the word.
var unitNames = sync.OnceValue(func() map[string]string { return groups(partsLists()["units"]) })

// groups returns, for each word of groups of words between strokes, the first of its group.
func groups(list string) map[string]string {
	out := make(map[string]string)
	for group := range strings.FieldsSeq(list) {
		words := strings.Split(group, "/")
		for _, w := range words {
			if out[w] == "" {
				out[w] = words[0]
			}
		}
	}
	return out
}

func set(list string) map[string]bool {
	out := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}

// exclusive names each two words that a list has between strokes, either way.
func exclusive(list string, pair func(a, b string)) {
	for group := range strings.FieldsSeq(list) {
		words := strings.Split(group, "/")
		for _, a := range words {
			for _, b := range words {
				if a != b {
					pair(a, b)
				}
			}
		}
	}
}
