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

// countUses counts a use of each memory that the model was told and that an answer used, and returns their number: it
// names its ID, or has rare words of it that no prompt has.
func (e *Sessions) countUses(ctx context.Context, req *op.HookRequest, fresh []op.SessionMessage) (int, error) {
	said, asked := e.termsOf(fresh)
	if len(said.words) == 0 || req.Whole || req.DryRun {
		return 0, nil
	}
	told, err := e.pending(req)
	if err != nil {
		return 0, err
	}
	var used []string
	for _, id := range told {
		if row, live := e.Stm.Get(id); live && e.uses(said, asked, row, req) {
			used = append(used, string(id))
		}
	}
	if len(used) == 0 || e.Opt.Hooks.Recall == RecallShadow {
		return len(used), nil
	}
	_, err = e.Learn.Observe(ctx, &op.ObserveRequest{IDs: used})
	if memory.CodeOf(err) == memory.Forbidden { // a token that may only read
		err = nil
	}
	return len(used), err
}

// pending returns the memories that no answer has had a chance to use, and takes them off the list.
func (e *Sessions) pending(req *op.HookRequest) (told []memory.ID, err error) {
	err = e.use(req, func(r *record) (save, error) {
		told, r.Pending = r.Pending, nil
		return nothing, nil
	})
	return told, err
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
