package ltm

import (
	"path"
	"slices"
	"strings"

	"emberd/internal/text/analysis"
)

// A passage ends with the first line after passageWords words, or anywhere after twice
// as many. What is left of a section below half of it joins the passage before.
const passageWords = 100

// maxPassages bounds the passages of a note, four million words; the last takes the rest.
const maxPassages = 40_000

// passage is a piece of a note.
type passage struct {
	place
	words int
}

// analyzedNote is a note ready to be indexed.
type analyzedNote struct {
	record record
	row    []byte                  // of the text
	parts  []map[string]occurrence // capped
}

// passageSplitter splits one note after another into passages and counts their terms by part. It
// keeps its memory for the next note.
type passageSplitter struct {
	analyzer *analysis.Analyzer
	memories bool // texts are cut like those of memories
	passages []passage
	parts    []map[string]occurrence
	terms    []analysis.Term // of a section
	row      []byte          // of the text
	headings []analysis.Term
}

// analyze cuts a note into passages and makes its record.
func analyze(a *analysis.Analyzer, memories bool, d *Doc) analyzedNote {
	c := passageSplitter{analyzer: a, memories: memories}
	return c.analyze(d)
}

// reset clears the note before. It keeps no memory of a very long one.
func (c *passageSplitter) reset() {
	const kept = 4 // parts
	for i, terms := range c.parts {
		if i < kept {
			clear(terms)
		} else {
			c.parts[i] = nil
		}
	}
	c.passages, c.parts = c.passages[:0], c.parts[:0]
}

// analyze makes a note ready. What it returns is good until the next call.
func (c *passageSplitter) analyze(d *Doc) analyzedNote {
	c.reset()
	if c.memories {
		return c.memory(d)
	}
	for i, s := range d.Sections {
		c.section(i, s)
	}
	if len(c.passages) == 0 {
		c.begin(place{line: 1})
	}
	n := analyzedNote{record: newRecord(d)}
	a, names := c.analyzer, namesOf(d)
	n.record.namesLen = c.head(strings.Join(names, "\n"), func(o *occurrence) { o.names++ })
	n.record.tagsLen = c.head(strings.Join(d.Tags, "\n"), func(o *occurrence) { o.tags++ })
	n.record.otherLen = c.head(otherText(d), func(o *occurrence) { o.other++ })
	for _, name := range names {
		if set := hashes(a.Query(name)); len(set) > 0 {
			n.record.names = append(n.record.names, set)
		}
	}
	c.terms = a.AppendTerms(c.terms[:0], d.Text)
	c.row = rowOf(c.row[:0], c.terms)
	return c.finish(n)
}

// finish completes a note whose passages and row are made.
func (c *passageSplitter) finish(n analyzedNote) analyzedNote {
	for _, p := range c.passages {
		n.record.bodyLen += p.words
		n.record.passages = append(n.record.passages, uint16(min(p.words, 1<<16-1)))
		n.record.places = append(n.record.places, p.place)
	}
	n.row, n.parts = c.row, c.parts
	for _, terms := range n.parts {
		for term, o := range terms {
			terms[term] = o.capped()
		}
	}
	return n
}

// namesOf returns the names of a note: title, file name, aliases.
func namesOf(d *Doc) []string {
	file := strings.TrimSuffix(path.Base(d.Path), ".md")
	names := append([]string{d.Title, file}, d.Aliases...)
	seen := make(map[string]bool)
	return slices.DeleteFunc(names, func(name string) bool {
		key := strings.ToLower(name)
		double := name == "" || seen[key]
		seen[key] = true
		return double
	})
}

func otherText(d *Doc) string {
	var b strings.Builder
	for _, p := range d.Properties {
		b.WriteString(p.Value)
		b.WriteByte('\n')
	}
	for _, l := range d.LinkText {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return b.String()
}

// head counts the terms of s, which stands at the note and in none of its passages, and
// returns its length in words.
func (c *passageSplitter) head(s string, count func(*occurrence)) (words int) {
	end := 0
	c.terms = c.analyzer.AppendTerms(c.terms[:0], s)
	for _, t := range c.terms {
		o := c.parts[0][t.Text]
		count(&o)
		c.parts[0][t.Text] = o
		if t.Start >= end {
			words++
			end = t.End
		}
	}
	return words
}

// hashes returns the distinct hashes of terms, ascending.
func hashes(terms []analysis.Term) []uint32 {
	set := make([]uint32, 0, len(terms))
	for _, t := range terms {
		set = append(set, hashOf(t.Text))
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// hashOf returns a hash of a term, for places where a rare collision does no harm.
func hashOf(term string) uint32 {
	h := uint32(2166136261) // FNV-1a
	for i := range len(term) {
		h = (h ^ uint32(term[i])) * 16777619
	}
	return h
}

// begin begins a passage.
func (c *passageSplitter) begin(at place) {
	if len(c.passages)%partPassages == 0 {
		c.part()
	}
	c.passages = append(c.passages, passage{place: at})
}

// part begins a part, in the room of one of an earlier note if there is any.
func (c *passageSplitter) part() {
	n := len(c.parts)
	if c.parts = slices.Grow(c.parts, 1)[:n+1]; c.parts[n] == nil {
		c.parts[n] = make(map[string]occurrence)
	}
}

// section splits one section. Its headings count in each of its passages.
func (c *passageSplitter) section(index int, s Section) {
	c.terms = c.analyzer.AppendTerms(c.terms[:0], s.Text)
	c.headings = c.analyzer.AppendTerms(c.headings[:0], strings.Join(s.HeadingPath, "\n"))
	terms, headings := c.terms, c.headings
	if len(terms) == 0 && len(headings) == 0 {
		return
	}
	line := s.Line
	if len(s.HeadingPath) > 0 {
		line++ // the text begins below the heading
	}
	at, read := max(s.Line, 1), 0
	for start := 0; start == 0 || start < len(terms); {
		end, words := cut(s.Text, terms, start)
		if start > 0 {
			line += strings.Count(s.Text[read:terms[start].Start], "\n")
			at, read = line, terms[start].Start
		}
		joins := len(c.passages) == maxPassages || start > 0 && words < passageWords/2
		if !joins {
			c.begin(place{section: index, line: at})
			c.underHeadings(headings)
		}
		c.body(terms[start:end], words)
		start = max(end, 1)
	}
}

// underHeadings counts the headings above the last passage.
func (c *passageSplitter) underHeadings(headings []analysis.Term) {
	terms, bit := c.last()
	times := make(map[string]int, len(headings))
	for _, t := range headings {
		times[t.Text]++
	}
	for term, n := range times {
		o := terms[term]
		o.headings = max(o.headings, n)
		o.headingsIn |= bit
		terms[term] = o
	}
}

// body counts terms in the body of the last passage.
func (c *passageSplitter) body(list []analysis.Term, words int) {
	terms, bit := c.last()
	c.passages[len(c.passages)-1].words += words
	for _, t := range list {
		o := terms[t.Text]
		o.body++
		o.bodyIn |= bit
		terms[t.Text] = o
	}
}

// last returns the part that the last passage is in, and the passage's bit there.
func (c *passageSplitter) last() (map[string]occurrence, uint16) {
	return c.parts[len(c.parts)-1], 1 << ((len(c.passages) - 1) % partPassages)
}

// cut returns where the passage ends that begins with the term at start, and how many
// words it has: terms that begin where no counted one covers them.
func cut(s string, terms []analysis.Term, start int) (end, words int) {
	covered := 0
	for i := start; i < len(terms); i++ {
		t := terms[i]
		if t.Start < covered {
			continue
		}
		if words >= 2*passageWords || words >= passageWords && strings.IndexByte(s[covered:t.Start], '\n') >= 0 {
			return i, words
		}
		words++
		covered = t.End
	}
	return len(terms), words
}
