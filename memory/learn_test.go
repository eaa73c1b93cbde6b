package memory

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func hour(n int) time.Time {
	return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)
}

func byHand(at int, pid int) Source {
	return Source{Kind: FromUser, At: hour(at), By: &Actor{Via: "cli", UID: 1000, PID: pid}}
}

func byAgent(at int, client string) Source {
	return Source{Kind: FromAgent, At: hour(at), By: &Actor{Via: "mcp", UID: 1000, PID: 7, Client: client}}
}

// spell writes a chain as words, for comparing.
func spell(m *Memory) string {
	var out []string
	for _, s := range m.Sources {
		out = append(out, fmt.Sprintf("%s @%d ×%d", s, int(s.At.Sub(hour(0)).Hours()), s.Count()))
	}
	if m.SourcesDropped > 0 {
		out = append(out, fmt.Sprintf("dropped %d", m.SourcesDropped))
	}
	return strings.Join(out, "; ")
}

func TestLearn(t *testing.T) {
	quote := byAgent(2, "claude-code/2.1")
	quote.Evidence = "the port is 5432"
	line := byAgent(3, "claude-code/2.1")
	line.Ref, line.Line = "notes.md", 12
	named := byAgent(3, "")
	named.By.Session = "x"
	none := Source{Kind: FromImport, At: hour(1)}
	for _, c := range []struct {
		name  string
		learn []Source
		want  string
	}{
		{"one", []Source{byHand(1, 5)}, "user, by hand @1 ×1"},
		{"again from another process", []Source{byHand(1, 5), byHand(4, 6)}, "user, by hand @4 ×2"},
		{"an earlier one", []Source{byHand(4, 5), byHand(1, 6)}, "user, by hand @4 ×2"},
		{"the memory was changed by another client", []Source{byHand(1, 5), byAgent(2, "a/1")}, "user, by hand @1 ×1; agent a/1 @2 ×1"},
		{"the first stays first, the latest is last", []Source{byHand(9, 5), byAgent(2, "a/1"), byAgent(1, "b/1"), byAgent(3, "b/1")},
			"user, by hand @9 ×1; agent a/1 @2 ×1; agent b/1 @3 ×2"},
		{"a quote is another link", []Source{byAgent(2, "claude-code/2.1"), quote}, "agent claude-code/2.1 @2 ×1; agent claude-code/2.1 @2 ×1"},
		{"a file and its line", []Source{line}, "agent claude-code/2.1, notes.md:12 @3 ×1"},
		{"a session, no client", []Source{named}, "agent over mcp in session x @3 ×1"},
		{"nobody", []Source{none, none}, "import @1 ×2"},
		{"nobody and somebody", []Source{none, {Kind: FromImport, At: hour(1), By: &Actor{}}}, "import @1 ×1; import @1 ×1"},
		{"counted before", []Source{{Kind: FromWeb, At: hour(1), Times: 3}, {Kind: FromWeb, At: hour(2), Times: 4}}, "web @2 ×7"},
	} {
		var m Memory
		for _, s := range c.learn {
			m.Learn(s)
		}
		if got := spell(&m); got != c.want {
			t.Errorf("%s: the chain is %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAFullChainKeepsItsFirstAndItsLatestLinks(t *testing.T) {
	var m Memory
	for i := range MaxSources + 10 {
		m.Learn(byAgent(i, fmt.Sprintf("a/%d", i)))
	}
	if len(m.Sources) != MaxSources || m.SourcesDropped != 10 || m.Learned() != MaxSources+10 {
		t.Fatalf("%d links, %d dropped, %d learned; want %d, 10, %d", len(m.Sources), m.SourcesDropped, m.Learned(), MaxSources, MaxSources+10)
	}
	if first, second, last := m.Sources[0].By.Client, m.Sources[1].By.Client, m.Sources[MaxSources-1].By.Client; first != "a/0" || second != "a/11" || last != "a/59" {
		t.Errorf("the chain is %s, %s … %s; want a/0, a/11 … a/59", first, second, last)
	}
}

func TestLearningSharesNothing(t *testing.T) {
	link := byHand(1, 5)
	var m Memory
	m.Learn(link)
	copied := m
	m.Learn(byHand(2, 6))
	m.Learn(byAgent(3, "a/1"))
	link.By.Client = "other"
	if got := spell(&copied); got != "user, by hand @1 ×1" || copied.Sources[0].By.PID != 5 {
		t.Errorf("the copy has become %q of process %d", got, copied.Sources[0].By.PID)
	}
	if m.Sources[0].By.PID != 6 {
		t.Errorf("the link is of process %d, want the latest, 6", m.Sources[0].By.PID)
	}
}

func TestWhereAMemoryComesFromInAFewWords(t *testing.T) {
	var m Memory
	if got := m.SourceText(); got != "" {
		t.Errorf("of nothing it says %q", got)
	}
	m.Learn(byHand(1, 5))
	if got, want := m.SourceText(), "user, by hand"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	m.Learn(byAgent(2, "a/1"))
	if got, want := m.SourceText(), "user, by hand; learned 2 times"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// links are any of a few that are equal now and then.
func links() *rapid.Generator[Source] {
	return rapid.Custom(func(t *rapid.T) Source {
		s := Source{
			Kind:  rapid.SampledFrom([]string{FromUser, FromAgent, FromTool}).Draw(t, "kind"),
			Ref:   rapid.SampledFrom([]string{"", "a.md", "b.md"}).Draw(t, "file"),
			Line:  rapid.IntRange(0, 9).Draw(t, "line"),
			Times: rapid.Int64Range(0, 3).Draw(t, "times"),
			At:    hour(rapid.IntRange(0, 20).Draw(t, "hour")),
		}
		if rapid.Bool().Draw(t, "known") {
			s.By = &Actor{Via: "cli", PID: rapid.IntRange(1, 3).Draw(t, "pid")}
		}
		return s
	})
}

func TestWhateverTheOrderEveryWriteIsCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(links(), 1, 200).Draw(t, "links")
		var wrote int64
		for _, s := range all {
			wrote += s.Count()
		}
		cut := rapid.IntRange(0, len(all)).Draw(t, "cut")
		var whole, one, other Memory
		for i, s := range all {
			whole.Learn(s)
			if i < cut {
				one.Learn(s)
			} else {
				other.Learn(s)
			}
		}
		one.LearnAll(&other)
		for name, m := range map[string]*Memory{"one after the other": &whole, "two chains united": &one} {
			checkChain(t, name, m, wrote)
		}
		if cut > 0 && !whole.Sources[0].Equal(all[0]) {
			t.Fatalf("the first link is %v, want %v", whole.Sources[0], all[0])
		}
	})
}

func checkChain(t *rapid.T, name string, m *Memory, wrote int64) {
	if int64(m.Learned()) != wrote || len(m.Sources) > MaxSources {
		t.Fatalf("%s: %d links count %d writes of %d", name, len(m.Sources), m.Learned(), wrote)
	}
	for i, s := range m.Sources {
		if i > 1 && s.At.Before(m.Sources[i-1].At) {
			t.Fatalf("%s: link %d is before the one in front of it", name, i)
		}
		for _, other := range m.Sources[:i] {
			if s.Equal(other) {
				t.Fatalf("%s: %v is there twice", name, s)
			}
		}
	}
}

func TestALinkIsShort(t *testing.T) {
	raw, err := json.Marshal(byHand(1, 5))
	if want := `{"kind":"user","at":"2026-11-21T01:00:00Z","by":{"via":"cli","uid":1000,"pid":5}}`; err != nil || string(raw) != want {
		t.Errorf("a link is %s, %v; want %s", raw, err, want)
	}
}
