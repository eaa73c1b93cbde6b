package bench

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/embedding"
	"emberd/internal/eval"
)

// learnedModel writes a model whose vectors are learned from the texts of all sets, never
// from their questions.
func learnedModel(t *testing.T) string {
	t.Helper()
	var texts []string
	for _, j := range append(judgedSets(), judged{"notes", "vaults/tasks-docs", eval.Notes}) {
		texts = append(texts, j.read(t).Baselines[0].Texts...)
	}
	for _, vault := range []string{"vaults/nolebase/vault", "small/qmd/docs"} {
		texts = append(texts, markdown(t, filepath.Join(setsFolder(t), vault))...)
	}
	file := filepath.Join(t.TempDir(), "learned.gguf")
	if err := learn(texts, 128).Model().WriteFile(file); err != nil {
		t.Fatal(err)
	}
	return file
}

// markdown are the texts of all notes in a folder.
func markdown(t *testing.T, dir string) []string {
	t.Helper()
	var texts []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		text, err := os.ReadFile(path)
		texts = append(texts, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// What the vectors of a learned model find by themselves, beside plain BM25. With less
// than half of what words find they would be no use in telling how well both go together.
func TestEvalLearnedAlone(t *testing.T) {
	embedder, err := embedding.Open(embedding.Options{Providers: []string{embedding.Go}, Model: learnedModel(t), MaxTokens: 512})
	if err != nil {
		t.Fatal(err)
	}
	defer embedder.Close()
	if _, err := embedder.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	grade, err := embedder.Grade(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("its exam: score %.2f, trust %.2f", grade.Score, grade.Trust())
	for _, j := range judgedSets() {
		set := j.read(t)
		docs := vectorsOf(t, embedder, embedding.Passage, set.Baselines[0].Texts)
		alone := evaluate(set, set.Questions, func(q eval.Question) []string {
			return nearest(set, docs, vectorsOf(t, embedder, embedding.Query, []string{q.Text})[0])
		})
		plain := set.Judgements[0].Measure(set.Questions, set.Plain(set.Baselines[0], false))
		t.Logf("%-12s vectors alone  %v", j.name, alone)
		t.Logf("%-12s plain BM25     %v", j.name, plain)
		if alone.NDCG10 < plain.NDCG10/2 {
			t.Errorf("%s: vectors alone find less than half of what plain BM25 does", j.name)
		}
	}
}

func vectorsOf(t *testing.T, e *embedding.Embedder, p embedding.Purpose, texts []string) [][]float32 {
	t.Helper()
	var all [][]float32
	for part := range slices.Chunk(texts, 64) {
		vectors, err := e.Embed(t.Context(), p, part)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, vectors...)
	}
	return all
}

// nearest are the names of the ten documents with the largest cosines.
func nearest(set *eval.Set, docs [][]float32, q []float32) []string {
	type near struct {
		doc    int
		cosine float32
	}
	all := make([]near, len(docs))
	for i, d := range docs {
		all[i].doc = i
		for k := range min(len(d), len(q)) {
			all[i].cosine += d[k] * q[k]
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(b.cosine, a.cosine) })
	var names []string
	for _, n := range all[:min(10, len(all))] {
		names = append(names, set.Docs[n.doc].Name)
	}
	return names
}
