package vault

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Unspliced is the error for a note that an edit cannot be applied to without a risk
// for what is not emberd's.
type Unspliced struct{ Reason Reason }

func (u *Unspliced) Error() string { return "the note is not written: " + string(u.Reason) }

// Splice applies an edit to the bytes of a note and returns the new bytes, or src
// itself when there is nothing to change. Every byte outside the values of the
// properties, the regions and the text that the edit names stays: the byte-order
// mark, line ends of whatever kind, the order of keys, comments, and whether the
// last line ends. What is added has the line ends of the note.
//
// The result is read again before it is returned: all other properties are what
// they were, and the own ones are what they should be. A note where that cannot be
// had is an [*Unspliced]; any other error is a mistake in the edit.
func Splice(src []byte, e Edit) ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	if e.Marked != nil && !e.Marked.in(src) {
		return nil, &Unspliced{NotMarked}
	}
	out := src
	if len(e.Set)+len(e.Unset) > 0 || e.DropEmpty {
		var err error
		if out, err = e.spliceProperties(src); err != nil {
			return nil, err
		}
	}
	if e.Body != nil {
		var err error
		if out, err = e.Body.splice(out); err != nil {
			return nil, err
		}
	}
	return e.spliceRegions(out)
}

// patch replaces the bytes from start to end.
type patch struct {
	start, end int
	text       string
}

// apply carries out patches that do not overlap, in the order of their positions.
func apply(src []byte, patches []patch) []byte {
	var out []byte
	at := 0
	for _, p := range patches {
		out = append(append(out, src[at:p.start]...), p.text...)
		at = p.end
	}
	return append(out, src[at:]...)
}

// newlineOf is how the first line ends.
func newlineOf(src []byte) string {
	at := bytes.IndexAny(src, "\r\n")
	switch {
	case at < 0 || src[at] == '\n':
		return "\n"
	case bytes.HasPrefix(src[at:], []byte("\r\n")):
		return "\r\n"
	}
	return "\r"
}

// head is the frontmatter of a note, in bytes of the note.
type head struct {
	src         []byte
	newline     string
	start       int // of the note's text, behind the byte-order mark
	block, tail int // the first byte between the lines of dashes, and the second line
	body        int // behind the second line
	found       bool
	indent      string // of all keys
	entries     []entry
}

// entry is a property and where it is written.
type entry struct {
	key        string
	value      *yaml.Node
	start, end int // its lines, without comments and empty lines behind it
	after      int // behind the colon
	comment    string
}

// readHead finds the frontmatter and where its properties are. An error is an
// [*Unspliced].
func readHead(src []byte) (*head, error) {
	h := &head{src: src, newline: newlineOf(src), start: start(src)}
	text, _ := normalize(src[h.start:])
	block, body, ok := findFrontmatter(text)
	if !ok {
		h.block, h.tail, h.body = h.start, h.start, h.start
		if ruler(lineAt(text, 0)) {
			return nil, &Unspliced{OpenFrontmatter}
		}
		return h, nil
	}
	h.found = true
	h.block = h.start + len(lineAt(text, 0))
	h.tail, h.body = h.block+len(block), h.start+body
	return h, h.readEntries(block)
}

func (h *head) readEntries(block []byte) error {
	if len(block) > maxFrontmatter {
		return &Unspliced{BadFrontmatter}
	}
	if !printable(h.src[h.block:h.tail]) {
		return &Unspliced{OddFrontmatter}
	}
	for line := range bytes.Lines(block) {
		if bytes.HasPrefix(line, []byte("...")) || bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("%")) {
			return &Unspliced{OddFrontmatter}
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(block, &doc); err != nil {
		return &Unspliced{BadFrontmatter}
	}
	if len(doc.Content) == 0 {
		return nil
	}
	root, keys := doc.Content[0], 0
	switch {
	case root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
		return &Unspliced{OddFrontmatter}
	case root.Kind != yaml.MappingNode || checkNode(root, 1, &keys) != nil:
		return &Unspliced{BadFrontmatter}
	case root.Style&yaml.FlowStyle != 0:
		return &Unspliced{JSONFrontmatter}
	case root.Anchor != "" || root.Style&yaml.TaggedStyle != 0:
		return &Unspliced{OddFrontmatter}
	}
	return h.locate(block, root)
}

// printable refuses what one version of YAML or another does not allow, or takes for
// the end of a line.
func printable(block []byte) bool {
	return utf8.Valid(block) && bytes.IndexFunc(block, func(r rune) bool {
		return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' || r == 0x2028 || r == 0x2029 || r == 0xfeff
	}) < 0
}

// locate turns the lines that YAML knows into bytes.
func (h *head) locate(block []byte, root *yaml.Node) error {
	lines := slices.Collect(bytes.Lines(block))
	offsets := make([]int, len(lines)+1)
	offsets[0] = h.block
	for i, line := range lines {
		offsets[i+1] = offsets[i] + len(line)
	}
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		next := len(lines) + 1
		if i+2 < len(root.Content) {
			next = root.Content[i+2].Line
		}
		if key.Line < 1 || next <= key.Line || next > len(lines)+1 {
			return &Unspliced{OddFrontmatter}
		}
		last := lastLine(lines, key, value, next)
		e := entry{key: key.Value, value: value, start: offsets[key.Line-1], end: offsets[last]}
		if !e.readKey(lines[key.Line-1], key, value) {
			return &Unspliced{OddFrontmatter}
		}
		h.entries = append(h.entries, e)
		h.indent = string(lines[key.Line-1][:key.Column-1])
	}
	return nil
}

// lastLine is the number of the last line of a value: comments and empty lines
// between it and the next key are not its.
func lastLine(lines [][]byte, key, value *yaml.Node, next int) int {
	deepest := value
	for deepest.Kind != yaml.AliasNode && len(deepest.Content) > 0 {
		deepest = deepest.Content[len(deepest.Content)-1]
	}
	verbatim := deepest.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	last := next - 1
	for last > key.Line {
		line := lines[last-1]
		text := bytes.Trim(line, " \t\n")
		comment := len(text) > 0 && text[0] == '#'
		if verbatim && comment && len(line)-len(bytes.TrimLeft(line, " ")) >= key.Column {
			break
		}
		if len(text) > 0 && !comment {
			break
		}
		last--
	}
	return last
}

// readKey finds the colon behind a key, and the comment at the end of its line.
func (e *entry) readKey(line []byte, key, value *yaml.Node) bool {
	from := key.Column - 1
	if from > len(line) || len(bytes.Trim(line[:from], " ")) > 0 {
		return false
	}
	written := key.Value
	switch key.Style {
	case yaml.DoubleQuotedStyle:
		written = `"` + written + `"`
	case yaml.SingleQuotedStyle:
		written = `'` + written + `'`
	}
	rest, ok := bytes.CutPrefix(line[from:], []byte(written))
	blanks := len(rest) - len(bytes.TrimLeft(rest, " \t"))
	if !ok || !bytes.HasPrefix(rest[blanks:], []byte(":")) {
		// A key that is written in another way can stay, but not be changed.
		e.after = -1
		return true
	}
	e.after = e.start + from + len(written) + blanks + 1
	e.comment = commentOf(rest[blanks+1:], key, value)
	return true
}

// commentOf returns the comment that a line ends with and the blanks before it.
func commentOf(rest []byte, key, value *yaml.Node) string {
	rest = bytes.TrimRight(rest, " \t\n")
	for _, comment := range []string{value.LineComment, key.LineComment, value.HeadComment} {
		comment = strings.TrimRight(comment, " \t")
		if before, ok := bytes.CutSuffix(rest, []byte(comment)); ok && comment != "" && strings.HasPrefix(comment, "#") {
			return string(rest[len(bytes.TrimRight(before, " \t")):])
		}
	}
	return ""
}

// find returns the place of an entry: of the same name, else of one that Obsidian
// takes for the same.
func (h *head) find(key string) int {
	if at := slices.IndexFunc(h.entries, func(e entry) bool { return e.key == key }); at >= 0 {
		return at
	}
	return slices.IndexFunc(h.entries, func(e entry) bool { return fold(e.key) == key })
}

func (e Edit) spliceProperties(src []byte) ([]byte, error) {
	h, err := readHead(src)
	if err != nil {
		return nil, err
	}
	patches, added, err := e.patches(h)
	if err != nil {
		return nil, err
	}
	switch {
	case !h.found && added != "":
		added = "---" + h.newline + added + "---" + h.newline
		patches = append(patches, patch{h.start, h.start, added})
	case added != "":
		patches = append(patches, patch{h.tail, h.tail, added})
	}
	out := apply(src, patches)
	if len(patches) == 0 {
		out = src
	}
	if e.DropEmpty {
		out = dropEmpty(out)
	}
	if err := e.verify(h, out); err != nil {
		return nil, err
	}
	return out, nil
}

// patches are the changes of properties that are there, and the lines of new ones.
func (e Edit) patches(h *head) (patches []patch, added string, err error) {
	for _, key := range e.Unset {
		if at := h.find(key); at >= 0 {
			old := h.entries[at]
			if shared(old.value) {
				return nil, "", &Unspliced{SharedValue}
			}
			patches = append(patches, patch{old.start, old.end, ""})
		}
	}
	for _, f := range e.Set {
		at := h.find(f.Key)
		if at < 0 {
			added += h.indent + f.Key + ":" + f.Value.render(h.indent, "", h.newline)
			continue
		}
		old := h.entries[at]
		switch {
		case f.Value.heldBy(old.value):
			continue
		case shared(old.value):
			return nil, "", &Unspliced{SharedValue}
		case old.after < 0:
			return nil, "", &Unspliced{OddFrontmatter}
		}
		patches = append(patches, patch{old.after, old.end, f.Value.render(h.indent, old.comment, h.newline)})
	}
	slices.SortFunc(patches, func(a, b patch) int { return a.start - b.start })
	return patches, added, nil
}

// in reports whether a note has the property with its value.
func (f *Field) in(src []byte) bool {
	h, err := readHead(src)
	if err != nil {
		return false
	}
	at := h.find(f.Key)
	return at >= 0 && f.Value.heldBy(h.entries[at].value)
}

// shared reports a value that another one may refer to.
func shared(n *yaml.Node) bool {
	return n.Anchor != "" || slices.ContainsFunc(n.Content, shared)
}

// dropEmpty takes away a frontmatter with nothing in it.
func dropEmpty(src []byte) []byte {
	h, err := readHead(src)
	if err != nil || !h.found || h.block != h.tail {
		return src
	}
	return apply(src, []patch{{h.start, h.body, ""}})
}

// verify reads the result and compares.
func (e Edit) verify(before *head, out []byte) error {
	after, err := readHead(out)
	if err != nil {
		return &Unspliced{OddFrontmatter}
	}
	wanted := 0
	for _, f := range e.Set {
		at := after.find(f.Key)
		if at < 0 || !f.Value.heldBy(after.entries[at].value) {
			return &Unspliced{OddFrontmatter}
		}
		wanted++
	}
	own := func(key string) bool {
		return slices.ContainsFunc(e.Set, func(f Field) bool { return before.owns(f.Key, key) }) ||
			slices.ContainsFunc(e.Unset, func(k string) bool { return before.owns(k, key) })
	}
	for _, old := range before.entries {
		if own(old.key) {
			continue
		}
		wanted++
		at := slices.IndexFunc(after.entries, func(e entry) bool { return e.key == old.key })
		if at < 0 || !sameNode(old.value, after.entries[at].value) {
			return &Unspliced{OddFrontmatter}
		}
	}
	body := after.body
	if wanted != len(after.entries) || !bytes.Equal(out[body:], before.src[before.body:]) {
		return &Unspliced{OddFrontmatter}
	}
	return nil
}

// owns reports whether the note's key is the one that an edit means by own.
func (h *head) owns(own, key string) bool {
	at := h.find(own)
	return at >= 0 && h.entries[at].key == key
}

func sameNode(a, b *yaml.Node) bool {
	if a.Kind == yaml.AliasNode && b.Kind == yaml.AliasNode {
		return a.Value == b.Value
	}
	return a.Kind == b.Kind && a.Style == b.Style && a.Value == b.Value && a.ShortTag() == b.ShortTag() && a.Anchor == b.Anchor &&
		slices.EqualFunc(a.Content, b.Content, sameNode)
}
