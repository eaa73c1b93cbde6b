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
	p.Counter("emberd_operations_total", "Completed operations, by name and result: ok or an error code.", "operation",
		"outcome")
	p.Counts(&v.Ended)
	p.Timing("emberd_operation_seconds", "Duration of operations, without the time in the queue.", "operation")
	p.Histograms(&v.Took)
	p.Counter("emberd_compactions_total", "Compactions of the log, by result: ok or an error code.", "outcome")
	p.Counts(&v.Compactions)
	p.Timing("emberd_compaction_seconds", "Duration of compactions.")
	p.Histogram(&v.Compacting)
	p.Counter("emberd_compaction_read_bytes_total", "Size of the segments that compactions read.")
	p.Sample(float64(v.Read.Load()))
	p.Counter("emberd_compaction_written_bytes_total", "Size of the segments that compactions wrote, without "+
		"history segments.")
	p.Sample(float64(v.Wrote.Load()))
	e.measureLife(p)
	e.measureNotes(p)
	e.measureMeaning(p)
	p.Gauge("emberd_callers_throttled", "Callers that emberd throttles because of their score (audit.throttle_below).")
	p.Sample(float64(e.Ledger.Throttled()))
	contain.Measure(p)
}

func (e *Admin) measureLife(p *metrics.Exposition) {
	v := &e.Vitals
	p.Counter("emberd_lifecycle_runs_total", "Lifecycle runs, by result: ok or an error code.", "outcome")
	p.Counts(&v.Runs)
	p.Timing("emberd_lifecycle_run_seconds", "Duration of completed lifecycle runs.")
	p.Histogram(&v.Running)
	p.Counter("emberd_lifecycle_moves_total", "Memories that lifecycle runs moved, by kind of move.", "move")
	p.Counts(&v.Moves)
	p.Counter("emberd_rekindles_total", "Attempts to rekindle archived memories, by the state of their notes.",
		"verdict")
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
	p.Gauge("emberd_notes_unreadable", "Notes that emberd could not read.", "vault")
	tell(float64(s.Unread))
	p.Gauge("emberd_notes_pending_writes", "Changes of memories that emberd has not written to their notes yet.",
		"vault")
	tell(float64(s.Pending))
	p.Gauge("emberd_vault_there", "1 if the vault exists, otherwise 0.", "vault")
	tell(s.There)
	p.Counter("emberd_watcher_events_total", "File system events in the vault.", "vault")
	tell(s.Events)
	p.Counter("emberd_watcher_overflows_total",
		"Overflows of the file system event queue. After an overflow, emberd scans the whole vault.", "vault")
	tell(s.Overflows)
	p.Gauge("emberd_watcher_last_scan_timestamp_seconds",
		"Time of the last full scan, in seconds since 1970; 0 before the first.", "vault")
	tell(s.Scanned)
	p.Counter("emberd_vault_changes_total", "Note changes that the watcher reported, by kind: changed, gone or moved.",
		"change")
	p.Counts(&e.Vitals.Changes)
	p.Timing("emberd_watcher_lag_seconds", "Time from the last change of a note file until searches find "+
		"the change. Changes that a full scan found are not included.")
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
	p.Gauge("emberd_vectors_bytes", "Size of the file of embeddings.")
	p.Sample(float64(size))
	p.Gauge("emberd_vector_documents",
		"Memories and notes, by the state of their embeddings: done, queued, or aside (failed).", "state")
	p.Sample(float64(covered), "done")
	p.Sample(float64(left), "queued")
	p.Sample(float64(aside), "aside")
	p.Timing("emberd_embedding_seconds",
		"Time to compute an embedding, including the time in the queue, by purpose: queries, passages and claims.",
		"purpose")
	p.Histograms(&e.Vitals.Embedded)
	p.Counter("emberd_embedding_failures_total", "Embedding requests that returned no embeddings.", "purpose")
	p.Counts(&e.Vitals.Unembedded)
	p.Gauge("emberd_helper_running", "1 if the process that calls llama.cpp is running, otherwise 0.")
	p.Sample(running)
	p.Counter("emberd_helper_restarts_total", "Restarts of the process that calls llama.cpp after an unexpected end.")
	p.Sample(restarts)
}
