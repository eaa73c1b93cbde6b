package dedupe

import (
	"fmt"
	"testing"
	"time"

	"emberd/memory"
)

// Whose words a merged memory is, and what it counts for, by its members, oldest first.
func TestTheStandingOfAMergedMemory(t *testing.T) {
	const long, short = "the kettle leaks at the seam", "the kettle leaks"
	said := func(origin, text string, importance, strength float64) memory.Memory {
		m := memory.Memory{Content: text, Origin: origin, Importance: importance, Strength: strength}
		m.Learn(memory.Source{Kind: origin})
		return m
	}
	confirmed := said(memory.FromWeb, long, 0.5, 1)
	confirmed.ConfirmedAt = day(5)
	unknown := memory.Memory{Content: long, Importance: 0.6, Strength: 1}
	for _, c := range []struct {
		name    string
		members []memory.Memory
		want    string
	}{
		{"two of an agent", []memory.Memory{said("agent", short, 0.4, 1), said("user", long, 0.6, 1.2)}, "agent 0.6 1.4 2 links"},
		{"the web repeats an agent", []memory.Memory{said("agent", long, 0.6, 1.2), said("web", short, 0.5, 1)}, "agent 0.6 1.2 2 links"},
		{"an agent repeats the web", []memory.Memory{said("web", short, 0.5, 1), said("agent", long, 0.4, 1.2)}, "agent 0.4 1.2 2 links"},
		{"the web says more than an agent", []memory.Memory{said("agent", short, 0.9, 1.8), said("web", long, 0.5, 1)}, "data web 0.5 1 2 links"},
		{"only the web", []memory.Memory{said("web", short, 0.5, 1), said("tool", long, 0.3, 1)}, "data web 0.5 1 2 links"},
		{"the web, confirmed", []memory.Memory{confirmed, said("agent", short, 0.6, 1.2)}, "web 0.6 1.4 2 links"},
		{"an agent, and the web, confirmed", []memory.Memory{said("agent", short, 0.6, 1.2), confirmed}, "agent 0.6 1.4 2 links"},
		{"nobody knows who, and the web", []memory.Memory{said("web", short, 0.5, 1), unknown}, "agent 0.6 1 1 links"},
	} {
		for i := range c.members {
			c.members[i].ID, c.members[i].CreatedAt = memory.ID(rune('a'+i)), day(i+1)
		}
		m, err := mergeFields(c.members, 1)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%s %g %.4g %d links", m.Origin, m.Importance, m.Strength, len(m.Sources))
		if m.DataOnly() {
			got = "data " + got
		}
		if got != c.want {
			t.Errorf("%s: it is %s, want %s", c.name, got, c.want)
		}
	}
}

func TestChainsOfMergedMemoriesAreUnited(t *testing.T) {
	link := memory.Source{Kind: memory.FromAgent, By: &memory.Actor{Via: "mcp", Client: "a/1"}}
	var one, other memory.Memory
	one.ID, one.Content, one.CreatedAt = "a", "the kettle leaks", day(1)
	one.Learn(link)
	other.ID, other.Content, other.CreatedAt = "b", "The kettle leaks", day(2)
	other.Learn(link)
	other.Learn(memory.Source{Kind: memory.FromUser})
	other.SourcesDropped = 4
	m, err := mergeFields([]memory.Memory{other, one}, 1)
	if err != nil || len(m.Sources) != 2 || m.Sources[0].Count() != 2 || m.SourcesDropped != 4 || m.Learned() != 7 {
		t.Errorf("got %d links, the first %d times, %d dropped, %d in all, %v; want 2, 2, 4, 7", len(m.Sources), m.Sources[0].Count(), m.SourcesDropped, m.Learned(), err)
	}
	if m.Sources[0].By == one.Sources[0].By {
		t.Error("the merged memory shares who learned it with a member")
	}
}

func day(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
