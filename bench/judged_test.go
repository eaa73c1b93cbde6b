package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"emberd/internal/eval"
	"emberd/op"
)

// judged is one unit of a folder of judged questions.
type judged struct {
	name, dir string
	unit      eval.Unit
}

func judgedSets() []judged {
	return []judged{
		{"LoCoMo turns", "locomo/dev", eval.Turns},
		{"LoCoMo facts", "locomo/dev", eval.Facts},
		{"SciFact", "ir/scifact", eval.Docs},
	}
}

// setsFolder is where the judged sets are, or the end of the test.
func setsFolder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("EMBERD_SETS")
	if dir == "" {
		t.Skip("set EMBERD_SETS to a folder with locomo/dev and ir/scifact to measure search quality")
	}
	return dir
}

func (j judged) read(t *testing.T) *eval.Set {
	t.Helper()
	set, err := eval.Read(os.DirFS(filepath.Join(setsFolder(t), j.dir)), j.unit)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// evaluate asks questions and holds the answers against the first judgements of
// a set; search returns names of documents, best first.
func evaluate(set *eval.Set, questions []eval.Question, search func(eval.Question) []string) eval.Figures {
	run := eval.Run{}
	for _, q := range questions {
		run[q.ID] = search(q)
	}
	return set.Judgements[0].Measure(questions, run)
}

// ask returns the names that the ten best memories have in their set. An access
// does not change a rank, so it need not be counted.
func ask(t *testing.T, inv op.Invoker, query string) []string {
	t.Helper()
	res := call(t, inv, op.Search, &op.SearchRequest{Query: query, Limit: 10, Track: new(bool)})
	names := make([]string, len(res.Hits))
	for i, hit := range res.Hits {
		if err := json.Unmarshal(hit.Meta["ref"], &names[i]); err != nil {
			t.Fatalf("%s has no name of its set: %v", hit.ID, err)
		}
	}
	return names
}

// below names the first measure that is worse than in floor, to three decimals.
func below(got, floor eval.Figures) (string, bool) {
	for _, m := range []struct {
		name      string
		got, want float64
	}{
		{"R@5", got.Recall5, floor.Recall5},
		{"R@10", got.Recall10, floor.Recall10},
		{"MRR@10", got.MRR10, floor.MRR10},
		{"nDCG@10", got.NDCG10, floor.NDCG10},
	} {
		if m.got < m.want-0.0005 {
			return fmt.Sprintf("%s is %.3f, below %.3f", m.name, m.got, m.want), true
		}
	}
	return "", false
}
