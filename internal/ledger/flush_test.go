package ledger

import (
	"fmt"
	"os"
	"testing"

	"emberd/internal/durable"
)

// pieces is a disk that notes the largest write.
type pieces struct {
	durable.OS
	largest *int
}

type piece struct {
	durable.File
	largest *int
}

func (p pieces) CreateAppend(name string) (durable.File, error) {
	f, err := p.OS.CreateAppend(name)
	return piece{f, p.largest}, err
}

func (p piece) Write(b []byte) (int, error) {
	*p.largest = max(*p.largest, len(b))
	return p.File.Write(b)
}

// full is a ledger with as many reads, recalls and saves as agents may well make of it.
func (d *desk) full() *Ledger {
	l := d.open()
	for i := range 20 {
		who := named(fmt.Sprint("agent ", i))
		for k := range maxReads / 20 {
			l.Count(who, searched(some(fmt.Sprint("memory ", i, k), 5)...))
		}
		l.Count(who, &Call{Saved: some(fmt.Sprint("saved ", i), maxWatched/20)})
	}
	return l
}

// A ledger is written every half a minute in which something is counted: what is in memory for
// that is a part of the file.
func TestAFlushHasNoMoreThanOneCallerInMemory(t *testing.T) {
	d, largest := newDesk(t), 0
	l := d.full()
	l.opt.FS = pieces{largest: &largest}
	flush(t, l)
	info, err := os.Stat(d.file())
	if err != nil || info.Size() < 4<<20 || largest > 512<<10 {
		t.Errorf("%v, %v: pieces of up to %d bytes were written", info, err, largest)
	}
	if again := d.open(); again.Problem() != "" || again.recalls != l.recalls || len(again.watched) != len(l.watched) || len(again.reads) != len(l.reads) {
		t.Errorf("what was written is not what is read: %s", again.Problem())
	}
}

func BenchmarkFlushAFullLedger(b *testing.B) {
	l := newDesk(b).full()
	b.ReportAllocs()
	for b.Loop() {
		l.Changed(&Change{By: cursor, How: Wrote, IDs: some("changed", 1)})
		if err := l.Flush(); err != nil {
			b.Fatal(err)
		}
	}
}
