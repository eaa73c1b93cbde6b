package wal

import (
	"context"
	"path/filepath"
	"strings"

	"emberd/memory"
	"emberd/stm/record"
)

// LogPosition is a point of the log between two batches. A copy of the data folder
// that takes from every file what [Moment.Of] says is the log as it was then.
type LogPosition struct {
	Device  string
	Seq     uint64           // last sequence number of this device
	Stamp   string           // the clock: every record of this device is not later
	Read    []string         // files that were read or written, by path below the data folder
	segment uint32           // highest number of a segment
	sizes   map[string]int64 // of files being written, by path below the data folder
}

// Moment asks for the present one. What was acknowledged before is in it. The writer calls at
// at that moment; it must not wait.
func (s *Log) Moment(ctx context.Context, at func()) (LogPosition, error) {
	s.healing.Lock()
	defer s.healing.Unlock()
	var c Cursor
	if err := s.OnWriter(ctx, func() { c = s.Writer.Cursor(); at() }); err != nil {
		return LogPosition{}, err
	}
	if c.files == nil {
		return LogPosition{}, memory.Errorf(memory.Unavailable,
			"the daemon is stopping; try again when the daemon is running again")
	}
	return s.momentAt(c)
}

func (s *Log) momentAt(c Cursor) (LogPosition, error) {
	m := LogPosition{Device: s.Device.String(), Seq: c.seq, Stamp: record.Stamp{T: c.clock, Dev: s.Device}.String(),
		sizes: map[string]int64{}}
	for _, f := range c.files {
		if f.Name == "" { // compacted away
			continue
		}
		below, err := filepath.Rel(s.Data, f.Name)
		if err != nil {
			return LogPosition{}, err
		}
		below = filepath.ToSlash(below)
		m.Read = append(m.Read, below)
		if f.Growing {
			m.sizes[below] = f.Size
		}
		if n := record.ParseName(filepath.Base(f.Name)).To; filepath.Base(filepath.Dir(f.Name)) == m.Device {
			m.segment = max(m.segment, n)
		}
	}
	return m, nil
}

// Of reports how much of a file belongs to the moment, given its path below the
// data folder, with slashes, and its size now. It reports false for a file that
// does not, since it is temporary or was made later.
func (m *LogPosition) Of(name string, size int64) (int64, bool) {
	dir, base := filepath.Split(name)
	if strings.HasPrefix(base, ".") {
		return 0, false
	}
	if at, ok := m.sizes[name]; ok {
		return min(at, size), true
	}
	if f := record.ParseName(base); dir == "stm/"+m.Device+"/" && f.Kind == record.Raw && f.From > m.segment {
		return 0, false
	}
	return size, true
}
