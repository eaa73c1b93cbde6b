package stm_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/stm/device"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

func (ts *testStore) announce(p device.Peer) {
	ts.t.Helper()
	dir := filepath.Join(ts.root, "data", "devices")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		ts.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, p.Device+".json"), record.Encode(p), 0o600); err != nil {
		ts.t.Fatal(err)
	}
	ts.refresh()
}

func (ts *testStore) announced() (p device.Peer, found bool) {
	ts.t.Helper()
	b, err := os.ReadFile(filepath.Join(ts.root, "data", "devices", ts.Wal().Device.String()+".json"))
	if err != nil {
		return p, false
	}
	if err := json.Unmarshal(b, &p); err != nil {
		ts.t.Fatal(err)
	}
	return p, true
}

func TestAnnounceTellsHowFarThisDeviceIs(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }, Host: "desk"})
	tell := func(wantNext time.Time) {
		t.Helper()
		if next, err := ts.Announce(false); err != nil || !next.Equal(wantNext) {
			t.Errorf("next %v, %v; want %v", next, err, wantNext)
		}
	}
	ts.save("one")
	tell(time.Time{})
	ts.save("two")
	var lines strings.Builder
	for _, n := range []int{1, 2, 4} {
		lines.WriteString(lineOf(uint64(n), now, record.OpPut, idOf(n), `{"content":"theirs"}`))
	}
	ts.peerFile("s-00000001.jsonl", lines.String())
	ts.refresh()
	now = now.Add(9 * time.Minute)
	tell(now.Add(time.Minute))
	if p, _ := ts.announced(); p.Last != 1 {
		t.Errorf("told within ten minutes: %+v", p)
	}
	now = now.Add(time.Minute)
	tell(time.Time{})
	p, _ := ts.announced()
	if p.Device != ts.Wal().Device.String() || p.Name != "desk" || p.Format != 1 || !p.At.Equal(now) || p.Last != 2 || p.Seen["otherdev"] != 2 {
		t.Errorf("told: %+v", p)
	}
	now = now.Add(time.Hour)
	tell(time.Time{})
	if again, _ := ts.announced(); !again.At.Equal(p.At) {
		t.Error("told again with nothing new")
	}
	ts.save("three")
	ts.reopen()
	if p, _ := ts.announced(); p.Last != 3 {
		t.Errorf("closing told: %+v", p)
	}
}

// A device that another one says it took the place of tells at once that it lives.
func TestADeviceTakenForGoneTellsThatItLives(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }, Host: "desk"})
	ts.save("one")
	if _, err := ts.Announce(true); err != nil {
		t.Fatal(err)
	}
	taken := now.Add(time.Hour)
	now = now.Add(2 * time.Hour)
	ts.announce(device.Peer{Device: "otherdev", At: now, TakenOver: map[string]time.Time{ts.Wal().Device.String(): taken, "gonedev2": now}})
	ts.announce(device.Peer{Device: "gonedev2", At: now.Add(-time.Hour)})
	if got := ts.Status().Devices; len(got) != 2 {
		t.Errorf("the devices are %+v", got)
	}
	for range 2 {
		if _, err := ts.Announce(false); err != nil {
			t.Fatal(err)
		}
	}
	if p, _ := ts.announced(); !p.At.Equal(now) {
		t.Errorf("it last told at %v", p.At)
	}
}

func TestWatermarks(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }, Host: "desk"})
	ts.save("mine")
	ts.save("mine too")
	mark := func() device.Watermark {
		t.Helper()
		for _, m := range ts.Watermarks() {
			if m.Device.String() == "otherdev" {
				return m
			}
		}
		t.Fatal("the other device is not known")
		return device.Watermark{}
	}
	// A log without a devices file: alive by its operations, and it has seen nothing.
	ts.peerFile("s-00000001.jsonl", lineOf(1, now.Add(-time.Hour), record.OpPut, idOf(1), `{"content":"one"}`))
	ts.refresh()
	if m := mark(); !m.At.Equal(now.Add(-time.Hour)) || m.Last != 1 || m.Seen[ts.Wal().Device] != 0 {
		t.Errorf("without a devices file: %+v", m)
	}
	// A clock ten years behind does not make a device look silent, one ahead not
	// look alive for ever.
	ts.announce(device.Peer{Device: "otherdev", Name: "lap\x1b[31mtop", At: now.AddDate(-10, 0, 0), Last: 5, Seen: map[string]uint64{ts.Wal().Device.String(): 1}})
	if m := mark(); !m.At.Equal(now.Add(-time.Hour)) || m.Last != 5 || m.Seen[ts.Wal().Device] != 1 || m.Name != "lap [31mtop" {
		t.Errorf("behind: %+v", m)
	}
	st := ts.Status().Devices
	for _, d := range st {
		if !d.Self && (d.Missing != 4 || d.Behind != 1) {
			t.Errorf("status: %+v", d)
		}
	}
	ts.announce(device.Peer{Device: "otherdev", At: now.AddDate(10, 0, 0)})
	if m := mark(); !m.At.Equal(now) {
		t.Errorf("ahead: %+v", m)
	}
	ts.reopen()
	if m := mark(); m.Last != 1 {
		t.Errorf("after a restart: %+v", m)
	}
	// Cut off by a sync tool: what it said before counts.
	name := filepath.Join(ts.root, "data", "devices", "otherdev.json")
	if err := os.WriteFile(name, []byte(`{"device":"otherdev","last":9`), 0o600); err != nil {
		t.Fatal(err)
	}
	ts.refresh()
	if m := mark(); m.Last != 1 {
		t.Errorf("from a file that is cut off: %+v", m)
	}
}

func TestGapsAndCompactedFilesInWatermarks(t *testing.T) {
	ts := openStore(t, wal.Options{})
	want := func(n uint64) {
		t.Helper()
		ts.refresh()
		for _, m := range ts.Watermarks() {
			if got := m.Seen[record.Device([]byte("otherdev"))]; m.Device == ts.Wal().Device && got != n {
				t.Errorf("seen without a gap up to %d, want %d", got, n)
			}
		}
	}
	ts.peerFile("s-00000003.jsonl", peerHeader(record.Header{Segment: 3, First: 8, Lost: [][2]uint64{{6, 7}}})+putLine(8, 8, "eight"))
	want(0)
	// Damaged, it stands for nothing; a missing seal or line may be on its way.
	otherdev := record.Device([]byte("otherdev"))
	end := string(record.MetaLine(record.OpSeal, record.Stamp{T: 1, Dev: otherdev}, record.Seal{Count: 3, Last: 5}))
	compacted := peerHeader(record.Header{From: 1, Segment: 2, First: 1, Last: 5, Generation: 1}) + putLine(2, 2, "two") + putLine(5, 5, "five") + end
	ts.peerFile("c-00000001-00000002.g1.jsonl", strings.Replace(compacted, "five", "fiev", 1))
	want(0)
	for _, missing := range []int{9, len(end), len(end) + 9} {
		ts.peerFile("c-00000001-00000002.g1.jsonl", compacted[:len(compacted)-missing])
		want(0)
	}
	ts.peerFile("c-00000001-00000002.g1.jsonl", compacted)
	want(8)
	ts.reopen()
	want(8)
}

func TestKeeper(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ts := openStore(t, wal.Options{Now: func() time.Time { return now }, Host: "desk"})
	want := func(device string, claimed bool) {
		t.Helper()
		if k := ts.Primary(); k.Device.String() != device || k.Claimed.IsZero() == claimed {
			t.Errorf("keeper %+v, want %s, claimed %v", k, device, claimed)
		}
	}
	self := ts.Wal().Device.String()
	want(self, false)
	first := device.Peer{Device: "22222222", Name: "first", At: now.AddDate(0, 0, -13)}
	ts.announce(first)
	want("22222222", false)
	now = now.AddDate(0, 0, 2) // silent for 15 days by now
	want(self, false)

	first.At, first.Keeper = now, record.Stamp{T: uint64(now.AddDate(1, 0, 0).UnixMilli()) << 16, Dev: record.Device([]byte("22222222"))}.String()
	ts.announce(first)
	want("22222222", false) // the lowest; the claim comes from a clock a year ahead
	if err := ts.ClaimPrimary(); err != nil {
		t.Fatal(err)
	}
	want(self, true)
	first.Keeper = record.Stamp{T: uint64(now.Add(time.Hour).UnixMilli()) << 16, Dev: record.Device([]byte("22222222"))}.String()
	ts.announce(first)
	want("22222222", true)
	if err := ts.ClaimPrimary(); err != nil {
		t.Fatal(err)
	}
	want(self, true) // though the other's clock is an hour ahead
	ts.reopen()
	want(self, true)
}

// Case 71.
func TestACloneTakesANameOfItsOwn(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ids := []*table.Row{ts.save("before")}
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	clone := &testStore{t: t, root: filepath.Join(t.TempDir(), "copy")}
	copyTree(t, ts.root, clone.root)
	ts.open()
	clone.open()
	defer func() { clone.Close() }()
	if ts.Wal().Device == clone.Wal().Device {
		t.Fatal("both have one name")
	}
	ids = append(ids, ts.save("here"), clone.save("there"))
	syncBoth(t, ts, clone)
	for _, s := range []*testStore{ts, clone} {
		s.refresh()
		for i, content := range []string{"before", "here", "there"} {
			s.wantContent(ids[i].ID(), content)
		}
		s.wantWarning("")
	}
}

// Case 71: a clone of a whole disk has the same machine id and inodes, so that
// nothing tells it apart until a sync tool brings what it wrote.
func TestACloneThatLooksTheSameLosesNothing(t *testing.T) {
	ts := openStore(t, wal.Options{})
	ids := []*table.Row{ts.save("before")}
	if err := ts.Close(); err != nil {
		t.Fatal(err)
	}
	clone := &testStore{t: t, root: filepath.Join(t.TempDir(), "copy")}
	copyTree(t, ts.root, clone.root)
	clone.forgeIdentity()
	ts.open()
	nextStamp()
	clone.open()
	defer func() { clone.Close() }()
	if ts.Wal().Device != clone.Wal().Device {
		t.Fatal("they are told apart already, so this shows nothing")
	}
	ids = append(ids, ts.save("here"))
	nextStamp()
	ids = append(ids, clone.save("there"))
	// Both wrote segment 2. The sync tool keeps the clone's under the name and
	// ours as a copy.
	mine, theirs := ts.segments(), clone.segments()
	name := mine[len(mine)-1]
	content, err := os.ReadFile(theirs[len(theirs)-1])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name, strings.TrimSuffix(name, ".jsonl")+".sync-conflict-20260301-120000-ABCDEFG.jsonl"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	// And what the clone writes next comes before we get to that number.
	next := filepath.Join(filepath.Dir(name), record.SegmentName(3))
	clone.reopen()
	ids = append(ids, clone.save("there again"))
	theirs = clone.segments()
	if content, err = os.ReadFile(theirs[len(theirs)-1]); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(next, content, 0o600); err != nil {
		t.Fatal(err)
	}

	nextStamp()
	ids = append(ids, ts.save("here again"))
	ts.refresh()
	if got := strings.Join(ts.Status().Warnings, "\n"); !strings.Contains(got, "another machine uses the device ID of this machine") {
		t.Errorf("warnings: %s", got)
	}
	was := ts.Wal().Device
	ts.reopen()
	if ts.Wal().Device == was {
		t.Error("after a restart it has the clone's name still")
	}
	for i, content := range []string{"before", "here", "there", "there again", "here again"} {
		ts.wantContent(ids[i].ID(), content)
	}
}

// nextStamp waits until the time of stamps, which is in milliseconds, has gone on: what two machines wrote is told apart by
// it.
func nextStamp() {
	for now := time.Now().UnixMilli(); time.Now().UnixMilli() == now; {
		time.Sleep(100 * time.Microsecond)
	}
}

// forgeIdentity makes the copied state fit the copied data, as it does when the
// whole disk was copied.
func (ts *testStore) forgeIdentity() {
	ts.t.Helper()
	name := filepath.Join(ts.root, "state", "device.json")
	b, err := os.ReadFile(name)
	if err != nil {
		ts.t.Fatal(err)
	}
	var d device.Identity
	if err := json.Unmarshal(b, &d); err != nil {
		ts.t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(ts.root, "data"))
	if err != nil {
		ts.t.Fatal(err)
	}
	d.Data = device.InodeOf(info)
	if err := os.WriteFile(name, record.Encode(d), 0o600); err != nil {
		ts.t.Fatal(err)
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// syncBoth copies what either data folder lacks.
func syncBoth(t *testing.T, a, b *testStore) {
	t.Helper()
	for _, way := range [][2]*testStore{{a, b}, {b, a}} {
		from := filepath.Join(way[0].root, "data")
		err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(from, path)
			to := filepath.Join(way[1].root, "data", rel)
			if d.IsDir() {
				return os.MkdirAll(to, 0o700)
			}
			if _, err := os.Stat(to); err == nil {
				return nil
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(to, content, 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
