package contradiction

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A part is a word of a statement that says something: what or who it is about, what is said of
// it, or how these belong together. Statements are compared as sequences of parts, in which
// articles and auxiliary verbs do not count and words of the same meaning are one.
type part struct {
	key        string // equal for words of the same meaning, "" for those without
	lower      string // as it stands, in lower case
	start, end int    // in the text
	word       int    // in the sentence
	link       bool   // a preposition, conjunction, negation or form of be
	named      bool   // it begins with a capital, or is an identifier
	single     bool   // a character of a script without spaces
}

// The keys of parts that rules look for.
const (
	keyBe      = "be"      // is, are, ist, est, es, 是
	keyAnd     = "and"     // and, or, und, et, y
	keyNot     = "not"     // what follows is denied
	keyInstead = "instead" // what follows is replaced: "instead of", ", not", "au lieu de"
	keyBy      = "by"      // the one who did it follows
	keyWhich   = "which"   // which, that, who
)

// partsOf lists the parts of a sentence in the order of the text.
func (f *Facts) partsOf(s *sentence) []part {
	var out []part
	covered := 0
	for i := range s.words {
		w := &s.words[i]
		if w.start < covered {
			continue // a pair of characters that stand already
		}
		covered = w.end
		token := f.text[w.start:w.end]
		if first, _ := utf8.DecodeRuneInString(token); w.value == nil && isUnspaced(first) {
			covered = f.unspacedEnd(s, i)
			out = f.appendCharacters(out, w.start, covered, i)
			continue
		}
		out = f.appendWord(out, w, i)
	}
	out = joinPhrases(out)
	return adjectivesFirst(slices.DeleteFunc(out, func(p part) bool { return p.key == "" }))
}

// appendWord adds the part of one word, and of the preposition that an apostrophe joins to it.
func (f *Facts) appendWord(to []part, w *word, i int) []part {
	p := part{lower: w.lower, start: w.start, end: w.end, word: i, named: w.name || w.first}
	if w.labelled && len(to) > 0 {
		to = append(to, part{key: keyBe, lower: ":", start: w.start, end: w.start, word: i, link: true})
	}
	if before, after, ok := elided(w.lower); ok && w.value == nil && !w.negates {
		to = append(to, part{lower: strings.TrimSuffix(before, "'") + "e", key: linkOf(before), start: w.start,
			end: w.start, word: i, link: true})
		p.lower, p.key = after, strings.TrimPrefix(w.stem, strings.TrimSuffix(before, "'"))
		return append(to, p)
	}
	switch {
	case w.value != nil:
		p.key = w.value.key()
	case w.negates && w.boundary && len(to) > 0:
		p.key, p.link = keyInstead, true
	case w.negates:
		p.key, p.link = keyNot, true
	case !f.foreign && !w.name && (w.lower == "a" || w.lower == "an"):
	case linkOf(w.lower) != "" && !w.name: // "mit" is a preposition, and MIT a license
		p.key, p.link = linkOf(w.lower), true
	case isSynonym(w.lower):
		p.key = canonical(w.lower)
	case !isEmptyWord(w.lower) && (w.content || isKept(w.lower)):
		p.key = w.stem
		if f.foreign { // of a man or a woman, as in German
			p.key = strings.TrimSuffix(strings.TrimSuffix(p.key, "in"), "er")
		}
	}
	return append(to, p)
}

// elided splits a French or Italian word behind its apostrophe: d'Anna, l'espace.
func elided(lower string) (before, after string, ok bool) {
	before, after, ok = strings.Cut(strings.ReplaceAll(lower, "’", "'"), "'")
	if !ok || len(after) < 3 || len(before) > 2 {
		return "", "", false
	}
	return before + "'", after, true
}

// key is equal for equal values.
func (v *value) key() string {
	switch v.kind {
	case "date":
		return "date " + strconv.Itoa(v.month) + "-" + strconv.Itoa(v.day)
	case "weekday":
		return "weekday " + strconv.Itoa(v.day)
	case "version":
		return "version " + v.parts
	}
	return v.kind + " " + [...]string{"", "", "<", ">"}[v.limit] + strconv.FormatFloat(v.amount, 'g', 12, 64) + v.unit
}

// unspacedEnd is where the run of characters without spaces ends that begins with word i.
func (f *Facts) unspacedEnd(s *sentence, i int) int {
	end := s.words[i].end
	for _, w := range s.words[i+1:] {
		if r, _ := utf8.DecodeRuneInString(f.text[w.start:]); w.start > end || w.value != nil || !isUnspaced(r) {
			break
		}
		end = max(end, w.end)
	}
	return end
}

// appendCharacters adds the characters of a run without spaces. Words of several characters
// that link others are one part.
func (f *Facts) appendCharacters(to []part, start, end, word int) []part {
	for at := start; at < end; {
		key, size := linkAt(f.text[at:end])
		if key == "" && strings.Contains(f.text[start:at], "在") {
			key, size = sideAt(f.text[at:end])
		}
		link := key != ""
		if !link {
			_, size = utf8.DecodeRuneInString(f.text[at:end])
			key = f.text[at : at+size]
		}
		if link || !isEmptyWord(key) {
			to = append(to, part{key: key, lower: f.text[at : at+size], start: at, end: at + size, word: word,
				link: link, single: !link})
		}
		at += size
	}
	return to
}

// sideAt returns the link that 前 or 后 is behind 在, and its length in bytes. It is none at the beginning
// of a word such as 前端.
func sideAt(s string) (key string, size int) {
	for side, key := range map[string]string{"前": "before", "后": "after"} {
		rest, ok := strings.CutPrefix(s, side)
		if ok && !strings.ContainsAny(rest[:min(len(rest), len(side))], "端台面者来续缀") {
			return key, len(side)
		}
	}
	return "", 0
}

// joinPhrases makes one link of several words that are one, such as "instead of".
func joinPhrases(parts []part) []part {
	out := parts[:0]
	for _, p := range parts {
		out = append(out, p)
		for n := 3; n > 1 && vocabularyOf().ends[p.lower]; n-- {
			if n > len(out) {
				continue
			}
			var words []string
			for _, q := range out[len(out)-n:] {
				words = append(words, q.lower)
			}
			if key := linkOf(strings.Join(words, "_")); key != "" {
				first := &out[len(out)-n]
				first.key, first.link, first.end = key, true, p.end
				out = out[:len(out)-n+1]
				break
			}
		}
	}
	return out
}

// adjectivesFirst writes "a wall which is low" as "a low wall".
func adjectivesFirst(parts []part) []part {
	for i := 1; i+1 < len(parts); i++ {
		if parts[i].key != keyWhich || parts[i-1].link {
			continue
		}
		if parts[i+1].key == keyBe && i+2 < len(parts) && !parts[i+2].link &&
			(i+3 == len(parts) || parts[i+3].link || parts[i+3].key == keyBe) {
			adjective := parts[i+2]
			rest := slices.Clone(parts[i+3:])
			parts = append(parts[:i-1], adjective, parts[i-1])
			parts = append(parts, rest...)
		}
	}
	return slices.DeleteFunc(parts, func(p part) bool { return p.key == keyWhich })
}

func keysOf(parts []part) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = p.key
	}
	return out
}
