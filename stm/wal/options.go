package wal

import (
	"cmp"
	"context"
	"log/slog"
	"runtime"
	"time"

	"emberd/internal/durable"
	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/record"
	"emberd/stm/table"
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
		return memory.Errorf(memory.Invalid,
			"durability \"barrier\" requires macOS, but this system is %s; use \"full\" or \"none\"", runtime.GOOS)
	}
	return memory.Errorf(memory.Invalid, "invalid durability %.20q; use full, barrier or none", string(d))
}

// Options of Open. The zero value is right.
type Options struct {
	Logger       *slog.Logger     // nil discards
	FS           durable.FS       // nil is the real disk
	Now          func() time.Time // nil is time.Now
	Durability   Durability       // "" is Full
	SegmentBytes int64            // a segment ends after so many bytes; 0 is 4 MiB
	SegmentAge   time.Duration    // and after so long; 0 is 24 h
	// DocumentBytes is how many bytes of documents stay in memory when a snapshot is written; 0 is 1 MiB.
	DocumentBytes int64
	TrashKeep     time.Duration      // 0 is 30 days
	HistoryKeep   time.Duration      // for how long Unlink is told to keep superseded lines; 0 is TrashKeep
	Analyzer      *analysis.Analyzer // nil is analysis.New()
	Host          string             // what the other devices are to call this one; "" is the host's name

	// Elsewhere, if not nil, reports the live memories whose text another index has: they are not in the word index.
	// It looks at the row alone. Searches with terms find none of them; those without find them all.
	Elsewhere func(*table.Row) bool

	// MinFree is how many bytes must be free for anything but deletes to be
	// written; 0 is 16 MiB, below 0 the disk is never asked. Ballast is the size of
	// the file that is given up when the disk is full; 0 is 2 MiB, below 0 none.
	MinFree, Ballast int64
	// AcceptEmpty starts an empty log if the log that state knows of is gone. Otherwise
	// that is an error, since the disk might not be mounted.
	AcceptEmpty bool
	// Repair begins a new log where the one of this device is gone, and writes into it what the
	// snapshot holds.
	Repair bool
	// KnownPurges are purges that are remembered beside the log, with their stamps. Those that the log has
	// lost are written to it again before a copy of a memory is read from anywhere.
	KnownPurges map[[16]byte]record.Stamp
	// Committed, if not nil, receives every transaction that is on disk and visible, in
	// the order of the log and before its caller is answered. The writer goroutine
	// calls it; it must not wait.
	Committed func(record.Entry)
	// Damaged, if not nil, is called when a file of this device is found not to be as it was left, until
	// Refresh has made good what it can. It must not wait. Any goroutine may call it.
	Damaged func()
	// Beginning, if not nil, is called once by the writer goroutine, before it writes the first
	// transaction of this process.
	Beginning func(*Log)
	// Complete, if not nil, can add fields to the changes of a transaction before it is checked. It is
	// called with the locks of its memories. Many goroutines call it at once.
	Complete func(ctx context.Context, tx *Tx) error
	// Sign, if not nil, returns the seal of the audit for a transaction, or for the end of a
	// segment, which has no memories; "" for none. The writer
	// goroutine calls it before it writes; it must not wait.
	Sign func(*record.Entry) string
	// Vet, if not nil, can refuse a transaction before it is encoded. It receives the
	// memories that were locked for it, nil where there is none, and must not change
	// anything. Many goroutines call it at once.
	Vet func(tx *Tx, before []*table.Row) error
	// Purging, if not nil, receives the memories that are purged before the log's files are
	// rewritten. An error leaves that to a later try. It must not ask for a compaction or a purge.
	Purging func(ids []memory.ID) error
	// Purged, if not nil, receives the memories that are purged, and the device that purged
	// them, after the log contains nothing of them and before the purge is recorded as done.
	// After an error or a crash it is called again, so it can receive a memory twice. It must
	// not ask for a compaction or a purge.
	Purged func(ctx context.Context, by map[memory.ID]string) error
}

// WithDefaults returns a complete copy.
func (o *Options) WithDefaults() Options {
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
	out.DocumentBytes = cmp.Or(out.DocumentBytes, 1<<20)
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
		out.Host = device.HostName()
	}
	if out.Analyzer == nil {
		out.Analyzer = analysis.New()
	}
	out.MinFree = cmp.Or(out.MinFree, MinFree)
	out.Ballast = cmp.Or(out.Ballast, BallastBytes)
	if out.FS == (durable.OS{}) && out.Durability == Barrier {
		out.FS = durable.OS{Barrier: true}
	}
	return out
}
