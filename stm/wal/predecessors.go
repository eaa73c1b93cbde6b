package wal

import (
	"context"
	"path/filepath"

	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/record"
	"emberd/stm/repair"
)

// predecessor is a device that this one goes on for, whose log has lost something.
type predecessor struct {
	dev     record.Device
	last    uint64             // number of the last record that it wrote here
	short   []extent.ShortFile // its files that hold less than was written to them
	known   record.Ranges      // numbers that a file or a copy has
	missing int                // of its records, how many no file and no copy has
}

// clauses says what is wrong with its files.
func (p predecessor) clauses() (out []string) {
	for _, f := range p.short {
		f.Name = filepath.Join(p.dev.String(), f.Name)
		out = append(out, f.String())
	}
	return out
}

// predecessors finds what is missed of the devices that this one goes on for. Their files are those of
// other devices from then on: what they lose later, those that have read it write again.
func (r *recovery) predecessors() {
	for _, dev := range device.Predecessors(r.s.FS, r.s.State) {
		known := extent.Read(r.s.FS, r.s.State, dev)
		p := predecessor{dev: dev, short: extent.ShortFiles(r.s.FS, filepath.Join(r.s.Data, "stm", dev.String()), known)}
		for _, e := range known {
			p.last = max(p.last, e.Last)
		}
		if len(p.short) > 0 {
			r.count1(&p)
		}
		if p.missing > 0 {
			r.before = append(r.before, p)
		} else if err := extent.Drop(r.s.FS, r.s.State, dev); err != nil {
			r.s.Logger.Warn("how far the log of an earlier device was written is still kept", "device", dev, "error", err)
		}
	}
}

// count1 counts what is missed of a device. What a copy holds of it is merged by then.
func (r *recovery) count1(p *predecessor) {
	if have, err := repair.Fold(context.Background(), r.s.FS, r.s.Data, r.s.Logger); err == nil { // headers, too
		p.count(have.Seen.Of(p.dev))
	}
	if p.count(r.seen.Of(p.dev)); p.missing > 0 {
		r.s.Logger.Warn("the log of the device that this one goes on for has lost records; run emberd log repair",
			"device", p.dev, "missing", p.missing, "files", p.short)
	}
}

// count takes some of its numbers as known.
func (p *predecessor) count(more *record.Ranges) {
	p.known.AddAll(more)
	gone, _ := p.known.Lacking(p.last, &record.Ranges{})
	p.missing = gone.Count()
}

// countPredecessors counts what is missed of all of them. The lock of found is held, or not needed yet.
func (s *Log) countPredecessors() {
	all := 0
	for _, p := range s.found.before {
		all += p.missing
	}
	s.missedBefore.Store(int64(all))
}

// settlePredecessors takes what a copy has given back as no longer missed.
func (h healer) settlePredecessors(held *repair.Folded) {
	if held == nil {
		return
	}
	f := &h.found
	f.mu.Lock()
	defer f.mu.Unlock()
	var left []predecessor
	for _, p := range f.before {
		for _, s := range held.Seen.Of(p.dev).Spans {
			h.Snapshot.Seen.Add(p.dev, s[0], s[1])
		}
		if p.count(held.Seen.Of(p.dev)); p.missing > 0 {
			left = append(left, p)
		} else if err := extent.Drop(h.FS, h.State, p.dev); err != nil {
			h.Logger.Warn("how far the log of an earlier device was written is still kept", "device", p.dev, "error", err)
		}
	}
	f.before = left
	h.countPredecessors()
}

// dropPredecessors takes their logs as they are.
func (s *Log) dropPredecessors() {
	s.found.mu.Lock()
	defer s.found.mu.Unlock()
	for _, p := range s.found.before {
		if err := extent.Drop(s.FS, s.State, p.dev); err != nil {
			s.Logger.Warn("how far the log of an earlier device was written is still kept", "device", p.dev, "error", err)
		}
	}
	s.found.before = nil
	s.missedBefore.Store(0)
}
