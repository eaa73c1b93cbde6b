package watcher

import (
	"path"
	"time"
)

// When to look at dirty paths. One save is a handful of events within a few
// milliseconds (the slowest seen is an editor that truncates, writes, syncs and
// renames), so a pause of quiet after the last one means that it is over, and a
// file that never rests is looked at every patience. More than burst dirty paths
// are no longer somebody typing but a checkout, a sync or an unpacking, where
// one large batch costs the index less than many small ones, and where pauses of
// half a second are common in the middle.
const (
	quiet    = 50 * time.Millisecond
	patience = time.Second

	burst         = 200
	burstQuiet    = 500 * time.Millisecond
	burstPatience = 5 * time.Second
)

// When to look at more than the dirty paths. To stat one path costs about as
// much as to list five files, so a folder with this many dirty names is listed
// instead, and with this many dirty paths over all folders everything is.
const (
	crowd = 128
	storm = 4096
)

// settler collects dirty paths and says when they have settled. It keeps at most
// storm names however many events there are.
type settler struct {
	folders     map[string]*pile
	names       int // in all piles
	crowds      int
	all         bool
	first, last time.Time // of what is collected; first is zero when nothing is
}

// pile is the dirty names of one folder.
type pile struct {
	names   map[string]struct{}
	crowded bool // and names is empty
}

// work is what to look at.
type work struct {
	paths   []string
	folders []string // to be listed with all below
	all     bool
	confirm bool // what is missing then, was meant to go
}

func (w work) empty() bool {
	return !w.all && !w.confirm && len(w.paths) == 0 && len(w.folders) == 0
}

// mark says that something may have happened to a path; "." is the root.
func (s *settler) mark(p string, now time.Time) {
	s.touch(now)
	if s.all || p == "." {
		s.everything()
		return
	}
	dir, name := path.Dir(p), path.Base(p)
	heap := s.folders[dir]
	if heap == nil {
		heap = &pile{names: make(map[string]struct{})}
		if s.folders == nil {
			s.folders = make(map[string]*pile)
		}
		s.folders[dir] = heap
	}
	if _, again := heap.names[name]; again || heap.crowded {
		return
	}
	heap.names[name] = struct{}{}
	s.names++
	s.collapse(heap)
}

// markAll says that anything may have happened.
func (s *settler) markAll(now time.Time) {
	s.touch(now)
	s.everything()
}

func (s *settler) touch(now time.Time) {
	if s.first.IsZero() {
		s.first = now
	}
	s.last = now
}

func (s *settler) collapse(heap *pile) {
	if len(heap.names) > crowd {
		s.names -= len(heap.names)
		s.crowds++
		heap.names, heap.crowded = nil, true
	}
	if s.names+s.crowds > storm {
		s.everything()
	}
}

func (s *settler) everything() {
	s.folders, s.names, s.crowds, s.all = nil, 0, 0, true
}

// due returns when what is collected will have settled if nothing follows; zero
// if nothing is collected.
func (s *settler) due() time.Time {
	if s.first.IsZero() {
		return time.Time{}
	}
	rest, limit := quiet, patience
	if s.all || s.crowds > 0 || s.names > burst {
		rest, limit = burstQuiet, burstPatience
	}
	return earliest(s.last.Add(rest), s.first.Add(limit))
}

// take returns what is collected and begins anew.
func (s *settler) take() work {
	todo := work{all: s.all}
	for dir, heap := range s.folders {
		if heap.crowded {
			todo.folders = append(todo.folders, dir)
		}
		for name := range heap.names {
			todo.paths = append(todo.paths, path.Join(dir, name))
		}
	}
	*s = settler{}
	return todo
}

// earliest returns the first of some moments, of which zero is none.
func earliest(moments ...time.Time) time.Time {
	var first time.Time
	for _, m := range moments {
		if first.IsZero() || !m.IsZero() && m.Before(first) {
			first = m
		}
	}
	return first
}
