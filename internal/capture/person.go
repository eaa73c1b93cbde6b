package capture

import (
	"strings"

	"emberd/internal/text"
	"emberd/op"
)

// person picks from what a person typed.
func (t *turn) person(m op.SessionMessage) {
	all := typedSentences(m.Text)
	for i := 0; i < len(all); i++ {
		s := all[i]
		if s.is("correction") && !t.answered() && !s.asks() {
			i += t.correct(m, all[i:])
			continue
		}
		if i == 0 && t.answers(m, s) {
			continue
		}
		rule := personRule(s)
		if rule == "" || !s.fits() {
			continue
		}
		if alone := t.explained(rule, s); alone != "" {
			t.keep(rule, op.RoleUser, m, s, alone)
		}
	}
}

// explained returns a sentence so that it can be understood without the others: one that leaves out what it is about
// gets the statement of the agent that it follows. It returns "" for one that cannot be.
func (t *turn) explained(rule string, s said) string {
	alone := t.alone(s)
	if alone != "" && (rule == Preference || !s.is("unclear")) {
		return alone
	}
	about, _ := t.corrected(s.sentence)
	if about == "" {
		return ""
	}
	return s.text + " (about: " + about + ")"
}

// answers keeps what a person chose when the agent asked, with the question.
func (t *turn) answers(m op.SessionMessage, s said) bool {
	if !t.answered() || s.asks() || s.isPassing() || s.begins("chat") || s.begins("task") {
		return false
	}
	question := t.answer[len(t.answer)-1].sentence
	if offers := question.is("offer") && !question.is("choice"); offers ||
		!s.isSpecific() && !s.is("norm") && !echoes(s.sentence, question) {
		return false
	}
	alone := s.text + " (asked: " + text.Truncate(t.asked(), 240) + ")"
	if !sentenceOf(alone).fits() {
		return false
	}
	t.keep(Decision, op.RoleUser, m, s, alone)
	return true
}

// asked returns the question at the end of an answer, and what it is about.
func (t *turn) asked() string {
	last := t.answer[len(t.answer)-1].text
	if n := len(t.answer); n > 1 && !t.answer[n-2].asks() {
		return t.answer[n-2].text + " " + last
	}
	return last
}

// echoes reports whether an answer takes a word of the question.
func echoes(s, question sentence) bool {
	const leastLetters = 4
	for w := range strings.FieldsFuncSeq(s.lower, func(r rune) bool { return !isLetter(r) }) {
		if len(w) >= leastLetters && strings.Contains(question.lower, w) {
			return true
		}
	}
	return false
}

// isPassing reports whether a sentence is about the moment, or says nothing for sure.
func (s sentence) isPassing() bool {
	return s.is("hypothetical") || s.is("onetime") || s.is("vague") || s.is("transient") ||
		worked().MatchString(s.text) || strings.IndexAny(s.text, `")]}`) == 0
}

// cites reports whether a sentence quotes another source.
func (s sentence) cites() bool { return citation().MatchString(s.text) }

var citation = text.Pattern(`(?i)\b(says?|said|wrote|writes?|reads?|states?)\b[^"'“”]{0,20}:\s*["'“„«‘]`)

// isFragment reports whether a sentence has too few words to say something of a thing.
func (s sentence) isFragment() bool {
	const least = 5
	return len(strings.Fields(s.text)) < least && !strings.ContainsFunc(s.text, text.WritesNoSpaces)
}

// worked is what is calculated in front of the reader.
var worked = text.Pattern(`\\[a-z]+[{ ]|\b\d+/\d+\b|\d\s*[×*+]\s*\d|\(\s`)

// answered reports whether the agent asked something, so that "no" is an answer to it.
func (t *turn) answered() bool {
	return len(t.answer) > 0 && strings.HasSuffix(t.answer[len(t.answer)-1].text, "?")
}

// correct keeps a correction: the sentence, or the one behind it if it only says that something is
// wrong, with the statement that it corrects. It returns how many sentences behind the first it took.
func (t *turn) correct(m op.SessionMessage, rest []said) (more int) {
	for i, s := range rest[:min(2, len(rest))] {
		alone := stripped(s.sentence)
		if i > 0 && s.asks() {
			return 0
		}
		if !sentenceOf(alone).fits() || s.is("onetime") ||
			i == 0 && sentenceOf(alone).is("denial") && len(rest) > 1 {
			continue
		}
		if i > 0 && rest[0].is("contrast") {
			alone += " (" + stripped(rest[0].sentence) + ")"
		} else if !s.is("contrast") || sentenceOf(alone).begins("pronoun") {
			context, related := t.corrected(s.sentence)
			unclear := s.is("unclear") || sentenceOf(alone).begins("pronoun")
			if context == "" && (unclear || !s.isFact()) || unclear && !related && len(t.answer) > 1 {
				return 0
			}
			if related || unclear {
				alone += " (corrects: " + context + ")"
			}
		}
		t.keep(Correction, op.RoleUser, m, s, alone)
		return i
	}
	return 0
}

// stripped returns a correction without the words that only say that it is one.
func stripped(s sentence) string {
	end, _ := s.says("correction")
	if len(s.lower) != len(s.text) || end > len(s.text) {
		return s.text
	}
	rest := strings.TrimLeft(s.text[end:], " ,.:;!，。、")
	one := len(strings.Fields(rest)) < 2 && !strings.ContainsFunc(rest, text.WritesNoSpaces)
	if end == 0 || one {
		return s.text
	}
	return rest
}

// corrected returns the statement of the answer before that shares most words with a sentence, and whether it shares
// any: a correction that shares none may be about something else.
func (t *turn) corrected(s sentence) (found string, related bool) {
	most := -1
	for _, a := range t.answer {
		if a.asks() || len(a.text) < minSentence || len(a.text) > maxSentence {
			continue
		}
		if shared := sharedWords(a.sentence, s); shared > most {
			most, found = shared, a.text
		}
	}
	return text.Truncate(found, 160), most > 0
}

// sharedWords counts the words of a statement that another sentence has too, without those that every sentence has.
func sharedWords(statement, s sentence) (shared int) {
	for w := range strings.FieldsSeq(statement.lower) {
		w = strings.Trim(w, ".,:;")
		if len(w) > 3 && strings.Contains(s.lower, w) && !sentenceOf(w).begins("plain") {
			shared++
		}
	}
	return shared
}

// personRule returns the rule that a sentence of a person falls under, "" for none.
func personRule(s said) string {
	switch {
	case strings.HasSuffix(s.text, ":") || s.asks():
		return ""
	case s.is("thread"):
		return Thread
	case s.is("hypothetical") || s.is("vague") || s.cites():
		return ""
	case s.is("remember"):
		return Fact
	case s.is("onetime"):
		return ""
	case s.is("reversal"):
		return Decision
	case s.is("preference"):
		return Preference
	case s.is("decision"):
		return Decision
	case s.isPassing() || s.isFragment():
		return ""
	case s.begins("reason"):
		return "" // a part of what stands before
	case s.is("law") && !s.begins("task") && !s.begins("pronoun"):
		return Decision
	case s.is("norm") && (s.isSpecific() && !s.begins("task") || s.is("reason") && s.begins("norm")):
		return Decision
	case s.isFact():
		return Fact
	}
	return ""
}

// isFact reports whether a sentence says something exact of a thing, or whose it is.
func (s said) isFact() bool {
	return owner().MatchString(s.text) || s.isSpecific() && !s.begins("task") &&
		(s.is("fact") || s.is("reason") || strings.Contains(s.text, " = "))
}

// isSpecific reports whether a sentence names one thing, or says how much of what.
func (s said) isSpecific() bool {
	return exact().MatchString(s.text) || code().MatchString(s.text) || number().MatchString(s.text) || s.named()
}

// owner is a name that owns or runs something.
var owner = text.Pattern(`\p{Lu}\p{L}+ (from [\w-]+ )?(owns|manages|maintains|is responsible for|is in charge of|runs (that|the)|` +
	`ist zuständig für|ist verantwortlich für|est responsable de|s'occupe de|es responsable de|se encarga de)\b|负责|の担当|が担当`)

// named reports whether a sentence has a name besides its first word; that too is one if the writer begins
// sentences with small letters.
func (s said) named() bool {
	first, rest, _ := strings.Cut(s.text, " ")
	return name().MatchString(rest) || s.small && name().MatchString(first) ||
		strings.ContainsFunc(s.text, text.WritesNoSpaces)
}

// name is a word with a capital letter that is no form of "I".
var name = text.Pattern(`(^|[\s"(])(\p{Lu}[\p{L}\d]+|[\p{L}\d]+\p{Lu}[\p{L}\d]*)`)

// code is a word of a program.
var code = text.Pattern("`[^`]+`|\\b\\w+_\\w+|\\b\\w+\\(\\)|\\b[a-z]+[A-Z]\\w+|--[a-z][\\w-]+")
