package engine_test

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"emberd/embedding"
)

// synonyms are words that mean the same to the server of [withThesaurus].
var synonyms = []string{"car automobile vehicle", "doctor physician medic", "quick fast rapid", "money funds cash",
	"child kid"}

const thesaurusDim = 64

// thesaurus is the vector of a text: a component for each meaning it has a word of, and
// one of the others for any other word.
func thesaurus(text string) []float32 {
	v := make([]float32, thesaurusDim)
	v[thesaurusDim-1] = 0.01 // a text without words has a vector, too
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		h := fnv.New32a()
		h.Write([]byte(word))
		at, weight := len(synonyms)+int(h.Sum32()%uint32(thesaurusDim-len(synonyms))), float32(0.3)
		for i, same := range synonyms {
			if strings.Contains(" "+same+" ", " "+word+" ") {
				at, weight = i, 1
			}
		}
		v[at] += weight
	}
	return v
}

// withThesaurus lets the engines of a house ask a server for vectors that knows synonyms.
// Vectors whose cosine is 0.1 have nothing in common then, and with 0.9 mean the same.
func withThesaurus(t testing.TB, h *house) *house {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Input []string `json:"input"`
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		type item struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var data []item
		for i, text := range req.Input {
			data = append(data, item{i, thesaurus(text)})
		}
		// the client tells what it got
		_ = json.NewEncoder(w).Encode(map[string]any{"model": "thesaurus", "data": data})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	meant(t, h, embedding.Options{Providers: []string{embedding.HTTP}, URL: server.URL})
	h.Options.Meaning.Grade = embedding.Calibration{Exam: 2, Score: 1, Low: 0.1, High: 0.9}
	return h
}
