package vectors

import (
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"
)

// scratchFile holds the values of full slabs in a file without a name, so that they are the system's to keep in
// memory or not instead of the heap's. It is gone with the process or when nothing uses it.
type scratchFile struct {
	f *os.File

	mu     sync.Mutex
	end    int64
	failed bool // as on a full disk: what follows stays on the heap
}

// newScratch makes an empty one, which has the name for a moment. It returns nil if that fails.
func newScratch(name string) *scratchFile {
	_ = os.Remove(name) // a crash left it
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil
	}
	if os.Remove(name) != nil {
		_ = f.Close() // the next Open removes it
		return nil
	}
	return &scratchFile{f: f}
}

// keep moves the values of a full slab into the file, and reports whether they are there.
func (c *scratchFile) keep(s *slab) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.filed.Load() || c.failed {
		return s.filed.Load()
	}
	on := s.all()
	_, err := c.f.WriteAt(unsafe.Slice((*byte)(unsafe.Pointer(&on[0])), len(on)), c.end)
	var b []byte
	if err == nil {
		b, err = syscall.Mmap(int(c.f.Fd()), c.end, len(on), syscall.PROT_READ, syscall.MAP_SHARED)
	}
	if c.failed = err != nil; c.failed {
		return false
	}
	page := int64(os.Getpagesize())
	c.end += (int64(len(on)) + page - 1) / page * page
	runtime.AddCleanup(s, func(b []byte) { _ = syscall.Munmap(b) }, b)
	s.values.Store(new(unsafe.Slice((*int8)(unsafe.Pointer(&b[0])), len(b))))
	s.filed.Store(true)
	return true
}

// fileFull moves the values of full slabs into the table's file. It is called after rows were added, without a lock.
func (s *Store) fileFull() {
	s.mu.RLock()
	t := s.index.table
	s.mu.RUnlock()
	t.fileFull()
}

func (t *table) fileFull() {
	if t.file == nil {
		return
	}
	for b := t.n/slabRows - 1; b >= 0 && !t.slabs[b].filed.Load(); b-- {
		if !t.file.keep(t.slabs[b]) {
			return
		}
	}
}

// loseSlab forgets the vectors of a slab that cannot be read, so that they are computed again.
func (s *Store) loseSlab(in *slab, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in.values.Store(new(make([]int8, len(in.all()))))
	for i, slot := range in.slot[:n] {
		if slot.row >= 0 && s.index.table.has(slot, in, i) {
			s.index.lose(slot)
		}
	}
	s.log.Warn("vectors: rounded vectors not read; emberd computes them again", "folder", s.dir, "vectors", n)
}

// has reports whether a slot's row is the one of a slab.
func (t *table) has(of *slot, in *slab, i int) bool {
	row := int(of.row)
	return row/slabRows < len(t.slabs) && t.slabs[row/slabRows] == in && row%slabRows == i
}
