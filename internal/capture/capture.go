// Package capture picks from a conversation between a person and a coding agent the sentences
// that are worth keeping, by rules; a language model may choose more of them, and writes none. It
// is pure and may be called by several goroutines.
//
//	rule        from                    kept as
//	correction  the person              decision, with the statement of the agent that it corrects
//	preference  the person              Important Facts, of all projects if it says so
//	decision    person, final answer    Important Facts; also the message of a git commit
//	fact        person, final answer    Important Facts: a thing with a port, path, version, date or owner
//	cause       final answer            File Knowledge: a cause, or a command that failed and passes again
//	thread      person, final answer    Ongoing Threads
//	proposed    person, final answer    Important Facts: a language model chose it ([Chosen])
//
// A sentence has 20 to 400 characters and stands outside code blocks, quotes, tables, diffs and
// lines of logs. Questions, hypotheticals and small talk are never kept. A sentence that begins with
// a pronoun takes the heading above it or the one file that the turn changed, or is dropped. One
// of a message with a credential in it is returned without its text. Of what the agent says only
// the message that ends its turn counts; what tools print never does.
//
// The words of the rules stand in one table per language, words/*.txt. A sentence is held against
// the tables of all languages. The time is linear in the length of the conversation.
package capture

import (
	"cmp"
	"iter"
	"slices"

	"emberd/internal/secret"
	"emberd/op"
)

// The bounds on what is kept: of a turn, and of a session that is read whole.
const (
	MaxTurn    = 3
	MaxSession = 40
)

// The rules.
const (
	Correction = "correction"
	Preference = "preference"
	Decision   = "decision"
	Fact       = "fact"
	Cause      = "cause"
	Thread     = "thread"
)

// Kept is a sentence that is worth keeping.
type Kept struct {
	Rule       string   `json:"rule"`
	Text       string   `json:"text"`  // can be understood alone
	Quote      string   `json:"quote"` // the sentence as it was said, without markup
	Message    string   `json:"message"`
	Sentence   int      `json:"sentence"` // place in the message, from 0; -1 for a call of a tool
	From       string   `json:"from"`     // op.RoleUser or op.RoleAgent
	Section    string   `json:"section"`
	Importance float64  `json:"importance"`           // 0 to 1
	Everywhere bool     `json:"everywhere,omitempty"` // holds in all projects of the person
	Command    string   `json:"command,omitempty"`    // that failed before and passes now
	Files      []string `json:"files,omitempty"`      // that were changed in between
	// Credential says that the sentence looks like a credential. It has no text then, and is not to be kept.
	Credential bool `json:"credential,omitempty"`
	// Over says that better sentences left no room for this one. It is not to be kept.
	Over bool `json:"over,omitempty"`
}

// kinds has what a rule makes of a sentence.
var kinds = map[string]struct {
	section    string
	importance float64
}{
	Correction: {"Important Facts", .6},
	Preference: {"Important Facts", .7},
	Decision:   {"Important Facts", .5},
	Fact:       {"Important Facts", .4},
	Cause:      {"File Knowledge", .5},
	Thread:     {"Ongoing Threads", .3},
	Proposed:   {"Important Facts", .3},
}

// Turn returns what is worth keeping of one turn: a person's message, the calls of tools and the
// answer. It returns at most [MaxTurn] sentences to keep, the best first. The messages before the turn are what
// the person answers to: they are read for that and not kept from. Sentences that look like
// credentials, or that leave no room, come after these, and do not count.
func Turn(before, messages []op.SessionMessage) []Kept {
	t := turn{}
	for _, m := range before {
		t.hear(m)
	}
	for _, m := range messages {
		t.files = append(t.files, m.Files...)
	}
	for _, m := range messages {
		t.read(m)
	}
	return best(t.kept, MaxTurn)
}

// All returns what is worth keeping of a whole session, turn by turn: at most [MaxSession]
// sentences, the best first.
func All(messages []op.SessionMessage) []Kept {
	return best(slices.Collect(Turns(nil, messages)), MaxSession)
}

// Turns yields what [Turn] keeps of each of some turns.
func Turns(before, messages []op.SessionMessage) iter.Seq[Kept] {
	return func(yield func(Kept) bool) {
		for rest := messages; len(rest) > 0; {
			n := 1 + slices.IndexFunc(rest[1:], func(m op.SessionMessage) bool { return m.Role == op.RoleUser })
			if n == 0 {
				n = len(rest)
			}
			for _, k := range Turn(before, rest[:n]) {
				if !yield(k) {
					return
				}
			}
			if answer := lastAnswer(rest[:n]); answer != nil {
				before = answer
			}
			rest = rest[n:]
		}
	}
}

// lastAnswer returns the last final answer in a turn as a list of its own.
func lastAnswer(turn []op.SessionMessage) []op.SessionMessage {
	for _, m := range slices.Backward(turn) {
		if m.Role == op.RoleAgent && m.Final {
			return []op.SessionMessage{m}
		}
	}
	return nil
}

// best returns the most important of what was kept, in the order of the conversation among equals,
// and each text once; after them those over that number and, without their texts, those that look like credentials.
func best(kept []Kept, most int) []Kept {
	slices.SortStableFunc(kept, func(a, b Kept) int { return cmp.Compare(b.Importance, a.Importance) })
	seen := map[string]bool{}
	var out, left []Kept
	for _, k := range kept {
		switch {
		case k.isCredential():
			left = append(left, Kept{Rule: k.Rule, Message: k.Message, Sentence: k.Sentence, From: k.From,
				Credential: true})
		case !seen[k.Text] && !k.Over && len(out) < most:
			out = append(out, k)
		case !seen[k.Text]:
			k.Over = true
			left = append(left, k)
		}
		seen[k.Text] = true
	}
	return append(out, left...)
}

// isCredential reports whether what would be kept looks like a credential.
func (k *Kept) isCredential() bool {
	return k.Credential || len(secret.Scan(k.Text)) > 0 || len(secret.Scan(k.Quote)) > 0 ||
		len(secret.Scan(k.Command)) > 0
}
