package vault

import (
	"slices"

	"emberd/vault/frontmatter"
	"emberd/vault/lex"
	"emberd/vault/markdown"
)

// LinkUnsure is the reason why the links of a note are not changed.
const LinkUnsure = "a link in the note is ambiguous, or emberd cannot rewrite the link to the " +
	"new name; change the link in Obsidian"

// Target is where a link leads from now on. Text, if it is not "", is what a wikilink without a text of its own
// shows.
type Target struct{ Name, Text string }

// Relink returns a note with other targets of its links, as change says for each: anchors, texts, and every
// other byte stay, and what is no link does. n is how many links changed. The result is read again; if its links
// are not as they should be, the error is a [*frontmatter.EditError].
func (v *Vault) Relink(note []byte, change func(markdown.Link) (Target, bool)) (out []byte, n int, err error) {
	before, src, body := v.outline(note)
	wanted, changes := wantedLinks(before.Links, change)
	if !changes {
		return note, 0, nil
	}
	spans := markdown.Spans(&before.Outline, src, body)
	base := lex.TextStart(note)
	slices.SortFunc(spans, func(a, b markdown.Span) int { return b.Start - a.Start })
	out = slices.Clone(note)
	for i := range spans {
		s := &spans[i]
		to, ok := change(s.Link)
		if !ok {
			continue
		}
		if to.Text != "" && s.Close > 0 && !s.Embed {
			out = slices.Insert(out, base+s.Close, []byte("|"+to.Text)...)
		}
		out = slices.Replace(out, base+s.Start, base+s.End, []byte(s.Write(to.Name))...)
		n++
	}
	after, _, _ := v.outline(out)
	if !sameLinks(after.Links, wanted) || after.Frontmatter != before.Frontmatter {
		return nil, 0, &frontmatter.EditError{Reason: LinkUnsure}
	}
	return out, n, nil
}

// Parse reads the bytes of a note as [Vault.Read] does. It has no path, times or digest.
func (v *Vault) Parse(note []byte) *Note {
	return parse(v.markdown.Read, File{Size: int64(len(note))}, note)
}

// outline reads a note's bytes, and returns them as its readers have them, with the end of the frontmatter.
func (v *Vault) outline(note []byte) (n *Note, src []byte, body int) {
	n = v.Parse(note)
	src, _ = lex.Normalize(note[lex.TextStart(note):])
	_, body, _ = frontmatter.Find(src)
	lex.MaskComments(src[body:])
	return n, src, body
}

// wantedLinks returns the links that a note has after a change, and whether any of them changes.
func wantedLinks(links []markdown.Link,
	change func(markdown.Link) (Target, bool)) (wanted []markdown.Link, changes bool) {
	for _, l := range links {
		if to, ok := change(l); ok {
			changes = true
			l.Target = to.Name
		}
		wanted = append(wanted, l)
	}
	return wanted, changes
}

// sameLinks compares links but for their texts, of which a change may add some.
func sameLinks(a, b []markdown.Link) bool {
	return slices.EqualFunc(a, b, func(x, y markdown.Link) bool {
		x.Text, y.Text = "", ""
		return x == y
	})
}
