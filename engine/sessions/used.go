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

// uses are memories that an answer used, of those that the model was told, and of those that it would have been.
type uses struct{ told, tried []memory.ID }

// countUses counts a use of each memory that the model was told and that an answer used, and returns them: it
// names its ID, or has rare words of it that no prompt has.
func (e *Sessions) countUses(ctx context.Context, req *op.HookRequest, fresh []op.SessionMessage) (u uses, err error) {
	said, asked := e.termsOf(fresh)
	if len(said.words) == 0 || req.Whole || req.DryRun {
		return u, nil
	}
	err = e.use(req, func(r *record) (save, error) {
		u = uses{slices.Clone(r.Pending), slices.Clone(r.Tried)}
		return nothing, nil
	})
	if err != nil {
		return u, err
	}
	not := func(id memory.ID) bool {
		row, live := e.Stm.Get(id)
		return !live || !e.uses(said, asked, row, req)
	}
	u.told, u.tried = slices.DeleteFunc(u.told, not), slices.DeleteFunc(u.tried, not)
	if len(u.told) == 0 {
		return u, nil
	}
	var ids []string
	for _, id := range u.told {
		ids = append(ids, string(id))
	}
	_, err = e.Learn.Observe(ctx, &op.ObserveRequest{IDs: ids})
	if memory.CodeOf(err) == memory.Forbidden { // a token that may only read
		err = nil
	}
	return u, err
}

// count notes what was used, so that it counts once in a session.
func (r *record) count(u uses) {
	without := func(all, used []memory.ID) []memory.ID {
		return slices.DeleteFunc(all, func(id memory.ID) bool { return slices.Contains(used, id) })
	}
	r.Pending, r.Tried = without(r.Pending, u.told), without(r.Tried, u.tried)
	r.Used, r.TrialUsed = r.Used+len(u.told), r.TrialUsed+len(u.tried)
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
