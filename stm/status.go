package stm

import (
	"fmt"
	"path/filepath"
	"time"
)

// Status tells how the store is.
type Status struct {
	Device      string
	Segments    int
	Bytes       int64
	Active      string // segment being written, "" before the first write
	Durability  Durability
	ReadOnly    string // why the last write failed, "" when it did not
	Recovery    Recovery
	Unreadable  int // files and folders of other devices that cannot be read
	Devices     []PeerStatus
	Stale       int // memories that wait for a decision, see DecideStale
	LoadTime    time.Duration
	Snapshot    string // used, absent, or why it was not used
	LowSpace    string // why saves are refused while deletes are not, "" when they are not
	Live, Trash int
	Indexed, Of int
	Sealed      int   // own files that a start reads, less the one being written
	Dead        int64 // about how many of the own bytes a compaction would take away
	Warnings    []string
}

// lookTime is how long Status waits for a look at the disk.
const lookTime = 100 * time.Millisecond

// Status looks whether the log is still where it was, which a disk that hangs
// delays by a tenth of a second at most.
func (s *Store) Status() Status {
	s.look()
	return s.status()
}

func (s *Store) status() Status {
	st := Status{Device: s.device.String(), Bytes: s.bytes.Load(), Durability: s.durability,
		LoadTime: s.loadTime, Snapshot: s.snapshot.used, Devices: s.peerStatus(), Stale: len(s.Stale()),
		Live: s.Len(), Trash: len(s.Trash()), Indexed: int(s.index.indexed.Load()), Of: s.Len()}
	st.Dead = s.foldable()
	own := s.ownDir()
	for _, name := range s.currentFiles() {
		if name == "" {
			continue
		}
		if st.Segments++; filepath.Dir(name) == own {
			st.Sealed++
		}
	}
	if name := s.activeIn.Load(); name != nil {
		st.Active = *name
		st.Sealed--
	}
	if t := s.trouble.Load(); t != nil {
		st.ReadOnly = t.reason
	}
	elsewhere, failed, flagged := s.othersNow()
	st.Recovery, st.Unreadable = s.recovery.less(int(s.decided.since.Load())).plus(elsewhere), failed
	st.Warnings = s.warnings(&st, flagged)
	if why := s.shortage.Load(); why != nil {
		st.LowSpace = *why
		st.Warnings = append(st.Warnings, *why)
	}
	return st
}

// look lets the writer look at the disk if it is not busy with it, which would
// be a look too.
func (s *Store) look() {
	done := make(chan struct{})
	select {
	case s.writer.looks <- done:
	default:
		return
	}
	select {
	case <-done:
	case <-time.After(lookTime):
	}
}

// warnings says what deserves a look; flagged is what does among the files of
// other devices.
func (s *Store) warnings(st *Status, flagged []string) []string {
	held := s.recovery.less(int(s.decided.since.Load()))
	held.Future, held.Unknown = st.Recovery.Future, st.Recovery.Unknown
	out := append(held.warnings(), flagged...)
	if st.Unreadable > 0 {
		out = append(out, fmt.Sprintf("%d files or folders of other devices cannot be read and are tried again; check their rights", st.Unreadable))
	}
	if st.Stale > 0 {
		out = append(out, fmt.Sprintf("%d memories come from a device that was silent for more than 90 days and may have been deleted meanwhile; they are not shown until you decide: emberd doctor lists them", st.Stale))
	}
	if s.cloned.Load() {
		out = append(out, fmt.Sprintf("another machine writes under the name of this device, %s, because the state folder was copied there; nothing is lost: restart emberd on both, so that one takes a name of its own", st.Device))
	}
	if at := (Stamp{T: s.newest.Load()}).Time(); at.Sub(s.now()) > maxSkew {
		out = append(out, fmt.Sprintf("memories were saved here while the clock stood at %s; what is saved now is stamped after that, and other devices hold it back until then: check the clock of this device", at.Format("2006-01-02 15:04")))
	}
	if s.durability == None {
		out = append(out, "durability is none: a power cut may lose acknowledged memories; set stm.durability to full for anything but tests")
	}
	return out
}

// less takes out damaged lines that a human has decided about since.
func (r Recovery) less(decided int) Recovery {
	r.Quarantined = max(0, r.Quarantined-decided)
	r.Gaps = max(0, r.Gaps-decided)
	return r
}

// warnings says in sentences what deserves a look. A damaged line of this
// device is a missing record too; it is told once.
func (r Recovery) warnings() []string {
	var out []string
	say := func(n int, one, many string) {
		switch {
		case n == 1:
			out = append(out, one)
		case n > 1:
			out = append(out, fmt.Sprintf(many, n))
		}
	}
	say(r.Quarantined,
		"a damaged log line was passed over; a copy is in the quarantine folder of the state directory",
		"%d damaged log lines were passed over; copies are in the quarantine folder of the state directory")
	say(r.Gaps-r.Quarantined,
		"a log record of this device is missing; restore it from a backup if you have one",
		"%d log records of this device are missing; restore them from a backup if you have one")
	say(r.BadSeals,
		"a log segment does not hold the lines its seal tells of, though every line in it is sound; lines were added or taken out by another program: restore it from a backup if you have one",
		"%d log segments do not hold the lines their seals tell of, though every line in them is sound; lines were added or taken out by another program: restore them from a backup if you have one")
	say(r.Future,
		"a log line is stamped more than a day ahead and waits until then; check the clocks of your devices",
		"%d log lines are stamped more than a day ahead and wait until then; check the clocks of your devices")
	say(r.Unknown,
		"a log line was written by a newer emberd and is kept but not used; upgrade this one",
		"%d log lines were written by a newer emberd and are kept but not used; upgrade this one")
	return out
}
