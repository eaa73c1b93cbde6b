package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const (
	noteWords   = 560 // in a note, on average
	noteTopic   = 20  // words that a note is about
	sampleCount = 1000
)

// endings make forms of a word, so that there is something to stem.
var endings = [...]string{"s", "ed", "ing", "er", "ly"}

// noteWriter writes notes as people keep them: properties, headings, lists, tasks,
// callouts, code, tags, links to other notes, the popular ones more often. Two of
// three words with a meaning are of the few that the note is about, which gives
// about as many different words as a page of English has.
type noteWriter struct {
	*prose
	titles  []string
	popular *rand.Zipf // which title is linked to
	common  *rand.Zipf // which tag is used
	topic   []string
}

// newNoteWriter returns what writes n notes, the same ones each time. The more
// notes, the more different words (Heaps' law, as for vocabulary).
func newNoteWriter(n int) *noteWriter {
	rng := rand.New(rand.NewPCG(uint64(n), 2))
	forms := 44 * math.Sqrt(float64(n)*noteWords)
	words := uint64(forms / 3)
	w := &noteWriter{
		prose:   &prose{rng, rand.NewZipf(rng, 1.1, 3, words), strings.Fields(functionWords)},
		titles:  make([]string, n),
		popular: rand.NewZipf(rng, 1.1, 10, uint64(n-1)),
		common:  rand.NewZipf(rng, 1.2, 2, 300),
	}
	for i := range w.titles {
		w.titles[i] = fmt.Sprintf("%s %d", capital(w.meaning(1+w.IntN(3))), i)
	}
	return w
}

// generated is a note, and a sentence of it to ask for.
type generated struct {
	path, text string
	sample     sample
}

// sample is some words of a note in a row, and where the note is.
type sample struct {
	words       []string
	folder, tag string
}

func (w *noteWriter) note(i int) generated {
	w.topic = strings.Fields(w.meaning(noteTopic))
	area := fmt.Sprintf("Area %d", i%40)
	g := generated{path: fmt.Sprintf("%s/%d/%s.md", area, i/40%5, w.titles[i])}
	g.sample = sample{words: w.sentence(10), folder: area + "/", tag: w.tag()}
	var b strings.Builder
	w.properties(&b, g.sample.tag)
	fmt.Fprintf(&b, "# %s\n\n%s.\n\n", w.titles[i], capital(strings.Join(g.sample.words, " ")))
	for want := b.Len() + int(3030*w.ExpFloat64()); b.Len() < want; {
		fmt.Fprintf(&b, "## %s\n\n", capital(w.meaning(1+w.IntN(3))))
		for range 2 + w.IntN(4) {
			w.block(&b)
		}
	}
	g.text = b.String()
	return g
}

func (w *noteWriter) properties(b *strings.Builder, tag string) {
	fmt.Fprintf(b, "---\ntags: [%s, %s]\ncreated: 20%02d-%02d-%02d\n", tag, w.tag(), 15+w.IntN(11), 1+w.IntN(12), 1+w.IntN(28))
	if w.IntN(3) == 0 {
		fmt.Fprintf(b, "aliases:\n  - %s\n", w.meaning(2))
	}
	if w.IntN(2) == 0 {
		fmt.Fprintf(b, "status: %s\n", [...]string{"open", "done", "later"}[w.IntN(3)])
	}
	b.WriteString("---\n")
}

// tag is one of 300, nested in one of 17.
func (w *noteWriter) tag() string {
	n := w.common.Uint64()
	return syllables(n%17) + "/" + syllables(n)
}

// block writes a paragraph, most of the time.
func (w *noteWriter) block(b *strings.Builder) {
	switch w.IntN(12) {
	case 0, 1:
		for range 3 + w.IntN(5) {
			fmt.Fprintf(b, "- %s\n", w.linked(4+w.IntN(8)))
		}
	case 2:
		for range 2 + w.IntN(3) {
			fmt.Fprintf(b, "- [%c] %s #%s\n", " x"[w.IntN(2)], w.linked(3+w.IntN(6)), w.tag())
		}
	case 3:
		fmt.Fprintf(b, "> [!note] %s\n> %s\n", capital(w.meaning(2)), w.linked(15))
	case 4:
		fmt.Fprintf(b, "```go\n%s := %s(%d)\n```\n", w.meaning(1), w.meaning(1), w.IntN(1000))
	default:
		for range 2 + w.IntN(4) {
			fmt.Fprintf(b, "%s. ", capital(w.linked(6+w.IntN(14))))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// linked is a sentence; one in four has a link.
func (w *noteWriter) linked(words int) string {
	s := strings.Join(w.sentence(words), " ")
	if w.IntN(4) > 0 {
		return s
	}
	to := w.titles[w.popular.Uint64()]
	switch w.IntN(4) {
	case 0:
		return fmt.Sprintf("%s [[%s|%s]]", s, to, w.meaning(2))
	case 1:
		return fmt.Sprintf("*%s* ![[%s]]", s, to)
	case 2:
		return fmt.Sprintf("%s [%s](https://example.org/%d)", s, w.meaning(1), w.IntN(10_000))
	}
	return fmt.Sprintf("%s [[%s]]", s, to)
}

func (w *noteWriter) sentence(words int) []string {
	out := make([]string, words)
	for i := range out {
		out[i] = w.form()
	}
	return out
}

// form is a word as it stands in a sentence.
func (w *noteWriter) form() string {
	word, content := w.word()
	if !content {
		return word
	}
	if w.IntN(3) > 0 {
		word = w.topic[w.IntN(len(w.topic))]
	}
	if w.IntN(5) == 0 {
		word += endings[w.IntN(len(endings))]
	}
	return word
}

// meaning is so many words that mean something.
func (w *noteWriter) meaning(words int) string {
	out := make([]string, 0, words)
	for len(out) < words {
		if word, content := w.word(); content {
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// notesVault is a vault of generated notes on disk.
type notesVault struct {
	dir     string
	paths   []string // from dir
	bytes   int64
	samples []sample // of notes evenly spread
}

// newNotesVault writes n notes and waits until the disk has them, so that it is
// not still busy with them when something is measured.
func newNotesVault(tb testing.TB, n int) *notesVault {
	tb.Helper()
	v, w := &notesVault{dir: tb.TempDir()}, newNoteWriter(n)
	for i := range n {
		g := w.note(i)
		v.paths = append(v.paths, g.path)
		v.bytes += int64(len(g.text))
		if i%max(1, n/sampleCount) == 0 {
			v.samples = append(v.samples, g.sample)
		}
		file := filepath.Join(v.dir, g.path)
		if i < 200 { // as many folders as there are
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				tb.Fatal(err)
			}
		}
		if err := os.WriteFile(file, []byte(g.text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	syscall.Sync()
	return v
}

// Generated notes have the length that is promised, and no less variety than real
// ones. Pages of 3,600 bytes of the Tasks documentation have 48 different words a
// kilobyte, abstracts of SciFact, which are shorter, 86.
func TestGeneratedNotes(t *testing.T) {
	const n = 500
	a, b := newNoteWriter(n), newNoteWriter(n)
	size, different, vocabulary := 0, 0, map[string]bool{}
	for i := range n {
		g := a.note(i)
		if again := b.note(i); g.text != again.text || g.path != again.path {
			t.Fatalf("note %d is another one the second time", i)
		}
		words := map[string]bool{}
		for _, word := range strings.FieldsFunc(strings.ToLower(g.text), notALetter) {
			words[word], vocabulary[word] = true, true
		}
		size, different = size+len(g.text), different+len(words)
	}
	t.Logf("%d bytes, %d different words a note, %d in all", size/n, different/n, len(vocabulary))
	if mean := size / n; mean < 3400 || mean > 3800 {
		t.Errorf("notes have %d bytes on average, want about 3,600", mean)
	}
	if density := 1000 * different / size; density < 48 || density > 86 {
		t.Errorf("notes have %d different words a kilobyte, want 48 to 86", density)
	}
}

func notALetter(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", r) }
