package wal

import (
	"context"

	"emberd/compaction"
	"emberd/stm/record"
)

// Stats reports what this device's part of the log holds, exactly.
type Stats struct {
	Live       int // memories, of all devices
	Tombstones int // deletions by this device that are remembered
	Lines      int // operations of this device in files that a start reads
	// Duplicates are those of them that no longer count: superseded by later
	// ones, repeated, or deleted.
	Duplicates   int
	Verbatim     int   // lines that this version keeps but does not use
	Segments     int   // files, the one being written among them
	Bytes        int64 // of those files
	Dead         int64 // bytes that a compaction would take away now
	Histories    int   // files of superseded lines, which a start does not read
	HistoryBytes int64
	Replaced     int // files that wait to be unlinked
}

// StatsOf reads this device's log and counts. It changes nothing, takes as long as
// a compaction without its writing, and is busy while one runs. Whether one is
// due is for package compaction to say.
func StatsOf(ctx context.Context, s *Log) (Stats, error) {
	files, err := s.Segments()
	if err != nil {
		return Stats{}, err
	}
	if !s.Rewriting.TryLock() {
		return Stats{}, errRewriting()
	}
	defer s.Rewriting.Unlock()
	st := Stats{Live: s.Len()}
	var inputs []string
	for _, g := range files {
		switch {
		case !g.Own:
		case g.Kind == record.History:
			st.Histories++
			st.HistoryBytes += g.Bytes
		case g.Replaced:
			st.Replaced++
		default:
			inputs = append(inputs, g.Name)
			st.Segments++
			st.Bytes += g.Bytes
		}
	}
	if len(inputs) == 0 {
		return st, nil
	}
	got, err := compaction.Count(ctx, s.compactionSource(), compaction.Job{Inputs: inputs})
	if err != nil {
		return Stats{}, s.compactionFailed(ctx, err)
	}
	st.Tombstones, st.Lines, st.Verbatim = got.Tombstones, got.Lines, got.Verbatim
	st.Duplicates = got.Superseded + got.Repeated
	st.Dead = max(0, got.Before-got.After)
	return st, nil
}
