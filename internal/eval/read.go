package eval

import (
	"bytes"
	"cmp"
	"emberd/internal/text"
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// row is a line of any of the JSONL files.
type row struct {
	ID           string
	Conv         string
	Title        string
	Speaker      string
	Text         string
	Content      string
	Caption      string
	Question     string
	CategoryName string `json:"category_name"`
	Category     json.RawMessage
	Kind         string
	Difficulty   string
	Notes        []string
	Docs         []string
	Timestamp    time.Time
	CreatedAt    time.Time `json:"created_at"`
}

// category is the name of one, or what stands for it.
func (r *row) category() string {
	return cmp.Or(r.CategoryName, strings.Trim(string(r.Category), `"`), r.Kind, r.Difficulty)
}

// rows reads a JSONL file. A line that is no row is an error: a set with a hole
// is not the set.
func (f *folder) rows(name string, take func(*row)) error {
	text, err := f.read(name)
	if err != nil {
		return err
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("%s line %d: %w", name, n, err)
		}
		if r.ID == "" {
			return fmt.Errorf("%s line %d has no id", name, n)
		}
		take(&r)
	}
	return nil
}

func (f *folder) docs(s *Set) error {
	if s.Unit == Notes {
		return f.noteDocs(s)
	}
	plain := Baseline{Name: "plain BM25"}
	err := f.rows(s.Unit.file(), func(r *row) {
		d := Doc{Name: r.ID, Group: r.Conv, Content: s.Unit.content(r), Context: r.Caption, Created: r.Timestamp}
		if d.Created.IsZero() {
			d.Created = r.CreatedAt
		}
		s.Docs = append(s.Docs, d)
		plain.Texts = append(plain.Texts, d.Content+" "+d.Context)
	})
	s.Baselines = []Baseline{plain}
	return err
}

// content is what is saved of a row. A fact says itself who it is about.
func (u Unit) content(r *row) string {
	text := cmp.Or(r.Content, r.Text)
	switch {
	case u == Docs && r.Title != "":
		return r.Title + " " + text
	case u == Turns && r.Speaker != "":
		return r.Speaker + ": " + text
	}
	return text
}

// NotesRoot is the folder of a set that holds its notes: notes, vault, docs beside a
// file of questions, or "." for a folder that Obsidian has opened as a vault, whatever
// it holds; "" when there is none.
func NotesRoot(fsys fs.FS) string {
	f := folder{fsys: fsys}
	if f.has(".obsidian") {
		return "."
	}
	for _, dir := range []string{"notes", "vault", "docs"} {
		if info, err := fs.Stat(fsys, dir); err == nil && info.IsDir() && (dir != "docs" || f.has("queries.jsonl")) {
			return dir
		}
	}
	return ""
}

// frontmatter is a block of properties at the beginning of a note.
var frontmatter = text.Pattern(`(?s)\A\x{feff}?---[ \t]*\r?\n.*?\r?\n---[ \t]*(?:\r?\n|$)`)

// noteDocs reads the notes. What judges a set with notes/ knows them by the
// whole path, and plain BM25 reads the text alone; in a vault, file names are
// texts too, and plain BM25 is better off with the properties here and without
// them there, so it may try both.
func (f *folder) noteDocs(s *Set) error {
	if s.Root == "" {
		return &fs.PathError{Op: "read", Path: "notes", Err: fs.ErrNotExist}
	}
	named := s.Root == "notes"
	var whole, body []string
	err := f.notes(s.Root, func(name, text string) {
		d := Doc{Name: name, Path: strings.TrimPrefix(name, s.Root+"/")}
		if !named {
			d.Name = d.Path
		}
		d.Group, _, _ = strings.Cut(d.Path, "/")
		s.Docs = append(s.Docs, d)
		if named {
			whole = append(whole, text)
			return
		}
		whole = append(whole, d.Path+"\n"+text)
		body = append(body, d.Path+"\n"+frontmatter().ReplaceAllString(text, ""))
	})
	s.Baselines = []Baseline{{Name: "plain BM25", Texts: whole}}
	if !named {
		s.Baselines = append(s.Baselines, Baseline{Name: "plain BM25, body", Texts: body})
	}
	return err
}

// questions reads queries.jsonl and what judges it. The general qrels.tsv is
// about another unit when the folder has a file for this one, but for turns: there
// it is the judgements as they were before an audit. Questions about notes may name
// what answers them themselves.
func (f *folder) questions(s *Set) error {
	const name = "queries.jsonl"
	own := Judgements{File: name, Relevant: map[string]map[string]int{}}
	err := f.rows(name, func(r *row) {
		s.Questions = append(s.Questions,
			Question{ID: r.ID, Text: cmp.Or(r.Question, r.Text), Group: r.Conv, Category: r.category()})
		for _, doc := range r.Docs {
			own.set(r.ID, doc, 1)
		}
	})
	if err != nil {
		return err
	}
	if s.Unit == Notes && len(own.Relevant) > 0 {
		s.Judgements = append(s.Judgements, own)
		return nil
	}
	for _, name := range s.Unit.judgements() {
		if err := f.judge(s, name); err != nil {
			return err
		}
	}
	if s.Unit == Turns || len(s.Judgements) == 0 {
		return f.judge(s, "qrels.tsv")
	}
	return nil
}

// judge reads a file of judgements if it is there.
func (f *folder) judge(s *Set, name string) error {
	if !f.has(name) {
		return nil
	}
	text, err := f.read(name)
	if err != nil {
		return err
	}
	j := Judgements{File: name, Relevant: map[string]map[string]int{}}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if i == 0 || line == "" {
			continue
		}
		if err := j.add(strings.Split(line, "\t")); err != nil {
			return fmt.Errorf("%s line %d: %w", name, i+1, err)
		}
	}
	s.Judgements = append(s.Judgements, j)
	return nil
}

// add takes in a judgement. A grade of 0 or less says that a thing is no answer,
// which is so for everything that is not judged.
func (j Judgements) add(cells []string) error {
	if len(cells) != 3 {
		return fmt.Errorf("%d cells, want question, thing and grade apart by tabs", len(cells))
	}
	grade, err := strconv.Atoi(cells[2])
	if err != nil {
		return fmt.Errorf("the grade %q is not a whole number", cells[2])
	}
	if grade > 0 {
		j.set(cells[0], cells[1], grade)
	}
	return nil
}

func (j Judgements) set(question, name string, grade int) {
	if j.Relevant[question] == nil {
		j.Relevant[question] = map[string]int{}
	}
	j.Relevant[question][name] = grade
}
