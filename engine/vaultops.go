package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// Bounds of a vault check.
const (
	defaultFindings = 1_000
	maxFindings     = 10_000
)

func (e *Engine) needVault() error {
	if e.notes != nil {
		return nil
	}
	return memory.Errorf(memory.NotFound, "there is no vault; name one with vaults: in the config or emberd serve --vault")
}

// vaultCheck reads every note afresh and lists what is wrong.
func (e *Engine) vaultCheck(ctx context.Context, req *op.VaultCheckRequest) (*op.VaultCheckResult, error) {
	if err := e.needVault(); err != nil {
		return nil, err
	}
	limit := cmp.Or(req.Limit, defaultFindings)
	if err := memory.CheckRange("limit", float64(limit), 1, maxFindings); err != nil {
		return nil, err
	}
	if !e.notes.vault.Load().Current() {
		return nil, memory.Errorf(memory.Unavailable, "the vault %s is not there, or is another folder since a moment ago; put it back, or try again", e.notes.dir)
	}
	check := checking{e: e, res: &op.VaultCheckResult{Vault: e.notes.vault.Load().Name(), Path: e.notes.dir}, links: vault.NewLinks(),
		carried: make(map[memory.ID][]*vault.Note), unread: make(map[string]bool)}
	if err := check.all(ctx); err != nil {
		return nil, memory.Errorf(memory.Unavailable, "check the vault: %w", err)
	}
	check.report(limit)
	return check.res, nil
}

// checking is one vault check under way.
type checking struct {
	e       *Engine
	res     *op.VaultCheckResult
	links   *vault.Links
	read    []*vault.Note // without text
	carried map[memory.ID][]*vault.Note
	unread  map[string]bool
	found   []op.Finding
}

func (c *checking) all(ctx context.Context) error {
	index, _ := c.e.notes.current()
	indexed := index.Status().Notes
	for path, err := range c.e.notes.vault.Load().Walk(ctx) {
		if path == "" {
			return err // the end of the walk
		}
		if err == nil {
			err = c.note(ctx, path)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.skip(path, err)
		}
		if seen := c.res.Notes + c.res.Skipped; seen <= indexed {
			op.Report(ctx, seen, indexed)
		}
	}
	for _, note := range c.read {
		c.broken(note)
	}
	c.memories()
	c.found = append(c.found, c.e.pendingFindings()...)
	return ctx.Err()
}

func (c *checking) skip(path string, err error) {
	kind, why := "skipped", err.Error()
	if skipped, ok := errors.AsType[*vault.Skipped](err); ok {
		why = string(skipped.Reason)
		if skipped.Reason == vault.NotLocal {
			kind = "evicted"
		}
	}
	c.res.Skipped++
	c.unread[path] = true
	c.find(kind, path, 0, "not read: %s", why)
}

func (c *checking) find(kind, path string, line int, text string, args ...any) {
	c.found = append(c.found, op.Finding{Kind: kind, Path: path, Line: line, Text: fmt.Sprintf(text, args...)})
}

func (c *checking) note(ctx context.Context, path string) error {
	note, err := c.e.notes.vault.Load().Read(ctx, path)
	if err != nil {
		return err
	}
	if holdsList(note) {
		c.links.Add(note.Path, note.Aliases, nil)
		return nil
	}
	c.res.Notes++
	for i := range note.Problems {
		c.find(kindOf(note, i), note.Path, note.Problems[i].Line, "%s", note.Problems[i].Text)
	}
	c.credentials(note)
	c.carrier(ctx, note)
	c.links.Add(note.Path, note.Aliases, targets(note))
	note.Links = withoutEntities(note)
	note.Sections, note.Properties, note.Carried = nil, nil, nil
	c.read = append(c.read, note)
	return nil
}

// withoutEntities are the links of a note less those to the entities of its memory, few
// of which have notes.
func withoutEntities(note *vault.Note) []vault.Link {
	i := slices.IndexFunc(note.Properties, func(p vault.Property) bool { return p.Key == "entities" })
	if i < 0 || note.MemoryID == "" {
		return note.Links
	}
	return slices.DeleteFunc(note.Links, func(l vault.Link) bool { return l.Line == note.Properties[i].Line })
}

// kindOf tells a note's problems apart. That it is a copy comes first, with line 1;
// that line is for the note as a whole, and others are of the frontmatter first.
func kindOf(note *vault.Note, i int) string {
	before := slices.ContainsFunc(note.Problems[:i], func(p vault.Problem) bool { return p.Line > 1 })
	switch {
	case i == 0 && note.Copy:
		return "conflict"
	case note.Frontmatter == vault.InvalidFrontmatter && note.Problems[i].Line > 1 && !before:
		return "frontmatter"
	}
	return "note"
}

// broken lists a note's links that lead to no note. Links to attachments are
// not looked after.
func (c *checking) broken(note *vault.Note) {
	for _, l := range note.Links {
		c.res.Links++
		if isAttachment(l.Target) {
			continue
		}
		if _, ok := c.links.Resolve(note.Path, l.Target); !ok {
			c.res.Broken++
			c.find("link", note.Path, l.Line, "there is no note %q", l.Target)
		}
	}
}

func isAttachment(target string) bool {
	ext := filepath.Ext(target)
	return ext != "" && !strings.EqualFold(ext, ".md") && len(ext) <= 6 && !strings.Contains(ext, " ")
}

func (c *checking) report(limit int) {
	slices.SortStableFunc(c.found, func(a, b op.Finding) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	c.res.Total = len(c.found)
	c.res.Findings = append([]op.Finding{}, c.found[:min(limit, len(c.found))]...)
}

// vaultConfirm lets go of notes that vanished together, and of the memories whose
// notes did. It does not wait for that.
func (e *Engine) vaultConfirm(ctx context.Context, _ *op.VaultConfirmRequest) (*op.VaultConfirmResult, error) {
	if err := e.needVault(); err != nil {
		return nil, err
	}
	_, w := e.notes.current()
	s := w.Status()
	if s.Gone {
		return nil, memory.Errorf(memory.Unavailable, "%s; put it back, or name another folder in vaults: and restart emberd", s.Frozen)
	}
	held := e.truth.confirmLosses(op.CallerFrom(ctx))
	if s.Frozen == "" {
		return &op.VaultConfirmResult{Frozen: heldBack(held), Missing: held}, nil
	}
	w.Confirm()
	return &op.VaultConfirmResult{Frozen: s.Frozen, Missing: s.Pending}, nil
}

// noteLinks answers both directions.
func (e *Engine) noteLinks(ctx context.Context, req *op.LinksRequest) (*op.LinksResult, error) {
	if err := e.needVault(); err != nil {
		return nil, err
	}
	links, err := e.notes.allLinks(ctx)
	if err != nil {
		return nil, err
	}
	path, err := resolveNote(links, e.notes.inside(req.Note))
	if err != nil {
		return nil, err
	}
	note, err := e.notes.vault.Load().Read(ctx, path)
	if err != nil {
		return nil, memory.Errorf(memory.NotFound, "read the note: %w", err).At("note")
	}
	res := &op.LinksResult{Note: path, Outgoing: []op.NoteLink{}, Incoming: links.Backlinks(path)}
	for _, l := range note.Links {
		to, _ := links.Resolve(path, l.Target)
		res.Outgoing = append(res.Outgoing, op.NoteLink{Target: l.Target, Path: to, Line: l.Line, Embed: l.Embed})
	}
	return res, nil
}

func resolveNote(links *vault.Links, name string) (string, error) {
	if strings.TrimSpace(name) == "" {
		return "", memory.Errorf(memory.Invalid, "no note is named; give its path, name or alias").At("note")
	}
	path, ok := links.Resolve("", name)
	if !ok {
		return "", memory.Errorf(memory.NotFound, "there is no note %.100q; emberd search --notes finds them", name).At("note")
	}
	return path, nil
}

// inside makes the path of a file, as a shell completes it, one in the vault.
func (n *notes) inside(ref string) string {
	if rel, ok := strings.CutPrefix(ref, n.dir+string(filepath.Separator)); ok {
		return filepath.ToSlash(rel)
	}
	return ref
}

// allLinks reads every note once, the first time somebody asks; from then on
// what the watcher brings keeps it current.
func (n *notes) allLinks(ctx context.Context) (*vault.Links, error) {
	links, err := n.everyLink(ctx)
	if err != nil || n.sees == nil {
		return links, err
	}
	return links.Through(n.shows), nil
}

func (n *notes) everyLink(ctx context.Context) (*vault.Links, error) {
	n.linking.Lock()
	defer n.linking.Unlock()
	n.mu.Lock()
	known := n.links
	if known == nil {
		n.moved = make(map[string]bool)
	}
	n.mu.Unlock()
	if known != nil {
		return known, nil
	}
	links := vault.NewLinks()
	for path, err := range n.vault.Load().Walk(ctx) {
		if err == nil { // vault check lists what is not read
			n.link(ctx, links, path)
		}
	}
	for n.behind(ctx, links) {
	}
	if ctx.Err() != nil {
		return nil, memory.Errorf(memory.Unavailable, "gave up reading the vault: %w", context.Cause(ctx))
	}
	return links, nil
}

// behind reads again what changed while all notes were read. Once nothing has, or
// ctx has ended, it reports false and the links are the ones kept current, or none.
func (n *notes) behind(ctx context.Context, links *vault.Links) bool {
	n.mu.Lock()
	moved := n.moved
	n.moved = make(map[string]bool)
	if ctx.Err() != nil {
		n.moved = nil
	} else if len(moved) == 0 {
		n.links, n.moved = links, nil
		close(n.entities.read)
	}
	more := n.moved != nil
	n.mu.Unlock()
	if more {
		for path := range moved {
			n.link(ctx, links, path)
		}
	}
	return more
}

// link takes in the names and links of one note as it is now.
func (n *notes) link(ctx context.Context, links *vault.Links, path string) {
	note, err := n.vault.Load().Read(ctx, path)
	if err != nil {
		links.Remove(path)
		n.entities.lost(path)
		return
	}
	links.Add(note.Path, note.Aliases, targets(note))
	n.namedBy(note)
}

// open gives the link that makes Obsidian show a note.
func (e *Engine) open(ctx context.Context, req *op.OpenRequest) (*op.OpenResult, error) {
	if err := e.needVault(); err != nil {
		return nil, err
	}
	path, err := e.notePath(ctx, req.Ref)
	if err != nil {
		return nil, err
	}
	v := url.Values{"vault": {e.notes.vault.Load().Name()}, "file": {path}}
	uri := "obsidian://open?" + strings.ReplaceAll(v.Encode(), "+", "%20")
	return &op.OpenResult{URI: uri, Path: path, File: filepath.Join(e.notes.dir, filepath.FromSlash(path))}, nil
}

// notePath finds the note that a path, a name or a memory's id stands for.
func (e *Engine) notePath(ctx context.Context, ref string) (string, error) {
	row, err := e.find(ref)
	if err == nil {
		m, err := row.Memory()
		if err != nil {
			return "", err
		}
		if path := firstNonEmpty(m.PromotedTo, m.VaultPath); path != "" && e.notes.shows(path) {
			return path, nil
		}
	}
	path, notNote := e.noteCalled(ctx, e.notes.inside(ref))
	if notNote != nil && err == nil {
		return "", memory.Errorf(memory.NotFound, "memory %s has no note; emberd show %s shows its text", row.ID(), row.ID().Short()).At("ref")
	}
	return path, notNote
}

// noteCalled finds a note by its path, its name or one of its aliases.
func (e *Engine) noteCalled(ctx context.Context, name string) (string, error) {
	if _, err := e.notes.vault.Load().Stat(name); err == nil && e.notes.shows(name) {
		return name, nil
	}
	links, err := e.notes.allLinks(ctx)
	if err != nil {
		return "", err
	}
	return resolveNote(links, name)
}
