package chunk

import "strings"

// TextVersion names the rules by which [CutText] cuts.
const TextVersion = "1"

// TextPart is a part of a text that is not Markdown. Text is what is to be embedded, without the
// white space around it; it begins Start bytes into the text or behind white space there.
type TextPart struct {
	Start int
	Text  string
}

// CutText cuts a text that is not Markdown, as a memory's, into at most [Max] parts: between
// paragraphs where these fit, else between sentences, in the end between words and letters. What
// is cut within a paragraph overlaps, as the parts of notes do. No part is longer than opt.Tokens,
// unless it is one letter. The parts together have all words of the text, if they are fewer than
// Max.
func CutText(s string, opt Options) []TextPart {
	p := packer{cutter: &cutter{note: new(Note), opt: opt}, room: max(opt.Tokens, 1)}
	for paragraph := range strings.SplitAfterSeq(s, "\n\n") {
		if paragraph == "" {
			continue
		}
		if tokens := p.count(paragraph); tokens <= p.room {
			p.clear(tokens)
		}
		p.sentences(unit{text: paragraph})
	}
	if len(p.units) > p.again {
		p.flush()
	}
	return placed(p.out)
}

// placed returns where the bodies of chunks are in the text that they make, each beginning with
// what the one before ends with.
func placed(chunks []Chunk) []TextPart {
	out, end := make([]TextPart, 0, len(chunks)), 0
	for _, c := range chunks {
		start := end - c.Again
		end = start + len(c.Body)
		if text := strings.TrimSpace(c.Body); text != "" {
			out = append(out, TextPart{Start: start, Text: text})
		}
	}
	return out
}
