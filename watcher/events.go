package watcher

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fsnotify/fsnotify"
)

// feed is the source of file events: one watch for every folder, none for files, and one for the
// folder above the root, which alone sees the root return. Events only mark paths in the buffer.
// Run owns all of it but the goroutine that drains the events.
type feed struct {
	root  string
	fs    *fsnotify.Watcher
	owner map[identity]string // the path under which each watched folder is watched
	above int                 // 1 if the folder above the root is watched
	drain sync.WaitGroup
	ended atomic.Bool // by close
}

// openFeed starts to drain events into the inbox; close ends that.
func openFeed(root string, r rules, in *eventBuffer, log *slog.Logger) (*feed, error) {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	f := &feed{root: root, fs: fs, owner: make(map[identity]string)}
	f.watchAbove()
	f.drain.Go(func() {
		for f.receive(r, in, log) {
		}
		if !f.ended.Load() {
			in.broke()
		}
	})
	return f, nil
}

// watchAbove watches the folder above the root, or renews that watch. If that is not allowed, the
// pulse of Run replaces it.
func (f *feed) watchAbove() {
	f.above = 0
	if f.fs.Add(filepath.Dir(f.root)) == nil {
		f.above = 1
	}
}

// receive handles one event, and returns false after the last.
func (f *feed) receive(r rules, in *eventBuffer, log *slog.Logger) bool {
	select {
	case event, ok := <-f.fs.Events:
		if !ok {
			return false
		}
		p, ok := f.relative(event.Name)
		// A change of mode or times alone is not worth a look. Together with a
		// change of content there is another event, or the next scan.
		if ok && event.Op != fsnotify.Chmod && !r.hides(p) {
			in.mark(p)
		}
	case err, ok := <-f.fs.Errors:
		switch {
		case !ok:
			return false
		case errors.Is(err, fsnotify.ErrEventOverflow):
			in.overflow()
		default:
			log.Warn("file events might be lost; scanning the vault", "err", err)
			in.markAll()
		}
	}
	return true
}

// relative turns the path of an event into one from the root, which is "." for the root and for
// the folder above. For neighbours of the root it returns false.
func (f *feed) relative(name string) (string, bool) {
	if name == f.root || name == filepath.Dir(f.root) {
		return ".", true
	}
	rest, ok := strings.CutPrefix(name, f.root+"/")
	return rest, ok
}

// add watches a folder, or makes sure that it still is: adding again renews a
// watch that was lost because another folder took the path. The kernel knows
// folders, not paths, so a folder that was renamed keeps its watch with events
// under the old name; the caller must have removed that first.
func (f *feed) add(dir string, id identity) error {
	if err := f.fs.Add(filepath.Join(f.root, dir)); err != nil {
		return err
	}
	f.owner[id] = dir
	return nil
}

// remove ends a watch. A watch that is gone already is no error: that is how most of them end.
func (f *feed) remove(dir string, id identity) {
	if f.owner[id] != dir {
		return
	}
	delete(f.owner, id)
	_ = f.fs.Remove(filepath.Join(f.root, dir))
}

// intact reports whether there are as many watches as there should be. An unmounted file system
// removes its watches without an event.
func (f *feed) intact() bool {
	return len(f.fs.WatchList()) == len(f.owner)+f.above
}

// close ends all watches and waits for the draining to end.
func (f *feed) close() error {
	f.ended.Store(true)
	err := f.fs.Close()
	f.drain.Wait()
	return err
}
