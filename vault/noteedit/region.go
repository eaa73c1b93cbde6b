package noteedit

import (
	"bytes"
	"slices"
	"strings"

	"emberd/vault/frontmatter"
	"emberd/vault/lex"
)

// region is the place of an own region: its lines with the marks, and its text.
type region struct {
	start, end int // with the marks
	from, to   int // without
}

// findRegion returns the one region of a name. There may be none; two, or a mark without its other
// one, are an [*frontmatter.EditError].
func findRegion(text []byte, body int, name string) (r region, found bool, err error) {
	begin, end := "<!-- emberd:"+name+" -->", "<!-- /emberd:"+name+" -->"
	var f lex.Fence
	begins, ends, mentions := 0, 0, 0
	at := body
	for line := range bytes.Lines(text[body:]) {
		words := string(bytes.TrimRight(line, " \t\n"))
		switch {
		case f.InCode(line):
		case words == begin:
			begins++
			r.start, r.from = at, at+len(line)
		case words == end:
			ends++
			r.to, r.end = at, at+len(line)
		case strings.Contains(words, "emberd:"+name+" "):
			mentions++
		}
		at += len(line)
	}
	if begins == 0 && ends == 0 && mentions == 0 {
		return r, false, nil
	}
	if begins != 1 || ends != 1 || mentions != 0 || r.to < r.from {
		return r, false, &frontmatter.EditError{Reason: BadRegion}
	}
	return r, true, nil
}

// RegionOf returns the text of the one region of a name in a note, and the rest of the note
// without frontmatter, with LF line ends. There may be no such region; two, or a mark without its
// other one, are an [*frontmatter.EditError].
func RegionOf(note []byte, name string) (text, rest string, found bool, err error) {
	src, body := bodyOf(note)
	r, found, err := findRegion(src, body, name)
	if err != nil || !found {
		return "", lex.PlainEnds(note[body:]), false, err
	}
	return lex.PlainEnds(note[r.from:r.to]), lex.PlainEnds(note[body:r.start]) + lex.PlainEnds(note[r.end:]), true, nil
}

// replacement is a text for the bytes from start to end.
type replacement struct {
	start, end int
	text       string
}

func (r replacement) in(src []byte) []byte {
	return slices.Concat(src[:r.start], []byte(r.text), src[r.end:])
}

func (e Edit) spliceRegions(src []byte) ([]byte, error) {
	out := src
	for _, name := range e.Drop {
		text, body := bodyOf(out)
		r, found, err := findRegion(text, body, name)
		if err != nil {
			return nil, err
		}
		if found {
			out = r.removal(out).in(out)
		}
	}
	for _, own := range e.Regions {
		p, err := own.placed(out)
		if err != nil {
			return nil, err
		}
		if string(out[p.start:p.end]) != p.text {
			out = p.in(out)
		}
	}
	return out, nil
}

// bodyOf returns the note with plain line ends, at the same offsets, and where the
// text behind the frontmatter begins.
func bodyOf(src []byte) (text []byte, body int) {
	text, _ = lex.Normalize(src)
	at := lex.TextStart(src)
	_, body, _ = frontmatter.Find(text[at:])
	return text, at + body
}

// placed returns the replacement that puts a region where it belongs.
func (r Region) placed(src []byte) (replacement, error) {
	text, body := bodyOf(src)
	newline := lex.LineEnd(src)
	lines := r.lines(newline)
	old, found, err := findRegion(text, body, r.Name)
	if err != nil || found {
		return replacement{old.from, old.to, lines}, err
	}
	if reason := openEnd(text[body:]); reason != "" {
		return replacement{}, &frontmatter.EditError{Reason: reason}
	}
	block := "<!-- emberd:" + r.Name + " -->" + newline + lines + "<!-- /emberd:" + r.Name + " -->"
	switch {
	case len(src) == lex.TextStart(src) || body == len(src) && text[body-1] == '\n':
	case text[len(text)-1] == '\n':
		block = newline + block + newline
	default:
		block = newline + newline + block
	}
	return replacement{len(src), len(src), block}, nil
}

// lines returns the region's text with the note's line ends, the last line ended.
func (r Region) lines(newline string) string {
	text := lex.PlainEnds([]byte(r.Text))
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return strings.ReplaceAll(text, "\n", newline)
}

// openEnd returns the reason why the end of a note would swallow a region, "" if it would not.
func openEnd(body []byte) string {
	var f lex.Fence
	for line := range bytes.Lines(body) {
		f.InCode(line)
	}
	if f.Size > 0 || bytes.LastIndex(body, []byte("<!--")) > bytes.LastIndex(body, []byte("-->")) {
		return OpenEnd
	}
	return ""
}

// removal removes a region and the empty line that was put before it. If the region ends the note
// without a line end, the line before had none either.
func (r region) removal(src []byte) replacement {
	newline := lex.LineEnd(src)
	before := string(src[:r.start])
	start, unended := r.start, !bytes.HasSuffix(src[:r.end], []byte(newline))
	switch {
	case unended && strings.HasSuffix(before, newline+newline):
		start -= 2 * len(newline)
	case !unended && strings.HasSuffix(before, newline):
		start -= len(newline)
	}
	return replacement{start, r.end, ""}
}
