package engine_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"emberd/embedding"
	"emberd/engine"
	"emberd/internal/power"
	"emberd/internal/testutil/bubble"
	"emberd/op"
)

// laptop is a machine whose only supply is a battery.
type laptop struct {
	power.Machine
	t testing.TB
}

func newLaptop(t testing.TB, status string) laptop {
	t.Helper()
	l := laptop{power.Machine{GOOS: "linux", Root: t.TempDir()}, t}
	ok(t, os.MkdirAll(l.at(""), 0o700))
	ok(t, os.WriteFile(l.at("type"), []byte("Battery\n"), 0o600))
	l.becomes(status)
	return l
}

func (l laptop) at(file string) string {
	return filepath.Join(l.Root, "sys", "class", "power_supply", "BAT0", file)
}

func (l laptop) becomes(status string) {
	l.t.Helper()
	ok(l.t, os.WriteFile(l.at("status"), []byte(status+"\n"), 0o600))
}

// onLaptop runs an engine that follows a bubble's clock, with one memory whose vector was made
// before the battery has the status.
func onLaptop(t *testing.T, share float64, status string) (*engine.Engine, laptop) {
	t.Helper()
	h := meant(t, newHouse(t), embedding.Options{Providers: []string{embedding.Words}})
	l := newLaptop(t, "Full")
	h.FS, h.Options.Now = unwatched{}, time.Now
	h.Options.Meaning.Share, h.Options.Power = share, l.Machine
	e := h.open(t)
	stop := inTheBackground(t, e)
	t.Cleanup(func() {
		stop()
		ok(t, e.Close())
	})
	save(t, e, "the kettle leaks")
	covered(t, e)
	l.becomes(status)
	time.Sleep(2 * time.Minute)
	save(t, e, "the pot shines")
	synctest.Wait()
	return e, l
}

func wantWaiting(t testing.TB, e *engine.Engine) {
	t.Helper()
	got := engineStatus(t, e)
	if got.State != op.EngineWaiting || got.Waits != op.WaitsOnBattery || got.Problem != "" || got.Made != 1 {
		t.Errorf("state %s, waits %q, problem %q, %d vectors made; want them to wait on battery", got.State, got.Waits,
			got.Problem, got.Made)
	}
}

func TestVectorsWaitOnBattery(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e, l := onLaptop(t, 0.5, "Discharging")
		wantWaiting(t, e)
		if s, without := e.Semantic.Meaning.EmbedQuery(t.Context(), "kettle"); s == nil {
			t.Errorf("a query has no vector on battery: %s", without)
		}
		if got := timers(t, e)["embedding of texts"]; got != "1m0s" {
			t.Errorf("it looks again after %q, want a minute", got)
		}
		time.Sleep(10 * time.Minute)
		wantWaiting(t, e)
		l.becomes("Charging")
		time.Sleep(2 * time.Minute)
		if got := covered(t, e); got.Waits != "" || got.Made != 2 {
			t.Errorf("plugged in it waits %q, %d vectors made", got.Waits, got.Made)
		}
		if got := timers(t, e)["embedding of texts"]; got != "" {
			t.Errorf("with all vectors it looks again after %s", got)
		}
	})
}

// A sync after each vector would hold up the sync of the next save.
func TestVectorsAreSyncedWhenNoMoreAreMade(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e, _ := onLaptop(t, 1, "Full")
		for range 3 {
			if got := timers(t, e)["embedding of texts"]; got != "1s" {
				t.Errorf("after a vector was made the next look is after %q, want a second", got)
			}
			time.Sleep(500 * time.Millisecond)
			save(t, e, "one more "+time.Now().String())
			synctest.Wait()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := timers(t, e)["embedding of texts"]; got != "" {
			t.Errorf("a second later it looks again after %s, want all to be synced", got)
		}
	})
}

func TestResumeGoesOnOnBattery(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e, _ := onLaptop(t, 0.5, "Discharging")
		wantWaiting(t, e)
		do(t, e, op.EngineResume, &op.EngineResumeRequest{})
		covered(t, e)
		time.Sleep(time.Hour)
		save(t, e, "the lid is lost")
		if got := covered(t, e); got.Made != 3 {
			t.Errorf("%d vectors made, want one of a later memory, too", got.Made)
		}
	})
}

// A user who resumes after a pause did not ask for work on battery.
func TestAResumeBeforeTheBatteryDoesNotCount(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e, l := onLaptop(t, 0.5, "Full")
		covered(t, e)
		do(t, e, op.EnginePause, &op.EnginePauseRequest{})
		do(t, e, op.EngineResume, &op.EngineResumeRequest{})
		l.becomes("Discharging")
		time.Sleep(2 * time.Minute)
		save(t, e, "the lid is lost")
		synctest.Wait()
		if got := engineStatus(t, e); got.Waits != op.WaitsOnBattery {
			t.Errorf("state %s, waits %q", got.State, got.Waits)
		}
	})
}

func TestTheWholeProcessorIsUsedOnBattery(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e, _ := onLaptop(t, 1, "Discharging")
		if got := covered(t, e); got.Made != 2 {
			t.Errorf("%d vectors made, want 2", got.Made)
		}
	})
}
