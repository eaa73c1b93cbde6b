package agents_test

import (
	"testing"
	"time"

	"emberd/engine/agents"
)

func TestAgentRateBoundsEveryMinute(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	r := agents.NewAgentRate(60)
	for _, step := range []struct {
		after      time.Duration
		want, gets int
	}{
		{0, 40, 40}, {30 * time.Second, 40, 20}, {59 * time.Second, 1, 0}, {60 * time.Second, 100, 40},
		{89 * time.Second, 1, 0}, {90 * time.Second, 100, 20}, {-time.Hour, 100, 60},
	} {
		at := now.Add(step.after)
		room := r.Room(at)
		if got := r.Take(at, step.want); got != step.gets || room < got {
			t.Errorf("after %s %d of %d were allowed with room for %d, want %d", step.after, got, step.want, room,
				step.gets)
		}
	}
}
