package engine

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/embedding"
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
		if got := search(t, e, "kettle"); len(got) == 0 {
			t.Fatalf("search %d found nothing", i)
		}
	}
	s, without := e.meaning.senseOf(t.Context(), "anything at all")
	if s != nil || !strings.Contains(without, "in time") {
		t.Errorf("got %v, %q, want no sense since it is late", s, without)
	}
	if got := engineStatus(t, e); got.State != op.EngineWorking || got.Meaning.Covered == got.Meaning.Total {
		t.Errorf("status %+v, %+v", got, got.Meaning)
	}
	if told := e.toldOf(nil, without); told.Without != without || told.Total == 0 {
		t.Errorf("told %+v", told)
	}
	server.answer()
	covered(t, e)
	wantWholeRack(t, e)
	until(t, "the late vector is there", func() bool { s, _ := e.meaning.senseOf(t.Context(), "anything at all"); return s != nil })
}

func TestAServerThatGoesAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	server := newVectorServer(t)
	h := meant(t, newHouse(t), server.options())
	e := h.running(t)
	save(t, e, "the kettle leaks")
	covered(t, e)
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
	if hits := search(t, e, "pot"); len(hits) != 1 {
		t.Errorf("found %v", hits)
	}
}

// Nothing has to change for a query to find that the model did.
func TestAQueryFindsThatTheModelChanged(t *testing.T) {
	t.Parallel()
	server := newVectorServer(t)
	h := meant(t, newHouse(t), server.options())
	e := h.running(t)
	save(t, e, "the kettle leaks")
	covered(t, e)
	server.exchange()
	if s, without := e.meaning.senseOf(t.Context(), "kettle"); s != nil || without == "" {
		t.Errorf("a query gets the sense %v of another model, without %q", s, without)
	}
	until(t, "the new model's vectors serve", func() bool {
		got := engineStatus(t, e)
		return got.State == op.EngineComplete && got.Model.Dim == 96
	})
	if s, without := e.meaning.senseOf(t.Context(), "kettle"); s == nil {
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
	if got := engineStatus(t, e); got.State != op.EngineWaiting || !strings.Contains(got.Problem, "runs another one") || got.Again.IsZero() {
		t.Errorf("state %s, problem %q, again %s", got.State, got.Problem, got.Again)
	}
}

func TestWhyAQueryHasNoVectorIsTold(t *testing.T) {
	t.Parallel()
	server := newVectorServer(t)
	h := meant(t, newHouse(t), server.options())
	e := h.running(t)
	save(t, e, "the kettle leaks")
	covered(t, e)
	server.Close()
	if s, without := e.meaning.senseOf(t.Context(), "kettle"); s != nil || without == "" {
		t.Errorf("got %v, without %q", s, without)
	}
	if got := engineStatus(t, e); got.State != op.EngineComplete || !strings.Contains(got.Problem, "cannot be reached") {
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
	if got := engineStatus(t, e); got.State != op.EngineWaiting || got.Meaning.Without != "the model is examined first" {
		t.Errorf("state %s, without %q", got.State, got.Meaning.Without)
	}
	server.answer()
	until(t, "the exam is taken", func() bool { return engineStatus(t, e).State == op.EngineUnused })
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
		if _, ok := e.meaning.servingRack().vector(id, e.memoryDigest); !ok {
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
	_, err := e.enginePause(t.Context(), &op.EnginePauseRequest{})
	if want := "no vectors are made: search.meaning is off"; err == nil || err.Error() != want {
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

func TestRestFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		took  time.Duration
		share float64
		want  time.Duration
	}{
		{time.Second, 0.5, time.Second},
		{time.Second, 0.25, 3 * time.Second},
		{time.Second, 0.8, 250 * time.Millisecond},
		{time.Second, 1, 0},
		{time.Second, 0, 0},
		{0, 0.5, 0},
	} {
		if got := restFor(c.took, c.share).Round(time.Microsecond); got != c.want {
			t.Errorf("after %s with a share of %v it rests %s, want %s", c.took, c.share, got, c.want)
		}
	}
}

// TestTodo compares what is to be done with a plain map.
func TestTodo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type doc struct {
			at           int
			waits, aside bool
		}
		docs := make(map[string]doc)
		var all todo
		all.clear()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name")
			d, had := docs[name]
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				at := rapid.IntRange(1, 1000).Draw(t, "at")
				all.add(name, time.Unix(int64(at), 0), had && !d.waits)
				docs[name] = doc{at: at, waits: true}
			case 1:
				all.done(name)
				if had {
					docs[name] = doc{at: d.at}
				}
			case 2:
				all.gone(name, had && !d.waits)
				delete(docs, name)
			case 3:
				all.putAside(name)
				if d.waits {
					docs[name] = doc{d.at, true, true}
				}
			}
			newest, left, covered := 0, 0, 0
			for _, d := range docs {
				switch {
				case !d.waits:
					covered++
				case !d.aside:
					left++
					newest = max(newest, d.at)
				}
			}
			if all.left() != left || all.covered != covered || all.total() != len(docs) {
				t.Fatalf("left %d, covered %d of %d; want %d, %d of %d", all.left(), all.covered, all.total(), left, covered, len(docs))
			}
			if first, ok := all.first(); ok != (left > 0) || ok && docs[first].at != newest {
				t.Fatalf("first is %q of %d, %v; want one of %d", first, docs[first].at, ok, newest)
			}
		}
	})
}

func TestRecentQueriesAreBounded(t *testing.T) {
	t.Parallel()
	r, on := newRecentQueries(), new(rack)
	text := func(i int) string { return fmt.Sprint("query ", i) }
	for i := range 2 * keptQueries {
		r.put(on, embedding.Query, text(i), []float32{float32(i)})
		r.get(on, embedding.Query, text(0))
	}
	if len(r.at) != keptQueries || r.order.Len() != keptQueries {
		t.Errorf("%d vectors are kept in a list of %d, want %d", len(r.at), r.order.Len(), keptQueries)
	}
	for i, want := range map[int]bool{0: true, 1: false, 2*keptQueries - 1: true} {
		if v, known := r.get(on, embedding.Query, text(i)); known != want || known && v[0] != float32(i) {
			t.Errorf("query %d is known: %v with %v, want %v", i, known, v, want)
		}
	}
	other := &rack{identity: embedding.Identity{SHA256: "another"}}
	if _, known := r.get(other, embedding.Query, text(0)); known {
		t.Error("a vector of one model is known as that of another")
	}
}
