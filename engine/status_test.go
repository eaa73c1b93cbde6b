package engine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

func TestStatusOfAHealthyDaemon(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Version, h.Socket, h.Durability = "1.2.3", "/run/emberd.sock", stm.Full
	e := h.open(t)
	save(t, e, "kept")
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(save(t, e, "lost").ID)})
	s := do(t, e, op.Status, &op.StatusRequest{})
	if s.Health != "ok" || s.Memories != 1 || s.Trash != 1 || s.Device == "" || s.Log.Segments < 1 || s.Log.Bytes == 0 {
		t.Errorf("status is %+v", s)
	}
	if s.Data != h.Data || s.State != h.State || s.Socket != h.Socket || !s.Started.Equal(h.clock.Now()) {
		t.Errorf("status names %q, %q, %q, started %v", s.Data, s.State, s.Socket, s.Started)
	}
	v := do(t, e, op.Version, &op.VersionRequest{})
	if *v != s.Version || v.Version != "1.2.3" || v.Protocol != op.Protocol || v.PID != os.Getpid() || v.Go == "" {
		t.Errorf("version is %+v", v)
	}
}

func TestAFailedChoreIsAWarningUntilItSucceeds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Durability = stm.Full
	e := h.open(t)
	e.Chores.Settle("snapshot", os.ErrPermission)
	s := do(t, e, op.Status, &op.StatusRequest{})
	if s.Health != "degraded" || len(s.Warnings) != 1 || s.Warnings[0] != "emberd could not complete the background job \"snapshot\": permission denied" {
		t.Errorf("got %q with %q", s.Health, s.Warnings)
	}
	e.Chores.Settle("snapshot", nil)
	if s := do(t, e, op.Status, &op.StatusRequest{}); s.Health != "ok" {
		t.Errorf("after a success health is %q", s.Health)
	}
}

func TestStats(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	if empty := do(t, e, op.Stats, &op.StatsRequest{}); empty.Total != 0 || empty.AvgScore != 0 || !empty.Oldest.IsZero() {
		t.Errorf("stats of nothing are %+v", empty)
	}
	for i := range 25 {
		req := op.SaveRequest{Content: fmt.Sprint("fact ", i), Tags: []string{"every", fmt.Sprintf("tag%02d", i)}, UseCount: int64(i % 2 * 3)}
		if i < 5 {
			req.Project, req.Collection, req.CreatedAt, req.LastUsed = "boat", "attic", clock.daysAgo(10), clock.daysAgo(10)
		}
		m := do(t, e, op.Save, &req).Memory
		if i == 7 {
			move(t, e, m.ID, memory.Archived)
		}
	}
	s := do(t, e, op.Stats, &op.StatsRequest{})
	if s.Total != 25 || s.Stages[memory.Active] != 24 || s.Statuses["archived"] != 1 || s.Collections["attic"] != 5 || s.Projects["boat"] != 5 || len(s.Projects) != 1 {
		t.Errorf("counts are %+v", s)
	}
	if len(s.TopTags) != 20 || s.TopTags[0] != (op.TagCount{Tag: "every", Count: 25}) || s.TopTags[1].Tag != "tag00" {
		t.Errorf("top tags are %+v", s.TopTags)
	}
	if s.AvgUses != 36.0/25 || s.AvgScore <= 0 || !s.Oldest.Equal(clock.daysAgo(10)) || !s.Newest.Equal(clock.Now()) {
		t.Errorf("averages are %v uses, score %v, from %v to %v", s.AvgUses, s.AvgScore, s.Oldest, s.Newest)
	}
	if part := do(t, e, op.Stats, &op.StatsRequest{Project: "boat"}); part.Total != 5 {
		t.Errorf("the project holds %d, want 5", part.Total)
	}
}

func TestStatsOfTheLog(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.SegmentBytes = 300
	e := h.open(t)
	m := save(t, e, "one")
	for range 12 {
		do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("two")})
		do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("one")})
	}
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(save(t, e, "gone").ID)})
	if plain := do(t, e, op.Stats, &op.StatsRequest{}); plain.Log != nil {
		t.Error("the log was read unasked")
	}
	got := do(t, e, op.Stats, &op.StatsRequest{Log: true}).Log
	if got.Live != 1 || got.Tombstones != 1 || got.Lines < 27 || got.Duplicates < 20 || got.Dead <= 0 || got.Dead >= got.Bytes {
		t.Errorf("the log: %+v", got)
	}
	if !got.Due || !strings.HasPrefix(got.Why, "too many sealed segments: ") || !strings.HasSuffix(got.Why, " (limit 8)") {
		t.Errorf("compaction is due: %t, %s", got.Due, got.Why)
	}
}
