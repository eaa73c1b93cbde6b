package stm

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/durable"
)

// Segment is one file of the log, of this device or another.
type Segment struct {
	Name   string // without its folder
	Device string
	Own    bool
	Kind   Kind
	// From and To are the segment numbers that it stands for, 0 for an odd file.
	From, To   uint32
	Generation int // of compacted files and histories: how often their lines were rewritten at most
	Bytes      int64
	Active     bool // being written
	// Replaced says that a compacted file stands for it and it waits for Unlink.
	Replaced bool
	// Later says that a later version wrote it, so that it cannot be compacted.
	Later bool
	// Created is what its header says, of histories with the stamps of the first
	// and the last line. Zero when it cannot be read.
	Created, Oldest, Newest time.Time
}

// Path is where the file is below the data folder.
func (g Segment) Path() string { return filepath.Join("stm", g.Device, g.Name) }

// Segments lists the files of the log as they are on the disk now, own ones
// first, each device's by name. It reads the first line of each.
func (s *Store) Segments() ([]Segment, error) {
	root := filepath.Join(s.data, "stm")
	devices, err := s.fs.ReadDir(root)
	if err != nil {
		return nil, fault(s.data, err)
	}
	slices.SortStableFunc(devices, func(a, b fs.DirEntry) int { return s.foreign(a) - s.foreign(b) })
	var out []Segment
	for _, d := range devices {
		if !d.IsDir() {
			continue
		}
		entries, err := s.fs.ReadDir(filepath.Join(root, d.Name()))
		if err != nil && s.foreign(d) == 0 {
			return nil, fault(s.data, err)
		}
		for _, e := range entries {
			if isLogFile(e) {
				out = append(out, s.describe(d.Name(), e))
			}
		}
	}
	return out, nil
}

// foreign is 0 for this device's folder and 1 for others.
func (s *Store) foreign(d fs.DirEntry) int {
	if d.Name() == s.device.String() {
		return 0
	}
	return 1
}

func (s *Store) describe(device string, e fs.DirEntry) Segment {
	n := parseFileName(e.Name())
	g := Segment{Name: e.Name(), Device: device, Own: device == s.device.String(), Kind: n.kind,
		From: n.from, To: n.to, Generation: n.gen}
	g.Active = g.Own && s.isActive(e.Name())
	name := filepath.Join(s.data, g.Path())
	g.Replaced = n.kind != History && !g.Active && !s.inUse(name)
	if info, err := s.fs.Lstat(name); err == nil {
		g.Bytes = info.Size()
	}
	l, err := firstLine(s.fs, name)
	if err != nil || l.op != opSegment {
		return g
	}
	h, err := decodeHeader(l.data)
	g.Later = l.version > formatVersion || err == nil && h.Format > formatVersion
	g.Created, _ = time.Parse(time.RFC3339, h.Created) // what cannot be read is zero
	if oldest, err := ParseStamp(h.Oldest); err == nil {
		g.Oldest = oldest.Time()
	}
	if newest, err := ParseStamp(h.Newest); err == nil {
		g.Newest = newest.Time()
	}
	return g
}

// firstLine decodes the first line of a file, of whatever version.
func firstLine(fsys durable.FS, name string) (line, error) {
	f, err := fsys.OpenRead(name)
	if err != nil {
		return line{}, err
	}
	defer f.Close()
	b, _, _, err := readLines(f, 1<<12).next()
	if err != nil {
		return line{}, err
	}
	if b, err = mend(b); err != nil {
		return line{}, err
	}
	return decodeLine(b)
}

// readHeader decodes the header of a file of ours.
func (s *Store) readHeader(name string) (header, error) {
	l, err := firstLine(s.fs, name)
	if err != nil {
		return header{}, err
	}
	if l.op != opSegment || l.version != formatVersion {
		return header{}, fmt.Errorf("%s has no header", filepath.Base(name))
	}
	return decodeHeader(l.data)
}

// Stats says what this device's part of the log holds, exactly.
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

// Stats reads this device's log and counts. It changes nothing, takes as long as
// a compaction without its writing, and is busy while one runs. Whether one is
// due is for package compaction to say.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	files, err := s.Segments()
	if err != nil {
		return Stats{}, err
	}
	if !s.rewriting.TryLock() {
		return Stats{}, errRewriting()
	}
	defer s.rewriting.Unlock()
	st := Stats{Live: s.Len()}
	var inputs []string
	for _, g := range files {
		switch {
		case !g.Own:
		case g.Kind == History:
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
	r := s.newRewrite(ctx, Compaction{Inputs: inputs})
	if err := r.count(); err != nil {
		return Stats{}, r.failed(err)
	}
	got := r.got
	st.Tombstones, st.Lines, st.Verbatim = got.Tombstones, got.Lines, got.Verbatim
	st.Duplicates = got.Superseded + got.Repeated
	st.Dead = max(0, got.Before-got.After)
	return st, nil
}
