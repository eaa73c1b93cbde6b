package watcher

import (
	"fmt"
	"path"
)

// watch watches a folder, or renews its watch, unless the system has none left.
// A folder that is still watched under another name was renamed: that watch goes
// first, and so do those of the folders below as the listing comes to them. So
// does the watch of another folder that had this path.
func (s *scan) watch(dir string, id identity) {
	if s.feed == nil || s.refused != "" {
		return
	}
	if old := s.tree[dir]; old != nil && old.id != id {
		s.feed.remove(dir, old.id)
	}
	other, watched := s.feed.owner[id]
	if watched && other != dir {
		s.feed.remove(other, id)
	}
	if !watched && len(s.feed.owner) >= s.maxFolders {
		s.refused = "too many folders to watch"
		return
	}
	switch err := s.feed.add(dir, id); {
	case err == nil, missing(err):
	case exhausted(err) != "":
		s.refused = exhausted(err)
	default:
		s.skip(dir, fmt.Errorf("cannot watch the folder: %w", cause(err)))
	}
}

// unwatch ends the watches of a folder and of all below.
func (w *Watcher) unwatch(dir string) {
	d := w.tree[dir]
	if d == nil || w.feed == nil {
		return
	}
	for name := range d.subs {
		w.unwatch(path.Join(dir, name))
	}
	w.feed.remove(dir, d.id)
}

// connect opens a source of events if there is none or the old one broke, and returns the reason
// if there is none.
func (w *Watcher) connect() (refused string) {
	if w.feed != nil && w.buffer.repaired() {
		w.closeFeed()
	}
	if w.feed != nil {
		w.feed.watchAbove()
		return ""
	}
	feed, err := w.open()
	if err != nil {
		if why := exhausted(err); why != "" {
			return why
		}
		return "file events not available: " + reason(err)
	}
	w.feed = feed
	return ""
}

func (w *Watcher) closeFeed() {
	if w.feed == nil {
		return
	}
	if err := w.feed.close(); err != nil {
		w.opt.Logger.Warn("file watcher not closed", "root", w.root, "err", err)
	}
	w.feed = nil
}
