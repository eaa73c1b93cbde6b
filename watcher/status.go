package watcher

import (
	"maps"
	"time"
)

// Mode is how a Watcher learns of changes.
type Mode string

const (
	Watching Mode = "watching" // from events, with a scan now and then
	Polling  Mode = "polling"  // from frequent scans, with what events there are
)

// Status is the state of a Watcher.
type Status struct {
	Mode   Mode
	Reason string    // why it polls, or what its events leave out; empty when nothing is amiss
	Frozen string    // why nothing is reported gone; empty when deletions are reported
	Gone   bool      // the root is frozen for not being there, which nobody can confirm
	Away   time.Time // since when the root is not there, or is another folder; zero while it is followed

	Named bool // while the root is away: it has a known note by name, or none is known

	Folders   int           // followed, the root included
	Watches   int           // folders among them that are watched
	Files     int           // that the caller has been told of
	Pending   int           // files among them that are missing and not reported yet
	LeftOut   int           // notes beyond the bound of 200,000
	Events    uint64        // that came so far, of whatever concerns notes
	Overflows int           // times the system dropped events
	LastScan  time.Time     // of everything; zero before the first
	ScanTook  time.Duration // that one

	// Skipped are paths that are not followed, with the reason: one of those below,
	// or what the system says. There are at most 10,000.
	Skipped map[string]string
}

// Reasons for which a path is not followed.
const (
	Symlink    = "symbolic link"
	NotRegular = "not a regular file"
	BadName    = "the name is not valid UTF-8"
	NotLocal   = "the content of the note is only in the cloud" // the path is the note's, not the stub's
)

// Status returns the state after the last look. The map is the caller's.
func (w *Watcher) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	status := w.status
	status.Skipped = maps.Clone(status.Skipped)
	return status
}

// publish makes the state of Run visible, and logs changes of it.
func (w *Watcher) publish() {
	status := Status{
		Mode:     Watching,
		Folders:  len(w.tree),
		Files:    len(w.known),
		Pending:  len(w.absent.byPath),
		LeftOut:  w.state.leftOut,
		LastScan: w.state.scanned,
		ScanTook: w.state.took,
		Skipped:  w.state.skipped,
		Frozen:   w.absent.frozen,
	}
	status.Events, status.Overflows = w.buffer.heard()
	if w.feed != nil {
		status.Watches = len(w.feed.owner)
	}
	if w.state.away != "" {
		status.Frozen, status.Gone, status.Away = w.state.away, w.state.gone, w.state.since
		status.Named = w.named()
	}
	if w.state.refused != "" {
		status.Mode, status.Reason = Polling, w.state.refused
	} else if w.state.remote != "" {
		status.Mode, status.Reason = Polling,
			"a file system of type "+w.state.remote+" does not report changes by other computers"
	}
	w.mu.Lock()
	before := w.status
	w.status = status
	w.mu.Unlock()
	w.report(before, status)
}

func (w *Watcher) report(before, now Status) {
	log := w.opt.Logger.With("root", w.root)
	switch {
	case before.Reason == now.Reason:
	case now.Reason != "":
		log.Warn("file events are not reliable; scanning the vault often", "reason", now.Reason, "every", w.poll())
	default:
		log.Info("file events are reliable again")
	}
	switch {
	case (before.Frozen == "") == (now.Frozen == ""):
	case now.Frozen != "":
		log.Warn("deletions paused", "reason", now.Frozen)
	default:
		log.Info("deletions resumed")
	}
	if now.LeftOut > before.LeftOut {
		log.Warn("too many notes; some notes skipped", "bound", w.maxFiles, "left_out", now.LeftOut)
	}
}
