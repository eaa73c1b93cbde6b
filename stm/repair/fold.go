package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"

	"emberd/compaction"
	"emberd/internal/contain"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/record"
	"emberd/stm/table"
)

// Folded is what log files add up to.
type Folded struct {
	Table *table.Table
	Seen  *device.Numbers // of the records in them, and those that headers account for
	// Upto is how far a snapshot had read the files, by device and name, if all of it is there.
	Upto map[string]int64

	fs    durable.FS
	files []string // that [Folded.Whole] reads
}

// Fold returns what the log files under data add up to as they are on the disk: those that a
// start reads, histories aside. Damaged lines are passed over. A file that cannot be read counts
// as one that holds nothing. The error is that of listing the files, or of ctx. It takes as much
// memory as the table.
func Fold(ctx context.Context, fsys durable.FS, data string, log *slog.Logger) (*Folded, error) {
	names, err := record.LogFiles(fsys, data)
	if err != nil {
		return nil, err
	}
	f, err := fold(ctx, fsys, slices.DeleteFunc(slices.Clone(names), isHistory), log)
	if err == nil {
		f.files = names
	}
	return f, err
}

// FoldHistories is [Fold] for the histories: what was superseded or deleted when compactions
// were made.
func FoldHistories(ctx context.Context, fsys durable.FS, data string, log *slog.Logger) (*Folded, error) {
	names, err := record.LogFiles(fsys, data)
	if err != nil {
		return nil, err
	}
	return fold(ctx, fsys, slices.DeleteFunc(names, func(name string) bool { return !isHistory(name) }), log)
}

func isHistory(name string) bool { return record.ParseName(filepath.Base(name)).Kind == record.History }

func fold(ctx context.Context, fsys durable.FS, names []string, log *slog.Logger) (*Folded, error) {
	f := folder{log: log, kept: map[string][]record.Kept{},
		Folded: Folded{Table: table.NewTable(), Seen: device.NewNumbers(), fs: fsys, files: names}}
	for _, name := range names {
		if err := f.file(ctx, name); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		} else if err != nil {
			log.Debug("log file not read for a comparison", "file", name, "error", err)
		}
	}
	for dev, numbers := range Believed(ctx, fsys, f.kept) {
		f.Seen.Of(dev).AddAll(numbers)
	}
	return &f.Folded, nil
}

// folder folds files into a table.
type folder struct {
	Folded
	log  *slog.Logger
	kept map[string][]record.Kept // what headers say, by path
}

func (f *folder) file(ctx context.Context, name string) error {
	if record.ParseName(filepath.Base(name)).Kind == record.Compacted {
		f.compacted(ctx, name)
	}
	return eachLine(ctx, f.fs, name, func(b []byte) { f.line(name, b) })
}

// eachLine calls fn for the lines of a file until ctx ends.
func eachLine(ctx context.Context, fsys durable.FS, name string, fn func(b []byte)) error {
	in, err := fsys.OpenRead(name)
	if err != nil {
		return fmt.Errorf("cannot open a log file: %w", err)
	}
	defer in.Close()
	lines := record.NewLineReader(in, 0, 0)
	for n := 0; n%1024 != 0 || ctx.Err() == nil; n++ {
		b, _, _, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read a log file: %w", err)
		}
		fn(b)
	}
	return nil
}

// Document returns a row as the files of a log under data have it. If the row is not the latest one, and they no longer
// have it, it is the latest one: what came after the row is merged with it again, which changes nothing.
func Document(fsys durable.FS, data string, r *table.Row, purged record.Redaction) (*table.Row, error) {
	row, err := one(fsys, data, r.Key, r.Latest(), purged)
	if err == nil && row.Latest() == r.Latest() {
		return row, nil
	}
	row, err = one(fsys, data, r.Key, record.MaxStamp(), purged)
	if err == nil && (!row.Live() || r.Latest().After(row.Latest())) {
		err = errors.New("the files contain another version of the memory")
	}
	return row, err
}

// one returns what the log files under data add up to for one memory until a stamp, histories aside, less its relations
// to purged memories. An error says that a file cannot be read, or that none has the memory.
func one(fsys durable.FS, data string, key [16]byte, until record.Stamp, purged record.Redaction) (*table.Row, error) {
	names, err := record.LogFiles(fsys, data)
	if err != nil {
		return nil, err
	}
	t, id := table.NewTable(), []byte(memory.IDFromBytes(key))
	for _, name := range slices.DeleteFunc(names, isHistory) {
		err := eachLine(context.Background(), fsys, name, func(b []byte) {
			l, sound := record.Line{}, false
			if bytes.Contains(b, id) {
				l, sound = decoded(b)
				sound = sound && !l.Stamp.After(until)
			}
			l.Changes = slices.DeleteFunc(l.Changes, func(c record.Change) bool { return c.ID.Bytes() != key })
			for i := range l.Changes {
				if sound {
					// A change that no row can take is passed over by a start, too.
					_, _ = t.Apply(&l.Changes[i], &l, l.At)
				}
			}
		})
		if err != nil && !errors.Is(err, record.ErrGarbage) {
			return nil, err
		}
	}
	if err := t.UnrelateAll(purged); err != nil {
		return nil, err
	}
	if c := t.Cell(key); c != nil {
		return c.Row.Load(), nil
	}
	return nil, errors.New("no log file contains the memory")
}

// decoded returns a line, whose slices are its own, if it is sound.
func decoded(b []byte) (l record.Line, sound bool) {
	good, err := record.Trim(b)
	if err != nil {
		return l, false
	}
	l, err = record.Decode(bytes.Clone(good))
	return l, err == nil && l.Version == record.FormatVersion && !l.Stamp.IsZero() && l.Applicable() == nil
}

// line merges a line if it is sound.
func (f *folder) line(name string, b []byte) {
	l, sound := decoded(b)
	if !sound {
		return
	}
	if l.Op == record.OpSegment {
		f.given(name, &l)
		return
	}
	if l.Seq > 0 {
		f.Seen.Add(l.Stamp.Dev, l.Seq, l.Seq)
	}
	err := contain.Do(f.log, contain.Line, l.Stamp.String(), func() error { return Apply(f.Table, &l) })
	if err != nil {
		f.log.Debug("log line not read for a comparison", "stamp", l.Stamp, "error", err)
	}
}

// compacted takes the numbers that a whole compacted file stands for.
func (f *folder) compacted(ctx context.Context, name string) {
	h, err := compaction.Inspect(ctx, f.fs, name)
	dev, ok := record.ParseDevice(h.Dev)
	if err == nil && ok && h.First > 0 {
		f.Seen.Of(dev).AddAll(h.Accounted())
	}
}

// given takes the numbers that a header gives up.
func (f *folder) given(name string, l *record.Line) {
	h, err := record.DecodeHeader(l.Data)
	if err != nil {
		return
	}
	f.kept[name] = h.Kept
	for _, lost := range h.Lost {
		f.Seen.Add(l.Stamp.Dev, lost[0], lost[1])
	}
}

// Apply merges a line into a table, one that no log owns.
func Apply(t *table.Table, l *record.Line) error {
	if l.Op == record.OpUse {
		return record.DecodeUse(l.Data, l.Stamp.Dev, t.Raise)
	}
	for i := range l.Changes {
		if _, err := t.Apply(&l.Changes[i], l, l.At); err != nil {
			return err
		}
	}
	t.ClearFingerprint(l.Lift, l.Stamp)
	return nil
}
