package notes

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"emberd/engine/core"
)

// awayPoll is how often a released vault is looked for, in case its folder went and came back.
const awayPoll = 5 * time.Second

// release is whether the user wants emberd to leave the vault alone. Any goroutine may use it.
type release struct {
	// following is held while Run follows the vault.
	following sync.Mutex

	mu      sync.Mutex // guards the fields below
	since   time.Time  // when the vault was released, zero if it was not
	was     os.FileInfo
	gone    bool          // the folder was not there since, or another one was
	changed chan struct{} // closed and replaced when since changes
	stop    context.CancelFunc
}

// set releases the vault, or ends that, and reports whether that is a change.
func (r *release) set(since time.Time, was os.FileInfo) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since.IsZero() == since.IsZero() {
		return false
	}
	r.since, r.was, r.gone = since, was, was == nil
	close(r.changed)
	r.changed = make(chan struct{})
	if r.stop != nil && !since.IsZero() {
		r.stop()
	}
	return true
}

// at returns when the vault was released, zero if it is not, and what is closed when that changes.
func (r *release) at() (time.Time, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.since, r.changed
}

// follows returns a context for following the vault, which ends when it is released. It returns false if the
// vault is released.
func (r *release) follows(ctx context.Context) (context.Context, context.CancelFunc, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.since.IsZero() {
		return ctx, nil, false
	}
	ctx, r.stop = context.WithCancel(ctx)
	return ctx, r.stop, true
}

// returned reports whether the folder of a released vault went and there is one again.
func (r *release) returned(dir string) bool {
	info, err := os.Stat(dir)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = r.gone || err != nil || !os.SameFile(info, r.was)
	return r.gone && err == nil && info.IsDir()
}

// Release lets go of the vault until [VaultNotes.Open], or until its folder went and came back with its notes.
// When it returns, emberd has no file of the vault open and watches no folder of it. quiet calls its argument
// while no note is being written. It reports whether the vault was not released before.
func (n *VaultNotes) Release(quiet func(func() error) error) (changed bool, err error) {
	info, err := os.Stat(n.Dir)
	if err != nil {
		info = nil
	}
	changed = n.released.set(core.StampTime(n.now()), info)
	n.released.following.Lock() // until Run has stopped
	defer n.released.following.Unlock()
	return changed, quiet(func() error {
		n.reopening.Lock()
		defer n.reopening.Unlock()
		if n.Released().IsZero() { // the vault was opened again in the meantime
			return nil
		}
		return n.Root.Load().Close()
	})
}

// Open ends a release. When it returns, notes can be read again if the folder is there. It reports whether the
// vault was released.
func (n *VaultNotes) Open() bool {
	changed := n.released.set(time.Time{}, nil)
	n.Reopen()
	return changed
}

// Released returns when the user released the vault, zero if it is followed.
func (n *VaultNotes) Released() time.Time {
	since, _ := n.released.at()
	return since
}

// Away returns since when the vault is released or not there, zero if it is there.
func (n *VaultNotes) Away() time.Time {
	if since := n.Released(); !since.IsZero() {
		return since
	}
	_, w := n.Current()
	return w.Status().Away
}

// Outside reports whether the vault is away although its folder is there with its notes: the process has no
// permission to open it, as when it appeared after a sandbox came into force.
func (n *VaultNotes) Outside() bool {
	if n.Away().IsZero() || !n.Released().IsZero() && !n.released.returned(n.Dir) {
		return false
	}
	dir, err := os.OpenFile(n.Dir, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err == nil {
		_ = dir.Close() // only opened
	}
	if !errors.Is(err, fs.ErrPermission) {
		return false
	}
	_, w := n.Current()
	return w.Named()
}

// Run follows the vault until ctx ends, except while it is released.
func (n *VaultNotes) Run(ctx context.Context) {
	for ctx.Err() == nil {
		n.runOnce(ctx)
		n.awaitOpening(ctx)
	}
}

func (n *VaultNotes) runOnce(ctx context.Context) {
	n.released.following.Lock()
	defer n.released.following.Unlock()
	ctx, stop, ok := n.released.follows(ctx)
	if ok {
		defer stop()
		n.follow(ctx)
	}
}

// awaitOpening returns when the vault is not released, or ctx has ended.
func (n *VaultNotes) awaitOpening(ctx context.Context) {
	for ctx.Err() == nil {
		since, changed := n.released.at()
		if since.IsZero() {
			return
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-time.After(awayPoll):
			if _, w := n.Current(); n.released.returned(n.Dir) && w.Here() {
				n.Log.Info("released vault is available again", "vault", n.Dir)
				n.Open()
			}
		}
	}
}
