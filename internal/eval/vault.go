package eval

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"emberd/vault"
	"emberd/vault/linkindex"
)

// KnownSet makes a set of a vault with questions from its own words.
func KnownSet(ctx context.Context, dir string) (*Set, error) {
	root := NotesRoot(os.DirFS(dir))
	if root == "" {
		root = "."
	}
	v, err := vault.Open(filepath.Join(dir, root), nil)
	if err != nil {
		return nil, err
	}
	items, err := KnownItems(ctx, v)
	if err := errors.Join(err, v.Close()); err != nil {
		return nil, err
	}
	return ReadKnown(os.DirFS(dir), root, items)
}

// KnownItems lists every title, alias, heading, question and link text of a vault with
// the note that it stands for. Notes that contain a list of emberd's are not among them: searches exclude such lists.
func KnownItems(ctx context.Context, v *vault.Vault) ([]Item, error) {
	var items []Item
	var notes []*vault.Note
	lists := map[string]bool{}
	links := linkindex.New()
	for path, err := range v.Walk(ctx) {
		var note *vault.Note
		if err == nil {
			note, err = v.Read(ctx, path)
		}
		if _, skipped := errors.AsType[*vault.Skipped](err); skipped || errors.Is(err, fs.ErrNotExist) {
			continue // the daemon does not find it either
		}
		if err != nil {
			return nil, err
		}
		links.Add(note.Path, note.Aliases, nil)
		if lists[note.Path] = note.List != ""; note.List != "" {
			continue
		}
		items = append(items, ownNames(note)...)
		note.Sections, note.Properties = nil, nil
		notes = append(notes, note)
	}
	for _, note := range notes {
		for _, l := range note.Links {
			if to, ok := links.Resolve(note.Path, l.Target); ok && l.Text != "" && l.Target != "" && !lists[to] {
				items = append(items, Item{Kind: Link, Text: l.Text, Note: to})
			}
		}
	}
	return items, nil
}

// ownNames are what a note calls itself and its parts.
func ownNames(note *vault.Note) []Item {
	items := []Item{{Kind: Title, Text: note.Title, Note: note.Path}}
	for _, a := range note.Aliases {
		items = append(items, Item{Kind: Alias, Text: a, Note: note.Path})
	}
	for _, s := range note.Sections {
		if s.Level > 0 {
			items = append(items, Item{Kind: Heading, Text: s.Heading, Note: note.Path})
		}
		for _, line := range Asking(s.Heading + "\n" + s.Text) {
			items = append(items, Item{Kind: Asked, Text: line, Note: note.Path})
		}
	}
	return items
}
