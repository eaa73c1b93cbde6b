package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"

	"emberd/internal/durable"
	"emberd/stm/device"
	"emberd/stm/record"
)

var errNone = errors.New("not a snapshot")

// File is a snapshot whose directory is whole. It may be read by several goroutines.
type File struct {
	in      io.ReaderAt
	size    int64
	parts   []entry
	version int
	fsys    durable.FS // where files of documents are, nil for a snapshot that has none
	dir     string
}

// Open opens the snapshot with a name and reads its directory, which a file that was cut does not
// have. One of another version is [ErrStale], one that is not there [fs.ErrNotExist].
func Open(fsys durable.FS, name string) (*File, io.Closer, error) {
	in, err := fsys.OpenRead(name)
	if err != nil {
		return nil, nil, err
	}
	f, err := openFile(in)
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	f.fsys, f.dir = fsys, filepath.Dir(name)
	return f, in, nil
}

func openFile(in durable.ReadFile) (*File, error) {
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	return Parse(in, info.Size())
}

// Parse is [Open] for what is open, or in memory.
func Parse(in io.ReaderAt, size int64) (*File, error) {
	f := &File{in: in, size: size}
	if err := f.readVersion(); err != nil {
		return nil, err
	}
	if !f.known() {
		return nil, fmt.Errorf("%w: version %d", ErrStale, f.version)
	}
	return f, f.readDirectory()
}

// known reports whether the file has parts that this program reads.
func (f *File) known() bool { return withPlainRows <= f.version && f.version <= Version }

// readVersion checks what the file begins with.
func (f *File) readVersion() error {
	if f.size < headerSize+trailer {
		return fmt.Errorf("%w: the file has only %d bytes", errNone, f.size)
	}
	b, err := f.read(0, headerSize)
	if err != nil {
		return err
	}
	if string(b[:len(Magic)]) != Magic {
		return errNone
	}
	f.version = int(b[len(Magic)])
	if want := fileHeader(); f.known() {
		if want[len(Magic)] = byte(f.version); !bytes.Equal(b, want) {
			return errNone
		}
	}
	return nil
}

// read returns bytes that the file has there.
func (f *File) read(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || n > f.size-at {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	if got, err := f.in.ReadAt(b, at); got < len(b) {
		return nil, errors.Join(err, io.ErrUnexpectedEOF)
	}
	return b, nil
}

// readDirectory takes no more memory than a directory of a file of this size can need.
func (f *File) readDirectory() error {
	b, err := f.read(f.size-trailer, trailer)
	if err != nil {
		return err
	}
	at, n := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint32(b[8:]))
	switch {
	case string(b[24:]) != endMagic:
		return fmt.Errorf("%w: the file is incomplete", errNone)
	case binary.LittleEndian.Uint32(b[20:]) != sumOf(b[:20]):
		return record.ErrChecksum
	case at < headerSize || at != f.size-trailer-n*entrySize:
		return fmt.Errorf("%w: the directory of the file is at a wrong position", errNone)
	}
	dir, err := f.read(at, n*entrySize)
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(b[12:]) != sumOf(dir) {
		return record.ErrChecksum
	}
	return f.list(dir, at)
}

// list checks that the parts fill the file up to the directory.
func (f *File) list(dir []byte, until int64) error {
	next := int64(headerSize)
	for ; len(dir) > 0; dir = dir[entrySize:] {
		e := entry{kind: kind(dir[:4]), count: binary.LittleEndian.Uint32(dir[4:]),
			at: int64(binary.LittleEndian.Uint64(dir[8:])), length: int64(binary.LittleEndian.Uint64(dir[16:])),
			sums: binary.LittleEndian.Uint32(dir[24:])}
		if e.at != next || e.length < 0 || e.length > until-next {
			return fmt.Errorf("%w: a part of the file is at a wrong position", errNone)
		}
		next = e.end()
		f.parts = append(f.parts, e)
	}
	if next != until {
		return fmt.Errorf("%w: a part of the file is missing", errNone)
	}
	return nil
}

// of returns the parts of one kind.
func (f *File) of(k kind) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for i := range f.parts {
			if f.parts[i].kind == k && !yield(&f.parts[i]) {
				return
			}
		}
	}
}

// count is how many items of size bytes at least the parts of one kind can hold.
func (f *File) count(k kind, size int64) (n int) {
	for e := range f.of(k) {
		n += int(min(int64(e.count), e.length/size))
	}
	return n
}

// content is body for a part whose header is right, too.
func (f *File) content(e *entry) ([]byte, error) {
	head, err := f.read(e.at, partHeader)
	if err == nil && !bytes.Equal(head, e.header()) {
		err = record.ErrChecksum
	}
	if err != nil {
		return nil, fmt.Errorf("part %q at %d: %w", e.kind, e.at, err)
	}
	return f.body(e)
}

// body reads a part and returns its content, once every sum of it is right. The caller owns it.
func (f *File) body(e *entry) ([]byte, error) {
	size := padded(e.length)
	b, err := f.read(e.at+partHeader, size+e.sumsSize())
	if err == nil && (sumOf(b[size:]) != e.sums || !bytes.Equal(blockSums(b[:size]), b[size:])) {
		err = record.ErrChecksum
	}
	if err != nil {
		return nil, fmt.Errorf("part %q at %d: %w", e.kind, e.at, err)
	}
	return b[:e.length:e.length], nil
}

// blockSums are the sums that stand behind a content.
func blockSums(content []byte) []byte {
	b := body{pass: func([]byte) error { return nil }}
	_, _ = b.Write(content) // it only adds up
	return b.finish()
}

// Check compares the snapshot in a state folder, if there is one, with its checksums.
// A start does the same and does without one that is damaged.
func Check(fsys durable.FS, state string) error {
	name := device.SnapshotIn(state)
	f, in, err := Open(fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, ErrStale):
		_, err = Witness(fsys, name) // an earlier version
	case err == nil:
		defer in.Close()
		err = errors.Join(f.check(), f.checkDocuments())
	}
	if err != nil {
		return fmt.Errorf("cannot use the snapshot %s: %w", name, err)
	}
	return nil
}

// check reads all of it, a part at a time.
func (f *File) check() error {
	for i := range f.parts {
		if _, err := f.content(&f.parts[i]); err != nil {
			return err
		}
	}
	return nil
}
