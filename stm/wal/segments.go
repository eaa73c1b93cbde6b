package wal

import (
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"emberd/stm/device"
	"emberd/stm/record"
)

// Segments lists the files of the log as they are on the disk now, own ones
// first, each device's by name. It reads the first line of each.
func (s *Log) Segments() ([]record.Segment, error) {
	root := filepath.Join(s.Data, "stm")
	devices, err := s.FS.ReadDir(root)
	if err != nil {
		return nil, device.Fault(s.Data, err)
	}
	slices.SortStableFunc(devices, func(a, b fs.DirEntry) int { return s.foreign(a) - s.foreign(b) })
	var out []record.Segment
	for _, d := range devices {
		if !d.IsDir() {
			continue
		}
		entries, err := s.FS.ReadDir(filepath.Join(root, d.Name()))
		if err != nil && s.foreign(d) == 0 {
			return nil, device.Fault(s.Data, err)
		}
		for _, e := range entries {
			if record.IsLogFile(e) {
				out = append(out, s.describe(d.Name(), e))
			}
		}
	}
	return out, nil
}

func (s *Log) describe(device string, e fs.DirEntry) record.Segment {
	n := record.ParseName(e.Name())
	g := record.Segment{Name: e.Name(), Device: device, Own: device == s.Device.String(), Kind: n.Kind,
		From: n.From, To: n.To, Generation: n.Gen}
	g.Active = g.Own && s.isActive(e.Name())
	name := filepath.Join(s.Data, g.Path())
	g.Replaced = n.Kind != record.History && !g.Active && !s.InUse(name)
	if info, err := s.FS.Lstat(name); err == nil {
		g.Bytes = info.Size()
	}
	l, err := record.FirstLine(s.FS, name)
	if err != nil || l.Op != record.OpSegment {
		return g
	}
	h, err := record.DecodeHeader(l.Data)
	g.Later = l.Version > record.FormatVersion || err == nil && h.Format > record.FormatVersion
	g.Created, _ = time.Parse(time.RFC3339, h.Created) // what cannot be read is zero
	if oldest, err := record.ParseStamp(h.Oldest); err == nil {
		g.Oldest = oldest.Time()
	}
	if newest, err := record.ParseStamp(h.Newest); err == nil {
		g.Newest = newest.Time()
	}
	return g
}
