package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"emberd/embedding"
	"emberd/engine"
	"emberd/engine/semantic"
	"emberd/op"
)

// vectorServer is a server of embeddings that spells out texts: near is what has the same
// letters. It remembers what it was asked for, and hangs while it is told to.
type vectorServer struct {
	*httptest.Server
	mu     sync.Mutex // guards what follows
	asked  []string
	paused chan struct{} // nil while it answers
	more   int           // numbers a vector has beside its 64
}

func newVectorServer(t testing.TB) *vectorServer {
	s := new(vectorServer)
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.answer()
		s.Close()
	})
	return s
}

func (s *vectorServer) options() embedding.Options {
	return embedding.Options{Providers: []string{embedding.HTTP}, URL: s.URL, URLModel: "letters"}
}

// hang has it answer nothing until answer.
func (s *vectorServer) hang() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = make(chan struct{})
}

func (s *vectorServer) answer() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paused != nil {
		close(s.paused)
	}
	s.paused = nil
}

// exchange has it run another model from now on.
func (s *vectorServer) exchange() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more += 32
}

// texts are those that were asked for since the last time.
func (s *vectorServer) texts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

func (s *vectorServer) serve(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	paused, dim := s.paused, 64+s.more
	s.asked = append(s.asked, req.Input...)
	s.mu.Unlock()
	if paused != nil {
		select {
		case <-paused:
		case <-r.Context().Done():
			return
		}
	}
	type item struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var out struct {
		Data []item `json:"data"`
	}
	for i, text := range req.Input {
		v := make([]float32, dim)
		v[0] = 0.1
		for word := range strings.FieldsSeq(strings.ToLower(text)) {
			h := fnv.New32a()
			h.Write([]byte(word))
			v[1+h.Sum32()%uint32(dim-1)]++
		}
		out.Data = append(out.Data, item{i, v})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}

func TestAServerThatHangsHoldsNothingUp(t *testing.T) {
	t.Parallel()
	server := newVectorServer(t)
	h := meant(t, vaultHouse(t, garden()), server.options())
	h.Options.Meaning.Wait = time.Millisecond
	e := h.following(t)
	save(t, e, "the kettle leaks")
	covered(t, e)
	server.hang()
	for i := range 20 {
		save(t, e, fmt.Sprintf("kettle number %d", i))
		if got := searchFor(t, e, "kettle"); len(got) == 0 {
			t.Fatalf("search %d found nothing", i)
		}
	}
	s, without := e.Semantic.Meaning.EmbedQuery(t.Context(), "anything at all")
	if s != nil || !strings.Contains(without, "in time") {
		t.Errorf("got %v, %q, want no sense since it is late", s, without)
	}
	if got := engineStatus(t, e); got.State != op.EngineWorking || got.Meaning.Covered == got.Meaning.Total {
		t.Errorf("status %+v, %+v", got, got.Meaning)
	}
	if told := e.Semantic.ToldOf(nil, without); told.Without != without || told.Total == 0 {
		t.Errorf("told %+v", told)
	}
	server.answer()
	covered(t, e)
	wantWholeRack(t, e)
	until(t, "the late vector is there", func() bool { s, _ := e.Semantic.Meaning.EmbedQuery(t.Context(), "anything at all"); return s != nil })
}

func TestAServerThatGoesAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	server, h, e := coveredByServer(t)
	ok(t, e.Close())
	server.Close()
	h = meant(t, h, server.options())
	e = h.running(t)
	save(t, e, "the pot shines")
	until(t, "it is told", func() bool { return engineStatus(t, e).Problem != "" })
	got := engineStatus(t, e)
	if got.State != op.EngineWaiting || got.Again.IsZero() || status(t, e).Health != "degraded" {
		t.Errorf("state %s, again %s, health %s", got.State, got.Again, status(t, e).Health)
	}
	if hits := searchFor(t, e, "pot"); len(hits) != 1 {
		t.Errorf("found %v", hits)
	}
}

// coveredByServer is an engine with one memory, whose embedding a server has made.
func coveredByServer(t *testing.T) (*vectorServer, *house, *engine.Engine) {
	t.Helper()
	server := newVectorServer(t)
	h := meant(t, newHouse(t), server.options())
	e := h.running(t)
	save(t, e, "the kettle leaks")
	covered(t, e)
	return server, h, e
}

// Nothing has to change for a query to find that the model did.
func TestAQueryFindsThatTheModelChanged(t *testing.T) {
	t.Parallel()
	server, _, e := coveredByServer(t)
	server.exchange()
	if s, without := e.Semantic.Meaning.EmbedQuery(t.Context(), "kettle"); s != nil || without == "" {
		t.Errorf("a query gets the sense %v of another model, without %q", s, without)
	}
	until(t, "the new model's vectors serve", func() bool {
		got := engineStatus(t, e)
		return got.State == op.EngineComplete && got.Model.Dim == 96
	})
	if s, without := e.Semantic.Meaning.EmbedQuery(t.Context(), "kettle"); s == nil {
		t.Errorf("no sense of the new model: %s", without)
	}
}

func TestAServerWithAnotherModelEachTimeIsNotAskedWithoutEnd(t *testing.T) {
	t.Parallel()
	server := newVectorServer(t)
	h := meant(t, newHouse(t), server.options())
	inner := server.Config.Handler
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server.exchange()
		inner.ServeHTTP(w, r)
	})
	e := h.running(t)
	save(t, e, "the kettle leaks")
	until(t, "it is left alone", func() bool { return engineStatus(t, e).Problem != "" })
	if got := engineStatus(t, e); got.State != op.EngineWaiting || !strings.Contains(got.Problem, "now runs another model under the name") || got.Again.IsZero() {
		t.Errorf("state %s, problem %q, again %s", got.State, got.Problem, got.Again)
	}
}

func TestWhyAQueryHasNoVectorIsTold(t *testing.T) {
	t.Parallel()
	server, _, e := coveredByServer(t)
	server.Close()
	if s, without := e.Semantic.Meaning.EmbedQuery(t.Context(), "kettle"); s != nil || without == "" {
		t.Errorf("got %v, without %q", s, without)
	}
	if got := engineStatus(t, e); got.State != op.EngineComplete || !strings.Contains(got.Problem, "is not available") {
		t.Errorf("state %s, problem %q; want why", got.State, got.Problem)
	}
}

func TestStatusSaysThatAModelIsExamined(t *testing.T) {
	t.Parallel()
	server := newVectorServer(t)
	h := meant(t, newHouse(t), server.options())
	h.Options.Meaning.Weight = -1
	inner := server.Config.Handler
	var asked atomic.Int64
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 2 { // the first sentence, after which model it is
			server.hang()
		}
		inner.ServeHTTP(w, r)
	})
	e := h.running(t)
	save(t, e, "the kettle leaks")
	until(t, "the exam has begun", func() bool { return asked.Load() == 2 })
	if got := engineStatus(t, e); got.State != op.EngineWaiting || got.Meaning.Without != "the model is being "+
		"calibrated" {
		t.Errorf("state %s, without %q", got.State, got.Meaning.Without)
	}
	server.answer()
	until(t, "the exam is taken", func() bool { return engineStatus(t, e).State == op.EngineUnused })
}

// A grade of an earlier version of the exam is stored by its number alone, and the model sits the present one.
func TestAStoredGradeOfAnEarlierExamIsExaminedAgain(t *testing.T) {
	t.Parallel()
	h := meant(t, newHouse(t), embedding.Options{})
	e := h.running(t)
	save(t, e, "the kettle leaks")
	covered(t, e)
	rack := e.Semantic.Meaning.ServingRack()
	stored := filepath.Join(rack.Dir, "*.json")
	files, err := filepath.Glob(stored)
	ok(t, err)
	if len(files) != 1 {
		t.Fatalf("%s are %v", stored, files)
	}
	now := gradeIn(t, files[0])
	ok(t, e.Close())
	data, err := os.ReadFile(files[0])
	ok(t, err)
	earlier := bytes.Replace(data, fmt.Appendf(nil, `"exam":%d`, now.Exam), []byte(`"exam":1`), 1)
	ok(t, os.WriteFile(files[0], earlier, 0o600))
	if got := gradeIn(t, files[0]); got.Current() || !now.Current() {
		t.Fatalf("the stored grade is %+v, before it was %+v", got, now)
	}
	covered(t, h.running(t))
	if got := gradeIn(t, files[0]); got != now {
		t.Errorf("the stored grade is %+v, want %+v", got, now)
	}
}

// gradeIn is the grade in the file of an index.
func gradeIn(t *testing.T, name string) embedding.Calibration {
	t.Helper()
	data, err := os.ReadFile(name)
	ok(t, err)
	var file semantic.VectorIndexFile
	ok(t, json.Unmarshal(data, &file))
	return file.Grade
}

// What was saved counts from when save returns, also while it is looked at.
func TestNothingIsCompleteBeforeItHasItsVectors(t *testing.T) {
	t.Parallel()
	h := meant(t, newHouse(t), embedding.Options{Providers: []string{embedding.Words}})
	e := h.running(t)
	covered(t, e)
	for i := range 200 {
		id := save(t, e, fmt.Sprintf("kettle number %d", i)).ID
		covered(t, e)
		if _, ok := e.Semantic.Meaning.ServingRack().Vector(id, e.Semantic.MemoryDigest); !ok {
			t.Fatalf("everything has its vectors, but memory %d has none", i)
		}
	}
}

func TestWhyThereAreToBeNoVectors(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Options.Meaning.Off = "search.meaning is off"
	e := h.running(t)
	if got := engineStatus(t, e); got.State != op.EngineOff || got.Problem != "search.meaning is off" {
		t.Errorf("state %s, problem %q", got.State, got.Problem)
	}
	_, err := e.Semantic.EnginePause(t.Context(), &op.EnginePauseRequest{})
	if want := "emberd computes no embeddings: search.meaning is off"; err == nil || err.Error() != want {
		t.Errorf("a pause gives %v, want %s", err, want)
	}
}

func TestNewestFirst(t *testing.T) {
	t.Parallel()
	server := newVectorServer(t)
	h := meant(t, vaultHouse(t, nil), server.options())
	e := h.following(t)
	covered(t, e)
	do(t, e, op.EnginePause, &op.EnginePauseRequest{})
	var want []string
	for i := range 5 {
		h.advance(time.Hour)
		text := fmt.Sprintf("memory number %d", i)
		save(t, e, text)
		want = append(want, text)
	}
	until(t, "all of them wait", func() bool {
		got := engineStatus(t, e).Meaning
		return got.Total-got.Covered == len(want)
	})
	server.texts()
	do(t, e, op.EngineResume, &op.EngineResumeRequest{})
	covered(t, e)
	slices.Reverse(want)
	known := func(text string) bool { return !strings.HasPrefix(text, "memory") } // which tells the server's model
	if got := slices.DeleteFunc(server.texts(), known); !slices.Equal(got, want) {
		t.Errorf("vectors were made of %q, want %q", got, want)
	}
}

func TestEveryTextIsSentOnce(t *testing.T) {
	t.Parallel()
	server := newVectorServer(t)
	notes := map[string]string{"A.md": "# One\n\nshared text of two notes\n", "B.md": "# One\n\nshared text of two notes\n"}
	h := meant(t, vaultHouse(t, notes), server.options())
	e := h.following(t)
	for range 3 {
		save(t, e, "the same memory")
	}
	covered(t, e)
	counted := make(map[string]int)
	for _, text := range server.texts() {
		counted[strings.TrimPrefix(strings.TrimPrefix(text, "A\n"), "B\n")]++
	}
	for _, text := range []string{"the same memory", "One\nshared text of two notes", "A", "B"} {
		if counted[text] != 1 {
			t.Errorf("%q was sent %d times, want once", text, counted[text])
		}
	}
}
