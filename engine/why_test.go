package engine_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"emberd/engine/history"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// The parts multiply to the score, the dates are those on which it comes true, and
// asking is no use.
func TestWhyTellsPartsAndDates(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	m := do(t, e, op.Save, &op.SaveRequest{Content: "the tide turns at six", Strength: new(1.5)}).Memory
	do(t, e, op.Touch, &op.TouchRequest{ID: string(m.ID)})
	used := clock.Now()
	clock.advance(36 * time.Hour)
	got := do(t, e, op.Why, &op.WhyRequest{ID: string(m.ID)})
	p := got.Parts
	if p.UseCount != 1 || p.Strength != 1.5 || math.Abs(p.AgeDays-1.5) > 1e-9 || p.Model != "power_law" || math.Abs(p.Uses*p.AgeFactor*p.Strength-p.Score) > 1e-12 || p.Score != got.Memory.Score {
		t.Errorf("the parts are %+v of %v", p, got.Memory.Score)
	}
	day := 24 * time.Hour
	want := []op.StageDue{{Stage: memory.Demoted, At: used.Add(7 * day)}, {Stage: memory.Archived, At: used.Add(30 * day)}, {Stage: memory.Rehydratable, At: used.Add(90 * day)}}
	if !slices.Equal(got.Stages, want) {
		t.Errorf("the stages are %+v, want %+v", got.Stages, want)
	}
	if n := got.Used.Next; n == nil || *n != (op.StageDue{Stage: memory.Demoted, At: clock.Now().Add(7 * day)}) || got.Used.Score <= p.Score {
		t.Errorf("one use now gives %+v", got.Used)
	}
	if look(t, e, m.ID).UseCount != 1 {
		t.Error("asking counted as a use")
	}
	for _, c := range got.Crossings {
		if c.Below || c.At.IsZero() {
			t.Fatalf("%s is %+v, want one to come", c.Name, c)
		}
		clock.advance(c.At.Add(time.Minute).Sub(clock.Now()))
		after := do(t, e, op.Why, &op.WhyRequest{ID: string(m.ID)})
		if after.Memory.Score > c.Score || after.Memory.Score < c.Score*0.99 {
			t.Errorf("a minute after it should fall below %v the score is %v", c.Score, after.Memory.Score)
		}
	}
}

func TestWhyTellsWhatANoteLacks(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	m := save(t, e, "the tide turns at six")
	ask := func() op.PromotionDue { return do(t, e, op.Why, &op.WhyRequest{ID: string(m.ID)}).Promotion }
	missing := func(p op.PromotionDue) []string { return slices.Concat(p.Rules[0].Missing, p.Rules[1].Missing) }
	if got, want := missing(ask()), []string{"an age of 3 days, reached on " + clock.Now().Add(72*time.Hour).Format("2006-01-02 15:04 MST"), "one more use", "5 more uses"}; !slices.Equal(got, want) {
		t.Errorf("it lacks %q, want %q", got, want)
	}
	clock.advance(72 * time.Hour)
	e.Stm.Use(stm.Use{ID: m.ID, Uses: 1})
	if p := ask(); p.Rule != "score" || len(p.Rules[0].Missing) > 0 {
		t.Errorf("it is due by %q and lacks %q", p.Rule, missing(p))
	}
	clock.advance(30 * 24 * time.Hour)
	if p := ask(); p.Rule != "" || len(p.Rules[0].Missing) != 1 || len(p.Rules[1].Missing) != 2 {
		t.Errorf("a month later it is due by %q and lacks %q", p.Rule, missing(p))
	}
}

// What cannot be kept in a note is demoted at most, and what was demoted late is not
// archived at once: the dates are those on which the lifecycle moves.
func TestWhyTellsTheStagesThatCome(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	const day = 24 * time.Hour
	kept := save(t, e, "one\r\ntwo")
	ask := func(id memory.ID) []op.StageDue { return do(t, e, op.Why, &op.WhyRequest{ID: string(id)}).Stages }
	if got, want := ask(kept.ID), []op.StageDue{{Stage: memory.Demoted, At: clock.Now().Add(7 * day)}}; !slices.Equal(got, want) {
		t.Errorf("a text with foreign line ends goes through %+v, want %+v", got, want)
	}
	late := save(t, e, "the tide turns at six")
	clock.advance(40 * day)
	do(t, e, op.LifecycleRun, &op.LifecycleRunRequest{})
	if m := look(t, e, late.ID); m.Stage != memory.Demoted {
		t.Fatalf("without a vault it is %s", m.Stage)
	}
	got := ask(late.ID)
	if len(got) == 0 || got[0] != (op.StageDue{Stage: memory.Archived, At: clock.Now().Add(7 * day)}) {
		t.Errorf("demoted just now it goes through %+v, want archived in 7 days first", got)
	}
}

func TestACoreMemoryStays(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	m := do(t, e, op.Save, &op.SaveRequest{Content: "the tide turns at six", Core: true}).Memory
	clock.advance(400 * 24 * time.Hour)
	got := do(t, e, op.Why, &op.WhyRequest{ID: string(m.ID)})
	if len(got.Stages) != 0 || got.Used.Next != nil || got.Memory.Score != 1 {
		t.Errorf("why is %+v", got)
	}
	for _, c := range got.Crossings {
		if c.Below || !c.At.IsZero() {
			t.Errorf("it falls: %+v", c)
		}
	}
}

// The curve goes through what the score was, jumps at each use, and goes on as the
// score will.
func TestTheTimelineIsTheScoreAsItWasAndWillBe(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e, clock := h.open(t), h.clock
	m := save(t, e, "the tide turns at six")
	made := clock.Now()
	type moment struct {
		at    time.Time
		score float64
	}
	var seen []moment
	note := func() { seen = append(seen, moment{clock.Now(), look(t, e, m.ID).Score}) }
	wait := func(d time.Duration) { clock.advance(d); note(); clock.advance(time.Second) }
	use := func() {
		do(t, e, op.Touch, &op.TouchRequest{ID: string(m.ID)})
		if err := e.Stm.WriteSnapshot(t.Context()); err != nil { // or the next use shares its line
			t.Fatal(err)
		}
	}
	wait(50 * time.Hour)
	use()
	wait(20 * time.Hour)
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Strength: new(2.0)})
	wait(30 * time.Hour)
	use()
	use()
	wait(100 * time.Hour)

	versions, err := e.Stm.History(t.Context(), m.ID)
	if err != nil {
		t.Fatal(err)
	}
	uses, err := e.Stm.Uses(t.Context(), m.ID)
	if err != nil {
		t.Fatal(err)
	}
	row, _ := e.Stm.Get(m.ID)
	c := history.Curve{E: e.History, Row: row, Uses: uses, Strengths: history.StrengthsOf(versions)}
	for _, s := range seen {
		if got := c.At(s.at); math.Abs(got-s.score) > 1e-9 {
			t.Errorf("%s after it was made the curve is at %v, and the score was %v", s.at.Sub(made), got, s.score)
		}
	}

	got := do(t, e, op.Timeline, &op.TimelineRequest{ID: string(m.ID), Days: 10, Points: 50})
	var what []string
	for _, ev := range got.Events {
		what = append(what, ev.What)
	}
	if want := []string{"saved", "used", "edited", "used"}; !slices.Equal(what, want) || got.Events[3].Uses != 3 {
		t.Errorf("the events are %+v, want %q", got.Events, want)
	}
	if len(got.Points) != 50 || !got.Points[0].At.Equal(made) || got.Points[49].At.Sub(clock.Now().Add(240*time.Hour)).Abs() > time.Second {
		t.Errorf("the curve has %d points from %s to %s", len(got.Points), got.Points[0].At, got.Points[len(got.Points)-1].At)
	}
	last := got.Points[49]
	clock.advance(last.At.Sub(clock.Now()))
	if now := look(t, e, m.ID).Score; math.Abs(now-last.Score) > 1e-9 {
		t.Errorf("it was to be %v by then and is %v", last.Score, now)
	}
	wantCode(t, refused(t, e, op.Timeline, &op.TimelineRequest{ID: string(m.ID), Points: 1}), memory.Invalid, "points 1 is out of range (")
}
