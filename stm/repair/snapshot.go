package repair

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"

	"emberd/internal/durable"
	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/record"
	"emberd/stm/snapshot"
	"emberd/stm/table"
)

// OfSnapshot reads what a snapshot says of the memories, and of the records that it has the effect
// of if no part of it is damaged.
func OfSnapshot(fsys durable.FS, name string) (*Folded, error) {
	h, err := snapshot.Witness(fsys, name)
	if err != nil {
		return nil, err
	}
	held := &Folded{Table: h.Table, Seen: device.NewNumbers()}
	if h.Meta != nil {
		for dev, seen := range h.Meta.Seen {
			if held.Seen.Of(dev); h.Damaged == 0 {
				held.Seen.Of(dev).AddAll(seen)
			}
		}
		if h.Damaged == 0 {
			held.Upto = make(map[string]int64, len(h.Meta.Files))
			for _, f := range h.Meta.Files {
				held.Upto[logName(f.Name)] = f.Size
			}
		}
		held.Seen.Of(h.Meta.Device).AddAll(&h.Meta.Lost) // given up, so missed by nobody
	}
	return held, nil
}

// logName is the name of a log file below the folder of the logs, wherever that is.
func logName(path string) string {
	return filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
}

// Covers reports whether a snapshot of which all is there had read a file beyond a place.
func (f *Folded) Covers(path string, at int64) bool { return at < f.Upto[logName(path)] }

// Loss is what a log misses.
type Loss struct {
	Healed               // what the snapshot would bring back
	Short  []string      // which files hold less than was written, in clauses
	Device record.Device // of the state folder
	Gone   record.Ranges // the numbers of its records that neither the files nor the snapshot explain
}

// Lost compares the snapshot of a state folder with the files of a log, and changes nothing.
func Lost(ctx context.Context, fsys durable.FS, data, state string, log *slog.Logger) (*Loss, error) {
	out := &Loss{}
	have, err := Fold(ctx, fsys, data, log)
	if errors.Is(err, fs.ErrNotExist) { // the folder is gone
		have, err = &Folded{Table: table.NewTable(), Seen: device.NewNumbers()}, nil
	}
	if err != nil {
		return nil, err
	}
	held, err := OfSnapshot(fsys, device.SnapshotIn(state))
	if errors.Is(err, fs.ErrNotExist) {
		held, err = &Folded{Table: table.NewTable(), Seen: device.NewNumbers()}, nil
	}
	if err != nil {
		return nil, err
	}
	out.Note(Missing(held.Table, have.Table))
	dev, known := device.Named(fsys, state)
	if !known {
		return out, nil
	}
	written := extent.Read(fsys, state, dev)
	files := extent.ShortFiles(fsys, filepath.Join(data, "stm", dev.String()), written)
	out.Device = dev
	out.missed(written, files, have.Seen.Of(dev), held.Seen.Of(dev))
	for _, f := range files {
		out.Short = append(out.Short, f.String())
	}
	return out, nil
}

// MissingMemories counts the memories that the snapshot of a state folder has and the files of a log have neither as a
// memory nor as a deleted one. A snapshot that cannot be read has none.
func MissingMemories(ctx context.Context, fsys durable.FS, data, state string, log *slog.Logger) (n int, err error) {
	held, err := OfSnapshot(fsys, device.SnapshotIn(state))
	if err != nil {
		return 0, nil
	}
	have, err := Fold(ctx, fsys, data, log)
	if errors.Is(err, fs.ErrNotExist) { // the folder is gone
		have, err = &Folded{Table: table.NewTable()}, nil
	}
	if err != nil {
		return 0, err
	}
	purged := have.Table.AllPurges()
	held.Table.Each(func(_ *table.Cell, r *table.Row) bool {
		if _, gone := purged[r.Key]; !gone && rowIn(have.Table, r.Key) == nil {
			n++
		}
		return true
	})
	return n, nil
}

// Explain takes out of what is gone the records that a copy has the effect of.
func (l *Loss) Explain(held *Folded) {
	_, left := held.Seen.Of(l.Device).Lacking(l.Gone.Last(), &l.Gone)
	l.Gone = left
}

// missed takes note of the numbers that no file has, and of those that a copy has the effect of.
func (l *Loss) missed(written map[string]extent.Extent, short []extent.ShortFile, have, held *record.Ranges) {
	last := max(have.Last(), held.Last())
	for _, e := range written {
		last = max(last, e.Last)
	}
	for _, f := range short {
		unfelt := f.Unfelt()
		held.AddAll(&unfelt)
	}
	all, known := have.Lacking(last, held)
	l.Records, l.Covered = all.Count(), known.Count()
	_, l.Gone = held.Lacking(last, &all)
}
