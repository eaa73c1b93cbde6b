package chunk

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/internal/text"
)

// unit is a text that goes into one part as a whole.
type unit struct {
	text   string
	line   int
	tokens int
	apart  string // what parts it from the unit before
	prose  bool   // a sentence or more, which may be said again
}

// packer fills parts with the units of sections that go together.
type packer struct {
	*cutter
	path   []string // that they stand under
	prefix string   // what stands before every text
	room   int      // tokens in a part
	units  []unit   // of the part that is being filled
	tokens int      // of these
	again  int      // of the units: those that the part before ends with
	line   int      // where the part begins, 0 for where its first new unit does
	made   int      // parts
}

// clear makes room for so many tokens that are to be in one part.
func (p *packer) clear(tokens int) {
	if p.tokens+tokens > p.room && len(p.units) > p.again {
		p.flush()
	}
	for p.again > 0 && len(p.units) == p.again && p.tokens+tokens > p.room {
		p.tokens -= p.units[0].tokens
		p.units, p.again = p.units[1:], p.again-1
	}
}

// add puts a unit in, in the next part if there is no room in this one.
func (p *packer) add(u unit) {
	p.clear(u.tokens)
	p.units = append(p.units, u)
	p.tokens += u.tokens
}

// block puts a block in, whole if a part can hold it.
func (p *packer) block(b block) {
	whole := unit{text: b.text, line: b.line, tokens: b.tokens, apart: "\n"}
	if b.tokens <= p.room {
		p.clear(b.tokens)
	}
	switch {
	case b.kind == prose:
		p.sentences(whole)
	case b.tokens <= p.room:
		p.add(whole)
	case b.kind == items:
		p.each(itemsOf(b), whole)
	default:
		p.each(strings.SplitAfter(b.text, "\n"), whole)
	}
}

// each puts the pieces of a unit in, and cuts further those that are too long.
func (p *packer) each(pieces []string, whole unit) {
	line := whole.line
	for _, text := range pieces {
		piece := unit{text: strings.TrimSuffix(text, "\n"), line: line, tokens: p.count(text), apart: "\n"}
		line += strings.Count(text, "\n")
		switch {
		case p.full():
			return
		case piece.tokens <= p.room:
			p.add(piece)
		case strings.Contains(piece.text, "\n"):
			p.each(strings.SplitAfter(piece.text, "\n"), piece)
		default:
			p.sentences(piece)
		}
	}
}

// itemsOf are the items of a list, with what is nested in them.
func itemsOf(b block) []string {
	all := strings.SplitAfter(b.text, "\n")
	var out []string
	for i, start := range b.starts {
		end := len(all)
		if i+1 < len(b.starts) {
			end = b.starts[i+1]
		}
		out = append(out, strings.Join(all[start:end], ""))
	}
	return out
}

// sentences puts a text in by its sentences.
func (p *packer) sentences(whole unit) {
	next := unit{line: whole.line, apart: whole.apart, prose: true}
	for piece := range text.SplitSentences(whole.text) {
		if p.full() {
			return
		}
		next.text, next.tokens = piece, p.count(piece)
		if next.tokens > p.room {
			p.words(next)
		} else {
			p.add(next)
		}
		next.line += strings.Count(piece, "\n")
		next.apart = ""
	}
}

// words puts a sentence in that is too long, as many words at once as there is room for.
func (p *packer) words(whole unit) {
	next := unit{line: whole.line, apart: whole.apart}
	put := func() {
		if next.text != "" {
			next.tokens = max(next.tokens, len(next.text)/tokenBytes)
			p.add(next)
			next.apart = ""
		}
		next.line += strings.Count(next.text, "\n")
		next.text, next.tokens = "", 0
	}
	for _, word := range wordsOf(whole.text) {
		for word != "" && !p.full() {
			piece := p.fitting(word)
			tokens := p.count(piece)
			if next.tokens+tokens > p.room || len(next.text)+len(piece) > p.room*tokenBytes {
				put()
			}
			next.text += piece
			next.tokens += tokens
			word = word[len(piece):]
		}
	}
	put()
}

// wordsOf cuts a text behind the blanks that follow its words, and adds up to it.
func wordsOf(text string) []string {
	var out []string
	for text != "" {
		n := strings.IndexFunc(text, unicode.IsSpace)
		if n < 0 {
			n = len(text)
		}
		n += blanks(text[n:])
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

func blanks(s string) int { return len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace)) }

// fitting is the word, or of one that no part can hold a beginning for which there is
// room: a letter at least.
func (p *packer) fitting(word string) string {
	piece := beginning(word, p.room*tokenBytes)
	for p.count(piece) > p.room && utf8.RuneCountInString(piece) > 1 {
		piece = beginning(piece, len(piece)/2)
	}
	return piece
}

// beginning returns at most max bytes of s in whole letters, and at least one letter.
func beginning(s string, max int) string {
	if first := text.FirstBytes(s, max); first != "" {
		return first
	}
	_, size := utf8.DecodeRuneInString(s)
	return s[:size]
}

// flush ends the part, and begins the next with the end of it.
func (p *packer) flush() {
	if p.full() {
		p.units, p.tokens, p.again = nil, 0, 0
		return
	}
	p.out = append(p.out, p.part())
	p.made++
	p.line = 0
	left, from := int(float64(p.room)*overlapShare), len(p.units)
	for from > p.again+1 && p.units[from-1].prose && p.units[from-1].tokens <= left {
		from--
		left -= p.units[from].tokens
	}
	p.units = slices.Clone(p.units[from:])
	p.again, p.tokens = len(p.units), 0
	for _, u := range p.units {
		p.tokens += u.tokens
	}
}

// part is what the units make.
func (p *packer) part() Chunk {
	out := Chunk{Heading: p.path, Line: p.line}
	var body strings.Builder
	for i, u := range p.units {
		if i == p.again {
			out.Again = body.Len()
			if out.Line == 0 {
				out.Line = u.line
			}
		}
		if i > 0 {
			body.WriteString(u.apart)
		}
		body.WriteString(u.text)
	}
	out.Body = body.String()
	out.Text = strings.TrimSpace(p.prefix + "\n" + out.Body)
	own := p.note.Title
	if own == p.note.Name {
		own = ""
	}
	out.Identity = append([]string{identity, "part", own, strings.TrimSpace(out.Body)}, p.path...)
	return out
}
