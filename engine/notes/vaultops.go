package notes

import (
	"context"
	"path/filepath"
	"strings"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/vault/linkindex"
)

// NeedVault returns an error if there is no vault.
func (e *Notes) NeedVault() error {
	if e.Vault != nil {
		return nil
	}
	return memory.Errorf(memory.NotFound,
		"no vault configured; set vaults: in the config file, or run: emberd serve --vault DIR")
}

// ErrAway returns the error for what needs the folder of the vault while that is not there.
func (n *VaultNotes) ErrAway() error {
	if !n.Released().IsZero() {
		return memory.Errorf(memory.Unavailable, "vault %s is released; to open it, run: emberd vault reopen",
			n.Root.Load().Name())
	}
	return memory.Errorf(memory.Unavailable,
		"vault %s is missing, or another folder is at its path; move the vault folder back to its path, and try again",
		n.Dir)
}

// IsAttachment reports whether a link's target has the extension of a file that is not a note.
func IsAttachment(target string) bool {
	ext := filepath.Ext(target)
	return ext != "" && !strings.EqualFold(ext, ".md") && len(ext) <= 6 && !strings.Contains(ext, " ")
}

// ResolveNote returns the path of the note with a path, name or alias.
func ResolveNote(links *linkindex.Index, name string) (string, error) {
	if strings.TrimSpace(name) == "" {
		return "", memory.Errorf(memory.Invalid, "missing note; pass its path, name or alias").At("note")
	}
	path, ok := links.Resolve("", name)
	if !ok {
		return "", memory.Errorf(memory.NotFound, "note %.100q not found; run: emberd search --notes", name).At("note")
	}
	return path, nil
}

// Inside converts the path of a file, as a shell completes it, to a path in the vault.
func (n *VaultNotes) Inside(ref string) string {
	if rel, ok := strings.CutPrefix(ref, n.Dir+string(filepath.Separator)); ok {
		return filepath.ToSlash(rel)
	}
	return ref
}

// AllLinks returns the links of all notes. The first call reads every note; after that the
// watcher's batches keep them current.
func (n *VaultNotes) AllLinks(ctx context.Context) (*linkindex.Index, error) {
	links, err := n.everyLink(ctx)
	if err != nil || n.Sees == nil {
		return links, err
	}
	// The links call this while they hold their lock, which a reader of notes that holds Mu may wait for.
	index, _ := n.Current()
	return links.Through(func(path string) bool { return showsIn(n, index, path) }), nil
}

func (n *VaultNotes) everyLink(ctx context.Context) (*linkindex.Index, error) {
	n.linking.Lock()
	defer n.linking.Unlock()
	n.Mu.Lock()
	known := n.Links
	if known == nil {
		n.Moved = make(map[string]bool)
	}
	n.Mu.Unlock()
	if known != nil {
		return known, nil
	}
	if !n.Root.Load().Current() {
		return nil, n.ErrAway()
	}
	links := linkindex.New()
	for path, err := range n.Root.Load().Walk(ctx) {
		if err == nil { // a vault check lists unreadable notes
			n.Link(ctx, links, path)
		}
	}
	for n.Behind(ctx, links) {
	}
	if ctx.Err() != nil {
		return nil, memory.Errorf(memory.Unavailable, "cannot read the whole vault: %w", context.Cause(ctx))
	}
	return links, nil
}

// Behind reads the notes again that changed while all notes were read. It returns false if
// none changed or ctx has ended; the links are then current, or dropped.
func (n *VaultNotes) Behind(ctx context.Context, links *linkindex.Index) bool {
	n.Mu.Lock()
	moved := n.Moved
	n.Moved = make(map[string]bool)
	if ctx.Err() != nil {
		n.Moved = nil
	} else if len(moved) == 0 {
		n.Links, n.Moved = links, nil
		n.Follower.AllLinked()
	}
	more := n.Moved != nil
	n.Mu.Unlock()
	if more {
		for path := range moved {
			n.Link(ctx, links, path)
		}
	}
	return more
}

// Link records the current names and links of one note.
func (n *VaultNotes) Link(ctx context.Context, links *linkindex.Index, path string) {
	why, err := n.Contain(path, func() error {
		note, err := n.Root.Load().Read(ctx, path)
		if err != nil {
			return err
		}
		links.Add(note.Path, note.Aliases, Targets(note))
		n.Follower.Linked(note)
		return nil
	})
	if err != nil || why.Why != "" {
		links.Remove(path)
		n.Follower.Lost(path)
	}
}

// NotePath returns the path of the note that a path, a name or a memory's ID stands for.
func (e *Notes) NotePath(ctx context.Context, ref string) (string, error) {
	row, err := e.Find(ref)
	if err == nil {
		m, err := row.Memory()
		if err != nil {
			return "", err
		}
		if path := core.FirstNonEmpty(m.PromotedTo, m.VaultPath); path != "" && e.Vault.Shows(path) {
			return path, nil
		}
	}
	path, notNote := e.noteNamed(ctx, e.Vault.Inside(ref))
	if notNote != nil && err == nil {
		return "", memory.Errorf(memory.NotFound, "memory %s has no note; to see the memory, run: emberd show %s",
			row.ID(), row.ID().Short()).At("ref")
	}
	return path, notNote
}

// noteNamed returns a note by its path, its name or an alias.
func (e *Notes) noteNamed(ctx context.Context, name string) (string, error) {
	if _, err := e.Vault.Root.Load().Stat(name); err == nil && e.Vault.Shows(name) {
		return name, nil
	}
	links, err := e.Vault.AllLinks(ctx)
	if err != nil {
		return "", err
	}
	return ResolveNote(links, name)
}

// LoadedLinks returns the links of all notes if AllLinks has read them, nil otherwise.
func LoadedLinks(n *VaultNotes) *linkindex.Index {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	return n.Links
}
