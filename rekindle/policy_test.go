package rekindle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/rekindle"
)

const day = 24 * time.Hour

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// unused is a memory in a stage whose last use is so long ago.
func unused(stage memory.Stage, ago time.Duration) rekindle.StageInputs {
	return rekindle.StageInputs{ID: memory.ID(fmt.Sprint(ago)), Stage: stage, CreatedAt: now.Add(-1000 * day),
		LastUsed: now.Add(-ago)}
}

func TestStage(t *testing.T) {
	core := unused(memory.Demoted, 400*day)
	core.Core = true
	slow := unused(memory.Active, 100*day)
	slow.Category = "recipes"
	opened := unused(memory.Demoted, 80*day)
	opened.LastOpened = now.Add(-2 * day)
	openedBefore := unused(memory.Demoted, 80*day)
	openedBefore.LastOpened = now.Add(-31 * day)
	openedActive := unused(memory.Active, 80*day)
	openedActive.LastOpened = now.Add(-8 * day)
	created := unused(memory.Active, 0)
	created.LastUsed = time.Time{}
	policy := rekindle.DefaultPolicy()
	policy.Categories = map[string]rekindle.Ages{"recipes": {Demote: 60 * day, Archive: 365 * day,
		Rehydrate: 999 * day}}
	if err := policy.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		facts rekindle.StageInputs
		want  memory.Stage
	}{
		{"just used", unused(memory.Active, 0), memory.Active},
		{"a moment before a week", unused(memory.Active, 7*day-1), memory.Active},
		{"a week", unused(memory.Active, 7*day), memory.Demoted},
		{"thirty days", unused(memory.Demoted, 30*day), memory.Archived},
		{"ninety days", unused(memory.Archived, 90*day), memory.Rehydratable},
		{"a daemon that was off for long", unused(memory.Active, 100*day), memory.Rehydratable},
		{"demoted and used", unused(memory.Demoted, day), memory.Active},
		{"archived and touched", unused(memory.Archived, day), memory.Archived},
		{"rehydratable under a slower policy", unused(memory.Rehydratable, 40*day), memory.Rehydratable},
		{"used in the future", unused(memory.Active, -day), memory.Active},
		{"core", core, memory.Active},
		{"demoted, and opened lately", opened, memory.Demoted},
		{"demoted, and opened a month ago", openedBefore, memory.Archived},
		{"active, and opened a week ago", openedActive, memory.Demoted},
		{"of a slow category", slow, memory.Demoted},
		{"never used", created, memory.Rehydratable},
		{"of unknown age", rekindle.StageInputs{Stage: memory.Active}, memory.Active},
	} {
		if got := policy.Stage(c.facts, now); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Without a vault there is no place for the text, so nothing gets cold.
func TestStageWithoutVault(t *testing.T) {
	policy := rekindle.DefaultPolicy()
	policy.Coldest = memory.Demoted
	if got := policy.Stage(unused(memory.Active, 400*day), now); got != memory.Demoted {
		t.Errorf("stage = %s, want demoted", got)
	}
	if got := policy.Stage(unused(memory.Archived, 400*day), now); got != memory.Archived {
		t.Errorf("stage of an archived one = %s, want archived", got)
	}
}

func TestNext(t *testing.T) {
	policy := rekindle.DefaultPolicy()
	f := unused(memory.Demoted, 10*day)
	if stage, at, ok := policy.Next(f); !ok || stage != memory.Archived || !at.Equal(now.Add(20*day)) {
		t.Errorf("next = %s at %v, %t, want archived in 20 days", stage, at, ok)
	}
	f.Stage = memory.Rehydratable
	if stage, at, ok := policy.Next(f); ok {
		t.Errorf("next of a rehydratable memory = %s at %v, want none", stage, at)
	}
	if stage, _, ok := policy.Next(rekindle.StageInputs{Stage: memory.Active, Core: true, LastUsed: now}); ok {
		t.Errorf("next of a core memory = %s, want none", stage)
	}
}

// What was brought back fades anew, and not in the next run.
func TestStageOfWhatWasBroughtBack(t *testing.T) {
	policy := rekindle.DefaultPolicy()
	for _, c := range []struct {
		name  string
		stage memory.Stage
		since time.Duration // ago
		want  memory.Stage
		next  time.Duration // from now
	}{
		{"to active just now", memory.Active, 0, memory.Active, 7 * day},
		{"to active a week ago", memory.Active, 7 * day, memory.Demoted, 0},
		{"to demoted just now", memory.Demoted, 0, memory.Demoted, 7 * day},
		{"to demoted a week ago", memory.Demoted, 7 * day, memory.Rehydratable, 0},
		{"to active by a clock that was ahead", memory.Active, -day, memory.Active, 8 * day},
	} {
		f := unused(c.stage, 100*day)
		f.Since = now.Add(-c.since)
		if got := policy.Stage(f, now); got != c.want {
			t.Errorf("%s: stage = %s, want %s", c.name, got, c.want)
		}
		if _, at, ok := policy.Next(f); !ok || !at.Equal(now.Add(c.next)) {
			t.Errorf("%s: next at %v, want %v", c.name, at, now.Add(c.next))
		}
	}
}

// What another system archived stays, however young it is, until it is used here.
func TestStageOfWhatAnotherSystemArchived(t *testing.T) {
	for _, c := range []struct {
		name string
		f    rekindle.StageInputs
		want memory.Stage
	}{
		{"used before it came", rekindle.StageInputs{LastUsed: now.Add(-2 * day), ArchivedElsewhere: now.Add(-day)}, memory.Demoted},
		{"never used", rekindle.StageInputs{ArchivedElsewhere: now.Add(-day)}, memory.Demoted},
		{"used since", rekindle.StageInputs{LastUsed: now.Add(-time.Hour), ArchivedElsewhere: now.Add(-day)}, memory.Active},
		{"core", rekindle.StageInputs{LastUsed: now.Add(-2 * day), ArchivedElsewhere: now.Add(-day), Core: true}, memory.Active},
		{"old", rekindle.StageInputs{LastUsed: now.Add(-40 * day), ArchivedElsewhere: now.Add(-30 * day)}, memory.Archived},
	} {
		c.f.Stage, c.f.CreatedAt = memory.Demoted, now.Add(-3*day)
		if got := rekindle.DefaultPolicy().Stage(c.f, now); got != c.want {
			t.Errorf("%s: stage = %s, want %s", c.name, got, c.want)
		}
	}
}

// A text that a note cannot keep stays, and is demoted all the same.
func TestStageOfATextWithNoPlaceToGo(t *testing.T) {
	f := unused(memory.Active, 400*day)
	f.Coldest = memory.Demoted
	if got := rekindle.DefaultPolicy().Stage(f, now); got != memory.Demoted {
		t.Errorf("stage = %s, want demoted", got)
	}
}

func TestPolicyValidate(t *testing.T) {
	for _, c := range []struct {
		change func(*rekindle.Policy)
		want   string
	}{
		{func(p *rekindle.Policy) { p.Ages.Demote = 0 },
			"invalid age for demoting memories of every category: 0s; use an age above 0"},
		{func(p *rekindle.Policy) { p.Ages.Archive = day },
			"invalid age for archiving memories of every category: 24h0m0s; use at least the age for demoting, 168h0m0s"},
		{func(p *rekindle.Policy) { p.Ages.Rehydrate = 8 * day },
			"rehydratable: 192h0m0s; use at least the age for archiving"},
		{func(p *rekindle.Policy) { p.Categories = map[string]rekindle.Ages{"work": {}} }, `invalid age for demoting memories of category "work"`},
		{func(p *rekindle.Policy) { p.Coldest = "frozen" }, `coldest stage: invalid stage "frozen"`},
		{func(p *rekindle.Policy) { p.Most = 0 }, "invalid maximum number of memories per lifecycle run: 0; use 1 or more"},
		{func(p *rekindle.Policy) { p.Few = 0 }, "invalid minimum number of memories per lifecycle run: 0; use 1 or more"},
		{func(p *rekindle.Policy) { p.Share = 2 }, "share 2 of memories per lifecycle run is out of range (0 to 1)"},
	} {
		p := rekindle.DefaultPolicy()
		c.change(&p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// store is so many memories in use, and so many that are due to be demoted.
func store(fresh, due int) []rekindle.StageInputs {
	var all []rekindle.StageInputs
	for i := range fresh + due {
		f := unused(memory.Active, day)
		if i >= fresh {
			f = unused(memory.Active, 10*day+time.Duration(i))
		}
		f.ID = memory.ID(fmt.Sprintf("m%05d", i))
		all = append(all, f)
	}
	return all
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name           string
		fresh, due     int
		moves, waiting int
	}{
		{"nothing due", 100, 0, 0, 0},
		{"a few", 100, 5, 5, 0},
		{"all of a small store", 0, 20, 20, 0},
		{"one more than few", 0, 21, 20, 1},
		{"a twentieth", 950, 50, 50, 0},
		{"more than a twentieth", 949, 51, 50, 1},
		{"a jump of the clock", 0, 10_000, 500, 9500},
		{"a busy day of a large store", 20_000, 1500, 1000, 500},
	} {
		plan := rekindle.DefaultPolicy().Plan(slices.Values(store(c.fresh, c.due)), now)
		if len(plan.Moves) != c.moves || plan.Waiting != c.waiting || plan.Memories != c.fresh+c.due {
			t.Errorf("%s: %d moves, %d waiting of %d; want %d, %d of %d", c.name, len(plan.Moves), plan.Waiting,
				plan.Memories, c.moves, c.waiting, c.fresh+c.due)
		}
	}
}

// anyMemories draws memories of all stages and ages.
func anyMemories(t *rapid.T) []rekindle.StageInputs {
	var all []rekindle.StageInputs
	for i := range rapid.IntRange(0, 60).Draw(t, "memories") {
		f := unused(rapid.SampledFrom(memory.Stages()).Draw(t, "stage"),
			time.Duration(rapid.IntRange(-5, 120).Draw(t, "days"))*day)
		f.ID = memory.ID(fmt.Sprintf("m%02d", i))
		f.Core = rapid.IntRange(0, 9).Draw(t, "core") == 0
		all = append(all, f)
	}
	return all
}

func TestPlanIsStableAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := rekindle.DefaultPolicy()
		policy.Most = rapid.IntRange(1, 40).Draw(t, "most")
		policy.Few = rapid.IntRange(1, 20).Draw(t, "few")
		policy.Share = rapid.Float64Range(0, 1).Draw(t, "share")
		all := anyMemories(t)
		plan := policy.Plan(slices.Values(all), now)
		again := policy.Plan(slices.Values(rapid.Permutation(all).Draw(t, "order")), now)
		if !slices.Equal(plan.Moves, again.Moves) {
			t.Fatalf("moves %v, in another order %v", plan.Moves, again.Moves)
		}
		if n := len(plan.Moves); n > policy.Most || n > max(policy.Few, int(policy.Share*float64(len(all)))) {
			t.Fatalf("%d moves of %d memories break the bounds %d, %d and %v", n, len(all), policy.Most, policy.Few,
				policy.Share)
		}
		for _, m := range plan.Moves {
			if i := slices.IndexFunc(all,
				func(f rekindle.StageInputs) bool { return f.ID == m.ID }); all[i].Stage != m.From ||
				policy.Stage(all[i], now) != m.To {
				t.Fatalf("%+v is not what is due for %+v", m, all[i])
			}
		}
	})
}

// Runs that are carried out one after the other arrive, and then rest.
func TestPlansArrive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := rekindle.DefaultPolicy()
		policy.Most = rapid.IntRange(1, 20).Draw(t, "most")
		all := anyMemories(t)
		for range len(all) + 1 {
			plan := policy.Plan(slices.Values(all), now)
			if len(plan.Moves) == 0 && plan.Waiting > 0 {
				t.Fatalf("%d moves wait for ever", plan.Waiting)
			}
			for _, m := range plan.Moves {
				all[slices.IndexFunc(all, func(f rekindle.StageInputs) bool { return f.ID == m.ID })].Stage = m.To
			}
		}
		if plan := policy.Plan(slices.Values(all), now); len(plan.Moves) > 0 {
			t.Fatalf("still to move: %v", plan.Moves)
		}
	})
}
