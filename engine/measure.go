package engine

import "emberd/internal/metrics"

// Measure adds how the engine is to a page: numbers about everything, for who may see all.
// It takes no lock for longer than a count takes, asks no disk but for the size of the note
// index, and does not wait.
func (e *Engine) Measure(p *metrics.Page) {
	e.stm.Measure(p)
	v := &e.vitals
	p.Counter("emberd_operations_total", "Operations that were carried out, by name and by how they ended: ok, or the code of the error.", "operation", "outcome")
	p.Counts(&v.ended)
	p.Timing("emberd_operation_seconds", "How long operations took, without the wait for a turn.", "operation")
	p.Histograms(&v.took)
	p.Counter("emberd_compactions_total", "Compactions of the log, by how they ended: ok, or the code of the error.", "outcome")
	p.Counts(&v.compactions)
	p.Timing("emberd_compaction_seconds", "How long compactions took.")
	p.Histogram(&v.compacting)
	p.Counter("emberd_compaction_read_bytes_total", "Size of what compactions folded.")
	p.Is(float64(v.read.Load()))
	p.Counter("emberd_compaction_written_bytes_total", "Size of what they made of it, histories left out.")
	p.Is(float64(v.wrote.Load()))
	e.measureLife(p)
	e.measureNotes(p)
	e.measureMeaning(p)
	p.Gauge("emberd_callers_throttled", "Callers that are slowed down since what they read or save is of little use (audit.throttle_below).")
	p.Is(float64(e.ledger.Throttled()))
}

func (e *Engine) measureLife(p *metrics.Page) {
	v := &e.vitals
	p.Counter("emberd_lifecycle_runs_total", "Runs of the lifecycle, by how they ended: ok, reported (more would fade at once than may unasked), or the code of the error.", "outcome")
	p.Counts(&v.runs)
	p.Timing("emberd_lifecycle_run_seconds", "How long runs took that were carried out.")
	p.Histogram(&v.running)
	p.Counter("emberd_lifecycle_moves_total", "Memories that runs moved, by kind as in the journal.", "move")
	p.Counts(&v.moves)
	p.Counter("emberd_rekindles_total", "Cold memories that were asked back, by the verdict on their notes.", "verdict")
	p.Counts(&v.rekindles)
}

// measureNotes tells of the vault, by the name that Obsidian shows.
func (e *Engine) measureNotes(p *metrics.Page) {
	n, name := e.notes, ""
	var s notesSeen
	if n != nil {
		name, s = n.vault.Load().Name(), n.seen()
		s.pending = len(e.pending.list())
	}
	tell := func(value float64) {
		if n != nil {
			p.Is(value, name)
		}
	}
	p.Gauge("emberd_notes", "Notes in the index.", "vault")
	tell(float64(s.notes))
	p.Gauge("emberd_note_index_bytes", "Size of the note index on the disk.", "vault")
	tell(float64(s.bytes))
	p.Gauge("emberd_notes_waiting", "Notes that were found changed and are not indexed yet.", "vault")
	tell(float64(s.waiting))
	p.Gauge("emberd_notes_unreadable", "Notes that could not be read.", "vault")
	tell(float64(s.unread))
	p.Gauge("emberd_notes_pending_writes", "Changes of memories that wait until their notes can be written.", "vault")
	tell(float64(s.pending))
	p.Gauge("emberd_vault_there", "Whether the vault is at its place: 1 for yes.", "vault")
	tell(s.there)
	p.Counter("emberd_watcher_events_total", "Events of the file system about the vault.", "vault")
	tell(s.events)
	p.Counter("emberd_watcher_overflows_total", "Times that the system dropped events, after which everything is looked at.", "vault")
	tell(s.overflows)
	p.Gauge("emberd_watcher_last_scan_timestamp_seconds", "When everything was last looked at, in seconds since 1970; 0 before the first time.", "vault")
	tell(s.scanned)
	p.Counter("emberd_vault_changes_total", "Notes that the watcher told of, by what became of them: changed, gone or moved.", "change")
	p.Counts(&e.vitals.changes)
	p.Timing("emberd_watcher_lag_seconds", "From the last change of a note's file to its being searchable; what a scan of everything found is left out.")
	p.Histogram(&e.vitals.lag)
}

// notesSeen are figures of one moment.
type notesSeen struct {
	notes, waiting, unread, pending   int
	bytes                             int64
	there, events, overflows, scanned float64
}

func (n *notes) seen() notesSeen {
	index, w := n.current()
	is, ws := index.Status(), w.Status()
	s := notesSeen{notes: is.Notes, bytes: is.Bytes, waiting: int(n.waiting.Load()), events: float64(ws.Events), overflows: float64(ws.Overflows)}
	if !ws.Gone {
		s.there = 1
	}
	if !ws.LastScan.IsZero() {
		s.scanned = float64(ws.LastScan.UnixMilli()) / 1e3
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	s.unread = len(n.skipped)
	return s
}

func (e *Engine) measureMeaning(p *metrics.Page) {
	m := e.meaning
	covered, left, aside, kept, size := 0, 0, 0, 0, int64(0)
	var restarts, running float64
	if m != nil {
		m.mu.Lock()
		covered, left, aside = m.todo.covered, m.todo.left(), m.todo.aside
		filling := m.filling
		m.mu.Unlock()
		if filling != nil {
			s := filling.store.Status()
			kept, size = s.Vectors, s.Bytes
		}
		if native := m.Embedder.Status().Native; native != nil {
			restarts = float64(native.Restarts)
			if native.PID != 0 {
				running = 1
			}
		}
	}
	p.Gauge("emberd_vectors", "Vectors of the model that is in use.")
	p.Is(float64(kept))
	p.Gauge("emberd_vectors_bytes", "Size of their file.")
	p.Is(float64(size))
	p.Gauge("emberd_vector_documents", "Memories and notes, by whether they have all their vectors: done, queued, or aside after a failure.", "state")
	p.Is(float64(covered), "done")
	p.Is(float64(left), "queued")
	p.Is(float64(aside), "aside")
	p.Timing("emberd_embedding_seconds", "How long texts took to become vectors, their wait included: queries, passages of what is kept, and claims that are compared.", "purpose")
	p.Histograms(&e.vitals.embedded)
	p.Counter("emberd_embedding_failures_total", "Calls that made no vectors.", "purpose")
	p.Counts(&e.vitals.unembedded)
	p.Gauge("emberd_helper_running", "Whether the process that calls llama.cpp runs: 1 for yes.")
	p.Is(running)
	p.Counter("emberd_helper_restarts_total", "Times that the process that calls llama.cpp was started again after it had ended without being told to.")
	p.Is(restarts)
}
