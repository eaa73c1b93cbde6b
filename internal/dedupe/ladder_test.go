package dedupe_test

import (
	"testing"

	"emberd/internal/dedupe"
)

func TestActions(t *testing.T) {
	t.Parallel()
	for name, ladder := range map[string]dedupe.Ladder{"list": dedupe.ListLadder(), "agents": dedupe.DefaultLadder()} {
		for cohesion, want := range map[float64]dedupe.Action{
			1: dedupe.AutoMerge, ladder.AutoMerge: dedupe.AutoMerge, ladder.AutoMerge - 1e-4: dedupe.LLMReview,
			ladder.Review: dedupe.LLMReview, ladder.Review - 1e-4: dedupe.KeepSeparate, 0: dedupe.KeepSeparate,
		} {
			if got := ladder.For(cohesion); got != want {
				t.Errorf("%s: the action at %v is %s, want %s", name, cohesion, got, want)
			}
		}
	}
	if list, agents := dedupe.ListLadder(),
		dedupe.DefaultLadder(); list != (dedupe.Ladder{AutoMerge: 0.9, Review: 0.75}) ||
		agents != (dedupe.Ladder{AutoMerge: 0.85, Review: 0.65}) {
		t.Errorf("the ladders are %v and %v", list, agents)
	}
}
