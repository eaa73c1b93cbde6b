package watcher

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

const (
	// Once a pulse Run looks for what raises no event: the root was unmounted or
	// replaced, the machine slept. It costs two system calls.
	pulse = time.Minute

	// A difference between wall clock and monotonic clock that no correction of
	// the time makes in one pulse.
	sleepJump = 30 * time.Second

	// Scanning takes at most this part of the time, however slow the disk is.
	scanShare = 10
)

// plan is when Run has something to do without an event, and what the clocks showed before.
type plan struct {
	scan  time.Time // next scan of everything
	pulse time.Time
	mono  time.Time // the clocks at the pulse before
	wall  time.Time
	told  bool // this Run has delivered a batch
}

// state is what Status contains besides what can be counted. Only Run uses it.
type state struct {
	away    string    // why the root cannot be looked at
	since   time.Time // when that began
	gone    bool      // and nobody can confirm that away
	refused string    // why folders are not watched
	remote  string    // kind of a file system that changes without events
	leftOut int       // notes beyond maxFiles
	scanned time.Time
	took    time.Duration
	skipped map[string]string // reasons by path
}

// begin plans a scan at once.
func (w *Watcher) begin() {
	now := time.Now()
	w.plan = plan{scan: now, pulse: now.Add(pulse), mono: now, wall: w.wall()}
}

// todo returns what there is to look at now.
func (w *Watcher) todo(now time.Time) work {
	todo := w.buffer.take(now)
	todo.confirm = w.takeConfirmed()
	todo.all = todo.all || !now.Before(w.plan.scan)
	if !now.Before(w.plan.pulse) {
		w.plan.pulse = now.Add(pulse)
		todo.all = w.slept(now) || w.disturbed() || todo.all
	}
	if w.state.away == "" {
		todo.paths = slices.Concat(todo.paths, w.absent.due(now), w.refilled(now))
	}
	return todo
}

// next returns when todo may return more than it does now.
func (w *Watcher) next() time.Time {
	first := earliest(w.plan.scan, w.plan.pulse, w.buffer.due())
	if w.state.away != "" {
		return first
	}
	for _, since := range w.held {
		first = earliest(first, since.Add(emptyFor))
	}
	return earliest(first, w.absent.next())
}

func (w *Watcher) takeConfirmed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.confirmed
	w.confirmed = false
	return was
}

// refilled returns the files that have been empty for so long that they count as empty.
func (w *Watcher) refilled(now time.Time) []string {
	var paths []string
	for p, since := range w.held {
		if now.Sub(since) >= emptyFor {
			paths = append(paths, p)
		}
	}
	return paths
}

// slept reports whether the wall clock continued, or was set, while the monotonic clock stood
// still.
func (w *Watcher) slept(now time.Time) bool {
	wall := w.wall()
	jump := wall.Round(0).Sub(w.plan.wall.Round(0)) - now.Sub(w.plan.mono)
	w.plan.mono, w.plan.wall = now, wall
	return jump.Abs() > sleepJump
}

// disturbed reports whether root or watches are not as they were left.
func (w *Watcher) disturbed() bool {
	if w.state.away != "" || !w.buffer.due().IsZero() {
		return false
	}
	info, err := os.Stat(w.root)
	if err != nil || identityOf(info) != w.rootID {
		return true
	}
	return w.feed != nil && !w.feed.intact()
}

// look looks at the disk, delivers what changed, and plans what comes next.
func (w *Watcher) look(ctx context.Context, now time.Time, todo work,
	deliver func(context.Context, Batch) error) error {
	batch, err := w.survey(ctx, now, todo)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		w.leave(err)
		return nil
	}
	w.publish()
	if err := w.deliver(ctx, batch, deliver); err != nil {
		return err
	}
	w.publish()
	return nil
}

// survey looks at the disk and returns what changed, or why the root cannot be
// looked at. The root is open for no longer, so that its file system can be
// unmounted.
func (w *Watcher) survey(ctx context.Context, now time.Time, todo work) (Batch, error) {
	before := w.rootID
	root, err := w.enter(todo.confirm)
	if err != nil {
		return Batch{}, err
	}
	defer root.Close()
	if w.state.away != "" {
		w.state.away, w.state.gone, w.absent.since = "", false, now
		before = identity{}
	}
	todo.all = todo.all || !w.plan.told || before != w.rootID
	s := &scan{Watcher: w, root: root, now: now, changed: make(map[string]File), skipped: make(map[string]string)}
	s.run(ctx, todo)
	switch {
	case ctx.Err() != nil:
		return Batch{}, ctx.Err()
	case w.tree["."] == nil:
		return Batch{}, fmt.Errorf("cannot list the folder %s", w.root)
	}
	w.conclude(s, todo)
	return w.compose(s, todo.all), nil
}

// run looks at what there is to do.
func (s *scan) run(ctx context.Context, todo work) {
	doubtful := s.absent.due(s.now)
	if todo.confirm || todo.all && s.absent.frozen != "" {
		doubtful = s.absent.paths()
	}
	if todo.all {
		s.refused = s.connect()
		s.list(ctx, ".")
	}
	s.some(ctx, todo)
	s.recheck(ctx, doubtful)
	for _, p := range s.refilled(s.now) {
		delete(s.held, p) // it could not be looked at
	}
}

// enter opens the root. Another folder in its place becomes the root if it has more than half of
// the notes, or if the caller has confirmed it. At the first look of a Watcher, what is there is
// probably the root that an earlier one followed.
func (w *Watcher) enter(confirmed bool) (*os.Root, error) {
	root, err := os.OpenRoot(w.root)
	if err != nil {
		return nil, w.cannotOpen(err)
	}
	info, err := root.Stat(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	id := identityOf(info)
	first := w.rootID == identity{} && w.probable(root)
	if id != w.rootID && !confirmed && !first && !w.recognize(root) {
		return nil, errors.Join(root.Close(),
			fmt.Errorf("another folder replaced %s and contains fewer than half of its %d notes; %w", w.root,
				len(w.known), errAnother))
	}
	w.rootID = id
	return root, nil
}

// cannotOpen says why the root cannot be opened. A sandbox keeps another folder in its place from being opened.
func (w *Watcher) cannotOpen(err error) error {
	info, failed := os.Stat(w.root)
	if failed == nil && info.IsDir() && w.rootID != (identity{}) && identityOf(info) != w.rootID {
		return fmt.Errorf("another folder replaced %s, and emberd cannot open the new folder: %w", w.root, cause(err))
	}
	return fmt.Errorf("cannot open the folder %s: %w", w.root, cause(err))
}

// recognizedBy is how many notes are enough to recognize a folder by: of so many, taken at random, a
// share of 55 % is more than half in all but one case of a thousand.
const recognizedBy = 1000

// recognize reports whether a folder has more than half of the known notes, or of recognizedBy that a
// map yields, whose order has nothing to do with theirs.
func (w *Watcher) recognize(root *os.Root) bool {
	found, lost, of := 0, 0, min(len(w.known), recognizedBy)
	for p := range w.known {
		if _, err := root.Lstat(p); err == nil {
			found++
		} else {
			lost++
		}
		if 2*found > of || 2*lost >= of {
			break
		}
	}
	return found > lost || len(w.known) == 0
}

// errAnother is the reason when the root is not the folder that it was.
var errAnother = errors.New("if you replaced the folder, confirm the change")

// leave records that the root is away. Until it is back, nothing is looked at or reported.
func (w *Watcher) leave(why error) {
	if w.state.away == "" {
		w.state.since = w.wall()
	}
	w.state.away, w.state.gone = why.Error(), !errors.Is(why, errAnother)
	w.plan.scan = time.Now().Add(min(awayPoll, w.opt.Poll))
	w.publish()
}

// conclude decides after a look which missing files have moved, whether deletions are held back,
// and when to scan next.
func (w *Watcher) conclude(s *scan, todo work) {
	if len(w.absent.byPath) > 0 && (s.vanished || len(s.changed) > 0) {
		w.absent.pair(s.living())
	}
	s.dismissRemoved()
	w.absent.judge(len(w.known), s.now)
	if todo.confirm {
		w.absent.confirm()
	}
	if s.refused != "" || todo.all {
		w.state.refused = s.refused
	}
	s.mergeSkips(todo)
	if todo.all {
		w.state.remote = remote(w.root)
		w.state.scanned = w.wall()
		w.state.took = time.Since(s.now)
		w.plan.scan = time.Now().Add(w.interval())
		return
	}
	if poll := time.Now().Add(w.poll()); w.blind() && poll.Before(w.plan.scan) {
		w.plan.scan = poll
	}
}

// dismissRemoved takes the loss of files that the program removed for certain.
func (s *scan) dismissRemoved() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.removed {
		_, known := s.known[p]
		_, written := s.changed[p]
		missing, absent := s.absent.byPath[p]
		if absent {
			missing.sure = true
			s.absent.byPath[p] = missing
		}
		if absent || written || !known {
			delete(s.removed, p)
		}
	}
}

// living yields every file that is on the disk.
func (s *scan) living() iter.Seq[File] {
	return func(yield func(File) bool) {
		for p, f := range s.known {
			_, absent := s.absent.byPath[p]
			_, changed := s.changed[p]
			if !absent && !changed && !yield(f) {
				return
			}
		}
		for _, f := range s.changed {
			if !yield(f) {
				return
			}
		}
	}
}

// blind reports whether something can change without an event.
func (w *Watcher) blind() bool {
	return w.state.refused != "" || w.state.remote != "" || w.absent.frozen != ""
}

func (w *Watcher) poll() time.Duration {
	return max(w.opt.Poll, scanShare*w.state.took)
}

// interval returns the time until the next scan. Several watchers, and several
// machines with the same habits, should not scan in step.
func (w *Watcher) interval() time.Duration {
	if w.blind() {
		return w.poll()
	}
	return time.Duration(float64(w.opt.Rescan) * (0.75 + rand.Float64()/2))
}

// compose returns the batch of a look.
func (w *Watcher) compose(s *scan, full bool) Batch {
	batch := Batch{Full: full}
	ready := w.absent.ready(s.now)
	left := s.leaveOut(w.maxFiles - len(w.known) + len(ready))
	if full || left > w.state.leftOut {
		w.state.leftOut = left
	}
	for _, absent := range ready {
		batch.Gone = append(batch.Gone, absent.file.Path)
		if _, fresh := s.changed[absent.moved]; fresh {
			batch.Moved = append(batch.Moved, Move{From: absent.file.Path, To: absent.moved})
		}
	}
	batch.Changed = slices.SortedFunc(maps.Values(s.changed), comparePaths)
	return batch
}

// leaveOut drops new files beyond those there is room for, and returns how many.
func (s *scan) leaveOut(room int) int {
	left := 0
	for _, p := range slices.Sorted(maps.Keys(s.changed)) {
		if _, known := s.known[p]; known {
			continue
		}
		if room--; room < 0 {
			delete(s.changed, p)
			left++
		}
	}
	return left
}

// deliver passes a batch that is not empty to the caller's function; if that succeeds, the batch
// is known.
func (w *Watcher) deliver(ctx context.Context, batch Batch, deliver func(context.Context, Batch) error) error {
	if w.plan.told && len(batch.Changed)+len(batch.Gone) == 0 {
		return nil
	}
	if err := deliver(ctx, batch); err != nil {
		return err
	}
	w.plan.told = true
	for _, f := range batch.Changed {
		w.known[f.Path] = f
	}
	for _, p := range batch.Gone {
		delete(w.known, p)
		w.absent.drop(p)
	}
	return nil
}
