package frontmatter

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"emberd/vault/lex"
	"emberd/vault/notename"
)

// The reasons why properties cannot be changed.
const (
	Invalid  = "the frontmatter is invalid, or larger than 64 KiB or 1,000 keys; fix the frontmatter"
	Unclosed = "the frontmatter has no closing ---; add a closing ---"
	InBraces = "the frontmatter is in braces; edit a property in Obsidian, which rewrites the frontmatter as lines"
	Unusual  = "emberd cannot change a property without changing other parts of the " +
		"frontmatter; simplify the frontmatter"
	SharedValue = "the frontmatter uses a YAML anchor in the value to change; replace the anchor and its aliases " +
		"with plain values"
	Commented = "the frontmatter has a comment inside the value to change; move the comment above the property"
)

// EditError is the error for a note that emberd cannot change without a risk for bytes that are
// not emberd's. Its reason ends a sentence that begins "not written: ".
type EditError struct{ Reason string }

func (e *EditError) Error() string { return "emberd did not write the note: " + e.Reason }

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
// [*EditError].
func readHead(src []byte) (*head, error) {
	h := &head{src: src, newline: lex.LineEnd(src), start: lex.TextStart(src)}
	text, _ := lex.Normalize(src[h.start:])
	block, body, ok := Find(text)
	if !ok {
		h.block, h.tail, h.body = h.start, h.start, h.start
		if ruler(lex.LineAt(text, 0)) {
			return nil, &EditError{Unclosed}
		}
		return h, nil
	}
	h.found = true
	h.block = h.start + len(lex.LineAt(text, 0))
	h.tail, h.body = h.block+len(block), h.start+body
	return h, h.readEntries(block)
}

func (h *head) readEntries(block []byte) error {
	if len(block) > maxFrontmatter {
		return &EditError{Invalid}
	}
	if !printable(h.src[h.block:h.tail]) {
		return &EditError{Unusual}
	}
	for line := range bytes.Lines(block) {
		if bytes.HasPrefix(line, []byte("...")) || bytes.HasPrefix(line, []byte("---")) ||
			bytes.HasPrefix(line, []byte("%")) {
			return &EditError{Unusual}
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(block, &doc); err != nil {
		return &EditError{Invalid}
	}
	if len(doc.Content) == 0 {
		return nil
	}
	root, keys := doc.Content[0], 0
	switch {
	case root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
		return &EditError{Unusual}
	case root.Kind != yaml.MappingNode || checkNode(root, 1, &keys) != nil:
		return &EditError{Invalid}
	case root.Style&yaml.FlowStyle != 0:
		return &EditError{InBraces}
	case root.Anchor != "" || root.Style&yaml.TaggedStyle != 0:
		return &EditError{Unusual}
	}
	return h.locate(block, root)
}

// printable reports false for characters that one version of YAML or another does not allow, or
// reads as the end of a line.
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
			return &EditError{Unusual}
		}
		last := lastLine(lines, key, value, next)
		e := entry{key: key.Value, value: value, start: offsets[key.Line-1], end: offsets[last]}
		if !e.readKey(lines[key.Line-1], key, value) {
			return &EditError{Unusual}
		}
		h.entries = append(h.entries, e)
		h.indent = string(lines[key.Line-1][:key.Column-1])
	}
	return nil
}

// lastLine returns the number of the last line of a value. Comments and empty lines between it and
// the next key are not part of it.
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
		if before, ok := bytes.CutSuffix(rest, []byte(comment)); ok && comment != "" &&
			strings.HasPrefix(comment, "#") {
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
	return slices.IndexFunc(h.entries, func(e entry) bool { return notename.Fold(e.key) == key })
}

// Changes are changes of properties. They touch no byte outside of the values they name.
type Changes struct {
	Set       []Field  // in place, or at the end in this order
	Unset     []string // properties to remove; one that is not there is no mistake
	DropEmpty bool     // remove the lines of dashes too if nothing is left between them
	// KeepComments refuses to change or remove a value that has comments inside, which would go with it.
	KeepComments bool
}

// Apply returns the note with the changes, or src itself if there is nothing to change. It
// reads the result again and compares it; a note where the result would not be as wanted is an
// [*EditError].
func (c Changes) Apply(src []byte) ([]byte, error) {
	if len(c.Set)+len(c.Unset) == 0 && !c.DropEmpty {
		return src, nil
	}
	h, err := readHead(src)
	if err != nil {
		return nil, err
	}
	patches, added, err := c.patches(h)
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
	if c.DropEmpty {
		out = dropEmpty(out)
	}
	if err := c.verify(h, out); err != nil {
		return nil, err
	}
	return out, nil
}

// patches returns the changes of properties that the note has, and the lines of new ones.
func (c Changes) patches(h *head) (patches []patch, added string, err error) {
	for _, key := range c.Unset {
		if at := h.find(key); at >= 0 {
			old := h.entries[at]
			switch {
			case shared(old.value):
				return nil, "", &EditError{SharedValue}
			case c.KeepComments && h.hasCommentIn(&old):
				return nil, "", &EditError{Commented}
			}
			patches = append(patches, patch{old.start, old.end, ""})
		}
	}
	for _, f := range c.Set {
		at := h.find(f.Key)
		if at < 0 {
			added += h.indent + f.Key + ":" + f.Value.Render(h.indent, "", h.newline)
			continue
		}
		old := h.entries[at]
		switch {
		case f.Value.heldBy(old.value):
			continue
		case shared(old.value):
			return nil, "", &EditError{SharedValue}
		case old.after < 0:
			return nil, "", &EditError{Unusual}
		case c.KeepComments && h.hasCommentIn(&old):
			return nil, "", &EditError{Commented}
		}
		patches = append(patches, patch{old.after, old.end, f.Value.Render(h.indent, old.comment, h.newline)})
	}
	slices.SortFunc(patches, func(a, b patch) int { return a.start - b.start })
	return patches, added, nil
}

// hasCommentIn reports whether there is a comment within a value, which would go with it. One at the end of the line
// of the key stays.
func (h *head) hasCommentIn(e *entry) bool {
	lines := strings.Split(strings.ReplaceAll(string(h.src[max(e.after, e.start):e.end]), "\r", "\n"), "\n")
	lines[0] = strings.TrimSuffix(strings.TrimRight(lines[0], " \t"), strings.TrimRight(e.comment, " \t"))
	return slices.ContainsFunc(commentsOf(e.value), func(comment string) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			return strings.HasSuffix(strings.TrimRight(line, " \t"), comment)
		})
	})
}

// commentsOf returns the lines of the comments of a node and of all in it.
func commentsOf(n *yaml.Node) (all []string) {
	for line := range strings.Lines(n.HeadComment + "\n" + n.LineComment + "\n" + n.FootComment) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	for _, child := range n.Content {
		all = append(all, commentsOf(child)...)
	}
	return all
}

// Get returns the text of a property of a note, "" if the note has none of that name or its
// frontmatter cannot be changed.
func Get(note []byte, key string) string {
	h, err := readHead(note)
	if err != nil {
		return ""
	}
	if at := h.find(key); at >= 0 {
		return h.entries[at].value.Value
	}
	return ""
}

// shared reports whether another value may refer to this one.
func shared(n *yaml.Node) bool {
	return n.Anchor != "" || slices.ContainsFunc(n.Content, shared)
}

// dropEmpty removes a frontmatter without any content.
func dropEmpty(src []byte) []byte {
	h, err := readHead(src)
	if err != nil || !h.found || h.block != h.tail {
		return src
	}
	return apply(src, []patch{{h.start, h.body, ""}})
}

// verify reads the result, and compares it with the note before.
func (c Changes) verify(before *head, out []byte) error {
	after, err := readHead(out)
	if err != nil {
		return &EditError{Unusual}
	}
	wanted := 0
	for _, f := range c.Set {
		at := after.find(f.Key)
		if at < 0 || !f.Value.heldBy(after.entries[at].value) {
			return &EditError{Unusual}
		}
		wanted++
	}
	own := func(key string) bool {
		return slices.ContainsFunc(c.Set, func(f Field) bool { return before.owns(f.Key, key) }) ||
			slices.ContainsFunc(c.Unset, func(k string) bool { return before.owns(k, key) })
	}
	for _, old := range before.entries {
		if own(old.key) {
			continue
		}
		wanted++
		at := slices.IndexFunc(after.entries, func(e entry) bool { return e.key == old.key })
		if at < 0 || !sameNode(old.value, after.entries[at].value) {
			return &EditError{Unusual}
		}
	}
	body := after.body
	if wanted != len(after.entries) || !bytes.Equal(out[body:], before.src[before.body:]) {
		return &EditError{Unusual}
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
	return a.Kind == b.Kind && a.Style == b.Style && a.Value == b.Value && a.ShortTag() == b.ShortTag() &&
		a.Anchor == b.Anchor &&
		slices.EqualFunc(a.Content, b.Content, sameNode)
}
