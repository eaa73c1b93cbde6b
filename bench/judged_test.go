package bench

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// question is a query with its judgements: the grade of every relevant document
// by its name in the set.
type question struct {
	text     string
	conv     string // the conversation that it is about, in LoCoMo
	relevant map[string]int
}

// figures are the usual measures of a ranking, means over all questions.
type figures struct{ recall5, recall10, mrr10, ndcg10 float64 }

func (f figures) String() string {
	return fmt.Sprintf("R@5 %.3f  R@10 %.3f  MRR@10 %.3f  nDCG@10 %.3f", f.recall5, f.recall10, f.mrr10, f.ndcg10)
}

// below names the first measure that is worse than in floor, to three decimals.
func (f figures) below(floor figures) (string, bool) {
	for _, m := range []struct {
		name      string
		got, want float64
	}{
		{"R@5", f.recall5, floor.recall5},
		{"R@10", f.recall10, floor.recall10},
		{"MRR@10", f.mrr10, floor.mrr10},
		{"nDCG@10", f.ndcg10, floor.ndcg10},
	} {
		if m.got < m.want-0.0005 {
			return fmt.Sprintf("%s is %.3f, below %.3f", m.name, m.got, m.want), true
		}
	}
	return "", false
}

// evaluate asks every question; search returns names of documents, best first.
func evaluate(questions []question, search func(question) []string) figures {
	var sum figures
	for _, q := range questions {
		one := q.judge(search(q))
		sum.recall5 += one.recall5
		sum.recall10 += one.recall10
		sum.mrr10 += one.mrr10
		sum.ndcg10 += one.ndcg10
	}
	n := float64(len(questions))
	return figures{sum.recall5 / n, sum.recall10 / n, sum.mrr10 / n, sum.ndcg10 / n}
}

// judge measures one ranking. The gain of a document is its grade, discounted by
// log2(rank + 1) (Järvelin and Kekäläinen, 2002, as trec_eval has it).
func (q question) judge(ranking []string) figures {
	var f figures
	for i, doc := range ranking[:min(10, len(ranking))] {
		grade, ok := q.relevant[doc]
		if !ok {
			continue
		}
		share := 1 / float64(len(q.relevant))
		f.recall10 += share
		if i < 5 {
			f.recall5 += share
		}
		if f.mrr10 == 0 {
			f.mrr10 = 1 / float64(i+1)
		}
		f.ndcg10 += float64(grade) / math.Log2(float64(i+2))
	}
	grades := make([]int, 0, len(q.relevant))
	for _, g := range q.relevant {
		grades = append(grades, -g)
	}
	slices.Sort(grades)
	ideal := 0.0
	for i, g := range grades[:min(10, len(grades))] {
		ideal += float64(-g) / math.Log2(float64(i+2))
	}
	f.ndcg10 /= ideal
	return f
}

func TestJudge(t *testing.T) {
	q := question{relevant: map[string]int{"a": 1, "b": 1, "c": 2}}
	for _, test := range []struct {
		name    string
		ranking []string
		want    figures
	}{
		{"nothing found", []string{"x", "y"}, figures{}},
		{"ideal", []string{"c", "a", "b"}, figures{1, 1, 1, 1}},
		{"one, third", []string{"x", "y", "a"}, figures{1. / 3, 1. / 3, 1. / 3, 0.5 / (2 + 1/math.Log2(3) + 0.5)}},
		{"one, sixth", []string{"1", "2", "3", "4", "5", "b"}, figures{0, 1. / 3, 1. / 6, 1 / math.Log2(7) / (2 + 1/math.Log2(3) + 0.5)}},
		{"eleventh", []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "c"}, figures{}},
	} {
		got := q.judge(test.ranking)
		if _, worse := got.below(test.want); worse {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		if _, better := test.want.below(got); better {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
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

// readLines decodes a file of JSON objects, one a line.
func readLines[T any](t *testing.T, name string) []T {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	for d := json.NewDecoder(f); ; {
		var one T
		if err := d.Decode(&one); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatalf("%s: object %d: %v", name, len(all)+1, err)
		}
		all = append(all, one)
	}
}

// readQuestions joins queries.jsonl of a folder with one of its files of
// judgements. Questions without a judgement are left out.
func readQuestions(t *testing.T, dir, judgements string) []question {
	t.Helper()
	relevant := readJudgements(t, filepath.Join(dir, judgements))
	var all []question
	for _, q := range readLines[struct{ ID, Text, Question, Conv string }](t, filepath.Join(dir, "queries.jsonl")) {
		if relevant[q.ID] != nil {
			all = append(all, question{text: q.Text + q.Question, conv: q.Conv, relevant: relevant[q.ID]})
		}
	}
	if len(all) != len(relevant) {
		t.Fatalf("%s: %d of %d judged questions found", dir, len(all), len(relevant))
	}
	return all
}

// readJudgements reads question, document and grade, apart by tabs, under a header.
func readJudgements(t *testing.T, name string) map[string]map[string]int {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.FieldsPerRecord = '\t', 3
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]map[string]int)
	for _, row := range rows[1:] {
		grade, err := strconv.Atoi(row[2])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if all[row[0]] == nil {
			all[row[0]] = make(map[string]int)
		}
		all[row[0]][row[1]] = grade
	}
	return all
}
