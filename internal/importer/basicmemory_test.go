package importer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// folder makes notes, each its name and its text, that were written long ago.
func folder(t testing.TB, notes ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(notes); i += 2 {
		name := filepath.Join(dir, notes[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(notes[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, noon, noon.Add(-48*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func basic(t testing.TB, each bool, notes ...string) string {
	t.Helper()
	return told(BasicMemory(t.Context(), folder(t, notes...), &BasicMemoryOptions{Options: Options{Now: noon}, Observations: each}))
}

// noteOf reads a folder with one note of a text in it.
func noteOf(t *testing.T, text string) *Result {
	t.Helper()
	h, err := BasicMemory(t.Context(), folder(t, "note.md", text), &BasicMemoryOptions{Options: Options{Now: noon}, Observations: true})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestBasicMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		each  bool
		notes []string
		want  string
	}{
		"a title that the text begins with": {false, []string{"a.md", "---\ntitle: The Loom\n---\n## the loom\n\nof brass\n"}, "1 met\na.md 0: \"## the loom\\n\\nof brass\" also=The Loom,a\n"},
		"nothing but a name":                {false, []string{"x/Ada.md", ""}, "1 met\nx/Ada.md 0: \"Ada\" also=Ada,x/Ada\n"},
		"Windows":                           {false, []string{"a.md", "\ufeff---\r\ntitle: A\r\n---\r\none\r\n- is [[b]]\r\n", "b.md", "two"}, "2 met\na.md 0: \"A\\n\\none\\n- is [[b]]\" also=A,a\nb.md 0: \"b\\n\\ntwo\" also=b\na.md 5: A -related:is-> b\n"},
		"relations": {false, []string{"a.md", "- is [[b]] (c)\n- \"made of\" [[B|shown]]\n- causes [[b#Head]]\n- some words [[b]] and more\n* is [[b]] (again)\n- is [[b]] and [[b]]\n",
			"b.md", "[[a]], [[b]]"},
			"2 met\na.md 0: \"a\\n\\n- is [[b]] (c)\\n- \\\"made of\\\" [[B|shown]]\\n- causes [[b#Head]]\\n- some words [[b]] and more\\n* is [[b]] (again)\\n- is [[b]] and [[b]]\" also=a\nb.md 0: \"b\\n\\n[[a]], [[b]]\" also=b\n" +
				"a.md 1: a -related:is-> b\na.md 2: a -related:made of-> B\na.md 3: a -causes:-> b\na.md 4: a -related:links_to-> b\nb.md 1: b -related:links_to-> a\n"},
		"names before paths": {false, []string{"x/a.md", "one", "b.md", "---\npermalink: a\n---\ntwo", "c.md", "[[a]]"},
			"3 met\nb.md 0: \"b\\n\\ntwo\" also=a,b\nc.md 0: \"c\\n\\n[[a]]\" also=c\nx/a.md 0: \"a\\n\\none\" also=a,x/a\nc.md 1: c -related:links_to-> a\n"},
		"several of a name": {false, []string{"x/a.md", "one", "y/a.md", "two", "c.md", "[[a]]"},
			"3 met\nc.md 0: \"c\\n\\n[[a]]\" also=c\nx/a.md 0: \"a\\n\\none\" also=a,x/a\ny/a.md 0: \"a\\n\\ntwo\" also=a,y/a\nc.md 1: c -related:links_to-> a\nc.md 1: note: several notes have the name \"a\"; emberd links the relation to x/a.md\n"},
		"a permalink twice": {false, []string{"a.md", "---\npermalink: n/a\n---\none", "b.md", "---\npermalink: n/a\n---\ntwo", "c.md", "[[n/a]] [[b]]"},
			"3 met\na.md 0: \"a\\n\\none\" also=n/a,a\nb.md 0: \"b\\n\\ntwo\" also=b\nc.md 0: \"c\\n\\n[[n/a]] [[b]]\" also=c\nc.md 1: c -related:links_to-> n/a\nc.md 1: c -related:links_to-> b\nb.md 0: note: another note has the name \"n/a\", so emberd uses the path of this note instead\n"},
		"observations": {true, []string{"a.md", "- [fact] one #x #y/z (here)\n- [x] done\n- [00:12] spoken\n- [?] asked\n- [ ] open\n- [link](to)\n- [[b]]\n- [idea] (why) two\n```\n- [code] x\n```\n> - [quote] x\n"},
			"3 met\na.md 0: \"a\\n\\n- [fact] one #x #y/z (here)\\n- [x] done\\n- [00:12] spoken\\n- [?] asked\\n- [ ] open\\n- [link](to)\\n- [[b]]\\n- [idea] (why) two\\n```\\n- [code] x\\n```\\n> - [quote] x\" tags=x,y/z also=a\n" +
				"a.md 1: \"one #x #y/z\" category=fact context=here tags=x,y/z\na.md 8: \"(why) two\" category=idea\n" +
				"a.md 1: one #x #y/z -related:observation_of-> a\na.md 8: (why) two -related:observation_of-> a\na.md 7: a -related:links_to-> b\n"},
		"a note of emberd's": {false, []string{"a.md", "---\nmemory-id: 0b54d5a3-5a4b-4c53-8a27-111111111111\n---\none"}, "0 met\na.md 0: note: skipped this note, because emberd wrote it\n"},
		"other files":        {false, []string{"a.txt", "x", ".obsidian/b.md", "x", "c.md", "one"}, "1 met\nc.md 0: \"c\\n\\none\" also=c\n"},
	} {
		if got := basic(t, c.each, c.notes...); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestPropertiesOfANote(t *testing.T) {
	t.Parallel()
	h, err := BasicMemory(t.Context(), folder(t, "a.md", "---\ntitle: A\ntype: person\npermalink: main/a\ntags: [x, Y Z]\ncreated: 2025-01-02T03:04:05Z\nmodified: 2025-02-03T00:00:00Z\nschema: {a: b}\nfile_path: x.py\naliases: [Ada]\n---\nkey:: value\n"),
		&BasicMemoryOptions{Options: Options{Now: noon, Collection: "notes", Tags: []string{"imported"}}})
	if err != nil || len(h.Records) != 1 {
		t.Fatalf("%d notes, %v", len(h.Records), err)
	}
	m := h.Records[0].Memory
	if m.Type != "person" || m.Collection != "notes" || strings.Join(m.Tags, " ") != "x y_z imported" && strings.Join(m.Tags, " ") != "x imported" || strings.Join(m.Aliases, " ") != "main/a A a" {
		t.Errorf("read %+v", m)
	}
	if m.CreatedAt.Format(time.RFC3339) != "2025-01-02T03:04:05Z" || m.UpdatedAt.Format(time.RFC3339) != "2025-02-03T00:00:00Z" {
		t.Errorf("made %v, changed %v", m.CreatedAt, m.UpdatedAt)
	}
	for key, want := range map[string]string{"title": `"A"`, "file_path": `"x.py"`, "aliases": `["Ada"]`} {
		if string(m.Meta[key]) != want {
			t.Errorf("meta %s is %s, want %s", key, m.Meta[key], want)
		}
	}
	if m.Meta["schema"] == nil || m.Meta["key"] != nil || len(m.Meta) != 4 {
		t.Errorf("meta is %s", m.Meta)
	}
}

// TestLinksAreNotFollowed reads a folder with a symbolic link out of it.
func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	dir := folder(t, "a.md", "one")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "b.md")); err != nil {
		t.Skip(err)
	}
	got := told(BasicMemory(t.Context(), dir, &BasicMemoryOptions{Options: Options{Now: noon}}))
	if want := "2 met\na.md 0: \"a\\n\\none\" also=a\nb.md 0: failed: "; !strings.HasPrefix(got, want) || !strings.Contains(got, "symbolic link") {
		t.Errorf("got\n%s", got)
	}
}
