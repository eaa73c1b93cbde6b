package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/learn"
	"emberd/memory"
	"emberd/op"
)

func TestObservedUseReinforces(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	far := do(t, e, op.Save, &op.SaveRequest{Content: "use JWT", Tags: []string{"security", "jwt", "preferences"}}).Memory.ID
	near := do(t, e, op.Save, &op.SaveRequest{Content: "version the API", Tags: []string{"api", "backend", "style"}}).Memory.ID
	clock.advance(48 * time.Hour)
	res := do(t, e, op.Observe, &op.ObserveRequest{IDs: []string{string(far), near.Short(), "mem-789", string(far)}, Tags: []string{"API", "authentication", "backend"}})
	want := []op.Observed{
		{ID: string(far), Status: "reinforced", CrossDomain: true, UseCount: 1, ReviewCount: 1, Strength: 1.1},
		{ID: string(near), Status: "reinforced", UseCount: 1, ReviewCount: 1, Strength: 1},
		{ID: "mem-789", Status: "not_found"},
	}
	if !res.Reinforced || res.Count != 2 || res.CrossDomain != 1 || res.Reason != "" || !slices.Equal(res.Results, want) {
		t.Errorf("it answers %+v, want %+v", res, want)
	}
	m := do(t, e, op.Show, &op.ShowRequest{ID: string(far), Track: new(false)}).Memory
	if now := clock.Now(); !m.LastReviewAt.Equal(now) || !m.LastUsed.Equal(now) || m.CrossDomainCount != 1 || m.ReviewCount != 1 {
		t.Errorf("the memory is %+v", m.Memory)
	}
	entries := do(t, e, op.Journal, &op.JournalRequest{}).Entries
	if entries[0].Tx != res.Tx || entries[0].Verb != learn.ObserveVerb || entries[0].IDs != 2 {
		t.Errorf("the newest entry is %+v, want one of two memories", entries[0])
	}
	do(t, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
	m = do(t, e, op.Show, &op.ShowRequest{ID: string(far), Track: new(false)}).Memory
	if m.Strength != 1 || m.ReviewCount != 0 || m.CrossDomainCount != 0 || m.UseCount != 1 {
		t.Errorf("undone, the memory has strength %v, %d reviews, %d in other domains, %d uses; want 1, 0, 0 and the use", m.Strength, m.ReviewCount, m.CrossDomainCount, m.UseCount)
	}
}

func TestDomainsC38ToC43(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tags, context []string
		cross         bool
	}{
		"C38 nothing shared":    {[]string{"security", "jwt", "preferences"}, []string{"api", "authentication", "backend"}, true},
		"C39 one of six":        {[]string{"a", "b", "c"}, []string{"a", "d", "e", "f"}, true},
		"C40 two of four":       {[]string{"a", "b", "c"}, []string{"a", "b", "d"}, false},
		"C42 no tags":           {nil, []string{"a"}, false},
		"C42 no context":        {[]string{"a"}, nil, false},
		"C43 folded, see above": {[]string{"api"}, []string{"API"}, false},
	} {
		e, _ := newEngine(t)
		id := do(t, e, op.Save, &op.SaveRequest{Content: "x", Tags: tt.tags, Strength: new(1.95)}).Memory.ID
		strength := 1.95
		if tt.cross {
			strength = 2 // the most there is
		}
		for range 2 {
			got := do(t, e, op.Observe, &op.ObserveRequest{IDs: []string{string(id)}, Tags: tt.context}).Results[0]
			if got.CrossDomain != tt.cross || got.Strength != strength {
				t.Errorf("%s: %+v, want cross-domain %t and strength %v", name, got, tt.cross, strength)
			}
		}
	}
}

func TestObserveIsBounded(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	ids := strings.Split(strings.Repeat("mem-1 ", memory.MaxIDs), " ")
	wantCode(t, refused(t, e, op.Observe, &op.ObserveRequest{IDs: ids}), memory.TooLarge, "too many IDs: ")
	if got := do(t, e, op.Observe, &op.ObserveRequest{IDs: ids[:100]}); got.Reinforced || len(got.Results) != 1 || got.Tx != "" {
		t.Errorf("a hundred times nothing gives %+v", got)
	}
	wantCode(t, refused(t, e, op.Observe, &op.ObserveRequest{}), memory.Invalid, "missing ids; pass the memories that were used")
	tags := strings.Split("t"+strings.Repeat(" t", memory.MaxTags), " ")
	wantCode(t, refused(t, e, op.Observe, &op.ObserveRequest{IDs: ids[:1], Tags: tags}), memory.TooLarge, "too many tags: 51 (limit 50)")
	one, two := saveAs(t, e, "0192f3a1-b2c3-7000-8000-0123456789ab"), saveAs(t, e, "0192f3a1-b2c3-7000-8000-0123456789cd")
	wantCode(t, refused(t, e, op.Observe, &op.ObserveRequest{IDs: []string{one, two, "0192f3a1"}}), memory.Ambiguous, "several memory IDs match")
	if got := do(t, e, op.Show, &op.ShowRequest{ID: one, Track: new(false)}).Memory; got.UseCount != 0 {
		t.Errorf("a refused request counted %d uses", got.UseCount)
	}
}

func saveAs(t *testing.T, e *engine.Engine, id memory.ID) string {
	t.Helper()
	return string(do(t, e, op.Save, &op.SaveRequest{ID: id, Content: "memory " + string(id)}).Memory.ID)
}

func TestObservingCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Reinforce = false
	e := h.open(t)
	id := save(t, e, "x").ID
	res := do(t, e, op.Observe, &op.ObserveRequest{IDs: []string{string(id)}})
	if res.Reinforced || res.Count != 0 || res.Reason != "auto_reinforce is disabled in config" || res.Results != nil {
		t.Errorf("it answers %+v", res)
	}
	if m := do(t, e, op.Show, &op.ShowRequest{ID: string(id), Track: new(false)}).Memory; m.UseCount != 0 || m.ReviewCount != 0 {
		t.Errorf("and counts %d uses and %d reviews", m.UseCount, m.ReviewCount)
	}
}

// The strength of a promoted memory is that of its note.
func TestObservingStrengthensTheNoteToo(t *testing.T) {
	t.Parallel()
	h, e, m := promotedHouse(t, "the tide turns at six", "sea")
	path := m.PromotedTo
	observe := func() op.Observed {
		t.Helper()
		return do(t, e, op.Observe, &op.ObserveRequest{IDs: []string{string(m.ID)}, Tags: []string{"cooking"}}).Results[0]
	}
	if got := observe(); got.Strength != 1.1 || !got.CrossDomain {
		t.Errorf("it answers %+v", got)
	}
	h.rest(t, e)
	wantProperty(t, h.note(t, path), "strength: 1.1")

	// What the user writes meanwhile wins; the use counts all the same.
	name := filepath.Join(h.Vaults[0], path)
	if err := os.WriteFile(name, []byte(strings.Replace(h.note(t, path), "strength: 1.1", "strength: 1.4", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := observe(); got.Status != op.ObservedReinforced || got.UseCount != 2 || got.ReviewCount != 2 {
		t.Errorf("while the user edits the note it answers %+v", got)
	}
	h.rest(t, e)
	wantProperty(t, h.note(t, path), "strength: 1.4")
	synced(t, e, m.ID, func(m *memory.Memory) bool { return m.Strength == 1.4 })
}

func TestObservingLeavesAColdMemoryCold(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	e := h.following(t)
	id := h.saved(t, e, 40, tides)
	do(t, e, op.Archive, &op.ArchiveRequest{ID: string(id)})
	got := do(t, e, op.Observe, &op.ObserveRequest{IDs: []string{string(id)}}).Results[0]
	if got.Status != op.ObservedReinforced || got.UseCount != 1 || got.Stage != memory.Archived {
		t.Errorf("it answers %+v", got)
	}
	e.Lifecycle.ActivateUsed(t.Context())
	wantStage(t, e, id, memory.Archived)
}
