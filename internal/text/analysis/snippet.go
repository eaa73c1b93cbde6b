package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// minSnippet is the least a snippet can be asked for, in letters: below it nothing
// readable is left between the ellipses.
const minSnippet = 16

// maxSnap is how many letters a cut may move to fall between two words.
const maxSnap = 24

// span is a byte range.
type span struct{ start, end int }

// hit is one occurrence of a query term in a text. from and to count letters.
type hit struct {
	span
	from, to int
	term     int
}

// Snippet returns the part of text, at most limit letters (code points) long, that
// holds most of the different query terms, which are given as Query makes them. It
// is cut between words where there are any, with an ellipsis where something is left
// out, and in one line: every run of white space and control characters becomes one
// space. Without a match it is the beginning of text. A limit below 16 counts as 16.
//
// The marks are byte ranges of the matched words in the snippet, ascending and apart.
func (a *Analyzer) Snippet(text string, query []string, limit int) (snippet string, marks [][2]int) {
	hits := a.hits(text, query)
	w := window(text, hits, limit)
	return render(text, w, merged(hits))
}

// hits returns the occurrences of the query terms, ordered by where they start.
func (a *Analyzer) hits(text string, query []string) []hit {
	wanted := make(map[string]int, len(query))
	for i, q := range query {
		wanted[q] = i
	}
	var hits []hit
	letters, counted := 0, 0
	room, _ := a.rooms.Get().(*[]Term)
	if room == nil {
		room = new([]Term)
	}
	*room = a.AppendOnly((*room)[:0], text, query)
	defer a.rooms.Put(room)
	for _, t := range *room {
		term, ok := wanted[t.Text]
		if !ok {
			continue
		}
		if t.Start > counted {
			letters += utf8.RuneCountInString(text[counted:t.Start])
			counted = t.Start
		}
		h := hit{span: span{t.Start, t.End}, from: letters, term: term}
		h.to = h.from + utf8.RuneCountInString(text[t.Start:t.End])
		hits = append(hits, h)
	}
	return hits
}

// window returns the part of text to show.
func window(text string, hits []hit, limit int) span {
	limit = max(limit, minSnippet)
	if utf8.RuneCountInString(text) <= limit {
		return span{0, len(text)}
	}
	room := limit - 2 // for the ellipses
	core, width := best(hits, room)
	w := span{start: back(text, core.start, (room-width)/2)}
	w.end = forward(text, w.start, room)
	if w.end == len(text) {
		w.start = back(text, w.end, room)
	}
	return snapped(text, w, core)
}

// best returns the hits of the best window of room letters: most different terms,
// then most hits, then the earliest. width is in letters.
func best(hits []hit, room int) (core span, width int) {
	counts := make(map[int]int)
	first, distinct, many := 0, 0, 0
	for i, h := range hits {
		counts[h.term]++
		for ; h.to-hits[first].from > room && first < i; first++ {
			counts[hits[first].term]--
			if counts[hits[first].term] == 0 {
				delete(counts, hits[first].term)
			}
		}
		if n := len(counts); n > distinct || n == distinct && i-first >= many {
			distinct, many = n, i-first+1
			core, width = span{hits[first].start, h.end}, min(h.to-hits[first].from, room)
		}
	}
	return core, width
}

// back returns the offset of the n-th letter before at, or 0.
func back(text string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return at
}

// forward returns the offset of the n-th letter after at, or the end.
func forward(text string, at, n int) int {
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// snapped moves the cuts inwards, to the next space if it is near and outside core,
// else off the middle of a letter with its marks.
func snapped(text string, w, core span) span {
	if w.start > 0 {
		w.start = snappedStart(text, w, core)
	}
	if w.end < len(text) {
		w.end = snappedEnd(text, w, core)
	}
	return w
}

func snappedStart(text string, w, core span) int {
	near := text[w.start:forward(text, w.start, maxSnap)]
	if i := strings.IndexFunc(near, unicode.IsSpace); i >= 0 && w.start+i < core.start {
		return w.start + i
	}
	for w.start < w.end && continues(text[w.start:]) {
		w.start = forward(text, w.start, 1)
	}
	return w.start
}

func snappedEnd(text string, w, core span) int {
	near := back(text, w.end, maxSnap)
	// A space right behind the window is as good as one within.
	i := strings.LastIndexFunc(text[near:forward(text, w.end, 1)], unicode.IsSpace)
	if i >= 0 && near+i >= core.end {
		return near + i
	}
	for w.end > w.start && continues(text[w.end:]) {
		w.end = back(text, w.end, 1)
	}
	return w.end
}

// continues reports whether text begins with something that belongs to the letter
// before it: a combining mark, a joiner, an emoji's skin tone.
func continues(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.In(r, unicode.M, unicode.Cf) || 0x1F3FB <= r && r <= 0x1F3FF
}

// merged returns the spans of hits with those that touch made one.
func merged(hits []hit) []span {
	var spans []span
	for _, h := range hits {
		if n := len(spans); n > 0 && h.start <= spans[n-1].end {
			spans[n-1].end = max(spans[n-1].end, h.end)
			continue
		}
		spans = append(spans, h.span)
	}
	return spans
}

// render writes text[w] in one line and finds the spans in it again.
func render(text string, w span, spans []span) (snippet string, marks [][2]int) {
	var out strings.Builder
	if w.start > 0 {
		out.WriteString("…")
	}
	empty := out.Len()
	open, space := -1, false
	for i, r := range text[w.start:w.end] {
		at := w.start + i
		if open >= 0 && at >= spans[0].end {
			marks = append(marks, [2]int{open, out.Len()})
			open = -1
		}
		for len(spans) > 0 && spans[0].end <= at {
			spans = spans[1:]
		}
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = true
			continue
		}
		if space && out.Len() > empty {
			out.WriteByte(' ')
		}
		space = false
		if open < 0 && len(spans) > 0 && spans[0].start <= at {
			open = out.Len()
		}
		out.WriteRune(r)
	}
	if open >= 0 {
		marks = append(marks, [2]int{open, out.Len()})
	}
	if w.end < len(text) {
		out.WriteString("…")
	}
	return out.String(), marks
}
