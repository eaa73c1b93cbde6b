package watcher

import (
	"path"
	"time"
)

// When to look at dirty paths. One save is a handful of events within a few
// milliseconds (the slowest seen is an editor that truncates, writes, syncs and
// renames), so a pause of quiet after the last one means that it is over, and a
// file that never rests is looked at every patience. More than burst dirty paths
// do not come from a user who types but from a checkout, a sync or an unpacking, where
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

// debouncer collects changed paths until they are quiet. It keeps at most storm names however many
// events there are.
type debouncer struct {
	folders     map[string]*batch
	names       int // in all batches
	crowds      int
	all         bool
	first, last time.Time // of what is collected; first is zero when nothing is
}

// batch is the changed names of one folder.
type batch struct {
	names   map[string]struct{}
	crowded bool // and names is empty
}

// work is what the next scan looks at.
type work struct {
	paths   []string
	folders []string // to be listed with all below
	all     bool
	confirm bool // what is missing then, was meant to go
}

func (w work) empty() bool {
	return !w.all && !w.confirm && len(w.paths) == 0 && len(w.folders) == 0
}

// mark records that a path may have changed; "." is the root.
func (s *debouncer) mark(p string, now time.Time) {
	s.touch(now)
	if s.all || p == "." {
		s.everything()
		return
	}
	dir, name := path.Dir(p), path.Base(p)
	b := s.folders[dir]
	if b == nil {
		b = &batch{names: make(map[string]struct{})}
		if s.folders == nil {
			s.folders = make(map[string]*batch)
		}
		s.folders[dir] = b
	}
	if _, again := b.names[name]; again || b.crowded {
		return
	}
	b.names[name] = struct{}{}
	s.names++
	s.collapse(b)
}

// markAll records that anything may have changed.
func (s *debouncer) markAll(now time.Time) {
	s.touch(now)
	s.everything()
}

func (s *debouncer) touch(now time.Time) {
	if s.first.IsZero() {
		s.first = now
	}
	s.last = now
}

func (s *debouncer) collapse(b *batch) {
	if len(b.names) > crowd {
		s.names -= len(b.names)
		s.crowds++
		b.names, b.crowded = nil, true
	}
	if s.names+s.crowds > storm {
		s.everything()
	}
}

func (s *debouncer) everything() {
	s.folders, s.names, s.crowds, s.all = nil, 0, 0, true
}

// due returns when the collected paths will be quiet if no event follows; zero if
// nothing is collected.
func (s *debouncer) due() time.Time {
	if s.first.IsZero() {
		return time.Time{}
	}
	rest, limit := quiet, patience
	if s.all || s.crowds > 0 || s.names > burst {
		rest, limit = burstQuiet, burstPatience
	}
	return earliest(s.last.Add(rest), s.first.Add(limit))
}

// take returns what is collected, and empties the debouncer.
func (s *debouncer) take() work {
	todo := work{all: s.all}
	for dir, b := range s.folders {
		if b.crowded {
			todo.folders = append(todo.folders, dir)
		}
		for name := range b.names {
			todo.paths = append(todo.paths, path.Join(dir, name))
		}
	}
	*s = debouncer{}
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
