package capture

import (
	"slices"
	"strings"

	"emberd/internal/text"
	"emberd/op"
)

// turn reads the messages of a turn one after another.
type turn struct {
	answer []said   // of the agent, before the person's message
	files  []string // that the turn changed
	calls  []op.SessionMessage
	kept   []Kept
}

// hear takes in an answer that the person's message follows.
func (t *turn) hear(m op.SessionMessage) {
	if m.Role == op.RoleAgent && m.Final {
		t.answer = sentencesOf(m.Text)
	}
}

func (t *turn) read(m op.SessionMessage) {
	switch {
	case m.Role == op.RoleTool:
		t.call(m)
	case m.Role == op.RoleUser:
		t.person(m)
	case m.Role == op.RoleAgent && m.Final:
		t.agent(m)
	}
}

// keep adds a sentence in the form that can be understood alone.
func (t *turn) keep(rule, from string, m op.SessionMessage, s said, alone string) {
	k := Kept{
		Rule: rule, Text: alone, Quote: s.text, Message: m.ID, Sentence: s.place, From: from,
		Section: kinds[rule].section, Importance: kinds[rule].importance,
	}
	k.Everywhere = from == op.RoleUser && (rule == Preference || rule == Correction) && s.is("everywhere")
	t.kept = append(t.kept, k)
}

// person picks from what a person typed.
func (t *turn) person(m op.SessionMessage) {
	all := sentencesOf(m.Text)
	for i := 0; i < len(all); i++ {
		s := all[i]
		if s.is("correction") && !t.answered() && !s.asks() {
			i += t.correct(m, all[i:])
			continue
		}
		rule := personRule(s.sentence)
		if rule == "" || !s.fits() {
			continue
		}
		if alone := t.alone(s); alone != "" {
			t.keep(rule, op.RoleUser, m, s, alone)
		}
	}
}

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
			context := t.corrected(s.sentence)
			if context == "" {
				return 0
			}
			alone += " (corrects: " + context + ")"
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

// corrected returns the statement of the answer before that shares most words with a sentence.
func (t *turn) corrected(s sentence) string {
	most, found := -1, ""
	for _, a := range t.answer {
		if a.asks() || len(a.text) < minSentence || len(a.text) > maxSentence {
			continue
		}
		shared := 0
		for w := range strings.FieldsSeq(a.lower) {
			if len(w) > 3 && strings.Contains(s.lower, strings.Trim(w, ".,:;")) {
				shared++
			}
		}
		if shared > most {
			most, found = shared, a.text
		}
	}
	return text.Truncate(found, 160)
}

// personRule returns the rule that a sentence of a person falls under, "" for none.
func personRule(s sentence) string {
	switch {
	case strings.HasSuffix(s.text, ":") || s.asks():
		return ""
	case s.is("thread"):
		return Thread
	case s.is("hypothetical") || s.is("onetime") || s.is("vague"):
		return ""
	case s.is("preference"):
		return Preference
	case s.is("decision"):
		return Decision
	case s.isFact():
		return Fact
	}
	return ""
}

// isFact reports whether a sentence says something exact of a thing, or whose it is.
func (s sentence) isFact() bool {
	if owner().MatchString(s.text) {
		return true
	}
	return s.is("fact") && (exact().MatchString(s.text) || number().MatchString(s.text) && named(s.text))
}

// owner is a name that owns or runs something.
var owner = text.Pattern(`\p{Lu}\p{L}+ (from [\w-]+ )?(owns|manages|maintains|is responsible for|is in charge of|runs (that|the)|` +
	`ist zuständig für|ist verantwortlich für|est responsable de|s'occupe de|es responsable de|se encarga de)\b|负责|の担当|が担当`)

// named reports whether a text has a name or a word of code besides its first word.
func named(s string) bool {
	_, rest, _ := strings.Cut(s, " ")
	return strings.ContainsFunc(rest, func(r rune) bool { return r >= 'A' && r <= 'Z' || r == '_' }) ||
		strings.ContainsFunc(s, text.WritesNoSpaces)
}

// agent picks from the answer that ends a turn.
func (t *turn) agent(m op.SessionMessage) {
	all := sentencesOf(m.Text)
	open := false // the last sentence began a list of what is open
	for _, s := range all {
		if strings.HasSuffix(s.text, ":") {
			open = s.is("opens") && len(all) <= report
			continue
		}
		rule := agentRule(s.sentence, len(all))
		if rule == "" && open && !s.asks() || rule != "" && open {
			rule = Thread
		}
		if rule == "" || !s.fits() {
			continue
		}
		if alone := t.alone(s); alone != "" {
			t.keep(rule, op.RoleAgent, m, s, alone)
		}
	}
	t.repaired(m, all)
}

// report is how many sentences an answer has that reports; a longer one explains things that are
// known.
const report = 14

// agentRule returns the rule that a sentence of a final answer falls under, "" for none.
func agentRule(s sentence, sentences int) string {
	switch {
	case s.asks() || sentences > report:
		return ""
	case s.is("thread"):
		return Thread
	case s.is("hypothetical"):
		return ""
	case s.is("cause"):
		return Cause
	case s.is("result") && measured().MatchString(s.text):
		return Result
	case s.is("chat"):
		return ""
	case s.is("decision") && !s.begins("decision"):
		return Decision
	case s.is("fact") && exact().MatchString(s.text):
		return Fact
	}
	return ""
}

// alone returns a sentence so that it can be understood without the others, "" if it cannot.
func (t *turn) alone(s said) string {
	switch {
	case !s.begins("pronoun"):
		return s.text
	case s.heading != "":
		return s.heading + ": " + s.text
	case len(t.files) > 0 && !slices.ContainsFunc(t.files, func(f string) bool { return f != t.files[0] }):
		return t.files[0] + ": " + s.text
	}
	return ""
}
