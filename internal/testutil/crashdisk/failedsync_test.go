package crashdisk_test

import (
	"syscall"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
)

// What a failed Sync gave up is readable until the crash, and no later Sync brings it back.
func TestFailedSyncIsFinal(t *testing.T) {
	disk := crashdisk.New()
	f := unsyncable(t, disk)
	must(t, f.Sync())
	if got := read(t, disk, "/log"); got != "one,two," {
		t.Errorf("before the crash: got %q, want all", got)
	}
	text := func(after *crashdisk.Disk) string { return read(t, after, "/log") }
	wantOutcomes(t, outcomes(disk, text), "one,", "one,two,", "one,\x00\x00\x00\x00")
	if got := text(disk.Crash(nil)); got != "one," {
		t.Errorf("without luck: got %q, want %q", got, "one,")
	}

	again := disk.Kill() // another process does not help either
	if got := text(again.Crash(nil)); got != "one," {
		t.Errorf("after a kill: got %q, want %q", got, "one,")
	}
}

func TestHoleOfFailedSync(t *testing.T) {
	disk := crashdisk.New()
	f := unsyncable(t, disk)
	write(t, f, "three")
	must(t, f.Sync())
	text := func(after *crashdisk.Disk) string { return read(t, after, "/log") }
	hole := "one,\x00\x00\x00\x00three"
	wantOutcomes(t, outcomes(disk, text), "one,two,three", hole)
	if got := text(disk.Crash(nil)); got != hole {
		t.Errorf("without luck: got %q, want %q", got, hole)
	}
}

// Cut off and written again the data is new, and a sync is a sync.
func TestRewriteAfterFailedSync(t *testing.T) {
	disk := crashdisk.New()
	f := unsyncable(t, disk)
	must(t, f.Truncate(4))
	write(t, f, "TWO,")
	must(t, f.Sync())
	wantOutcomes(t, outcomes(disk, func(after *crashdisk.Disk) string { return read(t, after, "/log") }), "one,TWO,")
}

func TestFailedSyncAfterTruncate(t *testing.T) {
	disk := crashdisk.New()
	f := saved(t, disk, "/log", "one,two,")
	must(t, f.Truncate(4))
	write(t, f, "TWO,")
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync})
	wantCause(t, "sync", f.Sync(), syscall.EIO)
	write(t, f, "three")
	must(t, f.Sync())
	wantOutcomes(t, outcomes(disk, func(after *crashdisk.Disk) string { return read(t, after, "/log") }),
		"one,TWO,three", "one,\x00\x00\x00\x00three")
}

func TestTwoFailedSyncs(t *testing.T) {
	disk := crashdisk.New()
	f := unsyncable(t, disk)
	write(t, f, "6")
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync, Forever: true})
	wantCause(t, "second sync", f.Sync(), syscall.EIO)
	wantCause(t, "third sync", f.Sync(), syscall.EIO)
	nul := "\x00\x00\x00\x00"
	seen := outcomes(disk, func(after *crashdisk.Disk) string { return read(t, after, "/log") })
	for _, want := range []string{"one,", "one,two,", "one,two,6", "one,two,\x00", "one," + nul, "one," + nul + "6"} {
		if seen[want] == 0 {
			t.Errorf("never found %q in %v", want, seen)
		}
	}
}

// unsyncable is an open file with the synced text "one," and the text "two," whose Sync failed.
func unsyncable(t *testing.T, disk *crashdisk.Disk) durable.File {
	t.Helper()
	f := saved(t, disk, "/log", "one,")
	write(t, f, "two,")
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpSync})
	wantCause(t, "sync", f.Sync(), syscall.EIO)
	return f
}
