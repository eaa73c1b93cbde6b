package engine

import (
	"strings"

	"emberd/memory"
)

// mostDiffLines bounds what is shown of what differs in memories.
const mostDiffLines = 400

// diffOf is what is different in memories, sentence by sentence: after "  " those that all of
// them have, after "- " others of the first one, and after "+ " those that it lacks, each
// once and where it follows from what it comes after. Case and white space make no
// difference. Of one memory it is nil.
func diffOf(members []memory.Memory) []string {
	if len(members) < 2 {
		return nil
	}
	d := newDiff(members[0].Content)
	for _, m := range members[1:] {
		d.compare(m.Content)
	}
	out := d.lines(len(members) - 1)
	if len(out) > mostDiffLines {
		out = append(out[:mostDiffLines], "  …")
	}
	return out
}

// textDiff compares texts with a first one.
type textDiff struct {
	first []string
	keys  []string       // of the sentences of first
	have  map[string]int // how many of the others have a sentence
	place map[string]int // of a sentence in first, inExtra for one that is there
	extra map[int][]string
}

const inExtra = -1

func newDiff(text string) *textDiff {
	d := &textDiff{first: sentencesOf(text), have: make(map[string]int), place: make(map[string]int), extra: make(map[int][]string)}
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

// compare takes in another text. What the first one lacks belongs behind the sentence of it
// that came last, -1 for none.
func (d *textDiff) compare(text string) {
	after := -1
	seen := make(map[string]bool)
	for _, s := range sentencesOf(text) {
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

// lines puts what replaced sentences behind them.
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
