package entity

import (
	_ "embed"
	"strings"
	"sync"
)

var (
	//go:embed lists/terms.txt
	termsFile string
	//go:embed lists/function.txt
	functionFile string
	//go:embed lists/openers.txt
	openersFile string
	//go:embed lists/german.txt
	germanFile string
	//go:embed lists/english.txt
	englishFile string
	//go:embed lists/suffixes.txt
	suffixesFile string
)

// wordLists are the embedded lists, by the key of each entry.
type wordLists struct {
	terms    map[string]bool
	function map[string]bool
	openers  map[string]bool
	suffixes map[string]bool
	markers  map[string]string // "de" or "en"
}

var lists = sync.OnceValue(func() *wordLists {
	l := &wordLists{
		terms: map[string]bool{}, function: setOf(functionFile), openers: setOf(openersFile),
		suffixes: setOf(suffixesFile), markers: map[string]string{},
	}
	for term := range setOf(termsFile) {
		l.terms[term] = true
		l.terms[plural(term)] = true
	}
	for language, file := range map[string]string{"de": germanFile, "en": englishFile} {
		for word := range setOf(file) {
			l.markers[word] = language
		}
	}
	return l
})

// setOf reads a list: one entry a line, # begins a comment.
func setOf(file string) map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(file) {
		entry, _, _ := strings.Cut(line, "#")
		if entry = strings.TrimSpace(entry); entry != "" {
			set[folded(entry)] = true
		}
	}
	return set
}

// plural returns the regular English one.
func plural(noun string) string {
	stem, isY := strings.CutSuffix(noun, "y")
	switch {
	case isY && !strings.HasSuffix(stem, "a") && !strings.HasSuffix(stem, "e") && !strings.HasSuffix(stem, "o"):
		return stem + "ies"
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"),
		strings.HasSuffix(noun, "sh"):
		return noun + "es"
	}
	return noun + "s"
}
