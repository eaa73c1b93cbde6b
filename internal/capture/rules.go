package capture

import (
	"slices"
	"strings"

	"emberd/internal/secret"
	"emberd/internal/text"
	"emberd/op"
)

// turn reads the messages of a turn one after another.
type turn struct {
	answer []said   // of the agent, before the person's message
	files  []string // that the turn changed
	calls  []op.SessionMessage
	kept   []Kept
	// credential says that the message that is read has one, perhaps over several lines: nothing of it is kept.
	credential bool
}

// hear takes in an answer that the person's message follows.
func (t *turn) hear(m op.SessionMessage) {
	if m.Role == op.RoleAgent && m.Final {
		t.answer = sentencesOf(m.Text)
	}
}

func (t *turn) read(m op.SessionMessage) {
	t.credential = m.Role != op.RoleTool && hasCredential(m.Text)
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
		Credential: t.credential,
		Rule:       rule, Text: alone, Quote: s.text, Message: m.ID, Sentence: s.place, From: from,
		Section: kinds[rule].section, Importance: kinds[rule].importance,
	}
	k.Everywhere = from == op.RoleUser && (rule == Preference || rule == Correction) && s.is("everywhere")
	t.kept = append(t.kept, k)
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
	t.repaired(m)
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
	case s.is("hypothetical") || s.cites():
		return ""
	case s.is("cause") && s.is("chose"):
		return Decision
	case s.is("cause"):
		return Cause
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

// hasCredential reports whether a message has what looks like a credential, on a line or over several.
func hasCredential(message string) bool {
	message = text.FirstBytes(message, maxMessage)
	return len(secret.Scan(message)) > 0 || len(secret.Scan(strings.Join(strings.Fields(message), " "))) > 0
}
