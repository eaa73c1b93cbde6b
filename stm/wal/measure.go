package wal

import (
	"path/filepath"

	"emberd/internal/metrics"
	"emberd/stm/record"
)

// Measure adds how the log and its memories are to a page. It holds no lock for longer than
// a few loads take: no save waits for it.
func (s *Log) Measure(p *metrics.Exposition) {
	p.Gauge("emberd_memories", "Live memories, by stage.", "stage")
	for i, name := range record.Stages {
		p.Sample(float64(s.Table.Staged[i].Load()), string(name))
	}
	p.Gauge("emberd_log_bytes", "Size of the log, of all devices that it has.")
	p.Sample(float64(s.bytes.Load()))
	p.Gauge("emberd_log_dead_bytes",
		"About how much of this device's log no longer counts, and goes with a compaction.")
	p.Sample(float64(s.foldable()))
	p.Gauge("emberd_log_segments", "Files of the log, histories left out.")
	p.Sample(float64(s.segments()))
	p.Gauge("emberd_log_writable", "Whether the log can be written: 1 for yes, 0 while the disk refuses.")
	p.Sample(yes(s.trouble.Load() == nil))
	p.Gauge("emberd_log_low_space", "Whether saves are refused since the disk is nearly full: 1 for yes.")
	p.Sample(yes(s.shortage.Load() != nil))
	p.Counter("emberd_log_appends_total", "Batches that were written to the log, each with whatever waited.")
	p.Sample(float64(s.counts.batches.Load()))
	p.Counter("emberd_log_appended_bytes_total", "Bytes that were written to the log.")
	p.Sample(float64(s.counts.appended.Load()))
	p.Counter("emberd_log_changes_total",
		"Memories that were saved, changed or removed, by a batch or by another device's.")
	p.Sample(float64(s.changes.Load()))
	p.Timing("emberd_log_fsync_seconds", "How long the disk took to have what was written to the log.")
	p.Histogram(&s.counts.syncs)
	p.Counter("emberd_log_fsync_failures_total", "Times that the disk refused to.")
	p.Sample(float64(s.counts.unsynced.Load()))
	p.Gauge("emberd_index_memories", "Memories in the word index.")
	p.Sample(float64(s.Words.Indexed.Load()))
}

func yes(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// segments counts the files that a start reads.
func (s *Log) segments() int {
	n := 0
	for _, name := range s.CurrentFiles() {
		if name != "" && record.ParseName(filepath.Base(name)).Kind != record.History {
			n++
		}
	}
	return n
}
