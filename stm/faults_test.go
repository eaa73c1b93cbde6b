package stm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/internal/testutil/crashdisk"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/history"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// A power cut anywhere is in crash_test.go; here are the disk's errors, one by
// one, and what is made of them.

// ageing is a store on a disk in memory whose clock the test moves.
type ageing struct {
	*stm.Store
	disk *crashdisk.Disk
	now  time.Time
}

func newAgeing(t *testing.T, o wal.Options) *ageing {
	t.Helper()
	a := &ageing{disk: crashdisk.New(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	o.FS, o.Now = a.disk, func() time.Time { return a.now }
	s, err := stm.Open("/data", "/state", &o)
	if err != nil {
		t.Fatal(err)
	}
	a.Store = s
	t.Cleanup(func() { s.Close() })
	wantCode(t, "save on a sound disk", put(s, 0, "before"), "")
	return a
}

// segments are the names of its own segments.
func (a *ageing) segments(t *testing.T) []string {
	t.Helper()
	entries, err := a.disk.ReadDir(a.Wal().Writer.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// looked is the status after a look at the disk, however busy the machine is.
func (a *ageing) looked(t *testing.T) wal.Status {
	t.Helper()
	if err := a.Wal().OnWriter(t.Context(), func() { a.Wal().Writer.Look() }); err != nil {
		t.Fatal(err)
	}
	return a.Wal().StatusNow()
}

// wantAfterCrash cuts the power, starts again and compares the texts by number.
func (a *ageing) wantAfterCrash(t *testing.T, want map[int]string) record.Recovery {
	t.Helper()
	s, err := openOn(a.disk.Crash(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for n, text := range want {
		if r, ok := s.Get(idOf(n)); !ok || r.Content() != text {
			t.Errorf("memory %d is not %q after a power cut", n, text)
		}
	}
	if s.Len() != len(want) {
		t.Errorf("%d memories after a power cut, want %d", s.Len(), len(want))
	}
	return s.Status().Recovery
}

// Case 6: no answer ever rests on a file whose sync failed.
func TestAFailedSyncMovesTheBatchToANewSegment(t *testing.T) {
	a := newAgeing(t, wal.Options{})
	a.disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync, Path: ".jsonl"})
	wantCode(t, "save over a failing sync", put(a.Store, 1, "one"), "")
	wantCode(t, "save after it", put(a.Store, 2, "two"), "")
	if got := a.segments(t); len(got) != 2 {
		t.Errorf("segments %v, want a second one", got)
	}
	if got := a.wantAfterCrash(t, map[int]string{0: "before", 1: "one", 2: "two"}); got.Gaps != 0 {
		t.Errorf("recovery %+v", got)
	}
}

// Accesses and uses that cannot be written are told in the log.
func TestUsesThatCannotBeWrittenAreLogged(t *testing.T) {
	var said bytes.Buffer
	a := newAgeing(t, wal.Options{Logger: slog.New(slog.NewTextHandler(&said, nil))})
	a.Use(table.Use{ID: idOf(0), Accesses: 1})
	a.disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync, Path: ".jsonl", Forever: true})
	wantCode(t, "save on a disk that does not sync", put(a.Store, 1, "one"), memory.Unknown)
	a.Close()
	if !strings.Contains(said.String(), "uses and accesses not written") {
		t.Errorf("the log has %q", said.String())
	}
}

// Case 7: reads go on, nobody waits, no numbers are used up, and once the disk is
// well the log is too, without a restart and without anybody saving.
func TestADiskThatNeverSyncsMakesTheLogReadOnly(t *testing.T) {
	a := newAgeing(t, wal.Options{})
	a.disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync, Path: ".jsonl", Forever: true})
	wantCode(t, "first save", put(a.Store, 1, "one"), memory.Unknown)
	for range 500 {
		a.now = a.now.Add(20 * time.Second)
		if err := put(a.Store, 2, "two"); memory.CodeOf(err) != memory.ReadOnly {
			t.Fatalf("save: %v, want read-only", err)
		}
	}
	if r, ok := a.Get(idOf(0)); !ok || r.Content() != "before" {
		t.Error("reading stopped too")
	}
	if n := a.Wal().Writer.Dev.Segment; n > 3 {
		t.Errorf("500 failing saves reserved %d segment numbers", n)
	}
	if st := a.Status(); st.ReadOnly == "" || len(a.Wal().Writer.Queue) != 0 {
		t.Errorf("status %+v, %d in the queue", st, len(a.Wal().Writer.Queue))
	}
	a.disk.Heal()
	a.now = a.now.Add(wal.RetryAfter)
	if st := a.looked(t); st.ReadOnly != "" {
		t.Errorf("still read-only: %s", st.ReadOnly)
	}
	if r, ok := a.Get(idOf(1)); !ok || r.Content() != "one" {
		t.Error("what was in doubt is not settled")
	}
	wantCode(t, "save on the healed disk", put(a.Store, 3, "three"), "")
	a.wantAfterCrash(t, map[int]string{0: "before", 1: "one", 3: "three"})
}

// A new segment whose header is the last thing that reaches the disk says which numbers
// the batch had, so that the next start does not miss them.
func TestNumbersInDoubtAreNoGap(t *testing.T) {
	a := newAgeing(t, wal.Options{})
	a.disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync, Path: ".jsonl"}) // of the batch; then the header's succeeds
	a.disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync, Path: ".jsonl", Nth: 3, Forever: true})
	wantCode(t, "save without a sync", put(a.Store, 1, "one"), memory.Unknown)
	if got := a.segments(t); len(got) != 2 {
		t.Errorf("segments %v, want one with the header alone", got)
	}
	if got := a.wantAfterCrash(t, map[int]string{0: "before"}); got.Gaps != 0 {
		t.Errorf("recovery %+v, want no gap", got)
	}
}

// What was answered with unknown is written before anything else is, so that no
// start finds a change that this process did not show when it made the next one.
func TestAnUnknownAnswerIsSettledBeforeTheNextChange(t *testing.T) {
	a := newAgeing(t, wal.Options{})
	a.disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync, Path: ".jsonl", Forever: true})
	wantCode(t, "edit without a sync", one(a.Store, "edit", wal.Change{ID: idOf(0), Set: textOf("in doubt")}), memory.Unknown)
	a.disk.Heal()
	wantCode(t, "edit too soon", one(a.Store, "edit", wal.Change{ID: idOf(0), Set: map[string]json.RawMessage{"source": record.Encode("there")}}), memory.ReadOnly)
	if r, _ := a.Get(idOf(0)); r.Content() != "before" {
		t.Errorf("shown before it is settled: %q", r.Content())
	}
	a.now = a.now.Add(wal.RetryAfter)
	_, err := a.Update(t.Context(), []memory.ID{idOf(0)}, "", func(rows []*table.Row) (*wal.Tx, error) {
		if rows[0].Content() != "in doubt" {
			t.Errorf("the next change is based on %q", rows[0].Content())
		}
		return &wal.Tx{Verb: "edit", Changes: []wal.Change{{ID: idOf(0), Set: map[string]json.RawMessage{"source": record.Encode("here")}}}}, nil
	})
	wantCode(t, "edit", err, "")
	for range 2 { // the last, and what was in doubt
		if got, err := a.Undo(t.Context(), history.Undo{}); err != nil || got.Entry.Verb != "edit" {
			t.Fatalf("undo: %+v, %v", got, err)
		}
	}
	if got := a.wantAfterCrash(t, map[int]string{0: "before"}); got.Gaps != 0 || got.Quarantined != 0 {
		t.Errorf("recovery %+v", got)
	}
}

// A disk that fails once more does not make a file each time it is tried.
func TestWhatIsInDoubtWaitsForAsLongAsItTakes(t *testing.T) {
	a := newAgeing(t, wal.Options{})
	a.disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync, Path: ".jsonl", Forever: true})
	wantCode(t, "save without a sync", put(a.Store, 1, "one"), memory.Unknown)
	a.disk.Heal()
	a.disk.Fail(crashdisk.Fault{Op: crashdisk.OpWrite, Path: ".jsonl", Nth: 2, Forever: true, Err: syscall.ENOSPC})
	for range 50 {
		a.now = a.now.Add(wal.RetryAfter)
		if st := a.looked(t); st.ReadOnly == "" {
			t.Fatal("not read-only with something in doubt")
		}
	}
	if got := a.segments(t); len(got) > 3 {
		t.Errorf("segments %v", got)
	}
	a.disk.Heal()
	a.now = a.now.Add(wal.RetryAfter)
	if st := a.looked(t); st.ReadOnly != "" {
		t.Errorf("still read-only: %s", st.ReadOnly)
	}
	a.wantAfterCrash(t, map[int]string{0: "before", 1: "one"})
}

// Case 8.
func TestNothingIsAcknowledgedInASegmentWithoutAName(t *testing.T) {
	disk := crashdisk.New()
	s, err := openOn(disk)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpSyncDir, Path: "/data/stm/", Forever: true})
	for range 3 {
		wantCode(t, "save", put(s, 1, "one"), memory.ReadOnly)
	}
	disk.Heal()
	wantCode(t, "save on the healed disk", put(s, 1, "one"), "")
	if got := s.Status().Active; got != record.SegmentName(1) {
		t.Errorf("active segment %s, want the first number to be used", got)
	}
	after, err := openOn(disk.Crash(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	if _, ok := after.Get(idOf(1)); !ok {
		t.Error("what was acknowledged is gone")
	}
}

// Case 10: a write that arrives in part is cut back, and the numbers are used
// again.
func TestAShortWriteLeavesNothingBehind(t *testing.T) {
	a := newAgeing(t, wal.Options{})
	a.disk.Fail(crashdisk.Fault{Op: crashdisk.OpWrite, Path: ".jsonl", Err: syscall.EFBIG, ShortBy: 11})
	wantCode(t, "save", put(a.Store, 1, "one"), memory.ReadOnly)
	wantCode(t, "next save", put(a.Store, 2, "two"), "")
	if got := a.segments(t); len(got) != 1 {
		t.Errorf("segments %v, want the one", got)
	}
	if got := a.wantAfterCrash(t, map[int]string{0: "before", 2: "two"}); got != (record.Recovery{Applied: 2}) {
		t.Errorf("recovery %+v", got)
	}
}

// Case 11: while the next segment cannot be begun, the old one goes on, and it is
// tried again a minute later.
func TestWithoutInodesTheOldSegmentGoesOn(t *testing.T) {
	a := newAgeing(t, wal.Options{SegmentBytes: 600})
	a.disk.Fail(crashdisk.Fault{Op: crashdisk.OpCreate, Err: syscall.ENOSPC, Forever: true})
	want := map[int]string{0: "before"}
	for n := 1; n < 20; n++ {
		want[n] = fmt.Sprint("number ", n)
		wantCode(t, "save", put(a.Store, n, want[n]), "")
	}
	if got := a.segments(t); len(got) != 1 || a.Status().ReadOnly != "" {
		t.Errorf("segments %v, read-only %q", got, a.Status().ReadOnly)
	}
	a.disk.Heal()
	a.now = a.now.Add(wal.RetryAfter)
	want[20] = "in the next segment"
	wantCode(t, "save with inodes", put(a.Store, 20, want[20]), "")
	if got := a.segments(t); len(got) != 2 || got[1] != record.SegmentName(2) {
		t.Errorf("segments %v, want a second one", got)
	}
	a.wantAfterCrash(t, want)
}

// Case 12, EROFS.
func TestAReadOnlyDiskIsLeftAlone(t *testing.T) {
	a := newAgeing(t, wal.Options{})
	a.disk.Fail(crashdisk.Fault{Err: syscall.EROFS, Forever: true})
	for range 3 {
		wantCode(t, "save", put(a.Store, 1, "one"), memory.ReadOnly)
	}
	if st := a.Status(); !strings.Contains(st.ReadOnly, "mounted read-only") {
		t.Errorf("status says %q", st.ReadOnly)
	}
	a.disk.Heal()
	a.now = a.now.Add(wal.ProbeEvery)
	if st := a.looked(t); st.ReadOnly != "" {
		t.Errorf("still read-only: %q", st.ReadOnly)
	}
	wantCode(t, "save", put(a.Store, 1, "one"), "")
	a.wantAfterCrash(t, map[int]string{0: "before", 1: "one"})
}

// Case 13: what cannot be cut back is given up. Half a line stays, and is known
// for what it is.
func TestASegmentThatCannotBeCutBackIsGivenUp(t *testing.T) {
	a := newAgeing(t, wal.Options{})
	a.disk.Fail(crashdisk.Fault{Op: crashdisk.OpWrite, Path: ".jsonl", Err: syscall.EFBIG, ShortBy: 11})
	a.disk.Fail(crashdisk.Fault{Op: crashdisk.OpTruncate})
	wantCode(t, "save", put(a.Store, 1, "one"), memory.Unknown)
	wantCode(t, "next save", put(a.Store, 2, "two"), "")
	if got := a.segments(t); len(got) != 2 {
		t.Errorf("segments %v, want a second one", got)
	}
	if got := a.wantAfterCrash(t, map[int]string{0: "before", 1: "one", 2: "two"}); got.Gaps != 0 || got.Quarantined != 0 {
		t.Errorf("recovery %+v", got)
	}
}

// Case 26, without a process: with no file descriptor left the open segment goes
// on.
func TestWithoutDescriptorsTheOpenSegmentGoesOn(t *testing.T) {
	a := newAgeing(t, wal.Options{SegmentAge: time.Hour})
	for _, op := range []crashdisk.Op{crashdisk.OpCreate, crashdisk.OpOpen, crashdisk.OpSyncDir, crashdisk.OpReadDir} {
		a.disk.Fail(crashdisk.Fault{Op: op, Err: syscall.EMFILE, Forever: true})
	}
	a.now = a.now.Add(2 * time.Hour)
	wantCode(t, "save", put(a.Store, 1, "one"), "")
	a.wantAfterCrash(t, map[int]string{0: "before", 1: "one"})
}

// The state folder may be on a disk of its own, and that is the one to name.
func TestAFullStateFolderIsNamed(t *testing.T) {
	disk := crashdisk.New()
	s, err := openOn(disk)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpCreate, Path: "/state", Err: syscall.ENOSPC, Forever: true})
	if err := put(s, 1, "one"); err == nil || !strings.Contains(err.Error(), "/state") || strings.Contains(err.Error(), "/data") {
		t.Errorf("the error is %v", err)
	}
}

// A wrong clock that is set right must not make keys live for ever.
func TestKeysOfAClockThatWasAheadExpire(t *testing.T) {
	a := newAgeing(t, wal.Options{})
	right := a.now
	a.now = a.now.AddDate(10, 0, 0)
	save := func(n int, key string) {
		t.Helper()
		_, err := a.Update(t.Context(), nil, key, func([]*table.Row) (*wal.Tx, error) {
			return &wal.Tx{Verb: "save", Key: key, KeyHash: "h", Changes: []wal.Change{{ID: idOf(n), Set: textOf(key)}}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	save(1, "ahead")
	a.now = right
	save(2, "right again")
	if _, ok := a.Replay("right again"); !ok {
		t.Error("the key is not known at once")
	}
	a.now = right.Add(record.KeyLife + time.Minute)
	if _, ok := a.Replay("right again"); ok {
		t.Error("the key is known after a day")
	}
	save(3, "sweeps")
	if _, ok := a.Wal().Keys.Known["right again"]; ok {
		t.Error("the key is still held")
	}
}

// A jump of the clock ends the segment, which else would not be known to be old.
func TestASegmentEndsWhenItIsLongOrOldOrTheClockJumps(t *testing.T) {
	w := &wal.Writer{S: &wal.Log{SegmentBytes: kib, SegmentAge: 24 * time.Hour}}
	for _, c := range []struct {
		size        int64
		age, jumped time.Duration
		want        bool
	}{
		{kib - 1, time.Minute, 0, false},
		{kib, time.Minute, 0, true},
		{1, 24 * time.Hour, 0, true},
		{1, time.Minute, 2 * time.Hour, true},
		{1, time.Minute, -2 * time.Hour, true},
		{1, time.Minute, -time.Minute, false},
	} {
		if got := w.Ripe(c.size, c.age, c.jumped); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestAttemptsAtASegmentLeaveNoFile(t *testing.T) {
	a := newAgeing(t, wal.Options{SegmentBytes: 1})
	for _, op := range []crashdisk.Op{crashdisk.OpWrite, crashdisk.OpSync, crashdisk.OpSyncDir} {
		a.disk.Fail(crashdisk.Fault{Op: op, Path: a.Wal().Writer.Dir})
		if err := a.Wal().Writer.CreateSegment(); err == nil {
			t.Fatalf("%s failed and the segment was begun", op)
		}
		if got := a.segments(t); len(got) != 1 {
			t.Errorf("after a failing %s there are %v", op, got)
		}
	}
	a.disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync, Path: a.Wal().Writer.Dir})
	a.disk.Fail(crashdisk.Fault{Op: crashdisk.OpRemove, Path: a.Wal().Writer.Dir})
	if err := a.Wal().Writer.CreateSegment(); err == nil {
		t.Fatal("the segment was begun")
	}
	a.disk.Heal()
	wantCode(t, "save", put(a.Store, 1, "one"), "")
	if got := a.segments(t); len(got) != 3 || got[2] != filepath.Base(record.SegmentName(3)) {
		t.Errorf("segments %v; want a number that could not be freed to be passed over", got)
	}
}

// A disk that cannot tell for a moment which device this is must not have an empty log begun in the place of one
// that is gone.
func TestALogThatIsGoneIsNotBegunAnewByAReadError(t *testing.T) {
	disk := crashdisk.New()
	s, err := openOn(disk)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // one segment may have been reserved without a file
		wantCode(t, "save", put(s, 1, "one"), "")
		s.Close()
		if s, err = openOn(disk); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	if err := disk.Rename("/data", "/data.elsewhere"); err != nil {
		t.Fatal(err)
	}
	for nth := 1; nth <= 4; nth++ {
		disk.Fail(crashdisk.Fault{Op: crashdisk.OpRead, Path: "/state/device.json", Nth: nth})
		if s, err := openOn(disk); err == nil {
			t.Errorf("an empty log was begun after read %d failed", nth)
			s.Close()
		}
		disk.Heal()
	}
	if err := disk.Rename("/data.elsewhere", "/data"); err != nil {
		t.Fatal(err)
	}
	if s, err = openOn(disk); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, ok := s.Get(idOf(1)); !ok {
		t.Error("the log that is back has nothing")
	}
}
