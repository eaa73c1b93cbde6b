package vault

import (
	"crypto/sha256"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Edit is what is to be changed in a note: emberd's own properties and marked
// regions, and its text if that is known. Applying it twice is applying it once.
type Edit struct {
	// Marked, if it is not nil, is a property that the note must have with this value.
	// A note without it is a human's, and [NotMarked].
	Marked *Field
	// Of, if it is not nil, is the digest of the bytes that the edit was made for. With
	// others a [Writer] answers [Conflict] and [HumanChanged].
	Of *[sha256.Size]byte
	// Set gives properties a value. One that the note has keeps its place, one that
	// it has not is added at the end, in this order. Names are lower-case words.
	Set []Field
	// Unset takes properties away. One that the note has not is no mistake.
	Unset []string
	// Regions are put in place of those of the same name, or at the end of the note.
	Regions []Region
	// Drop takes away the regions of these names.
	Drop []string
	// DropEmpty takes the two lines of dashes away too when nothing is left between
	// them.
	DropEmpty bool
	// Body puts another text in the place of the note's, if it is not nil.
	Body *BodyEdit
}

// Field is a property and its value.
type Field struct {
	Key   string
	Value Value
}

// Region is a part of a note's text that is emberd's: the lines between
// <!-- emberd:NAME --> and <!-- /emberd:NAME -->. Names are lower-case words.
type Region struct {
	Name string
	Text string // Markdown; code blocks in it must be closed
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
	checkboxKind
	dateKind
)

// Text is a text, which is written in double quotes whatever is in it, so that no
// version of YAML takes 012, no or 2026-01-02 for anything else.
func Text(s string) Value {
	return Value{text: strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "<%", "< %")}
}

// List is a list of texts. Tags are one, without "#".
func List(items ...string) Value {
	v := Value{kind: listKind}
	for _, item := range items {
		v.items = append(v.items, Text(item).text)
	}
	return v
}

// Number is a number. What is not finite is written as 0, for there is no way to
// write it that Obsidian reads.
func Number(x float64) Value {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		x = 0
	}
	return Value{kind: numberKind, text: strconv.FormatFloat(x, 'f', -1, 64)}
}

// Checkbox is true or false.
func Checkbox(on bool) Value { return Value{kind: checkboxKind, text: strconv.FormatBool(on)} }

// Date is the day of t, in t's zone.
func Date(t time.Time) Value { return Value{kind: dateKind, text: t.Format(time.DateOnly)} }

// DateTime is a day and a time of day to the second. Obsidian's have no zone: it is
// what a clock in t's zone shows.
func DateTime(t time.Time) Value {
	return Value{kind: dateKind, text: t.Format("2006-01-02T15:04:05")}
}

// render writes the value as it follows "key:". comment is kept behind it, on the
// line of the key.
func (v Value) render(indent, comment, newline string) string {
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

// needsEscape is what is a line end to one version of YAML, not printable to
// another, or invisible to the reader of the note.
func needsEscape(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Cs, unicode.Co) ||
		r == 0xfeff || r&0xfffe == 0xfffe || unicode.Is(unicode.Bidi_Control, r)
}

// heldBy reports whether a node has this value already, in whatever style a human
// or Obsidian wrote it.
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
	return plain != (v.kind == textKind) || plain && n.ShortTag() == "!!str" && !ambiguous(n.Value)
}

// ambiguous reports plain text that some version of YAML reads as a number, a time,
// a truth value or nothing. It may report more.
func ambiguous(s string) bool {
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

// word is what own properties and regions are called.
var word = regexp.MustCompile(`^[a-z][a-z0-9]*([_-][a-z0-9]+)*$`)

// check refuses an edit that cannot be applied to any note.
func (e Edit) check() error {
	seen := map[string]bool{}
	keys := e.Unset
	for _, f := range e.Set {
		keys = append(keys[:len(keys):len(keys)], f.Key)
	}
	for _, key := range keys {
		if !word.MatchString(key) || ambiguous(key) || seen[key] {
			return fmt.Errorf("edit a note: %q cannot be an own property, or is there twice", key)
		}
		seen[key] = true
	}
	clear(seen)
	names := e.Drop
	for _, r := range e.Regions {
		names = append(names[:len(names):len(names)], r.Name)
		if err := r.check(); err != nil {
			return err
		}
	}
	for _, name := range names {
		if !word.MatchString(name) || seen[name] {
			return fmt.Errorf("edit a note: %q cannot be an own region, or is there twice", name)
		}
		seen[name] = true
	}
	return nil
}

func (r Region) check() error {
	var f fence
	for line := range strings.Lines(r.lines("\n")) {
		f.inCode([]byte(line))
		if strings.Contains(line, "emberd:") && strings.Contains(line, "<!--") {
			return fmt.Errorf("edit a note: the text of region %s holds the mark of a region", r.Name)
		}
	}
	if f.size > 0 || !utf8.ValidString(r.Text) || strings.ContainsRune(r.Text, 0) {
		return fmt.Errorf("edit a note: the text of region %s is not UTF-8, or has an open code block", r.Name)
	}
	return nil
}
