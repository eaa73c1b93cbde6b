package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/engine/notes"
	"emberd/engine/search"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/vault/linkindex"
	"emberd/watcher"
)

// An index that fails is built anew behind the searches: they find memories
// meanwhile, say that the notes are being read, and are never refused.
func TestAFailedIndexIsBuiltAnew(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	e := h.following(t)
	save(t, e, "compost at the market")
	index, _ := e.Notes.Vault.Current()
	if err := index.Close(); err != nil {
		t.Fatal(err)
	}
	res := do(t, e, op.Search, &op.SearchRequest{Query: "compost"})
	if got := names(res.Hits); !slices.Equal(got, []string{"compost at the market"}) {
		t.Errorf("without an index %q is found", got)
	}
	h.write(t, "New.md", "zebraquagga")
	until(t, "the new index has the new note", func() bool { return len(searchFor(t, e, "zebraquagga")) == 1 })
	until(t, "and the old ones", func() bool { return h.audit(t, e) == "" })
	wantNames(t, e, "compost", "Garden/Soil.md", "compost at the market")
	if status := e.Notes.Vault.Status(); status.Problem != "" {
		t.Errorf("still a problem: %s", status.Problem)
	}
}

// A rebuild that fails leaves the daemon answering, and is tried again.
func TestARebuildThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	e := h.open(t)
	defer e.Close()
	dir := e.Notes.Vault.IndexDir
	e.Notes.Vault.IndexDir = filepath.Join(h.State, "daemon.lock", "no folder")
	e.Notes.Vault.Rebuild()
	if got := do(t, e, op.Search, &op.SearchRequest{Query: "compost"}); len(got.Hits) != 0 || got.Indexing == nil {
		t.Errorf("without an index: %q, indexing %v", names(got.Hits), got.Indexing)
	}
	do(t, e, op.Status, &op.StatusRequest{})
	err := e.Notes.Vault.Reconcile(t.Context(), watcher.Batch{Gone: []string{"x.md"}})
	if !errors.Is(err, ltm.ErrClosed) {
		t.Errorf("the actor is told %v, want what makes it build anew", err)
	}
	e.Notes.Vault.IndexDir = dir
	e.Notes.Vault.Rebuild()
	if err := e.Notes.Vault.Reconcile(t.Context(), watcher.Batch{Changed: []watcher.File{{Path: "Garden/Soil.md"}}}); err != nil {
		t.Fatal(err)
	}
	wantNames(t, e, "compost", "Garden/Soil.md")
}

// What a batch names and what is on the disk when its turn comes may differ.
func TestNotesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	e := h.open(t)
	defer e.Close()
	batch := func(changed ...string) {
		t.Helper()
		var b watcher.Batch
		for _, path := range changed {
			b.Changed = append(b.Changed, watcher.File{Path: path})
		}
		if err := e.Notes.Vault.Reconcile(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	soil := filepath.Join(h.Vaults[0], "Garden/Soil.md")
	batch("Garden/Soil.md", "gone again.md", "Broken.md")
	wantNames(t, e, "compost", "Garden/Soil.md")

	if err := os.Remove(soil); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", soil); err != nil {
		t.Fatal(err)
	}
	batch("Garden/Soil.md")
	wantNames(t, e, "compost")
	if got := e.Notes.Vault.Status(); got.Skipped != 1 || got.Waiting != 0 {
		t.Errorf("status %+v, want one skipped and none waiting", got)
	}

	// One that failed for no lasting reason is read with the next batch.
	if err := os.Remove(soil); err != nil {
		t.Fatal(err)
	}
	h.write(t, "Garden/Soil.md", "Compost once more.")
	e.Notes.Vault.Remember(notes.Reading{Doc: ltm.Doc{Path: "Garden/Soil.md"}, Unread: notes.Unread{Why: "the disk stuttered", Again: true}})
	batch("Broken.md")
	wantNames(t, e, "compost", "Garden/Soil.md")
	if got := e.Notes.Vault.Status(); got.Skipped != 0 {
		t.Errorf("%d still skipped", got.Skipped)
	}
}

func TestAStopInTheMiddleIsNoEnd(t *testing.T) {
	t.Parallel()
	e := vaultHouse(t, garden()).open(t)
	defer e.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Notes.Vault.Reconcile(ctx, watcher.Batch{Changed: []watcher.File{{Path: "Broken.md"}}}); err == nil {
		t.Error("a batch that was not read counts as delivered")
	}
	if e.Notes.Vault.Complete.Load() {
		t.Error("the first reading counts as complete")
	}
	if got := e.Notes.Vault.Indexing(); got == nil || got.Indexed != 0 || got.Total != 1 {
		t.Errorf("progress %+v, want 0 of 1", got)
	}
}

// Notes of the archive folder can be linked to and opened; searches leave them out.
func TestTheArchiveIsNotSearched(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	h.VaultArchive = "Old [1]/Archive"
	h.write(t, "Old [1]/Archive/Deep/Kettle.md", "The kettle leaks.\n")
	h.write(t, "Old [1]/Kettles.md", "A kettle sings, see [[Kettle]].\n")
	h.write(t, "Old 1/Archive/Teapot.md", "No kettle at all.\n")
	h.write(t, "Sub/Old [1]/Archive/Pot.md", "Another kettle.\n")
	e := h.following(t)
	wantNames(t, e, "kettle", "Old [1]/Kettles.md", "Old 1/Archive/Teapot.md", "Sub/Old [1]/Archive/Pot.md")
	if got := do(t, e, op.Open, &op.OpenRequest{Ref: "Kettle"}); got.Path != "Old [1]/Archive/Deep/Kettle.md" {
		t.Errorf("open leads to %q", got.Path)
	}
	for _, f := range do(t, e, op.VaultCheck, &op.VaultCheckRequest{}).Findings {
		if f.Kind == "link" && strings.Contains(f.Path, "Kettles") {
			t.Errorf("a link into the archive counts as broken: %+v", f)
		}
	}
}

// Of two notes with one memory's id, one is folded and the other stays.
func TestASecondNoteOfAMemoryStaysAHit(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, nil)
	e := h.open(t)
	m := save(t, e, "The kettle leaks at the seam")
	text := "---\nmemory-id: \"" + string(m.ID) + "\"\n---\nThe kettle leaks at the seam\n"
	h.write(t, "Kettle.md", text)
	h.write(t, "Kettle (conflicted copy).md", text+"and at the lid\n")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = h.adopting(t, m.ID)
	res := do(t, e, op.Search, &op.SearchRequest{Query: "kettle seam", Explain: true})
	if len(res.Hits) != 2 || res.Total != 2 {
		t.Fatalf("%d hits of %d: %q", len(res.Hits), res.Total, names(res.Hits))
	}
	one, other := res.Hits[0], res.Hits[1]
	if one.Memory == nil {
		one, other = other, one
	}
	if one.Memory == nil || one.Note == nil || other.Memory != nil || one.Note.Path == other.Note.Path {
		t.Errorf("hits %+v and %+v", one, other)
	}
	for _, h := range res.Hits {
		if got := search.Rank(*h.Explain); got != h.Rank {
			t.Errorf("parts make %v, rank is %v", got, h.Rank)
		}
	}
}

// Links are read while the vault changes.
func TestLinksReadDuringChangesAreWhole(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	fill(t, h.Vaults[0], 200)
	e := h.following(t)
	stop := make(chan struct{})
	written := make(chan int)
	go func() {
		for n := 1; ; n++ { // once at least, however busy the machine is
			path := filepath.Join(h.Vaults[0], "Log.md")
			if err := os.WriteFile(path, []byte("[[Soil]]\n"), 0o600); err != nil {
				t.Error(err)
			}
			select {
			case <-stop:
				written <- n
				return
			default:
			}
		}
	}()
	for range 5 {
		do(t, e, op.Links, &op.LinksRequest{Note: "Soil"})
	}
	close(stop)
	t.Logf("%d writes meanwhile", <-written)
	until(t, "the new link counts", func() bool {
		return slices.Contains(do(t, e, op.Links, &op.LinksRequest{Note: "Soil"}).Incoming, "Log.md")
	})
	h.write(t, "Later.md", "[[Soil]]\n")
	until(t, "and a later one", func() bool {
		return slices.Contains(do(t, e, op.Links, &op.LinksRequest{Note: "Soil"}).Incoming, "Later.md")
	})
}

// What changed between the reading of a note's links and the end of the reading
// of all is read again.
func TestLinksCatchUp(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	e := h.open(t)
	defer e.Close()
	links := linkindex.New()
	n := e.Notes.Vault
	n.Moved = map[string]bool{"Garden/Tomatoes.md": true, "gone.md": true}
	links.Add("gone.md", nil, []string{"Soil"})
	n.Link(t.Context(), links, "Garden/Soil.md")
	for n.Behind(t.Context(), links) {
	}
	if got := links.Backlinks("Garden/Soil.md"); !slices.Equal(got, []string{"Garden/Tomatoes.md"}) {
		t.Errorf("links from %q", got)
	}
	if n.Links != links || n.Moved != nil {
		t.Error("the links are not kept current from here on")
	}
}

// Filters of both kinds with a scope.
func TestFiltersChooseTheTier(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	month := h.clock.daysAgo(30)
	ok(t, os.Chtimes(filepath.Join(h.Vaults[0], "Broken.md"), month, month))
	e := h.following(t)
	save(t, e, "tomatoes and a summer", "plants")
	for _, c := range []struct {
		name string
		req  op.SearchRequest
		want []string
	}{
		{"notes only by operator, memories by scope", op.SearchRequest{Query: "tomatoes path:Garden/", Scope: "memories"}, []string{}},
		{"notes only by operator", op.SearchRequest{Query: "tomatoes path:Garden/"}, []string{"Garden/Tomatoes.md"}},
		{"a memory's filter, notes by scope", op.SearchRequest{Query: "tomatoes", Scope: "notes", Filter: op.Filter{Project: "x"}}, []string{}},
		{"a tag by filter", op.SearchRequest{Query: "tomatoes", Filter: op.Filter{Tags: []string{"plants"}}}, []string{"Garden/Tomatoes.md", "tomatoes and a summer"}},
		{"tags by filter and operator", op.SearchRequest{Query: "tomatoes tag:food", Filter: op.Filter{Tags: []string{"plants"}}}, []string{}},
		{"a window", op.SearchRequest{Query: "tomatoes", Filter: op.Filter{WindowDays: 7}}, []string{"Garden/Tomatoes.md", "Journal/2024.md", "tomatoes and a summer"}},
		{"a window and notes", op.SearchRequest{Query: "tomatoes", Scope: "notes", Filter: op.Filter{WindowDays: 7}}, []string{"Garden/Tomatoes.md", "Journal/2024.md"}},
		{"a window and a note that was not changed in it", op.SearchRequest{Query: "pumpkin", Filter: op.Filter{WindowDays: 7}}, []string{}},
		{"a longer window", op.SearchRequest{Query: "pumpkin", Filter: op.Filter{WindowDays: 60}}, []string{"Broken.md"}},
		{"a window and a date of creation", op.SearchRequest{Query: "tomatoes before:2025", Filter: op.Filter{WindowDays: 7}}, []string{"Journal/2024.md"}},
		{"operators alone", op.SearchRequest{Query: "tag:plants"}, []string{"Garden/Soil.md", "Garden/Tomatoes.md", "tomatoes and a summer"}},
		{"an exclusion alone", op.SearchRequest{Query: "-tomatoes"}, []string{"Broken.md", "Garden/Soil.md"}},
	} {
		res := do(t, e, op.Search, &c.req)
		got := names(res.Hits)
		slices.Sort(got)
		if !slices.Equal(got, c.want) || res.Total != len(c.want) {
			t.Errorf("%s: %q of %d, want %q", c.name, got, res.Total, c.want)
		}
	}
	wantCode(t, refused(t, e, op.Search, &op.SearchRequest{Query: "after:nope"}), memory.Invalid, "nope")
}
