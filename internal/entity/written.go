package entity

import (
	"cmp"
	"slices"
	"strings"
)

// Written returns names as people write them, such as "Node.js" for "node-js": as the text does, where it
// first stands within a sentence, else where it stands first. What is in small letters there, or nowhere,
// keeps its capitals, or gets those of the lists, as "Emma" and "PostgreSQL" do.
func Written(text string, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	s := scan(text)
	out := make([]string, len(names))
	for i, name := range names {
		key := Key(name)
		out[i] = cmp.Or(s.written(key), name)
		listed, ok := lists().name(key)
		switch {
		case out[i] != strings.ToLower(out[i]):
		case name != strings.ToLower(name):
			out[i] = name
		case ok && listed.kind != Topic:
			out[i] = listed.name
		}
	}
	return out
}

// written returns the run of words of that key, "" if there is none.
func (s *scanned) written(key string) (first string) {
	for from := 0; key != ""; {
		at := strings.Index(s.keys[from:], key)
		if at < 0 {
			return first
		}
		at += from
		from = at + 1
		i, begins := slices.BinarySearchFunc(s.words, at, func(w word, at int) int { return w.from - at })
		j, ends := slices.BinarySearchFunc(s.words, at+len(key), func(w word, to int) int { return w.to - to })
		if !begins || !ends {
			continue
		}
		run := strings.Join(strings.Fields(s.text[s.words[i].start:s.words[j].end]), " ")
		if s.words[i].gap < colon {
			return run
		}
		first = cmp.Or(first, run)
	}
	return first
}

// Capitals counts how often a text has a word in small letters, and how often with a capital within a
// sentence. It takes the word as [Key] returns it.
func Capitals(text, word string) (small, capitals int) {
	if !strings.Contains(strings.ToLower(text), word) {
		return 0, 0
	}
	s := scan(text)
	for i, w := range s.words {
		switch {
		case s.key(i, i+1) != word:
		case w.shape&capital == 0:
			small++
		case w.gap < colon:
			capitals++
		}
	}
	return small, capitals
}
