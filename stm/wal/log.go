package wal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"emberd/compaction"
	"emberd/internal/contain"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/journal"
	"emberd/stm/otherfiles"
	"emberd/stm/ownfiles"
	"emberd/stm/quarantine"
	"emberd/stm/record"
	"emberd/stm/repair"
	"emberd/stm/snapshot"
	"emberd/stm/table"
)

// Log is the log of all devices: the files, the writer of this device's, and what
// the lines add up to.
//
// Before [Log.Start], only the goroutine that opened the log can change it.
// From then on the writer's goroutine alone changes table, word index, journal, keys,
// snapshot.marks and writer; every other goroutine reads them under the locks that
// they have of their own, and asks the writer through [Log.OnWriter] to change
// something for it. Locks are taken in this order: healing, rewriting, then the lock of a
// memory (locks), then closing, then those of the parts, none of which is held while
// another is taken. The lock of a memory is taken by the goroutine of a caller and
// released by the writer, when the change is on the disk and visible.
type Log struct {
	table.MemorySet // all live memories
	*device.Home
	*journal.FileTable
	counters
	Durability Durability

	SegmentBytes  int64
	documentBytes int64
	SegmentAge    time.Duration
	TrashKeep     time.Duration
	HistoryKeep   time.Duration
	minFree       int64              // below 0: the disk is not asked
	committed     func(record.Entry) // called by the writer, must not wait; can be nil
	beginning     func(*Log)         // called by the writer before its first transaction, then nil
	sign          func(*record.Entry) string
	purging       func([]memory.ID) error

	Ballast    *reservedSpace
	Journal    *journal.Journal
	Keys       *journal.Keys
	Uses       uses
	Locks      locks           // taken by callers, released by the writer
	recovery   record.Recovery // what the start met; not changed after it
	found      found           // by the start
	before     repair.Predecessors
	own        *ownfiles.Files
	others     otherfiles.Files
	Peers      *device.Peers
	Prints     *device.TextKeys
	Review     review
	Apart      TextsApart
	LoadTime   time.Duration
	Snapshot   snapshotState
	Quarantine *quarantine.Lines
	counts     counts
	// asked is the latest millisecond that a view of the past was asked for: a line
	// that is as old makes the answer incomplete.
	Asked atomic.Int64

	Rewriting  sync.Mutex // held by one compaction, unlinking or purge from its begin to its end
	refreshing sync.Mutex // held by one Refresh
	healing    sync.Mutex // held by one repair, and by a Moment, which has all that it writes or nothing

	Writer  *Writer
	closing sync.RWMutex // read-locked by a caller while it queues, locked by Close to forbid that for good
	closed  bool         // guarded by closing
}

// OpenLog recovers the log under data and returns the edits by hand that it met. The
// writer does not run yet.
func OpenLog(data, state string, o *Options) (*Log, []ManualEdit, error) {
	begin := time.Now()
	if err := o.Durability.check(); err != nil {
		return nil, nil, err
	}
	if err := accept(data, state, o); err != nil {
		return nil, nil, err
	}
	if err := makeFolders(o.FS, data, state); err != nil {
		return nil, nil, err
	}
	dev, why, err := device.OpenIdentity(o.FS, data, state, o.Now())
	if err != nil {
		return nil, nil, device.Fault(data, err)
	}
	id, _ := record.ParseDevice(dev.ID)
	h := &device.Home{Data: data, State: state, FS: o.FS, Logger: o.Logger, Now: o.Now, Device: id, Host: o.Host,
		Former: dev.Former, TakenOver: dev.TakenOver, Sole: dev.Sole}
	s := &Log{Home: h, FileTable: &journal.FileTable{}, Durability: o.Durability, SegmentBytes: o.SegmentBytes,
		SegmentAge: o.SegmentAge, documentBytes: o.DocumentBytes,
		MemorySet: table.MemorySet{Table: table.NewTable(), Words: table.NewIndex(o.Analyzer, o.Logger, o.Elsewhere)},
		TrashKeep: o.TrashKeep, HistoryKeep: o.HistoryKeep, minFree: o.MinFree, committed: o.Committed,
		beginning: o.Beginning, sign: o.Sign, purging: o.Purging,
		Ballast: NewBallast(o.FS, filepath.Join(data, "stm", dev.ID), state, o.Ballast),
		Keys:    journal.NewIdemKeys(), Uses: uses{wake: make(chan struct{},
			1)}, Locks: locks{held: map[string]*lock{}},
		Prints: &device.TextKeys{Home: h}}
	s.Journal = journal.NewJournal(h, s.FileTable)
	s.Peers = &device.Peers{Home: h, Keys: s.Prints, Last: &s.LastSeq,
		Seen: func() map[record.Device]uint64 { return s.Snapshot.Seen.Contiguous() }}
	switch {
	case dev.Recovered():
		o.Logger.Warn("device.json is damaged; this device continues to use the ID in its log", "device", dev.ID)
	case len(dev.TakenOver) > 0 && why != "":
		o.Logger.Warn("new device identity", "device", dev.ID, "because", why)
	case why != "":
		o.Logger.Info("new device identity", "device", dev.ID, "because", why)
	}
	if s.own, err = ownfiles.Open(h, o.Damaged); err != nil {
		return nil, nil, device.Fault(state, err)
	}
	var edits []ManualEdit
	if err = contain.Failures(func() (err error) {
		edits, err = s.load(dev, o)
		return err
	}); err != nil {
		return nil, nil, device.Fault(data, err)
	}
	s.LoadTime = time.Since(begin)
	return s, edits, nil
}

// accept refuses a data folder from which the log of this device is gone, unless it is to be begun
// anew: then the snapshot of the earlier one is put aside, or what it holds is written again.
func accept(data, state string, o *Options) error {
	err := repair.Gone(o.FS, data, state)
	switch {
	case err == nil, o.Repair && errors.Is(err, device.ErrLogGone):
		return nil
	case o.AcceptEmpty && errors.Is(err, device.ErrLogGone):
		if dev, ok := device.Named(o.FS, state); ok {
			if err := extent.Drop(o.FS, state, dev); err != nil { // it is missed no more
				return err
			}
		}
		missing, err := repair.MissingMemories(context.Background(), o.FS, data, state, o.Logger)
		if err != nil {
			return err
		}
		name, err := device.KeepSnapshot(o.FS, state)
		if missing > 0 {
			o.Logger.Warn("started a log without memories of the earlier log; to restore these memories from the "+
				"snapshot of the earlier log, run: emberd doctor log repair", "memories", missing, "snapshot", name)
		}
		return err
	}
	return err
}

func makeFolders(fsys durable.FS, data, state string) error {
	for _, dir := range []string{filepath.Join(data, "stm"), state} {
		if err := durable.MkdirAll(fsys, dir); err != nil {
			return device.Fault(data, err)
		}
	}
	return nil
}

// load reads snapshot and log and returns the writer that continues the log.
func (s *Log) load(dev *device.Identity, o *Options) ([]ManualEdit, error) {
	w := &Writer{S: s, Dev: dev, Dir: filepath.Join(s.Data, "stm", dev.ID), lastSegment: dev.Segment,
		clock: record.Clock{Dev: s.Device, Now: s.Now}, Queue: make(chan *Pending, MaxQueue), calls: make(chan func()),
		looks: make(chan chan struct{}), arrivals: make(chan *arrival), stop: make(chan struct{})}
	if err := durable.MkdirAll(s.FS, w.Dir); err != nil {
		return nil, err
	}
	for _, dir := range []string{s.State, filepath.Dir(s.SnapshotPath()), s.QuarantineDir(), s.PeersDir()} {
		if err := durable.SweepTemps(s.FS, dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.Logger.Warn("leftover temporary files not removed", "directory", dir, "error", err)
		}
	}
	for _, name := range append([]string{dev.ID}, s.Sole...) {
		compaction.SweepTemps(s.FS, filepath.Join(s.Data, "stm", name), s.Logger)
	}
	info, err := s.FS.Lstat(w.Dir)
	if err != nil {
		return nil, err
	}
	w.dirInode = device.InodeOf(info)
	if dev.Unbegun(s.FS, w.Dir) {
		w.lastSegment = 0 // the number is as good as new
	}
	if s.Quarantine, err = quarantine.Open(s.Home); err != nil {
		s.Logger.Warn("decisions about damaged lines not read; emberd might report the lines again", "error", err)
	}
	r := NewRecovery(s, &w.clock)
	r.useSnapshot()
	if err := r.all(); err != nil {
		return nil, err
	}
	r.repurge(o.KnownPurges)
	r.heal(healer{s}.heldBySnapshot(o.Repair))
	r.reconsider()
	r.believe()
	if r.failed != nil {
		return nil, fmt.Errorf("cannot read the log: %w", r.failed)
	}
	s.before.Find(s.Home, r.seen)
	s.own.Rebuild()
	r.short = s.own.Short("")
	w.seq, r.count.Gaps = r.numbers()
	w.changed = w.seq
	w.take(r)
	s.recovery = r.count
	s.reserved.Store(dev.Segment)
	s.unsealed.Store(dev.Segment + 1)
	s.LastSeq.Store(w.seq)
	s.newest.Store(w.clock.Last)
	s.Journal.Tell(s.Peers.Heard)
	s.Peers.ReadPeers()
	s.Snapshot.Seen, s.Snapshot.taken, s.Snapshot.lost, s.Snapshot.began = r.seen, r.taken, r.lost, w.seq
	s.Snapshot.carried, s.Snapshot.missed = r.carried, r.missed
	// Reading that again can be saved. A line may be of many memories, each of which is not indexed then.
	s.Snapshot.saved.Store(-max(int64(r.count.Applied), int64(s.Indexable())-s.Words.Indexed.Load()))
	s.Words.Complete.Store(int(s.Words.Indexed.Load()) == s.Indexable())
	s.Writer = w
	documentStore{s}.sweepLater()
	return r.Edited(), nil
}

// Start runs the writer, until Close, and has what a copy held and the log did not written
// before it returns.
func (s *Log) Start() {
	s.Writer.stopped.Go(s.Writer.run)
	if err := (healer{s}).recover(context.Background()); err != nil {
		s.Logger.Error(err.Error())
	}
}

// Close writes what is queued, ends the writer, seals the segment, calls closed with what failed
// until then, and writes the snapshot, as long as ctx lasts. Without a new one the earlier one
// stays, and the next start reads what came after it. It may be called again, and does nothing.
func (s *Log) Close(ctx context.Context, closed func(error)) error {
	s.closing.Lock()
	if s.closed {
		s.closing.Unlock()
		return nil
	}
	s.closed = true
	s.closing.Unlock()
	LookAtFiles(s)
	close(s.Writer.stop)
	s.Writer.stopped.Wait()
	err := s.Writer.sealActive()
	if _, err := s.Peers.Announce(true); err != nil {
		s.Logger.Warn("position in the log not published to other devices", "error", err)
	}
	lost := s.UsesWritten()
	err = errors.Join(err, lost)
	if closed(err); lost != nil {
		return err // a snapshot would show what the log does not hold
	}
	if s.Len() > snapshotEvery*snapshotShare {
		return err // a stop is not to wait: the next start reads what came after the last one
	}
	saved := s.SaveSnapshot(ctx, s.Writer.Cursor(), snapshot.Manner{Settle: s.UsesWritten})
	if saved != nil && ctx.Err() != nil {
		s.Logger.Info("stopped before writing a snapshot; the next start reads more of the log", "because", saved)
		saved = nil
	}
	return errors.Join(err, saved)
}

// Send queues p unless the queue is full or the store is closing.
func (s *Log) Send(p *Pending) error {
	s.closing.RLock()
	defer s.closing.RUnlock()
	if s.closed {
		return memory.Errorf(memory.Unavailable, "the daemon is stopping; try again when the daemon is running again")
	}
	select {
	case s.Writer.Queue <- p:
		return nil
	default:
		return memory.Errorf(memory.Busy, "%d changes are waiting for the disk; try again in a moment", MaxQueue)
	}
}

// OnWriter runs fn between two batches on the goroutine that changes log and
// table. When the store is closing it does not run.
func (s *Log) OnWriter(ctx context.Context, fn func()) error {
	done := make(chan struct{})
	call := func() {
		fn()
		close(done)
	}
	select {
	case s.Writer.calls <- call:
		<-done
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.Writer.stop:
		return nil
	}
}
