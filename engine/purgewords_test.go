package engine_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// purgeWord is a random word and the way by which it comes into a memory.
type purgeWord struct {
	way string
	in  func(d *desk, word string) memory.ID
}

// purgeWays are the ways in. Each word begins a text, so that it is also in the name of a note, the line
// of a list and the words that an index keeps.
func purgeWays() []purgeWord {
	saved := func(req func(word string) op.SaveRequest) func(d *desk, word string) memory.ID {
		return func(d *desk, word string) memory.ID {
			r := req(word)
			return do(d.t, d.Engine, op.Save, &r).Memory.ID
		}
	}
	text := func(word string) string { return word + " is kept in the cellar. It must not be moved." }
	return []purgeWord{
		{"save", saved(func(w string) op.SaveRequest { return op.SaveRequest{Content: text(w)} })},
		{"core", saved(func(w string) op.SaveRequest { return op.SaveRequest{Content: text(w), Core: true} })},
		{"alias", saved(func(w string) op.SaveRequest { return op.SaveRequest{Aliases: []string{w}, Content: "alias"} })},
		{"tag", saved(func(w string) op.SaveRequest { return op.SaveRequest{Tags: []string{w}, Content: "tag"} })},
		{"entity", saved(func(w string) op.SaveRequest { return op.SaveRequest{Entities: []string{w}, Content: "entity"} })},
		{"source", saved(func(w string) op.SaveRequest { return op.SaveRequest{Source: w, Content: "source"} })},
		{"context", saved(func(w string) op.SaveRequest { return op.SaveRequest{Context: w, Content: "context"} })},
		{"category", saved(func(w string) op.SaveRequest { return op.SaveRequest{Category: w, Content: "category"} })},
		{"project", saved(func(w string) op.SaveRequest { return op.SaveRequest{Project: w, Content: "project"} })},
		{"collection", saved(func(w string) op.SaveRequest { return op.SaveRequest{Collection: w, Content: "collection"} })},
		{"session", saved(func(w string) op.SaveRequest { return op.SaveRequest{SessionID: w, Content: "session"} })},
		{"meta", saved(func(w string) op.SaveRequest {
			return op.SaveRequest{Meta: map[string]json.RawMessage{"m": json.RawMessage(`"` + w + `"`)}, Content: "meta"}
		})},
		{"quote and file", saved(func(w string) op.SaveRequest {
			return op.SaveRequest{Content: "quote", Provenance: op.Provenance{Quote: w, File: w + ".txt"}}
		})},
		{"idempotency key", saved(func(w string) op.SaveRequest { return op.SaveRequest{IdempotencyKey: w, Content: "key"} })},
		{"batch", func(d *desk, w string) memory.ID {
			return do(d.t, d.Engine, op.SaveBatch, &op.SaveBatchRequest{Items: []op.SaveRequest{{Content: text(w)}}}).Results[0].ID
		}},
		{"add", func(d *desk, w string) memory.ID {
			return do(d.t, d.Engine, op.Add, &op.AddRequest{Content: text(w), Again: true}).Memory.ID
		}},
		{"reinforce", func(d *desk, w string) memory.ID {
			id := save(d.t, d.Engine, "the gate squeaks").ID
			do(d.t, d.Engine, op.Reinforce, &op.ReinforceRequest{ID: string(id), Evidence: text(w)})
			return id
		}},
		{"import", func(d *desk, w string) memory.ID {
			id, err := memory.NewID()
			ok(d.t, err)
			raw, err := json.Marshal(map[string]any{"id": id, "content": text(w), "created_at": "2026-01-02T03:04:05Z"})
			ok(d.t, err)
			var m map[string]json.RawMessage
			ok(d.t, json.Unmarshal(raw, &m))
			delete(m, "id")
			do(d.t, d.Engine, op.Import, &op.ImportRequest{Records: []op.Record{{ID: id, Fields: m}}})
			return id
		}},
		{"edit, undo and redo", func(d *desk, w string) memory.ID {
			id := save(d.t, d.Engine, "the ladder is short").ID
			edit := do(d.t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: new(text(w))})
			undo := do(d.t, d.Engine, op.Undo, &op.UndoRequest{Tx: edit.Tx})
			do(d.t, d.Engine, op.Undo, &op.UndoRequest{Tx: undo.Tx})
			return id
		}},
		{"trash", func(d *desk, w string) memory.ID {
			id := save(d.t, d.Engine, text(w)).ID
			do(d.t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(id)})
			return id
		}},
		{"relation", func(d *desk, w string) memory.ID {
			id, other := save(d.t, d.Engine, "the shelf bends").ID, save(d.t, d.Engine, "the shelf is of oak").ID
			do(d.t, d.Engine, op.Relate, &op.RelateRequest{From: string(id), To: string(other), Type: memory.Related, Kind: w})
			return id
		}},
		{"review item", func(d *desk, w string) memory.ID {
			id := save(d.t, d.Engine, "the lamp flickers").ID
			do(d.t, d.Engine, op.ReviewCreate, &op.ReviewCreateRequest{MemoryIDs: []string{string(id)}, Evidence: text(w), Labels: []string{w}})
			return id
		}},
		{"promote", func(d *desk, w string) memory.ID {
			id := save(d.t, d.Engine, text(w)).ID
			promoteByID(d.t, d.Engine, id)
			return id
		}},
		{"promote, then another text", func(d *desk, w string) memory.ID {
			id := save(d.t, d.Engine, text(w)).ID
			path := promoteByID(d.t, d.Engine, id).Path
			do(d.t, d.Engine, op.Edit, &op.EditRequest{ID: string(id), Content: new("the fence is painted")})
			d.rest(d.t, d.Engine)
			ok(d.t, os.Rename(d.at(path), d.at("Fence.md")))
			return id
		}},
		{"note edited in the vault", func(d *desk, w string) memory.ID {
			id := save(d.t, d.Engine, "the roof is new").ID
			path := promoteByID(d.t, d.Engine, id).Path
			d.edit(path, noteFor(id, text(w)))
			return id
		}},
		{"note deleted by the user", func(d *desk, w string) memory.ID {
			id := save(d.t, d.Engine, text(w)).ID
			d.remove(promoteByID(d.t, d.Engine, id).Path)
			return id
		}},
		{"archive", func(d *desk, w string) memory.ID {
			id := save(d.t, d.Engine, text(w)).ID
			do(d.t, d.Engine, op.Archive, &op.ArchiveRequest{ID: string(id)})
			return id
		}},
		{"rekindle", func(d *desk, w string) memory.ID {
			id := save(d.t, d.Engine, text(w)).ID
			do(d.t, d.Engine, op.Archive, &op.ArchiveRequest{ID: string(id)})
			do(d.t, d.Engine, op.Rekindle, &op.RekindleRequest{Query: string(id)})
			return id
		}},
	}
}

// filesWith lists, by word, the files below the folders that have it, plain or compressed, or in their
// name.
func filesWith(t *testing.T, words []string, folders ...string) map[string][]string {
	t.Helper()
	found := make(map[string][]string)
	for _, folder := range folders {
		ok(t, filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(name)
			if z, failed := gzip.NewReader(bytes.NewReader(data)); failed == nil {
				data, _ = io.ReadAll(z)
			}
			data = append(bytes.ToLower(data), strings.ToLower(filepath.Base(name))...)
			for _, word := range words {
				if bytes.Contains(data, []byte(word[:len(word)-2])) { // its stem, as an index has it
					found[word] = append(found[word], name)
				}
			}
			return err
		}))
	}
	return found
}

// Attack 7: after a purge no file of the home and the vault has a word of the memory, whatever the way by
// which it came in, but for the places that the answer names.
func TestAPurgeLeavesNoWordOfAnyWayIn(t *testing.T) {
	t.Parallel()
	d := &desk{house: listing(t, nil), t: t}
	d.ReviewInbox = inboxNote
	d.start()
	ways := purgeWays()
	if !proof() { // each purge rewrites the log and the index
		ways = slices.DeleteFunc(ways, func(w purgeWord) bool {
			return !slices.Contains([]string{"core", "import", "trash", "review item", "promote", "note edited in the vault",
				"note deleted by the user", "rekindle"}, w.way)
		})
	}
	words, ids := make([]string, len(ways)), make([]memory.ID, len(ways))
	for i, way := range ways {
		words[i] = string("bcdfghklmn"[i/10]) + "yl" + string("bcdfghklmn"[i%10]) + "ovanthuk"
		ids[i] = way.in(d, words[i])
		if i%4 == 3 {
			d.listed() // earlier versions of the lists
		}
	}
	for _, word := range words {
		searchFor(t, d.Engine, word+" cellar")
	}
	d.listed()
	do(t, d.Engine, op.Health, &op.HealthRequest{})
	backup := do(t, d.Engine, op.BackupCreate, &op.BackupCreateRequest{}).File
	kept, err := os.ReadFile(backup) // by the user, where no purge looks
	ok(t, err)
	place(t, filepath.Dir(backup), "auto-20260301T120000.000Z-k7q2mzxa.tar.gz", string(kept))
	folders := []string{d.Data, d.State, d.Vaults[0]}
	before := filesWith(t, words, folders...)
	notes := make(map[string][]string)
	for i, way := range ways {
		if len(before[words[i]]) == 0 {
			t.Errorf("the word of %q is nowhere before the purge, so that this proves nothing", way.way)
		}
		res := do(t, d.Engine, op.Purge, &op.PurgeRequest{ID: string(ids[i]), Backups: true})
		notes[words[i]] = left(res, "note")
		named := func(file string) bool { // by its path in the vault, or whole
			return slices.ContainsFunc(res.Left, func(l op.PurgeLeft) bool {
				return l.Place != "" && (file == l.Place || file == d.at(l.Place))
			})
		}
		for _, file := range filesWith(t, words[i:i+1], d.Data, filepath.Join(d.State, "backups"), d.Vaults[0])[words[i]] {
			if !named(file) {
				t.Errorf("of %q the purge leaves %s, and names %+v", way.way, file, res.Left)
			}
		}
		if i%2 == 1 {
			d.rest(t, d.Engine) // of every second one the list can be written at once
		}
	}
	for word, files := range filesWith(t, words, folders...) {
		for _, file := range files {
			rel, _ := filepath.Rel(d.Vaults[0], file)
			inIndex := strings.HasPrefix(file, filepath.Join(d.State, "index")) && len(notes[word]) > 0
			if !slices.Contains(notes[word], rel) && !inIndex {
				t.Errorf("of %q the purge leaves and does not name %s", ways[slices.Index(words, word)].way,
					strings.TrimPrefix(file, filepath.Dir(d.State)))
			}
		}
	}
	for _, path := range slices.Concat(slices.Collect(maps.Values(notes))...) { // the user deletes what is named
		_ = os.Remove(d.at(path))
	}
	d.batch(nil, d.vanished())
	for word, files := range filesWith(t, words, folders...) {
		t.Errorf("%s (%q) is in %q after its note was deleted", word, ways[slices.Index(words, word)].way, files)
	}
	d.rest(t, d.Engine)
	d.restored(kept)
	for word, files := range filesWith(t, words, folders...) {
		t.Errorf("%s (%q) is in %q after an earlier backup was restored", word, ways[slices.Index(words, word)].way, files)
	}
	wantPrivate(t, d.State)
}

// wantPrivate wants no file below dir to be readable by anybody else.
func wantPrivate(t *testing.T, dir string) {
	t.Helper()
	ok(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			info, failed := e.Info()
			if ok(t, failed); info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %04o", name, info.Mode().Perm())
			}
		}
		return err
	}))
}
