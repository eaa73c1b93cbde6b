package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Set is one unit of a folder, read.
type Set struct {
	Unit Unit

	// Root is the folder of the notes within the set's; "" for other units.
	Root       string
	Docs       []Doc
	Baselines  []Baseline
	Questions  []Question // all are judged
	Judgements []Judgements
	Files      []File

	Unjudged  []string // ids of questions that nothing judges
	Missing   []string // ids of judged questions that are not among the questions
	Absent    []string // names of judged things that are not among Docs
	Ambiguous int      // known items left out because they mean more than one note
}

// Doc is a thing that can be found.
type Doc struct {
	Name    string // what judgements call it
	Group   string // the conversation that it is part of
	Path    string // of a note, from the set's Root
	Content string // of anything else
	Context string
	Created time.Time // zero when the set does not say
}

// Question is what is asked.
type Question struct {
	ID       string
	Text     string
	Group    string // the conversation that it is about
	Category string
}

// Baseline is a way in which plain BM25 may read the things of a set.
type Baseline struct {
	Name    string
	Texts   []string // by place in Docs
	Bigrams bool
}

// File identifies a file that a set was read from. The notes of a folder are one
// File, whose digest is over their names and digests.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	Rows   int    `json:"rows"` // lines, or notes
	SHA256 string `json:"sha256"`
}

// Read reads one unit of the set in fsys with the set's own questions. The error
// is fs.ErrNotExist when the folder has no such unit.
func Read(fsys fs.FS, u Unit) (*Set, error) {
	f := folder{fsys: fsys}
	s := &Set{Unit: u}
	if u == Notes {
		s.Root = NotesRoot(fsys)
	}
	if err := f.docs(s); err != nil {
		return nil, err
	}
	ask := f.questions
	if u == Notes && !f.has("queries.jsonl") && f.has("known_item.jsonl") {
		ask = f.knownItems
	}
	if err := ask(s); err != nil {
		return nil, err
	}
	return s.finish(&f)
}

// ReadKnown reads the notes in a folder of fsys, with questions made from items.
func ReadKnown(fsys fs.FS, root string, items []Item) (*Set, error) {
	f := folder{fsys: fsys}
	s := &Set{Unit: Notes, Root: root}
	if err := f.docs(s); err != nil {
		return nil, err
	}
	s.known(items)
	return s.finish(&f)
}

// finish keeps what can be asked and notes what does not fit together.
func (s *Set) finish(f *folder) (*Set, error) {
	s.Files = f.files
	have, judged, absent, present := map[string]bool{}, map[string]bool{}, map[string]bool{}, 0
	for _, d := range s.Docs {
		have[d.Name] = true
	}
	for _, j := range s.Judgements {
		for id, relevant := range j.Relevant {
			judged[id] = true
			for name := range relevant {
				if have[name] {
					present++
				} else {
					absent[name] = true
				}
			}
		}
	}
	s.Absent = slices.Sorted(maps.Keys(absent))
	s.keep(judged)
	switch {
	case len(s.Questions) == 0:
		return nil, fmt.Errorf("no query has relevance judgments for the %s", s.Unit)
	case present == 0:
		return nil, fmt.Errorf("none of what the judgements name is among the %d %s", len(s.Docs), s.Unit)
	}
	s.cutPairs()
	return s, nil
}

// cutPairs adds to every baseline one that cuts runs of letters into pairs, when
// a question is in a script that has no spaces.
func (s *Set) cutPairs() {
	if !slices.ContainsFunc(s.Questions, func(q Question) bool { return noSpaces().MatchString(q.Text) }) {
		return
	}
	for _, b := range s.Baselines {
		s.Baselines = append(s.Baselines, Baseline{Name: b.Name + ", bigrams", Texts: b.Texts, Bigrams: true})
	}
}

// keep leaves the questions that are judged, each once.
func (s *Set) keep(judged map[string]bool) {
	s.Questions = slices.DeleteFunc(s.Questions, func(q Question) bool {
		if judged[q.ID] {
			delete(judged, q.ID)
			return false
		}
		s.Unjudged = append(s.Unjudged, q.ID)
		return true
	})
	s.Missing = slices.Sorted(maps.Keys(judged))
}

// Grouped reports whether every question is about one conversation of the set.
func (s *Set) Grouped() bool {
	groups := map[string]bool{}
	for _, d := range s.Docs {
		groups[d.Group] = true
	}
	return !slices.ContainsFunc(s.Questions, func(q Question) bool { return q.Group == "" || !groups[q.Group] })
}

// Categories lists the categories of the questions, sorted; none when there is
// but one.
func (s *Set) Categories() []string {
	names := map[string]bool{}
	for _, q := range s.Questions {
		names[q.Category] = true
	}
	if len(names) < 2 {
		return nil
	}
	return slices.Sorted(maps.Keys(names))
}

// In returns the questions of a category, all for "".
func (s *Set) In(category string) []Question {
	return slices.DeleteFunc(slices.Clone(s.Questions),
		func(q Question) bool { return category != "" && q.Category != category })
}

// Plain is what plain BM25 finds over a baseline's texts, at most ten for each
// question: among all, or if grouped among those of the question's conversation.
func (s *Set) Plain(b Baseline, grouped bool) Run {
	type texts struct{ names, texts []string }
	parts := map[string]*texts{}
	group := func(name string) string {
		if !grouped {
			return ""
		}
		return name
	}
	for i, d := range s.Docs {
		p := parts[group(d.Group)]
		if p == nil {
			p = &texts{}
			parts[group(d.Group)] = p
		}
		p.names, p.texts = append(p.names, d.Name), append(p.texts, b.Texts[i])
	}
	engines := map[string]*BM25{}
	for name, p := range parts {
		engines[name] = NewBM25(p.names, p.texts, b.Bigrams)
	}
	run := Run{}
	for _, q := range s.Questions {
		if e := engines[group(q.Group)]; e != nil {
			run[q.ID] = e.Search(q.Text, 10)
		}
	}
	return run
}

// folder reads files and remembers which.
type folder struct {
	fsys  fs.FS
	files []File
}

func (f *folder) has(name string) bool {
	_, err := fs.Stat(f.fsys, name)
	return err == nil
}

func (f *folder) read(name string) ([]byte, error) {
	text, err := fs.ReadFile(f.fsys, name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	f.files = append(f.files, File{Name: name, Bytes: int64(len(text)), Rows: strings.Count(string(text), "\n"),
		SHA256: hex.EncodeToString(sum[:])})
	return text, nil
}

// notes takes the Markdown files below root that are not hidden and can be read.
func (f *folder) notes(root string, take func(name, text string)) error {
	all := File{Name: root}
	digest := sha256.New()
	err := fs.WalkDir(f.fsys, root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == root:
			return err
		case err != nil:
			return nil // a folder that cannot be read
		case name != root && strings.HasPrefix(d.Name(), ".") && d.IsDir():
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") || !strings.EqualFold(path.Ext(name), ".md"):
			return nil
		}
		text, err := fs.ReadFile(f.fsys, name)
		if err != nil {
			return nil // it counts as absent where it is judged
		}
		sum := sha256.Sum256(text)
		fmt.Fprintf(digest, "%q %x\n", name, sum)
		all.Rows++
		all.Bytes += int64(len(text))
		take(name, strings.ToValidUTF8(string(text), "\ufffd"))
		return nil
	})
	all.SHA256 = hex.EncodeToString(digest.Sum(nil))
	f.files = append(f.files, all)
	return err
}
