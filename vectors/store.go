package vectors

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"time"

	"emberd/internal/durable"
)

// ErrClosed is the cause in the error of an operation after [Store.Close].
var ErrClosed = errors.New("the vector store is closed")

// errIdentity is of files of another identity or dimension, or of a later version of emberd.
var errIdentity = errors.New("the folder contains incompatible vectors")

// Options of [Open]. Identity, Dim and Device are needed.
type Options struct {
	FS     durable.FS   // nil is the real disk
	Logger *slog.Logger // nil discards

	// Identity reports which vectors may be compared, at most 1024 bytes: the model and all else
	// that they depend on.
	Identity string
	// Dim is the number of components of a vector, from 1 to [MaxDim].
	Dim int
	// Device is whose files are written: up to 32 letters, digits and underscores.
	Device string
	// Others makes the vectors in files of other devices of the same identity count.
	Others bool
	// Now reports for how long vectors have waited for a document; nil is time.Now.
	Now func() time.Time
}

func (o *Options) check() error {
	switch {
	case o.Identity == "" || len(o.Identity) > maxIdentity:
		return fmt.Errorf("length of the model identity in bytes %d is out of range (1 to %d)", len(o.Identity),
			maxIdentity)
	case o.Dim < 1 || o.Dim > MaxDim:
		return fmt.Errorf("number of vector components %d is out of range (1 to %d)", o.Dim, MaxDim)
	case !validDevice(o.Device):
		return fmt.Errorf("invalid device ID %q; use up to %d letters, digits and underscores", o.Device, maxDevice)
	}
	return nil
}

// Store is the vectors of one identity. See the package documentation.
//
// A Store has three locks, acquired in the order order, write, mu; a method skips those that
// it does not need. Compact and Refresh hold order from beginning to end, so only one of them
// runs at a time, and write and mu only for their steps: reads and writes continue in between.
// Put, Place and Sync hold write while they write to the disk, and mu afterwards, to make the
// records visible. Nearest holds mu for reading while it scans one block of rows, and reads
// vectors from files without a lock: if a compaction closed the file, it looks up the new
// place and tries again.
type Store struct {
	fs  durable.FS
	log *slog.Logger
	dir string
	opt Options

	// order is held by Compact, Refresh and Close.
	order sync.Mutex

	// write guards what follows, and that records get into files in the order in which they
	// change the index.
	write  sync.Mutex
	closed bool
	writer *writer   // nil until there is something to write
	ended  []*writer // with records that are not synced yet
	next   int       // the number of the next file
	named  bool      // all names in the folder are synced
	doubt  int       // own files up to this number may not be on the disk as they look

	// mu guards what follows. It is never held during a disk operation.
	mu     sync.RWMutex
	index  index
	files  map[string]*file // open for reading, by name
	lost   int64            // bytes that were passed over
	others map[string]state // of other devices, also those that cannot be used
	gone   bool             // as closed

	room sync.Pool // of *hits, which are as many as there are vectors
}

// Open opens the folder dir, which is made if there is none, for reading and writing. Only one
// process may have it open with one device. Files that are damaged, torn or unreadable are used
// as far as they go. A folder with own files of another identity or dimension, or of a later
// version of emberd, is refused, and nothing in it is changed.
func Open(dir string, opt *Options) (*Store, error) {
	s, err := open(dir, *opt)
	if err != nil {
		return nil, fmt.Errorf("cannot open vectors in %s: %w", dir, err)
	}
	return s, nil
}

func open(dir string, opt Options) (*Store, error) {
	if opt.FS == nil {
		opt.FS = durable.OS{}
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if err := opt.check(); err != nil {
		return nil, err
	}
	s := &Store{
		fs: opt.FS, log: cmp.Or(opt.Logger, slog.New(slog.DiscardHandler)), dir: dir, opt: opt,
		next: 1, files: map[string]*file{}, others: map[string]state{},
	}
	if err := durable.MkdirAll(s.fs, dir); err != nil {
		return nil, err
	}
	s.index = newIndex(s.newTable(), opt.Now)
	names, err := s.list()
	if err != nil {
		return nil, err
	}
	if err := s.loadOwn(names); err != nil {
		s.closeFiles()
		return nil, err
	}
	s.sweep()
	if opt.Others {
		s.refresh(names)
	}
	return s, nil
}

// newTable returns one without rows.
func (s *Store) newTable() table {
	t := table{dim: s.opt.Dim}
	if _, real := s.fs.(durable.OS); real {
		t.file = newScratch(path(s.dir, scratchName(s.opt.Device)))
	}
	return t
}

// list is the names in the folder, in order.
func (s *Store) list() ([]string, error) {
	entries, err := s.fs.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// ownNumber is the number of an own file, 0 of any other.
func (s *Store) ownNumber(name string) int {
	if device, number, ok := parseName(name); ok && device == s.opt.Device {
		return number
	}
	return 0
}

// loadOwn reads the own files, beginning with the last that stands for those before it.
func (s *Store) loadOwn(names []string) error {
	var files []*file
	for _, name := range names {
		number := s.ownNumber(name)
		if number == 0 {
			continue
		}
		s.next = max(s.next, number+1)
		f, err := s.openOwn(name)
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		s.files[name] = f
		if f.head.base {
			for _, old := range files {
				s.forget(old)
			}
			files = files[:0]
		}
		files = append(files, f)
	}
	for _, f := range files {
		s.read(f)
		if !f.head.base && f.sure < f.end {
			s.doubt = max(s.doubt, s.ownNumber(f.name))
		}
	}
	return nil
}

// openOwn opens an own file; nil is one that has no whole header or is gone by now. One that cannot
// be opened is an error: what is in it may be all there is, and the next compaction would end it.
func (s *Store) openOwn(name string) (*file, error) {
	f, err := openFile(s.fs, s.dir, name)
	switch {
	case errors.Is(err, errVersion):
		return nil, fmt.Errorf(
			"%w: %s was %w; update emberd, or move the folder away so that emberd computes the embeddings again",
			errIdentity, name, err)
	case errors.Is(err, errHeader), errors.Is(err, fs.ErrNotExist):
		s.log.Warn("vectors: skipped a file", "file", name, "error", err)
		return nil, nil
	case err != nil:
		return nil, err
	}
	f.own = true
	if f.head.identity != s.opt.Identity || f.head.dim != s.opt.Dim {
		err := fmt.Errorf("%w: %s contains vectors of %q with %d components instead of %q with "+
			"%d; move the folder away so that emberd computes the embeddings again", errIdentity, name, f.head.identity,
			f.head.dim, s.opt.Identity, s.opt.Dim)
		return nil, errors.Join(err, f.r.Close())
	}
	return f, nil
}

// read takes up the records of a file from its end on.
func (s *Store) read(f *file) {
	v := make([]float32, s.opt.Dim)
	from := f.end
	got, err := readRecords(f.r, f.head.seed, from, f.is.size, func(at int64, record []byte) {
		s.take(f, at, record, v)
		s.fileFull()
	})
	s.mu.Lock()
	f.end = got.end
	if f.own {
		s.lost += got.lost + f.is.size - got.end
	}
	s.mu.Unlock()
	if err != nil {
		s.log.Warn("vectors: file read only in part", "file", f.name, "error", err)
	}
}

// take adds a record to the index. v is of use during the call only.
func (s *Store) take(f *file, at int64, record []byte, v []float32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind, payload := record[4], record[frameSize:]
	switch {
	case kind == kindVector && len(record) == vectorSize(s.opt.Dim):
		decodeFloats(v, payload[len(Key{}):])
		s.index.learn(Key(payload), v, f, at)
	case kind == kindDoc && f.own:
		if d, ok := parseDoc(payload); ok {
			s.index.put(*d)
		}
	case kind == kindGone && f.own:
		s.index.remove(string(payload))
	case kind == kindSynced:
		f.sure = at + frameSize
	}
}

// sweep removes what a crash left of a compaction. What cannot be removed now stays for the next.
func (s *Store) sweep() {
	base := 0
	for name, f := range s.files {
		if f.head.base {
			base = max(base, s.ownNumber(name))
		}
	}
	// The earlier process may not have come to syncing the name of what stands for the others.
	err := s.fs.SyncDir(s.dir)
	if err == nil {
		err = s.removeBelow(base)
	}
	if err != nil {
		s.log.Warn("vectors: old files not removed", "folder", s.dir, "error", err)
	}
}

// removeBelow removes the own files with a lower number than base, whose name is on the disk, and
// all temporary ones.
func (s *Store) removeBelow(base int) error {
	names, err := s.list()
	if err != nil {
		return err
	}
	var failed []error
	for _, name := range names {
		number := s.ownNumber(name)
		if number > 0 && number < base || isTemp(s.opt.Device, name) {
			if err := s.fs.Remove(path(s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = append(failed, err)
			}
		}
	}
	return errors.Join(append(failed, s.fs.SyncDir(s.dir))...)
}

// forget closes a file that nothing in the index is in.
func (s *Store) forget(f *file) {
	s.mu.Lock()
	if s.files[f.name] == f {
		delete(s.files, f.name)
	}
	s.mu.Unlock()
	if err := f.r.Close(); err != nil {
		s.log.Warn("vectors: file not closed", "file", f.name, "error", err)
	}
}

func (s *Store) closeFiles() {
	s.mu.Lock()
	files := s.files
	s.files = map[string]*file{}
	s.mu.Unlock()
	for _, f := range files {
		s.forget(f)
	}
}

// Close syncs and closes the store. A second Close does nothing.
func (s *Store) Close() error {
	err := s.Sync()
	s.order.Lock() // waits for a compaction
	defer s.order.Unlock()
	s.write.Lock()
	defer s.write.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.endWriter()
	for _, w := range s.ended {
		if err == nil && w.dirty {
			err = w.f.Sync() // written between the two
		}
		_ = w.f.Close() // what is synced stays
	}
	s.mu.Lock()
	s.gone = true
	s.mu.Unlock()
	s.closeFiles()
	if err != nil {
		return fmt.Errorf("cannot close vectors in %s: %w", s.dir, err)
	}
	return nil
}

// Status is what a person may want to know of a store.
type Status struct {
	Identity string
	Dim      int
	Docs     int   // documents
	Chunks   int   // chunks of documents
	Covered  int   // chunks of documents that have a vector
	Vectors  int   // vectors, those included that no document has
	Files    int   // own files
	Bytes    int64 // in own files
	Lost     int64 // bytes of own files that no record was found in
	Others   int   // files of other devices in use
	// Due says that a compaction would be worth it: more than 8 own files, or more than half
	// of their bytes in excess of 1 MiB would go.
	Due bool
}

// Status returns what there is.
func (s *Store) Status() Status {
	s.mu.RLock()
	defer s.mu.RUnlock()
	x := &s.index
	st := Status{
		Identity: s.opt.Identity, Dim: s.opt.Dim, Lost: s.lost,
		Docs: len(x.docs), Chunks: x.chunks, Covered: x.covered, Vectors: x.vectors,
	}
	for _, f := range s.files {
		if !f.own {
			st.Others++
			continue
		}
		st.Files++
		st.Bytes += f.end
	}
	stays := func(vectors int) int64 {
		return int64(vectors*vectorSize(s.opt.Dim) + x.chunks*chunkSize + len(x.docs)*64)
	}
	pays := func(vectors int) bool { return st.Bytes > 1<<20+2*stays(vectors) }
	// Looking at every vector is for when it may matter.
	st.Due = st.Files > 8 || pays(x.vectors-x.idle) && pays(x.vectors-x.droppable(s.opt.Now().Add(-orphanAge)))
	return st
}
