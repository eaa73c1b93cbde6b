package entity

import (
	"cmp"
	"slices"
	"strings"
)

// Written returns names as a text writes them, such as "Node.js" for "node-js": the first
// that stands within a sentence, else the first. A name that the text has not stays.
func Written(text string, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	s := scan(text)
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = cmp.Or(s.written(Key(name)), name)
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
