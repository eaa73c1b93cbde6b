// Package noteedit changes the bytes of a note: emberd's own properties and regions, and the text
// if it still is what the caller knows. Every other byte stays. Applying an [Edit] twice is
// applying it once, and undoing it gives the bytes from before.
//
// A note that cannot be changed so is a [*frontmatter.EditError] with one of the reasons of this
// package or of frontmatter. Pure: nothing here reads or writes a file.
package noteedit

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf8"

	"emberd/internal/text"
	"emberd/vault/frontmatter"
	"emberd/vault/lex"
)

// The reasons why a text or region cannot be changed.
const (
	BadRegion = "the emberd markers in the note are incomplete or duplicated; restore or delete all markers"
	OpenEnd   = "the note ends in an open code block or comment; close the block or comment"
	NotMarked = "the note lacks the property that marks notes of emberd; restore the property, or rename the note"
	SplitText = "the text between the emberd markers is in the middle of the note; move " +
		"the markers and their text to the end"
	TextChanged = "the note changed after emberd read it; emberd kept the current version"
)

// Edit is a change of a note: of emberd's own properties and marked regions, and of its text if
// the caller knows it. Applying it twice is applying it once.
type Edit struct {
	// Marked, if it is not nil, is a property that the note must have with this value.
	// A note without it is the user's, and [NotMarked].
	Marked *frontmatter.Field
	// Of, if it is not nil, is the digest of the bytes that the edit was made for. For
	// other bytes the outcome of a writer is a conflict.
	Of *[sha256.Size]byte
	// Set gives properties a value. One that the note has keeps its place, one that
	// it has not is added at the end, in this order. Names are lower-case words.
	Set []frontmatter.Field
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

// Region is a part of a note's text that belongs to emberd: the lines between <!-- emberd:NAME -->
// and <!-- /emberd:NAME -->. Names are lower-case words.
type Region struct {
	Name string
	Text string // Markdown; code blocks in it must be closed
}

// Splice applies an edit to the bytes of a note and returns the new bytes, or src
// itself when there is nothing to change. Every byte outside the values of the
// properties, the regions and the text that the edit names stays: the byte-order
// mark, line ends of whatever kind, the order of keys, comments, and whether the
// last line ends. What is added has the line ends of the note.
//
// The result is read again before it is returned: all other properties are what
// they were, and the own ones are what they should be. A note where that cannot be
// had is an [*frontmatter.EditError]; any other error is a mistake in the edit.
func Splice(src []byte, e Edit) ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	if e.Marked != nil && !e.Marked.In(src) {
		return nil, &frontmatter.EditError{Reason: NotMarked}
	}
	out, err := frontmatter.Changes{Set: e.Set, Unset: e.Unset, DropEmpty: e.DropEmpty}.Apply(src)
	if err != nil {
		return nil, err
	}
	if e.Body != nil {
		if out, err = e.Body.splice(out); err != nil {
			return nil, err
		}
	}
	return e.spliceRegions(out)
}

// word matches the names of own properties and regions.
var word = text.Pattern(`^[a-z][a-z0-9]*([_-][a-z0-9]+)*$`)

// check refuses an edit that cannot be applied to any note.
func (e Edit) check() error {
	seen := map[string]bool{}
	keys := e.Unset
	for _, f := range e.Set {
		keys = append(keys[:len(keys):len(keys)], f.Key)
	}
	for _, key := range keys {
		if !word().MatchString(key) || frontmatter.Ambiguous(key) || seen[key] {
			return fmt.Errorf("cannot edit a note: invalid or duplicate property %q", key)
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
		if !word().MatchString(name) || seen[name] {
			return fmt.Errorf("cannot edit a note: invalid or duplicate region %q", name)
		}
		seen[name] = true
	}
	return nil
}

func (r Region) check() error {
	var f lex.Fence
	for line := range strings.Lines(r.lines("\n")) {
		f.InCode([]byte(line))
		if strings.Contains(line, "emberd:") && strings.Contains(line, "<!--") {
			return fmt.Errorf("cannot edit a note: the text of region %s contains an emberd marker", r.Name)
		}
	}
	if f.Size > 0 || !utf8.ValidString(r.Text) || strings.ContainsRune(r.Text, 0) {
		return fmt.Errorf("cannot edit a note: the text of region %s is not valid UTF-8, or has an open code block",
			r.Name)
	}
	return nil
}
