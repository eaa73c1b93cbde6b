package eval

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Kind is where in a vault a known item is from.
type Kind string

// The kinds, strongest first.
const (
	Title   Kind = "title"
	Alias   Kind = "alias"
	Link    Kind = "link" // the text that another note shows for it
	Heading Kind = "heading"
)

// Kinds lists all kinds, strongest first.
func Kinds() []Kind { return []Kind{Title, Alias, Link, Heading} }

// Item is a text that stands for a note of a vault, or for a memory.
type Item struct {
	Kind   Kind
	Text   string
	Note   string // the note's path from the vault's root, or the memory's id
	Memory bool
}

// knownItems reads known_item.jsonl, which is questions and judgements in one.
func (f *folder) knownItems(s *Set) error {
	const name = "known_item.jsonl"
	j := Judgements{File: name, Relevant: map[string]map[string]int{}}
	err := f.rows(name, func(r *row) {
		s.Questions = append(s.Questions, Question{ID: r.ID, Text: r.Text, Category: r.category()})
		for _, note := range r.Notes {
			j.set(r.ID, note, 1)
		}
	})
	s.Judgements = []Judgements{j}
	return err
}

// known makes a question of every text that stands for exactly one note. What
// text a kind claims is no item of a weaker one; what means several notes of its
// strongest kind is none at all, since no order among them would be right.
func (s *Set) known(items []Item) {
	names := map[string]string{} // of things, by path
	for _, d := range s.Docs {
		names[d.Path] = d.Name
	}
	j := Judgements{File: "known items", Relevant: map[string]map[string]int{}}
	claimed := map[string]bool{}
	for _, kind := range Kinds() {
		order, notes, written := byText(items, kind)
		for i, text := range order {
			switch {
			case claimed[text]:
			case len(notes[text]) > 1:
				s.Ambiguous++
			case names[notes[text][0]] != "":
				id := fmt.Sprintf("%s/%04d", kind, i+1)
				s.Questions = append(s.Questions, Question{ID: id, Text: written[text], Category: string(kind)})
				j.set(id, names[notes[text][0]], 1)
			}
			claimed[text] = true
		}
	}
	s.Judgements = []Judgements{j}
}

// byText gathers the items of a kind: their texts regardless of case and space,
// sorted, the notes that each stands for, and how it was first written.
func byText(items []Item, kind Kind) (order []string, notes map[string][]string, written map[string]string) {
	notes, written = map[string][]string{}, map[string]string{}
	for _, it := range items {
		text := strings.Join(strings.Fields(it.Text), " ")
		folded := strings.ToLower(text)
		if it.Kind != kind ||
			!strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			continue
		}
		if notes[folded] == nil {
			order, written[folded] = append(order, folded), text
		}
		if !slices.Contains(notes[folded], it.Note) {
			notes[folded] = append(notes[folded], it.Note)
		}
	}
	slices.Sort(order)
	return order, notes, written
}
