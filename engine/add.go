package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"emberd/internal/overview"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	addVerb = "add"
	// mostContradictions is how many relations to what it contradicts a memory gets.
	mostContradictions = 5

	defaultSection = "Important Facts"
)

// importances are the words for how much something matters, and what they stand for.
var importances = []struct {
	word  string
	value float64
}{{"low", 0.3}, {"normal", 0.5}, {"high", 0.7}, {coreWord, 0.9}}

const coreWord = "core"

// add remembers something unless it is known: then it reinforces what says it.
func (e *Engine) add(ctx context.Context, req *op.AddRequest) (*op.AddResult, error) {
	save, err := addedAs(req)
	if err != nil {
		return nil, err
	}
	save, added, err := e.grantedSave(save)
	if err != nil {
		return nil, err
	}
	link := e.source(ctx, &req.Provenance, req.Project)
	m, err := e.draft(save, link)
	if err != nil {
		return nil, err
	}
	a := addition{e: e, req: req, m: m, link: link, added: added}
	done, err := e.adding.begin(ctx, m.Content, e.alike(m.Content), e.opt.Known.Related)
	if err != nil {
		return nil, err
	}
	defer done()
	if res, err := a.echo(ctx); err != nil || res != nil {
		return res, err
	}
	return untilUnchanged(func() (*op.AddResult, error) { return a.try(ctx) })
}

// addedAs is the save that an addition asks for.
func addedAs(req *op.AddRequest) (*op.SaveRequest, error) {
	save := &op.SaveRequest{Content: req.Content, Tags: req.Tags, Source: req.Source, Context: req.Context, Project: req.Project,
		Collection: req.Collection, SessionID: req.SessionID, AllowSecret: req.AllowSecret, Again: req.Again, Provenance: req.Provenance}
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
	sections := overview.Sections()
	for _, s := range sections {
		if strings.EqualFold(s, text) {
			return s, nil
		}
	}
	return "", memory.Errorf(memory.Invalid, "section %.60q is unknown; use %s or %s", text, strings.Join(sections[:len(sections)-1], ", "), sections[len(sections)-1]).At("section")
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
	return 0, memory.Errorf(memory.Invalid, "importance %.40q is unknown; use low, normal, high or core", text).At("importance")
}

// addition is one text on its way in.
type addition struct {
	e    *Engine
	req  *op.AddRequest
	m    *memory.Memory
	link memory.Source
	// added is the scope of the grant that it was given, for it has none.
	added string
}

// echo answers with what was just recalled, nil if the text was not. That it comes back is
// a use of it and no new evidence.
func (a *addition) echo(ctx context.Context) (*op.AddResult, error) {
	if a.req.Again || a.saysMore() {
		return nil, nil
	}
	of := a.e.echoOf(a.m.Content, a.m.Collection, a.m.Project)
	if of == nil {
		return nil, nil
	}
	res := &op.AddResult{Echo: of, Compared: op.ComparedByWords}
	if of.Of == "" {
		res.Memory.Memory = memory.Memory{Content: a.m.Content, Collection: a.m.Collection, Project: a.m.Project, VaultPath: of.Path}
		res.Message = fmt.Sprintf("Nothing was stored: the note %q, which was just read, says this.", of.Path)
		return res, nil
	}
	row, tx, err := a.e.countEcho(ctx, of, &a.link, "", "")
	if err != nil || row == nil {
		return nil, err
	}
	res.Tx, res.Message = tx, fmt.Sprintf("Nothing was stored: memory %s, which was just recalled, says this, and counts as used.", of.Of.Short())
	res.Memory, err = a.e.view(row, a.e.opt.Now())
	return res, err
}

// saysMore reports whether the request is more than the text: evidence, or that it matters
// more than most. A person says nothing again without meaning it.
func (a *addition) saysMore() bool {
	return a.req.Quote != "" || a.req.File != "" || a.m.Importance > 0.5 || a.link.Kind == memory.FromUser
}

// try stores the text, or reinforces the memory that says it. The error is errChanged
// when what was found is not so any more.
func (a *addition) try(ctx context.Context) (*op.AddResult, error) {
	n, err := a.e.nearestTo(ctx, probe{text: a.m.Content, accept: a.beside(), notes: true})
	if err != nil {
		return nil, err
	}
	s := a.e.statement(a.m.Content, *a.link.By)
	var known *near
	if !a.req.Again {
		known, _ = sayer(n.all, a.e.opt.Known.Add, s.apart)
	}
	s.id = a.m.ID.Short()
	if known != nil {
		s.id = known.row.ID().Short()
	}
	conflicts := s.oppose(n.all)
	against := opposed(n.all, known)
	var res *op.AddResult
	if known != nil {
		res, err = a.renew(ctx, known, against)
	} else {
		res, err = a.store(ctx, against)
	}
	if err != nil {
		return nil, err
	}
	if old := a.outdated(n.all, s); known == nil && old != nil {
		res.Message += fmt.Sprintf(" Memory %s said this before memory %s took its place.", old.row.ID().Short(), old.successor.ID().Short())
	}
	res.Conflicts, res.Compared = conflicts, n.by()
	if known != nil {
		res.Compared = known.by
	}
	if len(conflicts) > 0 {
		res.Message += fmt.Sprintf(" %s: %s.", sayConflict, conflicts[0].Why)
	}
	return res, nil
}

// outdated is the memory that would be reinforced if no other had taken its place, nil for
// none.
func (a *addition) outdated(all []near, s *statement) *near {
	for i := range all {
		one := &all[i]
		if one.row != nil && one.successor != nil && (one.same || one.similarity >= a.e.opt.Known.Add) && s.apart(one) == "" {
			return one
		}
	}
	return nil
}

// beside accepts the memories that a text may be a duplicate of: those of its collection,
// of its project or of none.
func (a *addition) beside() func(*stm.Row) bool {
	return func(r *stm.Row) bool { return sameScope(r, a.m.Collection, a.m.Project) }
}

// opposed are the memories, but for one, that disagree with the text: the nearest few.
func opposed(all []near, but *near) (ids []memory.ID) {
	for i := range all {
		one := &all[i]
		if one.conflict && one.row != nil && one != but && len(ids) < mostContradictions {
			ids = append(ids, one.row.ID())
		}
	}
	return ids
}

// store makes a new memory, with relations to what it contradicts.
func (a *addition) store(ctx context.Context, against []memory.ID) (*op.AddResult, error) {
	set, err := fields(a.m)
	if err != nil {
		return nil, err
	}
	receipt, err := a.e.stm.Update(ctx, append([]memory.ID{a.m.ID}, against...), "", func(rows []*stm.Row) (*stm.Tx, error) {
		var from starting
		for i, id := range against {
			if rows[i+1] == nil {
				continue
			}
			if err := from.add(a.contradiction(a.m.ID, id)); err != nil {
				return nil, err
			}
		}
		maps.Copy(set, from.values)
		tx := &stm.Tx{Verb: addVerb, By: *a.link.By, Changes: []stm.Change{{ID: a.m.ID, Set: set, Allowed: a.req.AllowSecret}}}
		return tx, a.e.askedAgain(tx, a.m.Content, a.req.Again)
	})
	if err != nil {
		return nil, err
	}
	a.e.names.learnFrom(receipt.Rows...)
	view, err := a.e.view(receipt.Rows[0], a.e.opt.Now())
	message := fmt.Sprintf("Stored as new memory %s.", view.ID.Short())
	if a.added != "" {
		message += fmt.Sprintf(" It was given %s, for the token changes nothing else.", a.added)
	}
	return &op.AddResult{Memory: view, New: true, Message: message, Added: a.added, Tx: receipt.Entry}, err
}

func (a *addition) contradiction(from, to memory.ID) memory.Relation {
	return memory.Relation{From: from, To: to, Type: memory.Contradicts, Strength: 1, CreatedAt: a.link.At}
}

// renew reinforces the memory that says what is added, with relations to what both
// contradict. It matters as much as the request says then, if not more.
func (a *addition) renew(ctx context.Context, known *near, against []memory.ID) (*op.AddResult, error) {
	id := known.row.ID()
	r := renewal{e: a.e, link: a.link, said: a.m.Content, near: known, core: a.m.Core, told: op.Reinforcement{Similarity: shownSimilarity(known.similarity)}}
	if strings.TrimSpace(a.req.Importance) != "" {
		r.least = a.m.Importance
	}
	ids := append([]memory.ID{id}, against...)
	receipt, err := a.e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, errChanged
		}
		set, err := r.change(rows[0])
		if err != nil {
			return nil, err
		}
		relations, err := a.contradictions(rows)
		maps.Copy(set, relations)
		return &stm.Tx{Verb: reinforceVerb, By: *a.link.By, Changes: []stm.Change{{ID: id, Set: set, Allowed: true}}}, err
	})
	if err != nil {
		return nil, err
	}
	view, err := r.count(receipt.Rows[0])
	if err != nil {
		return nil, err
	}
	return &op.AddResult{Memory: *view, Reinforced: &r.told, Message: "This is already known. " + r.message(view) + ".", Tx: receipt.Entry}, nil
}

// contradictions are the relations from the first of the locked memories to those of the
// others that no such relation leads to or from yet.
func (a *addition) contradictions(rows []*stm.Row) (map[string]json.RawMessage, error) {
	g := growth{e: a.e, ends: make(map[memory.ID]*growing)}
	from := rows[0]
	for _, row := range rows {
		if row != nil {
			g.ends[row.ID()] = &growing{row: row}
		}
	}
	for _, row := range rows[1:] {
		if row == nil || row.Has(stm.RelationKey(memory.RelationID(row.ID(), from.ID(), memory.Contradicts, ""))) {
			continue
		}
		w := wanted{Relation: a.contradiction(from.ID(), row.ID())}
		w.ID = memory.RelationID(w.From, w.To, w.Type, w.Kind)
		var err error
		if w.value, err = stm.RelationValue(&w.Relation); err != nil {
			return nil, err
		}
		if _, err = g.add(&w); err != nil && memory.CodeOf(err) != memory.Conflict && memory.CodeOf(err) != memory.TooLarge {
			return nil, err // those it has already, and has no room for, it goes without
		}
	}
	return g.ends[from.ID()].set, nil
}
