package compaction

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"emberd/memory"
	"emberd/stm/record"
)

// dropTombstones removes memories from the fold that all devices have deleted.
func (r *compactionRun) dropTombstones() error {
	may := map[[16]byte]record.Stamp{}
	if r.job.Droppable != nil && !r.fold.opaque && r.beginsWithFirst() {
		for key, row := range r.fold.rows {
			if row.dead() && !row.fingerprinted() && r.job.Droppable(row.tomb.Time(), row.tombSeq) {
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
func (r *compactionRun) raiseFloor() {
	var at record.Stamp
	for _, tomb := range r.dropped {
		at = record.Later(at, tomb)
	}
	if at.IsZero() {
		return
	}
	seen := map[string]uint64{}
	for dev, upto := range r.Seen() {
		seen[dev.String()] = upto
	}
	r.fold.hold(at, seen)
}

// hold joins two floors into one that holds back what either would.
func (f *Fold) hold(at record.Stamp, seen map[string]uint64) {
	f.floor = record.Later(f.floor, at)
	if f.seen == nil {
		f.seen = maps.Clone(seen)
		return
	}
	for dev := range f.seen {
		f.seen[dev] = min(f.seen[dev], seen[dev])
	}
}

// beginsWithFirst reports whether no own file is older than the inputs.
func (r *compactionRun) beginsWithFirst() bool {
	entries, err := r.FS.ReadDir(r.Dir)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		n := record.ParseName(e.Name())
		switch n.Kind {
		case record.Raw, record.Compacted:
			return n.From < r.name.From
		case record.Odd:
			return record.IsLogFile(e) && !slices.Contains(r.job.Inputs, e.Name())
		}
		return false
	})
}

// keepMentioned takes the memories out of may that another device's file says
// something older about: without the tombstone that would be live again.
func (r *compactionRun) keepMentioned(may map[[16]byte]record.Stamp) error {
	if len(may) == 0 {
		return nil
	}
	files, err := r.Foreign()
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := r.mentions(name, may); err != nil {
			return err
		}
	}
	return nil
}

// mentions strikes out of may what a file of another device mentions. Of a line
// that is not understood anything may be mentioned, and in what is not read of a file.
func (r *compactionRun) mentions(name string, may map[[16]byte]record.Stamp) error {
	f, err := r.FS.OpenRead(name)
	if err != nil {
		return err
	}
	defer f.Close()
	dev, _ := record.ParseDevice(filepath.Base(filepath.Dir(name)))
	_, err = record.ScanLines(r.ctx, f, record.AtOnce(f, 0), func(b []byte, _ record.Place, whole bool) error {
		l, _, is := record.Classify(b, whole, dev)
		switch is {
		case record.Verbatim, record.Torn:
			clear(may)
		case record.Counted:
			for _, c := range l.Changes {
				if key := c.ID.Bytes(); may[key].After(l.Stamp) {
					delete(may, key)
				}
			}
		}
		return nil
	})
	if errors.Is(err, record.ErrGarbage) || memory.CodeOf(err) == memory.Invalid { // a line beyond MaxLine
		clear(may)
		return nil
	}
	return err
}
