package repair

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"sync/atomic"

	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/record"
)

// Predecessors are the devices that this one goes on for, and others, of whose logs something is missed. Their files
// are those of other devices: what they lose after the start, the devices that have read it write again. Any
// goroutine may use it.
type Predecessors struct {
	missing atomic.Int64 // of those that this device goes on for

	mu   sync.Mutex // guards what follows
	logs []predecessor
	had  map[record.Device]uint64 // how far the logs of other devices were read once
}

// predecessor is a device whose log has lost something.
type predecessor struct {
	dev     record.Device
	other   bool               // that this one does not go on for
	last    uint64             // number of the last record that it wrote here, or that was read
	short   []extent.ShortFile // its files that hold less than was written to them
	known   record.Ranges      // numbers that a file or a copy has
	missing int                // of its records, how many no file and no copy has
}

// Find finds at a start what is missed. seen has the numbers that are known by then, those of copies too.
func (p *Predecessors) Find(h *device.Home, seen *device.Numbers) {
	p.had = device.HadSeen(h.FS, h.Data, h.State, h.Device)
	before := maps.Clone(p.had)
	for _, dev := range device.Predecessors(h.FS, h.State) {
		p.logs = append(p.logs, p.predecessor(h, dev, seen))
		delete(before, dev)
	}
	news := len(p.logs) > 0
	for dev, last := range before {
		one := predecessor{dev: dev, other: true, last: last}
		if one.count(seen.Of(dev)); one.missing > 0 {
			one.find(h, seen)
			p.logs = append(p.logs, one)
			news = true
		}
	}
	if news {
		p.keepHad(h) // what is told to the others now is less, and what settle drops told more
	}
	p.settle(h)
}

// predecessor finds what is missed of a device that this one goes on for.
func (p *Predecessors) predecessor(h *device.Home, dev record.Device, seen *device.Numbers) predecessor {
	written := extent.Read(h.FS, h.State, dev)
	dir := filepath.Join(h.Data, "stm", dev.String())
	one := predecessor{dev: dev, short: extent.ShortFiles(h.FS, dir, written), last: p.had[dev]}
	for _, e := range written {
		one.last = max(one.last, e.Last)
	}
	one.count(seen.Of(dev))
	if len(written) > 0 || one.missing > 0 { // a purge may have folded files with gaps between them
		one.find(h, seen)
	}
	if n := one.known.Unbroken(); n > p.had[dev] {
		p.had[dev] = n // the extents go as soon as nothing is missed
	}
	return one
}

// Saw takes note of how far the logs of other devices were read by now.
func (p *Predecessors) Saw(h *device.Home, seen *device.Numbers) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.logs) > 0 {
		now := seen.Clone()
		for i := range p.logs {
			if of := now[p.logs[i].dev]; of != nil {
				p.logs[i].count(of)
			}
		}
		p.settle(h)
	}
	news := false
	for dev, n := range seen.Contiguous() {
		if dev != h.Device && n > p.had[dev] {
			p.had[dev], news = n, true
		}
	}
	if news {
		p.keepHad(h)
	}
}

// keepHad writes down how far the logs of other devices were read. The lock is held.
func (p *Predecessors) keepHad(h *device.Home) {
	if err := device.NoteSeen(h.FS, h.State, p.had); err != nil {
		h.Logger.Debug("read positions in the logs of other devices not stored", "error", err)
	}
}

// find counts what is missed of a device.
func (p *predecessor) find(h *device.Home, seen *device.Numbers) {
	if have, err := Fold(context.Background(), h.FS, h.Data, h.Logger); err == nil { // headers, too
		p.count(have.Seen.Of(p.dev))
	}
	if p.count(seen.Of(p.dev)); p.missing > 0 {
		h.Logger.Warn("records are missing from the log of another device, or of "+
			"an earlier ID of this device; run: emberd doctor log repair", "device", p.dev, "missing", p.missing,
			"files", p.short)
	}
}

// count takes some of its numbers as known.
func (p *predecessor) count(more *record.Ranges) {
	p.known.AddAll(more)
	gone, _ := p.known.Lacking(p.last, &record.Ranges{})
	p.missing = gone.Count()
}

// settle keeps the devices of which something is missed. Of the others it forgets how far their logs were
// written. The lock is held, or not needed yet.
func (p *Predecessors) settle(h *device.Home) {
	var left []predecessor
	missing := 0
	for _, one := range p.logs {
		if one.missing > 0 {
			left = append(left, one)
			if !one.other {
				missing += one.missing
			}
			continue
		}
		if one.other {
			continue
		}
		if err := extent.Drop(h.FS, h.State, one.dev); err != nil {
			h.Logger.Warn("write position of an earlier device not deleted", "device", one.dev, "error", err)
		}
	}
	p.logs = left
	p.missing.Store(int64(missing))
}

// Missing counts the records that are missed of those that this device goes on for.
func (p *Predecessors) Missing() int { return int(p.missing.Load()) }

// Lacks returns the records that are missed of one of them.
func (p *Predecessors) Lacks(dev record.Device) *record.Ranges {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.logs {
		if one := &p.logs[i]; one.dev == dev {
			gone, _ := one.known.Lacking(one.last, &record.Ranges{})
			return &gone
		}
	}
	return &record.Ranges{}
}

// Clauses says what is wrong with their files.
func (p *Predecessors) Clauses() (out []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.logs {
		if one.other || len(one.short) == 0 {
			out = append(out, fmt.Sprintf("of device %s is missing or shorter than before: no "+
				"file contains %d records that this device read earlier", one.dev, one.missing))
		}
		for _, f := range one.short {
			f.Name = filepath.Join(one.dev.String(), f.Name)
			out = append(out, f.String())
		}
	}
	return out
}

// Return takes as no longer missed what a copy has given back, which may be nil. Its numbers are seen from
// then on.
func (p *Predecessors) Return(h *device.Home, held *Folded, seen *device.Numbers) {
	if held == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.logs {
		one := &p.logs[i]
		of := held.Seen.Of(one.dev)
		for _, s := range of.Spans {
			seen.Add(one.dev, s[0], s[1])
		}
		one.count(of)
	}
	p.settle(h)
}

// Accept takes their logs as they are, and returns how many records are given up.
func (p *Predecessors) Accept(h *device.Home) (gone int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.logs {
		one := &p.logs[i]
		gone += one.missing
		one.missing, p.had[one.dev] = 0, one.known.Unbroken()
	}
	if len(p.logs) > 0 {
		p.keepHad(h)
	}
	p.settle(h)
	return gone
}
