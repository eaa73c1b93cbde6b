package bench

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/op"
)

// question is what somebody looks for who remembers a note.
type question struct {
	words  []string
	phrase bool   // the words stand in this order
	folder string // that the note is in, "" for any
	tag    string // that it has, "" for any
}

// asking draws questions from samples of notes.
type asking struct {
	*rand.Rand
	samples []sample
}

// kinds are the questions that are measured.
var kinds = []struct {
	name string
	draw func(*asking) question
}{
	{"words", func(a *asking) question { return question{words: a.some(2 + a.IntN(5))} }},
	{"words-and-function-words", func(a *asking) question { return question{words: a.row(1, 2)} }},
	{"common", func(a *asking) question { return question{words: []string{syllables(a.Uint64N(100))}} }},
	{"phrase", func(a *asking) question { return question{words: a.row(1, 3), phrase: true} }},
	{"phrase-of-content-words", func(a *asking) question { return question{words: a.row(3, 3), phrase: true} }},
	{"phrase-of-function-words", func(a *asking) question { return question{words: a.row(0, 0), phrase: true} }},
	{"folder", func(a *asking) question {
		return question{words: a.some(3), folder: a.samples[a.IntN(len(a.samples))].folder}
	}},
	{"tag", func(a *asking) question {
		return question{words: a.some(3), tag: a.samples[a.IntN(len(a.samples))].tag}
	}},
}

// some is up to n words of a sentence, two at least, function words left out.
func (a *asking) some(n int) []string {
	for {
		words := slices.DeleteFunc(slices.Clone(a.samples[a.IntN(len(a.samples))].words), isFunction)
		if len(words) < 2 {
			continue
		}
		a.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		return words[:min(n, len(words))]
	}
}

// row is three words of a sentence, one after the other, of which at least and at
// most so many mean something.
func (a *asking) row(least, most int) []string {
	const length = 3
	for {
		words := a.samples[a.IntN(len(a.samples))].words
		row := words[a.IntN(len(words)-length+1):][:length]
		if n := len(slices.DeleteFunc(slices.Clone(row), isFunction)); n >= least && n <= most {
			return row
		}
	}
}

func isFunction(word string) bool { return strings.Contains(" "+functionWords+" ", " "+word+" ") }

func (q question) emberd() string {
	query := strings.Join(q.words, " ")
	if q.phrase {
		query = `"` + query + `"`
	}
	if q.folder != "" {
		query += ` path:"` + q.folder + `"`
	}
	if q.tag != "" {
		query += " tag:" + q.tag
	}
	return query
}

// fts5 is the same without folder and tag. Any of the words may match.
func (q question) fts5() string {
	if q.phrase {
		return `"` + strings.Join(q.words, " ") + `"`
	}
	return `"` + strings.Join(q.words, `" OR "`) + `"`
}

// Questions of a block. recoll needs a process for each, so it gets fewer.
const (
	blockQuestions  = 200
	recollQuestions = 20
)

// search asks the daemon through its socket, and SQLite in its own process, by
// turns; recoll is asked some of the questions, each by a process of its own, and
// something it cannot find, which tells what such a process takes.
func (f *followed) search(b *testing.B) {
	d, _, _ := f.follow(b, 10*time.Millisecond)
	var session *fts5Session
	if f.peers.fts5 != "" {
		session = f.peers.openFTS5(b)
	}
	for i, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			a := &asking{rand.New(rand.NewPCG(uint64(i), 3)), f.vault.samples}
			var s searches
			s.block(b, d, session, a, kind.draw) // the first answers read from disk
			s = searches{}
			for b.Loop() {
				s.block(b, d, session, a, kind.draw)
			}
			if kind.name == "words" && f.peers.recoll != nil {
				s.askRecoll(b, &f.peers, a, kind.draw)
			}
			if filtered := kind.name == "folder" || kind.name == "tag"; !filtered && s.emberdEmpty > len(s.emberd)/10 {
				b.Fatalf("%d of %d questions drawn from the notes were answered with nothing", s.emberdEmpty, len(s.emberd))
			}
			f.shown.report(b, s.figures())
		})
	}
}

// searches are the times of answers, and how many answers were empty.
type searches struct {
	emberd, fts5, recoll, recollStart     []time.Duration
	emberdEmpty, fts5Empty, recollEmpties int
}

func (s *searches) block(b *testing.B, d *daemon, session *fts5Session, a *asking, draw func(*asking) question) {
	questions := make([]question, blockQuestions)
	for i := range questions {
		questions[i] = draw(a)
	}
	for _, q := range questions {
		begun := time.Now()
		res := call(b, d, op.Search, &op.SearchRequest{Query: q.emberd(), Scope: "notes"})
		s.emberd = append(s.emberd, time.Since(begun))
		s.emberdEmpty += empty(len(res.Hits))
	}
	if session == nil || questions[0].tag != "" { // the table has no column of tags
		return
	}
	for _, q := range questions {
		took, hits := session.ask(b, q)
		s.fts5 = append(s.fts5, took)
		s.fts5Empty += empty(hits)
	}
}

func (s *searches) askRecoll(b *testing.B, p *peers, a *asking, draw func(*asking) question) {
	for range recollQuestions {
		took, hits := p.askRecoll(b, draw(a).words)
		s.recoll = append(s.recoll, took)
		s.recollEmpties += empty(hits)
		took, _ = p.askRecoll(b, []string{"nothingofthekind"})
		s.recollStart = append(s.recollStart, took)
	}
}

// empty counts an answer without hits.
func empty(hits int) int {
	if hits == 0 {
		return 1
	}
	return 0
}

func (s *searches) figures() *figures {
	got := new(figures)
	got.add("p50-ms", millis(quantile(s.emberd, 0.5)))
	got.add("p99-ms", millis(quantile(s.emberd, 0.99)))
	got.add("searches", float64(len(s.emberd)))
	got.add("empty", float64(s.emberdEmpty))
	if len(s.fts5) > 0 {
		got.add("FTS5-p50-ms", millis(quantile(s.fts5, 0.5)))
		got.add("FTS5-p99-ms", millis(quantile(s.fts5, 0.99)))
		got.add("p50/FTS5", millis(median(s.emberd))/millis(median(s.fts5)))
		got.add("FTS5-empty", float64(s.fts5Empty))
	}
	if len(s.recoll) > 0 {
		got.add("recollq-p50-ms", millis(median(s.recoll)))
		got.add("recollq-finding-nothing-ms", millis(median(s.recollStart)))
		got.add("recollq-empty", float64(s.recollEmpties))
	}
	return got
}

func TestQuestionsAreOfTheNotes(t *testing.T) {
	w := newNoteWriter(300)
	a := &asking{rand.New(rand.NewPCG(1, 1)), nil}
	texts := make(map[string]string) // by folder
	for i := range len(w.titles) {
		g := w.note(i)
		a.samples = append(a.samples, g.sample)
		texts[g.sample.folder] += strings.ToLower(g.text)
	}
	all := strings.Join(slices.Collect(maps.Values(texts)), "")
	for _, kind := range kinds {
		for range 20 {
			q := kind.draw(a)
			if q.phrase && !strings.Contains(all, strings.Join(q.words, " ")) {
				t.Errorf("%s: no note has the phrase %q", kind.name, q.words)
			}
			for _, word := range q.words {
				if !strings.Contains(all, word) {
					t.Errorf("%s: no note has the word %q", kind.name, word)
				}
			}
			if _, ok := texts[q.folder]; q.folder != "" && !ok {
				t.Errorf("%s: no note is in the folder %q", kind.name, q.folder)
			}
		}
	}
}
