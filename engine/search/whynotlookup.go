package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/internal/text/spelling"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/vault"
)

// find finds the item. It returns false if no search can find it; the result has the reason.
func (d *exclusion) find(ctx context.Context, ref string) (bool, error) {
	id, err := d.e.Stm.Resolve(ref)
	if err == nil {
		return d.findMemory(ctx, id)
	}
	if code := memory.CodeOf(err); code == memory.Ambiguous || d.e.Notes.Vault == nil && code == memory.Invalid {
		return false, err
	}
	if d.e.Notes.Vault == nil {
		d.addCause(op.WhyAbsent, "", "%s", err)
		return false, nil
	}
	return d.findNote(ctx, d.e.Notes.Vault.Inside(strings.TrimSpace(ref)))
}

func (d *exclusion) findMemory(ctx context.Context, id memory.ID) (bool, error) {
	d.res.ID = id
	if row, ok := d.e.Stm.Get(id); ok {
		d.row = row
		m, err := row.Memory()
		if home := core.NotePath(&m); d.e.Notes.Vault != nil && home != "" && d.indexed(home) {
			d.path = home
		}
		return true, err
	}
	if d.e.Stm.Trashed(id) {
		d.addCause(op.WhyTrash, "emberd rekindle "+id.Short(), "this memory is in the trash")
		return false, nil
	}
	versions, err := d.e.Stm.History(ctx, id)
	if err != nil {
		return false, err
	}
	if n := len(versions); n > 0 {
		d.addCause(op.WhyPurged, "",
			"this memory was deleted on %s, and its text is neither in the trash nor in the log",
			versions[n-1].Entry.At.UTC().Format("2006-01-02"))
		return false, nil
	}
	d.addCause(op.WhyAbsent, "", "memory %s not found; run: emberd list", id)
	return false, nil
}

// indexed reports whether the index contains a note.
func (d *exclusion) indexed(name string) bool {
	index, _ := d.e.Notes.Vault.Current()
	for known := range index.Known() {
		if known == name {
			return true
		}
	}
	return false
}

func (d *exclusion) findNote(ctx context.Context, name string) (bool, error) {
	_, err := d.e.Notes.Vault.Root.Load().Stat(name)
	if !d.e.Notes.Vault.Shows(name) {
		err = fs.ErrNotExist
	}
	if err != nil && !d.indexed(name) {
		links, lerr := d.e.Notes.Vault.AllLinks(ctx)
		if lerr != nil {
			return false, lerr
		}
		if found, ok := links.Resolve("", name); ok {
			name, err = found, nil
		}
	}
	d.path, d.res.Note = name, name
	if id, carries := d.e.Notes.Vault.Carriers.At(name); carries && (d.e.Grant == nil || d.e.Live(id)) {
		d.of = id
	}
	if d.indexed(name) {
		d.note, _ = d.e.Notes.Vault.Root.Load().Read(ctx, name) // its text only helps to explain
		return true, nil
	}
	d.unread(ctx, name, err)
	return false, nil
}

// unread records why a note is not indexed. err is the result of looking it up.
func (d *exclusion) unread(ctx context.Context, name string, err error) {
	_, reason := d.e.Notes.Vault.Root.Load().Classify(name)
	_, w := d.e.Notes.Vault.Current()
	d.e.Notes.Vault.Mu.RLock()
	skipped, tried := d.e.Notes.Vault.Skipped[name]
	d.e.Notes.Vault.Mu.RUnlock()
	switch {
	case errors.Is(err, fs.ErrNotExist) || !d.e.Notes.Vault.Shows(name) || !d.there(name):
		d.addCause(op.WhyAbsent, d.nearestNote(name), "memory or note %q not found", name)
	case reason != "":
		d.addCause(op.WhyUnread, unreadFix(reason), "emberd does not read this note: %s", reason)
	case d.e.Notes.Vault.InArchive(name):
		d.inFolder(ctx, name)
	case d.e.Notes.Vault.Archive.State(name).List != "":
		d.addCause(op.WhyFolder, "search for the memories or notes in the list",
			"this note contains a list that emberd writes, and searches exclude such lists")
	case tried:
		d.addCause(op.WhyUnread, "", "emberd does not read this note: %s", skipped.Why)
	case w.Status().Skipped[name] != "":
		d.addCause(op.WhyUnread, "", "emberd does not watch this note: %s", notes.AsReason(w.Status().Skipped[name]))
	case !d.e.Notes.Vault.Complete.Load() || err == nil:
		d.addCause(op.WhyUnread, "wait until emberd status no longer shows notes that are not yet read",
			"emberd has not "+
				"read this note yet")
	default:
		d.addCause(op.WhyUnread, "", "emberd does not read this note: %s", err)
	}
}

// there reports whether the vault's folder contains a file of that name.
func (d *exclusion) there(name string) bool {
	if !fs.ValidPath(name) {
		return false
	}
	_, err := os.Lstat(filepath.Join(d.e.Notes.Vault.Dir, filepath.FromSlash(name)))
	return err == nil
}

func unreadFix(reason vault.Reason) string {
	switch reason {
	case vault.Ignored:
		return "remove the pattern that matches the note from the setting vault.ignore, and restart the daemon"
	case vault.NotNote, vault.Temporary, vault.Hidden:
		return "rename the note: the name must end in .md, must not begin with a dot, and must " +
			"not look like a temporary file"
	}
	return ""
}

// inFolder explains a note of the archive folder by its memory.
func (d *exclusion) inFolder(ctx context.Context, name string) {
	fix := "move the note out of " + d.e.Opt.VaultArchive
	if id, ok := d.e.Notes.Vault.Carriers.At(name); ok {
		fix = "search for the memory of the note with --scope archive, or run: emberd rekindle " + id.Short()
	}
	d.addCause(op.WhyFolder, fix,
		"this note is in the archive folder %s, and searches do not return notes of that folder", d.e.Opt.VaultArchive)
}

// nearestNote returns a fix with the most similar name of a note, or "".
func (d *exclusion) nearestNote(name string) string {
	index, _ := d.e.Notes.Vault.Current()
	base := func(p string) string { return strings.ToLower(strings.TrimSuffix(path.Base(p), path.Ext(p))) }
	least, best := spelling.Edits(base(name))+1, ""
	for known := range index.Known() {
		if n := spelling.Distance(base(known), base(name)); n < least || n == least && best != "" && known < best {
			least, best = n, known
		}
	}
	if best == "" {
		return ""
	}
	return "search for note " + best
}

// words records why none of the query's words matches.
func (d *exclusion) words(ctx context.Context, q *parsedQuery) error {
	if q.Nothing || len(q.Terms) == 0 {
		d.addCause(op.WhyWords, "search for a more specific word", "the query contains no searchable words")
		return nil
	}
	if d.row != nil && core.Cold(d.row) {
		m, err := d.row.Memory()
		if err != nil {
			return err
		}
		l, err := d.e.Notes.LookUpText(ctx, &m)
		if d.e.Archived(d.row) && err == nil && l.Verdict == rekindle.Gone {
			d.addCause(op.WhyArchived, "search again in two minutes, or undo the deletion",
				"this memory is %s, and its note %q was deleted; one minute after the "+
					"deletion, searches use only the summary",
				m.Stage, core.NotePath(&m))
			return nil
		}
		if err == nil && l.Verdict != rekindle.Gone {
			if has := d.held(q, l.Body); len(has) > 0 {
				d.addCause(op.WhyArchived, "emberd rekindle "+m.ID.Short(),
					"this memory is %s: the text in note %q contains %s, but the summary does not", m.Stage, l.Path,
					quoted(has))
				return nil
			}
		}
	}
	fix := ""
	if near := d.similarWords(ctx, q); len(near) > 0 {
		fix = "search for " + quoted(near) + ", which the text contains"
	} else if own := d.rarestWords(ctx); len(own) > 0 {
		fix = "search for " + quoted(own[:1]) + ", which the text contains"
	}
	what := "the text"
	if d.note != nil && d.note.Size > vault.MaxText {
		what, fix = fmt.Sprintf("searches cover only the first %d MiB of this note, which has %.1f MiB, and that part",
			vault.MaxText>>20, float64(d.note.Size)/(1<<20)), "split the note"
	}
	d.addCause(op.WhyWords, fix, "%s contains none of the words %s%s", what, quoted(d.queryWords(q.Terms)),
		d.similarityText(q))
	return nil
}
