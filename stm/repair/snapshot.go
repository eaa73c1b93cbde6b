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
				held.Upto[f.Name] = f.Size
			}
		}
		held.Seen.Of(h.Meta.Device).AddAll(&h.Meta.Lost) // given up, so missed by nobody
	}
	return held, nil
}

// Lost compares the snapshot of a state folder with the files of a log, and changes nothing: it
// returns what a repair would bring back, and in clauses which files hold less than was written.
func Lost(ctx context.Context, fsys durable.FS, data, state string,
	log *slog.Logger) (got Healed, short []string, err error) {
	have, err := Fold(ctx, fsys, data, log)
	if errors.Is(err, fs.ErrNotExist) { // the folder is gone
		have, err = &Folded{Table: table.NewTable(), Seen: device.NewNumbers()}, nil
	}
	if err != nil {
		return got, nil, err
	}
	held, err := OfSnapshot(fsys, device.SnapshotIn(state))
	if errors.Is(err, fs.ErrNotExist) {
		held, err = &Folded{Table: table.NewTable(), Seen: device.NewNumbers()}, nil
	}
	if err != nil {
		return got, nil, err
	}
	got.Note(Missing(held.Table, have.Table))
	dev, known := device.Named(fsys, state)
	if !known {
		return got, nil, nil
	}
	written := extent.Read(fsys, state, dev)
	files := extent.ShortFiles(fsys, filepath.Join(data, "stm", dev.String()), written)
	got.Records, got.Covered = missed(written, have.Seen.Of(dev), held.Seen.Of(dev))
	for _, f := range files {
		short = append(short, f.String())
	}
	return got, short, nil
}

// missed counts the numbers that no file has, and those of them that a copy has the effect of.
func missed(written map[string]extent.Extent, have, held *record.Ranges) (all, covered int) {
	last := max(have.Last(), held.Last())
	for _, e := range written {
		last = max(last, e.Last)
	}
	gone, known := have.Lacking(last, held)
	return gone.Count(), known.Count()
}
