package maintain

import (
	"slices"
	"testing"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

// On a terminal ids are painted, and what comes with them cannot paint.
func TestAgentLinesInColour(t *testing.T) {
	t.Parallel()
	const a, b = memory.ID("0192f3a1-b2c3-7000-8000-0123456789ab"), memory.ID("0192f3a1-b2c3-7000-8000-012389ab0123")
	res := &op.AgentsRunResult{
		Decay:     []op.DecayResult{{MemoryID: a, Score: 0.1, Urgency: "high", Action: "needs_review"}},
		Relations: []op.RelationResult{{FromID: a, ToID: b, Reasoning: "both name \x1b[31mAcme"}},
	}
	s := cli.New()
	s.Screen = cli.Screen{Width: 80, Colour: true}
	one, other := "\x1b[33m456789ab\x1b[0m", "\x1b[33m89ab0123\x1b[0m"
	for agent, want := range map[string][]string{
		op.AgentDecay:     {one + "  score 0.10, high, needs_review"},
		op.AgentRelations: {one + " and " + other + "  both name ⟨U+001B⟩[31mAcme"},
	} {
		if got := agentLines(s, res, agent); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", agent, got, want)
		}
	}
}
