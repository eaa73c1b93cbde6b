package main

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/op"
)

func httpOver(t *http.Transport) *http.Client { return &http.Client{Transport: t} }

// editing is a person who saves, renames and deletes notes of their own, with the programs
// that people have. Each note has one word that it alone has.
func (s *soak) editing(ctx context.Context, name string) {
	rng := seeded(name)
	saves := []func(path, text string) error{inPlace, renamedOver, asVim, asEmacs}
	for n := 0; ctx.Err() == nil; n++ {
		rest(ctx, 200*time.Millisecond)
		if n%10 == 0 {
			s.did(ctx, name, "tidy", s.tidy())
		}
		path := filepath.Join(s.vault, fmt.Sprintf("Note %d.md", rng.IntN(40)))
		word := fmt.Sprintf("u%dx%x", n, rng.Uint32())
		var err error
		switch old := s.notes[path]; {
		case old != "" && rng.IntN(10) == 0:
			if err = os.Remove(path); err == nil {
				delete(s.notes, path)
			}
		case old != "" && rng.IntN(10) == 0:
			to := filepath.Join(s.vault, fmt.Sprintf("Moved %d.md", rng.IntN(10)))
			if err = os.Rename(path, to); err == nil {
				delete(s.notes, path)
				s.notes[to] = old
			}
		default:
			err = saves[rng.IntN(len(saves))](path, "# A note\n\nIts word is "+word+".\n")
			s.notes[path] = word
		}
		s.did(ctx, name, "save", err)
	}
}

// tidy removes the notes of memories that were forgotten, which emberd leaves to people: a few at
// a time, since where most are gone at once the daemon rightly asks whether that was meant.
func (s *soak) tidy() error {
	removed := 0
	return s.eachCarrying(func(id, path string) error {
		s.mu.Lock()
		_, kept := s.kept[id]
		s.mu.Unlock()
		info, err := os.Stat(path)
		if kept || removed == 10 || err != nil || time.Since(info.ModTime()) < time.Minute { // what is new may only not be kept yet
			return nil
		}
		removed++
		return os.Remove(path)
	})
}

// eachCarrying calls do for each note that carries a memory's id.
func (s *soak) eachCarrying(do func(id, path string) error) error {
	return filepath.WalkDir(s.vault, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return unlessGone(err)
		}
		text, err := os.ReadFile(path)
		if m := carriedID.FindSubmatch(text); m != nil {
			return do(string(m[1]), path)
		}
		return unlessGone(err)
	})
}

func unlessGone(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

func inPlace(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

func renamedOver(path, text string) error {
	if err := os.WriteFile(path+".tmp", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

func asVim(path, text string) error {
	if err := os.Rename(path, path+"~"); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := inPlace(path, text); err != nil {
		return err
	}
	if err := os.Remove(path + "~"); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func asEmacs(path, text string) error {
	lock := filepath.Join(filepath.Dir(path), ".#"+filepath.Base(path))
	if err := os.Symlink("me@here.1:1", lock); err != nil {
		return err
	}
	if err := inPlace(path, text); err != nil {
		return err
	}
	return os.Remove(lock)
}

// judge looks whether everything is as the daemon said.
func (s *soak) judge(t *testing.T) {
	t.Helper()
	for fault, n := range s.faults {
		t.Errorf("%d times: %s", n, fault)
	}
	s.judgeNotes(t)
	s.judgeMemories(t)
	for _, args := range [][]string{{"doctor"}, {"log", "check"}} {
		if out, err := s.command(t.Context(), args...); err != nil {
			t.Errorf("emberd %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// judgeMemories looks for each memory that was acknowledged: its text, or what is left of one
// that faded, which comes back whole.
func (s *soak) judgeMemories(t *testing.T) {
	t.Helper()
	cold := 0
	for id, text := range s.kept {
		off := false
		res, err := op.Show.Call(t.Context(), s.client, &op.ShowRequest{ID: id, Track: &off})
		if err != nil {
			t.Errorf("what was acknowledged: %v", err)
			continue
		}
		content := res.Memory.Content
		if res.Memory.Stage.Cold() {
			cold++
			back, err := op.Rekindle.Call(t.Context(), s.client, &op.RekindleRequest{Query: id})
			if err != nil || len(back.Results) != 1 {
				t.Errorf("%s does not come back: %+v, %v", id, back, err)
				continue
			}
			content = back.Results[0].Memory.Content
		}
		if content != text {
			t.Errorf("%s, %s, holds %q, want %q", id, res.Memory.Stage, content, text)
		}
	}
	t.Logf("%d memories were acknowledged, not forgotten and are there; %d of them came back from notes", len(s.kept), cold)
}

var carriedID = regexp.MustCompile(`(?m)^memory-id: *"?([0-9a-f-]{36})`)

// judgeNotes looks whether the index has each note as it is and none that is gone, and
// whether a memory has two notes.
func (s *soak) judgeNotes(t *testing.T) {
	t.Helper()
	for path, word := range s.notes {
		res, err := op.Search.Call(t.Context(), s.client, &op.SearchRequest{Query: word, Scope: "notes"})
		if err != nil || len(res.Hits) == 0 || res.Hits[0].Note.Path != filepath.Base(path) {
			t.Errorf("%s is not found by its word: %v, %v", path, res, err)
		}
	}
	carried := map[string]string{}
	err := s.eachCarrying(func(id, path string) error {
		if other := carried[id]; other != "" {
			t.Errorf("%s and %s are notes of one memory", other, path)
		}
		carried[id] = path
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d notes of people are found by their words; %d notes carry memories", len(s.notes), len(carried))
}

// judgeNext starts the daemon again without what it could remember of its indexes.
func (s *soak) judgeNext(t *testing.T) {
	t.Helper()
	snapshots, _ := filepath.Glob(filepath.Join(s.home, "state", "snapshot*"))
	for _, name := range append(snapshots, filepath.Join(s.home, "state", "index")) {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	d := s.start(t)
	s.settle(t)
	// Of memories that are archived, the word index need not have those whose notes are in the vault.
	status, err := op.Status.Call(t.Context(), s.client, &op.StatusRequest{})
	if err != nil || status.Loading != nil || status.Memories < len(s.kept) {
		t.Errorf("after a start, the status is %+v (%v), and %d memories were kept", status, err, len(s.kept))
	}
	s.judgeNotes(t)
	s.judgeMemories(t)
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the daemon did not stop well: %v", err)
	}
}
