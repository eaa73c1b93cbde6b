package vectors

import "fmt"

// Refresh looks again at the files of other devices, if they count ([Options.Others]): a sync
// tool may have brought more of them, or removed some. What did not change is not read.
func (s *Store) Refresh() error {
	if !s.opt.Others {
		return nil
	}
	s.order.Lock()
	defer s.order.Unlock()
	names, err := s.list()
	if err != nil {
		return fmt.Errorf("cannot list the vectors of other devices: %w", err)
	}
	s.refresh(names)
	return nil
}

// refresh reads what is new in the files of other devices. A vector that has moved from one file
// to another is found in the new one before it is missed in the old one.
func (s *Store) refresh(names []string) {
	present := map[string]bool{}
	for _, name := range names {
		device, _, ok := parseName(name)
		if !ok || device == s.opt.Device {
			continue
		}
		present[name] = true
		info, err := s.fs.Lstat(path(s.dir, name))
		if err != nil || s.others[name] == stateOf(info) {
			continue
		}
		s.others[name] = stateOf(info)
		s.refreshFile(name)
	}
	for name := range s.others {
		if !present[name] {
			delete(s.others, name)
			s.disown(s.files[name])
		}
	}
}

// refreshFile reads a file that is new or has changed. As long as it cannot be used, because it is
// being written right now, what is open under its name stays in use.
func (s *Store) refreshFile(name string) {
	f, err := openFile(s.fs, s.dir, name)
	if err == nil && (f.head.identity != s.opt.Identity || f.head.dim != s.opt.Dim) {
		err = fmt.Errorf("%w: of %q with %d components", errIdentity, f.head.identity, f.head.dim)
		_ = f.r.Close() // it was only read
	}
	if err != nil {
		s.log.Info("vectors: skipped a file of another device", "file", name, "error", err)
		return
	}
	old := s.files[name]
	if old != nil && old.is.inode == f.is.inode && old.head.seed == f.head.seed && old.end <= f.is.size {
		_ = f.r.Close() // it has grown
		old.is = f.is
		s.read(old)
		return
	}
	s.mu.Lock()
	s.files[name] = f
	s.mu.Unlock()
	s.read(f)
	s.disown(old)
}

// disown forgets the vectors in a file that is no longer there.
func (s *Store) disown(f *file) {
	if f == nil {
		return
	}
	s.mu.Lock()
	for _, slot := range s.index.slots.all() {
		if slot.file == f {
			s.index.lose(slot)
		}
	}
	s.mu.Unlock()
	s.forget(f)
}
