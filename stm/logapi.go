package stm

import (
	"context"
	"maps"
	"slices"
	"time"

	"emberd/internal/metrics"
	"emberd/memory"
	"emberd/stm/content"
	"emberd/stm/device"
	"emberd/stm/journal"
	"emberd/stm/repair"
	"emberd/stm/wal"
)

// The methods that are about the log as a whole.

// Replay returns what an idempotency key stood for within the last 24 hours.
func (s *Store) Replay(key string) (journal.Replayed, bool) {
	return s.wal.Keys.Replay(key, s.wal.Now())
}

// Segments lists the files of the log as they are on the disk now, see [Segment].
func (s *Store) Segments() ([]Segment, error) { return s.wal.Segments() }

// Settle waits until all that is on the disk is in what End returns.
func (s *Store) Settle(ctx context.Context) error { return wal.AuditLog{Of: s.wal}.Settle(ctx) }

// End returns the end of this device's log, see [wal.Log.End].
func (s *Store) End() (seq uint64, newest Stamp, certain bool) { return wal.AuditLog{Of: s.wal}.End() }

// Changes reads every change of the log from the disk, see [wal.Log.Changes].
func (s *Store) Changes(fn func(*LogLine)) error { return wal.AuditLog{Of: s.wal}.Changes(fn) }

// Closed returns the end of a segment, see [wal.AuditLog.Closed].
func (s *Store) Closed(device Device) *LogLine { return wal.AuditLog{Of: s.wal}.Closed(device) }

// Stats reads the log of this device and counts, see [wal.Stats]. It is busy during a compaction.
func (s *Store) Stats(ctx context.Context) (wal.Stats, error) { return wal.StatsOf(ctx, s.wal) }

// Rewrite compacts files of this device, see [compaction.Run]. The inputs stay until Unlink.
func (s *Store) Rewrite(ctx context.Context, job Compaction) (Rewritten, error) {
	return s.wal.Rewrite(ctx, job)
}

// Unlink removes files that compacted ones made before made replace, and history segments
// without a line after past.
func (s *Store) Unlink(ctx context.Context, made, past time.Time) (wal.Unlinked, error) {
	return s.wal.Unlink(ctx, made, past)
}

// Refresh reads what other devices' files have gained since they were read last.
func (s *Store) Refresh(ctx context.Context) (wal.ForeignChange, error) { return s.wal.Refresh(ctx) }

// LookAtFiles reports whether a file of this device is damaged, see [wal.LookAtFiles].
func (s *Store) LookAtFiles() bool { return wal.LookAtFiles(s.wal) }

// ReturnHistories copies lost histories from another copy of the log, see [wal.ReturnHistories].
func (s *Store) ReturnHistories(data string) (int, error) { return wal.ReturnHistories(s.wal, data) }

// Heal writes again what the table, and a copy of the log if one is given, hold and no file does,
// see [wal.Log.Heal].
func (s *Store) Heal(ctx context.Context, held *repair.Folded, dry bool) (repair.Healed, error) {
	return s.wal.Heal(ctx, held, dry)
}

// AcceptLoss takes the log as it is, see [wal.Log.AcceptLoss].
func (s *Store) AcceptLoss(ctx context.Context) (repair.Healed, error) { return s.wal.AcceptLoss(ctx) }

// Moment returns the present position of the log, and what the store knows there. What was
// acknowledged before is in both.
func (s *Store) Moment(ctx context.Context) (at wal.LogPosition, known *content.Known, err error) {
	at, err = s.wal.Moment(ctx, func() { known = content.KnownOf(s.Table) })
	return at, known, err
}

// Purges returns every purge that the log knows of. The caller owns the map.
func (s *Store) Purges() Purges { return content.KnownPurges(s.Table) }

// Kept lists the memories in the snapshots of earlier logs, see [KeptSnapshots]. The caller owns the map.
func (s *Store) Kept() Purges { return wal.KeptIDs(s.wal) }

// TextsApart returns the memories whose text devices may have changed apart, by lines that arrived
// since it was called last. [Store.TextEdits] has what they wrote.
func (s *Store) TextsApart() []memory.ID { return s.wal.Apart.Take() }

// SnapshotDue reports whether enough has changed to be worth a snapshot, and whether so much that it should not wait.
func (s *Store) SnapshotDue() (due, now bool) { return s.wal.SnapshotDue() }

// WriteSnapshot saves the table and the word index under state/, unless ctx ends. Saves and
// searches continue; they have half of the time or more for themselves.
func (s *Store) WriteSnapshot(ctx context.Context) error { return s.wal.WriteSnapshot(ctx, true) }

// BareTrash counts the memories of the trash that came back without their texts, which no list of it has. A
// view of a part of the memories is told of none.
func (s *Store) BareTrash() int {
	if s.Sees != nil {
		return 0
	}
	return wal.BareTrash(s.wal)
}

// Status reports the state of the log. It waits for a look at the disk, for a tenth of a
// second at most. Memories are counted as the view shows them.
func (s *Store) Status() wal.Status {
	st := s.wal.Status()
	if s.Sees != nil {
		st.Live, st.Of, st.Trash = s.Len(), s.Len(), len(s.Trash())
	}
	return st
}

// Measure adds figures about the log and its memories to a page.
func (s *Store) Measure(p *metrics.Exposition) { s.wal.Measure(p) }

// Announce reports to the other devices how far this one is and returns when to call it again.
func (s *Store) Announce(now bool) (next time.Time, err error) { return s.wal.Peers.Announce(now) }

// Watermarks lists the devices, this one included, and how far each is.
func (s *Store) Watermarks() []device.Watermark { return s.wal.Peers.Watermarks() }

// WroteAs reports whether this device wrote its log under a name before it got its present one.
func (s *Store) WroteAs(device string) bool {
	_, took := s.wal.TakenOver[device]
	return took || s.wal.IsFormer(device)
}

// Devices names every device that this log is, or was, written by, as far as the log, the state folder and the other
// devices tell; only this one if it has written nothing.
func (s *Store) Devices() []string {
	names := map[string]bool{s.wal.Device.String(): true}
	for name := range s.wal.TakenOver {
		names[name] = true
	}
	for _, name := range s.wal.Former {
		names[name] = true
	}
	for dev := range s.wal.Snapshot.Seen.Clone() {
		names[dev.String()] = true
	}
	for _, m := range s.wal.Peers.Watermarks() {
		names[m.Device.String()] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Primary returns the device that does background work that must run once.
func (s *Store) Primary() device.Primary { return s.wal.Peers.Primary() }

// ClaimPrimary makes this device the primary device.
func (s *Store) ClaimPrimary() error { return s.wal.Peers.ClaimPrimary() }

// CameBackInPart reports whether some changes came back without what they replaced, see [wal.Log.CameBackInPart].
func (s *Store) CameBackInPart() bool { return s.wal.CameBackInPart() }

// Quarantine lists the damaged lines of this device that no person has decided about, in
// the order of the log.
func (s *Store) Quarantine() ([]Quarantined, error) { return s.wal.Quarantine.List() }

// Quarantined returns one damaged line by its name.
func (s *Store) Quarantined(name string) (Quarantined, error) {
	return s.wal.Quarantine.Named(name)
}

// Drop says that a damaged line is not needed. Its copy is removed; the line stays in its
// segment until compaction and is not counted again.
func (s *Store) Drop(name string) error { return s.wal.Quarantine.Drop(name) }

// Stale lists the memories that wait for a decision, by ID.
func (s *Store) Stale() []wal.Stale { return s.wal.Review.Stale() }
