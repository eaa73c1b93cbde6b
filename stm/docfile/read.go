package docfile

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"

	"emberd/internal/durable"
	"emberd/stm/record"
)

// The format is on disk: these never change.
const (
	magic   = "emberdoc"
	version = 1
	prefix  = "docs-"
	suffix  = ".doc"
	// Begin is how many bytes a file has before its first record.
	Begin = 16
	// Overhead is how many bytes a record has before its document.
	Overhead = 24
)

// ErrDamaged is the cause in the error for a document that is not what was written.
var ErrDamaged = errors.New("the document differs from the data that emberd wrote")

// slots is how many of the documents that were read last a file keeps in memory, and maxKept how long they may be: a
// request reads the same document many times in a row.
const (
	slots   = 64
	maxKept = 16 << 10
)

// kept is a document that was read.
type kept struct {
	at  uint32
	doc []byte
}

// File is an open file of documents. It may be shared. It is closed when nothing refers to it any more, or at Close.
type File struct {
	name string
	in   durable.ReadFile
	size int64
	bad  atomic.Bool
	kept [slots]atomic.Pointer[kept]
}

// Open opens a file that [Create] made.
func Open(fsys durable.FS, name string) (*File, error) {
	in, err := fsys.OpenRead(name)
	if err != nil {
		return nil, err
	}
	head := make([]byte, Begin)
	info, err := in.Stat()
	if err == nil {
		_, err = in.ReadAt(head, 0)
	}
	if err == nil && string(head) != string(header()) {
		err = fmt.Errorf("%s: %w", filepath.Base(name), ErrDamaged)
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return &File{name: name, in: in, size: info.Size()}, nil
}

// None is a file that is not there: no document can be read from it.
func None() *File { return &File{in: nothing{}} }

// nothing is what is read of a file that is not there.
type nothing struct{ durable.ReadFile }

func (nothing) Close() error { return nil }

func header() []byte { return append([]byte(magic), version, 0, 0, 0, 0, 0, 0, 0) }

// Name is the path of the file, and Size its bytes.
func (f *File) Name() string { return f.name }

// Size is how many bytes the file has.
func (f *File) Size() int64 { return f.size }

// Close closes the file. No document can be read from it then.
func (f *File) Close() error { return f.in.Close() }

// Shun notes that the file holds a document that cannot be read, or is to be removed: nothing that is written may count
// on it. Shunned reports that.
func (f *File) Shun() { f.bad.Store(true) }

// Shunned reports whether the file was shunned.
func (f *File) Shunned() bool { return f.bad.Load() }

// Read returns the document of n bytes of a memory, whose record begins at. It must not be changed. An error says that
// the file cannot be read there, or does not hold that document ([ErrDamaged]).
func (f *File) Read(key [16]byte, at, n uint32) ([]byte, error) {
	slot := &f.kept[(at>>3)%slots]
	if k := slot.Load(); k != nil && k.at == at {
		return k.doc, nil
	}
	if int64(at)+Overhead+int64(n) > f.size {
		return nil, f.damaged(at)
	}
	b := make([]byte, Overhead+int(n))
	if got, err := f.in.ReadAt(b, int64(at)); got < len(b) {
		return nil, fmt.Errorf("%s at %d: %w", filepath.Base(f.name), at, errors.Join(err, io.ErrUnexpectedEOF))
	}
	if [16]byte(b) != key || binary.LittleEndian.Uint32(b[16:]) != n || !sound(b) {
		return nil, f.damaged(at)
	}
	doc := b[Overhead:]
	if n <= maxKept {
		slot.Store(&kept{at, doc})
	}
	return doc, nil
}

func (f *File) damaged(at uint32) error {
	return fmt.Errorf("%s at %d: %w", filepath.Base(f.name), at, ErrDamaged)
}

// sound reports whether the sum of a record is right.
func sound(b []byte) bool { return binary.LittleEndian.Uint32(b[20:]) == sumOf(b) }

func sumOf(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:20], record.Castagnoli), record.Castagnoli, b[Overhead:])
}

// Check reads a file from begin to end and compares all sums.
func Check(ctx context.Context, fsys durable.FS, name string) error {
	f, err := Open(fsys, name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(io.NewSectionReader(f.in, Begin, f.size-Begin), 1<<16)
	for at := int64(Begin); at < f.size; {
		b, err := next(in, f.size-at)
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s at %d: %w", filepath.Base(name), at, err)
		}
		at += int64(len(b))
	}
	return nil
}

// next reads a record of at most so many bytes.
func next(in *bufio.Reader, left int64) ([]byte, error) {
	head, err := in.Peek(Overhead)
	if err != nil {
		return nil, err
	}
	n := Overhead + int64(binary.LittleEndian.Uint32(head[16:]))
	if n > left {
		return nil, ErrDamaged
	}
	b := make([]byte, n)
	if _, err = io.ReadFull(in, b); err == nil && !sound(b) {
		err = ErrDamaged
	}
	return b, err
}

// IsName reports whether a file of a folder has a name that [Create] gives.
func IsName(base string) bool {
	return strings.HasPrefix(base, prefix) && strings.HasSuffix(base, suffix)
}
