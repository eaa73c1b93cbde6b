package compaction_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/compaction"
	"emberd/stm/record"
)

const kib = 1 << 10

// raw is a sealed segment of ours, c a compacted file.
func raw(n uint32, bytes int64) record.Segment {
	return record.Segment{Name: fmt.Sprintf("s%d", n), Own: true, Kind: record.Raw, From: n, To: n, Bytes: bytes}
}

func c(from, to uint32, bytes int64) record.Segment {
	return record.Segment{Name: fmt.Sprintf("c%d-%d", from, to), Own: true, Kind: record.Compacted, From: from, To: to, Bytes: bytes}
}

func raws(from, to uint32, bytes int64) (files []record.Segment) {
	for n := from; n <= to; n++ {
		files = append(files, raw(n, bytes))
	}
	return files
}

func with(g record.Segment, change func(*record.Segment)) record.Segment {
	change(&g)
	return g
}

func TestPlan(t *testing.T) {
	active := with(raw(99, 10), func(g *record.Segment) { g.Active = true })
	later := with(raw(3, 10), func(g *record.Segment) { g.Later = true })
	history := record.Segment{Name: "h1-8", Own: true, Kind: record.History, From: 1, To: 8, Bytes: 1 << 30}
	theirs := record.Segment{Name: "theirs", Kind: record.Raw, From: 1, To: 1, Bytes: 1 << 30}
	copied := record.Segment{Name: "copy", Own: true, Kind: record.Odd, Bytes: 10}
	stuck := with(raw(2, 10), func(g *record.Segment) { g.Replaced = true })
	tests := []struct {
		name   string
		files  []record.Segment
		dead   int64
		all    bool
		due    bool
		reason string
		inputs string
	}{
		{"nothing", nil, 0, true, false, "the log has no sealed segment", ""},
		{"only what is written", []record.Segment{active, history, theirs}, 0, true, false, "the log has no sealed segment", ""},
		{"few files", raws(1, 8, 10), 0, false, false, "sealed segments: 8 (limit 8)", "s1 s2 s3 s4 s5 s6 s7 s8"},
		{"many files", slices.Concat(raws(1, 9, 10), []record.Segment{active, theirs, history}), 0, false, true, "too many sealed segments: 9 (limit 8)", "s1 s2 s3 s4 s5 s6 s7 s8 s9"},
		{"a large file is not written again for small news", slices.Concat([]record.Segment{c(1, 30, 1000*kib)}, raws(31, 38, kib)), 0, false, true, "too many sealed segments: 9 (limit 8)", "s31 s32 s33 s34 s35 s36 s37 s38"},
		{"but for much news", slices.Concat([]record.Segment{c(1, 30, 1000*kib)}, raws(31, 38, 100*kib)), 0, false, true, "too many sealed segments: 9 (limit 8)", "c1-30 s31 s32 s33 s34 s35 s36 s37 s38"},
		{"mostly dead", []record.Segment{c(1, 30, 2000*kib), raw(31, 1*kib)}, 1100 * kib, false, true, "are superseded", "c1-30 s31"},
		{"mostly dead but small", []record.Segment{raw(1, 900*kib)}, 800 * kib, false, false, "sealed segments: 1 (limit 8)", "s1"},
		{"asked for", []record.Segment{c(1, 30, 1000*kib), raw(31, 10)}, 0, true, false, "sealed segments: 2 (limit 8)", "c1-30 s31"},
		{"compacted already", []record.Segment{c(1, 30, 10)}, 0, false, false, "already", ""},
		{"a later version wrote one", slices.Concat(raws(1, 2, 10), []record.Segment{later}, raws(4, 5, 10)), 0, true, false, "", "s4 s5"},
		{"a later version wrote the last", slices.Concat(raws(1, 2, 10), []record.Segment{later}), 0, true, false, "no sealed", ""},
		{"a copy goes along", slices.Concat([]record.Segment{copied}, raws(1, 2, 10)), 0, true, false, "", "s1 s2 copy"},
		{"a copy alone does not", []record.Segment{copied, active}, 0, true, false, "no sealed", ""},
		{"what could not be removed goes along", []record.Segment{c(1, 3, 10), stuck, raw(4, 10)}, 0, true, false, "", "c1-3 s4 s2"},
	}
	for _, tt := range tests {
		got := compaction.Defaults().Plan(tt.files, tt.dead, tt.all)
		if got.Due != tt.due || !strings.Contains(got.Reason, tt.reason) || strings.Join(got.Inputs, " ") != tt.inputs {
			t.Errorf("%s: got %+v, want due %v, reason %q, inputs %s", tt.name, got, tt.due, tt.reason, tt.inputs)
		}
	}
}

func TestDroppable(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	daysAgo := func(n int) time.Time { return now.AddDate(0, 0, -n) }
	peer := func(seen time.Time, has uint64) compaction.Peer {
		return compaction.Peer{Device: "kitchen", Seen: seen, Has: has}
	}
	tests := []struct {
		name  string
		peers []compaction.Peer
		age   int
		want  bool
	}{
		{"alone, old", nil, 91, true},
		{"alone, young", nil, 89, false},
		{"everybody knows", []compaction.Peer{peer(daysAgo(1), 7), peer(daysAgo(80), 9)}, 91, true},
		{"one does not", []compaction.Peer{peer(daysAgo(1), 9), peer(daysAgo(80), 6)}, 91, false},
		{"one does not, and was not seen for long", []compaction.Peer{peer(daysAgo(1), 9), peer(daysAgo(91), 6)}, 91, true},
		{"one of which nothing is known", []compaction.Peer{peer(time.Time{}, 0)}, 91, false},
	}
	for _, tt := range tests {
		if got := compaction.Defaults().Droppable(now, tt.peers)(daysAgo(tt.age), 7); got != tt.want {
			t.Errorf("%s: droppable %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestBackoffDoublesUpToAnHour(t *testing.T) {
	var got []time.Duration
	for _, failures := range []int{0, 1, 2, 3, 7, 100} {
		got = append(got, compaction.Backoff(failures))
	}
	want := []time.Duration{0, time.Minute, 2 * time.Minute, 4 * time.Minute, time.Hour, time.Hour}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
