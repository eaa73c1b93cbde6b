package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"emberd/internal/access"
	"emberd/internal/echo"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// mostSeers is for how many grants what belongs to them is kept. One that comes again
// after so many others begins anew, which costs time and nothing else.
const mostSeers = 32

// seers are the engines as they are for those with a grant.
type seers struct {
	mu      sync.Mutex // guards what follows
	byGrant map[string]*Engine
	latest  []string // the one that was asked last at the end
}

// reached returns the engine as it is for the caller of an operation, and refuses one
// that goes further than the caller's grant.
func (e *Engine) reached(ctx context.Context, s *op.Spec) (*Engine, error) {
	g := op.GrantFrom(ctx)
	if g.Whole() || s.Reach() == op.Free {
		return e, nil
	}
	if s.Reach() == op.Scoped {
		return e.seenBy(g), nil
	}
	if s == op.TokenCreate.Spec || s == op.TokenList.Spec || s == op.TokenRevoke.Spec { // with them a grant could be widened
		return nil, memory.Errorf(memory.Forbidden, "the token %s may not look after tokens; have somebody do it who may do everything", g.Token)
	}
	if s.Effect == op.Read && g.SeesAll() {
		return e, nil
	}
	return nil, memory.Errorf(memory.Forbidden, "token %s may not run %s: it reaches memories beyond %s; ask the owner, or use a token of all",
		g.Token, s.Name, scopesOf(slices.Concat(g.Read, g.Write)))
}

// scopesOf lists scopes in a sentence.
func scopesOf(scopes []access.Scope) string {
	if len(scopes) == 0 {
		return "nothing"
	}
	var out []string
	for _, s := range scopes {
		if text := s.String(); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

// seenBy returns the engine as it is for somebody with a grant. Its store, its notes and
// what is derived of them hold what the grant shows and nothing else, so that no operation
// has to know of it, and the store refuses what the grant may not change. What is written
// to a note before the log is told is refused by [Engine.permits].
func (e *Engine) seenBy(g *access.Grant) *Engine {
	key := fmt.Sprintf("%q %q %q %d", g.Token, g.Read, g.Write, g.Made.Unix())
	e.seers.mu.Lock()
	defer e.seers.mu.Unlock()
	if i := slices.Index(e.seers.latest, key); i >= 0 {
		e.seers.latest = append(slices.Delete(e.seers.latest, i, i+1), key)
		return e.seers.byGrant[key]
	}
	if len(e.seers.latest) == mostSeers {
		delete(e.seers.byGrant, e.seers.latest[0])
		e.seers.latest = slices.Delete(e.seers.latest, 0, 1)
	}
	if e.seers.byGrant == nil {
		e.seers.byGrant = make(map[string]*Engine)
	}
	seer := e.through(g)
	e.seers.byGrant[key], e.seers.latest = seer, append(e.seers.latest, key)
	return seer
}

func (e *Engine) through(g *access.Grant) *Engine {
	seer := &Engine{core: e.core, grant: g, names: new(knownNames), echoes: echo.New(e.opt.EchoWindow), entities: newEntityGraph()}
	close(seer.entities.read) // it is of memories alone
	seer.stm = e.stm.Through(stm.Lens{Sees: seer.sees, May: seer.allows})
	if e.notes != nil {
		seer.notes = &notes{followed: e.notes.followed, sees: seer.seesNote}
	}
	seer.handlers = seer.table()
	return seer
}

// touched takes in that memories changed, or that any may have if none is named.
func (e *Engine) touched(ids []memory.ID) {
	e.eachView(func(view *Engine) {
		if ids == nil {
			view.entities.anything()
			return
		}
		view.entities.touched(ids)
	})
}

// forgetEchoes lets go of what answers gave out.
func (e *Engine) forgetEchoes() { e.eachView(func(view *Engine) { view.echoes.Forget() }) }

// eachView calls do for the engine of those without a grant and of each with one.
func (e *Engine) eachView(do func(*Engine)) {
	do(e)
	e.seers.mu.Lock()
	defer e.seers.mu.Unlock()
	for _, view := range e.seers.byGrant {
		do(view)
	}
}

// sees reports whether a memory is there for who has the grant.
func (e *Engine) sees(r *stm.Row) bool { return e.grant.Sees(e.subject(r)) }

// seesNote reports whether a note is, by itself or since it is that of a memory which is.
func (e *Engine) seesNote(path string, tags []string) bool {
	if e.grant.Sees(access.Subject{Tags: tags, Note: path}) {
		return true
	}
	id, carries := e.notes.carriers.at(path)
	if !carries {
		return false
	}
	row, live := e.stm.Get(id)
	return live && noteOfRow(row) == path
}

// subject is a memory as scopes look at it.
func (e *Engine) subject(r *stm.Row) access.Subject {
	x := access.Subject{Tags: r.Tags(), Project: r.Project()}
	if e.folders() {
		x.Note = noteOfRow(r)
	}
	return x
}

// folders reports whether the grant has a scope of a folder.
func (e *Engine) folders() bool {
	is := func(s access.Scope) bool { return s.Kind == access.Folder }
	return slices.ContainsFunc(e.grant.Read, is) || slices.ContainsFunc(e.grant.Write, is)
}

// The keys that say which note is a memory's, as [homeOf] reads them.
var homeKeys = [...]string{"promoted_to", "vault_path", "note_gone"}

// noteOfRow is the path of a memory's note, "" without one.
func noteOfRow(r *stm.Row) string {
	var home [len(homeKeys)]string
	for i, key := range homeKeys {
		home[i] = textIn(r.Value(key))
	}
	return noteIn(home)
}

// noteIn is the note of a memory with those values of homeKeys.
func noteIn(home [len(homeKeys)]string) string {
	if home[2] != "" {
		return ""
	}
	return firstNonEmpty(home[0], home[1])
}

// textIn is a JSON string, "" for what is none.
func textIn(value json.RawMessage) (text string) {
	if len(value) == 0 || json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// allows returns why a change may not be made, nil if it may: what the grant changes it
// must be allowed to change before and after.
func (e *Engine) allows(before *stm.Row, c *stm.Change) error {
	var was access.Subject
	var home [len(homeKeys)]string
	if before != nil {
		if was = e.subject(before); !e.grant.May(was) {
			return e.forbidden(c.ID)
		}
		for i, key := range homeKeys {
			home[i] = textIn(before.Value(key))
		}
	}
	if c.Delete {
		return nil
	}
	is := was
	if raw, set := c.Set["tags"]; set {
		is.Tags = nil
		if err := json.Unmarshal(raw, &is.Tags); err != nil {
			return memory.Errorf(memory.Invalid, "tags of memory %s: %w", c.ID, err).At("tags")
		}
	}
	if raw, set := c.Set["project"]; set {
		is.Project = textIn(raw)
	}
	for i, key := range homeKeys {
		if raw, set := c.Set[key]; set {
			home[i] = textIn(raw)
		}
	}
	if is.Note = noteIn(home); e.grant.May(is) {
		return nil
	}
	return e.beyond(c.ID)
}

func (e *Engine) forbidden(id memory.ID) error {
	return memory.Errorf(memory.Forbidden, "token %s may not change memory %s, for it changes %s alone; ask the owner",
		e.grant.Token, id, scopesOf(e.grant.Write))
}

func (e *Engine) beyond(id memory.ID) error {
	return memory.Errorf(memory.Forbidden, "memory %s would be out of what token %s may change, which is %s; leave its tags, its project and its note as they are",
		id, e.grant.Token, scopesOf(e.grant.Write))
}

// permits returns why a memory may not be given the fields in set, nil if it may. It is
// asked before a note is written, which comes before the log.
func (e *Engine) permits(m *memory.Memory, set map[string]json.RawMessage) error {
	if e.grant == nil {
		return nil
	}
	row, live := e.stm.Get(m.ID)
	if !live {
		return e.missing(m.ID)
	}
	return e.allows(row, &stm.Change{ID: m.ID, Set: set})
}

// permitsNote returns why a memory may not have its note at a path, nil if it may.
func (e *Engine) permitsNote(m *memory.Memory, path string) error {
	if e.grant == nil || e.grant.May(access.Subject{Tags: m.Tags, Project: m.Project, Note: path}) {
		return nil
	}
	return memory.Errorf(memory.Forbidden, "token %s may not put a note at %q, for it changes %s alone; ask the owner", e.grant.Token, path, scopesOf(e.grant.Write))
}

// may reports whether a memory may be changed.
func (e *Engine) may(r *stm.Row) bool { return e.grant == nil || e.grant.May(e.subject(r)) }

// mayChange is an error for a memory that may not.
func (e *Engine) mayChange(r *stm.Row) error {
	if e.may(r) {
		return nil
	}
	return e.forbidden(r.ID())
}
