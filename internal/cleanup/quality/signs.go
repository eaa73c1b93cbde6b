package quality

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/internal/text"
)

// signs are what the rules go by.
type signs struct {
	words     int
	says      float64 // of the words, see word.weight
	concrete  int     // numbers, names, pieces of code, addresses, each once
	hedges    int
	sentences int
	questions int // of the sentences
	todo      bool
	open      bool   // it breaks off
	junk      string // what of, "" if it is none
}

// signsOf reads a text.
func signsOf(content string) signs {
	words := wordsOf(content)
	var g signs
	g.words = len(words)
	seen := make(map[string]bool)
	for i := range words {
		w := &words[i]
		if seen[w.lower] {
			continue
		}
		seen[w.lower] = true
		g.says += w.weight
		if w.concrete {
			g.concrete++
		}
	}
	g.hedges = count(words, lists().hedges)
	g.sentences, g.questions = countSentences(content)
	trimmed := strings.TrimSpace(content)
	g.open = strings.HasSuffix(trimmed, "...") || strings.HasSuffix(trimmed, "…") || strings.HasSuffix(trimmed, ":") ||
		strings.HasSuffix(trimmed, ",")
	lead, explicit := todoOf(trimmed, words)
	g.todo = lead > 0 || explicit
	g.junk = junkOf(words, lead, explicit)
	return g
}

// junkOf returns what of a text is junk, "" if it says something.
func junkOf(words []word, lead int, explicit bool) string {
	switch {
	case !slices.ContainsFunc(words,
		func(w word) bool { return strings.ContainsFunc(w.lower, unicode.IsLetter) || len(w.lower) > 3 }):
		return "no words"
	case made(words, func(w *word) bool { return w.mash }, probe|trial|function, true):
		return "random letters"
	case made(words, func(w *word) bool { return w.kinds&probe != 0 }, trial|function, true):
		return "a test message"
	case isLorem(words):
		return "lorem ipsum filler text"
	case isTemplate(words):
		return "boilerplate"
	case isVague(words):
		return "vague text without concrete details"
	case isStandIn(words):
		return "placeholder text"
	case emptyToDo(words, lead, explicit):
		return "a to-do without a task"
	case len(words) <= 25 && made(words, func(w *word) bool { return w.kinds&chat != 0 }, function|generic, false):
		return "small talk"
	case made(words, func(w *word) bool { return w.kinds&generic != 0 }, function|probe|chat, false):
		return "vague words"
	case made(words, func(w *word) bool { return w.kinds&function != 0 }, 0, false):
		return "a sentence fragment"
	}
	return ""
}

// made reports whether a text has a word that is such, and else only such and those of some
// kinds, and perhaps small numbers.
func made(words []word, such func(*word) bool, kinds kind, numbers bool) bool {
	some := false
	for i := range words {
		w := &words[i]
		switch {
		case such(w):
			some = true
		case w.kinds&kinds != 0, numbers && w.number:
		default:
			return false
		}
	}
	return some
}

// isLorem reports the text that printers fill pages with.
func isLorem(words []word) bool {
	if count(words, lists().filler) == 0 {
		return false
	}
	other := 0.0
	for i := range words {
		if words[i].kinds&lorem == 0 {
			other += words[i].weight
		}
	}
	return other < 3
}

// isTemplate reports a text that is nearly all made of phrases that stand in many.
func isTemplate(words []word) bool {
	if count(words, lists().begins) == 0 {
		return false
	}
	rest := slices.Clone(words)
	for _, phrase := range lists().templates {
		for i := 0; i+len(phrase) <= len(rest); i++ {
			if matches(rest[i:], phrase) {
				rest = slices.Delete(rest, i, i+len(phrase))
			}
		}
	}
	left, concrete := 0.0, 0
	for i := range rest {
		left += rest[i].weight
		if rest[i].concrete && !rest[i].number {
			concrete++
		}
	}
	return left <= 2 && concrete == 0
}

// isVague reports a short text of words in the place of what is not said: two of them, or one
// beside a doubt, and nothing concrete.
func isVague(words []word) bool {
	found, says := 0, 0.0
	for i := range words {
		w := &words[i]
		if w.concrete {
			return false
		}
		if w.kinds&vague != 0 {
			found++
		}
		says += w.weight
	}
	return says <= 3 && (found > 1 || found == 1 && count(words, lists().hedges) > 0)
}

// isStandIn reports a text that says of itself that it is one, and of what in two words.
func isStandIn(words []word) bool {
	switch words[0].lower {
	case "placeholder", "draft", "wip", "dummy", "stub", "untitled":
	default:
		return false
	}
	says := 0.0
	for i := range words {
		if words[i].concrete {
			return false
		}
		if i > 0 {
			says += words[i].weight
		}
	}
	return says <= 2
}

// emptyToDo reports a to-do of which the rest, behind its first words, names nothing.
func emptyToDo(words []word, lead int, explicit bool) bool {
	if lead == 0 && !explicit {
		return false
	}
	left := 0.0
	for i := range words[lead:] {
		w := &words[lead+i]
		if w.concrete && w.kinds == 0 {
			return false
		}
		if w.kinds&chat == 0 {
			left += w.weight
		}
	}
	return left == 0 || explicit && left <= 1
}

// todoOf returns with how many words a to-do begins, 0 for what is none, and whether it is
// marked as one.
func todoOf(text string, words []word) (lead int, explicit bool) {
	for _, box := range [...]string{"- [ ]", "* [ ]", "[ ]", "☐"} {
		explicit = explicit || strings.HasPrefix(text, box)
	}
	for _, phrase := range lists().todos {
		if len(phrase) > lead && matches(words, phrase) {
			lead = len(phrase)
		}
	}
	if lead > 0 {
		first := strings.Join(lowers(words[:lead]), " ")
		upper := strings.HasPrefix(text, strings.ToUpper(first))
		explicit = explicit || upper || strings.HasPrefix(strings.ToLower(text), first+":")
	}
	return lead, explicit
}

func lowers(words []word) []string {
	out := make([]string, len(words))
	for i := range words {
		out[i] = words[i].lower
	}
	return out
}

// matches reports whether words begin with a phrase.
func matches(words []word, phrase []string) bool {
	if len(words) < len(phrase) {
		return false
	}
	for i, p := range phrase {
		if words[i].lower != p {
			return false
		}
	}
	return true
}

// count returns how often any of the phrases stands in a text.
func count(words []word, phrases phraseList) (n int) {
	for i := range words {
		if slices.ContainsFunc(phrases[words[i].lower], func(p []string) bool { return matches(words[i:], p) }) {
			n++
		}
	}
	return n
}

// countSentences returns the number of sentences, and of those that ask.
func countSentences(content string) (all, questions int) {
	for _, s := range text.Sentences(content) {
		if !strings.ContainsFunc(s, text.IsWord) {
			continue
		}
		all++
		last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(s, text.IsCloser))
		if strings.ContainsRune("?？؟", last) {
			questions++
		}
	}
	return all, questions
}
