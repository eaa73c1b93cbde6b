package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/admin"
	"emberd/engine/lifecycle"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

const day = 24 * time.Hour

// saved stores a memory that was made, and not used since, so many days ago.
func (h *house) saved(t testing.TB, e *engine.Engine, days float64, content string) memory.ID {
	t.Helper()
	return do(t, e, op.Save, &op.SaveRequest{Content: content, CreatedAt: h.daysAgo(days), LastUsed: h.daysAgo(days)}).Memory.ID
}

// runs has the keeper run once by itself.
func runs(t testing.TB, e *engine.Engine) *op.LifecycleRunResult {
	t.Helper()
	res, err := e.Lifecycle.RunLifecycleOnce(t.Context(), lifecycle.AgingActor(), false)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// counts are the moves of a run by kind.
func counts(res *op.LifecycleRunResult) map[string]int {
	out := map[string]int{}
	for _, m := range res.Moves {
		out[m.Kind] = m.Count
	}
	return out
}

func wantMoves(t testing.TB, res *op.LifecycleRunResult, want map[string]int) {
	t.Helper()
	if got := counts(res); !maps.Equal(got, want) {
		t.Errorf("moved %v, skipped %v, why %q; want %v", got, res.Skipped, res.Why, want)
	}
}

func wantStage(t testing.TB, e *engine.Engine, id memory.ID, want memory.Stage) {
	t.Helper()
	if got := look(t, e, id); got.Stage != want {
		t.Errorf("memory %s is %s, want %s", id.Short(), got.Stage, want)
	}
}

// A text of two sentences, so that its summary is not all of it.
const tides = "The harbour tide tables come from the Hydrographic Office.\n\nAnn prints them every January, and pins them beside the barometer in the boathouse where the rowing crews look before they go out.\n"

func TestAMemoryFadesThroughTheStages(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	id := do(t, e, op.Save, &op.SaveRequest{Content: tides}).Memory.ID
	saved := h.clock.Now()
	for _, step := range []struct {
		days  float64
		stage memory.Stage
		moves map[string]int
	}{
		{6.99, memory.Active, map[string]int{}},
		{7, memory.Demoted, map[string]int{op.MoveDemote: 1}},
		{29.99, memory.Demoted, map[string]int{}},
		{30, memory.Archived, map[string]int{op.MoveArchive: 1}},
		{89.99, memory.Archived, map[string]int{}},
		{90, memory.Rehydratable, map[string]int{op.MoveFade: 1}},
		{4000, memory.Rehydratable, map[string]int{}},
	} {
		h.ms.Store(saved.Add(time.Duration(step.days * float64(day))).UnixMilli())
		wantMoves(t, runs(t, e), step.moves)
		wantStage(t, e, id, step.stage)
	}
	m := look(t, e, id)
	if m.ArchiveReason != "unused for 30 days" || m.UseCount != 0 || len(m.Content) >= len(tides)/2 {
		t.Errorf("what is left is %+v", m.Memory)
	}
	if note := h.note(t, m.VaultPath); path.Dir(m.VaultPath) != "Memories/Archive" || !strings.Contains(note, tides) || strings.Contains(note, "stage:") {
		t.Errorf("the note %s is\n%s", m.VaultPath, note)
	}
}

func TestAgesByCategoryAndCore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Lifecycle.Categories = map[string]rekindle.Ages{"work": {Demote: day, Archive: 2 * day, Rehydrate: 3 * day}}
	e := h.open(t)
	ids := map[string]memory.ID{}
	for name, req := range map[string]op.SaveRequest{"plain": {}, "work": {Category: "work"}, "core": {Category: "work", Core: true}} {
		req.Content, req.CreatedAt, req.LastUsed = name, h.daysAgo(6), h.daysAgo(6)
		ids[name] = do(t, e, op.Save, &req).Memory.ID
	}
	wantMoves(t, runs(t, e), map[string]int{op.MoveDemote: 1})
	wantStage(t, e, ids["plain"], memory.Active)
	wantStage(t, e, ids["work"], memory.Demoted) // without a vault it goes no further
	h.advance(1000 * day)
	wantMoves(t, runs(t, e), map[string]int{op.MoveDemote: 1})
	wantStage(t, e, ids["core"], memory.Active)
}

func TestADemotedMemoryThatIsUsedWakes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	var ids []memory.ID
	for i := range 3 {
		ids = append(ids, h.saved(t, e, 10, fmt.Sprint("pebble ", i)))
	}
	wantMoves(t, runs(t, e), map[string]int{op.MoveDemote: 3})
	events := eventsSince(t, e)
	for _, id := range ids[:2] {
		do(t, e, op.Touch, &op.TouchRequest{ID: string(id)})
	}
	do(t, e, op.Show, &op.ShowRequest{ID: string(ids[2])}) // opens it, which is no use
	e.Lifecycle.ActivateUsed(t.Context())
	wantStage(t, e, ids[0], memory.Active)
	wantStage(t, e, ids[1], memory.Active)
	wantStage(t, e, ids[2], memory.Demoted)
	if got := events(); len(got) != 1 || got[0].Type != "wake" || len(got[0].IDs) != 2 {
		t.Errorf("events %+v, want one for both", got)
	}
	h.advance(6 * day)
	wantMoves(t, runs(t, e), map[string]int{})

	// A use that this run did not see, or another device's, is found by the next one.
	e.Stm.Use(stm.Use{ID: ids[2], Uses: 1, At: h.clock.Now()})
	wantMoves(t, runs(t, e), map[string]int{op.MoveWake: 1})
}

// eventsOf returns what tells of the events since.
func eventsSince(t testing.TB, e *engine.Engine) func() []op.Event {
	t.Helper()
	from, _ := e.EventLog.Start("")
	return func() []op.Event {
		batch, _, _ := e.EventLog.Since(from)
		return batch
	}
}

// What is due at once, by a clock that jumped or an import, fades in portions, and the status says so.
func TestWhatIsDueAtOnceFadesInPortions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	for i := range 50 {
		save(t, e, fmt.Sprint("pebble ", i))
	}
	h.advance(365 * day)
	st := do(t, e, op.LifecycleStatus, &op.LifecycleStatusRequest{})
	if !strings.HasPrefix(st.Why, "50 memories are due for a lifecycle run, but one run moves at most 20; later runs move the other memories") || st.Due[op.MoveDemote] != 50 {
		t.Errorf("status %+v", st)
	}
	would := do(t, e, op.LifecycleRun, &op.LifecycleRunRequest{DryRun: true})
	wantMoves(t, would, map[string]int{op.MoveDemote: 20})
	first := runs(t, e)
	wantMoves(t, first, map[string]int{op.MoveDemote: 20})
	if first.Waiting != 30 || first.Tx == "" {
		t.Errorf("the run is %+v", first)
	}
	wantMoves(t, do(t, e, op.LifecycleRun, &op.LifecycleRunRequest{}), map[string]int{op.MoveDemote: 20})
	wantMoves(t, runs(t, e), map[string]int{op.MoveDemote: 10})
	wantMoves(t, runs(t, e), map[string]int{})
}

// The status names the undo of the last run as long as there is something to undo.
func TestTheStatusOfARunThatWasUndone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	h.saved(t, e, 10, "demoted")
	run := runs(t, e)
	undone := func() bool { return do(t, e, op.LifecycleStatus, &op.LifecycleStatusRequest{}).Last.Undone }
	if run.Tx == "" || undone() {
		t.Fatalf("the run is %+v", run)
	}
	back := do(t, e, op.Undo, &op.UndoRequest{Tx: run.Tx})
	if !undone() {
		t.Error("an undone run counts as in force")
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: back.Tx})
	if undone() {
		t.Error("a run whose undo was undone counts as undone")
	}
}

func TestAClockThatGoesBackDoesNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	used, demoted := save(t, e, "used"), h.saved(t, e, 10, "demoted")
	wantMoves(t, runs(t, e), map[string]int{op.MoveDemote: 1})
	h.advance(-400 * day)
	wantMoves(t, runs(t, e), map[string]int{op.MoveWake: 1}) // that is what its age is now
	wantStage(t, e, used.ID, memory.Active)
	e.Lifecycle.CheckDaily(t.Context())
	if next := e.Lifecycle.NextLook(); next.Sub(h.clock.Now()) > lifecycle.LooksAgain || !next.After(h.clock.Now()) {
		t.Errorf("the next look is at %s, and it is %s", next, h.clock.Now())
	}
	h.advance(400 * day)
	runs(t, e)
	if got := look(t, e, demoted).Stage; got.Cold() {
		t.Errorf("the memory is %s", got)
	}
}

// stored is every memory as it is, without what an undo is allowed to change.
func stored(t testing.TB, e *engine.Engine) map[memory.ID]string {
	t.Helper()
	all := map[memory.ID]string{}
	for r := range e.Stm.Rows() {
		raw, err := json.Marshal(r.Fields())
		if err != nil {
			t.Fatal(err)
		}
		all[r.ID()] = string(raw)
	}
	return all
}

func TestOneUndoTakesAWholeRunBack(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	promoted := do(t, e, op.Save, &op.SaveRequest{Content: "asked for daily", CreatedAt: h.daysAgo(5), LastUsed: h.daysAgo(1), UseCount: 9}).Memory.ID
	both := do(t, e, op.Save, &op.SaveRequest{Content: "was asked for daily", CreatedAt: h.daysAgo(50), LastUsed: h.daysAgo(10), UseCount: 40}).Memory.ID
	demoted := h.saved(t, e, 10, "not asked for")
	archived := h.saved(t, e, 40, tides)
	before := stored(t, e)

	res := runs(t, e)
	wantMoves(t, res, map[string]int{op.MovePromote: 2, op.MoveDemote: 2, op.MoveArchive: 1})
	for id, want := range map[memory.ID]memory.Stage{promoted: memory.Active, both: memory.Demoted, demoted: memory.Demoted, archived: memory.Archived} {
		wantStage(t, e, id, want)
	}
	h.rest(t, e)
	undone := do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	for _, item := range undone.Items {
		if item.Action != stm.Reverted || item.Reason != "" {
			t.Errorf("undone: %+v", item)
		}
	}
	if got := stored(t, e); !maps.Equal(got, before) {
		t.Errorf("after the undo:\n%v\nwant\n%v", got, before)
	}
	wantFiles(t, h)

	// It does not begin again at once.
	wantMoves(t, runs(t, e), map[string]int{})
}

// pair are two devices that know of each other, the keeper first.
func pair(t testing.TB) (keeper, other *house, k, o *engine.Engine) {
	t.Helper()
	keeper, other = newHouse(t), newHouse(t)
	k, o = keeper.open(t), other.open(t)
	save(t, o, "of the other")
	do(t, k, op.KeeperHere, &op.KeeperHereRequest{})
	save(t, k, "of the keeper")
	carry(t, keeper, other, status(t, k).Device)
	o.Admin.Refresh(t.Context())
	carry(t, other, keeper, status(t, o).Device)
	k.Admin.Refresh(t.Context())
	return keeper, other, k, o
}

func TestOnlyTheKeeperRuns(t *testing.T) {
	t.Parallel()
	keeper, other, k, o := pair(t)
	id := save(t, k, "a pebble").ID
	carry(t, keeper, other, status(t, k).Device)
	o.Admin.Refresh(t.Context())
	keeper.advance(10 * day)
	other.advance(10 * day)

	err := refused(t, o, op.LifecycleRun, &op.LifecycleRunRequest{})
	wantCode(t, err, memory.Conflict, "); to make this device the primary device, run: emberd config primary-device here")
	wantMoves(t, do(t, o, op.LifecycleRun, &op.LifecycleRunRequest{DryRun: true}), map[string]int{op.MoveDemote: 3})
	if st := do(t, o, op.LifecycleStatus, &op.LifecycleStatusRequest{}); st.Here || !strings.Contains(st.Why, "emberd config primary-device here") {
		t.Errorf("status %+v", st)
	}
	o.Indexed.Store(true)
	if next := o.Lifecycle.RunDue(t.Context()); next.Sub(other.clock.Now()) != lifecycle.LooksAgain {
		t.Errorf("the other device looks again in %s", next.Sub(other.clock.Now()))
	}
	wantStage(t, o, id, memory.Active)

	wantMoves(t, do(t, k, op.LifecycleRun, &op.LifecycleRunRequest{}), map[string]int{op.MoveDemote: 3})
	carry(t, keeper, other, status(t, k).Device)
	o.Admin.Refresh(t.Context())
	wantStage(t, o, id, memory.Demoted)

	// What is used on the other device wakes there, whoever the keeper is.
	do(t, o, op.Touch, &op.TouchRequest{ID: string(id)})
	o.Lifecycle.ActivateUsed(t.Context())
	wantStage(t, o, id, memory.Active)
}

func TestWhatANoteCannotKeepIsDemotedOnly(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	odd, plain := h.saved(t, e, 400, "one\r\ntwo\r\n"), h.saved(t, e, 400, tides)
	wantMoves(t, runs(t, e), map[string]int{op.MoveDemote: 1, op.MoveArchive: 1})
	wantStage(t, e, odd, memory.Demoted)
	wantStage(t, e, plain, memory.Rehydratable)
	h.advance(8 * day)
	if res := runs(t, e); len(res.Moves)+len(res.Skipped) != 0 {
		t.Errorf("the next run is %+v", res)
	}
	st := do(t, e, op.LifecycleStatus, &op.LifecycleStatusRequest{})
	if st.Kept != 1 || len(st.KeptIDs) != 1 || st.KeptIDs[0].ID != odd || !strings.Contains(st.KeptIDs[0].Reason, "line endings") {
		t.Errorf("status %+v", st)
	}
}

func TestARunThatIsBrokenOffIsPlannedAnew(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	id := h.saved(t, e, 10, "a pebble")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Lifecycle.RunLifecycleOnce(ctx, lifecycle.AgingActor(), false); err == nil {
		t.Error("a run whose context has ended says that it is done")
	}
	wantStage(t, e, id, memory.Active)
	wantMoves(t, runs(t, e), map[string]int{op.MoveDemote: 1})

	e.Lifecycle.Scheduler.Running.Lock()
	_, err := e.Lifecycle.RunLifecycleOnce(t.Context(), lifecycle.AgingActor(), true)
	wantCode(t, err, memory.Busy, "a lifecycle run is in progress; run: emberd lifecycle status")
}

func TestWhatWasUsedSinceThePlanStays(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	id := h.saved(t, e, 10, "a pebble")
	r := lifecycle.LifecycleRun{E: e.Lifecycle, By: lifecycle.AgingActor(), Now: h.clock.Now()}
	plan, _ := r.Plan()
	do(t, e, op.Touch, &op.TouchRequest{ID: string(id)})
	if err := r.CarryOut(t.Context(), plan, nil); err != nil {
		t.Fatal(err)
	}
	wantStage(t, e, id, memory.Active)
	if len(r.Res.Skipped) != 1 || r.Res.Skipped[0].Reason != "the memory was used or opened in the meantime" {
		t.Errorf("skipped %v", r.Res.Skipped)
	}
}

func TestTheNextLookIsWhenSomethingIsDue(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	e.Indexed.Store(true)
	if next := e.Lifecycle.RunDue(t.Context()); !next.IsZero() {
		t.Errorf("with nothing to look after it looks at %s", next)
	}
	save(t, e, "fresh")
	for _, c := range []struct {
		days float64 // of disuse
		want time.Duration
	}{{0, day}, {6.5, day / 2}, {6.99, time.Hour}} {
		h.saved(t, e, c.days, fmt.Sprint("pebble ", c.days))
		if got := e.Lifecycle.RunDue(t.Context()).Sub(h.clock.Now()); got.Round(time.Second) != c.want {
			t.Errorf("with one that was used %v days ago it looks in %s, want %s", c.days, got, c.want)
		}
	}
	st := do(t, e, op.LifecycleStatus, &op.LifecycleStatusRequest{})
	if st.Next == nil || st.Next.To != memory.Demoted || len(st.Jobs) != 6 || st.Jobs[1].Last.IsZero() {
		t.Errorf("status %+v", st)
	}

	h.LifecyclePeriod = 0
	h.saved(t, e, 10, "due")
	e.Opt.LifecyclePeriod = 0
	if got := e.Lifecycle.RunDue(t.Context()).Sub(h.clock.Now()); got != day {
		t.Errorf("with the lifecycle off it looks in %s", got)
	}
	if st := do(t, e, op.LifecycleStatus, &op.LifecycleStatusRequest{}); st.Due[op.MoveDemote] != 1 || !strings.Contains(st.Why, "consolidation.interval is 0") {
		t.Errorf("status %+v", st)
	}
}

// TestOfTwoThatFadeAtOnceTheOlderIsNext: what status says must not change from call to
// call.
func TestOfTwoThatFadeAtOnceTheOlderIsNext(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	first := save(t, e, "fades first").ID
	for i := range 9 {
		save(t, e, fmt.Sprint("fades as soon ", i))
	}
	for range 20 {
		if next := e.Lifecycle.NextMove(); next == nil || next.ID != first {
			t.Fatalf("next is %+v, want %s", next, first)
		}
	}
}

func TestTheIndexesAreCheckedOnceADay(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	save(t, e, "a pebble")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(h.State, "index")); err != nil {
		t.Fatal(err)
	}
	e = h.open(t) // nobody has built the index
	warned := func() bool {
		return slices.ContainsFunc(status(t, e).Warnings, func(w string) bool {
			return strings.Contains(w, "the keyword index contains 0 of 1 memories; restart the daemon")
		})
	}
	e.Lifecycle.CheckDaily(t.Context())
	if !warned() {
		t.Errorf("warnings %q", status(t, e).Warnings)
	}
	e.Storage.BuildIndex(t.Context())
	h.advance(day - time.Second)
	e.Lifecycle.CheckDaily(t.Context())
	if !warned() {
		t.Error("it was checked again within a day")
	}
	h.advance(time.Second)
	e.Lifecycle.CheckDaily(t.Context())
	if warned() {
		t.Errorf("warnings %q", status(t, e).Warnings)
	}
}

// A count is kept while it stands, and only then.
func TestStatsAreCountedAnewAfterAChange(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	ask := func() *op.StatsResult { return do(t, e, op.Stats, &op.StatsRequest{}) }
	m := save(t, e, "a pebble")
	first := ask()
	if want := map[memory.Stage]int{memory.Active: 1, memory.Demoted: 0, memory.Archived: 0, memory.Rehydratable: 0}; !maps.Equal(first.Stages, want) {
		t.Errorf("stages %v, want %v", first.Stages, want)
	}
	first.Stages[memory.Active] = 99 // is the caller's
	if got := ask(); got.Stages[memory.Active] != 1 || got.AvgScore != 1 {
		t.Errorf("counted %+v", got)
	}
	do(t, e, op.Touch, &op.TouchRequest{ID: string(m.ID)})
	if got := ask(); got.AvgUses != 1 {
		t.Errorf("after a use the average is %v", got.AvgUses)
	}
	fresh := ask().AvgScore
	h.advance(admin.CountedFor)
	if got := ask().AvgScore; got >= fresh {
		t.Errorf("a minute later the score is %v, and was %v", got, fresh)
	}
	h.advance(10 * day)
	runs(t, e)
	if got := ask(); got.Stages[memory.Demoted] != 1 || got.Total != 1 {
		t.Errorf("after a run: %+v", got)
	}
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(m.ID)})
	if got := ask(); got.Total != 0 || got.Trash != 1 {
		t.Errorf("after it was forgotten: %+v", got)
	}
}
