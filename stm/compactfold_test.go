package stm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/compaction"
	"emberd/internal/testutil/crashdisk"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/device"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// logNow is when the drawn logs are compacted. Their lines are up to 120 days old.
var logNow = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	ourselves = "aaaaaaaa"
	elsewhere = "bbbbbbbb"
)

// drawnLog is the files of two devices, by path below the data folder.
type drawnLog map[string][]byte

// drawLog draws what may ever come to be in a log: operations on few memories,
// so that they meet; several at once; repeated and out of order; of later
// versions; damaged; edited by hand; and another device's.
func drawLog(t *rapid.T) drawnLog {
	log := drawnLog{}
	var seq uint64
	var earlier [][]byte
	for file := range rapid.IntRange(1, 4).Draw(t, "segments") {
		name := filepath.Join("stm", ourselves, record.SegmentName(uint32(file+1)))
		h := record.Header{Dev: ourselves, Segment: uint32(file + 1), First: seq + 1, Format: record.FormatVersion}
		b := record.MetaLine(record.OpSegment, stampAgo(t, ourselves, 0), h)
		for range rapid.IntRange(0, 8).Draw(t, "lines") {
			seq++
			l := drawLine(t, ourselves, seq)
			earlier = append(earlier, l)
			if rapid.IntRange(0, 5).Draw(t, "again") == 0 {
				l = append(bytes.Clone(l), rapid.SampledFrom(earlier).Draw(t, "which")...)
			}
			b = append(b, l...)
		}
		log[name] = append(b, rapid.SampledFrom([]string{"", "", `{"v":1,"q":9`, "\x00\x00\x00"}).Draw(t, "tail")...)
	}
	var b []byte
	for n := range rapid.IntRange(0, 4).Draw(t, "lines elsewhere") {
		b = append(b, drawLine(t, elsewhere, uint64(n+1))...)
	}
	if b != nil {
		log[filepath.Join("stm", elsewhere, record.SegmentName(1))] = b
	}
	return log
}

// stampAgo draws a time; n makes it unique on the device.
func stampAgo(t *rapid.T, dev string, n uint64) record.Stamp {
	ago := time.Duration(rapid.Int64Range(0, 120*24*60).Draw(t, "minutes ago")) * time.Minute
	if rapid.Bool().Draw(t, "recent") {
		ago /= 100
	}
	d, _ := record.ParseDevice(dev)
	return record.Stamp{T: uint64(logNow.Add(-ago).UnixMilli())<<16 | n, Dev: d}
}

func drawLine(t *rapid.T, dev string, seq uint64) []byte {
	l := record.Line{Seq: seq, Stamp: stampAgo(t, dev, seq), Verb: "test"}
	l.Tx = l.Stamp
	if rapid.IntRange(0, 5).Draw(t, "keyed") == 0 {
		l.Key, l.KeyHash = fmt.Sprintf("key %d", seq), "hash"
	}
	if rapid.IntRange(0, 5).Draw(t, "lifts") == 0 {
		l.Lift = []memory.ID{idOf(rapid.IntRange(1, 3).Draw(t, "lifted"))}
	}
	switch rapid.IntRange(0, 11).Draw(t, "kind of line") {
	case 0:
		l.Op, l.Data = record.OpUse, record.EncodeUse(map[[16]byte]record.UseTotal{
			idOf(rapid.IntRange(1, 3).Draw(t, "used")).Bytes(): {Uses: rapid.Int64Range(1, 9).Draw(t, "uses"), Used: logNow.UnixMilli()}})
	case 1, 2:
		l.Op = record.OpAll
		for n := range 3 {
			l.Changes = append(l.Changes, drawChange(t, n+1))
		}
	default:
		l.Changes = []record.Change{drawChange(t, rapid.IntRange(1, 3).Draw(t, "memory"))}
		l.Op = l.Changes[0].Op
	}
	return spoil(t, l.Append(nil))
}

func drawChange(t *rapid.T, n int) record.Change {
	c := record.Change{Op: rapid.SampledFrom([]string{record.OpPut, record.OpSet, record.OpSet, record.OpDelete}).Draw(t, "op"), ID: idOf(n)}
	if rapid.Bool().Draw(t, "with prev") && c.Op != record.OpPut {
		c.Prev = []byte(`{"t":"0192f3a1b2c3-0004-aaaaaaaa","d":{"content":"before"}}`)
	}
	if c.Op == record.OpDelete {
		if rapid.Bool().Draw(t, "with a fingerprint") {
			c.Print = &record.Fingerprint{byte(rapid.IntRange(1, 2).Draw(t, "text"))}
		}
		return c
	}
	set := map[string]json.RawMessage{}
	for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"content", "source", "x"}), 0, 3, rapid.ID).Draw(t, "keys") {
		if set[key] = record.Encode(rapid.StringMatching(`[a-z"\\]{0,5}`).Draw(t, "value")); rapid.IntRange(0, 4).Draw(t, "remove") == 0 {
			set[key] = record.Null
		}
	}
	c.Data = record.Encode(set)
	return c
}

// spoil does to a line now and then what programs, people and disks do.
func spoil(t *rapid.T, b []byte) []byte {
	text := string(b[:len(b)-1])
	unsealed := text[:len(text)-record.SuffixLen]
	switch rapid.IntRange(0, 30).Draw(t, "spoilt") {
	case 0:
		text = strings.Replace(text, "q", "Q", 1) // damaged
	case 1:
		text = unsealed + "}" // by hand
	case 2:
		return record.SealLine([]byte(strings.Replace(unsealed, `"v":1`, `"v":2`, 1)), 0)
	case 3:
		return record.SealLine([]byte(unsealed+`,"later":true`), 0)
	case 4:
		return record.SealLine([]byte(strings.Replace(unsealed, `"op":"`, `"op":"x`, 1)), 0)
	case 5:
		text = "\ufeff" + text + "\r"
	case 6:
		text = "\x00\x00" + text
	case 7:
		return record.SealLine([]byte(strings.Replace(unsealed, `"source":`, `"strength":`, 1)), 0) // not a number
	}
	return []byte(text + "\n")
}

// open makes a store of the files, without a snapshot.
func (g drawnLog) open(t *rapid.T) (*stm.Store, *crashdisk.Disk) {
	disk := crashdisk.New()
	for _, dir := range []string{"/data", "/data/stm", "/data/stm/" + ourselves, "/data/stm/" + elsewhere, "/state"} {
		if err := disk.Mkdir(dir); err != nil {
			t.Fatal(err)
		}
	}
	files := maps.Clone(g)
	var last uint32
	for name := range g {
		last = max(last, record.ParseName(filepath.Base(name)).To)
	}
	files["../state/device.json"] = record.Encode(device.Identity{ID: ourselves, Machine: device.MachineID(), Data: device.Inode(disk, "/data"), Segment: last})
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := disk.CreateAppend(filepath.Join("/data", name))
		if err == nil {
			_, err = f.Write(files[name])
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := stm.Open("/data", "/state", &wal.Options{FS: disk, Now: func() time.Time { return logNow }})
	if err != nil {
		t.Fatal(err)
	}
	if s.Wal().Device.String() != ourselves {
		t.Fatalf("device %s", s.Wal().Device)
	}
	return s, disk
}

// files reads back what is on the disk.
func (g drawnLog) after(t *rapid.T, disk *crashdisk.Disk) drawnLog {
	out := drawnLog{}
	for _, dev := range []string{ourselves, elsewhere} {
		entries, err := disk.ReadDir("/data/stm/" + dev)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			name := filepath.Join("stm", dev, e.Name())
			out[name] = contentOf(t, disk, filepath.Join("/data", name))
		}
	}
	return out
}

func contentOf(t *rapid.T, disk *crashdisk.Disk, name string) []byte {
	f, err := disk.OpenRead(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// stateOf describes every memory, dead ones too, less those in without.
func stateOf(s *stm.Store, without map[[16]byte]record.Stamp) string {
	var out []string
	for key, c := range s.Table.Cells {
		if _, ok := without[key]; ok {
			continue
		}
		r := c.Row.Load()
		if o := r.Rest(); !r.Live() && o.Tomb.IsZero() && len(o.Use) == 0 && len(o.Regs) == 0 {
			continue
		}
		use := slices.SortedFunc(slices.Values(r.Rest().Use), func(a, b record.UseTotal) int { return bytes.Compare(a.Dev[:], b.Dev[:]) })
		var text strings.Builder
		fmt.Fprintf(&text, "%s %s use %v", r.ID()[:8], describe(r), use)
		if !r.Live() {
			for _, g := range slices.SortedFunc(slices.Values(r.Rest().Regs), func(a, b table.Register) int { return strings.Compare(a.Key, b.Key) }) {
				fmt.Fprintf(&text, " waiting %s=%s@%s", g.Key, r.Value(g.Key), g.Stamp)
			}
		}
		if f := r.Rest().Forgot; f.Counts() {
			fmt.Fprintf(&text, " forgotten as %v@%s", f.Print[0], f.At)
		}
		out = append(out, text.String())
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// rewriteSome compacts a contiguous part of the own files.
func rewriteSome(t *rapid.T, s *stm.Store, droppable func(time.Time, uint64) bool) compaction.Result {
	files, err := s.Segments()
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(g record.Segment) bool { return !g.Own || g.Kind == record.History || g.Active || g.Replaced })
	slices.SortFunc(files, func(a, b record.Segment) int { return int(a.From) - int(b.From) })
	from := rapid.IntRange(0, len(files)-1).Draw(t, "from")
	to := rapid.IntRange(from, len(files)-1).Draw(t, "to")
	var inputs []string
	for _, g := range files[from : to+1] {
		inputs = append(inputs, g.Name)
	}
	got, err := s.Rewrite(context.Background(), compaction.Job{Inputs: inputs, HistoryKeep: 90 * day, Droppable: droppable})
	if err != nil {
		t.Fatalf("compact %v: %v", inputs, err)
	}
	return got
}

func TestAnyMixOfInputsAndOutputsSaysTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := drawLog(t)
		s, disk := log.open(t)
		want := stateOf(s, nil)
		for range rapid.IntRange(1, 3).Draw(t, "compactions") {
			got := rewriteSome(t, s, nil)
			if now := stateOf(s, nil); now != want {
				t.Fatalf("compacting %v changed memories in use:\n%s\nwant\n%s", got.Inputs, now, want)
			}
			both := log.after(t, disk)
			mix := maps.Clone(both)
			for _, name := range got.Inputs {
				if rapid.Bool().Draw(t, "unlink "+name) {
					delete(mix, filepath.Join("stm", ourselves, name))
				}
			}
			for which, files := range map[string]drawnLog{"both": both, "a mix": mix} {
				again, _ := files.open(t)
				if now := stateOf(again, nil); now != want {
					t.Fatalf("%s of %v and %s:\n%s\nwant\n%s", which, got.Inputs, got.Output, now, want)
				}
				again.Close()
			}
			if _, err := s.Unlink(context.Background(), logNow.Add(time.Hour), time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		s.Close()
	})
}
