package engine_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"emberd/embedding"
	"emberd/engine/semantic"
	"emberd/memory"
	"emberd/op"
)

// What says the same in other words is found, and what answers it says so.
func TestVectorsFindWhatSharesNoWord(t *testing.T) {
	t.Parallel()
	e := sensible(t, vaultHouse(t, nil), trusted()).following(t)
	save(t, e, "Ann likes green tea")
	id := save(t, e, "The boiler drips at the joint").ID
	covered(t, e)
	const claim = "kettle leaks seam"
	res := verify(t, e, claim)
	if res.Status != op.StatusRelated || len(res.Matches) != 1 || res.Matches[0].Memory.ID != id ||
		res.Matches[0].Similarity < 0.85 ||
		res.Compared != op.ComparedByVectors || res.Matches[0].Compared != op.ComparedByVectors {
		t.Errorf("got %s, compared by %s: %+v", res.Status, res.Compared, res.Matches)
	}
	quiet := &op.VerifyRequest{Claim: claim, Track: new(bool)}
	res = do(t, e, op.Verify, quiet)
	if again := do(t, e, op.Verify, quiet); inJSON(t, again) != inJSON(t, res) {
		t.Errorf("the second time it is %+v", again)
	}
	if res := verify(t, e, "zeppelins are quixotic"); res.Status != op.StatusNew || len(res.Matches) != 0 ||
		res.Compared != op.ComparedByWords {
		t.Errorf("what nobody knows is %s, compared by %s: %+v", res.Status, res.Compared, res.Matches)
	}
	got := do(t, e, op.Reinforce, &op.ReinforceRequest{Content: claim})
	if !got.Found || got.Memory.ID != id || got.Compared != op.ComparedByVectors {
		t.Errorf("reinforced %+v", got)
	}
	clusters := do(t, e, op.Clusters, &op.ClustersRequest{Threshold: 0.8})
	if clusters.Found != 0 || clusters.Compared != "" {
		t.Errorf("clusters of what has nothing to do with each other: %+v", clusters)
	}
}

func inJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// contradictions are pairs of texts of which models of sentences say that they are one.
func contradictions() [][2]string {
	return [][2]string{
		{"The staging database runs on port 5432", "The staging database runs on port 5433"},
		{"The backup of the ledger runs at night", "The backup of the ledger never runs at night"},
		{"The backup of the ledger runs at night on host Alder",
			"The backup of the ledger runs at night on host Birch"},
		{"The tide turns at 6:00 in the harbour", "The tide turns at 7:00 in the harbour"},
		{"The roof of the shed was painted in May 2023", "The roof of the shed was painted in June 2023"},
		{"Ann likes green tea", "Ann does not like green tea"},
	}
}

// However near two vectors are, what contradicts is neither reinforced nor merged.
func TestVectorsMergeNoContradictions(t *testing.T) {
	t.Parallel()
	model := kitchenConcepts()
	for _, pair := range contradictions() {
		t.Run(pair[1], func(t *testing.T) {
			e := sensible(t, vaultHouse(t, nil), trusted()).following(t)
			known := save(t, e, pair[0]).ID
			covered(t, e)
			s := e.Semantic.Meaning.Claim(t.Context(), pair[1])
			if s == nil {
				t.Fatal("no sense")
			}
			if cosine, ok := s.Cosine(known); !ok || cosine < 0.98 {
				t.Fatalf("their cosine is %v, %v of %v", cosine, ok, model.vector(pair[1])[:2])
			}
			if res := verify(t, e, pair[1]); res.Status == op.StatusConfirmed {
				t.Errorf("verified as %s by %s", res.Status, res.Compared)
			}
			if res := do(t, e, op.Reinforce, &op.ReinforceRequest{Content: pair[1]}); res.Found {
				t.Errorf("it reinforces %+v", res.Memory)
			}
			added := do(t, e, op.Add, &op.AddRequest{Content: pair[1]})
			if !added.New || added.Memory.ID == known {
				t.Fatalf("adding it says %q", added.Message)
			}
			covered(t, e)
			for _, duplicates := range []bool{false, true} {
				res := do(t, e, op.Clusters, &op.ClustersRequest{FindDuplicates: duplicates})
				if res.Found != 0 || len(res.Apart) != 1 || res.Apart[0].Why == "" ||
					res.Apart[0].Compared != op.ComparedByVectors || res.Compared != op.ComparedByVectors {
					t.Errorf("duplicates %v: %+v", duplicates, res)
				}
			}
		})
	}
}

// Two names of one thing may be two things, so add stores what exchanges words.
func TestVectorsAloneDoNotMakeItKnown(t *testing.T) {
	t.Parallel()
	e := sensible(t, vaultHouse(t, nil), trusted()).following(t)
	known := save(t, e, "The boiler drips at the joint").ID
	covered(t, e)
	res := do(t, e, op.Add, &op.AddRequest{Content: "The kettle leaks at the seam"})
	if !res.New || res.Memory.ID == known || res.Compared != op.ComparedByVectors {
		t.Errorf("got %+v", res)
	}
	covered(t, e)
	pairs := do(t, e, op.Clusters, &op.ClustersRequest{FindDuplicates: true})
	if pairs.Found != 1 || pairs.Pairs[0].Similarity < 0.95 || pairs.Pairs[0].Compared != op.ComparedByVectors {
		t.Errorf("duplicates are %+v", pairs)
	}
	groups := do(t, e, op.Clusters, &op.ClustersRequest{})
	if groups.Found != 1 || groups.Clusters[0].Size != 2 || groups.Clusters[0].Compared != op.ComparedByVectors {
		t.Errorf("clusters are %+v", groups)
	}
	merged := do(t, e, op.Consolidate, &op.ConsolidateRequest{ClusterID: groups.Clusters[0].ID})
	if len(merged.Previews) != 1 || merged.Previews[0].MemoryCount != 2 {
		t.Errorf("consolidating it says %+v", merged)
	}
}

// Vectors of a model that failed its exam change nothing at all.
func TestVectorsThatAreNotTrustedChangeNothing(t *testing.T) {
	t.Parallel()
	answers := func(h *house) string {
		e := h.following(t)
		for i, pair := range contradictions() {
			id := memory.ID("01900000-0000-7000-8000-00000000000" + string(rune('1'+i)))
			do(t, e, op.Save, &op.SaveRequest{ID: id, Content: pair[0]})
		}
		if e.Semantic.Meaning != nil {
			covered(t, e)
		}
		var all []any
		for _, pair := range contradictions() {
			all = append(all, do(t, e, op.Verify, &op.VerifyRequest{Claim: pair[1], Track: new(bool)}))
		}
		all = append(all, verify(t, e, "kettle leaks seam"), do(t, e, op.Clusters, &op.ClustersRequest{Threshold: 0.3}),
			do(t, e, op.Clusters, &op.ClustersRequest{FindDuplicates: true, DuplicateThreshold: 0.3}))
		// Revisions name the device, and which model a vector is of is told whatever it is worth.
		return regexp.MustCompile(`"rev":"[^"]*",|"embedding_version":"[^"]*",|,"has_embedding":true`).ReplaceAllString(inJSON(t, all), "")
	}
	notes := map[string]string{"Kitchen.md": "# Kettle\n\nThe boiler drips at the joint.\n"}
	want := answers(vaultHouse(t, notes))
	if got := answers(sensible(t, vaultHouse(t, notes),
		embedding.Calibration{Exam: 2, Score: 0.05, Low: 0.1, High: 0.8})); got != want {
		t.Errorf("with vectors of no worth the answers are\n%s\nwant\n%s", got, want)
	}
}

// What has no vector yet, or is longer than the model reads, is compared by its words.
func TestWithoutAVectorWordsCompare(t *testing.T) {
	t.Parallel()
	h := sensible(t, vaultHouse(t, nil), trusted())
	e := h.following(t)
	save(t, e, "The boiler drips at the joint")
	covered(t, e)
	if err := e.Semantic.Meaning.Pause(true); err != nil {
		t.Fatal(err)
	}
	fresh := save(t, e, "The kettle leaks at the seam").ID
	res := verify(t, e, "kettle leaks at its seam")
	if res.Status != op.StatusConfirmed || res.Matches[0].Memory.ID != fresh || res.Matches[0].Compared != "" ||
		res.Compared != op.ComparedByWords ||
		len(res.Matches) != 2 || res.Matches[1].Compared != op.ComparedByVectors {
		t.Errorf("with one that has no vector yet: %s by %s, %+v", res.Status, res.Compared, res.Matches)
	}
	pairs := do(t, e, op.Clusters, &op.ClustersRequest{FindDuplicates: true, DuplicateThreshold: 0.3})
	if pairs.Found != 0 {
		t.Errorf("they share no word, and are %+v", pairs.Pairs)
	}
	if err := e.Semantic.Meaning.Pause(false); err != nil {
		t.Fatal(err)
	}
	covered(t, e)
	if pairs = do(t, e, op.Clusters, &op.ClustersRequest{FindDuplicates: true}); pairs.Found != 1 {
		t.Errorf("when both have vectors the pairs are %+v", pairs)
	}
	long := strings.Repeat("kettle leaks seam joint ", 400)
	if l := e.Similar.LikeIn(t.Context(), long); l.Sense != nil {
		t.Error("a text that the model does not read to its end is compared by a vector")
	}
}

// Of a longer memory its sentences count by their words, and all of it by its vector.
func TestVectorsOfLongerMemories(t *testing.T) {
	t.Parallel()
	e := sensible(t, vaultHouse(t, nil), embedding.Calibration{Exam: 2, Score: 0.9, Low: 0.1, High: 0.6}).following(t)
	save(t, e, "Ann likes green tea. The tide is in the harbour. The boiler drips at the joint. The roof of the "+
		"shed needs paint.")
	save(t, e, "The seam of the kettle is old. It is the joint of the boiler. The kettle leaks. The boiler drips.")
	covered(t, e)
	res := verify(t, e, "The boiler drips at the joint")
	if len(res.Matches) != 2 {
		t.Fatalf("got %+v", res.Matches)
	}
	if m := res.Matches[0]; m.Text != "The boiler drips at the joint." || m.Similarity != 1 || m.Compared != "" ||
		res.Compared != op.ComparedByWords || res.Status != op.StatusConfirmed {
		t.Errorf("%s by %s: the nearest is %+v", res.Status, res.Compared, m)
	}
	if m := res.Matches[1]; !strings.HasPrefix(m.Text, "The seam") || m.Similarity < 0.85 ||
		m.Compared != op.ComparedByVectors {
		t.Errorf("the other is %+v", m)
	}
}

// An edit leaves no vector of the earlier text to compare by.
func TestTheVectorOfAnEarlierTextDoesNotCount(t *testing.T) {
	t.Parallel()
	e := sensible(t, vaultHouse(t, nil), trusted()).following(t)
	id := save(t, e, "The boiler drips at the joint").ID
	covered(t, e)
	if err := e.Semantic.Meaning.Pause(true); err != nil {
		t.Fatal(err)
	}
	now := "Ann likes green tea"
	do(t, e, op.Edit, &op.EditRequest{ID: string(id), Content: &now})
	if res := verify(t, e, "kettle leaks seam"); len(res.Matches) != 0 {
		t.Errorf("matches of what it said before: %+v", res.Matches)
	}
}

func TestVectorsFindPartsOfNotes(t *testing.T) {
	t.Parallel()
	h := sensible(t, vaultHouse(t, map[string]string{
		"Kitchen.md": "# Kitchen\n\nTea is in the tin.\n\n## Broken\n\nThe boiler drips at the joint\n",
		"Boats.md":   "# Boats\n\nThe tide in the harbour.\n",
	}), trusted())
	e := h.following(t)
	covered(t, e)
	res := verify(t, e, "kettle leaks seam")
	i := slices.IndexFunc(res.Matches, func(m op.Match) bool { return m.Note != nil && m.Note.Path == "Kitchen.md" })
	if len(res.Matches) != 1 || i < 0 || res.Matches[0].Compared != op.ComparedByVectors ||
		!strings.Contains(res.Matches[0].Text, "boiler drips") {
		t.Errorf("got %+v", res.Matches)
	}
}

// What a little trust is enough for is an order, and no decision.
func TestVectorsOfLittleTrustDecideNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		score   float64
		decides bool
	}{{0.3, false}, {0.4, true}} {
		e := sensible(t, vaultHouse(t, nil),
			embedding.Calibration{Exam: 2, Score: c.score, Low: 0.1, High: 0.8}).following(t)
		save(t, e, "The boiler drips at the joint")
		save(t, e, "The kettle leaks at the seam")
		covered(t, e)
		if trust := engineStatus(t, e).Model.Trust; trust <= 0 || trust >= 0.7 {
			t.Fatalf("with a score of %v the trust is %v", c.score, trust)
		}
		if s, without := e.Semantic.Meaning.EmbedQuery(t.Context(), "kettle"); s == nil || s.Weight == 0 {
			t.Errorf("with a score of %v searches have no sense: %s", c.score, without)
		}
		known := verify(t, e, "drips at a boiler joint").Compared == op.ComparedByVectors
		pairs := do(t, e, op.Clusters, &op.ClustersRequest{FindDuplicates: true}).Found == 1
		if known != c.decides || pairs != c.decides {
			t.Errorf("with a score of %v vectors decide what is known: %v, and what is one: %v; want %v", c.score,
				known, pairs, c.decides)
		}
	}
}

// A model that is told queries from passages compares a claim as a passage, which memories are.
func TestClaimsAreComparedAsPassages(t *testing.T) {
	t.Parallel()
	server := newVectorServer(t)
	opt := server.options()
	opt.QueryPrefix, opt.PassagePrefix = "query: ", "passage: "
	h := meant(t, vaultHouse(t, nil), opt)
	h.Options.Meaning.Grade = trusted()
	e := h.following(t)
	save(t, e, "the kettle leaks")
	covered(t, e)
	server.texts()
	const text = "the kettle leaks badly"
	verify(t, e, text)
	searchFor(t, e, text)
	do(t, e, op.Reinforce, &op.ReinforceRequest{Content: text})
	if got, want := server.texts(), []string{"passage: " + text, "query: " + text}; !slices.Equal(got, want) {
		t.Errorf("asked for %q, want %q", got, want)
	}
}

// A part is found again as it was cut when its vector was made.
func TestVectorsFindPartsOfLongNotes(t *testing.T) {
	t.Parallel()
	filling := strings.Repeat("The tide is in the harbour. ", 60)
	h := sensible(t,
		vaultHouse(t, map[string]string{"Long.md": "# Long\n\n" + filling +
			"\n\nThe boiler drips at the joint, says the seam of the kettle.\n\n" + filling}), trusted())
	e := h.following(t)
	covered(t, e)
	s := e.Semantic.Meaning.Claim(t.Context(), "tide harbour")
	found := s.Notes(t.Context(), 1, nil)
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	parts := 0
	doc, _ := s.Rack.Store.Doc(semantic.NoteDoc("Long.md"))
	for _, c := range doc.Chunks {
		if c.Line == 1 {
			continue // its name
		}
		if _, ok := e.Similar.PartOf(t.Context(), s, "Long.md", c.Line); !ok {
			t.Errorf("the part in line %d is not found", c.Line)
		}
		parts++
	}
	if parts < 3 {
		t.Errorf("it has %d parts, want several", parts)
	}
}

// A model may read less than embedding.max_tokens.
func TestNotesAreCutToWhatTheModelReads(t *testing.T) {
	t.Parallel()
	h := meant(t,
		vaultHouse(t, map[string]string{"Long.md": "# Long\n\n" + strings.Repeat("tide harbour memory note. ", 100)}),
		embedding.Options{})
	e := h.following(t)
	covered(t, e)
	rack := e.Semantic.Meaning.ServingRack()
	doc, _ := rack.Store.Doc(semantic.NoteDoc("Long.md"))
	if reads := rack.Identity.MaxTokens; reads >= 256 || rack.MostTokens() != reads || len(doc.Chunks) < 4 {
		t.Errorf("the model reads %d tokens and notes are cut to %d: %d parts", reads, rack.MostTokens(),
			len(doc.Chunks))
	}
}
