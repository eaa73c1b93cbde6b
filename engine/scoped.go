package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// maxViews is how many views are cached. A grant beyond them gets a new view, which costs only
// time.
const maxViews = 32

// scopedViews is the cache of views of callers with a grant.
type scopedViews struct {
	mu      sync.Mutex // guards the fields below
	byGrant map[string]*Engine
	latest  []string // keys of byGrant, the last used one last
}

// forOperation returns the view of the engine for the caller of an operation. It returns an
// error of code Forbidden if the operation needs more than the caller's grant.
func (e *Engine) forOperation(ctx context.Context, s *op.Spec) (*Engine, error) {
	g := op.GrantFrom(ctx)
	if g.Whole() || s.Reach() == op.Free {
		return e, nil
	}
	if s.Reach() == op.Scoped {
		return e.viewFor(g), nil
	}
	// a client could use them to widen its grant
	if s == op.TokenCreate.Spec || s == op.TokenList.Spec || s == op.TokenRevoke.Spec {
		return nil, memory.Errorf(memory.Forbidden, "token %s cannot manage tokens; ask the user, who has full access",
			g.Token)
	}
	if s.Effect == op.Read && g.SeesAll() {
		return e, nil
	}
	return nil, memory.Errorf(memory.Forbidden,
		"token %s cannot run %s, which accesses memories outside %s; ask the user, or use a token with scope all",
		g.Token, s.Name, core.ScopesOf(slices.Concat(g.Read, g.Write)))
}

// viewFor returns the engine restricted to the permissions in g. Its store and notes contain
// only what the grant covers, so that operations need no check, and the store refuses other
// changes. Code that writes a note before the log calls [core.View.CheckFields] first.
func (e *Engine) viewFor(g *access.Grant) *Engine {
	key := fmt.Sprintf("%q %q %q %d", g.Token, g.Read, g.Write, g.Made.Unix())
	e.views.mu.Lock()
	defer e.views.mu.Unlock()
	if i := slices.Index(e.views.latest, key); i >= 0 {
		e.views.latest = append(slices.Delete(e.views.latest, i, i+1), key)
		return e.views.byGrant[key]
	}
	if len(e.views.latest) == maxViews {
		delete(e.views.byGrant, e.views.latest[0])
		e.views.latest = slices.Delete(e.views.latest, 0, 1)
	}
	if e.views.byGrant == nil {
		e.views.byGrant = make(map[string]*Engine)
	}
	view := e.newView(g)
	e.views.byGrant[key], e.views.latest = view, append(e.views.latest, key)
	return view
}

func (e *Engine) newView(g *access.Grant) *Engine {
	v := &core.View{Kernel: e.Kernel, Grant: g}
	scoped := &Engine{View: v, Features: wire(v, e.state), state: e.state}
	close(scoped.Graph.Entities.Read) // it has no notes to wait for
	v.Stm = e.Stm.WithView(stm.View{Sees: v.CanRead, May: v.CheckTx})
	if e.Notes.Vault != nil {
		scoped.Notes.Vault = &notes.VaultNotes{Followed: e.Notes.Vault.Followed, Sees: scoped.Notes.CanReadNote}
	}
	scoped.handlers = scoped.table()
	return scoped
}

// touched marks changed memories in the entity graphs of all views; nil means that any memory
// may have changed.
func (e *Engine) touched(ids []memory.ID) {
	e.forEachView(func(view *Engine) {
		if ids == nil {
			view.Graph.Entities.ChangedAll()
			return
		}
		view.Graph.Entities.Touched(ids)
	})
}

// forgetEchoes drops the fingerprints of returned texts in all views.
func (e *Engine) forgetEchoes() { e.forEachView(func(view *Engine) { view.Recall.Forget() }) }

// forEachView calls do for the engine without a grant and for each cached view.
func (e *Engine) forEachView(do func(*Engine)) {
	do(e)
	e.views.mu.Lock()
	defer e.views.mu.Unlock()
	for _, view := range e.views.byGrant {
		do(view)
	}
}
