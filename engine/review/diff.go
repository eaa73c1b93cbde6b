package review

import (
	"strings"

	"emberd/internal/text"
	"emberd/memory"
)

// maxDiffLines is the maximum length of a diff.
const maxDiffLines = 400

// DiffOf returns the differences between memories, sentence by sentence: " " before sentences
// that all have, "- " before others of the first memory, and "+ " before those that it lacks,
// each once, in the place where it occurs. Case and white space do not count. For one memory
// it returns nil.
func DiffOf(members []memory.Memory) []string {
	if len(members) < 2 {
		return nil
	}
	d := newDiff(members[0].Content)
	for _, m := range members[1:] {
		d.compare(m.Content)
	}
	out := d.lines(len(members) - 1)
	if len(out) > maxDiffLines {
		out = append(out[:maxDiffLines], "  …")
	}
	return out
}

// textDiff compares texts with a first one.
type textDiff struct {
	first []string
	keys  []string       // of the sentences of first
	have  map[string]int // how many of the others have a sentence
	place map[string]int // index of a sentence in first; inExtra for an added one
	extra map[int][]string
}

const inExtra = -1

func newDiff(content string) *textDiff {
	d := &textDiff{
		first: text.Sentences(content), have: make(map[string]int), place: make(map[string]int),
		extra: make(map[int][]string),
	}
	for i, s := range d.first {
		key := sentenceKey(s)
		d.keys = append(d.keys, key)
		if _, before := d.place[key]; !before {
			d.place[key] = i
		}
	}
	return d
}

func sentenceKey(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// compare adds another text. A sentence that the first text lacks is placed after the last
// common one, -1 for none.
func (d *textDiff) compare(content string) {
	after := -1
	seen := make(map[string]bool)
	for _, s := range text.Sentences(content) {
		key := sentenceKey(s)
		switch at, known := d.place[key]; {
		case !known:
			d.place[key] = inExtra
			d.extra[after] = append(d.extra[after], s)
		case at != inExtra:
			if after = at; !seen[key] {
				d.have[key]++
			}
		}
		seen[key] = true
	}
}

// lines places added sentences after those that they replace.
func (d *textDiff) lines(others int) []string {
	var out, waiting []string
	flush := func() {
		out = append(out, waiting...)
		waiting = nil
	}
	add := func(after int) {
		for _, s := range d.extra[after] {
			waiting = append(waiting, "+ "+s)
		}
	}
	add(-1)
	for i, s := range d.first {
		if d.have[d.keys[i]] == others {
			flush()
			out = append(out, "  "+s)
		} else {
			out = append(out, "- "+s)
		}
		add(i)
	}
	flush()
	return out
}
