package engine_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/embedding"
	"emberd/internal/llamawire"
	"emberd/memory"
	"emberd/op"
)

// doomed are the settings of a helper that loads the model and dies of every text, and
// a file with a letter for each time it was started.
func doomed(t testing.TB, model string) (opt embedding.Options, starts string) {
	t.Helper()
	m, err := embedding.Open(embedding.Options{Providers: []string{embedding.Go}, Model: model})
	ok(t, err)
	id, err := m.Ready(t.Context())
	ok(t, err)
	ok(t, m.Close())
	var hello bytes.Buffer
	ok(t, llamawire.Write(&hello, &llamawire.Hello{Protocol: llamawire.Protocol, Version: "doomed",
		Model: &llamawire.Model{SHA256: id.SHA256, Dim: id.Dim, MaxTokens: id.MaxTokens, Pooling: id.Pooling}}))
	dir := t.TempDir()
	starts = filepath.Join(dir, "starts")
	program := fmt.Sprintf("#!/bin/sh\nprintf x >> '%s'\ncat '%s/hello' >&3\nhead -c 4 >/dev/null\nkill -SEGV $$\n", starts, dir)
	for name, content := range map[string][]byte{"hello": hello.Bytes(), "emberd-llama": []byte(program), "libllama.so": nil} {
		ok(t, os.WriteFile(filepath.Join(dir, name), content, 0o700))
	}
	return embedding.Options{Providers: []string{embedding.Llama, embedding.Go}, Model: model,
		Helper: filepath.Join(dir, "emberd-llama"), Engine: dir, Memory: filepath.Join(dir, "engines.json")}, starts
}

func started(t testing.TB, starts string) int {
	t.Helper()
	data, err := os.ReadFile(starts)
	if !os.IsNotExist(err) {
		ok(t, err)
	}
	return len(data)
}

// An engine that crashes over everything takes nothing away: saves and searches go on, the
// vectors that there are stay, the others come from the next provider.
func TestCrashingEngineIsLeftForTheNext(t *testing.T) {
	model := tinyModel(t, 42)
	h := meant(t, newHouse(t), embedding.Options{Providers: []string{embedding.Go}, Model: model})
	h.Options.Meaning.Grade = trusted()
	e := h.running(t)
	for i := range 5 {
		save(t, e, fmt.Sprintf("the harbour has %d piers", i))
	}
	covered(t, e)
	key := e.Semantic.Meaning.Building.Identity.Key()
	ok(t, e.Close())

	opt, starts := doomed(t, model)
	h = meant(t, h, opt)
	h.Options.Meaning.Grade = trusted()
	e = h.running(t)
	until(t, "the vectors serve", func() bool { return e.Semantic.Meaning.ServingRack() != nil })
	var ids []memory.ID
	for i := range 5 {
		ids = append(ids, save(t, e, fmt.Sprintf("the lighthouse has %d lamps", i)).ID)
		if got := do(t, e, op.Search, &op.SearchRequest{Query: "lighthouse lamps"}); len(got.Hits) == 0 {
			t.Errorf("after %d memories a search finds nothing", len(ids))
		}
	}
	got := covered(t, e)
	until(t, "all have their vectors", func() bool { got = covered(t, e); return got.Skipped == 0 })
	const why = "the native runtime crashed 3 times within 1m0s; the last time it ended while embedding a text (SIGSEGV)"
	if got.Made != 5 || got.Meaning.Covered != 10 || got.Meaning.Provider != embedding.Go || got.Model.Provider != embedding.Go || got.Problem != "" {
		t.Errorf("the status is %+v, %+v; want that go made 5 vectors more", got, got.Meaning)
	}
	if len(got.Passed) != 1 || got.Passed[0].Provider != embedding.Llama || !strings.HasPrefix(got.Passed[0].Reason, why) {
		t.Errorf("passed over are %+v; want llama for: %s", got.Passed, why)
	}
	if n := got.Native; n == nil || len(n.Bad) != 1 || n.LastExit != "ended while embedding a text (SIGSEGV)" || n.PID != 0 || n.Version != "doomed" {
		t.Errorf("of the engine it tells %+v", n)
	}
	if s := status(t, e); s.Health != "degraded" || !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.HasPrefix(w, why) }) {
		t.Errorf("status warns of %q", s.Warnings)
	}
	if now := e.Semantic.Meaning.Building.Identity.Key(); now != key || started(t, starts) != 3 {
		t.Errorf("the rack is %s after %d starts, want %s after 3", now, started(t, starts), key)
	}
	wantWholeRack(t, e)

	if got := do(t, e, op.EngineResume, &op.EngineResumeRequest{}); len(got.Native.Bad) != 0 || len(got.Passed) != 0 {
		t.Errorf("resumed, the status is %+v with %+v passed over; want a new beginning", got.Native, got.Passed)
	}
	save(t, e, "tried again")
	save(t, e, "and given up again")
	until(t, "it is given up again", func() bool { return len(engineStatus(t, e).Native.Bad) == 1 })
	until(t, "all have their vectors", func() bool { return covered(t, e).Skipped == 0 })
	if got := started(t, starts); got != 6 {
		t.Errorf("it was started %d times, want 6", got)
	}
	wantWholeRack(t, e)
}
