package stm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/internal/testutil/crashdisk"
	"emberd/internal/words"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// Case 69: devices that share a folder through a sync tool of the worst kind.
// Whatever it delivers, in which order, how often, and cut off where: once every
// file is whole everywhere, all devices hold the same bytes, and uses add up.
func TestDevicesConverge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newFleet(t)
		defer w.close()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step()
		}
		w.settle()
	})
}

// fleet is a number of devices and what they ought to add up to.
type fleet struct {
	*rapid.T
	devices []*simulated
	elapsed atomic.Int64 // nanoseconds, for writers count uses on their own
	uses    map[memory.ID]int64
	made    int
}

// simulated is one device with its own disk and clock.
type simulated struct {
	*stm.Store
	fleet *fleet
	disk  *crashdisk.Disk
	skew  time.Duration
}

const year = 365 * 24 * time.Hour

func newFleet(t *rapid.T) *fleet {
	w := &fleet{T: t, uses: map[memory.ID]int64{}}
	for range rapid.IntRange(2, 5).Draw(t, "devices") {
		d := &simulated{fleet: w, disk: crashdisk.New(),
			skew: rapid.SampledFrom([]time.Duration{0, 0, time.Minute, -time.Hour, 10 * year, -10 * year}).Draw(t, "skew")}
		d.open()
		w.devices = append(w.devices, d)
	}
	return w
}

func (d *simulated) now() time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(d.fleet.elapsed.Load()) + d.skew)
}

func (d *simulated) open() {
	s, err := stm.Open("/data", "/state", &wal.Options{FS: d.disk, Now: d.now, SegmentBytes: 600, DocumentBytes: 1,
		Host: "simulated"})
	if err != nil {
		d.fleet.Fatal(err)
	}
	if err := s.BuildIndex(context.Background()); err != nil {
		d.fleet.Fatal(err)
	}
	d.Store = s
}

func (d *simulated) reopen() {
	if err := d.Close(); err != nil {
		d.fleet.Fatal(err)
	}
	d.open()
}

func (w *fleet) close() {
	for _, d := range w.devices {
		d.Close()
	}
}

func (w *fleet) any(label string) *simulated { return rapid.SampledFrom(w.devices).Draw(w.T, label) }

func (w *fleet) step() {
	w.elapsed.Add(int64(time.Duration(rapid.IntRange(0, 5).Draw(w.T, "ms")) * time.Millisecond))
	d := w.any("device")
	switch rapid.IntRange(0, 9).Draw(w.T, "step") {
	case 0, 1, 2:
		w.change(d)
	case 3:
		w.use(d)
	case 4, 5, 6:
		w.deliver(w.any("from"), d)
	case 7:
		w.lose(d)
	case 8:
		d.refresh()
	case 9:
		if rapid.Bool().Draw(w.T, "without snapshot") {
			d.Close()
			d.disk.Remove("/state/index/stm.snap")
			d.open()
		} else {
			d.reopen()
		}
	}
}

func (d *simulated) refresh() {
	if _, err := d.Refresh(context.Background()); err != nil {
		d.fleet.Fatal(err)
	}
}

func (w *fleet) change(d *simulated) {
	id := idOf(rapid.IntRange(1, 4).Draw(w.T, "memory"))
	w.made++
	c := wal.Change{ID: id, Set: textOf(fmt.Sprintf("word%d", w.made))}
	if row, ok := d.Get(id); ok {
		switch rapid.IntRange(0, 3).Draw(w.T, "change") {
		case 0:
			if c.Delete = true; rapid.Bool().Draw(w.T, "asked for") {
				c.Text = row.Content()
			}
		case 1:
			c.Set["source"] = record.Null
		case 2:
			c.Set = textOf(row.Content())
			delete(c.Set, "content")
			c.Set["source"] = record.Encode(fmt.Sprint("place", w.made))
		}
	}
	tx := wal.Tx{Verb: "save", Changes: []wal.Change{c}}
	if rapid.IntRange(0, 5).Draw(w.T, "again") == 0 {
		tx.Again = []memory.ID{idOf(rapid.IntRange(1, 4).Draw(w.T, "forgotten memory"))}
	}
	if _, err := transact(d.Store, tx); err != nil {
		w.Fatal(err)
	}
}

func (w *fleet) use(d *simulated) {
	for row := range d.Rows() {
		d.Use(table.Use{ID: row.ID(), Uses: int64(len(row.Content()))})
		w.uses[row.ID()] += int64(len(row.Content()))
	}
}

// files lists what a device's own folder holds.
func (d *simulated) files() []string {
	dir := filepath.Join("/data/stm", d.Wal().Device.String())
	entries, err := d.disk.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.fleet.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, filepath.Join(dir, e.Name()))
	}
	return names
}

func (d *simulated) read(name string) []byte {
	f, err := d.disk.OpenRead(name)
	if err != nil {
		d.fleet.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		d.fleet.Fatal(err)
	}
	return b
}

func (d *simulated) write(name string, b []byte) {
	err := d.disk.Mkdir(filepath.Dir(name))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		d.fleet.Fatal(err)
	}
	d.disk.Remove(name) // it may not be there
	f, err := d.disk.CreateAppend(name)
	if err != nil {
		d.fleet.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		d.fleet.Fatal(err)
	}
}

// deliver brings one file, whole or in part, under its name or as a copy.
func (w *fleet) deliver(from, to *simulated) {
	names := from.files()
	if from == to || len(names) == 0 {
		return
	}
	name := rapid.SampledFrom(names).Draw(w.T, "file")
	b := from.read(name)
	switch rapid.IntRange(0, 5).Draw(w.T, "how") {
	case 0:
		b = b[:rapid.IntRange(0, len(b)).Draw(w.T, "cut")]
	case 1: // room is made first
		b = append(b[:len(b)/2:len(b)/2], make([]byte, len(b)-len(b)/2)...)
	case 2: // a piece in the middle is not there yet
		b = slices.Clone(b)
		clear(b[len(b)/3 : len(b)/2])
	case 3:
		name = strings.TrimSuffix(name, ".jsonl") + ".sync-conflict-20260301-120000-ABCDEFG.jsonl"
	}
	to.write(name, b)
	if rapid.Bool().Draw(w.T, "look") {
		to.refresh()
	}
}

// lose takes a file of another device away.
func (w *fleet) lose(d *simulated) {
	for _, from := range w.devices {
		for _, name := range from.files() {
			if from != d && rapid.IntRange(0, 3).Draw(w.T, "lose") == 0 {
				d.disk.Remove(name) // it may never have come
			}
		}
	}
	d.refresh()
}

// settle delivers everything, lets every clock pass what is held back, and
// compares.
func (w *fleet) settle() {
	for _, d := range w.devices {
		d.reopen() // uses reach the disk
	}
	w.elapsed.Add(int64(25 * year))
	for _, from := range w.devices {
		for _, to := range w.devices {
			for _, name := range from.files() {
				if to != from {
					to.write(name, from.read(name))
				}
			}
		}
	}
	for _, d := range w.devices {
		d.refresh()
	}
	want := dump(w.devices[0].Store)
	for i, d := range w.devices {
		if got := dump(d.Store); got != want {
			w.Fatalf("device %d holds\n%s\ndevice 0 holds\n%s", i, got, want)
		}
		w.check(d)
		d.Close()
		d.disk.Remove("/state/index/stm.snap")
		d.open()
		if got := dump(d.Store); got != want {
			w.Fatalf("read anew, device %d holds\n%s\nbefore\n%s", i, got, want)
		}
	}
}

// check compares uses with the model and the word index with the table.
func (w *fleet) check(d *simulated) {
	for id, want := range w.uses {
		if cell := d.Table.Cell(id.Bytes()); cell == nil || cell.Row.Load().UseCount() != want {
			w.Fatalf("uses of %s are not the %d that were counted", id, want)
		}
	}
	live := 0
	for row := range d.Rows() {
		live++
		if row.Content() == "" {
			continue
		}
		found := d.Search(table.Query{Terms: asTerms(row.Content()), Limit: 9, Most: 9})
		if !slices.ContainsFunc(found.Matches, func(m table.Match) bool { return m.Row.ID() == row.ID() }) {
			w.Fatalf("%q is not found", row.Content())
		}
	}
	docs := d.Words.Words.Load()
	indexed := 0
	for doc := range docs.Docs() {
		if docs.Live(words.Doc(doc)) {
			indexed++
		}
	}
	if indexed != live || d.Len() != live {
		w.Fatalf("%d documents and a count of %d for %d memories", indexed, d.Len(), live)
	}
}

// dump is the whole state in one canonical text: every memory ever met, each
// key with the stamp it was written at, tombstones, what the trash has, fingerprints,
// and use by device.
func dump(s *stm.Store) string {
	var b bytes.Buffer
	keys := slices.SortedFunc(maps.Keys(s.Table.Cells), func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	for _, key := range keys {
		row := s.Table.Cells[key].Row.Load()
		o := row.Rest()
		fmt.Fprintf(&b, "%s live %v born %s tomb %s rev %s\n", row.ID(), row.Live(), o.Born, o.Tomb, row.Rev())
		if g, ok := s.Table.Graves[key]; ok {
			fmt.Fprintf(&b, "  in the trash since %s\n", g.Stamp)
		}
		if f := o.Forgot; f != nil {
			fmt.Fprintf(&b, "  forgotten as %s at %s, lifted at %s\n", f.Print.String(), f.At, f.Lifted)
		}
		members := map[string]string{}
		for _, r := range o.Regs {
			members[r.Key] = fmt.Sprintf("%s at %s", row.Value(r.Key), r.Stamp)
		}
		_ = record.EachField(row.JSON(), func(name, value []byte) bool {
			members[string(name)] = fmt.Sprintf("%s at %s", value, row.StampOf(string(name)))
			return true
		})
		for _, name := range slices.Sorted(maps.Keys(members)) {
			fmt.Fprintf(&b, "  %s %s\n", name, members[name])
		}
		slices.SortFunc(o.Use, func(a, b record.UseTotal) int { return strings.Compare(a.Dev.String(), b.Dev.String()) })
		for _, u := range o.Use {
			fmt.Fprintf(&b, "  used %s %d %d %d %d\n", u.Dev, u.Uses, u.Accesses, u.Used, u.Accessed)
		}
	}
	return b.String()
}
