package engine_test

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

// sealed adds the checksum to a line of a log.
func sealed(format string, args ...any) string {
	l := fmt.Sprintf(format, args...)
	return fmt.Sprintf("%s,\"c\":\"%08x\"}\n", l, crc32.Checksum([]byte(l), crc32.MakeTable(crc32.Castagnoli)))
}

// waiting is an engine with two memories that wait for a decision: they come from
// a device that was silent for longer than tombstones are kept.
func waiting(t *testing.T) (e *engine.Engine, one, two memory.ID) {
	h := newHouse(t)
	stamp := func(days float64, device string) string {
		return fmt.Sprintf("%012x-0000-%s", h.daysAgo(days).UnixMilli(), device)
	}
	floor := stamp(30, "thirddev")
	place(t, h.Data, "stm/thirddev/c-00000001-00000004.g1.jsonl", sealed(
		`{"v":1,"t":%q,"op":"seg","d":{"dev":"thirddev","from":1,"seg":4,"first":1,"last":9,"format":1,"gen":1,"floor":%q,"seen":{"otherdev":2}}`, floor, floor))
	one, two = memory.DeriveID([]byte("one")), memory.DeriveID([]byte("two"))
	var log strings.Builder
	for i, id := range []memory.ID{one, two} {
		log.WriteString(sealed(`{"v":1,"q":%d,"t":%q,"op":"put","id":%q,"do":"save","d":{"content":"kept offline","aliases":["GH-%d","both"]}`, 3+i, stamp(120-float64(i), "otherdev"), id, i))
	}
	place(t, h.Data, "stm/otherdev/s-00000001.jsonl", log.String())
	return h.open(t), one, two
}

func TestStaleMemoriesAreDecided(t *testing.T) {
	t.Parallel()
	e, one, two := waiting(t)
	got := do(t, e, op.StaleList, &op.StaleListRequest{}).Memories
	if len(got) != 2 || got[0].Device != "otherdev" || got[0].Changes != 1 || got[0].At.IsZero() {
		t.Fatalf("waiting: %+v", got)
	}
	wantCode(t, refused(t, e, op.StaleDecide, &op.StaleDecideRequest{ID: string(one)}), memory.Invalid, "missing keep; use true to restore memory")
	wantCode(t, refused(t, e, op.StaleDecide, &op.StaleDecideRequest{ID: "somebody", Keep: new(true)}), memory.NotFound, "has no pending decision; run: emberd doctor offline-device list")
	if n := len(do(t, e, op.StaleList, &op.StaleListRequest{}).Memories); n != 2 {
		t.Fatalf("%d wait after requests that were refused", n)
	}
	for id, keep := range map[memory.ID]bool{one: true, two: false} {
		res := do(t, e, op.StaleDecide, &op.StaleDecideRequest{ID: string(id), Keep: &keep})
		if res.ID != id || res.Tx == "" {
			t.Errorf("decided: %+v", res)
		}
		if _, ok := e.Stm.Get(id); ok != keep {
			t.Errorf("kept %v, want %v", ok, keep)
		}
		wantCode(t, refused(t, e, op.StaleDecide, &op.StaleDecideRequest{ID: string(id), Keep: &keep}), memory.NotFound, "has no pending decision")
	}
	if n := len(do(t, e, op.StaleList, &op.StaleListRequest{}).Memories); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

// What waits is named as other memories are, although it is in no index.
func TestStaleMemoriesAreNamed(t *testing.T) {
	t.Parallel()
	e, one, two := waiting(t)
	decide := func(name string, want memory.ID) {
		t.Helper()
		if res := do(t, e, op.StaleDecide, &op.StaleDecideRequest{ID: name, Keep: new(true)}); res.ID != want {
			t.Errorf("%q names %s, want %s", name, res.ID, want)
		}
	}
	wantCode(t, refused(t, e, op.StaleDecide, &op.StaleDecideRequest{ID: "both", Keep: new(true)}), memory.Ambiguous, string(two))
	do(t, e, op.Save, &op.SaveRequest{Content: "known by the same name", Aliases: []string{"GH-0"}})
	decide("GH-0", one)
	decide(two.Short(), two)
}
