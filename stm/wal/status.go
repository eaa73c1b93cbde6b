package wal

import (
	"fmt"
	"path/filepath"
	"time"

	"emberd/stm/device"
	"emberd/stm/record"
	"emberd/stm/repair"
)

// Status reports how the store is.
type Status struct {
	Device      string
	Segments    int
	Bytes       int64
	Active      string // segment being written, "" before the first write
	Durability  Durability
	ReadOnly    string // why the last write failed, "" when it did not
	Recovery    record.Recovery
	Unreadable  int // files and folders of other devices that cannot be read
	Devices     []device.PeerStatus
	Stale       int // memories that wait for a decision, see DecideStale
	LoadTime    time.Duration
	Snapshot    string // used, absent, or why it was not used
	LowSpace    string // why saves are refused while deletes are not, "" when they are not
	Live, Trash int
	Indexed, Of int
	Sealed      int           // own files that a start reads, less the one being written
	Dead        int64         // about how many of the own bytes a compaction would take away
	Recovered   repair.Healed // what came back from a copy at this start, or since
	BareTrash   int           // memories of the trash that came back without their texts
	Short       []string      // own files that hold less than was written to them, in clauses
	Warnings    []string
	Waits       []Waiting // which of Warnings last until the user acts
}

// A Waiting is a warning about the log that lasts until the user decides or repairs.
type Waiting struct {
	Count   int // damaged lines, missing records or memories
	Warning string
	Kind    WaitingKind
}

// A WaitingKind is what lasts until the user acts.
type WaitingKind int

// Kinds of what waits for the user.
const (
	WaitingQuarantine WaitingKind = iota // damaged lines of this device
	WaitingGaps                          // records of this device that are missing
	WaitingStale                         // memories of a device that was offline for long
)

// addWaits lists what of the start's findings lasts until the user acts.
func (st *Status) addWaits(met record.Recovery) {
	add := func(kind WaitingKind, n int, warning []string) {
		if n > 0 {
			st.Waits = append(st.Waits, Waiting{Count: n, Warning: warning[0], Kind: kind})
		}
	}
	add(WaitingQuarantine, met.Quarantined, record.Recovery{Quarantined: met.Quarantined}.Warnings())
	gaps := met.Gaps - met.Quarantined
	add(WaitingGaps, gaps, record.Recovery{Gaps: gaps}.Warnings())
	add(WaitingStale, st.Stale, []string{staleWarning(st.Stale)})
}

// staleWarning is the warning about n memories of a device that was offline for long.
func staleWarning(n int) string {
	if n == 1 {
		return "1 memory from a device that was offline for more than 90 days is hidden, because another device " +
			"might have deleted it; to decide, run: emberd doctor offline-device list"
	}
	return fmt.Sprintf("%d memories from a device that was offline for more than 90 days are hidden, because "+
		"another device might have deleted them; to decide, run: emberd doctor offline-device list", n)
}

// lookTime is how long Status waits for a look at the disk.
const lookTime = 100 * time.Millisecond

// Status looks whether the log is still where it was, which a disk that hangs
// delays by a tenth of a second at most.
func (s *Log) Status() Status {
	s.look()
	return s.StatusNow()
}

func (s *Log) StatusNow() Status {
	st := Status{Device: s.Device.String(), Bytes: s.bytes.Load(), Durability: s.Durability,
		LoadTime: s.LoadTime, Snapshot: s.Snapshot.used, Devices: s.Peers.PeerStatus(), Stale: len(s.Review.Stale()),
		Live: s.Len(), Trash: s.Table.CountTombstones(s.Now().Add(-s.TrashKeep)),
		Indexed: int(s.Words.Indexed.Load()), Of: s.Indexable()}
	st.Dead = s.foldable()
	own := s.OwnDir()
	for _, name := range s.CurrentFiles() {
		if name == "" {
			continue
		}
		if st.Segments++; filepath.Dir(name) == own {
			st.Sealed++
		}
	}
	if st.Active = s.activeName(); st.Active != "" {
		st.Sealed--
	}
	if t := s.trouble.Load(); t != nil {
		st.ReadOnly = t.reason
	}
	elsewhere, failed, flagged := s.others.Report(s.Home, s.Peers)
	st.BareTrash = BareTrash(s)
	st.Recovery, st.Unreadable = s.met().Plus(elsewhere), failed
	s.found.mu.Lock()
	defer s.found.mu.Unlock()
	st.Recovered = s.found.healed
	for _, f := range s.own.Missed() {
		// A damaged line is told by itself.
		if met := s.met(); met.Gaps > met.Quarantined || record.ParseName(f.Name).Kind == record.History {
			st.Short = append(st.Short, f.String())
		}
	}
	st.Short = append(st.Short, s.before.Clauses()...)
	st.Warnings = s.warnings(&st, flagged)
	st.addWaits(s.met())
	for _, f := range s.own.Damaged() {
		st.Warnings = append(st.Warnings, fmt.Sprintf(
			"log file %s; emberd is about to write the missing records again from RAM", f))
	}
	if why := s.shortage.Load(); why != nil {
		st.LowSpace = *why
		st.Warnings = append(st.Warnings, *why)
	}
	return st
}

// look lets the writer look at the disk once it is not busy with it, which would
// be a look too.
func (s *Log) look() {
	done, late := make(chan struct{}), time.After(lookTime)
	select {
	case s.Writer.looks <- done:
	case <-late:
		return
	}
	select {
	case <-done:
	case <-late:
	}
}

// warnings reports what deserves a look; flagged is what does among the files of
// other devices.
func (s *Log) warnings(st *Status, flagged []string) []string {
	held := s.met()
	held.Future, held.Unknown = st.Recovery.Future, st.Recovery.Unknown
	out := append(held.Warnings(), flagged...)
	for _, f := range st.Short {
		out = append(out, fmt.Sprintf(
			"log file %s; to look for missing records in all copies of the log, run: emberd doctor log repair", f))
	}
	if why := bareWarning(st.BareTrash); why != "" {
		out = append(out, why)
	}
	if st.Unreadable > 0 {
		out = append(out,
			fmt.Sprintf(
				"emberd cannot read %d files or folders of other devices and tries again; check their permissions",
				st.Unreadable))
	}
	if st.Stale > 0 {
		out = append(out, staleWarning(st.Stale))
	}
	if s.cloned.Load() {
		out = append(out,
			fmt.Sprintf("another machine uses the device ID of this machine, %s, because the state folder was "+
				"copied; no memory is lost; restart emberd on both machines, so that one of them gets a new ID",
				st.Device))
	}
	if at := (record.Stamp{T: s.newest.Load()}).Time(); at.Sub(s.Now()) > record.MaxSkew {
		out = append(out,
			fmt.Sprintf("this device saved memories while its clock showed %s, so new changes get later "+
				"timestamps and other devices ignore them until then; check the clock of this device",
				at.Format("2006-01-02 15:04")))
	}
	if s.Durability == None {
		out = append(out, "durability is \"none\", so a power failure can lose saved memories")
	}
	return out
}
