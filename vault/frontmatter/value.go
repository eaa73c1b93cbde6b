package frontmatter

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Field is a property and its value.
type Field struct {
	Key   string
	Value Value
}

// In reports whether a note has the property with its value.
func (f *Field) In(src []byte) bool {
	h, err := readHead(src)
	if err != nil {
		return false
	}
	at := h.find(f.Key)
	return at >= 0 && f.Value.heldBy(h.entries[at].value)
}

// Value is the value of a property, of one of Obsidian's types
// (https://help.obsidian.md/properties). The zero value is an empty text.
type Value struct {
	kind  kind
	text  string // as written, for a text without the quotes
	items []string
}

type kind int

const (
	textKind kind = iota
	listKind
	numberKind
	dateKind
)

// Text returns a text. It is written in double quotes whatever its letters, so that no version of
// YAML reads 012, no or 2026-01-02 as anything else.
func Text(s string) Value {
	return Value{text: strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "<%", "< %")}
}

// List returns a list of texts. Tags are one, without "#".
func List(items ...string) Value {
	v := Value{kind: listKind}
	for _, item := range items {
		v.items = append(v.items, Text(item).text)
	}
	return v
}

// Number returns a number. One that is not finite is written as 0, because Obsidian reads no
// notation of it.
func Number(x float64) Value {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		x = 0
	}
	return Value{kind: numberKind, text: strconv.FormatFloat(x, 'f', -1, 64)}
}

// DateTime returns a day and a time of day to the second. Obsidian's have no zone: it is what a
// clock in t's zone shows.
func DateTime(t time.Time) Value {
	return Value{kind: dateKind, text: t.Format("2006-01-02T15:04:05")}
}

// Render writes the value as it follows "key:". comment is kept behind it, on the
// line of the key.
func (v Value) Render(indent, comment, newline string) string {
	switch {
	case v.kind == textKind:
		return " " + quote(v.text) + comment + newline
	case v.kind != listKind:
		return " " + v.text + comment + newline
	case len(v.items) == 0:
		return " []" + comment + newline
	}
	var b strings.Builder
	b.WriteString(comment + newline)
	for _, item := range v.items {
		b.WriteString(indent + "  - " + quote(item) + newline)
	}
	return b.String()
}

// quote writes a double-quoted scalar, in the escapes that YAML 1.1 and 1.2 share
// (https://yaml.org/spec/1.1/#id872840, https://yaml.org/spec/1.2.2/#57-escaped-characters).
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02X`, r)
		case needsEscape(r) && r <= 0xffff:
			fmt.Fprintf(&b, `\u%04X`, r)
		case needsEscape(r):
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// needsEscape reports whether a letter is a line end to one version of YAML, not printable to
// another, or invisible to a reader of the note.
func needsEscape(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Cs, unicode.Co) ||
		r == 0xfeff || r&0xfffe == 0xfffe || unicode.Is(unicode.Bidi_Control, r)
}

// heldBy reports whether a node has this value already, in whatever style the user or Obsidian
// wrote it.
func (v Value) heldBy(n *yaml.Node) bool {
	if n.Anchor != "" || n.Kind == yaml.AliasNode {
		return false
	}
	if v.kind == listKind {
		if n.Kind != yaml.SequenceNode || len(n.Content) != len(v.items) {
			return false
		}
		for i, item := range n.Content {
			if !Text(v.items[i]).heldBy(item) {
				return false
			}
		}
		return true
	}
	if n.Kind != yaml.ScalarNode || n.Value != v.text || n.Style&yaml.TaggedStyle != 0 {
		return false
	}
	plain := n.Style == 0
	return plain != (v.kind == textKind) || plain && n.ShortTag() == "!!str" && !Ambiguous(n.Value)
}

// Ambiguous reports plain text that some version of YAML reads as a number, a time,
// a truth value or nothing. It may report more.
func Ambiguous(s string) bool {
	switch strings.ToLower(s) {
	case "", "~", "null", "y", "n", "yes", "no", "on", "off", "true", "false", "=", "<<":
		return true
	}
	return numberLike(s)
}

func numberLike(s string) bool {
	return strings.ContainsRune("+-.0123456789", rune(s[0])) &&
		strings.Trim(s, "0123456789abcdefABCDEFxXoO_:.+-tTzZ ") == "" ||
		strings.HasPrefix(s, ".") || strings.HasSuffix(strings.ToLower(s), ".inf")
}
