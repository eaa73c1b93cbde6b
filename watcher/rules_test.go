package watcher

import "testing"

func TestWhatIsHidden(t *testing.T) {
	patterns := []string{"archive/", "*.draft.md", "/Inbox.md", "job/**/private", "projects/*/build/", "[Tt]emplates"}
	r, err := newRules([]string{".md"}, patterns)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]bool{
		".":                            false,
		"note.md":                      false,
		"a/b/note.md":                  false,
		".obsidian/workspace.json":     true,
		"a/.trash/note.md":             true,
		".hidden.md":                   true,
		".note.md.icloud":              true,
		"a/.#note.md":                  true,
		"note.md~":                     false, // may be a folder
		"old~/note.md":                 false,
		"x.tmp/#box#/~$box/note.md":    false,
		"archive/old.md":               true,
		"a/archive/old.md":             true,
		"archive":                      false, // may be a file; the look tells
		"archive.md":                   false,
		"a/b.draft.md":                 true,
		"Inbox.md":                     true,
		"a/Inbox.md":                   false,
		"job/private":                  true,
		"job/a/b/private/note.md":      true,
		"home/job/private/note.md":     false,
		"projects/x/build/note.md":     true,
		"projects/x/y/build/note.md":   false,
		"Templates/daily.md":           true,
		"a/templates":                  true,
		"C# notes.md":                  false,
		"what #tags are.md":            false,
		"100 % ~ approximately.md":     false,
		"日本語/ノート.md":                   false,
		"note.sync-conflict-2026-1.md": false,
	} {
		if got := r.hides(p); got != want {
			t.Errorf("hides(%q) = %v, want %v", p, got, want)
		}
	}
}

func TestWhatIsUnfinished(t *testing.T) {
	r, err := newRules([]string{".md"}, []string{"archive/"})
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]struct{ file, folder bool }{
		"a/note.md~":             {file: true},
		"#note.md#":              {file: true},
		"~$note.md":              {file: true},
		"~syncthing~note.md.tmp": {file: true},
		"archive":                {folder: true},
		".note.md":               {true, true},
		"#note.md":               {},
		"old~/note.md":           {},
	} {
		if file, folder := r.ignores(p, false), r.ignores(p, true); file != want.file || folder != want.folder {
			t.Errorf("%q is ignored as a file %v, as a folder %v; want %+v", p, file, folder, want)
		}
	}
}

func TestWhatIsWanted(t *testing.T) {
	r, err := newRules([]string{".md", ".canvas"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"note.md": true, "NOTE.MD": true, "board.canvas": true,
		"note": false, "note.md.bak": false, "md": false, "4913": false, "note.markdown": false,
	} {
		if got := r.wanted(name); got != want {
			t.Errorf("wanted(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestExtensionsThatAreRefused(t *testing.T) {
	for _, ext := range []string{"", "md", "*.md"} {
		if _, err := newRules([]string{ext}, nil); err == nil {
			t.Errorf("extension %q was accepted", ext)
		}
	}
}

func TestPatternsThatAreRefused(t *testing.T) {
	for _, text := range []string{"", "/", "[", "a//b", "!keep.md"} {
		if _, err := newRules(nil, []string{text}); err == nil {
			t.Errorf("pattern %q was accepted", text)
		}
	}
}
