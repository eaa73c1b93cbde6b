package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"emberd/internal/durable"
	"emberd/stm/docfile"
	"emberd/stm/journal"
	"emberd/stm/record"
	"emberd/stm/table"
)

// Held is what a snapshot says of the memories of a log, whether or not it fits the log that is there.
type Held struct {
	Version int
	Meta    *Meta        // nil when that part is damaged
	Table   *table.Table // rows, deletes and purges; nothing is indexed, and no document number counts
	Parts   int          // of these kinds that were found
	Damaged int          // of them not, or not wholly, read; and the directory, without which some may not be found
	Files   int          // of documents that it refers to
}

// Witness reads the memories, deletes and purges of a snapshot, and the meta part, into a table of
// its own. The analyzer may be another, the files of the log may have changed or be gone, and the
// snapshot may be another device's. Parts that are damaged are passed over and counted; the places of
// deletes count only while Meta names their files. Version 5 has one checksum, so it is read whole or not
// at all. An error says that the file is not there, cannot be read, is no snapshot, is of a version that
// this program does not know, or is of version 5 and damaged.
func Witness(fsys durable.FS, name string) (*Held, error) {
	in, err := fsys.OpenRead(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	f := &File{in: in, size: info.Size(), fsys: fsys, dir: filepath.Dir(name)}
	h := &Held{Table: table.NewTable()}
	if err = f.readVersion(); err != nil {
		return nil, err
	}
	h.Version = f.version
	switch {
	case h.Version == versionWithOneSum:
		return h, f.witnessOneSum(h)
	case f.known():
		if f.readDirectory() != nil {
			h.Damaged++
			f.search()
		}
		f.witness(h)
		return h, nil
	}
	return nil, fmt.Errorf("the snapshot %s has version %d, which this version of emberd does not support", name,
		h.Version)
}

// search finds the parts by their headers.
func (f *File) search() {
	f.parts = nil
	for at := int64(headerSize); at+partHeader <= f.size; {
		if e, ok := f.partAt(at); ok {
			f.parts, at = append(f.parts, e), e.end()
		} else {
			at = f.nextPart(at + 8)
		}
	}
}

// partAt reads the header of a part.
func (f *File) partAt(at int64) (entry, bool) {
	b, err := f.read(at, partHeader)
	if err != nil || string(b[:4]) != partMagic || binary.LittleEndian.Uint32(b[20:]) != sumOf(b[:20]) {
		return entry{}, false
	}
	e := entry{kind: kind(b[4:8]), length: int64(binary.LittleEndian.Uint64(b[8:])),
		count: binary.LittleEndian.Uint32(b[16:]), at: at}
	if e.length < 0 || e.length > f.size-at || e.end() > f.size {
		return e, false
	}
	sums, err := f.read(e.end()-e.sumsSize(), e.sumsSize())
	e.sums = sumOf(sums)
	return e, err == nil
}

// stride is how much is searched at once, and maxSearch in all for one part: all but the last are of
// about a MiB, and a file with a hole has any number of bytes.
const (
	stride    = 1 << 16
	maxSearch = 1 << 24
)

// nextPart is where something from at on begins like a part, or the end of the file.
func (f *File) nextPart(at int64) int64 {
	for end := min(f.size, at+maxSearch); at+partHeader <= end; at += stride {
		b, err := f.read(at, min(stride, f.size-at))
		if err != nil || len(bytes.Trim(b, "\x00")) == 0 { // a hole, behind which nothing is left
			return f.size
		}
		for i := 0; i+len(partMagic) <= len(b); i += 8 {
			if string(b[i:i+len(partMagic)]) == partMagic {
				return at + int64(i)
			}
		}
	}
	return f.size
}

// witness takes all parts that are whole.
func (f *File) witness(h *Held) {
	in, d := filling{t: h.Table, version: f.version}, &record.Decoder{}
	in.files = f.documentsLeft(h)
	defer closeAll(in.files)
	for i := range f.parts {
		e := &f.parts[i]
		if !slices.Contains(witnessed, e.kind) {
			continue
		}
		h.Parts++
		b, err := f.body(e)
		if err != nil {
			h.Damaged++
			continue
		}
		d.B, d.At, d.Err = b, 0, nil
		if take(d, e, &in, h); d.Err != nil {
			h.Damaged++
		}
	}
	h.fetch()
}

// documentsLeft opens the files of documents that are there. Rows of the others, which are counted, have none that can
// be read.
func (f *File) documentsLeft(h *Held) []*table.DocFile {
	names, err := f.documentNames()
	if err != nil {
		h.Damaged++
	}
	files := make([]*table.DocFile, len(names))
	for i, name := range names {
		h.Files++
		files[i] = &table.DocFile{}
		if files[i].File, err = f.openOne(name); err != nil {
			h.Damaged++
			files[i].File = docfile.None()
		}
	}
	return files
}

// fetch reads the documents of all rows into memory. Memories whose document cannot be read are taken out and counted.
func (h *Held) fetch() {
	for _, c := range h.Table.Every() {
		row := c.Row.Load()
		if in, _ := table.Away(row); in == nil {
			continue
		}
		if c.Fetch() != nil {
			h.Damaged++
			delete(h.Table.Cells, row.Key)
		}
	}
}

// witnessed are the parts that tell of memories.
var witnessed = []kind{kindMeta, kindRows, kindOpened, kindGraves, kindPurges}

func take(d *record.Decoder, e *entry, in *filling, h *Held) {
	n := int(e.count)
	switch e.kind {
	case kindMeta:
		if m := getMeta(d); d.Err == nil {
			h.Meta = m
		}
	case kindRows:
		in.rows(d, min(n, len(d.B)/rowSize))
	case kindOpened:
		in.opened(d, min(n, len(d.B)/openedSize))
	case kindGraves:
		getGraves(d, min(n, len(d.B)/graveSize), h.Table, math.MaxInt)
	case kindPurges:
		getPurges(d, min(n, len(d.B)/purgeSize), h.Table)
	}
}

// versionWithOneSum is a header, the contents of meta, refs, undo, keys, rows, dels and purg with the
// number of items before each list, the word index, and the sum of all before it.
const versionWithOneSum = 5

func (f *File) witnessOneSum(h *Held) error {
	b, err := f.read(0, f.size)
	if err != nil {
		return err
	}
	n := len(b) - 4
	if binary.LittleEndian.Uint32(b[n:]) != sumOf(b[:n]) {
		return record.ErrChecksum
	}
	d := &record.Decoder{B: b[:n:n], At: len(Magic) + 1}
	h.Parts, h.Meta = 1, getMeta(d)
	passed := journal.NewJournal(nil, nil)
	getRefs(d, d.Count(refSize), passed, math.MaxInt)
	getUndone(d, d.Count(32), passed)
	getKeys(d, d.Count(5), journal.NewIdemKeys())
	in := filling{t: h.Table, version: withPlainRows}
	in.rows(d, d.Count(rowSize))
	getGraves(d, d.Count(graveSize), h.Table, math.MaxInt)
	getPurges(d, d.Count(purgeSize), h.Table)
	if d.Err != nil {
		return errors.Join(errNone, d.Err)
	}
	return nil
}
