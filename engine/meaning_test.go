package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"emberd/embedding"
	"emberd/memory"
)

// meant is a house whose engines make vectors of what they hold.
func meant(t testing.TB, h *house, opt embedding.Options) *house {
	t.Helper()
	if opt.Providers == nil {
		opt.Providers = []string{embedding.Words}
	}
	m, err := embedding.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	h.Options.Meaning = Meaning{Embedder: m, Weight: 1, Wait: time.Minute, Share: 1}
	return h
}

// covered waits until everything has its vectors.
func covered(t testing.TB, e *Engine) {
	t.Helper()
	until(t, "everything has vectors", func() bool {
		m := e.meaning
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.filling != nil && m.news.begun && !m.news.all && len(m.news.memories)+len(m.news.notes) == 0 && m.todo.left() == 0
	})
}

func TestSense(t *testing.T) {
	h := meant(t, vaultHouse(t, garden()), embedding.Options{})
	e := h.following(t)
	for i := range 20 {
		save(t, e, fmt.Sprintf("filler number %d about nothing", i))
	}
	id := save(t, e, "the staging server restarts on Tuesdays").ID
	covered(t, e)
	s := e.meaning.sense(t.Context(), "staging servers restart")
	if s == nil {
		t.Fatal("got no sense")
	}
	near := s.memories(t.Context(), 3, nil)
	if len(near) != 3 || near[0].id != id {
		t.Errorf("nearest are %v, want 3, first %s", near, id)
	}
	cosine, ok := s.cosine(id)
	if !ok || cosine < near[0].cosine-0.001 || cosine > near[0].cosine+0.001 {
		t.Errorf("its cosine is %v, %v, want %v", cosine, ok, near[0].cosine)
	}
	if got := s.memories(t.Context(), 3, func(m memory.ID) bool { return m != id }); len(got) == 0 || got[0].id == id {
		t.Errorf("without it nearest are %v", got)
	}
	notes := s.notes(t.Context(), 2, nil)
	if len(notes) == 0 || !strings.HasSuffix(notes[0].path, ".md") || notes[0].line < 1 {
		t.Errorf("nearest notes are %v", notes)
	}
	if told := e.meaning.told(); told.Covered != told.Total || told.Total < 21 || told.Provider != embedding.Words {
		t.Errorf("told %+v", told)
	}
}
