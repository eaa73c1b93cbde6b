package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/search"
	"emberd/internal/testutil/dirsnap"
	"emberd/memory"
	"emberd/op"
)

// vaultHouse is a house with a vault of the given notes, by path.
func vaultHouse(t testing.TB, notes map[string]string) *house {
	t.Helper()
	h := newHouse(t)
	dir := filepath.Join(t.TempDir(), "Notes")
	h.Vaults = []string{dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range notes {
		h.write(t, path, text)
	}
	return h
}

func (h *house) write(t testing.TB, path, text string) {
	t.Helper()
	name := filepath.Join(h.Vaults[0], path)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// following opens the engine and runs it until the vault has been read, unasked.
func (h *house) following(t testing.TB) *engine.Engine {
	t.Helper()
	e := h.running(t)
	until(t, "the vault is read", func() bool { return e.Notes.Vault.Complete.Load() })
	return e
}

// adopting is following, and waits until a note that says what a memory says is its note.
func (h *house) adopting(t testing.TB, id memory.ID) *engine.Engine {
	t.Helper()
	h.Pace.Settle, h.Pace.Others = time.Millisecond, time.Millisecond
	e := h.following(t)
	until(t, "the note is the memory's", func() bool { return look(t, e, id).PromotedTo != "" })
	return e
}

// until waits for something that other goroutines bring about.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for tick := time.NewTicker(5 * time.Millisecond); !is(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("a minute and still not: %s", what)
		}
	}
}

// names are what was found: paths of notes, contents of memories.
func names(hits []op.Hit) []string {
	out := []string{}
	for _, h := range hits {
		if h.Tier == op.TierNote {
			out = append(out, h.Note.Path)
		} else {
			out = append(out, h.Content)
		}
	}
	return out
}

func wantNames(t testing.TB, e *engine.Engine, query string, want ...string) {
	t.Helper()
	got := names(searchFor(t, e, query))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("search %q found %q, want %q", query, got, want)
	}
}

func garden() map[string]string {
	return map[string]string{
		"Garden/Tomatoes.md": "---\naliases: [love apples]\ntags: [plants/food]\nstatus: growing\n---\nIntro text.\n\n## Watering\n\nWater deeply in the morning, see [[Soil]].\n",
		"Garden/Soil.md":     "# Soil\n\nCompost feeds the soil. #plants\n",
		"Journal/2024.md":    "---\ncreated: 2024-05-01\n---\nRepotted the tomatoes in the rain.\n",
		"Broken.md":          "---\ntags: [unclosed\n---\nStill searchable pumpkin.\n",
		".obsidian/app.md":   "configuration pumpkin",
	}
}

func TestMemoriesAndNotesAreOneRankedList(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	e := h.following(t)
	save(t, e, "Bought tomatoes at the market", "food")

	wantNames(t, e, "tomatoes", "Garden/Tomatoes.md", "Journal/2024.md", "Bought tomatoes at the market")
	hit := searchFor(t, e, "watering deeply")[0]
	if hit.Note == nil || hit.Note.Path != "Garden/Tomatoes.md" || hit.Note.Line < 7 || !slices.Equal(hit.Note.Heading, []string{"Watering"}) {
		t.Errorf("found %+v, want the section on watering", hit.Note)
	}
	if !strings.Contains(hit.Snippet.Text, "deeply") || len(hit.Snippet.Marks) == 0 {
		t.Errorf("snippet %+v", hit.Snippet)
	}
	if got := names(do(t, e, op.Search, &op.SearchRequest{Query: "tomatoes", Scope: "memories"}).Hits); len(got) != 1 {
		t.Errorf("memories only: %q", got)
	}
	if got := names(do(t, e, op.Search, &op.SearchRequest{Query: "tomatoes", Filter: op.Filter{Project: "x"}}).Hits); len(got) != 0 {
		t.Errorf("notes have no project, but were found: %q", got)
	}
	wantCode(t, refused(t, e, op.Search, &op.SearchRequest{Query: "x", Scope: "everything"}), memory.Invalid, "use all, memories, notes or archive")
}

func TestOperators(t *testing.T) {
	t.Parallel()
	e := vaultHouse(t, garden()).following(t)
	save(t, e, "tomatoes taste of summer", "plants/food")
	save(t, e, "summer tomatoes", "other")
	for query, want := range map[string][]string{
		`tomatoes tag:plants`:         {"Garden/Tomatoes.md", "tomatoes taste of summer"},
		`tomatoes -tag:plants`:        {"Journal/2024.md", "summer tomatoes"},
		`"taste of summer"`:           {"tomatoes taste of summer"},
		`"summer tomatoes"`:           {"summer tomatoes"},
		`tomatoes -summer`:            {"Garden/Tomatoes.md", "Journal/2024.md"},
		`tomatoes -"taste of summer"`: {"Garden/Tomatoes.md", "Journal/2024.md", "summer tomatoes"},
		`tomatoes path:journal/`:      {"Journal/2024.md"},
		`file:soil`:                   {"Garden/Soil.md"},
		`[status:growing]`:            {"Garden/Tomatoes.md"},
		`tomatoes before:2025`:        {"Journal/2024.md"},
		`"love apples"`:               {"Garden/Tomatoes.md"},
		`pumpk`:                       {"Broken.md"},
		`compst`:                      {"Garden/Soil.md"},
		`compst path:Garden/`:         {"Garden/Soil.md"},
		`"feeds compost"`:             {"Garden/Soil.md"}, // no such phrase, but its words
		`!!!`:                         {},
	} {
		wantNames(t, e, query, want...)
	}
	wantCode(t, refused(t, e, op.Search, &op.SearchRequest{Query: "before:soon"}), memory.Invalid, "soon")
}

func TestExplainedRanksOfNotesMultiplyOut(t *testing.T) {
	t.Parallel()
	e := vaultHouse(t, garden()).following(t)
	for _, h := range do(t, e, op.Search, &op.SearchRequest{Query: "tomatoes compost", Explain: true}).Hits {
		sum := 0.0
		for _, term := range h.Explain.Terms {
			sum += term.Score
		}
		if d := sum - h.Explain.Relevance; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: terms sum up to %v, relevance is %v", h.Note.Path, sum, h.Explain.Relevance)
		}
		if got := search.Rank(*h.Explain); got != h.Rank {
			t.Errorf("%s: parts make %v, rank is %v", h.Note.Path, got, h.Rank)
		}
	}
}

func TestTheIndexFollowsTheVault(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	e := h.following(t)
	h.write(t, "Garden/Soil.md", "# Soil\n\nNow about earthworms.\n")
	h.write(t, "New/Deep/Folder/Note.md", "zebraquagga")
	until(t, "the edit is found", func() bool { return len(searchFor(t, e, "earthworms")) == 1 })
	until(t, "the new note is found", func() bool { return len(searchFor(t, e, "zebraquagga")) == 1 })
	wantNames(t, e, "compost")

	if err := os.Rename(filepath.Join(h.Vaults[0], "New"), filepath.Join(h.Vaults[0], "Old")); err != nil {
		t.Fatal(err)
	}
	until(t, "the moved note is found at its new place", func() bool {
		return slices.Equal(names(searchFor(t, e, "zebraquagga")), []string{"Old/Deep/Folder/Note.md"})
	})
	if err := os.Remove(filepath.Join(h.Vaults[0], "Broken.md")); err != nil {
		t.Fatal(err)
	}
	until(t, "the deleted note is gone", func() bool { return len(searchFor(t, e, "pumpkin")) == 0 })
}

func TestAStartReadsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	e := h.following(t)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	h.write(t, "Garden/Soil.md", "# Soil\n\nearthworms\n")
	h.log.Reset()
	again := h.open(t)
	wantNames(t, again, "watering", "Garden/Tomatoes.md") // from the index, before anything is read
	if got := again.Notes.Vault.Indexing(); got == nil || got.Indexed != 4 {
		t.Errorf("before Run: %+v, want 4 notes known", got)
	}
}

func TestAMemoryAndItsNoteAreOneHit(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, nil)
	e := h.open(t)
	m := save(t, e, "The kettle leaks at the seam")
	h.write(t, "Memories/Kettle.md", fmt.Sprintf("---\nmemory-id: %q\n---\nThe kettle leaks at the seam\n", m.ID))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = h.adopting(t, m.ID)
	res := do(t, e, op.Search, &op.SearchRequest{Query: "kettle seam"})
	if len(res.Hits) != 1 || res.Total != 1 || res.Hits[0].Memory == nil || res.Hits[0].Note == nil {
		t.Fatalf("found %d hits of %d: %q", len(res.Hits), res.Total, names(res.Hits))
	}
}

func TestLinksCheckAndOpen(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	h.write(t, "Ideas.md", "See [[Tomatoes]] and [[Nowhere]] and ![[picture.png]].\n")
	e := h.following(t)
	links := do(t, e, op.Links, &op.LinksRequest{Note: "soil"})
	if links.Note != "Garden/Soil.md" || !slices.Equal(links.Incoming, []string{"Garden/Tomatoes.md"}) {
		t.Errorf("links: %+v", links)
	}
	h.write(t, "Later.md", "[[Soil]]\n")
	until(t, "a new link counts", func() bool {
		return len(do(t, e, op.Links, &op.LinksRequest{Note: "Garden/Soil.md"}).Incoming) == 2
	})
	check := do(t, e, op.VaultCheck, &op.VaultCheckRequest{})
	kinds := map[string]string{}
	for _, f := range check.Findings {
		kinds[f.Kind+" "+f.Path] = f.Text
	}
	if check.Broken != 1 || !strings.Contains(kinds["link Ideas.md"], "Nowhere") || kinds["frontmatter Broken.md"] == "" || len(check.Findings) != 2 {
		t.Errorf("check: %d broken, findings %v", check.Broken, kinds)
	}
	open := do(t, e, op.Open, &op.OpenRequest{Ref: "love apples"})
	if open.Path != "Garden/Tomatoes.md" || !strings.Contains(open.URI, "file=Garden%2FTomatoes.md") {
		t.Errorf("open: %+v", open)
	}
	if got := do(t, e, op.Open, &op.OpenRequest{Ref: filepath.Join(h.Vaults[0], "Garden", "Soil.md")}); got.Path != "Garden/Soil.md" {
		t.Errorf("the path of a file leads to %q", got.Path)
	}
	wantCode(t, refused(t, e, op.Open, &op.OpenRequest{Ref: "nope"}), memory.NotFound, "not found; run: emberd search --notes")
	m := save(t, e, "no note yet")
	wantCode(t, refused(t, e, op.Open, &op.OpenRequest{Ref: string(m.ID)}), memory.NotFound, "has no note")
}

func TestWithoutAVault(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	wantCode(t, refused(t, e, op.VaultConfirm, &op.VaultConfirmRequest{}), memory.NotFound, "no vault configured; set vaults: in the config file, or run: emberd serve --vault DIR")
	wantCode(t, refused(t, e, op.VaultCheck, &op.VaultCheckRequest{}), memory.NotFound, "emberd serve --vault")
	wantCode(t, refused(t, e, op.Search, &op.SearchRequest{Query: "x", Scope: "notes"}), memory.Invalid, "no vault configured; set vaults: in the config file, or run: emberd serve --vault DIR")
	h := newHouse(t)
	h.Vaults = []string{filepath.Join(t.TempDir(), "missing")}
	if _, err := engine.Open(h.Options); memory.CodeOf(err) != memory.Unavailable || !strings.Contains(err.Error(), "missing") {
		t.Errorf("open a vault that is not there: %v", err)
	}
}

func TestReadingChangesNothing(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	before := dirsnap.Take(t, h.Vaults[0])
	e := h.following(t)
	searchFor(t, e, "tomatoes")
	do(t, e, op.VaultCheck, &op.VaultCheckRequest{})
	do(t, e, op.Links, &op.LinksRequest{Note: "Soil"})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	before.Compare(t)
}

func TestATotalMayBeALowerBound(t *testing.T) {
	t.Parallel()
	notes := map[string]string{}
	for i := range 120 {
		notes[fmt.Sprintf("n%03d.md", i)] = "harbor wall"
	}
	e := vaultHouse(t, notes).following(t)
	for query, bound := range map[string]bool{`"harbor wall"`: true, "harbor wall": false} {
		got := do(t, e, op.Search, &op.SearchRequest{Query: query, Limit: 3})
		if got.AtLeast != bound || got.Total < 3 || bound == (got.Total == len(notes)) {
			t.Errorf("%s: %d notes, at least %t, want %t", query, got.Total, got.AtLeast, bound)
		}
	}
}
