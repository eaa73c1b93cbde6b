package grade

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"emberd/engine"
	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/config"
	"emberd/internal/eval"
	"emberd/op"
	"emberd/stm"
)

// workshop is a vault in which every memory that asks something has a note that says its
// words more often, and settings that rank notes above memories.
func workshop(t *testing.T) (*engine.Engine, *config.Config) {
	t.Helper()
	home := t.TempDir()
	file := filepath.Join(home, "config.yaml")
	text := "# mine\nsearch:\n  ltm_weight: 1.2 # notes first\nvaults: [" + filepath.Join(home, "vault") + "]\n"
	write(t, file, text)
	var saves op.SaveBatchRequest
	for i := range 60 {
		tool := fmt.Sprintf("plane%c%c", 'a'+i/26, 'a'+i%26)
		saves.Items = append(saves.Items, op.SaveRequest{Content: "Where did Ines leave the " + tool +
			"?\nAsk her on Monday, before the others come in."})
		write(t, filepath.Join(home, "vault", tool+".md"),
			fmt.Sprintf("---\naliases: [nick%s]\n---\nInes did leave the %s. The %s of Ines: leave it.\n", tool, tool,
				tool))
	}
	c, err := config.Load(config.Source{Home: home, UserHome: home})
	if err != nil {
		t.Fatal(err)
	}
	o := daemon.EngineOptions(c, slog.New(slog.DiscardHandler))
	o.Durability = stm.None
	e, err := engine.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { err = e.Run(context.Background()) })
	t.Cleanup(func() {
		closed := e.Close()
		if wg.Wait(); err != nil || closed != nil {
			t.Error(err, closed)
		}
	})
	if _, err := op.SaveBatch.Call(t.Context(), e, &saves); err != nil {
		t.Fatal(err)
	}
	for {
		res, err := op.Search.Call(t.Context(), e, &op.SearchRequest{Query: "Ines", Trial: true})
		if err != nil {
			t.Fatal(err)
		}
		if res.Loading == nil && res.Indexing == nil {
			return e, c
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What is chosen by one half and confirmed by the other is proposed, and written where
// the setting stands.
func TestEvalSelfProposesWhatHolds(t *testing.T) {
	t.Parallel()
	e, c := workshop(t)
	var out bytes.Buffer
	s := cli.New()
	s.Stdout.Reset(&out)
	if err := gradeSelf(t.Context(), s, &evalSelfOptions{most: 200, seed: 1, apply: true}, e, c); err != nil {
		t.Fatal(err)
	}
	if err := s.Stdout.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n  search.ltm_weight: 0.4  # now 1.2, ", "config.yaml:3\n",
		"; restart the daemon to apply the changes.\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing from\n%s", want, out.String())
		}
	}
	text, err := os.ReadFile(c.File)
	if err != nil {
		t.Fatal(err)
	}
	if want := "# mine\nsearch:\n  ltm_weight: 0.4 # notes first\nvaults: ["; !strings.HasPrefix(string(text), want) {
		t.Errorf("the config file is\n%swant it to begin\n%s", text, want)
	}
}

// What is set in a stronger place than the file would stay, and is not written.
func TestApplyingWhatIsOverruled(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c, err := config.Load(config.Source{Home: home, UserHome: home, Env: []string{"EMBERD_SEARCH_LTM_WEIGHT=1.2"}})
	if err != nil {
		t.Fatal(err)
	}
	err = applyProposals(cli.New(), c,
		&eval.SelfReport{Proposed: []eval.Proposal{{Setting: "search.ltm_weight", Value: "0.4"}}})
	if err == nil || !strings.Contains(err.Error(),
		"search.ltm_weight is set by EMBERD_SEARCH_LTM_WEIGHT, which overrides the config file; change the value there to 0.4") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(c.File); err == nil {
		t.Error("a config file was made")
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	sure := eval.Difference{Mean: 0.05, Low: 0.01, High: 0.09}
	for _, test := range []struct {
		name  string
		trial eval.SelfTrial
		best  bool
		want  string
	}{
		{"holds", eval.SelfTrial{Chosen: sure, Confirmed: sure}, true, ""},
		{"worse", eval.SelfTrial{Chosen: eval.Difference{Mean: -0.1}, Confirmed: sure}, true, "no better"},
		{"second best", eval.SelfTrial{Chosen: sure, Confirmed: sure}, false, "another value is better"},
		{"little", eval.SelfTrial{Chosen: eval.Difference{Mean: 0.004}, Confirmed: sure}, true, "hardly better"},
		{"not confirmed", eval.SelfTrial{Chosen: sure, Confirmed: eval.Difference{Mean: -0.01, Low: -0.1}}, true,
			"hardly better"},
		{"chance", eval.SelfTrial{Chosen: sure, Confirmed: eval.Difference{Mean: 0.05, Low: -0.01, High: 0.1}}, true,
			"might be chance"},
		{"at the cost of a class", eval.SelfTrial{Chosen: sure, Confirmed: sure, Worst: "link", WorstLoss: 0.02}, true,
			"link texts lose"},
	} {
		if got := verdict(&test.trial, test.best); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// A hit is a memory, a note, or both: then it answers what asked for either.
func TestNamesOf(t *testing.T) {
	t.Parallel()
	m := &op.Memory{}
	m.ID = "m1"
	res := &op.SearchResult{Hits: []op.Hit{
		{Note: &op.Note{Path: "a.md"}}, {Memory: m}, {Memory: m, Note: &op.Note{Path: "b.md", MemoryID: "m1"}},
	}}
	for answer, want := range map[string]string{"a.md": "a.md m1 b.md", "b.md": "a.md m1 b.md", "m1": "a.md m1 m1"} {
		if got := strings.Join(namesOf(res, answer), " "); got != want {
			t.Errorf("asked for %s: got %s, want %s", answer, got, want)
		}
	}
}
