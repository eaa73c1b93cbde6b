package docfile

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"io"
	"path/filepath"
	"strings"

	"emberd/internal/durable"
)

// MaxSize is about how many bytes a file may get: so much is written again at most when a document must go.
const MaxSize = 32 << 20

// syncEvery is after how many bytes a file is synced while it is written, so that no sync takes long.
const syncEvery = 4 << 20

// Writer writes the records of a file.
type Writer struct {
	to       io.Writer
	out      *bufio.Writer
	at       int64
	unsynced int
	err      error
}

// Create makes a file with a name of its own in a folder, with the documents that write adds, and opens it. When it
// returns no error, the file and its name are on the disk; else there is no file.
func Create(fsys durable.FS, dir string, write func(*Writer) error) (*File, error) {
	name := filepath.Join(dir, prefix+strings.ToLower(rand.Text())+suffix)
	err := durable.CreateFile(fsys, name, func(to io.Writer) error {
		w := &Writer{to: to, out: bufio.NewWriterSize(to, 1<<16)}
		w.put(header())
		if err := write(w); err != nil {
			return err
		}
		if w.err != nil {
			return w.err
		}
		return w.out.Flush()
	})
	if err != nil {
		return nil, err
	}
	return Open(fsys, name)
}

// Size is how many bytes were added.
func (w *Writer) Size() int64 { return w.at }

// Add adds a document and returns where its record begins.
func (w *Writer) Add(key [16]byte, doc []byte) (at uint32, err error) {
	at = uint32(w.at)
	var head [Overhead]byte
	copy(head[:], key[:])
	binary.LittleEndian.PutUint32(head[16:], uint32(len(doc)))
	b := append(head[:], doc...)
	binary.LittleEndian.PutUint32(b[20:], sumOf(b))
	w.put(b)
	if w.unsynced >= syncEvery {
		w.sync()
	}
	return at, w.err
}

func (w *Writer) put(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
		w.at += int64(len(b))
		w.unsynced += len(b)
	}
}

func (w *Writer) sync() {
	if w.err == nil {
		w.unsynced, w.err = 0, w.out.Flush()
	}
	if disk, ok := w.to.(interface{ Sync() error }); ok && w.err == nil {
		w.err = disk.Sync()
	}
}
