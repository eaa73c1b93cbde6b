package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/internal/durable"
	"emberd/op"
	"emberd/stm"
	"emberd/watcher"
)

const (
	// checkInterval is how often the files of other devices are checked without an event.
	checkInterval = 30 * time.Minute
	// announceRetry is the wait after a failed announcement to other devices.
	announceRetry = 10 * time.Second
	// never is the interval of checks without another device: its first file raises an event.
	never = 10 * 365 * 24 * time.Hour
)

// errCompany ends a watch for a single device when a second one appears.
var errCompany = errors.New("new device found")

// Tasks returns the background work about callers and other devices: it writes the ledger,
// merges files of other devices, and announces this device's position to them. With a single
// device only the ledger has a timer.
func (e *Admin) Tasks() []*core.Task {
	return []*core.Task{e.ledgerTask(),
		{First: e.firstRefresh(), Wake: e.NewFiles, Do: func(ctx context.Context) time.Time {
			due := e.Refresh(ctx)
			core.Nudge(e.Shared)
			return due
		}},
		{First: e.Opt.Now(), Wake: e.Shared, Woken: e.whenToAnnounce,
			Do: func(context.Context) time.Time { return e.announce() }},
	}
}

// firstRefresh returns when the files of other devices are read first: at once, since what one of them has lost
// while the daemon was not running is written again some time after a refresh has met that.
func (e *Admin) firstRefresh() time.Time {
	if !e.hasOtherDevices() {
		return time.Time{}
	}
	return e.Opt.Now()
}

// whenToAnnounce returns when the next announcement is due: now, if there was none before.
func (e *Admin) whenToAnnounce(due time.Time) time.Time {
	if due.IsZero() && e.hasOtherDevices() {
		return e.Opt.Now()
	}
	return due
}

// hasOtherDevices reports whether there is another device.
func (e *Admin) hasOtherDevices() bool { return len(e.Stm.Watermarks()) > 1 }

// announce writes this device's position for the others, and returns when it may do so again.
func (e *Admin) announce() time.Time {
	next, err := e.Stm.Announce(false)
	e.Chores.Settle("writing the progress file for other devices", err)
	switch {
	case err != nil:
		return e.Opt.Now().Add(announceRetry)
	case !e.hasOtherDevices():
		return time.Time{}
	}
	return next
}

// Refresh merges what arrived from other devices, and returns when a postponed part is due.
func (e *Admin) Refresh(ctx context.Context) time.Time {
	got, err := e.Stm.Refresh(ctx)
	if ctx.Err() == nil {
		e.Chores.Settle("reading files of other devices", err)
	}
	if got.Lines > 0 {
		e.Opt.Logger.Info("merged changes from other devices", "lines", got.Lines)
		e.Revision.Add(1)
		e.Arrived(ctx, got)
		e.Texts.Arrived()
		e.Purge.ApplyDue(ctx)
		e.Changed()
	}
	return got.Due
}

// Arrived publishes the changes of other devices, and many of them as one event.
func (e *Admin) Arrived(ctx context.Context, got stm.ForeignChange) {
	told := 0
	for _, entry := range got.Entries {
		told += len(entry.IDs)
		e.Hooks.Touched(entry.IDs)
		e.Semantic.Meaning.Committed(&entry)
		e.EventLog.Publish(op.Event{ID: entry.Tx, Type: entry.Verb, At: entry.At, IDs: entry.IDs})
		if e.Sync.Sync != nil {
			e.Sync.Sync.Arrived(&entry)
			e.Lists.Lists.Committed(&entry)
			e.Links.Known.Committed(e.Notes.Vault.Carriers, &entry)
		}
		e.Lifecycle.Repair(ctx, entry.IDs)
		e.Lifecycle.ReconcileTexts(ctx, &entry)
		e.LookForSecrets(ctx, entry.IDs)
	}
	if more := got.Memories - told; more > 0 {
		e.Hooks.Touched(nil)
		e.Semantic.Meaning.ChangedAll()
		if e.Sync.Sync != nil {
			e.Sync.Sync.EnqueueAll()
			e.Lists.Lists.Changed()
			e.Links.Known.Changed()
		}
		e.Lifecycle.RepairAll(ctx)
		e.LookForSecrets(ctx, nil)
		e.EventLog.Publish(e.Notice(fmt.Sprintf("%d more changes arrived from other devices; read the memories again",
			more)))
	}
}

// WatchDevices watches the files of other devices until ctx ends. It needs a real disk.
func (e *Admin) WatchDevices(ctx context.Context) {
	if _, real := e.Opt.FS.(durable.OS); !real {
		return
	}
	for ctx.Err() == nil {
		if err := e.watchOnce(ctx); err != nil && !errors.Is(err, errCompany) {
			e.Opt.Logger.Warn("files of other devices not read until the next start", "error", err)
			return
		}
	}
}

func (e *Admin) watchOnce(ctx context.Context) error {
	const name = "devices"
	device := e.Stm.Status().Device
	opt := watcher.Options{Extensions: []string{".jsonl", ".json"}, Logger: e.Opt.Logger,
		Ignore: []string{"/devices/" + device + ".json"}, Rescan: never, Poll: never,
		Pass: true} // a device that compacted removes many log files
	alone := !e.hasOtherDevices()
	if !alone {
		opt.Rescan, opt.Poll = checkInterval, 0
		e.Chores.Arm(name, checkInterval)
		defer e.Chores.Disarm(name)
	}
	w, err := watcher.New(e.Opt.Data, &opt)
	if err != nil {
		return err
	}
	return w.Run(ctx, func(_ context.Context, b watcher.Batch) error {
		if b.Full || !concernsOnly("stm/"+device+"/", &b) {
			core.Nudge(e.NewFiles)
		} else {
			e.Stm.LookAtFiles() // which asks for a reading if one is damaged
		}
		if alone && e.hasOtherDevices() {
			return errCompany
		}
		return nil
	})
}

// concernsOnly reports whether all that changed is in one folder.
func concernsOnly(folder string, b *watcher.Batch) bool {
	inside := func(path string) bool { return strings.HasPrefix(path, folder) }
	return !slices.ContainsFunc(b.Changed, func(f watcher.File) bool { return !inside(f.Path) }) &&
		!slices.ContainsFunc(b.Gone, func(path string) bool { return !inside(path) })
}

// PrimaryDevice returns the primary device.
func (e *Admin) PrimaryDevice(context.Context, *op.KeeperRequest) (*op.KeeperResult, error) {
	k := e.Stm.Primary()
	return &op.KeeperResult{Device: k.Device.String(), Name: k.Name, Here: k.Device.String() == e.Stm.Status().Device,
		Claimed: k.Claimed}, nil
}

// ClaimPrimary makes this device the primary one.
func (e *Admin) ClaimPrimary(ctx context.Context, _ *op.KeeperHereRequest) (*op.KeeperResult, error) {
	if err := e.Stm.ClaimPrimary(); err != nil {
		return nil, err
	}
	if e.Lists.Lists != nil {
		e.Lists.Lists.Changed()
		e.Links.Known.Changed()
	}
	return e.PrimaryDevice(ctx, &op.KeeperRequest{})
}

func devices(peers []stm.PeerStatus) []op.DeviceStatus {
	out := make([]op.DeviceStatus, 0, len(peers))
	for _, p := range peers {
		out = append(out, op.DeviceStatus{Device: p.Device, Name: p.Name, Here: p.Self, Keeper: p.Keeper, Seen: p.At,
			Missing: p.Missing, Behind: p.Behind})
	}
	return out
}
