package bench

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"emberd/embedding"
	"emberd/internal/bert"
	"emberd/internal/eval"
	"emberd/internal/testutil/llamatest"
	"emberd/internal/testutil/trainedtest"
	"emberd/internal/tinybert"
)

// provider is a way of making vectors.
type provider struct {
	name     string
	by       string                      // what a report calls it
	settings func(t *testing.T) []string // skips the test if what it needs is missing
	trusted  bool                        // whether its weight in rankings has to be more than 0
}

func providers() []provider {
	only := func(name string) []string { return []string{"embedding.providers=" + name} }
	return []provider{
		{"words", embedding.Words, func(*testing.T) []string { return only(embedding.Words) }, true},
		{"static", embedding.Static, func(*testing.T) []string { return only(embedding.Static) }, true},
		{"go, generated weights", embedding.Go, func(t *testing.T) []string {
			return append(only(embedding.Go), "embedding.model="+generatedModel(t))
		}, false},
		{"go, trained", embedding.Go, func(t *testing.T) []string {
			return append(only(embedding.Go), "embedding.model="+trainedModel(t))
		}, true},
		{"llama, trained", embedding.Llama, func(t *testing.T) []string {
			return append(only(embedding.Llama), "embedding.model="+trainedModel(t),
				"embedding.engine="+llamatest.Libraries(t)[0])
		}, true},
		{"http, trained", embedding.HTTP, func(t *testing.T) []string {
			return append(only(embedding.HTTP), "embedding.url=unix://"+serveModel(t, trainedModel(t)))
		}, true},
	}
}

func trainedModel(t *testing.T) string { return trainedtest.File(t, "Q8_0") }

// generatedModel writes a model whose weights know nothing of language.
func generatedModel(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "generated.gguf")
	if err := tinybert.New(tinybert.Tiny()).WriteFile(file); err != nil {
		t.Fatal(err)
	}
	return file
}

// providerSets are what words alone and every provider are measured on, by what they are called.
func providerSets() [][]string {
	return [][]string{
		{"qmd", "small/qmd"},
		{"tasks, links", "vaults/tasks-docs"},
		{"LoCoMo", "locomo/dev"},
		{"SciFact", "ir/scifact"},
		{"nolebase, known", "vaults/nolebase", "--known-items", "--sample", "600"},
	}
}

// TestEvalProviders compares the answers by words alone with those of every provider, in
// rankings with the weight that it has by default.
func TestEvalProviders(t *testing.T) {
	folder, p := setsFolder(t), newProgram(t)
	for _, set := range providerSets() {
		t.Run(set[0], func(t *testing.T) {
			args := append([]string{filepath.Join(folder, set[1])}, set[2:]...)
			if _, err := os.Stat(args[0]); err != nil {
				t.Skipf("a folder of EMBERD_SETS is missing: %v", err)
			}
			words := pooled(t, evalReport(t, p, append(args, "--set", "search.meaning=off")...))
			for _, line := range words {
				t.Logf("%-16s %-21s %v", line.name, "words alone", line.figures)
			}
			for _, by := range providers() {
				t.Run(by.name, func(t *testing.T) { by.compare(t, p, args, words) })
			}
		})
	}
}

// compare fails if any unit of a set loses more than 0.005 of nDCG@10 against words alone, or if
// vectors that are not to be trusted change a figure.
func (by provider) compare(t *testing.T, p *program, args []string, words []pooledLine) {
	args = slices.Concat(args, []string{"--set", "embedding.cpu_share=1"}, flags(by.settings(t)))
	for i, line := range pooled(t, evalReport(t, p, args...)) {
		v, alone := line.vectors, words[i].figures
		t.Logf("%-16s %-21s %v  %d of %d, weight %.2f, %.1f s", line.name, by.name, line.figures, v.Covered, v.Total,
			v.Weight, v.Millis/1000)
		if v.Provider != by.by || (v.Weight > 0) != by.trusted {
			t.Errorf("%s: vectors of %q have the weight %.2f: %s", line.name, v.Provider, v.Weight, v.Without)
		}
		if line.figures.NDCG10 < alone.NDCG10-0.005 {
			t.Errorf("%s: nDCG@10 is %.3f, %.3f by words alone", line.name, line.figures.NDCG10, alone.NDCG10)
		}
		if !by.trusted && line.figures != alone {
			t.Errorf("%s: vectors without weight change %v to %v", line.name, alone, line.figures)
		}
	}
}

func flags(settings []string) []string {
	var all []string
	for _, s := range settings {
		all = append(all, "--set", s)
	}
	return all
}

// pooledLine has the figures of all questions of a unit, everything together.
type pooledLine struct {
	name    string
	figures eval.Figures
	vectors eval.Vectors // zero without any
}

// pooled returns the figures by the first judgements of each unit.
func pooled(t *testing.T, r *eval.Report) []pooledLine {
	t.Helper()
	var lines []pooledLine
	for _, set := range r.Sets {
		i := slices.IndexFunc(set.Results, func(res eval.Result) bool {
			return res.Category == "" && res.Scope == eval.ScopeAll && res.System == "emberd"
		})
		if i < 0 {
			t.Fatalf("%s: nothing was measured", set.Unit)
		}
		line := pooledLine{name: fmt.Sprintf("%s, %d", set.Unit, set.Results[i].Questions), figures: set.Results[i].Figures}
		if set.Vectors != nil {
			line.vectors = *set.Vectors
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		t.Fatal("nothing was measured")
	}
	return lines
}

// serveModel runs a server of embeddings, as OpenAI's protocol has them, on a socket that
// it returns.
func serveModel(t *testing.T, file string) string {
	t.Helper()
	model, err := bert.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "em") // the path of a socket has to be short
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: embeddings(model), ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		for _, err := range []error{server.Close(), model.Close(), os.RemoveAll(dir)} {
			if err != nil {
				t.Error(err)
			}
		}
		<-served
	})
	return filepath.Join(dir, "s")
}

// embeddings answers requests for vectors of a model.
func embeddings(model *bert.Model) http.Handler {
	type item struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := struct {
			Data []item `json:"data"`
		}{make([]item, len(req.Input))}
		for i, text := range req.Input {
			vector, _, err := model.Embed(r.Context(), text)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			answer.Data[i] = item{i, vector}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // a daemon that has hung up says so itself
	})
	return mux
}
