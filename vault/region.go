package vault

import (
	"bytes"
	"strings"
)

// inCode takes in a line of the note itself, neither in a quote nor in a list, and
// reports whether it belongs to a fenced block of code
// (https://spec.commonmark.org/0.31.2/#fenced-code-blocks).
func (f *fence) inCode(line []byte) bool {
	if indent := len(line) - len(bytes.TrimLeft(line, " ")); indent > 3 || bytes.HasPrefix(line, []byte("\t")) {
		return f.size > 0
	}
	return f.next(line)
}

// region is where an own region stands: its lines with the marks, and its text.
type region struct {
	start, end int // with the marks
	from, to   int // without
}

// findRegion finds the one region of a name. There may be none; two, or a mark
// without its other one, are an [*Unspliced].
func findRegion(text []byte, body int, name string) (r region, found bool, err error) {
	begin, end := "<!-- emberd:"+name+" -->", "<!-- /emberd:"+name+" -->"
	var f fence
	begins, ends, mentions := 0, 0, 0
	at := body
	for line := range bytes.Lines(text[body:]) {
		words := string(bytes.TrimRight(line, " \t\n"))
		switch {
		case f.inCode(line):
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
		return r, false, &Unspliced{BadRegion}
	}
	return r, true, nil
}

// RegionOf returns the text of the one region of a name in a note, and of the note what is
// neither that nor frontmatter, with plain line ends. There may be no such region; two, or
// a mark without its other one, are an [*Unspliced].
func RegionOf(note []byte, name string) (text, rest string, found bool, err error) {
	src, body := bodyOf(note)
	r, found, err := findRegion(src, body, name)
	if err != nil || !found {
		return "", plainEnds(note[body:]), false, err
	}
	return plainEnds(note[r.from:r.to]), plainEnds(note[body:r.start]) + plainEnds(note[r.end:]), true, nil
}

func plainEnds(text []byte) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text))
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
			out = apply(out, []patch{r.removal(out)})
		}
	}
	for _, own := range e.Regions {
		p, err := own.placed(out)
		if err != nil {
			return nil, err
		}
		if string(out[p.start:p.end]) != p.text {
			out = apply(out, []patch{p})
		}
	}
	return out, nil
}

// bodyOf returns the note with plain line ends, at the same offsets, and where the
// text behind the frontmatter begins.
func bodyOf(src []byte) (text []byte, body int) {
	text, _ = normalize(src)
	at := start(src)
	_, body, _ = findFrontmatter(text[at:])
	return text, at + body
}

// start is where a note's text begins, behind the byte-order mark.
func start(src []byte) int {
	if bytes.HasPrefix(src, []byte(byteOrderMark)) {
		return len(byteOrderMark)
	}
	return 0
}

// placed is the patch that puts a region where it belongs.
func (r Region) placed(src []byte) (patch, error) {
	text, body := bodyOf(src)
	newline := newlineOf(src)
	lines := r.lines(newline)
	old, found, err := findRegion(text, body, r.Name)
	if err != nil || found {
		return patch{old.from, old.to, lines}, err
	}
	if reason := openEnd(text[body:]); reason != "" {
		return patch{}, &Unspliced{reason}
	}
	block := "<!-- emberd:" + r.Name + " -->" + newline + lines + "<!-- /emberd:" + r.Name + " -->"
	switch {
	case len(src) == start(src) || body == len(src) && text[body-1] == '\n':
	case text[len(text)-1] == '\n':
		block = newline + block + newline
	default:
		block = newline + newline + block
	}
	return patch{len(src), len(src), block}, nil
}

// lines is the region's text in the note's line ends, the last one ended.
func (r Region) lines(newline string) string {
	text := plainEnds([]byte(r.Text))
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return strings.ReplaceAll(text, "\n", newline)
}

// openEnd says what at the end of a note would swallow a region.
func openEnd(body []byte) Reason {
	var f fence
	for line := range bytes.Lines(body) {
		f.inCode(line)
	}
	if f.size > 0 || bytes.LastIndex(body, []byte("<!--")) > bytes.LastIndex(body, []byte("-->")) {
		return OpenEnd
	}
	return ""
}

// removal takes away a region and the empty line that was put before it. Where the
// region ends the note without a line end, the line before had none either.
func (r region) removal(src []byte) patch {
	newline := newlineOf(src)
	before := string(src[:r.start])
	start, unended := r.start, !bytes.HasSuffix(src[:r.end], []byte(newline))
	switch {
	case unended && strings.HasSuffix(before, newline+newline):
		start -= 2 * len(newline)
	case !unended && strings.HasSuffix(before, newline):
		start -= len(newline)
	}
	return patch{start, r.end, ""}
}
