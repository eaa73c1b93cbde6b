package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
)

const kettle = "---\ntags: [tea]\n---\nThe kettle\nhas a gasket: größe 7\nand a lid\n"

func TestANoteIsReadWholeAndInPart(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, map[string]string{"Home/Kettle.md": kettle, "Long.md": strings.Repeat("x", 1<<20) + "tail"})
	e := h.following(t)
	tests := map[string]struct {
		req        op.NoteReadRequest
		text       string
		next, left int
	}{
		"whole":             {op.NoteReadRequest{Path: "Home/Kettle.md"}, kettle, 0, 0},
		"by its name":       {op.NoteReadRequest{Path: "kettle"}, kettle, 0, 0},
		"from a line":       {op.NoteReadRequest{Path: "Home/Kettle.md", Line: 5}, "has a gasket: größe 7\nand a lid\n", 0, 0},
		"a part":            {op.NoteReadRequest{Path: "Home/Kettle.md", Line: 5, From: 14, Limit: 5}, "größe", 19, 13},
		"the end of a part": {op.NoteReadRequest{Path: "Home/Kettle.md", Line: 5, From: 19, Limit: 13}, " 7\nand a lid\n", 0, 0},
	}
	for name, c := range tests {
		got := do(t, e, op.NoteRead, &c.req)
		if got.Text != c.text || got.Next != c.next || got.Left != c.left || got.Path != "Home/Kettle.md" || got.Beyond {
			t.Errorf("%s: it answers %+v", name, got)
		}
	}
	long := do(t, e, op.NoteRead, &op.NoteReadRequest{Path: "Long.md", Limit: 10})
	if !long.Beyond || long.Left != 1<<20-10 {
		t.Errorf("of a note that is too long it answers %+v", long)
	}
}

func TestNotesThatAreNotRead(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, map[string]string{"a.md": "a\nb", "picture.png": "no note"})
	if err := os.WriteFile(filepath.Join(filepath.Dir(h.Vaults[0]), "outside.md"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../outside.md", filepath.Join(h.Vaults[0], "link.md")); err != nil {
		t.Fatal(err)
	}
	e := h.following(t)
	id := save(t, e, "without a note").ID
	for ref, code := range map[string]memory.Code{
		"": memory.Invalid, "none.md": memory.NotFound, "../outside.md": memory.NotFound, "/etc/passwd": memory.NotFound,
		"link.md": memory.NotFound, "picture.png": memory.NotFound, string(id): memory.NotFound,
	} {
		err := refused(t, e, op.NoteRead, &op.NoteReadRequest{Path: ref})
		if err.Code != code || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %s, %v, want %s", ref, err.Code, err, code)
		}
	}
	wantCode(t, refused(t, e, op.NoteRead, &op.NoteReadRequest{Path: "a.md", Line: 3}), memory.NotFound, `line 3 of note "a.md" is out of range (1 to 2)`)
	wantCode(t, refused(t, e, op.NoteRead, &op.NoteReadRequest{Path: "a.md", From: 3}), memory.NotFound, "ends before character 3")
	wantCode(t, refused(t, e, op.NoteRead, &op.NoteReadRequest{Path: "a.md", Limit: 200_001}), memory.Invalid, "limit 200001 is out of range (1 to 200000)")
	bare, _ := newEngine(t)
	wantCode(t, refused(t, bare, op.NoteRead, &op.NoteReadRequest{Path: "a.md"}), memory.NotFound, "no vault configured; set vaults: in the config file, or run: emberd serve --vault DIR")
}
