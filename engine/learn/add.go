package learn

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/engine/memories"
	"emberd/engine/recall"
	"emberd/engine/similar"
	"emberd/internal/notegen"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	AddVerb = "add"
	// MaxContradictions is how many relations to contradicting memories a memory gets.
	MaxContradictions = 5

	defaultSection = "Important Facts"
)

// importances are the words for importance, with their values.
var importances = []struct {
	word  string
	value float64
}{{"low", 0.3}, {"normal", 0.5}, {"high", 0.7}, {coreWord, 0.9}}

const coreWord = "core"

// Add saves a text unless a memory contains it already; then it reinforces that memory.
func (e *Learn) Add(ctx context.Context, req *op.AddRequest) (*op.AddResult, error) {
	return e.AddAs(ctx, req, AddOptions{})
}

// AddOptions are what features of emberd decide of an addition, beside the request.
type AddOptions struct {
	Save      func(*op.SaveRequest) // changes what is saved if the text is new; may be nil
	Reinforce func(memory.ID) bool  // whether a memory that contains the text is reinforced; nil is always
	Verb      string                // of the change in the journal, "" for the usual one
	Entry     string                // journal entry that the change joins, "" for a new one
}

// AddAs is Add with options.
func (e *Learn) AddAs(ctx context.Context, req *op.AddRequest, with AddOptions) (*op.AddResult, error) {
	if err := memories.CheckKey(req.IdempotencyKey); err != nil {
		return nil, err
	}
	save, err := saveRequestOf(req)
	if err != nil {
		return nil, err
	}
	if with.Save != nil {
		with.Save(save)
	}
	save, added, err := e.GrantedSave(save)
	if err != nil {
		return nil, err
	}
	link := e.Source(ctx, &req.Provenance, req.Project)
	m, err := e.Memories.Draft(save, link)
	if err != nil {
		return nil, err
	}
	a := addRun{e: e, req: req, m: m, link: link, added: added, key: save.IdempotencyKey, with: with}
	if a.hash, err = memories.KeyHash(a.key, req); err != nil {
		return nil, err
	}
	done, err := e.adding.Begin(ctx, m.Content, e.Similar.Similarities(m.Content), e.Opt.Known.Related)
	if err != nil {
		return nil, err
	}
	defer done()
	if res, err := a.repeated(); err != nil || res != nil {
		return res, err
	}
	if res, err := a.echo(ctx); err != nil || res != nil {
		return res, err
	}
	res, err := UntilUnchanged(func() (*op.AddResult, error) { return a.try(ctx) })
	if err == nil {
		_, res.RecordedOrigin = e.RecordedOrigin(&req.Provenance, link.By)
	}
	return res, err
}

// saveRequestOf returns the save for an addition.
func saveRequestOf(req *op.AddRequest) (*op.SaveRequest, error) {
	save := &op.SaveRequest{IdempotencyKey: req.IdempotencyKey, Content: req.Content, Tags: req.Tags,
		Source: req.Source, Context: req.Context, Project: req.Project, ProjectInferred: req.ProjectInferred,
		Collection: req.Collection, SessionID: req.SessionID, AllowSecret: req.AllowSecret, Again: req.Again,
		Provenance: req.Provenance}
	var err error
	if save.Section, err = sectionNamed(req.Section); err != nil {
		return nil, err
	}
	importance, err := importanceOf(req.Importance)
	save.Importance, save.Core = &importance, strings.EqualFold(strings.TrimSpace(req.Importance), coreWord)
	return save, err
}

func sectionNamed(text string) (string, error) {
	if text = strings.TrimSpace(text); text == "" {
		return defaultSection, nil
	}
	sections := notegen.Sections()
	for _, s := range sections {
		if strings.EqualFold(s, text) {
			return s, nil
		}
	}
	return "", memory.Errorf(memory.Invalid, "invalid section %.60q; use %s or %s", text,
		strings.Join(sections[:len(sections)-1], ", "), sections[len(sections)-1]).At("section")
}

func importanceOf(text string) (float64, error) {
	if text = strings.TrimSpace(text); text == "" {
		text = "normal"
	}
	for _, i := range importances {
		if strings.EqualFold(i.word, text) {
			return i.value, nil
		}
	}
	return 0, memory.Errorf(memory.Invalid, "invalid importance %.40q; use low, normal, high or core",
		text).At("importance")
}

// addRun is one addition in progress.
type addRun struct {
	e    *Learn
	req  *op.AddRequest
	m    *memory.Memory
	link memory.Source
	// added is the scope of the grant that the text got, because it had none.
	added string
	// key is the idempotency key, "" for none, and hash tells what it stands for.
	key, hash string
	with      AddOptions
}

// repeated returns the answer to a request whose key was used before, nil if it was not.
func (a *addRun) repeated() (*op.AddResult, error) {
	row, entry, err := memories.EarlierResult(a.e.Memories, a.key, a.hash)
	if err != nil || row == nil {
		return nil, err
	}
	view, err := a.e.MemoryView(row, a.e.Opt.Now())
	return &op.AddResult{Memory: view, New: a.stored(entry), Compared: op.ComparedByWords, Tx: entry, Added: a.added,
		Message: fmt.Sprintf(" This request was already applied to memory %s.", view.ID.Short())}, err
}

// stored reports whether a journal entry stored a new memory.
func (a *addRun) stored(entry string) bool {
	at, err := stm.ParseStamp(entry)
	if err != nil {
		return false
	}
	const atOnce = 16 // other devices may have changes with the same time
	some, _ := a.e.Stm.Entries(stm.Stamp{T: at.T + 1}, atOnce)
	return slices.ContainsFunc(some, func(j stm.Journaled) bool { return j.Tx == entry && j.Verb == AddVerb })
}

// echo returns the answer if the caller just recalled the text, nil if not. A repetition
// counts as a use and not as new evidence.
func (a *addRun) echo(ctx context.Context) (*op.AddResult, error) {
	if a.req.Again || a.hasMoreThanText() {
		return nil, nil
	}
	of := a.e.Recall.Find(a.m.Content, a.m.Collection, a.m.Project)
	if of == nil {
		return nil, nil
	}
	res := &op.AddResult{Echo: of, Compared: op.ComparedByWords}
	if of.Of == "" {
		res.Memory.Memory = memory.Memory{Content: a.m.Content, Collection: a.m.Collection, Project: a.m.Project,
			VaultPath: of.Path}
		res.Message = fmt.Sprintf(
			"No memory was saved: note %q, which was part of a recent answer, already contains this text.", of.Path)
		return res, nil
	}
	row, tx, err := a.e.Recall.CountUse(ctx, of, &a.link, a.key, a.hash)
	if err != nil || row == nil {
		return nil, err
	}
	res.Tx, res.Message = tx,
		fmt.Sprintf("No memory was saved: memory %s, which was part of a recent "+
			"answer, already contains this text and counts as used.", of.Of.Short())
	res.Memory, err = a.e.MemoryView(row, a.e.Opt.Now())
	return res, err
}

// hasMoreThanText reports whether the request has more than the text: evidence, or a higher
// importance. A repetition by the user always counts.
func (a *addRun) hasMoreThanText() bool {
	return a.req.Quote != "" || a.req.File != "" || a.m.Importance > 0.5 || a.link.Kind == memory.FromUser
}

// try stores the text, or reinforces the memory that contains it. It returns ErrChanged if a
// memory changed in the meantime.
func (a *addRun) try(ctx context.Context) (*op.AddResult, error) {
	n, err := a.e.Similar.FindSimilar(ctx, similar.Probe{Text: a.m.Content, Accept: a.duplicateFilter(), Notes: true})
	if err != nil {
		return nil, err
	}
	s := a.e.Similar.Statement(a.m.Content, *a.link.By)
	s.Project = a.m.Project
	var known *similar.Near
	if !a.req.Again {
		known, _ = sayer(n.All, a.e.Opt.Known.Add, s.DistinctReason)
	}
	s.ID = a.m.ID.Short()
	if known != nil {
		s.ID = known.Row.ID().Short()
	}
	conflicts := s.FindContradictions(n.All)
	against := contradictingIDs(n.All, known)
	var res *op.AddResult
	switch {
	case known == nil:
		res, err = a.store(ctx, against)
	case a.with.Reinforce != nil && !a.with.Reinforce(known.Row.ID()):
		res, err = a.leave(known)
	default:
		res, err = a.reinforceKnown(ctx, known, against)
	}
	if err != nil {
		return nil, err
	}
	if old := a.supersededMatch(n.All, s); known == nil && old != nil {
		res.Message += fmt.Sprintf(" Memory %s, which memory %s superseded, is similar to this text.",
			old.Row.ID().Short(), old.Successor.ID().Short())
	}
	res.Conflicts, res.Compared = conflicts, n.By()
	if known != nil {
		res.Compared = known.By
	}
	if len(conflicts) > 0 {
		res.Message += fmt.Sprintf(" %s: %s.", core.SayConflict, conflicts[0].Why)
	}
	return res, nil
}

// supersededMatch returns the superseded memory that would be reinforced otherwise, nil for none.
func (a *addRun) supersededMatch(all []similar.Near, s *similar.Claim) *similar.Near {
	for i := range all {
		one := &all[i]
		if one.Row != nil && one.Successor != nil && (one.Same || one.Similarity >= a.e.Opt.Known.Add) &&
			s.DistinctReason(one) == "" {
			return one
		}
	}
	return nil
}

// duplicateFilter returns a filter for possible duplicates: memories of the same collection, and of the
// same project or none.
func (a *addRun) duplicateFilter() func(*stm.Row) bool {
	return func(r *stm.Row) bool { return recall.SameScope(r, a.m.Collection, a.m.Project) }
}

// contradictingIDs returns the nearest memories that contradict the text, without one.
func contradictingIDs(all []similar.Near, but *similar.Near) (ids []memory.ID) {
	for i := range all {
		one := &all[i]
		if one.Conflict && one.Row != nil && one != but && len(ids) < MaxContradictions {
			ids = append(ids, one.Row.ID())
		}
	}
	return ids
}

// store saves a new memory with relations to the memories that it contradicts.
func (a *addRun) store(ctx context.Context, against []memory.ID) (*op.AddResult, error) {
	set, err := core.Fields(a.m)
	if err != nil {
		return nil, err
	}
	receipt, err := a.e.Stm.Update(ctx, append([]memory.ID{a.m.ID}, against...), a.key,
		func(rows []*stm.Row) (*stm.Tx, error) {
			for i, id := range against {
				if rows[i+1] == nil {
					continue
				}
				w, err := memories.NewRelationRequest(a.contradiction(a.m.ID, id))
				if err != nil {
					return nil, err
				}
				set[stm.RelationKey(w.ID)] = w.Value
			}
			tx := &stm.Tx{Verb: cmp.Or(a.with.Verb, AddVerb), By: *a.link.By, Key: a.key, KeyHash: a.hash,
				Entry: a.with.Entry, Changes: []stm.Change{{ID: a.m.ID, Set: set, Allowed: a.req.AllowSecret}}}
			return tx, a.e.Lifecycle.AskedAgain(tx, a.m.Content, a.req.Again)
		})
	if err != nil {
		return nil, err
	}
	a.e.Graph.Names.LearnFrom(receipt.Rows...)
	view, err := a.e.MemoryView(receipt.Rows[0], a.e.Opt.Now())
	message := fmt.Sprintf("Stored as new memory %s.", view.ID.Short())
	if a.added != "" {
		message += fmt.Sprintf(" Added %s, because the token can save memories only in its scopes.", a.added)
	}
	return &op.AddResult{Memory: view, New: true, Message: message, Added: a.added, Tx: receipt.Entry}, err
}

func (a *addRun) contradiction(from, to memory.ID) memory.Relation {
	return memory.Relation{From: from, To: to, Type: memory.Contradicts, Strength: 1, CreatedAt: a.link.At}
}

// leave answers with the memory that contains the text, and changes nothing.
func (a *addRun) leave(known *similar.Near) (*op.AddResult, error) {
	view, err := a.e.MemoryView(known.Row, a.e.Opt.Now())
	return &op.AddResult{Memory: view, Message: "This is already known."}, err
}

// reinforceKnown reinforces the memory that contains the text, with relations to those that both
// contradict. Its importance becomes at least that of the request.
func (a *addRun) reinforceKnown(ctx context.Context, known *similar.Near, against []memory.ID) (*op.AddResult, error) {
	id := known.Row.ID()
	r := Renewal{E: a.e, Link: a.link, Said: a.m.Content, Near: known, core: a.m.Core,
		result: op.Reinforcement{Similarity: similar.ShownSimilarity(known.Similarity)}}
	if strings.TrimSpace(a.req.Importance) != "" {
		r.minImportance = a.m.Importance
	}
	ids := append([]memory.ID{id}, against...)
	receipt, err := a.e.Stm.Update(ctx, ids, a.key, func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, ErrChanged
		}
		set, err := r.change(rows[0])
		if err != nil {
			return nil, err
		}
		relations, err := a.contradictions(rows)
		maps.Copy(set, relations)
		return &stm.Tx{Verb: cmp.Or(a.with.Verb, reinforceVerb), By: *a.link.By, Key: a.key, KeyHash: a.hash,
			Entry: a.with.Entry, Changes: []stm.Change{{ID: id, Set: set, Allowed: true}}}, err
	})
	if err != nil {
		return nil, err
	}
	view, err := r.count(receipt.Rows[0])
	if err != nil {
		return nil, err
	}
	return &op.AddResult{Memory: *view, Reinforced: &r.result,
		Message: "This is already known. " + r.message(view) + ".",
		Tx:      receipt.Entry}, nil
}

// contradictions returns the relations from the first locked memory to the others, without
// those that exist in either direction.
func (a *addRun) contradictions(rows []*stm.Row) (map[string]json.RawMessage, error) {
	g := memories.TxBuilder{E: a.e.Memories, Ends: make(map[memory.ID]*memories.TxMemory)}
	from := rows[0]
	for _, row := range rows {
		if row != nil {
			g.Ends[row.ID()] = &memories.TxMemory{Row: row}
		}
	}
	for _, row := range rows[1:] {
		if row == nil || row.Has(stm.RelationKey(memory.RelationID(row.ID(), from.ID(), memory.Contradicts, ""))) {
			continue
		}
		w := memories.RelationRequest{Relation: a.contradiction(from.ID(), row.ID())}
		w.ID = memory.RelationID(w.From, w.To, w.Type, w.Kind)
		var err error
		if w.Value, err = stm.RelationValue(&w.Relation); err != nil {
			return nil, err
		}
		if _, err = g.Add(&w); err != nil && memory.CodeOf(err) != memory.Conflict &&
			memory.CodeOf(err) != memory.TooLarge {
			return nil, err // existing relations, and those beyond the limit, are left out
		}
	}
	return g.Ends[from.ID()].Set, nil
}
