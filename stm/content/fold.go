package content

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"path/filepath"
	"strings"
	"time"

	"emberd/compaction"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// PartSize is how many memories are looked at in one reading of the files, roughly.
const PartSize = 50_000

// File is a file of a log by its slash-separated path below the data folder, and how much of it
// belongs to the log.
type File struct {
	Name   string
	Size   int64
	SHA256 string // of so many bytes, in hex; "" is not compared
}

// ErrChanged is the cause in the error for a file that is not what its checksum is of.
var ErrChanged = errors.New("the file changed")

// Folder is a log on the disk, as of one moment.
type Folder struct {
	FS     durable.FS
	Root   string // the data folder
	Files  []File
	Device record.Device // of the backup: its lines are never too far ahead
	Seq    uint64        // last sequence number of that device
	Now    time.Time
	Since  time.Time // deletes before cannot be reverted any more
	// Size is how many memories there are, roughly, and Part how many to look at in one reading; 0 is
	// [PartSize].
	Size, Part int
}

func (f *Folder) parts() int { return 1 + f.Size/cmp.Or(f.Part, PartSize) }

// fold is one reading of the files, for one part of the memories.
type fold struct {
	*Folder
	part     int
	table    *table.Table
	skipped  map[string]bool // files that a whole compacted one stands for
	floors   []record.Header
	floorAt  []record.Stamp
	held     []record.Line
	purgesOf Purges // besides those in the files
}

// each reads the files once for every part of the memories.
func (f *Folder) each(ctx context.Context, also Purges, fn func(*fold) error) error {
	skipped := f.replaced(ctx)
	for part := range f.parts() {
		d := &fold{Folder: f, part: part, table: table.NewTable(), skipped: skipped, purgesOf: also}
		if err := d.all(ctx); err != nil {
			return err
		}
		if err := fn(d); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Sum adds up the files.
func (f *Folder) Sum(ctx context.Context) (Summary, error) { return f.SumWithout(ctx, nil) }

// SumWithout adds up the files as they will be without the purged memories.
func (f *Folder) SumWithout(ctx context.Context, gone Purges) (Summary, error) {
	all := sums{}
	err := f.each(ctx, gone, func(d *fold) error {
		d.sum(all)
		return nil
	})
	return all.summary(), err
}

func (f *Folder) isLog(name string) bool {
	parts := strings.Split(name, "/")
	return len(parts) == 3 && parts[0] == "stm" && strings.HasSuffix(name, ".jsonl")
}

func (f *Folder) path(name string) string { return filepath.Join(f.Root, filepath.FromSlash(name)) }

// replaced lists the files that a whole compacted one stands for.
func (f *Folder) replaced(ctx context.Context) map[string]bool {
	names := map[string][]string{}
	for _, file := range f.Files {
		if f.isLog(file.Name) {
			names[path.Dir(file.Name)] = append(names[path.Dir(file.Name)], path.Base(file.Name))
		}
	}
	out := map[string]bool{}
	for dir, list := range names {
		for _, base := range list {
			for _, old := range compaction.StandsFor(ctx, f.FS, f.path(dir), base, list) {
				out[path.Join(dir, old)] = true
			}
		}
	}
	return out
}

func (d *fold) mine(key [16]byte) bool {
	return (int(key[14])<<8|int(key[15]))%d.parts() == d.part
}

func (d *fold) all(ctx context.Context) error {
	var files []File
	for _, file := range d.Files {
		kind := record.ParseName(path.Base(file.Name)).Kind
		if !d.isLog(file.Name) || kind == record.History || d.skipped[file.Name] {
			continue
		}
		if kind == record.Compacted {
			d.floor(file.Name)
		}
		files = append(files, file)
	}
	for _, file := range files {
		if err := d.file(ctx, file); err != nil {
			return fmt.Errorf("read %s: %w", file.Name, err)
		}
	}
	d.settle()
	return nil
}

// floor takes note of up to when tombstones were dropped, as a start does.
func (d *fold) floor(name string) {
	l, ok := record.HeadLine(d.FS, d.path(name))
	if !ok {
		return
	}
	h, err := record.DecodeHeader(l.Data)
	if err != nil {
		return
	}
	if at, err := record.ParseStamp(h.Floor); err == nil {
		d.floors, d.floorAt = append(d.floors, h), append(d.floorAt, at)
	}
}

// begun is a part of a file, whatever was appended since. It is read once from begin to end, as
// what is read is summed up.
type begun struct {
	durable.ReadFile
	size int64
	sum  hash.Hash
}

func (b begun) ReadAt(p []byte, at int64) (int, error) {
	n, err := io.NewSectionReader(b.ReadFile, 0, b.size).ReadAt(p, at)
	b.sum.Write(p[:n])
	return n, err
}

func (d *fold) file(ctx context.Context, file File) error {
	f, err := d.FS.OpenRead(d.path(file.Name))
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	in := record.NewLineReader(begun{f, file.Size, sum}, 0, 0)
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b, _, whole, err := in.Next()
		switch {
		case errors.Is(err, record.ErrGarbage):
			return nil
		case errors.Is(err, io.EOF):
			if file.SHA256 != "" && hex.EncodeToString(sum.Sum(nil)) != file.SHA256 {
				return ErrChanged
			}
			return nil
		case err != nil:
			return err
		}
		d.line(b, whole)
	}
}

// ofAnotherPart reports whether a line is about a memory of another part alone, by its beginning: so are most of a
// large log.
func (d *fold) ofAnotherPart(b []byte) bool {
	if d.parts() == 1 {
		return false
	}
	b = b[:min(len(b), 256)]
	_, after, ok := bytes.Cut(b, []byte(`,"op":"`))
	if !ok {
		return false
	}
	op, rest, _ := bytes.Cut(after, []byte(`","id":"`))
	switch string(op) {
	case record.OpPut, record.OpSet, record.OpDelete:
		id, err := memory.ParseID(string(rest[:min(len(rest), 36)]))
		return err == nil && !d.mine(id.Bytes())
	}
	return false
}

// line merges a line that a start would merge.
func (d *fold) line(b []byte, whole bool) {
	if d.ofAnotherPart(b) {
		return
	}
	good, err := record.Trim(b)
	if err != nil {
		if whole && errors.Is(err, record.ErrNoSum) {
			d.handEdit(b)
		}
		return
	}
	l, err := record.Decode(good)
	if err != nil || l.Version != record.FormatVersion || l.Stamp.IsZero() || l.Applicable() != nil {
		return
	}
	switch l.Op {
	case record.OpPut, record.OpSet, record.OpDelete, record.OpPurge, record.OpAll:
		d.take(&l)
	}
}

// handEdit merges a line that a person changed in an editor, at its own stamp.
func (d *fold) handEdit(b []byte) {
	l, err := record.ParseEdit(bytes.TrimSpace(b))
	if err == nil && record.IsHandEdit(bytes.TrimSpace(b)) && !l.Stamp.IsZero() {
		d.take(&l)
	}
}

// take merges what a line says of the memories of this part. Purges are of all parts, since
// any memory may have a relation to a purged one.
func (d *fold) take(l *record.Line) {
	if l.Stamp.Dev != d.Device && l.Stamp.Time().Sub(d.Now) > record.MaxSkew {
		return
	}
	changes := l.Changes
	l.Changes = nil
	for _, c := range changes {
		if c.Op == record.OpPurge || d.mine(c.ID.Bytes()) {
			l.Changes = append(l.Changes, c)
		}
	}
	switch {
	case len(l.Changes) == 0:
	case d.holds(l):
		d.held = append(d.held, l.Clone())
	default:
		d.merge(l)
	}
}

// holds reports whether a start keeps the line for a decision.
func (d *fold) holds(l *record.Line) bool {
	for i, h := range d.floors {
		if l.Stamp.Dev.String() != h.Dev && !l.Stamp.After(d.floorAt[i]) &&
			l.Seq > h.Seen[l.Stamp.Dev.String()] && d.table.Lacks(l) {
			return true
		}
	}
	return false
}

func (d *fold) merge(l *record.Line) {
	for i := range l.Changes {
		// A change that no row can take is passed over by a start, too.
		_, _ = d.table.Apply(&l.Changes[i], l, record.Place{})
	}
}

// settle merges the lines that are no longer in doubt, and takes relations to purged memories
// out.
func (d *fold) settle() {
	for again := true; again; {
		waiting := d.held
		d.held, again = nil, false
		for i := range waiting {
			if d.table.Lacks(&waiting[i]) {
				d.held = append(d.held, waiting[i])
				continue
			}
			d.merge(&waiting[i])
			again = true
		}
	}
	for _, l := range d.purgesOf.lines() {
		d.merge(&l)
	}
	gone := d.table.Purged()
	for key := range gone {
		if !d.mine(key) {
			gone[key] = d.table.PurgedAt(key)
		}
	}
	_ = d.table.UnrelateAll(gone) // all documents of this table are in memory
}

// row is what the files hold of a memory.
func (d *fold) row(key [16]byte) *table.Row {
	if c := d.table.Cell(key); c != nil {
		return c.Row.Load()
	}
	return &table.Row{Key: key}
}

func (d *fold) sum(to sums) {
	for _, c := range d.table.Every() {
		r := c.Row.Load()
		if !d.mine(r.Key) {
			continue
		}
		if g, ok := d.table.Graves[r.Key]; r.Live() {
			to.row(r)
		} else if ok && g.Stamp.Time().After(d.Since) {
			to.trashed(r.Key, g.Stamp)
		}
	}
}
