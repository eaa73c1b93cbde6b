package wal

import (
	"maps"
	"sync"
)

// deadBytes are how many bytes of own files a compaction would take away, about, by the file
// whose lines made them superfluous. What is counted too much goes with that file: otherwise
// it would grow until compactions that gain nothing seem due without end.
type deadBytes struct {
	mu sync.Mutex
	by map[uint32]int64
}

// earlier stands for the files of the last run, of which a snapshot keeps the sum alone.
const earlier = ^uint32(0)

func (d *deadBytes) add(file uint32, n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.by == nil {
		d.by = make(map[uint32]int64)
	}
	d.by[file] += n
}

func (d *deadBytes) sum(counts func(file uint32) bool) (n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for file, one := range d.by {
		if counts(file) {
			n += one
		}
	}
	return n
}

func everywhere(uint32) bool { return true }

// begin is the sum of the last run.
func (d *deadBytes) begin(sum int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.by = map[uint32]int64{earlier: sum}
}

// folded takes in that files became one, which is smaller by so many bytes. Where no older
// file is left, nothing is dead by their lines any more.
func (d *deadBytes) folded(gone func(file uint32) bool, gain int64, all bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	left := -max(0, gain)
	maps.DeleteFunc(d.by, func(file uint32, n int64) bool {
		if file == earlier || gone(file) {
			left += n
			return true
		}
		return false
	})
	if left > 0 && !all {
		d.by[earlier] = left
	}
}
