package notewrite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
	"emberd/vault/frontmatter"
	"emberd/vault/lex"
	"emberd/vault/markdown"
	"emberd/vault/noteedit"
)

// Append adds a text at the end of a note, or of the text below a heading.
func (e *NoteWrite) Append(ctx context.Context, req *op.NoteAppendRequest) (*op.NoteChangeResult, error) {
	if strings.TrimSpace(req.Text) == "" {
		return nil, memory.Errorf(memory.Invalid, "missing text; pass the text to add").At("text")
	}
	c := &change{verb: AppendVerb, preview: req.Preview, secrets: req.AllowSecret,
		texts: []core.Passage{{Field: "text", Text: req.Text}},
		edit: func(note []byte) ([]byte, error) {
			at := len(note)
			if req.Heading != "" {
				s, err := e.section(note, req.Heading)
				if err != nil {
					return nil, err
				}
				at = s.End
			}
			return inserted(note, at, req.Text)
		}}
	return e.reviseNamed(ctx, req.Path, c)
}

// Edit replaces a text or a section of a note, and sets or removes properties.
func (e *NoteWrite) Edit(ctx context.Context, req *op.NoteEditRequest) (*op.NoteChangeResult, error) {
	fields, err := propertiesOf(req)
	if err != nil {
		return nil, err
	}
	if err := checkEdit(req); err != nil {
		return nil, err
	}
	c := &change{verb: EditVerb, digest: req.Digest, preview: req.Preview, secrets: req.AllowSecret,
		texts: editTexts(req),
		edit: func(note []byte) (out []byte, err error) {
			switch out = note; {
			case req.Find != "":
				out, err = replaced(note, req)
			case req.Heading != "":
				out, err = e.replacedSection(note, req.Heading, *req.Text)
			}
			if err != nil {
				return nil, err
			}
			return frontmatter.Changes{Set: fields, Unset: req.Unset, DropEmpty: len(req.Unset) > 0}.Apply(out)
		}}
	return e.reviseNamed(ctx, req.Path, c)
}

// reviseNamed carries out a change of a note that the caller named.
func (e *NoteWrite) reviseNamed(ctx context.Context, name string, c *change) (*op.NoteChangeResult, error) {
	if err := e.Notes.NeedVault(); err != nil {
		return nil, err
	}
	var err error
	if c.path, err = e.one(ctx, name); err != nil {
		return nil, err
	}
	res, err := e.revise(ctx, c)
	return res, asSent(err, c.path, name)
}

func checkEdit(req *op.NoteEditRequest) error {
	switch {
	case req.Find != "" && req.Heading != "":
		return memory.Errorf(memory.Invalid, "find and heading cannot be combined; send two edits").At("heading")
	case req.Heading != "" && req.Text == nil:
		return memory.Errorf(memory.Invalid, "heading requires text; pass the new text below the heading").At("text")
	case req.Heading == "" && req.Text != nil:
		return memory.Errorf(memory.Invalid, "text requires heading; use find and replace for other texts").At("text")
	case req.Find == "" && req.Heading == "" && len(req.Set)+len(req.Unset) == 0:
		return memory.Errorf(memory.Invalid, "missing find; pass find, heading, set or unset").At("find")
	case req.Find == "" && (req.Replace != "" || req.Count != 0):
		return memory.Errorf(memory.Invalid, "replace and count require find").At("find")
	case req.Find == req.Replace && req.Find != "":
		return memory.Errorf(memory.Invalid,
			"find and replace are the same text, so the edit changes nothing").At("replace")
	}
	return core.FirstError(memory.CheckRange("count", float64(cmp.Or(req.Count, 1)), 1, 10_000))
}

func editTexts(req *op.NoteEditRequest) []core.Passage {
	var texts []core.Passage
	if req.Find != "" {
		texts = append(texts, core.Passage{Field: "replace", Text: req.Replace})
	}
	if req.Text != nil {
		texts = append(texts, core.Passage{Field: "text", Text: *req.Text})
	}
	return core.AppendMeta(texts, "set", req.Set)
}

// replaced replaces a text that a note contains as often as the caller expects.
func replaced(note []byte, req *op.NoteEditRequest) ([]byte, error) {
	newline := lex.LineEnd(note)
	find, with := []byte(withEnds(req.Find, newline)), []byte(withEnds(req.Replace, newline))
	want, has := cmp.Or(req.Count, 1), bytes.Count(note, find)
	switch {
	case has == 0:
		return nil, memory.Errorf(memory.NotFound, "text %.80q not found in the note; read the note again and "+
			"copy the text exactly, with its spaces and line breaks", req.Find).At("find")
	case has != want:
		return nil, memory.Errorf(memory.Conflict,
			"the note contains the text %d times, but count is %d; pass a longer text, or set count to %d", has, want,
			has).At("count")
	}
	return bytes.ReplaceAll(note, find, with), nil
}

// withEnds returns a text with the line ends of a note.
func withEnds(text, newline string) string {
	return strings.ReplaceAll(lex.PlainEnds([]byte(text)), "\n", newline)
}

// section returns the one section with a heading. A heading may be written with those above it, as in Plan#Steps.
func (e *NoteWrite) section(note []byte, heading string) (*markdown.Section, error) {
	want := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(heading), "#"))
	sections := e.Notes.Vault.Root.Load().Parse(note).Sections
	var found []*markdown.Section
	headings := 0
	for i := range sections {
		s := &sections[i]
		if s.Level == 0 {
			continue
		}
		path := strings.Join(s.Path, "#")
		headings++
		if s.Heading == want || path == want || strings.HasSuffix(path, "#"+want) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, memory.Errorf(memory.NotFound,
			"heading %.80q not found among the %d headings of the note; read the note again and copy a heading",
			heading, headings).At("heading")
	}
	return nil, memory.Errorf(memory.Ambiguous,
		"%d headings of the note have the text %.80q; add the parent heading before the text, for example Plan#Steps",
		len(found), heading).At("heading")
}

// replacedSection replaces what follows a heading, down to the next heading of its level or above.
func (e *NoteWrite) replacedSection(note []byte, heading, text string) ([]byte, error) {
	s, err := e.section(note, heading)
	if err != nil {
		return nil, err
	}
	end := len(note)
	for _, next := range e.Notes.Vault.Root.Load().Parse(note).Sections {
		if next.Start > s.Start && next.Level > 0 && next.Level <= s.Level {
			end = next.Start
			break
		}
	}
	newline := lex.LineEnd(note)
	from := s.Start + headingLines(note[s.Start:end])
	body := withEnds(strings.Trim(lex.PlainEnds([]byte(text)), "\n"), newline)
	if body != "" && (end < len(note) || endsLine(note)) {
		body += newline
	}
	if body != "" && !endsLine(note[:from]) {
		body = newline + body
	}
	if body != "" && blankAfter(note[from:end], newline) {
		body = newline + body
	}
	if end < len(note) {
		body += newline
	}
	return slices.Concat(note[:from], []byte(body), note[end:]), nil
}

// headingLines returns how many bytes the lines of a heading have, two lines for one that is underlined.
func headingLines(section []byte) int {
	text, _ := lex.Normalize(section)
	first := lex.LineAt(text, 0)
	if bytes.HasPrefix(bytes.TrimLeft(first, " "), []byte("#")) {
		return len(first)
	}
	return len(first) + len(lex.LineAt(text, len(first)))
}

// blankAfter reports whether an empty line follows a heading.
func blankAfter(rest []byte, newline string) bool { return bytes.HasPrefix(rest, []byte(newline)) }

func endsLine(note []byte) bool {
	return len(note) == 0 || note[len(note)-1] == '\n' || note[len(note)-1] == '\r'
}

// inserted adds lines behind the last text before an offset. A new paragraph begins behind an empty line; an item
// follows the one before.
func inserted(note []byte, at int, text string) ([]byte, error) {
	newline := lex.LineEnd(note)
	_, body := parts(note)
	start := len(note) - len(body)
	if opens(note[start:max(start, at)]) {
		return nil, &frontmatter.EditError{Reason: noteedit.OpenEnd}
	}
	end := max(start, len(bytes.TrimRight(note[:at], " \t\r\n")))
	rest := note[end:]
	if line := bytes.IndexByte(rest, '\n'); line >= 0 && end < at && len(bytes.Trim(rest[:line], " \t\r")) == 0 {
		end += line + 1
	}
	added := withEnds(strings.Trim(lex.PlainEnds([]byte(text)), "\n"), newline) + newline
	switch before := note[start:end]; {
	case !endsLine(note[:end]):
		added = newline + added
		if apart(before, text) {
			added = newline + added
		}
	case apart(before, text):
		added = newline + added
	}
	if at < len(note) && end == at { // no empty line was before the next heading
		added += newline
	}
	return slices.Concat(note[:end], []byte(added), note[end:]), nil
}

// apart reports whether an empty line belongs between the end of a text and what is added to it.
func apart(before []byte, text string) bool {
	before = bytes.TrimRight(before, " \t\r\n")
	if len(before) == 0 {
		return false
	}
	last := before[bytes.LastIndexAny(before, "\r\n")+1:]
	first, _, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	_, _, items := lex.Containers(last)
	_, _, added := lex.Containers([]byte(first))
	row := bytes.HasPrefix(last, []byte("|")) && strings.HasPrefix(first, "|")
	return !(items > 0 && added > 0) && !row && !bytes.HasPrefix(last, []byte("#"))
}

// opens reports whether a text ends within a block of code.
func opens(body []byte) bool {
	text, _ := lex.Normalize(body)
	var f lex.Fence
	for line := range bytes.Lines(text) {
		f.InCode(line)
	}
	return f.Size > 0
}

// propertyName matches the properties that a caller may set.
var propertyName = text.Pattern(`^\p{L}[\p{L}\p{N}_ -]{0,59}$`)

// propertiesOf returns the properties that a request sets, sorted.
func propertiesOf(req *op.NoteEditRequest) (fields []frontmatter.Field, err error) {
	for _, key := range append(slices.Sorted(maps.Keys(req.Set)), req.Unset...) {
		if err := checkProperty(key); err != nil {
			return nil, err.At("set")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(req.Set)) {
		value, err := propertyValue(key, req.Set[key])
		if err != nil {
			return nil, err
		}
		fields = append(fields, frontmatter.Field{Key: key, Value: value})
	}
	return fields, nil
}

func checkProperty(key string) *memory.Error {
	switch {
	case isReserved(key):
		return memory.Errorf(memory.Invalid, "invalid property %.80q; emberd reserves %s and %s", key, idKey,
			vault.ListKey)
	case !propertyName().MatchString(key) || strings.TrimSpace(key) != key:
		return memory.Errorf(memory.Invalid,
			"invalid property %.80q; begin with a letter, and use at most 60 letters, digits, spaces, - and _", key)
	case frontmatter.Ambiguous(key):
		return memory.Errorf(memory.Invalid,
			"invalid property %.80q: YAML reads it as a value, not as a name; use another name", key)
	}
	return nil
}

func propertyValue(key string, raw json.RawMessage) (frontmatter.Value, error) {
	var text string
	var number float64
	var list []string
	switch {
	case string(raw) == "null":
	case json.Unmarshal(raw, &text) == nil:
		return frontmatter.Text(text), nil
	case json.Unmarshal(raw, &number) == nil:
		return frontmatter.Number(number), nil
	case json.Unmarshal(raw, &list) == nil:
		return frontmatter.List(list...), nil
	}
	return frontmatter.Value{}, memory.Errorf(memory.Invalid,
		"invalid value of property %.80q; use a text, a number or a list of texts", key).At("set")
}
