package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/op"
	"emberd/vault"
)

// proof reports whether the tests run with the sizes that the product is held to,
// which take minutes, and not with ones that show the same in seconds.
func proof() bool { return os.Getenv("EMBERD_PROOF") != "" }

// size is how many notes something is tried with.
func size(usual, proven int) int {
	if proof() {
		return proven
	}
	return usual
}

// audit compares the index with a fresh walk: the same paths, each with the digest
// of what is on the disk. It returns what is wrong.
func (h *house) audit(t testing.TB, e *engine.Engine) string {
	t.Helper()
	v, err := vault.Open(h.Vaults[0], &vault.Options{Ignore: h.VaultIgnore})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	index, _ := e.Notes.Vault.Current()
	known := map[string][32]byte{}
	for path, cursor := range index.Known() {
		known[path] = cursor.Digest
	}
	var missing, stale []string
	for path, err := range v.Walk(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		note, err := v.Read(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if digest, ok := known[path]; !ok {
			missing = append(missing, path)
		} else if digest != note.Digest {
			stale = append(stale, path)
		}
		delete(known, path)
	}
	if len(missing)+len(stale)+len(known) == 0 {
		return ""
	}
	return fmt.Sprintf("%d missing %q, %d stale %q, %d that are gone %q", len(missing), first(missing), len(stale), first(stale),
		len(known), first(slices.Sorted(maps.Keys(known))))
}

func first(list []string) []string { return list[:min(3, len(list))] }

// caughtUp waits until the index equals a fresh walk.
func (h *house) caughtUp(t testing.TB, e *engine.Engine, after string) {
	t.Helper()
	begun, wrong := time.Now(), ""
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		if wrong = h.audit(t, e); wrong == "" {
			t.Logf("after %s: equal to a fresh walk, %v later", after, time.Since(begun).Round(time.Millisecond))
			return
		}
		if time.Since(begun) > 90*time.Second {
			t.Fatalf("after %s: %s; %+v", after, wrong, e.Notes.Vault.Status())
		}
		time.Sleep(pause)
	}
}

// noteText writes a note that no other is like.
func noteText(seed string) string {
	return fmt.Sprintf("# %s\n\nThis one says %s.\n", seed, strings.ReplaceAll(seed, "/", " "))
}

// fill writes so many notes into ten folders of dir.
func fill(t testing.TB, dir string, notes int) {
	t.Helper()
	for i := range notes {
		name := filepath.Join(dir, fmt.Sprintf("%d", i%10), fmt.Sprintf("note %d.md", i))
		ok(t, os.MkdirAll(filepath.Dir(name), 0o700))
		ok(t, os.WriteFile(name, []byte(noteText(fmt.Sprintf("%s%d", filepath.Base(dir), i))), 0o600))
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheIndexEqualsAFreshWalk(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	fill(t, filepath.Join(h.Vaults[0], "Base"), size(200, 2000))
	e := h.following(t)
	h.caughtUp(t, e, "the first reading")

	for i := range 300 {
		h.write(t, fmt.Sprintf("deep %d/b/c/n.md", i), noteText(fmt.Sprintf("deep %d", i)))
		h.write(t, fmt.Sprintf("deep %d/n.md", i), noteText(fmt.Sprintf("shallow %d", i)))
	}
	h.caughtUp(t, e, "300 new trees")

	notes := size(300, 5000)
	outside := filepath.Join(t.TempDir(), "Moved")
	fill(t, outside, notes)
	inside := func(name string) string { return filepath.Join(h.Vaults[0], name) }
	for _, move := range []struct{ what, from, to string }{
		{"a folder moved in", outside, inside("Moved")},
		{"a folder renamed", inside("Moved"), inside("Renamed")},
		{"a folder renamed in case only", inside("Renamed"), inside("RENAMED")},
		{"a folder moved into another", inside("RENAMED"), inside("Base/Renamed")},
		{"a folder moved out", inside("Base/Renamed"), outside},
	} {
		ok(t, os.Rename(move.from, move.to))
		if move.to == outside { // so many at once have to be confirmed
			until(t, "the loss is held back", func() bool { return e.Notes.Vault.Status().Frozen != "" })
			wantFound(t, e, "moved7 ", 1)
			if got := do(t, e, op.VaultConfirm, &op.VaultConfirmRequest{}); got.Missing != notes || got.Frozen == "" {
				t.Errorf("confirmed %+v, want %d notes", got, notes)
			}
		}
		h.caughtUp(t, e, fmt.Sprintf("%s, %d notes", move.what, notes))
	}
	wantFound(t, e, "moved7", 0)
	if got := do(t, e, op.VaultConfirm, &op.VaultConfirmRequest{}); *got != (op.VaultConfirmResult{}) {
		t.Errorf("nothing is held back, but %+v is confirmed", got)
	}
}

func wantFound(t testing.TB, e *engine.Engine, query string, want int) {
	t.Helper()
	if hits := searchFor(t, e, query); len(hits) != want {
		t.Errorf("%s finds %q, want %d", query, names(hits), want)
	}
}

// exactly is what holds the word itself, and none that is like it.
func exactly(t testing.TB, e *engine.Engine, word string) []string {
	t.Helper()
	res := do(t, e, op.Search, &op.SearchRequest{Query: word + " "})
	if res.Similar {
		return nil
	}
	return names(res.Hits)
}

func TestACheckoutIsFollowed(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, nil)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", h.Vaults[0], "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "gc.auto=0"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing; install the package of that name")
	}
	notes := size(300, 3000)
	git("init", "-q", "-b", "old")
	fill(t, h.Vaults[0], notes)
	git("add", ".")
	git("commit", "-q", "-m", "old")
	git("checkout", "-q", "-b", "new")
	for i := range notes {
		name := filepath.Join(h.Vaults[0], fmt.Sprintf("%d/note %d.md", i%10, i))
		ok(t, os.WriteFile(name, []byte(noteText(fmt.Sprintf("changed %d", i))), 0o600))
	}
	for i := range 20 {
		ok(t, os.Remove(filepath.Join(h.Vaults[0], fmt.Sprintf("%d/note %d.md", i%10, i))))
		h.write(t, fmt.Sprintf("%d/added.md", i%10), noteText(fmt.Sprintf("added %d", i)))
	}
	git("add", ".")
	git("commit", "-q", "-m", "new")
	git("checkout", "-q", "old")
	e := h.following(t)
	for _, branch := range []string{"new", "old", "new"}[:size(1, 3)] {
		git("checkout", "-q", branch)
		h.caughtUp(t, e, fmt.Sprintf("a checkout of branch %s, %d notes", branch, notes))
	}
}

// A vault that is not there for a while loses nothing, and what changed in it
// meanwhile is found.
func TestTheVaultComesBack(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	e := h.following(t)
	away := h.Vaults[0] + " away"
	ok(t, os.Rename(h.Vaults[0], away))
	until(t, "the loss is noticed", func() bool { return e.Notes.Vault.Status().Frozen != "" })
	wantNames(t, e, "compost", "Garden/Soil.md")
	ok(t, os.WriteFile(filepath.Join(away, "Meanwhile.md"), []byte("written elsewhere"), 0o600))
	ok(t, os.Rename(away, h.Vaults[0]))
	h.caughtUp(t, e, "the vault's return")
	wantNames(t, e, "elsewhere", "Meanwhile.md")
	until(t, "nothing is held back any more", func() bool { return e.Notes.Vault.Status().Frozen == "" })
}

// An index whose files are emptied while they are read in place is built again; until then memories are found.
func TestTheNoteIndexIsEmptiedWhileOpen(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	e := h.following(t)
	save(t, e, "the compost is turned on Mondays", "garden")
	emptySegments(t, e.Notes.Vault.IndexDir)
	until(t, "a search finds the memory, and tells that notes are read", func() bool {
		got := do(t, e, op.Search, &op.SearchRequest{Query: "compost"})
		return len(got.Hits) > 0 && got.Indexing != nil
	})
	until(t, "the index is built again", func() bool { return len(searchFor(t, e, "compost")) == 2 })
	h.caughtUp(t, e, "the damage")
}

// Another folder in the vault's place, as a restored backup is, becomes the vault.
func TestAnotherFolderInTheVaultsPlace(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	e := h.following(t)
	restored := h.Vaults[0] + " restored"
	ok(t, os.CopyFS(restored, os.DirFS(h.Vaults[0])))
	ok(t, os.WriteFile(filepath.Join(restored, "Garden", "Soil.md"), []byte("Now about earthworms."), 0o600))
	ok(t, os.Rename(h.Vaults[0], h.Vaults[0]+" before"))
	ok(t, os.Rename(restored, h.Vaults[0]))
	h.caughtUp(t, e, "another folder in the vault's place")
	if hits := searchFor(t, e, "earthworms"); len(hits) != 1 || !strings.Contains(hits[0].Snippet.Text, "earthworms") {
		t.Errorf("found %+v", hits)
	}
	h.write(t, "Later.md", "zebraquagga")
	h.caughtUp(t, e, "a note in the new folder")
}

// saves are ways in which programs write a note. Each gets the note's path and
// its new text.
func saves() map[string]func(t testing.TB, name, text string) {
	write := func(t testing.TB, name, text string) { t.Helper(); ok(t, os.WriteFile(name, []byte(text), 0o600)) }
	through := func(temp func(name string) string) func(testing.TB, string, string) {
		return func(t testing.TB, name, text string) {
			write(t, temp(name), text)
			ok(t, os.Rename(temp(name), name))
		}
	}
	beside := func(prefix, suffix string) func(string) string {
		return func(name string) string {
			return filepath.Join(filepath.Dir(name), prefix+filepath.Base(name)+suffix)
		}
	}
	return map[string]func(testing.TB, string, string){
		"truncate and write": write,
		"two writes and a sync": func(t testing.TB, name, text string) {
			f, err := os.Create(name)
			ok(t, err)
			_, err = f.WriteString(text[:len(text)/2])
			ok(t, err)
			ok(t, f.Sync())
			_, err = f.WriteString(text[len(text)/2:])
			ok(t, err)
			ok(t, f.Close())
		},
		"hidden temporary file": through(beside(".", ".swp")),
		"temporary file":        through(beside("", ".tmp")),
		"safe write":            through(beside("", "___jb_tmp___")),
		"syncthing":             through(beside(".syncthing.", ".tmp")),
		"a note as temporary":   through(beside("new ", "")),
		"backup, then in place": func(t testing.TB, name, text string) {
			_ = os.Rename(name, name+"~") // there may be none yet
			write(t, name, text)
		},
		"delete and create": func(t testing.TB, name, text string) {
			_ = os.Remove(name) // there may be none yet
			write(t, name, text)
		},
		"time set back": func(t testing.TB, name, text string) {
			write(t, name, text)
			ok(t, os.Chtimes(name, time.Unix(1e9, 0), time.Unix(1e9, 0)))
		},
	}
}

func TestEverySaveIsFound(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	circumstances := map[string]func(save func(text string), before, text string){
		"of a new note": func(save func(string), _, text string) { save(text) },
		"over a note": func(save func(string), before, text string) {
			save(before)
			time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
			save(text)
		},
		"in a hurry": func(save func(string), before, text string) {
			for i := range 5 {
				save(fmt.Sprintf("%s %d", before, i))
			}
			save(text)
		},
		"of the same size": func(save func(string), before, text string) {
			save((before + strings.Repeat(" ", len(text)))[:len(text)])
			save(text)
		},
	}
	e := h.following(t)
	number := 0
	t.Run("all", func(t *testing.T) {
		for way, save := range saves() {
			for when, use := range circumstances {
				number++
				name, before, word := fmt.Sprintf("note %d.md", number), fmt.Sprintf("early%d", number), fmt.Sprintf("final%d", number)
				t.Run(way+" "+when, func(t *testing.T) {
					t.Parallel()
					use(func(text string) { save(t, filepath.Join(h.Vaults[0], name), text) }, before, word+" is what it says")
					until(t, "the last text is found", func() bool { return slices.Equal(exactly(t, e, word), []string{name}) })
					if got := exactly(t, e, before); len(got) > 0 {
						t.Errorf("the text before is found in %q", got)
					}
				})
			}
		}
	})
	h.caughtUp(t, e, fmt.Sprintf("%d ways to save", number))
}

// TestHowSoonAnEditIsFound only measures.
func TestHowSoonAnEditIsFound(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, garden())
	fill(t, h.Vaults[0], size(100, 10_000))
	e := h.following(t)
	var took []time.Duration
	for i := range size(15, 200) {
		word := fmt.Sprintf("edited%d", i)
		begun := time.Now()
		h.write(t, fmt.Sprintf("%d/note %d.md", i%10, i), "# Note\n\nNow "+word+".\n")
		for len(exactly(t, e, word)) == 0 {
			time.Sleep(time.Millisecond)
			if time.Since(begun) > 20*time.Second {
				t.Fatalf("edit %d is not found after 20 s", i)
			}
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	t.Logf("%d edits among %d notes: found after %v (median), %v (p99), %v (worst)", len(took), e.Notes.Vault.Status().Notes,
		took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
}
