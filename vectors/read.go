package vectors

import (
	"errors"
	"io"

	"emberd/internal/durable"
)

// file is one file of the folder, open for reading. All but end and sure is fixed once it is
// listed; these are guarded by Store.mu.
type file struct {
	name  string // without the folder
	own   bool
	head  header
	r     durable.ReadFile
	first int64 // where the records begin
	end   int64 // after the last whole record, or the last one written
	sure  int64 // before this all is on the disk, as the file itself says
	is    state
}

// openFile opens a file and reads its header.
func openFile(fsys durable.FS, dir, name string) (*file, error) {
	r, err := fsys.OpenRead(path(dir, name))
	if err != nil {
		return nil, err
	}
	f := &file{name: name, r: r}
	if err := f.readHeader(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return f, nil
}

func (f *file) readHeader() error {
	info, err := f.r.Stat()
	if err != nil {
		return err
	}
	f.is = stateOf(info)
	b := make([]byte, min(maxHeader, f.is.size))
	if _, err := f.r.ReadAt(b, 0); err != nil && err != io.EOF {
		return err
	}
	head, n, err := parseHeader(b)
	f.head, f.first, f.end, f.sure = head, int64(n), int64(n), int64(n)
	return err
}

// found is what readRecords found in the part of a file that it read: where the last whole record
// ends, and how many bytes before that are in none.
type found struct{ end, lost int64 }

// readRecords calls visit with every whole record from an offset, where one should begin, to
// size, and with where it is. The bytes are only lent. After an error of reading, what was
// visited is right as far as it goes.
//
// A file that is made to look full of records could have the same bytes summed over and over: no
// more of them are than the file has twice, and what follows is given up.
func readRecords(r io.ReaderAt, seed uint32, from, size int64, visit func(at int64, record []byte)) (found, error) {
	w := window{r: r, at: from, size: size}
	got := found{end: from}
	for vain := 2*(size-from) + maxPayload; vain > 0; {
		b, err := w.have(frameSize)
		if err != nil || len(b) < frameSize {
			return got, err
		}
		if n := recordSize(b); n > 0 && w.at+int64(n) <= size {
			if b, err = w.have(n); err != nil {
				return got, err
			}
			if len(b) >= n && whole(seed, b[:n]) {
				visit(w.at, b[:n])
				got.lost += w.at - got.end
				got.end = w.at + int64(n)
				w.skip(n)
				continue
			}
			vain -= int64(n)
		}
		w.skip(1 + nextMark(b[1:]))
	}
	return got, nil
}

// window is the part of a file that is in memory.
type window struct {
	r        io.ReaderAt
	at, size int64 // of the file: where buf begins, where to stop
	buf      []byte
	all      []byte // what buf is a part of
}

// windowSize is at least the longest record.
const windowSize = 1 << 20

// have returns what is in memory from at on, at least n bytes unless the file ends before.
func (w *window) have(n int) ([]byte, error) {
	if len(w.buf) >= n || w.at+int64(len(w.buf)) >= w.size {
		return w.buf, nil
	}
	if w.all == nil {
		w.all = make([]byte, min(windowSize, w.size-w.at))
	}
	kept := copy(w.all, w.buf)
	next := w.at + int64(kept)
	got, err := w.r.ReadAt(w.all[kept:kept+int(min(int64(len(w.all)-kept), w.size-next))], next)
	w.buf = w.all[:kept+got]
	if err == io.EOF { // shorter than it was
		w.size, err = next+int64(got), nil
	}
	return w.buf, err
}

func (w *window) skip(n int) {
	w.buf = w.buf[n:]
	w.at += int64(n)
}
