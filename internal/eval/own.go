package eval

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Asked is the kind of a line of a note or memory that asks something.
const Asked Kind = "question"

// Named is the class of questions that hold the name of what answers them. Whatever ranks
// by words answers them, so they are counted apart.
const Named = "named"

// What a question made of somebody's own words may be.
const (
	maxRunes = 200
	minAsks  = 3 // words of a line that asks; such as "Why?" could mean anything
)

// Own are questions made of what somebody wrote, each with the one thing that it stands
// for by their own hand.
type Own struct {
	Questions  []Question
	Judgements Judgements
	// Memory says of an answer's name that it is that of a memory.
	Memory map[string]bool
	// Found counts the texts of each class that stand for one thing, of which the
	// questions are a sample, and Ambiguous those that stand for several.
	Found     map[string]int
	Ambiguous int
}

// OwnQuestions makes at most so many questions of items, as many of each class as there
// are. A text that is the very name of its answer is none, nor is one that stands for
// several things, by whatever kinds. The same items and seed give the same questions.
func OwnQuestions(items []Item, most int, seed uint64) *Own {
	o := &Own{Found: map[string]int{}, Memory: map[string]bool{},
		Judgements: Judgements{File: "own words", Relevant: map[string]map[string]int{}}}
	classes := o.classes(items)
	for _, texts := range classes {
		slices.SortFunc(texts, func(a, b ownText) int {
			return cmp.Or(cmp.Compare(drawn(seed, a.text), drawn(seed, b.text)), cmp.Compare(a.text, b.text))
		})
	}
	names := slices.Sorted(maps.Keys(classes))
	for place := 0; len(o.Questions) < most; place++ {
		before := len(o.Questions)
		for _, class := range names {
			if place < len(classes[class]) && len(o.Questions) < most {
				o.add(class, classes[class][place])
			}
		}
		if len(o.Questions) == before {
			break
		}
	}
	return o
}

func (o *Own) add(class string, t ownText) {
	id := fmt.Sprintf("%s/%04d", class, len(o.Questions)+1)
	o.Questions = append(o.Questions, Question{ID: id, Text: t.text, Category: class, Group: t.answer})
	o.Judgements.set(id, t.answer, 1)
	o.Memory[t.answer] = t.memory
}

// drawn orders texts at random, the same for the same seed.
func drawn(seed uint64, text string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, text)
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// ownText is a text that stands for one thing.
type ownText struct {
	text   string
	answer string
	memory bool
}

// classes finds the texts that stand for one thing.
func (o *Own) classes(items []Item) map[string][]ownText {
	answers, names := map[string][]string{}, map[string]string{} // by folded text; titles by answer
	for _, it := range items {
		text := fold(it.Text)
		if !slices.Contains(answers[text], it.Note) {
			answers[text] = append(answers[text], it.Note)
		}
		if it.Kind == Title {
			names[it.Note] = text
		}
	}
	classes, done := map[string][]ownText{}, map[string]bool{}
	for _, kind := range []Kind{Link, Alias, Asked, Heading} {
		for _, it := range items {
			text := fold(it.Text)
			if it.Kind != kind || done[text] || !asks(it.Kind, text) || text == names[it.Note] {
				continue
			}
			done[text] = true
			if len(answers[text]) > 1 {
				o.Ambiguous++
				continue
			}
			class := string(kind)
			if names[it.Note] != "" && holds(text, names[it.Note]) {
				class = Named
			}
			o.Found[class]++
			classes[class] = append(classes[class],
				ownText{strings.Join(strings.Fields(it.Text), " "), it.Note, it.Memory})
		}
	}
	return classes
}

// fold is a text regardless of case and space.
func fold(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// plainWords reads texts as plain BM25 does, scripts without spaces in pairs of letters.
func plainWords(text string) []string {
	b := NewBM25(nil, nil, true)
	return b.words(text)
}

// asks says whether a text of a kind can be asked: it says something, and not much more
// than one would type.
func asks(kind Kind, folded string) bool {
	words := plainWords(folded)
	switch {
	case utf8.RuneCountInString(folded) > maxRunes, len(words) == 0:
		return false
	case kind == Asked:
		return len(strings.Fields(folded)) >= minAsks || len(words) >= minAsks
	}
	return !strings.ContainsFunc(folded, unicode.IsControl)
}

// holds says whether a text has all words of a name.
func holds(text, name string) bool {
	words := plainWords(text)
	of := plainWords(name)
	return len(of) > 0 && !slices.ContainsFunc(of, func(w string) bool { return !slices.Contains(words, w) })
}

// Asking lists the lines of a text that ask something, without the marks of lists and
// quotes before them.
func Asking(text string) []string {
	var asking []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		line = strings.TrimLeftFunc(line,
			func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("-*+>#•", r) })
		line = strings.TrimPrefix(strings.TrimPrefix(line, "[ ] "), "[x] ")
		if strings.HasSuffix(line, "?") || strings.HasSuffix(line, "？") {
			asking = append(asking, line)
		}
	}
	return asking
}
