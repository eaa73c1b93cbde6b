package sessions

import (
	"context"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// usedWords is how many rare words of a memory an answer must have, that the prompts have not, to count as one that
// used it.
const usedWords = 2

// countUses counts a use of each memory that the model was told and that an answer used: it names its ID, or has
// rare words of it that no prompt has.
func (e *Sessions) countUses(ctx context.Context, req *op.HookRequest, fresh []op.SessionMessage) error {
	said, asked := e.termsOf(fresh)
	if len(said.words) == 0 || req.Whole || req.DryRun {
		return nil
	}
	var used []string
	err := e.use(req, func(r *record) (bool, error) {
		for _, id := range r.Pending {
			if row, live := e.Stm.Get(id); live && e.uses(said, asked, row, req) {
				used = append(used, string(id))
			}
		}
		r.Pending, r.Used = nil, r.Used+len(used)
		return len(used) > 0, nil
	})
	if err != nil || len(used) == 0 || e.Opt.Hooks.Recall == RecallShadow {
		return err
	}
	if _, err = e.Learn.Observe(ctx, &op.ObserveRequest{IDs: used}); memory.CodeOf(err) == memory.Forbidden {
		return nil // a token that may only read
	}
	return err
}

// spoken are the terms of some texts, and the texts.
type spoken struct {
	words map[string]bool
	text  string
}

// termsOf returns what the agent said in its last message of a turn, and what the person did.
func (e *Sessions) termsOf(messages []op.SessionMessage) (said, asked spoken) {
	said, asked = spoken{words: map[string]bool{}}, spoken{words: map[string]bool{}}
	for _, m := range messages {
		switch {
		case m.Role == op.RoleUser:
			e.addTerms(&asked, m.Text)
		case m.Role == op.RoleAgent && m.Final:
			e.addTerms(&said, m.Text)
		}
	}
	return said, asked
}

func (e *Sessions) addTerms(s *spoken, text string) {
	s.text += "\n" + text
	for _, t := range e.Text.Terms(text) {
		s.words[t.Text] = true
	}
}

// uses reports whether an answer used a memory.
func (e *Sessions) uses(said, asked spoken, row *stm.Row, req *op.HookRequest) bool {
	if strings.Contains(said.text, row.ID().Short()) {
		return true
	}
	g := e.newGate(req, nil)
	content := row.Content()
	var rareOnes []string
	for _, t := range e.Text.Query(content) {
		g.surface[t.Text] = content[t.Start:t.End]
		if said.words[t.Text] && !asked.words[t.Text] && g.rarity(t.Text) == rare &&
			!slices.Contains(rareOnes, t.Text) {
			rareOnes = append(rareOnes, t.Text)
		}
	}
	return len(rareOnes) >= usedWords
}
