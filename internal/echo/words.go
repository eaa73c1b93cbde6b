package echo

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// word is a hash of a word, with what the others may depend on.
type word struct {
	hash   uint32
	weighs bool // a number, a sign or a name, or it denies
	denies bool // or restricts, doubts or asks
	ends   bool // a sentence ends behind it
	sole   bool // one character of a script that sets no spaces
}

// appendWords takes a text apart. Marks around words do not count, and neither do those
// that structure a text; signs, question marks and all that stands beside a digit do.
// Chinese and Japanese are taken character by character.
func (r *ReturnedTexts) appendWords(to []word, text string) []word {
	for token := range strings.FieldsSeq(text) {
		switch {
		case lettersOnly(token):
			to = append(to, r.word(token))
		case strings.ContainsFunc(token, unspaced):
			to = r.appendCharacters(to, norm.NFC.String(token))
		default:
			to = r.appendToken(to, token)
		}
	}
	if n := len(to); n > 0 {
		to[n-1].ends = true
	}
	return to
}

func (r *ReturnedTexts) word(plain string) word {
	w := fold(plain)
	no := denies(w)
	first, _ := utf8.DecodeRuneInString(plain)
	return word{hash: r.hash(w), weighs: no || counts(w) || unicode.IsUpper(first), denies: no}
}

func (r *ReturnedTexts) hash(w string) uint32 { return uint32(maphash.String(r.seed, w)) }

// appendToken adds a word with the marks around it.
func (r *ReturnedTexts) appendToken(to []word, token string) []word {
	plain, marks := trimmed(token)
	if !structures(plain) {
		to = append(to, r.word(plain))
	}
	if strings.ContainsAny(marks, "?？") {
		to = append(to, word{hash: r.hash("?"), weighs: true, denies: true})
	}
	if n := len(to); n > 0 && strings.ContainsAny(marks, ".!?;:。！？；：") {
		to[n-1].ends = true
	}
	return to
}

// appendCharacters adds the characters of a script without spaces, and the words between.
func (r *ReturnedTexts) appendCharacters(to []word, token string) []word {
	from := 0
	for i, c := range token {
		if !unspaced(c) {
			continue
		}
		if from < i {
			to = r.appendToken(to, token[from:i])
		}
		from = i + utf8.RuneLen(c)
		to = append(to, word{hash: r.hash(token[i:from]), weighs: true, sole: true})
	}
	if from < len(token) {
		to = r.appendToken(to, token[from:])
	}
	return to
}

// unspaced reports whether a character is of a script that sets no spaces between words.
func unspaced(c rune) bool {
	return c >= 0x3000 && (c == 'ー' || unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana))
}

// lettersOnly is a fast way to know a plain word.
func lettersOnly(token string) bool {
	for i := range len(token) {
		if c := token[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// Marks that may stand around a word and say nothing of it.
const (
	opening = "\"'`([{“”„‚‘’«»…「『（"
	closing = "\"'`)]}“”‘’«».,;:!?…。、，；：！？」』）"
)

// trimmed is a token without the marks around it, and those that stood behind it.
// A pointer's star and a name's underscores stay: they emphasise nothing.
func trimmed(token string) (plain, behind string) {
	plain = strings.TrimRight(token, closing)
	behind = token[len(plain):]
	plain = strings.TrimLeft(plain, opening)
	for range maxMarks {
		less := plain
		for _, mark := range []string{"**", "*", "_"} {
			if inner, found := strings.CutPrefix(less, mark); found && strings.HasSuffix(inner, mark) &&
				!strings.HasPrefix(less, "__") {
				less = strings.TrimSuffix(inner, mark)
			}
		}
		less = strings.TrimSuffix(strings.TrimPrefix(less, "**"), "**") // of several words
		if less = strings.TrimLeft(less, opening); less == plain {
			return plain, behind
		}
		plain = strings.TrimRight(less, closing)
		behind = less[len(plain):] + behind
	}
	return plain, behind
}

// maxMarks is how many marks of different kinds are taken away around a word.
const maxMarks = 8

// structures reports whether a token is of marks that say nothing by themselves.
func structures(token string) bool {
	return strings.Trim(token, "-#*•–—…_|.,;:") == ""
}

func fold(w string) string {
	for i := range len(w) {
		if w[i] >= utf8.RuneSelf {
			return norm.NFC.String(cases.Fold().String(norm.NFC.String(w)))
		}
	}
	return strings.ToLower(w)
}

// denies reports whether a word turns what is said around, doubts it or lets it hold only
// in part.
func denies(w string) bool {
	switch w {
	case "not", "no", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without", "cannot", "cant",
		"dont", "doesnt", "didnt", "isnt", "wasnt", "wont", "if", "unless", "until", "except", "false", "wrong",
		"untrue", "hardly", "barely", "rarely", "seldom", "perhaps", "maybe", "might", "could", "would", "possibly",
		"probably", "allegedly", "supposedly", "doubt", "doubts", "denies", "denied",
		"only", "formerly", "previously", "incorrect", "nicht", "kein", "keine", "nie", "nur", "vielleicht":
		return true
	}
	return strings.HasSuffix(w, "n't") || strings.HasSuffix(w, "n’t")
}

// counts reports whether a word is a number, has one in it, or is a sign.
func counts(w string) bool {
	return !strings.ContainsFunc(w, unicode.IsLetter) || strings.ContainsFunc(w, unicode.IsNumber)
}

// What short texts need to be echoes of what says the same and no more.
const (
	shortWords   = 5  // a text with fewer is short
	shortLetters = 12 // and has to have so many letters
	passage      = 8  // words, from which on a part is an echo of the whole
)

func tellsEnough(words []word, text string) bool {
	return len(words) >= shortWords || len(words) > 0 && utf8.RuneCountInString(strings.TrimSpace(text)) >= shortLetters
}

// Winnowing keeps of window passages of gram words the one with the least hash, so that
// gram+window-1 words in a row are always met.
const (
	gram   = 4
	window = passage - gram + 1
)

// fingerprints are those of a text and of its passages.
func fingerprints(words []word) []uint64 {
	out := []uint64{mixed(words, 1)}
	grams := len(words) - gram + 1
	last := -1
	for begin := 0; begin+window <= grams; begin++ {
		lowest, hash := -1, uint64(0)
		for i := begin; i < begin+window; i++ {
			if h := mixed(words[i:i+gram], 2); lowest < 0 || h <= hash {
				lowest, hash = i, h
			}
		}
		if lowest != last {
			out, last = append(out, hash), lowest
		}
	}
	return out
}

// mixed is a hash of hashes, after FNV-1a with the finish of SplitMix64.
func mixed(words []word, h uint64) uint64 {
	for _, w := range words {
		h = (h ^ uint64(w.hash)) * 0x100000001b3
		h ^= h >> 29
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	return h ^ h>>31
}

// alike is the share of three words in a row that two texts must have in common of those
// that either has.
const alike = 0.95

// likeness is 1 if text is known or a part of it, the share of what they have in common if
// that is nearly all and text says nothing else, and 0 otherwise.
func likeness(text, known []word) float64 {
	if slices.EqualFunc(text, known, same) {
		return 1
	}
	if len(text) < passage {
		return 0
	}
	for at := 0; at+len(text) <= len(known); at++ {
		if same(text[0], known[at]) && slices.EqualFunc(text, known[at:at+len(text)], same) &&
			standsAlone(known, at, at+len(text)) {
			return 1
		}
	}
	if s := shared(text, known); s >= alike && within(text, known) &&
		slices.EqualFunc(weighing(text), weighing(known), same) {
		return s
	}
	return 0
}

// within reports whether all words of text are in known in that order.
func within(text, known []word) bool {
	for _, w := range known {
		if len(text) > 0 && same(text[0], w) {
			text = text[1:]
		}
	}
	return len(text) == 0
}

func same(a, b word) bool { return a.hash == b.hash }

// standsAlone reports whether the sentences that a part is taken out of do not deny it.
// Where words are not known, a part has to be of whole sentences.
func standsAlone(known []word, from, to int) bool {
	begin, end := from, to
	for begin > 0 && !known[begin-1].ends {
		begin--
	}
	for end < len(known) && !known[end-1].ends {
		end++
	}
	around := slices.Concat(known[begin:from], known[to:end])
	return !slices.ContainsFunc(around, func(w word) bool { return w.denies || w.sole })
}

func weighing(words []word) (out []word) {
	for _, w := range words {
		if w.weighs {
			out = append(out, w)
		}
	}
	return out
}

// shared is the Jaccard coefficient of the runs of three words, each counted as often as
// it is there.
func shared(a, b []word) float64 {
	if len(a)*10 < len(b)*9 || len(b)*10 < len(a)*9 {
		return 0
	}
	x, y := runs(a), runs(b)
	both, i, j := 0, 0, 0
	for i < len(x) && j < len(y) {
		switch {
		case x[i] == y[j]:
			both, i, j = both+1, i+1, j+1
		case x[i] < y[j]:
			i++
		default:
			j++
		}
	}
	return float64(both) / float64(len(x)+len(y)-both)
}

func runs(words []word) []uint64 {
	const length = 3
	var out []uint64
	for i := range len(words) - length + 1 {
		out = append(out, mixed(words[i:i+length], 3))
	}
	slices.Sort(out)
	return out
}
