package eval

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sample keeps at most so many questions, spread over all of them.
func (s *Set) Sample(most int) {
	if n := len(s.Questions); n > most {
		kept := make([]Question, 0, most)
		for i := range most {
			kept = append(kept, s.Questions[i*n/most])
		}
		s.Questions = kept
	}
}

// Half keeps every other question, beginning with the first, or with the second if not odd.
// Parameters are chosen on one half and judged on the other.
func (s *Set) Half(odd bool) {
	kept := s.Questions[:0:0]
	for i, q := range s.Questions {
		if (i%2 == 0) == odd {
			kept = append(kept, q)
		}
	}
	s.Questions = kept
}

// shortest is the length of words that people misspell here.
const shortest = 5

// Misspell makes slips of the keyboard in every question: in its longest word, and in
// every other word of five letters or more with even chances. The same set is always
// misspelled in the same way.
func (s *Set) Misspell() {
	for i := range s.Questions {
		s.Questions[i].Text = misspell(s.Questions[i].Text)
	}
}

func misspell(text string) string {
	words := strings.Split(text, " ")
	longest := 0
	for i, w := range words {
		if utf8.RuneCountInString(w) > utf8.RuneCountInString(words[longest]) {
			longest = i
		}
	}
	for i, w := range words {
		if at := drawn(uint64(i), w); i == longest || at&1 == 1 {
			words[i] = slip(w, at>>1)
		}
	}
	return strings.Join(words, " ")
}

// slip changes a letter within a word: leaves it out, doubles it, or swaps it with the
// one after it. The first and the last stay, as they mostly do.
func slip(word string, at uint64) string {
	runes := []rune(word)
	if len(runes) < shortest ||
		strings.ContainsFunc(word, func(r rune) bool { return !unicode.Is(unicode.Latin, r) && !unicode.IsPunct(r) }) {
		return word
	}
	i := 1 + int(at%uint64(len(runes)-3))
	switch at >> 32 % 3 {
	case 0:
		return string(runes[:i]) + string(runes[i+1:])
	case 1:
		return string(runes[:i+1]) + string(runes[i:])
	default:
		runes[i], runes[i+1] = runes[i+1], runes[i]
		return string(runes)
	}
}
