package wal

import (
	"context"
	"slices"

	"emberd/stm/device"
	"emberd/stm/otherfiles"
	"emberd/stm/record"
	"emberd/stm/repair"
	"emberd/stm/snapshot"
)

// keepable returns the numbers of other devices' records that no file has and the effect of which is
// known here, by device. It is in files once what the table has beyond them is written.
func (h healer) keepable(seen map[record.Device]*record.Ranges, have *device.Numbers) map[string][][2]uint64 {
	out := map[string][][2]uint64{}
	for dev, effect := range seen {
		if dev == h.Device || h.Review.isAskedOf(dev) {
			continue
		}
		if _, kept := have.Of(dev).Lacking(effect.Last(), effect); len(kept.Spans) > 0 {
			out[dev.String()] = kept.Spans
		}
	}
	return out
}

// keep begins a segment whose header says that what some records of other devices did is in the files of
// this one.
func (h healer) keep(ctx context.Context, numbers map[string][][2]uint64) error {
	if len(numbers) == 0 {
		return nil
	}
	files, err := repair.WrittenAgain(h.FS, h.OwnDir(), h.Device)
	if err != nil {
		return err
	}
	k := record.Kept{Of: numbers, In: files}
	if err := h.OnWriter(ctx, func() { h.Writer.kept = append(h.Writer.kept, k) }); err != nil {
		return err
	}
	return h.sealNow(ctx)
}

// believed returns the numbers of records that devices have written again, as far as all that they wrote
// was read here, and the files that it is in. Those that are of no interest are not looked for.
func (h healer) believed(ctx context.Context, isNews func(record.Device, *record.Ranges) bool) (
	all map[record.Device]*record.Ranges, carriers []string) {
	all = map[record.Device]*record.Ranges{}
	for bearer, claims := range h.others.Claims() {
		for i := range claims {
			numbers := claims[i].Numbers()
			for dev, of := range numbers {
				if !isNews(dev, of) {
					delete(numbers, dev)
				}
			}
			if len(numbers) == 0 {
				continue
			}
			files, whole := repair.Carriers(ctx, h.FS, bearer, &claims[i])
			if !whole || !h.haveRead(files) {
				continue
			}
			carriers = append(carriers, files...)
			for dev, of := range numbers {
				if all[dev] == nil {
					all[dev] = &record.Ranges{}
				}
				all[dev].AddAll(of)
			}
		}
	}
	return all, carriers
}

// haveRead reports whether files are as they were when they were read to their ends.
func (h healer) haveRead(names []string) bool {
	for _, name := range names {
		info, err := h.FS.Lstat(name)
		known := h.others.Get(name)
		if err != nil {
			return false
		}
		asRead := known.Problem == otherfiles.Sound && known.Look == snapshot.MarkOf(name, info)
		if !h.Ours(name) && !asRead {
			return false
		}
	}
	return true
}

// lacks reports whether some numbers are not all in any of the sets.
func lacks(numbers *record.Ranges, sets ...*record.Ranges) bool {
	var known record.Ranges
	for _, s := range sets {
		known.AddAll(s)
	}
	_, more := known.Lacking(numbers.Last(), numbers)
	return more.Count() > 0
}

// believe takes at a start what devices have written again, of this device and of others.
func (r *recovery) believe() {
	h := healer{r.s}
	all, carriers := h.believed(context.Background(), func(dev record.Device, of *record.Ranges) bool {
		if dev == r.s.Device {
			return lacks(of, r.seen.Of(dev), &r.lost, &r.held, &r.carried)
		}
		return lacks(of, r.seen.Of(dev))
	})
	for dev, of := range all {
		if dev == r.s.Device {
			r.carried.AddAll(of)
			r.returned = h.returned(carriers)
			continue
		}
		r.seen.Of(dev).AddAll(of)
	}
}

// returned reads which changes of this device others have written again.
func (h healer) returned(carriers []string) []record.Line {
	lines, err := repair.Returned(h.FS, carriers, func(dev record.Device) bool { return dev == h.Device })
	if err != nil {
		h.Logger.Warn("the count of records restored from other devices is incomplete", "error", err)
	}
	return lines
}

// believe is that of a start, for what has arrived since.
func (h healer) believe(ctx context.Context) error {
	known := h.given()
	all, carriers := h.believed(ctx, func(dev record.Device, of *record.Ranges) bool {
		if dev == h.Device {
			_, back := known.Lacking(h.Snapshot.began, of)
			return back.Count() > 0
		}
		seen := h.Snapshot.Seen.Clone()[dev]
		return seen == nil || lacks(of, seen)
	})
	for dev, of := range all {
		if dev != h.Device {
			for _, s := range of.Spans {
				h.Snapshot.Seen.Add(dev, s[0], s[1])
			}
		}
	}
	if all[h.Device] == nil {
		return nil
	}
	_, back := known.Lacking(h.Snapshot.began, all[h.Device])
	h.Snapshot.mu.Lock()
	h.Snapshot.carried.AddAll(&back)
	h.Snapshot.mu.Unlock()
	h.Snapshot.fresh.Store(false)
	h.missNoMore(&back)
	return h.cameBack(ctx, h.returned(carriers))
}

// given returns the own numbers that are in a file, or are missed no more.
func (h healer) given() *record.Ranges {
	known := &record.Ranges{}
	if own := h.Snapshot.Seen.Clone()[h.Device]; own != nil {
		known.AddAll(own)
	}
	h.Snapshot.mu.Lock()
	defer h.Snapshot.mu.Unlock()
	known.AddAll(&h.Snapshot.lost)
	known.AddAll(&h.Snapshot.carried)
	return known
}

// cameBack takes note of what other devices gave back.
func (h healer) cameBack(ctx context.Context, lines []record.Line) error {
	r := &h.found
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell(lines, otherDevices)
	h.Logger.Warn("restored memories from other devices, because they were missing from the log", "memories",
		r.healed.Memories, "from", r.healed.Oldest, "until", r.healed.Newest)
	return h.settleShort(ctx)
}

// What came back is from one of these.
const (
	theSnapshot  = "the snapshot"
	otherDevices = "other devices"
	theDaemon    = "the RAM of the daemon"
)

// tell adds lines to what came back.
func (f *found) tell(lines []record.Line, from string) {
	if len(lines) == 0 {
		return
	}
	f.back = append(f.back, lines...)
	f.healed.Note(f.back)
	if !slices.Contains(f.healed.From, from) {
		f.healed.From = append(f.healed.From, from)
	}
}
