package wal

import (
	"path/filepath"

	"emberd/internal/metrics"
	"emberd/stm/record"
)

// Measure adds how the log and its memories are to a page. It holds no lock for longer than
// a few loads take: no save waits for it.
func (s *Log) Measure(p *metrics.Exposition) {
	p.Gauge("emberd_memories", "Memories that are not deleted, by stage.", "stage")
	for i, name := range record.Stages {
		p.Sample(float64(s.Table.Staged[i].Load()), string(name))
	}
	p.Gauge("emberd_log_bytes", "Size of the logs of all devices.")
	p.Sample(float64(s.bytes.Load()))
	p.Gauge("emberd_log_dead_bytes", "Estimated bytes that a compaction would remove from the log of this device.")
	p.Sample(float64(s.foldable()))
	p.Gauge("emberd_log_segments", "Number of log files, excluding history segments.")
	p.Sample(float64(s.segments()))
	p.Gauge("emberd_log_writable", "1 if emberd can write the log, 0 if writes to the disk fail.")
	p.Sample(yes(s.trouble.Load() == nil))
	p.Gauge("emberd_log_low_space", "1 if emberd refuses saves because the disk is nearly full, otherwise 0.")
	p.Sample(yes(s.shortage.Load() != nil))
	p.Counter("emberd_log_appends_total", "Batches of changes written to the log.")
	p.Sample(float64(s.counts.batches.Load()))
	p.Counter("emberd_log_appended_bytes_total", "Bytes written to the log.")
	p.Sample(float64(s.counts.appended.Load()))
	p.Counter("emberd_log_changes_total", "Memories that this device or another device saved, changed or removed.")
	p.Sample(float64(s.changes.Load()))
	p.Timing("emberd_log_fsync_seconds", "Time that the disk needed to sync the log.")
	p.Histogram(&s.counts.syncs)
	p.Counter("emberd_log_fsync_failures_total", "Failed attempts to sync the log to disk.")
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
