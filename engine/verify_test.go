package engine_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/engine/similar"
	"emberd/memory"
	"emberd/op"
)

func verify(t testing.TB, e *engine.Engine, claim string) *op.VerifyResult {
	t.Helper()
	return do(t, e, op.Verify, &op.VerifyRequest{Claim: claim})
}

func TestVerify(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	port := save(t, e, "The staging database runs on port 5432.").ID
	save(t, e, "Ann prefers green tea in the morning and rooibos at night.")
	for _, c := range []struct {
		claim, status, message string
		matches                int
	}{
		{"the staging database runs on port 5432", op.StatusConfirmed, "This is already known", 1},
		{"The staging database runs on port 5432 since Ann moved it", op.StatusRelated, "Related information exists", 1},
		{"Zeppelins are quixotic", op.StatusNew, "No existing knowledge about this", 0},
		{"The staging database runs on port 5433", op.StatusConflict, "Potential conflict — review recommended", 1},
	} {
		res := verify(t, e, c.claim)
		if res.Status != c.status || res.Message != c.message || len(res.Matches) != c.matches || res.Compared != op.ComparedByWords || res.Loading != nil {
			t.Errorf("%q: got %s %q with %+v", c.claim, res.Status, res.Message, res.Matches)
		}
		if res.Confidence < 0.5 || res.Confidence > 1 {
			t.Errorf("%q: confidence %v", c.claim, res.Confidence)
		}
	}
	c := verify(t, e, "The staging database runs on port 5433").Conflicts
	if len(c) != 1 || c[0].Why != "5433 against 5432" || c[0].Claimed != "5433" || c[0].Known != "5432" || c[0].Newer != "claim" || c[0].Memory.ID != port || c[0].Verdict != op.VerdictConflict {
		t.Fatalf("conflicts %+v", c)
	}
	if want := "emberd save TEXT --supersedes " + port.Short(); c[0].Supersede != want {
		t.Errorf("it suggests %q, want %q", c[0].Supersede, want)
	}
	if n := e.Stm.Len(); n != 2 {
		t.Errorf("there are %d memories", n)
	}
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for _, c := range []struct {
		name string
		req  op.VerifyRequest
		code memory.Code
		says string
	}{
		{"nothing", op.VerifyRequest{Claim: " \n"}, memory.Invalid, "missing claim; pass one statement"},
		{"too much", op.VerifyRequest{Claim: strings.Repeat("x", 4097)}, memory.TooLarge, "too many bytes in the claim: 4097 (limit 4096); verify one statement at a time"},
		{"no text", op.VerifyRequest{Claim: "\xff"}, memory.Invalid, "invalid claim: the text is not UTF-8"},
		{"too many matches", op.VerifyRequest{Claim: "x", Limit: 101}, memory.Invalid, "limit 101 is out of range (1 to 100)"},
		{"a collection that is none", op.VerifyRequest{Claim: "x", Collection: "nothere"}, memory.NotFound, "nothere"},
		{"a project of too many characters", op.VerifyRequest{Claim: "x", Project: strings.Repeat("p", 201)}, memory.TooLarge, "too many characters in project: 201"},
	} {
		t.Run(c.name, func(t *testing.T) { wantCode(t, refused(t, e, op.Verify, &c.req), c.code, c.says) })
	}
}

// One and the same similarity is on either side of each threshold.
func TestVerifyAtTheThresholds(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "The staging database of the kettle project runs on the old machine")
	const claim = "The staging database of the kettle project runs on the machine"
	alike := nearestTo(t, e, claim).All[0].Similarity
	for _, c := range []struct {
		related, confirmed float64
		want               string
	}{
		{0, math.Nextafter(alike, 0), op.StatusConfirmed},
		{0, alike, op.StatusRelated},
		{alike, 1, op.StatusRelated},
		{math.Nextafter(alike, 1), 1, op.StatusNew},
	} {
		e.Opt.Known.Related, e.Opt.Known.Confirmed = c.related, c.confirmed
		if got := verify(t, e, claim).Status; got != c.want {
			t.Errorf("%v alike, related from %v, confirmed above %v: got %s, want %s", alike, c.related, c.confirmed, got, c.want)
		}
	}
}

func TestVerifyWithinAProjectOrCollection(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	const text = "The staging database runs on port 5432."
	do(t, e, op.Save, &op.SaveRequest{Content: text, Project: "kettle", Collection: "k"})
	for _, c := range []struct {
		project, collection, want string
	}{{"", "", op.StatusConfirmed}, {"kettle", "", op.StatusConfirmed}, {"roof", "", op.StatusNew}, {"", "k", op.StatusConfirmed}, {"", "all", op.StatusConfirmed},
		{"", "knowledge", op.StatusNew}} {
		if got := do(t, e, op.Verify, &op.VerifyRequest{Claim: text, Project: c.project, Collection: c.collection}).Status; got != c.want {
			t.Errorf("project %q, collection %q: got %s, want %s", c.project, c.collection, got, c.want)
		}
	}
}

func TestVerifyCountsAccesses(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "The staging database runs on port 5432.")
	do(t, e, op.Verify, &op.VerifyRequest{Claim: m.Content, Track: new(false)})
	if got := look(t, e, m.ID); got.AccessCount != 0 {
		t.Errorf("%d accesses", got.AccessCount)
	}
	verify(t, e, m.Content)
	if got := look(t, e, m.ID); got.AccessCount != 1 || got.UseCount != 0 {
		t.Errorf("%d accesses, %d uses", got.AccessCount, got.UseCount)
	}
}

// While the word index is built the texts are scanned, and the answer says so.
func TestVerifyWhileLoading(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.open(t)
	save(t, e, "The staging database runs on port 5432.")
	ok(t, e.Close())
	ok(t, os.RemoveAll(h.State))
	e = h.open(t)
	if res := verify(t, e, "the staging database runs on port 5432"); res.Status != op.StatusConfirmed || res.Loading == nil || res.Loading.Total != 1 {
		t.Errorf("before the index: %s, loading %v", res.Status, res.Loading)
	}
	e.Storage.BuildIndex(t.Context())
	if res := verify(t, e, "the staging database runs on port 5432"); res.Status != op.StatusConfirmed || res.Loading != nil {
		t.Errorf("after building the index: %s, loading %v", res.Status, res.Loading)
	}
}

// What was written after the day that a claim is about is newer.
func TestWhichIsNewer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		known, claim string
		kind         string
		newer        bool
	}{
		{"The staging database runs on port 5432.", "The staging database runs on port 5433.", "number", true},
		{"The staging database runs on port 5432.", "As of May 2024 the staging database runs on port 5433.", "number", false},
		{"The staging database runs on port 5432.", "As of 2026-03-01 the staging database runs on port 5433.", "number", true},
		{"On 2023-01-04 the staging database ran on port 5432.", "In May 2024 the staging database ran on port 5433.", "number", true},
		{"Since 3 June 2025 the staging database runs on port 5432.", "On 2025/06/02 the staging database ran on port 5433.", "number", false},
		{"We release on 2026-05-02.", "We release on 2026-05-01.", "date", true},
	} {
		e, _ := newEngine(t)
		save(t, e, c.known)
		one := &nearestTo(t, e, c.claim).All[0]
		s := e.Similar.Statement(c.claim, memory.Actor{})
		if got := s.Newer(one, c.known, c.kind); got != c.newer {
			t.Errorf("%q against %q: newer %v", c.claim, c.known, got)
		}
		if got := s.Supersede(one, &op.Conflict{Kind: c.kind, Newer: map[bool]string{true: similar.NewerClaim, false: similar.NewerKnown}[c.newer]}); (got != "") != c.newer {
			t.Errorf("%q against %q: it suggests %q", c.claim, c.known, got)
		}
	}
}

// A note is not a memory, so a text that denies a note supersedes nothing.
func TestADenialOfANoteSupersedesNothing(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	note := &similar.Near{Note: &op.Note{Path: "Boiler.md"}}
	for _, via := range []string{"cli", "http", "mcp"} {
		claim := e.Similar.Statement("The boiler does not run at 60 degrees", memory.Actor{Via: via})
		if got := claim.Supersede(note, &op.Conflict{Kind: "negation", Newer: similar.NewerClaim}); got != "" {
			t.Errorf("by %s it suggests %q", via, got)
		}
	}
}

// That something is not so supersedes only what the same client has said, unless the user says it.
func TestADenialSupersedesOnlyOnesOwnWords(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	mine := memory.Actor{Via: "mcp", UID: 1000, Client: "agent/1.0"}
	if _, err := op.Add.Call(op.WithCaller(t.Context(), mine), e, &op.AddRequest{Content: "The cache is on disk"}); err != nil {
		t.Fatal(err)
	}
	const claim = "The cache is not on disk"
	one := &nearestTo(t, e, claim).All[0]
	other := mine
	other.Client = "other/1.0"
	user := memory.Actor{Via: core.ViaCLI, UID: 1000, Client: "cli/1.0"}
	for by, want := range map[memory.Actor]bool{mine: true, other: false, user: true} {
		if got := e.Similar.Statement(claim, by).Supersede(one, &op.Conflict{Kind: "negation", Newer: similar.NewerClaim}); (got != "") != want {
			t.Errorf("by %s: it suggests %q", by.Client, got)
		}
	}
}

// Notes belong to no project and no collection, so they count for all.
func TestVerifyLooksAtNotes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.write(t, "Databases.md", "# Staging\n\nIt is slow. The staging database runs on port 5432. It is old.\n")
	d.batch([]string{"Databases.md"}, nil)
	do(t, d.Engine, op.Save, &op.SaveRequest{Content: "Tides turn at six", Project: "kettle", Collection: "k"})
	for _, within := range []op.VerifyRequest{{}, {Project: "kettle"}, {Collection: "k"}} {
		for claim, want := range map[string]string{
			"the staging database runs on port 5432": op.StatusConfirmed,
			"The staging database runs on port 5433": op.StatusConflict,
		} {
			req := within
			req.Claim = claim
			res := do(t, d.Engine, op.Verify, &req)
			if res.Status != want || len(res.Matches) != 1 || res.Matches[0].Note == nil || res.Matches[0].Note.Path != "Databases.md" || res.Indexing != nil {
				t.Errorf("%+v: got %s with %+v", req, res.Status, res.Matches)
			}
			if want != op.StatusConflict {
				continue
			}
			if c := res.Conflicts; len(c) != 1 || c[0].Why != "5433 against 5432" || c[0].Note == nil || c[0].Memory != nil || c[0].Supersede != "" {
				t.Errorf("%+v: conflicts %+v", req, c)
			}
		}
	}
	wantCode(t, refused(t, d.Engine, op.Verify, &op.VerifyRequest{Claim: "the staging database runs on port 5432", Collection: "nothere"}), memory.NotFound, "nothere")
	added := do(t, d.Engine, op.Add, &op.AddRequest{Content: "The staging database runs on port 5433", Project: "kettle", Collection: "k"})
	if !added.New || len(added.Conflicts) != 1 || added.Conflicts[0].Note == nil || len(leadingFrom(t, d.Engine, added.Memory.ID)) != 0 {
		t.Errorf("added in a project: conflicts %+v", added.Conflicts)
	}
}

// What does not count like other memories is said to.
func TestVerifySaysWhatAMatchIs(t *testing.T) {
	t.Parallel()
	e, id := promotingHouse(t, nil).faded(t, 45, memory.Archived)
	web := do(t, e, op.Save, &op.SaveRequest{Content: "Zeppelins are quixotic", Provenance: op.Provenance{Origin: "web"}}).Memory
	old := save(t, e, "Ann drinks green tea at breakfast")
	next := do(t, e, op.Save, &op.SaveRequest{Content: "Rooibos is what Ann wants in the morning", Supersedes: []string{string(old.ID)}}).Memory
	for _, c := range []struct{ claim, standing string }{
		{look(t, e, id).Content, "archived, and this is only a summary; to restore the full text, run: emberd rekindle " + id.Short()},
		{web.Content, "unconfirmed text that comes from the web"},
		{old.Content, "superseded by memory " + next.ID.Short()},
		{next.Content, ""},
	} {
		if m := verify(t, e, c.claim).Matches; len(m) == 0 || m[0].Standing != c.standing {
			t.Errorf("%q: got %+v, want %q", c.claim, m, c.standing)
		}
	}
}

// The limit holds for conflicts, too, and what is shown twice was looked at once.
func TestVerifyOfWhatMuchDisagreesWith(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for port := range 8 {
		save(t, e, fmt.Sprintf("The staging database runs on port %d.", 5432+port))
	}
	res := do(t, e, op.Verify, &op.VerifyRequest{Claim: "The staging database runs on port 6000.", Limit: 3})
	if len(res.Matches) != 3 || len(res.Conflicts) != 3 {
		t.Fatalf("%d matches, %d conflicts", len(res.Matches), len(res.Conflicts))
	}
	for row := range e.Stm.Rows() {
		shown := slices.ContainsFunc(res.Conflicts, func(c op.Conflict) bool { return c.Memory.ID == row.ID() })
		if got := look(t, e, row.ID()).AccessCount; got != map[bool]int64{true: 1}[shown] {
			t.Errorf("%q has %d accesses, shown %v", row.Content(), got, shown)
		}
	}
}

// What a claim is answered with was recalled; the claim itself was not.
func TestSavingWhatVerifyRecalled(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "The kettle in the kitchen leaks at its seam since Ann dropped it")
	verify(t, e, m.Content)
	if res := add(t, e, m.Content); res.Echo != nil || res.Reinforced == nil {
		t.Errorf("a claim that was confirmed is an echo: %+v", res)
	}
	if got := verify(t, e, "The kettle in the kitchen leaks at its seam"); len(got.Matches) != 1 || got.Matches[0].Verdict != op.VerdictRelated {
		t.Fatalf("got %+v", got)
	}
	if res := add(t, e, m.Content); res.Echo == nil || res.Echo.Of != m.ID {
		t.Errorf("what was recalled is no echo: %+v", res)
	}
}
