package eval

import (
	"fmt"
	"os"
	"path"
	"slices"
	"testing"
)

// fixtures are small sets of our own.
const fixtures = "../../testdata/eval"

func fixture(t *testing.T, name string, u Unit) *Set {
	t.Helper()
	s, err := Read(os.DirFS(path.Join(fixtures, name)), u)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The figures are what bm25_baseline.py, which comes with the judged sets that
// cannot be distributed, prints for these folders.
func TestPlainAgreesWithTheReference(t *testing.T) {
	for _, test := range []struct {
		set      string
		unit     Unit
		file     string
		grouped  bool
		category string
		baseline string
		want     string // questions, R@5, R@10, MRR@10, nDCG@10, hit@5
	}{
		{"talks", Turns, "qrels_audited.tsv", true, "", "plain BM25", "7 0.714 0.714 0.536 0.580 0.714"},
		{"talks", Turns, "qrels_audited.tsv", true, "cause", "plain BM25", "3 0.667 0.667 0.417 0.477 0.667"},
		{"talks", Turns, "qrels_audited.tsv", true, "detail", "plain BM25", "4 0.750 0.750 0.625 0.658 0.750"},
		{"talks", Turns, "qrels_audited.tsv", false, "", "plain BM25", "7 0.714 0.714 0.457 0.521 0.714"},
		{"talks", Turns, "qrels.tsv", true, "", "plain BM25", "7 0.714 0.714 0.643 0.662 0.714"},
		{"talks", Facts, "qrels_facts.tsv", true, "", "plain BM25", "6 0.833 0.833 0.833 0.833 0.833"},
		{"talks", Notes, "qrels_notes.tsv", true, "detail", "plain BM25", "4 0.750 0.750 0.750 0.750 0.750"},
		{"talks", Notes, "qrels_notes.tsv", false, "", "plain BM25", "7 0.857 0.857 0.786 0.804 0.857"},
		{"papers", Docs, "qrels.tsv", false, "", "plain BM25", "6 0.833 0.833 0.833 0.833 0.833"},
		{"manual", Notes, "known_item.jsonl", false, "anchor", "plain BM25", "2 0.500 0.500 0.500 0.500 0.500"},
		{"manual", Notes, "known_item.jsonl", false, "alias", "plain BM25, body", "1 1.000 1.000 1.000 1.000 1.000"},
	} {
		s := fixture(t, test.set, test.unit)
		j := s.Judgements[slices.IndexFunc(s.Judgements, func(j Judgements) bool { return j.File == test.file })]
		b := s.Baselines[slices.IndexFunc(s.Baselines, func(b Baseline) bool { return b.Name == test.baseline })]
		f := j.Measure(s.In(test.category), s.Plain(b, test.grouped))
		got := fmt.Sprintf("%d %.3f %.3f %.3f %.3f %.3f", f.Questions, f.Recall5, f.Recall10, f.MRR10, f.NDCG10, f.Hit5)
		if got != test.want {
			t.Errorf("%s %s %s %s, grouped %v: %s, want %s", test.set, test.unit, test.file, test.category, test.grouped, got, test.want)
		}
	}
}

func TestWords(t *testing.T) {
	for _, test := range []struct {
		text    string
		bigrams bool
		want    []string
	}{
		{"The cats' toys are GLASS, as is a bus.", false, []string{"cat", "toy", "glass", "bus"}},
		{"snake_case and 3rd-gen ÄPFELS", false, []string{"snake", "case", "3rd", "gen", "äpfel"}},
		{"部署 Kubernetes 集群", false, []string{"部署", "kubernete", "集群"}},
		{"配置文件 x 一", true, []string{"配置", "置文", "文件", "一", "x"}},
		{" \n", true, nil},
	} {
		if got := NewBM25(nil, nil, test.bigrams).words(test.text); !slices.Equal(got, test.want) {
			t.Errorf("words of %q, bigrams %v: %q, want %q", test.text, test.bigrams, got, test.want)
		}
	}
}

func TestSearchOrdersEqualTextsAsGiven(t *testing.T) {
	b := NewBM25([]string{"z", "other", "a"}, []string{"red kite", "blue", "red kite"}, false)
	if got, want := b.Search("kite", 10), []string{"z", "a"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if got := b.Search("kite", 1); len(got) != 1 {
		t.Errorf("found %v, want one", got)
	}
	if got := NewBM25(nil, nil, false).Search("kite", 10); len(got) != 0 {
		t.Errorf("found %v among nothing", got)
	}
}
