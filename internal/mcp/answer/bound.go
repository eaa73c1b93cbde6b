// Package answer turns what a tool found into what a model may read.
//
// Stored text comes from anywhere and can pretend to be the user's or emberd's words, so the
// package guarantees that an answer
//
//   - has at most as many bytes as its caller allows, is cut at the border of an item, a line
//     or a letter, and says what is cut and how to get it ([Bound], [Cut]);
//   - contains no character that a screen does not show ([Visible], [ShowJSON]);
//   - encloses stored text between two lines with a random mark, which no stored text can
//     contain ([Fence]).
//
// All functions are pure, except that a mark is random.
package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"emberd/internal/text"
	"emberd/internal/wire"
	"emberd/memory"
)

// maxAnswer bounds the JSON of a result, and its text. A client puts both before a
// model, and some close the connection on more.
const Max = 256 << 10

// minText is how much of a text is left at least, in bytes, if that is shown at all.
const minText = 200

// bounded cuts JSON that is too long until it is not: lists at the border of their
// items, longest first, and texts. Members say so, "truncated", and what was cut and
// how to get it, "how_to_go_on". JSON within the bound stays as it is.
func Bound(raw json.RawMessage, most int, goOn string) json.RawMessage {
	if len(raw) <= most {
		return raw
	}
	root, err := parseTree(raw)
	if err != nil || root.kind != '{' {
		return raw
	}
	const reserve = 1000 // for the two members that say so
	cut := cutter{max: most - reserve}
	for root.size() > cut.max && cut.once(root) {
	}
	root.set("truncated", &tree{raw: json.RawMessage("true")})
	root.set("how_to_go_on", &tree{kind: '"', raw: jsonText(cut.summary(goOn))})
	return root.encode(nil)
}

// cutText is bounded for text, which is cut at the border of a line.
func Cut(whole string, most int, goOn string) string {
	if len(whole) <= most {
		return whole
	}
	end := fmt.Sprintf("\n[truncated: %d of %d bytes; %s]", most, len(whole), goOn)
	cut := text.FirstBytes(whole, most-len(end))
	if i := strings.LastIndexByte(cut, '\n'); i > len(cut)/2 {
		cut = cut[:i]
	}
	return cut + end
}

// tree is a JSON value that keeps the order of its members.
type tree struct {
	kind    byte // '{', '[', '"', or 0 for a number, a truth value or null
	raw     json.RawMessage
	names   []json.RawMessage // of the members of an object
	below   []*tree
	dropped int  // items that are cut off
	cut     int  // bytes of a text that are
	least   bool // nothing more can be cut off a text
	path    string
}

func parseTree(raw json.RawMessage) (*tree, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return readTree(dec)
}

func readTree(dec *json.Decoder) (*tree, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	t := new(tree)
	switch tok := tok.(type) {
	case json.Delim:
		t.kind = byte(tok)
		err = t.readBelow(dec)
	case string:
		t.kind = '"'
		t.raw, err = wire.Marshal(tok)
	default:
		t.raw, err = wire.Marshal(tok)
	}
	return t, err
}

func (t *tree) readBelow(dec *json.Decoder) error {
	for dec.More() {
		if t.kind == '{' {
			name, err := dec.Token()
			if err != nil {
				return err
			}
			raw, err := wire.Marshal(name)
			if err != nil {
				return err
			}
			t.names = append(t.names, raw)
		}
		one, err := readTree(dec)
		if err != nil {
			return err
		}
		t.below = append(t.below, one)
	}
	_, err := dec.Token()
	return err
}

// size returns how long the JSON is.
func (t *tree) size() int {
	if t.kind != '{' && t.kind != '[' {
		return len(t.raw)
	}
	n := 2 + max(0, len(t.below)-1)
	for i, b := range t.below {
		n += b.size()
		if t.kind == '{' {
			n += len(t.names[i]) + 1
		}
	}
	return n
}

func (t *tree) encode(b []byte) []byte {
	if t.kind != '{' && t.kind != '[' {
		return append(b, t.raw...)
	}
	b = append(b, t.kind)
	for i, one := range t.below {
		if i > 0 {
			b = append(b, ',')
		}
		if t.kind == '{' {
			b = append(append(b, t.names[i]...), ':')
		}
		b = one.encode(b)
	}
	return append(b, map[byte]byte{'{': '}', '[': ']'}[t.kind])
}

// set gives an object a member, in the place of one of that name.
func (t *tree) set(name string, value *tree) {
	key := jsonText(name)
	if i := slices.IndexFunc(t.names, func(n json.RawMessage) bool { return bytes.Equal(n, key) }); i >= 0 {
		t.below[i] = value
		return
	}
	t.names, t.below = append(t.names, key), append(t.below, value)
}

// jsonText returns a text as JSON, which any text can be.
func jsonText(text string) json.RawMessage {
	raw, err := wire.Marshal(text)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return raw
}

// cutter makes a tree smaller.
type cutter struct {
	max   int
	cuts  []*tree
	where map[*tree]string
}

// once cuts what is largest: a list of more than one item, else a text, else an object
// of so many members that it cannot be a struct. False means that nothing is left to cut.
func (c *cutter) once(root *tree) bool {
	c.where = make(map[*tree]string)
	var at largest
	c.find(root, "", &at)
	excess := root.size() - c.max
	switch {
	case at.list != nil && at.size[0] >= at.size[1]:
		c.shortenList(at.list, excess)
	case at.text != nil:
		c.shortenText(at.text, excess)
	case at.object != nil:
		c.shortenList(at.object, excess)
	default:
		return false
	}
	return true
}

// manyMembers are more than a struct has.
const manyMembers = 100

// largest are the list, text and object that are.
type largest struct {
	list, text, object *tree
	size               [3]int
}

// find looks for what is largest of what can be cut, and returns the size of t.
func (c *cutter) find(t *tree, path string, at *largest) int {
	n := len(t.raw)
	if t.kind == '{' || t.kind == '[' {
		n = 1 + max(1, len(t.below))
	}
	for i, b := range t.below {
		below := fmt.Sprintf("%s[%d]", path, i)
		if t.kind == '{' {
			below = strings.TrimPrefix(path+"."+strings.Trim(string(t.names[i]), `"`), ".")
			n += len(t.names[i]) + 1
		}
		n += c.find(b, below, at)
	}
	larger := func(i int, of **tree) {
		if n > at.size[i] {
			*of, at.size[i], c.where[t] = t, n, path
		}
	}
	switch {
	case t.kind == '[' && len(t.below) > 1:
		larger(0, &at.list)
	case t.kind == '"' && n > 2*minText && !t.least:
		larger(1, &at.text)
	case t.kind == '{' && len(t.below) > manyMembers:
		larger(2, &at.object)
	}
	return n
}

// shortenList takes off the last items, or members, but not the first.
func (c *cutter) shortenList(t *tree, excess int) {
	c.cut(t)
	for excess > 0 && len(t.below) > 1 {
		last := len(t.below) - 1
		excess -= t.below[last].size() + 1
		if t.kind == '{' {
			excess -= len(t.names[last]) + 1
			t.names = t.names[:last]
		}
		t.below = t.below[:last]
		t.dropped++
	}
}

// cut remembers what was cut, and where it is.
func (c *cutter) cut(t *tree) {
	if t.path == "" {
		t.path = memory.Clip(c.where[t])
		c.cuts = append(c.cuts, t)
	}
}

// shortenText takes off the end of a text.
func (c *cutter) shortenText(t *tree, excess int) {
	var shown string
	if json.Unmarshal(t.raw, &shown) != nil {
		return
	}
	c.cut(t)
	shown = strings.TrimSuffix(shown, cutMark)
	kept := text.FirstBytes(shown, max(minText, len(shown)-excess-len(cutMark)))
	t.cut += len(shown) - len(kept)
	t.raw, t.least = jsonText(kept+cutMark), len(kept) <= minText
}

// cutMark stands where a text was cut.
const cutMark = "… [cut]"

// summary returns what was cut, as far as that is short, and how to go on.
func (c *cutter) summary(goOn string) string {
	const most = 5
	var parts []string
	for _, t := range c.cuts[:min(len(c.cuts), most)] {
		if t.kind == '"' {
			parts = append(parts, fmt.Sprintf("%s is cut: the last %d bytes are missing", t.path, t.cut))
		} else {
			parts = append(parts, fmt.Sprintf("%s has %d of %d", t.path, len(t.below), len(t.below)+t.dropped))
		}
	}
	if len(c.cuts) > most {
		parts = append(parts, fmt.Sprintf("%d more values are cut", len(c.cuts)-most))
	}
	return strings.Join(append(parts, goOn), "; ")
}
