package stm

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
)

// foreignTombstones are deletions by other devices that nobody can take back
// from the trash any more.
func (r *rewrite) foreignTombstones() map[[16]byte]Stamp {
	hide := map[[16]byte]Stamp{}
	r.s.table.mu.RLock()
	defer r.s.table.mu.RUnlock()
	for key, c := range r.s.table.cells {
		tomb := c.row.Load().rest().tomb
		if !tomb.IsZero() && tomb.Dev != r.s.device && r.now.Sub(tomb.Time()) >= r.s.trashKeep {
			hide[key] = tomb
		}
	}
	return hide
}

// dropTombstones takes memories out of the fold that everybody has forgotten.
func (r *rewrite) dropTombstones() error {
	may := map[[16]byte]Stamp{}
	if r.job.Droppable != nil && !r.fold.opaque && r.beginsWithFirst() {
		for key, row := range r.fold.rows {
			if row.dead() && !row.fingerprinted() && r.job.Droppable(row.tomb.Time(), row.buried) {
				may[key] = row.tomb
			}
		}
	}
	if err := r.keepMentioned(may); err != nil {
		return err
	}
	for key := range may {
		delete(r.fold.rows, key)
		delete(r.fold.use, key)
	}
	r.dropped, r.got.Dropped = may, len(may)
	r.raiseFloor()
	for _, row := range r.fold.rows {
		if row.live() {
			r.got.Live++
		} else if row.dead() {
			r.got.Tombstones++
		}
	}
	return nil
}

// raiseFloor says in the header which operations of other devices are in doubt
// from now on: those from before a dropped tombstone that are not here yet.
func (r *rewrite) raiseFloor() {
	var at Stamp
	for _, tomb := range r.dropped {
		at = later(at, tomb)
	}
	if at.IsZero() {
		return
	}
	seen := map[string]uint64{}
	for dev, upto := range r.s.snapshot.seen.contiguous() {
		seen[dev.String()] = upto
	}
	r.fold.hold(at, seen)
}

// hold joins two floors into one that holds back what either would.
func (f *fold) hold(at Stamp, seen map[string]uint64) {
	f.floor = later(f.floor, at)
	if f.seen == nil {
		f.seen = maps.Clone(seen)
		return
	}
	for dev := range f.seen {
		f.seen[dev] = min(f.seen[dev], seen[dev])
	}
}

// beginsWithFirst reports whether no own file is older than the inputs.
func (r *rewrite) beginsWithFirst() bool {
	entries, err := r.s.fs.ReadDir(r.s.ownDir())
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		n := parseFileName(e.Name())
		switch n.kind {
		case Raw, Compacted:
			return n.from < r.name.from
		case Odd:
			return isLogFile(e) && !slices.Contains(r.job.Inputs, e.Name())
		}
		return false
	})
}

// keepMentioned takes the memories out of may that another device's file says
// something older about: without the tombstone that would be live again.
func (r *rewrite) keepMentioned(may map[[16]byte]Stamp) error {
	if len(may) == 0 {
		return nil
	}
	files, err := r.s.Segments()
	if err != nil {
		return err
	}
	for _, g := range files {
		if g.Own || g.Kind == History {
			continue
		}
		if err := r.mentions(filepath.Join(r.s.data, g.Path()), may); err != nil {
			return err
		}
	}
	return nil
}

// mentions strikes out of may what a file of another device mentions. Of a line
// that is not understood anything may be mentioned.
func (r *rewrite) mentions(name string, may map[[16]byte]Stamp) error {
	f, err := r.s.fs.OpenRead(name)
	if err != nil {
		return err
	}
	defer f.Close()
	dev, _ := parseDevice(filepath.Base(filepath.Dir(name)))
	_, err = scanLines(r.ctx, f, atOnce(f, 0), func(b []byte, _ place, whole bool) error {
		l, _, is := classify(b, whole, dev)
		switch is {
		case verbatim, torn:
			clear(may)
		case counted:
			for _, c := range l.changes {
				if key := c.id.Bytes(); may[key].after(l.stamp) {
					delete(may, key)
				}
			}
		}
		return nil
	})
	return err
}
