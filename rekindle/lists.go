package rekindle

import (
	_ "embed"
	"strings"
	"sync"

	"emberd/internal/text"
)

//go:embed lists.txt
var listsFile string

// lists are the lists of words by name, see lists.txt.
var lists = sync.OnceValue(func() map[string]string { return text.Lists(listsFile) })

// A list has words. None is changed after it was made.
type list map[string]struct{}

// listed returns the list with that name, which is read when it is first asked for.
func listed(name string) func() list {
	return sync.OnceValue(func() list { return listOf(name) })
}

func listOf(name string) list {
	words := lists()[name]
	l := make(list, len(words)/6)
	for w := range strings.FieldsSeq(words) {
		l[w] = struct{}{}
	}
	return l
}

// has reports whether a list has a word.
func (l list) has(word string) bool {
	_, ok := l[word]
	return ok
}

var (
	colours   = listed("colours")
	articles  = listed("articles")
	links     = listed("links")
	dangling  = listed("dangling")
	negations = listed("negations")
	labels    = listed("labels")
	pronouns  = listed("pronouns")
)
