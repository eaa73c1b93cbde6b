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
		dir := filepath.Join(r.s.Data, "stm", dev.String())
		p := predecessor{dev: dev, short: extent.ShortFiles(r.s.FS, dir, known)}
		for _, e := range known {
			p.last = max(p.last, e.Last)
		}
		if len(p.short) > 0 {
			r.count1(&p)
		}
		if p.missing > 0 {
			r.before = append(r.before, p)
			continue
		}
		p.drop(r.s.Home)
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

// missedBefore counts the records that are missed of all of them. The lock is held, or not needed yet.
func (f *found) missedBefore() (n int64) {
	for _, p := range f.before {
		n += int64(p.missing)
	}
	return n
}

// settleBefore takes what a copy has given back as no longer missed.
func (f *found) settleBefore(h healer, held *repair.Folded) {
	if held == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var left []predecessor
	for _, p := range f.before {
		for _, s := range held.Seen.Of(p.dev).Spans {
			h.Snapshot.Seen.Add(p.dev, s[0], s[1])
		}
		if p.count(held.Seen.Of(p.dev)); p.missing > 0 {
			left = append(left, p)
			continue
		}
		p.drop(h.Home)
	}
	f.before = left
	h.missedBefore.Store(f.missedBefore())
}

// acceptBefore takes their logs as they are.
func (f *found) acceptBefore(h healer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.before {
		p.drop(h.Home)
	}
	f.before = nil
	h.missedBefore.Store(0)
}

// drop forgets how far its log was written.
func (p predecessor) drop(h *device.Home) {
	if err := extent.Drop(h.FS, h.State, p.dev); err != nil {
		h.Logger.Warn("how far the log of an earlier device was written is still kept", "device", p.dev, "error", err)
	}
}
