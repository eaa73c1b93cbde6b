package embedding

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/internal/llamawire"
)

// The vectors of a model file are the same by their key, whoever makes them.
func TestKeyIsThatOfTheGoProvider(t *testing.T) {
	e, _ := supervised(t, scripted(t, life{}), func(o *Options) { o.MaxTokens = 64 })
	other := openModel(t, e.opt.Model, func(o *Options) { o.MaxTokens = 64 })
	if a, b := ready(t, e), ready(t, other); a.Key() != b.Key() || a.Provider == b.Provider {
		t.Errorf("llama makes vectors of %+v, go of %+v; want one key", a, b)
	}
}

// Where the next provider is another model, nobody gets its vectors for those of the first.
func TestAnotherModelTakesOver(t *testing.T) {
	e, _ := supervised(t, scripted(t, life{Hello: segfault}), func(o *Options) { o.Providers = []string{Llama, Words} })
	before := ready(t, e)
	for range 2 {
		if v, err := e.Embed(t.Context(), Query, []string{"harbour"}); !errors.Is(err, ErrChanged) {
			t.Errorf("Embed = %v, %v; want %v", v, err, ErrChanged)
		}
	}
	if after := ready(t, e); after.Provider != Words || after.Key() == before.Key() {
		t.Errorf("the vectors are of %+v", after)
	}
	embedOne(t, e, "harbour")
	if err := e.Retry(t.Context()); !errors.Is(err, ErrChanged) {
		t.Errorf("Retry: %v, want that the first is there again", err)
	}
	if id := ready(t, e); id.Key() != before.Key() {
		t.Errorf("the vectors are of %+v", id)
	}
}

func TestNoEngine(t *testing.T) {
	model := modelFile(t, tiny(42))
	const why = "no runtime installed; emberd model runtime install gets one"
	e := open(t, Options{Providers: []string{Llama, HTTP, Go}, Model: model, NoEngine: why})
	if id := ready(t, e); id.Provider != Go {
		t.Errorf("vectors come from %s, want go", id.Provider)
	}
	if s := e.Status(); len(s.Passed) != 1 || s.Passed[0] != (SkippedProvider{Llama, why}) || s.Native != nil {
		t.Errorf("the status is %+v, want llama passed over for: %s", s, why)
	}
	if _, err := open(t, Options{Providers: []string{Llama}, Model: model,
		NoEngine: why}).Ready(t.Context()); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), why) {
		t.Errorf("Ready: %v", err)
	}
	e = open(t, Options{Providers: []string{Llama, Go}, Model: model})
	if ready(t, e); len(e.Status().Passed) != 0 {
		t.Errorf("where nobody asked for an engine, passed over are %+v", e.Status().Passed)
	}
	e, _ = supervised(t, scripted(t, life{}), withGo, func(o *Options) { o.Engine = filepath.Join(o.Engine, "gone") })
	if ready(t, e); len(e.Status().Passed) != 1 ||
		!strings.Contains(e.Status().Passed[0].Reason, "contains no llama.cpp libraries; run: emberd model runtime list") {
		t.Errorf("of an engine that is gone, passed over are %+v", e.Status().Passed)
	}
}

func TestHelperThatCannotReadTheFile(t *testing.T) {
	helper := scripted(t, life{Failed: llamawire.OfFile}, life{})
	e, _ := supervised(t, helper, withGo)
	if _, err := e.Embed(t.Context(), Query, []string{"harbour"}); !errors.Is(err, ErrAway) ||
		!strings.Contains(err.Error(), "it is a script") {
		t.Errorf("Embed: %v, want that the file is away", err)
	}
	if got := embedOne(t, e, "harbour"); !same(got, scriptedVector("harbour", 32)) {
		t.Error("once it can be read, the vector is not the helper's")
	}
}

func TestModelReplacedUnderAHelper(t *testing.T) {
	helper := scripted(t, life{On: map[string]string{"poison": segfault}})
	e, _ := supervised(t, helper, withGo)
	before := ready(t, e)
	embedOne(t, e, "harbour")
	writeModel(t, e.opt.Model, tiny(2))
	embedOne(t, e, "harbour")
	for range 2 {
		if _, err := e.Embed(t.Context(), Query, []string{"poison"}); !errors.Is(err, ErrChanged) {
			t.Errorf("Embed: %v, want %v", err, ErrChanged)
		}
	}
	if after := ready(t, e); after.Key() == before.Key() || after.Provider != Llama || len(e.Status().Native.Bad) != 0 {
		t.Errorf("the vectors are of %+v", after)
	}
	embedOne(t, e, "harbour")
	reading := scripted(t, life{Hello: otherFile})
	e, _ = supervised(t, reading)
	if _, err := e.Embed(t.Context(), Query, []string{"harbour"}); !errors.Is(err, ErrChanged) {
		t.Errorf("replaced while it is read, Embed: %v, want %v", err, ErrChanged)
	}
}

// What is written into the file that a helper has mapped changes its vectors at once.
func TestModelWrittenUnderAHelper(t *testing.T) {
	helper := scripted(t, life{})
	e, _ := supervised(t, helper)
	before := ready(t, e)
	embedOne(t, e, "harbour")
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(e.opt.Model, past, past); err != nil {
		t.Fatal(err)
	}
	embedOne(t, e, "harbour")
	if s := e.Status().Native; starts(t, helper) != 2 || s.Restarts != 0 || s.LastExit != "" {
		t.Errorf("of the same content, after %d starts the status is %+v; want 2", starts(t, helper), s)
	}
	data, err := os.ReadFile(modelFile(t, tiny(2)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(e.opt.Model, data, 0o600); err != nil { // not in its place
		t.Fatal(err)
	}
	for range 2 {
		if v, err := e.Embed(t.Context(), Query, []string{"harbour"}); !errors.Is(err, ErrChanged) {
			t.Errorf("Embed = %v, %v; want %v", v, err, ErrChanged)
		}
	}
	if after := ready(t, e); after.Key() == before.Key() {
		t.Errorf("the vectors are of %+v", after)
	}
	embedOne(t, e, "harbour")
}

// The vectors that llama made serve on where the settings name no engine any more.
func TestReopenWithoutAnEngine(t *testing.T) {
	e, _ := supervised(t, scripted(t, life{}))
	before := ready(t, e)
	again, err := open(t, Options{Providers: []string{Words}}).Reopen(before)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if id := ready(t, again); id.Key() != before.Key() || id.Provider != Go {
		t.Errorf("reopened, the vectors are of %+v, want the key of %+v by go", id, before)
	}
	embedOne(t, again, "harbour")
}
