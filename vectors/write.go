package vectors

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"emberd/internal/durable"
)

// writer is the end of an own file that records are appended to.
type writer struct {
	f      durable.File
	file   *file
	number int
	end    int64 // of the last whole record
	torn   bool  // there is something after the end
	dirty  bool  // written since the last sync
}

// Put stores vectors. A key that is there is passed over. When one of the vectors does not have
// the store's dimension, or is neither of unit length nor all zeros, none is stored.
func (s *Store) Put(entries []Entry) error {
	for i := range entries {
		if err := s.checkVector(entries[i].Vector); err != nil {
			return err
		}
	}
	s.write.Lock()
	defer s.write.Unlock()
	entries = s.fresh(entries)
	if len(entries) == 0 && !s.closed {
		return nil
	}
	at := make([]int64, len(entries))
	f, err := s.append(func(b []byte, seed uint32) []byte {
		for i, e := range entries {
			at[i] = int64(len(b))
			b = appendVector(b, seed, e)
		}
		return b
	})
	if err != nil {
		return fmt.Errorf("cannot store vectors in %s: %w", s.dir, err)
	}
	s.learn(entries, f, at)
	s.fileFull()
	return nil
}

// learn adds vectors that were written, each so far behind the end of the file as it was.
func (s *Store) learn(entries []Entry, f *file, at []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	start := f.end
	for i, e := range entries {
		s.index.learn(e.Key, e.Vector, f, start+at[i])
	}
	f.end = s.writer.end
}

func (s *Store) checkVector(v []float32) error {
	if len(v) != s.opt.Dim {
		return fmt.Errorf("cannot store a vector in %s: the vector has %d components instead of %d", s.dir, len(v),
			s.opt.Dim)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum != 0 && !(math.Abs(sum-1) < 0.02) {
		return fmt.Errorf("cannot store a vector in %s: the vector has the length %.3g instead of 1", s.dir,
			math.Sqrt(sum))
	}
	return nil
}

// fresh are the entries that are not there yet, each once.
func (s *Store) fresh(entries []Entry) []Entry {
	s.mu.RLock()
	defer s.mu.RUnlock()
	seen := make(map[Key]bool, len(entries))
	var out []Entry
	for _, e := range entries {
		if !seen[e.Key] && s.index.has(e.Key) == nil {
			seen[e.Key] = true
			out = append(out, e)
		}
	}
	return out
}

// Place removes the documents named in gone, then stores docs, each instead of one of its name.
func (s *Store) Place(docs []Doc, gone []string) error {
	for i := range docs {
		if err := checkDoc(&docs[i]); err != nil {
			return err
		}
	}
	s.write.Lock()
	defer s.write.Unlock()
	gone = s.there(gone)
	if len(docs)+len(gone) == 0 && !s.closed {
		return nil
	}
	f, err := s.append(func(b []byte, seed uint32) []byte {
		for _, name := range gone {
			b = appendGone(b, seed, name)
		}
		for i := range docs {
			b = appendDoc(b, seed, &docs[i])
		}
		return b
	})
	if err != nil {
		return fmt.Errorf("cannot store documents in %s: %w", s.dir, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range gone {
		s.index.remove(name)
	}
	for i := range docs {
		d := docs[i]
		d.Chunks = append([]Chunk(nil), d.Chunks...)
		s.index.put(d)
	}
	f.end = s.writer.end
	return nil
}

// there are the names that documents have.
func (s *Store) there(names []string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []string
	for _, name := range names {
		if s.index.docs[name] != nil {
			out = append(out, name)
		}
	}
	return out
}

// append writes the records that add appends, and says in which file.
func (s *Store) append(add func(b []byte, seed uint32) []byte) (*file, error) {
	if s.closed {
		return nil, ErrClosed
	}
	if s.writer != nil && !s.writer.intact() {
		s.endWriter()
	}
	if s.writer == nil {
		if err := s.begin(); err != nil {
			return nil, err
		}
	}
	w := s.writer
	if err := w.write(add(nil, w.file.head.seed)); err != nil {
		if w.torn {
			s.endWriter() // no reader reads after its end
		}
		return nil, err
	}
	w.dirty = true
	return w.file, nil
}

// write appends whole records or nothing.
func (w *writer) write(b []byte) error {
	if _, err := w.f.Write(b); err != nil {
		w.torn = w.f.Truncate(w.end) != nil
		return err
	}
	w.end += int64(len(b))
	return nil
}

// intact reports whether the file is as long as we made it: what is appended to one that another
// program has cut or written to would not be where it is looked for.
func (w *writer) intact() bool {
	info, err := w.file.r.Stat()
	return err == nil && info.Size() == w.end
}

// begin makes the next own file.
func (s *Store) begin() error {
	if s.next > maxNumber {
		return fmt.Errorf("all %d file numbers are in use", maxNumber)
	}
	name := fileName(s.opt.Device, s.next)
	s.next++ // also after a failure: what is there is not ours to write to
	f, err := s.create(name)
	if err != nil {
		return err
	}
	s.named = false
	head := newHeader(s.opt.Identity, s.opt.Device, s.opt.Dim, false)
	b := head.encode()
	_, err = f.Write(b)
	var own *file
	if err == nil {
		own, err = openFile(s.fs, s.dir, name)
	}
	if err != nil {
		// Best effort: a file without a whole header is passed over and goes with the next
		// compaction.
		_ = s.fs.Remove(path(s.dir, name))
		return errors.Join(err, f.Close())
	}
	own.own = true
	s.writer = &writer{f: f, file: own, number: s.next - 1, end: int64(len(b)), dirty: true}
	s.mu.Lock()
	s.files[name] = own
	s.mu.Unlock()
	return nil
}

// create makes a new file, and the folder too if it was removed.
func (s *Store) create(name string) (durable.File, error) {
	f, err := s.fs.CreateAppend(path(s.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		if err = durable.MkdirAll(s.fs, s.dir); err == nil {
			f, err = s.fs.CreateAppend(path(s.dir, name))
		}
	}
	return f, err
}

// endWriter gives the file up that was written to.
func (s *Store) endWriter() {
	if s.writer != nil {
		s.ended = append(s.ended, s.writer)
		s.writer = nil
	}
}

// Sync returns nil once all that was put and placed before is on the disk. After a failure the
// store continues, in a new file; the next Sync, or this one, writes all of it again.
func (s *Store) Sync() error {
	doubt, err := s.flushOpen()
	if doubt {
		// What could not be synced may never be: only a new file is sure.
		if again := s.compact(context.Background(), thorough(s.opt.Now().Add(-orphanAge))); again != nil {
			err = errors.Join(err, again)
		} else {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("cannot sync vectors in %s: %w", s.dir, err)
	}
	return nil
}

func (s *Store) flushOpen() (doubt bool, err error) {
	s.write.Lock()
	defer s.write.Unlock()
	if s.closed {
		return false, ErrClosed
	}
	err = s.flush()
	return s.doubt > 0, err
}

// flush syncs the files that were written to, and the folder. Files of which a sync failed are
// in doubt from then on.
func (s *Store) flush() error {
	var failed []error
	for _, w := range s.ended {
		failed = append(failed, s.syncWriter(w))
		_ = w.f.Close() // what is synced stays
	}
	s.ended = nil
	if s.writer != nil {
		failed = append(failed, s.syncWriter(s.writer))
		if s.writer.torn {
			s.endWriter()
		}
	}
	failed = append(failed, s.untouched())
	if !s.named {
		err := s.fs.SyncDir(s.dir)
		s.named = err == nil
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// vouch marks in a file that all before is on the disk. It need not be synced itself: a reader that
// finds it knows that the sync before it went well, which no later sync can tell, for after one
// that failed the next does not. Where it cannot be written, the next process writes the records
// again instead.
func (s *Store) vouch(w *writer) {
	if w.torn || w.number <= s.doubt {
		return
	}
	if w.write(appendSynced(nil, w.file.head.seed)) != nil {
		return
	}
	s.mu.Lock()
	w.file.end = w.end
	s.mu.Unlock()
}

// doubted notes that an own file may not be on the disk.
func (s *Store) doubted(number int, err error) error {
	s.doubt = max(s.doubt, number)
	return err
}

func (s *Store) syncWriter(w *writer) error {
	if !w.dirty {
		return nil
	}
	w.dirty = false // after a failure too: a later sync would say nil of what is not there
	if err := w.f.Sync(); err != nil {
		return s.doubted(w.number, err)
	}
	s.vouch(w)
	return nil
}

// untouched finds out whether the names of the own files still mean what they did. A file that
// another program has replaced, cut or removed can be read still, but only until it is closed.
func (s *Store) untouched() error {
	s.mu.RLock()
	ends := map[*file]int64{}
	for _, f := range s.files {
		if f.own {
			ends[f] = f.end
		}
	}
	s.mu.RUnlock()
	var failed []error
	for f, end := range ends {
		if err := s.same(f, end); err != nil {
			failed = append(failed, s.doubted(s.ownNumber(f.name), err))
		}
	}
	return errors.Join(failed...)
}

// same returns nil if the name of f is that of a file with the same header, and at least end long.
func (s *Store) same(f *file, end int64) error {
	info, err := s.fs.Lstat(path(s.dir, f.name))
	if err != nil {
		return err
	}
	now := &file{name: f.name, r: f.r}
	if stateOf(info).inode == f.is.inode {
		err = now.readHeader()
	} else if now, err = openFile(s.fs, s.dir, f.name); err == nil {
		defer now.r.Close()
	}
	if err == nil && (now.head.seed != f.head.seed || now.is.size < end) {
		err = fmt.Errorf("another program replaced or truncated %s", f.name)
	}
	return err
}

// orphanAge is how long a vector without a document is kept.
const orphanAge = time.Hour
