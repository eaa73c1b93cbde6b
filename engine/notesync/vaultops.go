package notesync

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

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
	"emberd/vault/linkindex"
	"emberd/vault/markdown"
)

// defaultFindings is how many findings a vault check lists unless the caller says how many.
const defaultFindings = 1_000

// VaultCheck reads every note again and lists the problems.
func (e *Sync) VaultCheck(ctx context.Context, req *op.VaultCheckRequest) (*op.VaultCheckResult, error) {
	if err := e.Notes.NeedVault(); err != nil {
		return nil, err
	}
	limit := cmp.Or(req.Limit, defaultFindings)
	if err := memory.CheckRange("limit", float64(limit), 1, op.MostFindings); err != nil {
		return nil, err
	}
	if !e.Notes.Vault.Root.Load().Current() {
		return nil, e.Notes.Vault.ErrAway()
	}
	check := vaultChecker{e: e, res: &op.VaultCheckResult{Vault: e.Notes.Vault.Root.Load().Name(),
		Path: e.Notes.Vault.Dir}, links: linkindex.New(),
		carried: make(map[memory.ID][]*vault.Note), unread: make(map[string]bool)}
	if err := check.all(ctx); err != nil {
		return nil, memory.Errorf(memory.Unavailable, "cannot check the vault: %w", err)
	}
	check.report(limit)
	return check.res, nil
}

// vaultChecker is one vault check in progress.
type vaultChecker struct {
	e       *Sync
	res     *op.VaultCheckResult
	links   *linkindex.Index
	read    []*vault.Note // without their texts
	carried map[memory.ID][]*vault.Note
	unread  map[string]bool
	found   []op.Finding
}

func (c *vaultChecker) all(ctx context.Context) error {
	index, _ := c.e.Notes.Vault.Current()
	indexed := index.Status().Notes
	for path, err := range c.e.Notes.Vault.Root.Load().Walk(ctx) {
		if path == "" {
			return err // end of the walk
		}
		if err == nil {
			err = c.contained(ctx, path)
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
		c.checkLinks(note)
	}
	c.checkNumbered()
	c.checkMemories(ctx)
	c.found = append(c.found, c.e.Promote.PendingFindings()...)
	return ctx.Err()
}

func (c *vaultChecker) skip(path string, err error) {
	kind, why := "skipped", err.Error()
	if skipped, ok := errors.AsType[*vault.Skipped](err); ok {
		why = string(skipped.Reason)
		if skipped.Reason == vault.NotLocal {
			kind = "evicted"
		}
	}
	c.res.Skipped++
	c.unread[path] = true
	c.links.Add(path, nil, nil) // a note that is there, and to which links lead
	c.find(kind, path, 0, "cannot read this file: %s", why)
}

func (c *vaultChecker) find(kind, path string, line int, text string, args ...any) {
	c.found = append(c.found, op.Finding{Kind: kind, Path: path, Line: line, Text: fmt.Sprintf(text, args...)})
}

// contained checks one note. A note that emberd fails on is a finding.
func (c *vaultChecker) contained(ctx context.Context, path string) error {
	why, err := c.e.Notes.Vault.Contain(path, func() error { return c.note(ctx, path) })
	if why.Why != "" {
		return errors.New(why.Why)
	}
	return err
}

func (c *vaultChecker) note(ctx context.Context, path string) error {
	note, err := c.e.Notes.Vault.Root.Load().Read(ctx, path)
	if err != nil {
		return err
	}
	if core.HoldsList(note) {
		c.links.Add(note.Path, note.Aliases, nil)
		return nil
	}
	if !c.e.Notes.Vault.InArchive(path) { // as status counts notes
		c.res.Notes++
	}
	for i, problem := range note.Problems {
		if kind := kindOf(note, i); kind == "conflict" {
			c.checkBeside(ctx, kind, note, problem.Line, problem.Text)
		} else {
			c.find(kind, note.Path, problem.Line, "%s", problem.Text)
		}
	}
	c.checkCredentials(note)
	c.checkCarrier(ctx, note)
	c.links.Add(note.Path, note.Aliases, notes.Targets(note))
	note.Links = withoutEntities(note)
	note.Sections, note.Properties, note.Carried = nil, nil, nil
	c.read = append(c.read, note)
	return nil
}

// withoutEntities returns the links of a note except those to its memory's entities, few of
// which have notes.
func withoutEntities(note *vault.Note) []markdown.Link {
	i := slices.IndexFunc(note.Properties, func(p markdown.Property) bool { return p.Key == "entities" })
	if i < 0 || note.MemoryID == "" {
		return note.Links
	}
	return slices.DeleteFunc(note.Links, func(l markdown.Link) bool { return l.Line == note.Properties[i].Line })
}

// kindOf returns the kind of a note's problem. The problem that a note is a copy comes first,
// with line 1, which stands for the note as a whole. Problems of the frontmatter come before
// the others.
func kindOf(note *vault.Note, i int) string {
	before := slices.ContainsFunc(note.Problems[:i], func(p markdown.Problem) bool { return p.Line > 1 })
	switch {
	case i == 0 && note.Copy:
		return "conflict"
	case note.Frontmatter == vault.InvalidFrontmatter && note.Problems[i].Line > 1 && !before:
		return "frontmatter"
	}
	return "note"
}

// checkLinks reports a note's links whose target does not exist. It does not check links to
// attachments.
func (c *vaultChecker) checkLinks(note *vault.Note) {
	for _, l := range note.Links {
		c.res.Links++
		if notes.IsAttachment(l.Target) {
			continue
		}
		if _, ok := c.links.Resolve(note.Path, l.Target); !ok {
			c.res.Broken++
			c.find("link", note.Path, l.Line, "linked note %q not found", l.Target)
		}
	}
}

func (c *vaultChecker) report(limit int) {
	slices.SortStableFunc(c.found, func(a, b op.Finding) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	c.res.Total = len(c.found)
	c.res.Findings = append([]op.Finding{}, c.found[:min(limit, len(c.found))]...)
}

// VaultConfirm confirms the deletion of notes that vanished together, and of their memories.
// It does not wait until they are deleted.
func (e *Sync) VaultConfirm(ctx context.Context, _ *op.VaultConfirmRequest) (*op.VaultConfirmResult, error) {
	if err := e.Notes.NeedVault(); err != nil {
		return nil, err
	}
	if !e.Notes.Vault.Released().IsZero() {
		return nil, e.Notes.Vault.ErrAway()
	}
	_, w := e.Notes.Vault.Current()
	s := w.Status()
	if s.Gone {
		return nil, memory.Errorf(memory.Unavailable,
			"%s; restore the vault, or change vaults: in the config file and restart the daemon", s.Frozen)
	}
	held := e.Sync.confirmDeletions(op.CallerFrom(ctx))
	if s.Frozen == "" {
		return &op.VaultConfirmResult{Frozen: notes.PendingDeletionsText(held), Missing: held}, nil
	}
	w.Confirm()
	return &op.VaultConfirmResult{Frozen: s.Frozen, Missing: s.Pending}, nil
}

// VaultRelease closes every file and folder of the vault, so that its disk can be unmounted. Searches answer from
// the index, nothing counts as deleted, and writes to notes wait.
func (e *Sync) VaultRelease(context.Context, *op.VaultReleaseRequest) (*op.VaultHoldResult, error) {
	if err := e.Notes.NeedVault(); err != nil {
		return nil, err
	}
	changed, err := e.Notes.Vault.Release(e.Promote.Writing.Quiet)
	if err != nil {
		return nil, memory.Errorf(memory.Unavailable, "cannot close the vault: %w", err)
	}
	return &op.VaultHoldResult{Path: e.Notes.Vault.Dir, Changed: changed}, nil
}

// VaultOpen ends a release. The vault is read and its writes are made once its folder is there.
func (e *Sync) VaultOpen(context.Context, *op.VaultOpenRequest) (*op.VaultHoldResult, error) {
	if err := e.Notes.NeedVault(); err != nil {
		return nil, err
	}
	return &op.VaultHoldResult{Path: e.Notes.Vault.Dir, Changed: e.Notes.Vault.Open()}, nil
}

// NoteLinks returns the links of a note in both directions.
func (e *Sync) NoteLinks(ctx context.Context, req *op.LinksRequest) (*op.LinksResult, error) {
	if err := e.Notes.NeedVault(); err != nil {
		return nil, err
	}
	links, err := e.Notes.Vault.AllLinks(ctx)
	if err != nil {
		return nil, err
	}
	path, err := notes.ResolveNote(links, e.Notes.Vault.Inside(req.Note))
	if err != nil {
		return nil, err
	}
	note, err := e.Notes.Vault.Root.Load().Read(ctx, path)
	if err != nil {
		return nil, memory.Errorf(memory.NotFound, "cannot read the note: %w", err).At("note")
	}
	res := &op.LinksResult{Note: path, Outgoing: []op.NoteLink{}, Incoming: links.Backlinks(path)}
	for _, l := range note.Links {
		to, _ := links.Resolve(path, l.Target)
		res.Outgoing = append(res.Outgoing, op.NoteLink{Target: l.Target, Path: to, Line: l.Line, Embed: l.Embed})
	}
	return res, nil
}

// Open returns the link that opens a note in Obsidian.
func (e *Sync) Open(ctx context.Context, req *op.OpenRequest) (*op.OpenResult, error) {
	if err := e.Notes.NeedVault(); err != nil {
		return nil, err
	}
	path, err := e.Notes.NotePath(ctx, req.Ref)
	if err != nil {
		return nil, err
	}
	v := url.Values{"vault": {e.Notes.Vault.Root.Load().Name()}, "file": {path}}
	uri := "obsidian://open?" + strings.ReplaceAll(v.Encode(), "+", "%20")
	return &op.OpenResult{URI: uri, Path: path, File: filepath.Join(e.Notes.Vault.Dir, filepath.FromSlash(path))}, nil
}
