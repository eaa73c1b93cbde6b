package stm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"emberd/internal/durable"
	"emberd/internal/text"
	"emberd/memory"
)

// Durability is what an acknowledgement means.
type Durability string

// Full means on the disk. Barrier, on macOS only, means that a power cut may
// lose the last moments, but nothing older than what it keeps. None means handed
// to the system: a power cut may lose anything. None is for tests.
const (
	Full    Durability = "full"
	Barrier Durability = "barrier"
	None    Durability = "none"
)

// check refuses what this system cannot do.
func (d Durability) check() error {
	switch {
	case d == Full, d == None, d == Barrier && runtime.GOOS == "darwin":
		return nil
	case d == Barrier:
		return memory.Errorf(memory.Invalid, "durability barrier is a way to sync that only macOS has, and this is %s; set stm.durability to full", runtime.GOOS)
	}
	return memory.Errorf(memory.Invalid, "durability %.20q is not full, barrier or none", string(d))
}

// Options of Open. The zero value is right.
type Options struct {
	Logger       *slog.Logger     // nil discards
	FS           durable.FS       // nil is the real disk
	Now          func() time.Time // nil is time.Now
	Durability   Durability       // "" is Full
	SegmentBytes int64            // a segment ends after so many bytes; 0 is 4 MiB
	SegmentAge   time.Duration    // and after so long; 0 is 24 h
	TrashKeep    time.Duration    // 0 is 30 days
	HistoryKeep  time.Duration    // for how long Unlink is told to keep superseded lines; 0 is TrashKeep
	Analyzer     *text.Analyzer   // nil is text.New()
	Host         string           // what the other devices are to call this one; "" is the host's name

	// MinFree is how many bytes must be free for anything but deletes to be
	// written; 0 is 16 MiB, below 0 the disk is never asked. Ballast is the size of
	// the file that is given up when the disk is full; 0 is 2 MiB, below 0 none.
	MinFree, Ballast int64
	// AcceptEmpty starts anew where the log that state knows of is gone. Else
	// that is an error, since the disk may only not be mounted.
	AcceptEmpty bool
	// Committed is told of every transaction that is on disk and visible, in the
	// order of the log and before whoever asked for it is answered; nil for
	// nobody. It is called on the goroutine that writes and must not wait.
	Committed func(Entry)
	// Vet may refuse a transaction before it is encoded, nil refuses none. It is shown
	// the memories that were locked for it, nil where there is none, and must not change
	// anything. It is called by many goroutines at once.
	Vet func(tx *Tx, before []*Row) error
	// Purged is told which memories are purged, and by which device, after the log has nothing
	// of them and before that is settled; nil for nobody. After an error, or a crash, it is told
	// again. It must not ask for a compaction or a purge, and may be told of the same twice.
	Purged func(ctx context.Context, by map[memory.ID]string) error
}

// withDefaults returns a complete copy.
func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	if out.FS == nil {
		out.FS = durable.OS{}
	}
	if out.Now == nil {
		out.Now = time.Now
	}
	if out.Durability == "" {
		out.Durability = Full
	}
	if out.SegmentBytes == 0 {
		out.SegmentBytes = 4 << 20
	}
	if out.SegmentAge == 0 {
		out.SegmentAge = 24 * time.Hour
	}
	if out.TrashKeep == 0 {
		out.TrashKeep = 30 * 24 * time.Hour
	}
	out.HistoryKeep = max(out.HistoryKeep, out.TrashKeep)
	if out.Host == "" {
		out.Host = hostName()
	}
	if out.Analyzer == nil {
		out.Analyzer = text.New()
	}
	out.MinFree = cmp.Or(out.MinFree, minFree)
	out.Ballast = cmp.Or(out.Ballast, ballastBytes)
	if out.FS == (durable.OS{}) && out.Durability == Barrier {
		out.FS = durable.OS{Barrier: true}
	}
	return out
}

// Store is the short-term memory: log, table and word index. All methods may
// be called from any goroutine.
type Store struct {
	Memories // those that are live now
	*kept
	may func(before *Row, c *Change) error // nil lets every change pass, see [Store.Through]
}

// kept is what a store has, whoever looks at it.
type kept struct {
	data, state string
	log         *slog.Logger
	fs          durable.FS
	now         func() time.Time
	durability  Durability

	segmentBytes int64
	segmentAge   time.Duration
	trashKeep    time.Duration
	historyKeep  time.Duration
	minFree      int64                                             // below 0: the disk is not asked
	committed    func(Entry)                                       // nil for nobody
	vet          func(*Tx, []*Row) error                           // nil refuses nothing
	tellPurged   func(context.Context, map[memory.ID]string) error // nil for nobody

	device   Device
	ballast  *ballast
	journal  *journal
	keys     *idemKeys
	uses     uses
	locks    locks
	recovery Recovery
	others   others
	peers    peers
	review   review
	host     string // what this device is called
	loadTime time.Duration
	snapshot snapshotState
	decided  decisions
	counters
	counts counts

	filesMu sync.RWMutex    // guards files and retired
	files   []string        // log files by the number that places use, "" once unlinked
	retired map[uint32]bool // replaced by a compacted file, not unlinked yet

	histories histories
	pasts     pasts
	textKeys  textKeys
	rewriting sync.Mutex // held by Rewrite and Unlink

	writer  *writer
	closing sync.RWMutex // held to read by senders, to write by Close
	closed  bool
}

// Open recovers the log under data, with what belongs to this machine under
// state, and starts the one goroutine that writes; Close ends it. The caller
// holds the lock that keeps other processes away. Damaged lines are counted in
// Status, never an error; a folder that cannot be read is one, and so is a log
// that is gone, which is [ErrLogGone].
func Open(data, state string, opt *Options) (*Store, error) {
	o := opt.withDefaults()
	begin := time.Now()
	if err := o.Durability.check(); err != nil {
		return nil, err
	}
	if err := checkThere(o.FS, data, state, o.AcceptEmpty); err != nil {
		return nil, err
	}
	if err := makeFolders(o.FS, data, state); err != nil {
		return nil, err
	}
	dev, why, err := openDevice(o.FS, data, state)
	if err != nil {
		return nil, fault(data, err)
	}
	id, _ := parseDevice(dev.ID)
	s := &Store{Memories: Memories{table: newTable(), index: newIndex(o.Analyzer, o.Logger)}}
	s.kept = &kept{data: data, state: state, log: o.Logger, fs: o.FS, now: o.Now, durability: o.Durability,
		segmentBytes: o.SegmentBytes, segmentAge: o.SegmentAge, trashKeep: o.TrashKeep, historyKeep: o.HistoryKeep, device: id,
		minFree: o.MinFree, committed: o.Committed, vet: o.Vet, tellPurged: o.Purged, ballast: newBallast(o.FS, filepath.Join(data, "stm", dev.ID), state, o.Ballast),
		journal: &journal{undone: map[Stamp]Stamp{}},
		keys:    &idemKeys{known: map[string]keyUse{}}, uses: uses{wake: make(chan struct{}, 1)},
		locks: locks{held: map[string]*lock{}}, host: o.Host}
	if why != "" {
		o.Logger.Info("new device identity", "device", dev.ID, "because", why)
	}
	w, edits, err := s.load(dev)
	if err != nil {
		return nil, fault(data, err)
	}
	s.loadTime = time.Since(begin)
	for _, w := range s.status().Warnings {
		s.log.Warn(w)
	}
	s.start(w, edits)
	return s, nil
}

func makeFolders(fsys durable.FS, data, state string) error {
	for _, dir := range []string{filepath.Join(data, "stm"), state} {
		if err := durable.MkdirAll(fsys, dir); err != nil {
			return fault(data, err)
		}
	}
	return nil
}

// load reads snapshot and log and returns the writer that continues the log.
func (s *Store) load(dev *device) (*writer, []handEdit, error) {
	w := &writer{s: s, dev: dev, dir: filepath.Join(s.data, "stm", dev.ID), lastSegment: dev.Segment,
		clock: hlc{dev: s.device, now: s.now}, queue: make(chan *pending, maxQueue), calls: make(chan func()),
		looks: make(chan chan struct{}), arrivals: make(chan *arrival), stop: make(chan struct{})}
	if err := durable.MkdirAll(s.fs, w.dir); err != nil {
		return nil, nil, err
	}
	for _, dir := range []string{s.state, filepath.Dir(s.snapshotPath()), s.quarantineDir(), s.peersDir()} {
		if err := durable.SweepTemps(s.fs, dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.log.Warn("left-over temporary files not removed", "directory", dir, "error", err)
		}
	}
	s.sweepCompactions(w.dir)
	info, err := s.fs.Lstat(w.dir)
	if err != nil {
		return nil, nil, err
	}
	w.dirInode = inodeOf(info)
	if dev.unbegun(s.fs, w.dir) {
		w.lastSegment = 0 // the number is as good as new
	}
	if err := s.decided.load(s.fs, s.state); err != nil {
		s.log.Warn("damaged lines that were decided about may be counted again", "error", err)
	}
	r := newRecovery(s, &w.clock)
	s.useSnapshot(r)
	if err := r.all(); err != nil {
		return nil, nil, err
	}
	r.reconsider()
	w.seq, r.count.Gaps = r.numbers()
	s.recovery = r.count
	s.reserved.Store(dev.Segment)
	s.unsealed.Store(dev.Segment + 1)
	s.lastSeq.Store(w.seq)
	s.newest.Store(w.clock.last)
	s.journal.tell(s.peers.heard)
	s.readPeers()
	s.snapshot.seen, s.snapshot.taken, s.snapshot.lost, s.snapshot.began = r.seen, r.taken, r.lost, w.seq
	if r.count.Applied > 0 {
		s.snapshot.fresh.Store(false) // reading that again can be saved
	}
	s.index.complete.Store(int(s.index.indexed.Load()) == s.Len())
	return w, r.edited(), nil
}

// start runs the writer and gives it the hand edits found in the log.
func (s *Store) start(w *writer, edits []handEdit) {
	s.writer = w
	w.stopped.Go(w.run)
	s.takeEdits(edits)
}

// Close writes what is queued, seals the segment and writes the snapshot. It
// may be called again.
func (s *Store) Close() error {
	s.closing.Lock()
	if s.closed {
		s.closing.Unlock()
		return nil
	}
	s.closed = true
	s.closing.Unlock()
	close(s.writer.stop)
	s.writer.stopped.Wait()
	err := s.writer.sealActive()
	if _, err := s.Announce(true); err != nil {
		s.log.Warn("other devices are not told how far this one is", "error", err)
	}
	if lost := s.usesWritten(); lost != nil {
		return errors.Join(err, lost) // a snapshot would show what the log does not hold
	}
	return errors.Join(err, s.saveSnapshot(s.writer.cursor(), s.usesWritten))
}

// fault turns an error of the disk into one that says what to do.
func fault(data string, err error) error {
	code, reason := explain(data, err)
	return &memory.Error{Code: code, Message: reason}
}

func explain(data string, err error) (memory.Code, string) {
	switch {
	case errors.Is(err, errGone):
		return memory.ReadOnly, fmt.Sprintf("the log under %s was deleted or replaced while emberd ran (%v), so nothing is written; put it back, or restart emberd to go on with what is there", data, err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return memory.ReadOnly, fmt.Sprintf("too many files are open (%v); raise the limit that emberd is started with (ulimit -n)", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return memory.DiskFull, fmt.Sprintf("the disk that holds %s is full; nothing saved so far is lost: free some space and try again", data)
	case errors.Is(err, syscall.EROFS):
		return memory.ReadOnly, fmt.Sprintf("the disk that holds %s is mounted read-only; memories can be read, but not changed until it is writable", data)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return memory.ReadOnly, fmt.Sprintf("emberd may not write in %s (%v); give your user the rights to it", data, err)
	}
	return memory.ReadOnly, fmt.Sprintf("the log under %s cannot be written or read: %v", data, err)
}

func compareText(a, b memory.ID) int { return strings.Compare(string(a), string(b)) }
