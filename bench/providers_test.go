package bench

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"emberd/internal/bert"
	"emberd/internal/eval"
	"emberd/internal/tinybert"
)

// provider is a way of making vectors, by the settings that it takes.
type provider struct {
	name     string
	settings []string
	// forced are vectors that rankings trust by a setting, not by the exam of the model:
	// what they cost is shown, and nothing holds them to anything.
	forced bool
}

// hybridSets are what words alone and every provider are measured on.
func hybridSets() map[string][]string {
	return map[string][]string{
		"LoCoMo":          {"locomo/dev"},
		"SciFact":         {"ir/scifact"},
		"qmd":             {"small/qmd"},
		"tasks, links":    {"vaults/tasks-docs"},
		"nolebase, known": {"vaults/nolebase", "--known-items", "--sample", "600"},
	}
}

// Words alone beside every provider of vectors. With the weight that a model's exam gives
// it no set may lose more than 0.01 of nDCG@10, and generated weights must change nothing
// at all.
func TestEvalProviders(t *testing.T) {
	folder := setsFolder(t)
	p := newProgram(t)
	generated := filepath.Join(t.TempDir(), "generated.gguf")
	if err := tinybert.New(tinybert.Tiny()).WriteFile(generated); err != nil {
		t.Fatal(err)
	}
	learned := learnedModel(t)
	server := "embedding.url=unix://" + serveModel(t, learned)
	providers := []provider{
		{name: "go, generated weights", settings: []string{"embedding.model=" + generated}},
		{name: "go, learned", settings: []string{"embedding.model=" + learned}},
		{name: "http, learned", settings: []string{server}},
		{name: "words", settings: []string{"embedding.providers=words"}},
		{name: "go, learned, trusted 0.25", settings: []string{"embedding.model=" + learned, "search.meaning=0.25"}, forced: true},
		{name: "http, learned, trusted 0.25", settings: []string{server, "search.meaning=0.25"}, forced: true},
	}
	for name, args := range hybridSets() {
		t.Run(name, func(t *testing.T) {
			args := append([]string{filepath.Join(folder, args[0])}, args[1:]...)
			if _, err := os.Stat(args[0]); err != nil {
				t.Skipf("a folder of EMBERD_SETS is missing: %v", err)
			}
			words := pooled(t, evalReport(t, p, args...))
			for _, line := range words {
				t.Logf("%-16s %-27s %v", line.name, "words alone", line.figures)
			}
			for _, by := range providers {
				hybrid := pooled(t, evalReport(t, p, append(args, flags(by.settings)...)...))
				for i, line := range hybrid {
					t.Logf("%-16s %-27s %v  %s", line.name, by.name, line.figures, line.vectors)
					by.hold(t, line, words[i])
				}
			}
		})
	}
}

// hold fails where a provider does more harm than it may.
func (p provider) hold(t *testing.T, got, words pooledLine) {
	t.Helper()
	loss := words.figures.NDCG10 - got.figures.NDCG10
	switch {
	case p.forced:
	case loss > 0.01:
		t.Errorf("%s, %s: nDCG@10 is %.3f, %.3f by words alone", got.name, p.name, got.figures.NDCG10, words.figures.NDCG10)
	case p.name == "go, generated weights" && got.figures != words.figures:
		t.Errorf("%s: generated weights make %v of %v", got.name, got.figures, words.figures)
	}
}

func flags(settings []string) []string {
	var all []string
	for _, s := range settings {
		all = append(all, "--set", s)
	}
	return all
}

// pooledLine are the figures of all questions of a unit, everything together.
type pooledLine struct {
	name    string
	figures eval.Figures
	vectors string
}

// pooled are the figures by the first judgements of each unit.
func pooled(t *testing.T, r *eval.Report) []pooledLine {
	t.Helper()
	var lines []pooledLine
	for _, set := range r.Sets {
		for _, res := range set.Results {
			if res.Category == "" && res.Scope == eval.ScopeAll && res.System == "emberd" {
				line := pooledLine{name: fmt.Sprintf("%s, %d", set.Unit, res.Questions), figures: res.Figures}
				if v := set.Vectors; v != nil {
					line.vectors = fmt.Sprintf("%s %d of %d, weight %.2f, %.1f s", v.Provider, v.Covered, v.Total, v.Weight, v.Millis/1000)
				}
				lines = append(lines, line)
				break
			}
		}
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
