package metrics

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"sync"
)

// system is proc(5), each file opened once: Landlock asks at opening alone, and a rule for a
// file of /proc would end with the kernel's memory of it.
type system struct {
	statm *os.File

	mu  sync.Mutex // held while fds is read, which has one position
	fds *os.File
}

func (s *system) open() {
	s.statm, _ = os.Open("/proc/self/statm") // without either, that metric is missing
	s.fds, _ = os.Open("/proc/self/fd")
}

func (s *system) close() error {
	var errs []error
	for _, f := range []*os.File{s.statm, s.fds} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

func (s *system) resident() (bytesInUse int64, ok bool) {
	if s.statm == nil {
		return 0, false
	}
	text := make([]byte, 128)
	n, _ := s.statm.ReadAt(text, 0)
	fields := bytes.Fields(text[:n])
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}

func (s *system) files() (n int, ok bool) {
	if s.fds == nil {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.fds.Seek(0, 0); err != nil {
		return 0, false
	}
	names, err := s.fds.Readdirnames(-1)
	return len(names), err == nil
}
