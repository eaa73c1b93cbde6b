package stm_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"emberd/memory"
	"emberd/stm/wal"
)

// pair is two devices that share a data folder without delay.
type pair struct {
	a, b    *testStore
	elapsed atomic.Int64
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{}
	now := func() time.Time { return time.Now().Add(time.Duration(p.elapsed.Load())) }
	p.a = openStore(t, wal.Options{Now: now})
	p.b = &testStore{t: t, root: t.TempDir(), opt: wal.Options{Now: now}}
	if err := os.Symlink(filepath.Join(p.a.root, "data"), filepath.Join(p.b.root, "data")); err != nil {
		t.Fatal(err)
	}
	p.b.open()
	t.Cleanup(func() { p.b.Close() })
	return p
}

// settle lets enough time pass that b takes what is gone for lost.
func (p *pair) settle() {
	p.b.refresh()
	p.elapsed.Add(int64(3 * time.Minute))
	p.b.refresh()
}

// filesOf lists the log files of one device.
func (ts *testStore) filesOf(dev string) (names []string) {
	for _, name := range ts.segments() {
		if filepath.Base(filepath.Dir(name)) == dev {
			names = append(names, name)
		}
	}
	return names
}

// TestADeviceGetsBackWhatWasDeletedElsewhere damages the files of a device, its snapshot gone too.
// The other device writes what it read of them again, and both have everything.
func TestADeviceGetsBackWhatWasDeletedElsewhere(t *testing.T) {
	for _, d := range damages[:4] {
		t.Run(d.name, func(t *testing.T) {
			p := newPair(t)
			want := p.a.livesOfThreeSegments()
			own := p.b.save("b has one of its own")
			want[own.ID()] = "b has one of its own"
			p.b.refresh()
			p.b.wantAll(want, "b before")
			if err := p.a.Close(); err != nil {
				t.Fatal(err)
			}
			for _, name := range p.a.filesOf(p.a.Status().Device) {
				d.do(name, "")
			}
			p.settle()
			p.b.wantAll(want, "b after")
			if w := strings.Join(p.b.Status().Warnings, "\n"); strings.Contains(w, "gone") || strings.Contains(w, "shorter") {
				t.Errorf("b warns still: %s", w)
			}
			p.b.withoutSnapshot()
			p.b.wantAll(want, "b without its snapshot")
			os.RemoveAll(filepath.Join(p.a.root, "state", "index"))
			if d.name == "deleted" { // a device of which nothing is left is begun anew
				os.RemoveAll(filepath.Join(p.a.root, "state"))
			}
			p.a.open()
			p.a.wantAll(want, "a after its start")
			for range 2 {
				p.a.refresh()
				p.b.refresh()
			}
			p.a.wantAll(want, "a in the end")
		})
	}
}

// TestARunningDeviceWritesAgainWhatWasDeletedElsewhere deletes a file of a device that runs.
func TestARunningDeviceWritesAgainWhatWasDeletedElsewhere(t *testing.T) {
	p := newPair(t)
	want := p.a.livesOfThreeSegments()
	p.b.refresh()
	names := p.a.filesOf(p.a.Status().Device)
	os.Remove(names[0])
	p.a.refresh()
	os.RemoveAll(filepath.Join(p.a.root, "state", "index"))
	p.a.withoutSnapshot()
	p.a.wantAll(want, "a after a start without a snapshot")
	if st := p.a.Status(); st.Recovery.Gaps != 0 || len(st.Short) != 0 {
		t.Errorf("%d records are missing still, short are %q", st.Recovery.Gaps, st.Short)
	}
	p.settle()
	if lines := strings.Join(p.b.Status().Warnings, "\n"); lines != "" {
		t.Errorf("b warns: %s", lines)
	}
}

// TestWhatWasPurgedComesBackFromNowhere purges on one device what the other still has in its
// table and snapshot, and damages files at once.
func TestWhatWasPurgedComesBackFromNowhere(t *testing.T) {
	p := newPair(t)
	secret := p.a.save("the zanzibar password").ID()
	kept := p.a.save("something else").ID()
	p.a.reopen()
	p.b.refresh()
	if err := p.b.Close(); err != nil { // its snapshot has the text
		t.Fatal(err)
	}
	p.a.purge(secret)
	for _, name := range p.a.filesOf(p.a.Status().Device)[:1] {
		os.Remove(name)
	}
	p.b.open()
	p.settle()    // b cannot know yet
	p.a.refresh() // which writes the purge again
	p.b.refresh()
	if _, err := p.b.CarryOutPurges(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.a.withoutSnapshot()
	want := map[memory.ID]string{secret: "", kept: "something else"}
	p.a.wantAll(want, "a")
	p.b.wantAll(want, "b")
	for _, name := range p.a.segments() {
		if text, _ := os.ReadFile(name); strings.Contains(string(text), "zanzibar") {
			t.Errorf("%s has the purged word", name)
		}
	}
}

// TestADeviceThatStartsWritesAgainWhatWasDamagedElsewhere damages the files of a device while the other one is
// stopped, which then writes again what it had read of them, even if it stops and starts before it is time to.
func TestADeviceThatStartsWritesAgainWhatWasDamagedElsewhere(t *testing.T) {
	for _, d := range damages[:4] {
		for name, stops := range map[string]int{"at once": 0, "after another start": 1} {
			t.Run(d.name+" "+name, func(t *testing.T) {
				p := newPair(t)
				want := p.a.livesOfThreeSegments()
				own := p.b.save("b has one of its own")
				want[own.ID()] = "b has one of its own"
				p.b.refresh()
				if err := errors.Join(p.a.Close(), p.b.Close()); err != nil {
					t.Fatal(err)
				}
				for _, name := range p.a.filesOf(p.a.Status().Device) {
					d.do(name, "")
				}
				p.b.open()
				for range stops {
					p.b.refresh()
					more := p.b.save("a change, so that there is another snapshot").ID()
					want[more] = "a change, so that there is another snapshot"
					p.b.reopen()
				}
				p.settle()
				p.b.withoutSnapshot()
				p.b.wantAll(want, "b without its snapshot")
			})
		}
	}
}
