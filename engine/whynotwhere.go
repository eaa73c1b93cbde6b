package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"emberd/internal/spelling"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/vault"
)

// find looks for what is asked about. It is false when a search cannot find that at all,
// and the result says why.
func (d *doubt) find(ctx context.Context, ref string) (bool, error) {
	id, err := d.e.stm.Resolve(ref)
	if err == nil {
		return d.findMemory(ctx, id)
	}
	if code := memory.CodeOf(err); code == memory.Ambiguous || d.e.notes == nil && code == memory.Invalid {
		return false, err
	}
	if d.e.notes == nil {
		d.cause(op.WhyAbsent, "", "%s", err)
		return false, nil
	}
	return d.findNote(ctx, d.e.notes.inside(strings.TrimSpace(ref)))
}

func (d *doubt) findMemory(ctx context.Context, id memory.ID) (bool, error) {
	d.res.ID = id
	if row, ok := d.e.stm.Get(id); ok {
		d.row = row
		m, err := row.Memory()
		if home := homeOf(&m); d.e.notes != nil && home != "" && d.indexed(home) {
			d.path = home
		}
		return true, err
	}
	if d.e.stm.Trashed(id) {
		d.cause(op.WhyTrash, "emberd trash restore "+id.Short(), "it was forgotten, and is in the trash")
		return false, nil
	}
	versions, err := d.e.stm.History(ctx, id)
	if err != nil {
		return false, err
	}
	if n := len(versions); n > 0 {
		d.cause(op.WhyPurged, "", "it was forgotten on %s, and neither the trash nor the log has its text any more", versions[n-1].Entry.At.UTC().Format("2006-01-02"))
		return false, nil
	}
	d.cause(op.WhyAbsent, "", "there is no memory %s; emberd list shows those there are", id)
	return false, nil
}

// indexed reports whether the index has a note of that path.
func (d *doubt) indexed(name string) bool {
	index, _ := d.e.notes.current()
	for known := range index.Known() {
		if known == name {
			return true
		}
	}
	return false
}

func (d *doubt) findNote(ctx context.Context, name string) (bool, error) {
	_, err := d.e.notes.vault.Load().Stat(name)
	if !d.e.notes.shows(name) {
		err = fs.ErrNotExist
	}
	if err != nil && !d.indexed(name) {
		links, lerr := d.e.notes.allLinks(ctx)
		if lerr != nil {
			return false, lerr
		}
		if found, ok := links.Resolve("", name); ok {
			name, err = found, nil
		}
	}
	d.path, d.res.Note = name, name
	if id, carries := d.e.notes.carriers.at(name); carries && (d.e.grant == nil || d.e.live(id)) {
		d.of = id
	}
	if d.indexed(name) {
		d.note, _ = d.e.notes.vault.Load().Read(ctx, name) // what it says only helps to explain
		return true, nil
	}
	d.unread(ctx, name, err)
	return false, nil
}

// unread says why a note is not in the index. err is what became of looking for it.
func (d *doubt) unread(ctx context.Context, name string, err error) {
	_, reason := d.e.notes.vault.Load().Classify(name)
	_, w := d.e.notes.current()
	d.e.notes.mu.RLock()
	skipped, tried := d.e.notes.skipped[name]
	d.e.notes.mu.RUnlock()
	switch {
	case errors.Is(err, fs.ErrNotExist) || !d.e.notes.shows(name) || !d.there(name):
		d.cause(op.WhyAbsent, d.nearestNote(name), "there is no note %q in the vault", name)
	case reason != "":
		d.cause(op.WhyUnread, unreadFix(reason), "it is not read: %s", reason)
	case d.e.notes.inArchive(name) && !d.e.opt.IndexArchive:
		d.inFolder(ctx, name)
	case d.e.notes.archive.state(name).List != "":
		d.cause(op.WhyFolder, "search for what it lists", "it holds a list that emberd writes of its memories, and lists are not searched")
	case tried:
		d.cause(op.WhyUnread, "", "it is not read: %s", skipped.why)
	case w.Status().Skipped[name] != "":
		d.cause(op.WhyUnread, "", "it is not followed: %s", asReason(w.Status().Skipped[name]))
	case !d.e.notes.complete.Load() || err == nil:
		d.cause(op.WhyUnread, "wait until emberd status shows no note that waits", "it has not been read yet")
	default:
		d.cause(op.WhyUnread, "", "it is not read: %s", err)
	}
}

// there reports whether there is any file of that name in the vault's folder.
func (d *doubt) there(name string) bool {
	if !fs.ValidPath(name) {
		return false
	}
	_, err := os.Lstat(filepath.Join(d.e.notes.dir, filepath.FromSlash(name)))
	return err == nil
}

func unreadFix(reason vault.Reason) string {
	switch reason {
	case vault.Ignored:
		return "take the pattern out of vault.ignore (emberd config), and restart emberd"
	case vault.NotNote, vault.Temporary, vault.Hidden:
		return "give it a name that ends in .md, does not begin with a dot and is not one of an unfinished file"
	}
	return ""
}

// inFolder explains a note of the archive folder by its memory.
func (d *doubt) inFolder(ctx context.Context, name string) {
	fix := "set ltm.index_archive: true, and restart emberd"
	if id, ok := d.e.notes.carriers.at(name); ok {
		fix = "search for its memory with --scope archive, or emberd rekindle " + id.Short()
	}
	d.cause(op.WhyFolder, fix, "it lies in the archive folder %s, whose notes are not searched", d.e.opt.VaultArchive)
}

// nearestNote is a note of nearly that name, as a fix, "" if there is none.
func (d *doubt) nearestNote(name string) string {
	index, _ := d.e.notes.current()
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
	return "ask about " + best
}

// words explains why none of the words that were asked for finds it.
func (d *doubt) words(ctx context.Context, q *question) error {
	if q.nothing || len(q.terms) == 0 {
		d.cause(op.WhyWords, "search for a word that says more", "the query has no word that can be searched for")
		return nil
	}
	if d.row != nil && cold(d.row) {
		m, err := d.row.Memory()
		if err != nil {
			return err
		}
		if l, err := d.e.lookUpText(ctx, &m); err == nil && l.Verdict != rekindle.Gone {
			if has := d.held(q, l.Body); len(has) > 0 {
				d.cause(op.WhyArchived, "emberd rekindle "+m.ID.Short(), "it is %s: its text in the note %q has %s, but what is left of it here has not", m.Stage, l.Path, quoted(has))
				return nil
			}
		}
	}
	fix := ""
	if near := d.near(ctx, q); len(near) > 0 {
		fix = "search for " + quoted(near) + ", which it has"
	} else if own := d.telling(ctx); len(own) > 0 {
		fix = "search for " + quoted(own[:1]) + ", which it has"
	}
	d.cause(op.WhyWords, fix, "it holds none of the words %s%s", quoted(d.typed(q.terms)), d.farther(q))
	return nil
}
