package eval

import (
	"emberd/internal/text"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Typo is a question of two or three words, right and with one slip of the keyboard, or one that is
// right and has a rare word.
type Typo struct {
	Right, Wrong string // Wrong is "" for a question with a rare word
	Name         string // of the thing that answers
}

// Typos makes questions of the set's own: at most so many that have two or three words, with one slip
// in one of them. The seed chooses.
func (s *Set) Typos(most int, seed uint64) []Typo {
	draw := rand.New(rand.NewPCG(seed, 1))
	var out []Typo
	for _, i := range draw.Perm(len(s.Questions)) {
		q := s.Questions[i]
		name := s.answer(q.ID)
		words := strings.Fields(q.Text)
		if len(words) < 2 || len(words) > 3 || name == "" || slices.ContainsFunc(words, isNoPlainWord) {
			continue
		}
		at := draw.IntN(len(words))
		wrong := slices.Clone(words)
		wrong[at] = slip(words[at], draw.Uint64())
		if wrong[at] != words[at] && len(out) < most {
			out = append(out, Typo{Right: q.Text, Wrong: strings.Join(wrong, " "), Name: name})
		}
	}
	return out
}

// answer returns the thing that answers a question, if it is one.
func (s *Set) answer(id string) string {
	relevant := s.Judgements[0].Relevant[id]
	for name := range relevant {
		if len(relevant) == 1 {
			return name
		}
	}
	return ""
}

func isNoPlainWord(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return !unicode.In(r, unicode.Latin) })
}

// comments are not searched.
var comments = text.Pattern("(?s)<!--.*?-->|%%.*?%%")

// RareWords makes at most so many questions of a word that one thing alone has and the word that
// stands beside it there.
func (s *Set) RareWords(most int, seed uint64) []Typo {
	draw := rand.New(rand.NewPCG(seed, 2))
	texts := make([][]string, len(s.Docs))
	holders := map[string]int{}
	for i := range s.Docs {
		texts[i] = strings.Fields(strings.ToLower(comments().ReplaceAllString(s.Baselines[0].Texts[i], "")))
		seen := map[string]bool{}
		for _, w := range texts[i] {
			if w = strings.TrimFunc(w, unicode.IsPunct); !seen[w] {
				seen[w] = true
				holders[w]++
			}
		}
	}
	var out []Typo
	for _, i := range draw.Perm(len(texts)) {
		for _, at := range draw.Perm(max(0, len(texts[i])-1)) {
			rare, beside := texts[i][at], texts[i][at+1]
			if len(out) < most && holders[rare] == 1 && isLong(rare) && isLong(beside) {
				out = append(out, Typo{Right: rare + " " + beside, Name: s.Docs[i].Name})
				break
			}
		}
	}
	return out
}

func isLong(word string) bool {
	return utf8.RuneCountInString(word) >= shortest && !isNoPlainWord(word)
}
