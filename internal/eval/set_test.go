package eval

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestReadTurns(t *testing.T) {
	s := fixture(t, "talks", Turns)
	if len(s.Docs) != 14 || len(s.Questions) != 7 || !s.Grouped() {
		t.Errorf("%d documents, %d questions, grouped %v; want 14, 7, true", len(s.Docs), len(s.Questions), s.Grouped())
	}
	want := Doc{Name: "boat/3", Group: "boat", Content: "Ines: Battery is full, so I will look at the fuel filters.",
		Context: "a photo of a grey outboard motor with its cover off", Created: time.Date(2024, 5, 1, 9, 1, 0, 0, time.UTC)}
	if s.Docs[2] != want {
		t.Errorf("third document %+v, want %+v", s.Docs[2], want)
	}
	if got, want := s.Questions[0], (Question{"q1", "Why did the engine of the boat not start?", "boat", "cause"}); got != want {
		t.Errorf("first question %+v, want %+v", got, want)
	}
	if got, want := s.Unjudged, []string{"q4"}; !slices.Equal(got, want) {
		t.Errorf("not judged: %v, want %v", got, want)
	}
	if got, want := s.Categories(), []string{"cause", "detail"}; !slices.Equal(got, want) {
		t.Errorf("categories %v, want %v", got, want)
	}
	var files []string
	for _, f := range s.Files {
		files = append(files, f.Name)
	}
	if got, want := strings.Join(files, " "), "memories.jsonl queries.jsonl qrels_audited.tsv qrels.tsv"; got != want {
		t.Errorf("read %s, want %s", got, want)
	}
}

func TestReadNotes(t *testing.T) {
	s := fixture(t, "talks", Notes)
	want := Doc{Name: "notes/boat/2024-05-01 The engine.md", Group: "boat", Path: "boat/2024-05-01 The engine.md"}
	if s.Root != "notes" || s.Docs[0] != want {
		t.Errorf("in %q first %+v, want notes and %+v", s.Root, s.Docs[0], want)
	}
	s = fixture(t, "manual", Notes)
	if s.Root != "vault" || s.Docs[0].Name != "Care/Rust.md" || s.Grouped() {
		t.Errorf("in %q first %q, grouped %v; want vault, Care/Rust.md, false", s.Root, s.Docs[0].Name, s.Grouped())
	}
}

func TestJudgedDocumentsThatAreNotThere(t *testing.T) {
	s := fixture(t, "papers", Docs)
	if got, want := s.Absent, []string{"16"}; !slices.Equal(got, want) {
		t.Errorf("absent %v, want %v", got, want)
	}
}

// set is a folder with one document and one question.
func set(more ...string) fstest.MapFS {
	fsys := fstest.MapFS{
		"docs.jsonl":    {Data: []byte(`{"id": "d", "text": "a kite"}` + "\n")},
		"queries.jsonl": {Data: []byte(`{"id": "q", "text": "kite"}` + "\n")},
		"qrels.tsv":     {Data: []byte("query-id\tcorpus-id\tscore\nq\td\t1\n")},
	}
	for i := 0; i < len(more); i += 2 {
		fsys[more[i]] = &fstest.MapFile{Data: []byte(more[i+1])}
	}
	return fsys
}

func TestReadToleratesAndRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		fsys fs.FS
		want string // part of the error, "" for none
	}{
		{"plain", set(), ""},
		{"windows line ends, a grade of 0, a blank line", set("qrels.tsv", "q\td\ts\r\nq\td\t2\r\n\r\nq\tother\t0\r\n"), ""},
		{"judged question without text", set("qrels.tsv", "\nq\td\t1\nr\td\t1\n"), ""},
		{"no judgement", set("qrels.tsv", "query-id\tcorpus-id\tscore\n"), "no query has relevance judgments for the docs"},
		{"judgements of something else", set("qrels.tsv", "\nq\te\t1\n"), "none of what the judgements name is among the 1 docs"},
		{"bad grade", set("qrels.tsv", "\nq\td\tgood\n"), `qrels.tsv line 2: the grade "good" is not a whole number`},
		{"spaces for tabs", set("qrels.tsv", "\nq d 1\n"), "qrels.tsv line 2: 1 cells, want question, thing and grade"},
		{"bad line", set("docs.jsonl", "{\"id\": \"d\"}\nkite\n"), "docs.jsonl line 2: invalid character"},
		{"no id", set("queries.jsonl", `{"text": "kite"}`), "queries.jsonl line 1 has no id"},
	} {
		_, err := Read(test.fsys, Docs)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
	}
	for _, u := range []Unit{Turns, Facts, Notes} {
		if _, err := Read(set(), u); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of a set without: error %v, want %v", u, err, fs.ErrNotExist)
		}
	}
}

func TestReadNotesWhatDoesNotFit(t *testing.T) {
	fsys := set("qrels.tsv", "\nq\td\t1\nr\td\t1\nr\te\t0\n", "queries.jsonl", "{\"id\":\"q\"}\n{\"id\":\"q\"}\n{\"id\":\"p\"}\n")
	s, err := Read(fsys, Docs)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Questions) != 1 || !slices.Equal(s.Missing, []string{"r"}) || !slices.Equal(s.Unjudged, []string{"q", "p"}) || s.Absent != nil {
		t.Errorf("asked %v, missing %v, unjudged %v, absent %v; want q once, r, the second q and p, none", s.Questions, s.Missing, s.Unjudged, s.Absent)
	}
}

func TestNotesRoot(t *testing.T) {
	for want, files := range map[string][]string{
		"notes": {"notes/a.md", "vault/b.md"},
		"vault": {"vault/b.md", "README.md"},
		"docs":  {"docs/a.md", "queries.jsonl"},
		".":     {".obsidian/app.json", "notes/a.md"},
		"":      {"docs/a.md", "a.md"},
	} {
		fsys := fstest.MapFS{}
		for _, f := range files {
			fsys[f] = &fstest.MapFile{}
		}
		if got := NotesRoot(fsys); got != want {
			t.Errorf("of %v: %q, want %q", files, got, want)
		}
	}
}

// Questions may say themselves which notes answer them.
func TestReadQuestionsThatNameTheirDocs(t *testing.T) {
	s, err := Read(fstest.MapFS{
		"docs/kites/tail.md": {Data: []byte("A tail steadies a kite.")},
		"queries.jsonl":      {Data: []byte(`{"id": "q", "text": "why a tail", "difficulty": "easy", "docs": ["kites/tail.md"]}`)},
	}, Notes)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Questions[0], (Question{ID: "q", Text: "why a tail", Category: "easy"}); got != want {
		t.Errorf("question %+v, want %+v", got, want)
	}
	if j := s.Judgements[0]; j.File != "queries.jsonl" || j.Relevant["q"]["kites/tail.md"] != 1 || s.Docs[0].Name != "kites/tail.md" {
		t.Errorf("judgements %+v of %+v, want kites/tail.md for q", j, s.Docs)
	}
}

func TestNotesDigestFollowsNamesAndBytes(t *testing.T) {
	digest := func(files ...string) string {
		fsys := fstest.MapFS{}
		for i := 0; i < len(files); i += 2 {
			fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
		}
		f := folder{fsys: fsys}
		if err := f.notes(".", func(string, string) {}); err != nil {
			t.Fatal(err)
		}
		return f.files[0].SHA256
	}
	base := digest("a.md", "x", "b.md", "y")
	if digest("a.md", "x", "b.md", "y", ".trash/c.md", "z", "d.png", "z", ".e.md", "z") != base {
		t.Error("hidden and other files change the digest")
	}
	for _, other := range [][]string{{"a.md", "x"}, {"a.md", "x", "b.md", "z"}, {"a.md", "x", "c.md", "y"}} {
		if digest(other...) == base {
			t.Errorf("%v has the digest of other notes", other)
		}
	}
}

// Known items: one text is one question, of its strongest kind, unless that
// leaves open which note is meant.
func TestReadKnown(t *testing.T) {
	items := []Item{
		{Kind: Title, Text: "Rust", Note: "Care/Rust.md"}, {Kind: Title, Text: "Handles", Note: "Handles.md"}, {Kind: Title, Text: "Sharpening", Note: "Care/Sharpening.md"},
		{Kind: Alias, Text: "oil", Note: "Care/Rust.md"},
		{Kind: Heading, Text: "rust", Note: "Care/Rust.md"},
		{Kind: Heading, Text: "Which  stone", Note: "Care/Sharpening.md"}, {Kind: Heading, Text: "which stone", Note: "Handles.md"},
		{Kind: Heading, Text: "Sharpening", Note: "Handles.md"},
		{Kind: Link, Text: "stains", Note: "Care/Rust.md"}, {Kind: Link, Text: "Stains", Note: "Care/Rust.md"}, {Kind: Link, Text: "…", Note: "Handles.md"}, {Kind: Link, Text: "elsewhere", Note: "gone.md"},
	}
	s, err := ReadKnown(os.DirFS(path.Join(fixtures, "manual")), "vault", items)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, q := range s.Questions {
		for note := range s.Judgements[0].Relevant[q.ID] {
			got = append(got, q.Category+" "+q.Text+" > "+note)
		}
	}
	want := []string{"title Handles > Handles.md", "title Rust > Care/Rust.md", "title Sharpening > Care/Sharpening.md",
		"alias oil > Care/Rust.md", "link stains > Care/Rust.md"}
	if !slices.Equal(got, want) {
		t.Errorf("known items\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if s.Ambiguous != 1 {
		t.Errorf("%d ambiguous texts, want 1", s.Ambiguous)
	}
}

func TestQuestionsWithoutSpacesGetPairs(t *testing.T) {
	s, err := Read(set("docs.jsonl", `{"id": "d", "text": "安装配置文件"}`, "queries.jsonl", `{"id": "q", "text": "配置"}`), Docs)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Figures{{Questions: 1}, {1, 1, 1, 1, 1, 1}} {
		if got := s.Judgements[0].Measure(s.Questions, s.Plain(s.Baselines[i], false)); got != want {
			t.Errorf("%s: %v, want %v", s.Baselines[i].Name, got, want)
		}
	}
}
