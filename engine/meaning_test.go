package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"emberd/embedding"
	"emberd/engine"
	"emberd/engine/core"
	"emberd/engine/semantic"
	"emberd/internal/testutil/dirsnap"
	"emberd/internal/tinybert"
	"emberd/memory"
	"emberd/op"
)

// tinyModel writes a model of a seed and returns where.
func tinyModel(t testing.TB, seed uint64) string {
	t.Helper()
	spec := tinybert.Tiny()
	spec.Seed = seed
	file := filepath.Join(t.TempDir(), fmt.Sprintf("tiny-%d.gguf", seed))
	ok(t, tinybert.New(spec).WriteFile(file))
	return file
}

// meant has the engines of a house make vectors, with a tiny model unless told otherwise,
// and trust them.
func meant(t testing.TB, h *house, opt embedding.Options) *house {
	t.Helper()
	if opt.Providers == nil {
		opt.Providers = []string{embedding.Go}
		if opt.Model == "" {
			opt.Model = tinyModel(t, 42)
		}
	}
	m, err := embedding.Open(opt)
	ok(t, err)
	t.Cleanup(func() { ok(t, m.Close()) })
	h.Options.Meaning = core.Meaning{Embedder: m, Weight: 1, Wait: time.Minute, Share: 1}
	return h
}

func engineStatus(t testing.TB, e *engine.Engine) *op.EngineStatusResult {
	t.Helper()
	return do(t, e, op.EngineStatus, &op.EngineStatusRequest{})
}

// covered waits until everything has its vectors.
func covered(t testing.TB, e *engine.Engine) *op.EngineStatusResult {
	t.Helper()
	until(t, "everything has vectors", func() bool { return engineStatus(t, e).State == op.EngineComplete })
	return engineStatus(t, e)
}

// made is how many vectors something takes.
func made(t testing.TB, e *engine.Engine, change func()) int {
	t.Helper()
	before := covered(t, e).Made
	change()
	return int(covered(t, e).Made - before)
}

func TestSense(t *testing.T) {
	t.Parallel()
	h := meant(t, vaultHouse(t, garden()), embedding.Options{})
	e := h.following(t)
	for i := range 20 {
		save(t, e, fmt.Sprintf("the server number %d", i))
	}
	id := save(t, e, "the staging server restarts on Tuesdays").ID
	covered(t, e)
	s, without := e.Semantic.Meaning.EmbedQuery(t.Context(), "staging server restarts")
	if s == nil || without != "" {
		t.Fatalf("got no sense: %s", without)
	}
	near := s.Memories(t.Context(), 3, nil)
	if len(near) != 3 || near[0].ID != id {
		t.Errorf("nearest are %v, want 3, first %s", near, id)
	}
	cosine, known := s.Cosine(id)
	if diff := cosine - near[0].Cosine; !known || max(diff, -diff) > 0.001 {
		t.Errorf("its cosine is %v, %v, want %v", cosine, known, near[0].Cosine)
	}
	if got := s.Memories(t.Context(), 3, func(m memory.ID) bool { return m != id }); len(got) != 3 || got[0].ID == id {
		t.Errorf("without it nearest are %v", got)
	}
	index, _ := e.Notes.Vault.Current()
	paths := make(map[string]bool)
	for path := range index.Known() {
		paths[path] = true
	}
	notes := s.Notes(t.Context(), 2, nil)
	if len(notes) != 2 || !paths[notes[0].Path] || notes[0].Line < 1 || notes[0].Cosine < notes[1].Cosine {
		t.Errorf("nearest notes are %v", notes)
	}
	if s, without := e.Semantic.Meaning.EmbedQuery(t.Context(), "\u4eca\u5929\u5929\u6c14"); s != nil || without == "" {
		t.Errorf("words that the model does not know have a sense, and without is %q", without)
	}
}

func TestWithoutAModelThereIsNoSense(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	if s, without := e.Semantic.Meaning.EmbedQuery(t.Context(), "anything"); s != nil || without != "" || e.Semantic.Meaning.Status() != nil {
		t.Errorf("got sense %v, %q, told %v", s, without, e.Semantic.Meaning.Status())
	}
	if e.Semantic.Meaning.RankWeight() != 0 || e.Semantic.Meaning.ServingRack().TrustedForMerge() {
		t.Error("without a model there are vectors that are trusted")
	}
	if got := engineStatus(t, e).State; got != op.EngineOff {
		t.Errorf("state %s, want off", got)
	}
	wantCode(t, refused(t, e, op.EnginePause, &op.EnginePauseRequest{}), memory.Invalid, "choose a model")
}

func TestEverythingIsFollowed(t *testing.T) {
	t.Parallel()
	h := meant(t, vaultHouse(t, garden()), embedding.Options{})
	h.Options.Pace = brisk()
	e := h.following(t)
	kept, other := save(t, e, "the kettle leaks").ID, save(t, e, "a text that is forgotten").ID
	covered(t, e)
	wantWholeRack(t, e)
	for _, c := range []struct {
		name string
		do   func()
		made int // vectors, -1 for any number
	}{
		{"saving", func() { save(t, e, "the pot shines") }, 1},
		{"saving the same text again", func() { save(t, e, "the kettle leaks") }, 0},
		{"a use", func() { do(t, e, op.Touch, &op.TouchRequest{ID: string(kept)}) }, 0},
		{"a tag", func() { do(t, e, op.Edit, &op.EditRequest{ID: string(kept), Tags: &[]string{"kitchen"}}) }, 0},
		{"an edit", func() {
			do(t, e, op.Edit, &op.EditRequest{ID: string(kept), Content: new("the kettle is mended")})
		}, 1},
		{"undoing the edit", func() { do(t, e, op.Undo, &op.UndoRequest{}) }, 0},
		{"forgetting", func() { do(t, e, op.Forget, &op.ForgetRequest{ID: string(other)}) }, 0},
		{"bringing it back", func() { do(t, e, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(other)}}) }, 0},
		{"promoting", func() { do(t, e, op.Promote, &op.PromoteRequest{ID: string(kept), Force: true}) }, -1},
		{"archiving", func() { do(t, e, op.Archive, &op.ArchiveRequest{ID: string(other)}) }, -1},
		{"rekindling", func() { do(t, e, op.Rekindle, &op.RekindleRequest{Query: string(other)}) }, 0},
	} {
		got := made(t, e, c.do)
		if c.made >= 0 && got != c.made {
			t.Errorf("%s made %d vectors, want %d", c.name, got, c.made)
		}
		wantWholeRack(t, e)
		if t.Failed() {
			t.Fatalf("after %s", c.name)
		}
	}
}

func TestNotesAreFollowed(t *testing.T) {
	t.Parallel()
	long := "# Kettle\n\nIt leaks where the spout begins, and drips on the stove all day long.\n\n# Pot\n\nIt shines in the light of the lamp that hangs over the table.\n"
	h := meant(t, vaultHouse(t, map[string]string{"Kitchen.md": long, "Other.md": "Nothing of note in here."}), embedding.Options{})
	h.Options.Pace, h.Options.VaultIgnore = brisk(), []string{"/Drafts/"}
	e := h.following(t)
	covered(t, e)
	wantWholeRack(t, e)
	indexed := func(is func(map[string]bool) bool) func() bool {
		return func() bool {
			index, _ := e.Notes.Vault.Current()
			paths := make(map[string]bool)
			for path := range index.Known() {
				paths[path] = true
			}
			return is(paths)
		}
	}
	for _, c := range []struct {
		name string
		do   func()
		made int
	}{
		{"a new note", func() {
			h.write(t, "Garden.md", "The roses are red this year.")
			until(t, "it is indexed", indexed(func(paths map[string]bool) bool { return paths["Garden.md"] }))
		}, 2},
		{"a rename, which only the name tells", func() {
			ok(t, os.Rename(filepath.Join(h.Vaults[0], "Kitchen.md"), filepath.Join(h.Vaults[0], "Scullery.md")))
			until(t, "it is indexed", indexed(func(paths map[string]bool) bool { return paths["Scullery.md"] && !paths["Kitchen.md"] }))
		}, 1},
		{"a move to another folder", func() {
			h.write(t, "House/x.md", "x")
			ok(t, os.Rename(filepath.Join(h.Vaults[0], "Scullery.md"), filepath.Join(h.Vaults[0], "House/Scullery.md")))
			ok(t, os.Remove(filepath.Join(h.Vaults[0], "House/x.md")))
			until(t, "it is indexed", indexed(func(paths map[string]bool) bool { return paths["House/Scullery.md"] && len(paths) == 3 }))
		}, -1},
		{"a move into a folder that is ignored", func() {
			ok(t, os.MkdirAll(filepath.Join(h.Vaults[0], "Drafts"), 0o700))
			ok(t, os.Rename(filepath.Join(h.Vaults[0], "Other.md"), filepath.Join(h.Vaults[0], "Drafts/Other.md")))
			until(t, "it is gone", indexed(func(paths map[string]bool) bool { return !paths["Other.md"] }))
		}, 0},
		{"a move into the archive folder", func() {
			ok(t, os.MkdirAll(filepath.Join(h.Vaults[0], "Memories/Archive"), 0o700))
			ok(t, os.Rename(filepath.Join(h.Vaults[0], "Garden.md"), filepath.Join(h.Vaults[0], "Memories/Archive/Garden.md")))
			until(t, "it is gone", indexed(func(paths map[string]bool) bool { return !paths["Garden.md"] }))
		}, 0},
	} {
		got := made(t, e, func() {
			c.do()
			until(t, "the vectors follow "+c.name, func() bool { return shelvesTheNotes(e) })
		})
		if c.made >= 0 && got != c.made {
			t.Errorf("%s made %d vectors, want %d", c.name, got, c.made)
		}
		wantWholeRack(t, e)
	}
	before := covered(t, e).Made
	h.write(t, "House/Scullery.md", long+"\nMore of the pot.\n")
	until(t, "the edit has its vector", func() bool { return engineStatus(t, e).Made == before+1 })
	covered(t, e)
	wantWholeRack(t, e)
}

func TestAStartMakesNothingAgain(t *testing.T) {
	t.Parallel()
	h := meant(t, vaultHouse(t, garden()), embedding.Options{})
	e := h.following(t)
	for i := range 10 {
		save(t, e, fmt.Sprintf("memory number %d", i))
	}
	if got := covered(t, e); got.Made == 0 {
		t.Fatal("no vector was made")
	}
	ok(t, e.Close())
	e = h.following(t)
	got := covered(t, e)
	if got.Made != 0 || got.Vectors == 0 {
		t.Errorf("the second start made %d vectors and has %d, want 0 and all", got.Made, got.Vectors)
	}
	wantWholeRack(t, e)
	if timers := status(t, e).Timers; timers["embedding of texts"] != "" {
		t.Errorf("timers of an idle daemon: %v", timers)
	}
}

func TestPauseOutlivesARestart(t *testing.T) {
	t.Parallel()
	h := meant(t, newHouse(t), embedding.Options{})
	e := h.running(t)
	covered(t, e)
	if got := do(t, e, op.EnginePause, &op.EnginePauseRequest{}).State; got != op.EnginePaused {
		t.Errorf("state %s, want paused", got)
	}
	save(t, e, "not yet")
	ok(t, e.Close())
	e = h.running(t)
	until(t, "it is known what lacks vectors", func() bool { return engineStatus(t, e).Meaning.Total == 1 })
	if got := engineStatus(t, e); got.State != op.EnginePaused || got.Made != 0 || got.Meaning.Covered != 0 {
		t.Errorf("after a restart: %+v, %+v", got, got.Meaning)
	}
	do(t, e, op.EngineResume, &op.EngineResumeRequest{})
	if got := covered(t, e); got.Made != 1 {
		t.Errorf("made %d, want 1", got.Made)
	}
	ok(t, e.Close())
	e = h.running(t)
	if got := covered(t, e); got.Made != 0 {
		t.Errorf("resumed and started again it made %d, want 0", got.Made)
	}
}

// killedHouse is what a daemon of the house would leave if it were killed now.
func killedHouse(t testing.TB, h *house) *house {
	t.Helper()
	next := newHouse(t)
	ok(t, os.CopyFS(next.Data, os.DirFS(h.Data)))
	ok(t, os.CopyFS(next.State, os.DirFS(h.State)))
	next.Options.Meaning = h.Options.Meaning
	return next
}

func TestKilledItGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	h := meant(t, newHouse(t), embedding.Options{})
	e := h.open(t)
	for i := range 300 {
		save(t, e, fmt.Sprintf("memory number %d", i))
	}
	ok(t, e.Close())
	e = h.running(t)
	until(t, "some have vectors", func() bool { return engineStatus(t, e).Made >= 100 })
	do(t, e, op.EnginePause, &op.EnginePauseRequest{})
	var at int64
	until(t, "it stops", func() bool { // what was begun is finished
		before := at
		at = engineStatus(t, e).Made
		return before == at
	})
	h = killedHouse(t, h)
	e = h.running(t)
	do(t, e, op.EngineResume, &op.EngineResumeRequest{})
	if got := covered(t, e).Made; got > 300-at+1 {
		t.Errorf("%d vectors were made before and %d after, want no more than 300 and the one under way", at, got)
	}
	wantWholeRack(t, e)
}

func TestAnotherModelServesWhenItIsComplete(t *testing.T) {
	t.Parallel()
	old, young := tinyModel(t, 1), tinyModel(t, 2)
	h := meant(t, newHouse(t), embedding.Options{Model: old, Providers: []string{embedding.Go}})
	e := h.running(t)
	id := save(t, e, "the kettle leaks").ID
	save(t, e, "the pot shines")
	first := covered(t, e)
	do(t, e, op.EnginePause, &op.EnginePauseRequest{})
	ok(t, e.Close())

	h = meant(t, h, embedding.Options{Model: young, Providers: []string{embedding.Go}})
	e = h.running(t)
	until(t, "the earlier model serves", func() bool { return engineStatus(t, e).Earlier != nil })
	s, without := e.Semantic.Meaning.EmbedQuery(t.Context(), "the kettle leaks")
	if s == nil {
		t.Fatalf("no sense while another model is made ready: %s", without)
	}
	if got := s.Memories(t.Context(), 1, nil); len(got) != 1 || got[0].ID != id || got[0].Cosine < 0.999 {
		t.Errorf("by the earlier model the nearest is %v, want %s", got, id)
	}
	forgotten := save(t, e, "gone before it has a vector").ID
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(forgotten)})
	do(t, e, op.EngineResume, &op.EngineResumeRequest{})
	got := covered(t, e)
	until(t, "the earlier model is let go", func() bool { return engineStatus(t, e).Earlier == nil })
	if got.Made != 2 {
		t.Errorf("made %d vectors, want 2", got.Made)
	}
	if s, _ = e.Semantic.Meaning.EmbedQuery(t.Context(), "the kettle leaks"); s == nil || s.Rack.Identity.Path != young {
		t.Errorf("the new model does not serve")
	}
	until(t, "the earlier model's folder is removed", func() bool {
		dirs, err := os.ReadDir(filepath.Join(h.State, "vectors"))
		ok(t, err)
		return len(dirs) == 1
	})
	if len(first.Passed) > 0 {
		t.Errorf("passed over: %v", first.Passed)
	}
}

func TestOtherDevicesChangesGetVectors(t *testing.T) {
	t.Parallel()
	desk, lap := meant(t, newHouse(t), embedding.Options{}), newHouse(t)
	here, there := desk.running(t), lap.open(t)
	covered(t, here)
	id := save(t, there, "the tide turns at nine").ID
	carry(t, lap, desk, status(t, there).Device)
	until(t, "it has its vector", func() bool {
		_, has := here.Semantic.Meaning.Building.Vector(id, here.Semantic.Meaning.Digest)
		return has
	})
	do(t, there, op.Forget, &op.ForgetRequest{ID: string(id)})
	carry(t, lap, desk, status(t, there).Device)
	until(t, "it is gone", func() bool { _, has := here.Semantic.Meaning.Building.Store.Doc(semantic.MemoryDoc(id)); return !has })
	wantWholeRack(t, here)
}

func TestVectorsThatCarryNothingAreNotMade(t *testing.T) {
	t.Parallel()
	h := meant(t, newHouse(t), embedding.Options{})
	h.Options.Meaning.Weight = -1 // what the exam says of weights that were drawn
	e := h.running(t)
	save(t, e, "the kettle leaks")
	until(t, "the exam is taken", func() bool { return engineStatus(t, e).State == op.EngineUnused })
	got := engineStatus(t, e)
	if got.Made != 0 || got.Meaning.Weight != 0 || got.Meaning.Without == "" || got.Model.Trust != 0 || e.Semantic.Meaning.RankWeight() != 0 {
		t.Errorf("got %+v, %+v", got, got.Meaning)
	}
}

func TestNothingIsLeftRunning(t *testing.T) {
	h := meant(t, vaultHouse(t, garden()), embedding.Options{})
	before := runtime.NumGoroutine()
	e := h.running(t)
	save(t, e, "the kettle leaks")
	covered(t, e)
	ok(t, e.Close())
	dirsnap.Goroutines(t, before)
}
