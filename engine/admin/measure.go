package admin

import (
	"emberd/engine/notes"
	"emberd/internal/contain"
	"emberd/internal/metrics"
)

// Measure adds the figures of the engine to a metrics page. They are about all memories, so
// the caller must be allowed to see all. It holds locks only to read counts, reads nothing
// from disk but the size of the note index, and does not wait.
func (e *Admin) Measure(p *metrics.Exposition) {
	e.Stm.Measure(p)
	v := &e.Vitals
	p.Counter("emberd_operations_total",
		"Operations that ran, by name and result: ok, or the code of the error.", "operation",
		"outcome")
	p.Counts(&v.Ended)
	p.Timing("emberd_operation_seconds", "How long operations took, without the wait for a turn.", "operation")
	p.Histograms(&v.Took)
	p.Counter("emberd_compactions_total", "Compactions of the log, by how they ended: ok, or the code of the error.",
		"outcome")
	p.Counts(&v.Compactions)
	p.Timing("emberd_compaction_seconds", "How long compactions took.")
	p.Histogram(&v.Compacting)
	p.Counter("emberd_compaction_read_bytes_total", "Size of the segments that compactions read.")
	p.Sample(float64(v.Read.Load()))
	p.Counter("emberd_compaction_written_bytes_total", "Size of the segments that compactions wrote, without "+
		"history segments.")
	p.Sample(float64(v.Wrote.Load()))
	e.measureLife(p)
	e.measureNotes(p)
	e.measureMeaning(p)
	p.Gauge("emberd_callers_throttled",
		"Callers that are throttled because of their score (audit.throttle_below).")
	p.Sample(float64(e.Ledger.Throttled()))
	contain.Measure(p)
}

func (e *Admin) measureLife(p *metrics.Exposition) {
	v := &e.Vitals
	p.Counter("emberd_lifecycle_runs_total",
		"Runs of the lifecycle, by how they ended: ok, or the code of the error.", "outcome")
	p.Counts(&v.Runs)
	p.Timing("emberd_lifecycle_run_seconds", "Duration of completed runs.")
	p.Histogram(&v.Running)
	p.Counter("emberd_lifecycle_moves_total", "Memories that runs moved, by kind as in the journal.", "move")
	p.Counts(&v.Moves)
	p.Counter("emberd_rekindles_total", "Archived memories to restore, by the state of their notes.", "verdict")
	p.Counts(&v.Rekindles)
}

// measureNotes adds the figures of the vault, under its name in Obsidian.
func (e *Admin) measureNotes(p *metrics.Exposition) {
	n, name := e.Notes.Vault, ""
	var s notes.NotesSeen
	if n != nil {
		name, s = n.Root.Load().Name(), n.Seen()
		s.Pending = len(e.Promote.Pending.List())
	}
	tell := func(value float64) {
		if n != nil {
			p.Sample(value, name)
		}
	}
	p.Gauge("emberd_notes", "Notes in the index.", "vault")
	tell(float64(s.Notes))
	p.Gauge("emberd_note_index_bytes", "Size of the note index on the disk.", "vault")
	tell(float64(s.Bytes))
	p.Gauge("emberd_notes_waiting", "Changed notes that are not indexed yet.", "vault")
	tell(float64(s.Waiting))
	p.Gauge("emberd_notes_unreadable", "Notes that could not be read.", "vault")
	tell(float64(s.Unread))
	p.Gauge("emberd_notes_pending_writes", "Changes of memories that wait until their notes can be written.", "vault")
	tell(float64(s.Pending))
	p.Gauge("emberd_vault_there", "Whether the vault exists: 1 for yes.", "vault")
	tell(s.There)
	p.Counter("emberd_watcher_events_total", "Events of the file system about the vault.", "vault")
	tell(s.Events)
	p.Counter("emberd_watcher_overflows_total",
		"Event overflows of the system, after which emberd scans everything.", "vault")
	tell(s.Overflows)
	p.Gauge("emberd_watcher_last_scan_timestamp_seconds",
		"Time of the last full scan, in seconds since 1970; 0 before the first.", "vault")
	tell(s.Scanned)
	p.Counter("emberd_vault_changes_total",
		"Notes that the watcher reported, by kind of change: changed, gone or moved.", "change")
	p.Counts(&e.Vitals.Changes)
	p.Timing("emberd_watcher_lag_seconds",
		"Time from the last change of a note file until searches find it, without full scans.")
	p.Histogram(&e.Vitals.Lag)
}

func (e *Admin) measureMeaning(p *metrics.Exposition) {
	m := e.Semantic.Meaning
	covered, left, aside, kept, size := 0, 0, 0, 0, int64(0)
	var restarts, running float64
	if m != nil {
		m.Mu.Lock()
		covered, left, aside = m.Todo.Covered, m.Todo.Left(), m.Todo.Aside
		filling := m.Building
		m.Mu.Unlock()
		if filling != nil {
			s := filling.Store.Status()
			kept, size = s.Vectors, s.Bytes
		}
		if native := m.Embedder.Status().Native; native != nil {
			restarts = float64(native.Restarts)
			if native.PID != 0 {
				running = 1
			}
		}
	}
	p.Gauge("emberd_vectors", "Embeddings of the current model.")
	p.Sample(float64(kept))
	p.Gauge("emberd_vectors_bytes", "Size of their file.")
	p.Sample(float64(size))
	p.Gauge("emberd_vector_documents",
		"Memories and notes, by the state of their embeddings: done, queued, or aside after a failure.", "state")
	p.Sample(float64(covered), "done")
	p.Sample(float64(left), "queued")
	p.Sample(float64(aside), "aside")
	p.Timing("emberd_embedding_seconds",
		"Time to compute an embedding, including the wait: queries, passages and claims.", "purpose")
	p.Histograms(&e.Vitals.Embedded)
	p.Counter("emberd_embedding_failures_total", "Calls that returned no embeddings.", "purpose")
	p.Counts(&e.Vitals.Unembedded)
	p.Gauge("emberd_helper_running", "Whether the process that calls llama.cpp runs: 1 for yes.")
	p.Sample(running)
	p.Counter("emberd_helper_restarts_total",
		"Restarts of the process that calls llama.cpp after an unexpected end.")
	p.Sample(restarts)
}
