package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/internal/intent"
	"emberd/memory"
	"emberd/op"
)

// rich opens an engine that enriches what is saved.
func rich(t testing.TB) *engine.Engine {
	t.Helper()
	h := newHouse(t)
	h.Enrich = true
	return h.open(t)
}

func TestSavesGetEntitiesAndStrength(t *testing.T) {
	t.Parallel()
	e := rich(t)
	for name, tt := range map[string]struct {
		req      op.SaveRequest
		entities []string
		found    bool
		strength float64
		applied  bool
	}{
		"the page's example":   {op.SaveRequest{Content: "Use JWT tokens for authentication in all new APIs"}, []string{"jwt", "authentication", "apis"}, true, 1.1996, true},
		"nothing to find, C49": {op.SaveRequest{Content: "plain words only"}, nil, false, 1.0064, true},
		"a marker, C50":        {op.SaveRequest{Content: "This is critical: never commit secrets"}, []string{"secrets"}, true, 1.4752, true},
		"entities given":       {op.SaveRequest{Content: "Use JWT", Entities: []string{"Ada"}}, []string{"Ada"}, false, 1.0628, true},
		"no entities given":    {op.SaveRequest{Content: "Use JWT", Entities: []string{}}, nil, false, 1.0028, true},
		"strength given":       {op.SaveRequest{Content: "Use JWT", Strength: new(1.5)}, []string{"jwt"}, true, 1.5, true},
		"both given":           {op.SaveRequest{Content: "Use JWT", Entities: []string{"Ada"}, Strength: new(2.0)}, []string{"Ada"}, false, 2, false},
		"not wanted":           {op.SaveRequest{Content: "Use JWT", Enrich: new(false)}, nil, false, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			res := do(t, e, op.Save, &tt.req)
			m := res.Memory
			if !slices.Equal(m.Entities, tt.entities) || m.EntitiesFound != tt.found || m.Strength != tt.strength {
				t.Errorf("saved with entities %q, found %t, strength %v; want %q, %t, %v", m.Entities, m.EntitiesFound, m.Strength, tt.entities, tt.found, tt.strength)
			}
			if res.EnrichmentApplied != tt.applied {
				t.Errorf("enrichment_applied = %t, want %t", res.EnrichmentApplied, tt.applied)
			}
			batch := do(t, e, op.SaveBatch, &op.SaveBatchRequest{Items: []op.SaveRequest{tt.req}}).Results[0]
			row, _ := e.Stm.Get(batch.ID)
			if got := row.Entities(); !slices.Equal(got, tt.entities) || batch.EnrichmentApplied != tt.applied {
				t.Errorf("in a batch: entities %q, applied %t", got, batch.EnrichmentApplied)
			}
		})
	}
}

func TestEnrichmentIsASetting(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t) // off
	if res := do(t, e, op.Save, &op.SaveRequest{Content: "Use JWT"}); res.EnrichmentApplied || res.Memory.Entities != nil || res.Memory.Strength != 1 {
		t.Errorf("without it a save gives %+v", res)
	}
	if res := do(t, e, op.Save, &op.SaveRequest{Content: "Use JWT again", Enrich: new(true)}); !res.EnrichmentApplied || !res.Memory.EntitiesFound {
		t.Errorf("a save that asks for it gives %+v", res)
	}
}

func TestTheUsersPhrasesCount(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Enrich = true
	var err error
	if h.Phrases, err = intent.Load("mine.yaml", []byte("importance:\n  critical: [by the beard]\n")); err != nil {
		t.Fatal(err)
	}
	e := h.open(t)
	if got := do(t, e, op.Save, &op.SaveRequest{Content: "by the beard, feed it"}).Memory.Strength; got < 1.4 {
		t.Errorf("strength is %v, want 1.4 and more for a phrase of the user's", got)
	}
}

func TestARepeatedSaveIsAReplayOfTheEnriched(t *testing.T) {
	t.Parallel()
	e := rich(t)
	for _, req := range []op.SaveRequest{
		{Content: "Use JWT for APIs", IdempotencyKey: "k"},
		{Content: "Use JWT for APIs", ID: "0192f3a1-b2c3-7000-8000-0123456789ab"},
	} {
		first := do(t, e, op.Save, &req)
		do(t, e, op.Save, &op.SaveRequest{Content: "other", Entities: []string{"for APIs"}}) // known from here on
		again := do(t, e, op.Save, &req)
		if !again.Replayed || again.Memory.Rev != first.Memory.Rev || !again.EnrichmentApplied {
			t.Errorf("the repetition gave %+v, want the first again, %+v", again, first)
		}
	}
	none := op.SaveRequest{Content: "Use JWT for APIs", IdempotencyKey: "k", Entities: []string{}}
	wantCode(t, refused(t, e, op.Save, &none), memory.Conflict, "another request")
}

func TestKnownNamesAreFoundInAnySpelling(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Enrich = true
	e := h.open(t)
	find := func(text string) []string {
		t.Helper()
		return do(t, e, op.AnalyzeMessage, &op.AnalyzeMessageRequest{Message: text}).SuggestedEntities
	}
	const text = "the kettle whistle and the tea-cosy"
	if got := find(text); slices.Contains(got, "Kettle Whistle") {
		t.Fatalf("found %q in an empty store", got)
	}
	do(t, e, op.Save, &op.SaveRequest{Content: "x", Entities: []string{"Kettle Whistle"}})
	id := do(t, e, op.Save, &op.SaveRequest{Content: "y"}).Memory.ID
	do(t, e, op.Edit, &op.EditRequest{ID: string(id), Entities: &[]string{"Tea Cosy"}})
	want := []string{"Kettle Whistle", "Tea Cosy"}
	if got := find(text); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = h.open(t)
	e.Graph.LearnNames(t.Context())
	if got := find(text); !slices.Equal(got, want) {
		t.Errorf("after a restart found %q, want %q", got, want)
	}
}

func TestNamesOfNotesAreKnown(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, map[string]string{
		"People/Ada Lovelace.md": "---\naliases: [the countess]\n---\nA mathematician.\n",
		"Note of a memory.md":    "---\nmemory-id: 0192f3a1-b2c3-7000-8000-0123456789ab\n---\nx\n",
	})
	e := h.following(t)
	const text = "we met ada lovelace and the countess with a note of a memory"
	want := []string{"Ada Lovelace", "the countess"}
	if got := e.Graph.EntitiesIn(text); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = h.open(t)
	e.Graph.LearnNames(t.Context())
	if got, want := e.Graph.EntitiesIn(text), []string{"Ada Lovelace"}; !slices.Equal(got, want) {
		t.Errorf("after a restart found %q, want %q, the name of the file", got, want)
	}
}

func TestFoundEntitiesCountForNothingInSearches(t *testing.T) {
	t.Parallel()
	e := rich(t)
	found := do(t, e, op.Save, &op.SaveRequest{Content: "Use JWT", Strength: new(1.0)}).Memory
	none := do(t, e, op.Save, &op.SaveRequest{Content: "use jwt", Strength: new(1.0), Entities: []string{}}).Memory
	relevance := func(id memory.ID) float64 {
		t.Helper()
		for _, h := range do(t, e, op.Search, &op.SearchRequest{Query: "jwt", Explain: true, Track: new(false)}).Hits {
			if h.ID == id {
				return h.Explain.Relevance
			}
		}
		t.Fatalf("%s is not found", id)
		return 0
	}
	if a, b := relevance(found.ID), relevance(none.ID); a != b {
		t.Errorf("with found entities the relevance is %v, without %v", a, b)
	}
	given := do(t, e, op.Edit, &op.EditRequest{ID: string(found.ID), Entities: &found.Entities}).Memory
	if a, b := relevance(found.ID), relevance(none.ID); given.EntitiesFound || a <= b {
		t.Errorf("with the same entities given (found %t) the relevance is %v, without %v", given.EntitiesFound, a, b)
	}
}

func TestEntitiesAreFoundAnewInAnEditedText(t *testing.T) {
	t.Parallel()
	e := rich(t)
	id := do(t, e, op.Save, &op.SaveRequest{Content: "Use JWT"}).Memory.ID
	edit := func(req op.EditRequest) op.Memory {
		t.Helper()
		req.ID = string(id)
		return do(t, e, op.Edit, &req).Memory
	}
	if m := edit(op.EditRequest{Content: new("Use OAuth")}); !slices.Equal(m.Entities, []string{"oauth"}) || !m.EntitiesFound {
		t.Errorf("after the edit entities are %q, found %t", m.Entities, m.EntitiesFound)
	}
	if m := edit(op.EditRequest{Content: new("Use Kerberos"), Entities: &[]string{"Ada"}}); !slices.Equal(m.Entities, []string{"Ada"}) || m.EntitiesFound {
		t.Errorf("given ones came out as %q, found %t", m.Entities, m.EntitiesFound)
	}
	if m := edit(op.EditRequest{Content: new("Use LDAP")}); !slices.Equal(m.Entities, []string{"Ada"}) {
		t.Errorf("given ones were replaced by %q", m.Entities)
	}
}

func TestACredentialIsNoEntity(t *testing.T) {
	t.Parallel()
	e := rich(t)
	const key = "AKIAQYLPMN5HFIQR7XYA"
	m := do(t, e, op.Save, &op.SaveRequest{Content: "The key of Velmora Cluster is `" + key + "`", AllowSecret: true}).Memory
	if len(m.Entities) > 0 {
		t.Errorf("entities are %q, want none of a text with a credential", m.Entities)
	}
	clean := do(t, e, op.Save, &op.SaveRequest{Content: "The Velmora Cluster", AllowSecret: true}).Memory
	edited := do(t, e, op.Edit, &op.EditRequest{ID: string(clean.ID), Content: new("The Velmora Cluster has `" + key + "`"), AllowSecret: true}).Memory
	if len(clean.Entities) == 0 || len(edited.Entities) > 0 || edited.EntitiesFound {
		t.Errorf("entities were %q and are %q, found %t", clean.Entities, edited.Entities, edited.EntitiesFound)
	}
}

func TestFoundEntitiesSurviveExportAndImport(t *testing.T) {
	t.Parallel()
	from, to := rich(t), rich(t)
	id := do(t, from, op.Save, &op.SaveRequest{Content: "Use JWT"}).Memory.ID
	plain := do(t, from, op.Save, &op.SaveRequest{Content: "Use OAuth", Enrich: new(false)}).Memory.ID
	do(t, to, op.Import, &op.ImportRequest{Records: do(t, from, op.Export, &op.ExportRequest{}).Records})
	m, bare := do(t, to, op.Show, &op.ShowRequest{ID: string(id)}).Memory, do(t, to, op.Show, &op.ShowRequest{ID: string(plain)}).Memory
	if !m.EntitiesFound || !slices.Equal(m.Entities, []string{"jwt"}) {
		t.Errorf("imported as %q, found %t", m.Entities, m.EntitiesFound)
	}
	if bare.Entities != nil || bare.Strength != 1 {
		t.Errorf("an import enriched: %q, %v", bare.Entities, bare.Strength)
	}
	if got := to.Graph.EntitiesIn("a jwt"); !slices.Equal(got, []string{"jwt"}) {
		t.Errorf("an imported name is not known: %q", got)
	}
}

func TestMessagesAreAnalyzed(t *testing.T) {
	t.Parallel()
	e := rich(t)
	save := do(t, e, op.AnalyzeMessage, &op.AnalyzeMessageRequest{Message: "Remember: I prefer TypeScript over JavaScript for all new projects"})
	if !save.ShouldSave || save.Confidence < intent.SaveAt || save.SuggestedStrength < 1.5 || !slices.Contains(save.SuggestedEntities, "typescript") {
		t.Errorf("the page's example gives %+v", save)
	}
	recall := do(t, e, op.AnalyzeRecall, &op.AnalyzeRecallRequest{Message: "What did I say about TypeScript?"})
	if !recall.ShouldSearch || recall.Confidence != 0.9 || recall.SuggestedQuery != "TypeScript" || !slices.Equal(recall.SuggestedEntities, []string{"typescript"}) {
		t.Errorf("the page's example gives %+v", recall)
	}
	long := strings.Repeat("x", memory.MaxContent+1)
	wantCode(t, refused(t, e, op.AnalyzeMessage, &op.AnalyzeMessageRequest{Message: long}), memory.TooLarge, "too many characters in message: 50001 (limit")
	wantCode(t, refused(t, e, op.AnalyzeRecall, &op.AnalyzeRecallRequest{Message: long}), memory.TooLarge, "too many characters in message: 50001")
}

// A note is for people, who would not know what to make of 1.0656.
func TestAStrengthThatWasFoundIsInNoNote(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	h.Enrich = true
	e := h.following(t)
	m := save(t, e, "Use JWT tokens")
	path := promoteByID(t, e, m.ID).Path
	if note := h.note(t, path); m.Strength == 1 || strings.Contains(note, "strength:") {
		t.Errorf("with strength %v the note is\n%s", m.Strength, note)
	}
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Strength: new(1.2)})
	h.rest(t, e)
	wantProperty(t, h.note(t, path), "strength: 1.2")
	if got := do(t, e, op.Show, &op.ShowRequest{ID: string(m.ID)}); got.Memory.StrengthFound {
		t.Error("a strength that was given counts as found")
	}
}

// What another system leaves out is worked out as for a save; what it gives stays, and no entities are none.
func TestImportsAreEnriched(t *testing.T) {
	t.Parallel()
	e := rich(t)
	for name, tt := range map[string]struct {
		fields   map[string]string
		entities []string
		found    bool
		strength float64
	}{
		"neither":          {nil, []string{"jwt", "authentication", "apis"}, true, 1.1996},
		"entities given":   {map[string]string{"entities": `["Ada"]`}, []string{"Ada"}, false, 1.0796},
		"no entities":      {map[string]string{"entities": `[]`}, nil, false, 1.0196},
		"strength given":   {map[string]string{"strength": "0.7"}, []string{"jwt", "authentication", "apis"}, true, 0.7},
		"both given":       {map[string]string{"entities": `["Ada"]`, "strength": "1"}, []string{"Ada"}, false, 1},
		"what a tool said": {map[string]string{"origin": `"tool"`}, []string{"jwt", "authentication", "apis"}, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			rec := foreign(t, "Use JWT tokens for authentication in all new APIs")
			rec.ID = memory.DeriveID([]byte(name))
			for key, value := range tt.fields {
				rec.Fields[key] = json.RawMessage(value)
			}
			req := &op.ImportRequest{Foreign: true, Again: true, Records: []op.Record{rec}}
			if fate := do(t, e, op.Import, req).Results[0].Fate; fate != op.ImportAdded {
				t.Fatalf("it was %s", fate)
			}
			m := look(t, e, rec.ID).Memory
			if !slices.Equal(m.Entities, tt.entities) || m.EntitiesFound != tt.found || m.Strength != tt.strength {
				t.Errorf("it has entities %q, found %t, strength %v; want %q, %t, %v", m.Entities, m.EntitiesFound, m.Strength,
					tt.entities, tt.found, tt.strength)
			}
		})
	}
}

// An export of emberd comes back as it was, whatever a save would find in it.
func TestExportsAreNotEnriched(t *testing.T) {
	t.Parallel()
	e := rich(t)
	rec := foreign(t, "Use JWT tokens for authentication in all new APIs")
	do(t, e, op.Import, &op.ImportRequest{Records: []op.Record{rec}})
	if m := look(t, e, rec.ID).Memory; len(m.Entities) > 0 || m.StrengthFound {
		t.Errorf("it came in as %+v", m)
	}
}
