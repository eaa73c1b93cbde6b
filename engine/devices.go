package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"emberd/internal/durable"
	"emberd/op"
	"emberd/stm"
	"emberd/watcher"
)

const (
	// lookEvery is how often the files of other devices are looked at without an
	// event that says so.
	lookEvery = 30 * time.Minute
	// tellAgain is how long to wait after the other devices could not be told.
	tellAgain = 10 * time.Second
	// never is when they are looked at while there is no other device: its first
	// file raises an event.
	never = 10 * 365 * 24 * time.Hour
)

// errCompany ends a watch that was made for one device, when a second one comes.
var errCompany = errors.New("there is another device now")

// share takes what arrives from other devices, and tells them how far this one
// is. With a single device no timer is set.
func (e *Engine) share(ctx context.Context) {
	arrived := make(chan struct{}, 1)
	var watch sync.WaitGroup
	defer watch.Wait()
	watch.Go(func() { e.watchDevices(ctx, arrived) })
	tell := e.until(e.announce())
	var due <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-arrived:
			due = e.until(e.refresh(ctx))
		case <-due:
			due = e.until(e.refresh(ctx))
		case <-e.shared:
		case <-tell:
			tell = e.until(e.announce())
		}
		if tell == nil && e.company() {
			tell = e.until(e.announce())
		}
	}
}

// until returns a channel that delivers at a time, nil for the zero time.
func (e *Engine) until(at time.Time) <-chan time.Time {
	if at.IsZero() {
		return nil
	}
	return time.After(at.Sub(e.opt.Now()))
}

// company reports whether there is another device.
func (e *Engine) company() bool { return len(e.stm.Watermarks()) > 1 }

// announce tells the other devices how far this one is, and returns when the
// next time may be.
func (e *Engine) announce() time.Time {
	next, err := e.stm.Announce(false)
	e.chores.settle("file that tells other devices how far this one is", err)
	switch {
	case err != nil:
		return e.opt.Now().Add(tellAgain)
	case !e.company():
		return time.Time{}
	}
	return next
}

// refresh merges what has arrived and returns when something that is held back
// may be taken.
func (e *Engine) refresh(ctx context.Context) time.Time {
	got, err := e.stm.Refresh(ctx)
	if ctx.Err() == nil {
		e.chores.settle("reading of other devices' files", err)
	}
	if got.Lines > 0 {
		e.opt.Logger.Info("merged what arrived from other devices", "lines", got.Lines)
		e.revision.Add(1)
		e.arrived(ctx, got)
		e.followPurges(ctx)
		e.changed()
	}
	return got.Due
}

// arrived publishes what other devices did. A flood is told in one sentence.
func (e *Engine) arrived(ctx context.Context, got stm.Arrival) {
	told := 0
	for _, entry := range got.Entries {
		told += len(entry.IDs)
		e.touched(entry.IDs)
		e.meaning.committed(&entry)
		e.events.publish(op.Event{ID: entry.Tx, Type: entry.Verb, At: entry.At, IDs: entry.IDs})
		if e.truth != nil {
			e.truth.committed(&entry)
			e.lists.committed(&entry)
		}
		e.mend(ctx, entry.IDs)
		e.reconcileTexts(ctx, &entry)
		e.lookForSecrets(ctx, entry.IDs)
	}
	if more := got.Memories - told; more > 0 {
		e.touched(nil)
		e.meaning.anything()
		if e.truth != nil {
			e.truth.anything()
			e.lists.changed()
		}
		e.mendAll(ctx)
		e.lookForSecrets(ctx, nil)
		e.events.publish(e.notice(fmt.Sprintf("%d more changes arrived from other devices; read again what matters", more)))
	}
}

// watchDevices says when a file of another device changes, until ctx ends. Only
// a real disk tells.
func (e *Engine) watchDevices(ctx context.Context, arrived chan<- struct{}) {
	if _, real := e.opt.FS.(durable.OS); !real {
		return
	}
	for ctx.Err() == nil {
		if err := e.watchOnce(ctx, arrived); err != nil && !errors.Is(err, errCompany) {
			e.opt.Logger.Warn("files of other devices are read at the next start only", "error", err)
			return
		}
	}
}

func (e *Engine) watchOnce(ctx context.Context, arrived chan<- struct{}) error {
	const name = "devices"
	device := e.stm.Status().Device
	opt := watcher.Options{Extensions: []string{".jsonl", ".json"}, Logger: e.opt.Logger,
		Ignore: []string{"/stm/" + device + "/", "/devices/" + device + ".json"}, Rescan: never, Poll: never}
	alone := !e.company()
	if !alone {
		opt.Rescan, opt.Poll = lookEvery, 0
		e.chores.arm(name, lookEvery)
		defer e.chores.disarm(name)
	}
	w, err := watcher.New(e.opt.Data, &opt)
	if err != nil {
		return err
	}
	return w.Run(ctx, func(context.Context, watcher.Batch) error {
		nudge(arrived)
		if w.Status().Frozen != "" {
			w.Confirm() // log files go by the dozen when a device has compacted
		}
		if alone && e.company() {
			return errCompany
		}
		return nil
	})
}

// keeper names the keeper.
func (e *Engine) keeper(context.Context, *op.KeeperRequest) (*op.KeeperResult, error) {
	k := e.stm.Keeper()
	return &op.KeeperResult{Device: k.Device.String(), Name: k.Name, Here: k.Device.String() == e.stm.Status().Device, Claimed: k.Claimed}, nil
}

// keeperHere makes this device the keeper.
func (e *Engine) keeperHere(ctx context.Context, _ *op.KeeperHereRequest) (*op.KeeperResult, error) {
	if err := e.stm.Claim(); err != nil {
		return nil, err
	}
	if e.lists != nil {
		e.lists.changed()
	}
	return e.keeper(ctx, &op.KeeperRequest{})
}

func devices(peers []stm.PeerStatus) []op.DeviceStatus {
	out := make([]op.DeviceStatus, 0, len(peers))
	for _, p := range peers {
		out = append(out, op.DeviceStatus{Device: p.Device, Name: p.Name, Here: p.Self, Keeper: p.Keeper, Seen: p.At, Missing: p.Missing, Behind: p.Behind})
	}
	return out
}
