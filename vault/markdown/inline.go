package markdown

import (
	"bytes"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"

	"emberd/vault/lex"
	"emberd/vault/notename"
)

// markup is one of Obsidian's additions to Markdown, as both readers find it: at
// most one of link, tag and block is set, and text stands in its place.
type markup struct {
	text       string
	plain      string // the text in headings
	link       *Link
	tag, block string
}

// scanMarkup reads what begins at line[0], a "[", "!", "#", "^" or "$", and says
// how long it is, or 0. The line goes to its end; before is the letter before it.
func scanMarkup(before rune, line []byte) (markup, int) {
	switch line[0] {
	case '[':
		if m, n := scanWikilink(line); n > 0 {
			return m, n
		}
		return markup{}, scanFootnote(line)
	case '!':
		m, n := scanWikilink(line[1:])
		if n == 0 {
			return m, 0
		}
		m.link.Embed = true
		if imageSize(m.link.Text) {
			m.text, m.link.Text = m.link.Target, ""
		}
		return m, n + 1
	case '#':
		name, n := scanTag(before, line)
		text := string(line[:n])
		return markup{text: text, plain: text, tag: name}, n
	case '^':
		id, n := scanBlockID(before, line)
		return markup{block: id}, n
	}
	n := scanMath(line)
	text := string(line[:n])
	return markup{text: text, plain: text}, n
}

// scanWikilink reads [[target#heading|text]]. In a table the bar is written \|.
// It stops at a second [[, so that a row of them costs one look each.
func scanWikilink(line []byte) (markup, int) {
	if !bytes.HasPrefix(line, []byte("[[")) {
		return markup{}, 0
	}
	end := -1
	for i := 2; i+1 < len(line) && line[i] != '\n'; i++ {
		if line[i] == ']' && line[i+1] == ']' {
			end = i
			break
		}
		if line[i] == '[' && line[i+1] == '[' && i > 2 {
			break
		}
	}
	if end < 0 {
		return markup{}, 0
	}
	inner := string(line[2:end])
	target, text, _ := strings.Cut(inner, "|")
	link := Link{Text: strings.TrimSpace(text)}
	link.setTarget(strings.TrimSuffix(target, `\`))
	if link.Target == "" && link.Heading == "" && link.Block == "" {
		return markup{}, 0
	}
	m := markup{link: &link}
	m.text, m.plain = link.display()
	return m, end + 2
}

// Wikilinks returns the links in the value of a property.
func Wikilinks(value string, line int) (all []Link) {
	for rest := []byte(value); ; {
		at := bytes.Index(rest, []byte("[["))
		if at < 0 {
			return all
		}
		m, size := scanWikilink(rest[at:])
		if size > 0 {
			m.link.Line = line
			all = append(all, *m.link)
		}
		rest = rest[at+max(size, 2):]
	}
}

// setTarget splits a target into name, #heading, #^block or ^block.
func (l *Link) setTarget(target string) {
	name, anchor, hash := strings.Cut(target, "#")
	if block, ok := strings.CutPrefix(anchor, "^"); ok {
		l.Block = strings.TrimSpace(block)
	} else if l.Heading = strings.TrimSpace(anchor); !hash {
		name, l.Block, _ = strings.Cut(name, "^")
	}
	l.Target = strings.TrimSpace(name)
}

// display returns what stands for the link in a text, with the name of the target
// when something else is shown, and what Obsidian shows.
func (l *Link) display() (text, plain string) {
	plain = l.Text
	if plain == "" {
		plain = l.Target
		if l.Heading != "" {
			plain = strings.TrimSpace(plain + " " + strings.ReplaceAll(l.Heading, "#", " "))
		}
		return plain, plain
	}
	name := notename.TrimExtension(path.Base(l.Target))
	if l.Target == "" || strings.Contains(notename.Fold(plain), notename.Fold(name)) {
		return plain, plain
	}
	return plain + " (" + name + ")", plain
}

// imageSize reports whether a text is the width, or width and height, of an embedded picture.
func imageSize(text string) bool {
	return text != "" && strings.Trim(text, "0123456789x") == ""
}

// scanFootnote reads a reference [^label], which stands for nothing in the text.
func scanFootnote(line []byte) int {
	if !bytes.HasPrefix(line, []byte("[^")) {
		return 0
	}
	end := bytes.IndexAny(line[:min(len(line), 100)], " ]\n")
	if end < 3 || line[end] != ']' {
		return 0
	}
	return end + 1
}

// tagEnds are the characters that no tag holds, besides those of General and
// Supplemental Punctuation and all spaces.
const tagEnds = "!\"#$%&'()*+,.:;<=>?@[\\]^`{|}~"

// scanTag reads a tag behind "#". What stands before tells it from the fragment of
// a URL, an escaped # and a heading's marks.
func scanTag(before rune, line []byte) (name string, n int) {
	if before == '_' || before == '-' || strings.ContainsRune(`/#&\[`, before) || unicode.IsLetter(before) || unicode.IsNumber(before) {
		return "", 0
	}
	n = 1
	for n < len(line) {
		r, size := utf8.DecodeRune(line[n:])
		if endsTag(r) {
			break
		}
		n += size
	}
	name = strings.Trim(string(line[1:n]), "/")
	if !ValidTag(name) {
		return "", 0
	}
	return name, n
}

func endsTag(r rune) bool {
	return r < 0x80 && strings.ContainsRune(tagEnds, r) || unicode.IsSpace(r) ||
		0x2000 <= r && r <= 0x206f || 0x2e00 <= r && r <= 0x2e7f
}

// ValidTag wants something besides digits and slashes.
func ValidTag(name string) bool {
	return strings.Trim(name, "0123456789/") != "" && strings.IndexFunc(name, endsTag) < 0
}

// scanBlockID reads ^id, which must be the last word of its line.
func scanBlockID(before rune, line []byte) (id string, n int) {
	if !lex.IsBlank(before) {
		return "", 0
	}
	n = 1
	for n < len(line) &&
		(line[n] == '-' || '0' <= line[n] && line[n] <= '9' || 'a' <= line[n]|0x20 && line[n]|0x20 <= 'z') {
		n++
	}
	end := n
	for end < len(line) && (line[end] == ' ' || line[end] == '\t') {
		end++
	}
	if n == 1 || end < len(line) && line[end] != '\n' {
		return "", 0
	}
	return string(line[1:n]), n
}

// scanMath reads $…$ and $$…$$ within a line. As in Obsidian, "$5 and $6" is no
// formula: nothing blank may stand inside a single dollar, nor a digit behind.
// Only the next dollar is looked at, so that a row of them costs one look each.
func scanMath(line []byte) int {
	if bytes.HasPrefix(line, []byte("$$")) {
		end := bytes.Index(line[2:], []byte("$$"))
		if end <= 0 || bytes.IndexByte(line[:end+2], '\n') >= 0 {
			return 2
		}
		return end + 4
	}
	end := bytes.IndexByte(line[1:], '$') + 1
	if end < 2 || bytes.IndexByte(line[:end], '\n') >= 0 || lex.IsBlank(rune(line[1])) ||
		lex.IsBlank(rune(line[end-1])) ||
		line[end-1] == '\\' || end+1 < len(line) && '0' <= line[end+1] && line[end+1] <= '9' {
		return 0
	}
	return end + 1
}

// markdownLink makes a Link of [text](destination), unless that is a URL.
func markdownLink(destination, text string, embed bool) (Link, bool) {
	destination = unescape([]byte(destination))
	if scheme, _, ok := strings.Cut(destination, ":"); ok && !strings.ContainsAny(scheme, "/#? .") && scheme != "" {
		return Link{}, false
	}
	if destination == "" || strings.HasPrefix(destination, "//") {
		return Link{}, false
	}
	if decoded, err := url.PathUnescape(destination); err == nil && utf8.ValidString(decoded) {
		destination = decoded
	}
	l := Link{Text: squeeze(text), Embed: embed}
	l.setTarget(destination)
	return l, l.Target != "" || l.Heading != "" || l.Block != ""
}

// unescape resolves backslashes and entities.
func unescape(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 && bytes.IndexByte(b, '&') < 0 {
		return string(b)
	}
	return entities(util.UnescapePunctuations(b))
}

// entities resolves &amp; and its like. A reference to a control character, such as &#27;, becomes a space, as the
// character itself does when a note is read.
func entities(b []byte) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return ' '
		}
		return r
	}, string(util.ResolveEntityNames(util.ResolveNumericReferences(b))))
}

// The longest key of an inline field, and the longest value of one in brackets, in
// bytes.
const (
	maxFieldKey   = 60
	maxFieldValue = 250
)

// scanFields finds the inline fields of one line of plain text.
func scanFields(line string) []Property {
	line = strings.TrimSpace(line)
	if key, value, ok := strings.Cut(line, "::"); ok && fieldKey(key) && spaced(value) {
		return []Property{{Key: strings.TrimSpace(key), Value: strings.TrimSpace(value)}}
	}
	var found []Property
	for {
		before, after, more := strings.Cut(line, "::")
		if !more {
			return found
		}
		key := before[max(0, len(before)-maxFieldKey):]
		key = key[strings.LastIndexAny(key, "[(")+1:]
		if len(key) < len(before) && fieldKey(key) && spaced(after) {
			value := after[:min(len(after), maxFieldValue)]
			if end := strings.IndexAny(value, "])"); end >= 0 {
				found = append(found, Property{Key: strings.TrimSpace(key), Value: strings.TrimSpace(value[:end])})
			}
		}
		line = after
	}
}

// spaced reports whether a text is a value, and not the rest of a qualified name such as
// std::vector.
func spaced(value string) bool {
	return strings.HasPrefix(value, " ") && value != " "
}

func fieldKey(key string) bool {
	key = strings.TrimSpace(key)
	if key == "" || len(key) > maxFieldKey {
		return false
	}
	for i, r := range key {
		if !unicode.IsLetter(r) &&
			(i == 0 || !unicode.IsNumber(r) && !unicode.IsMark(r) && !strings.ContainsRune(" _-/", r)) {
			return false
		}
	}
	return true
}

// opensMath reports whether a line begins math and does not end it.
func opensMath(line []byte) bool {
	inner, ok := bytes.CutPrefix(line, []byte("$$"))
	return ok && !closesMath(inner)
}

func closesMath(text []byte) bool { return bytes.Contains(text, []byte("$$")) }
