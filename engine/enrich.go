package engine

import (
	"context"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"emberd/internal/entities"
	"emberd/internal/secret"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// enriches reports whether a save leaves something to emberd.
func (e *Engine) enriches(req *op.SaveRequest) bool {
	on := e.opt.Enrich
	assign(&on, req.Enrich)
	return on && (req.Entities == nil || req.Strength == nil)
}

// enrich works out of the content what a save leaves out.
func (e *Engine) enrich(m *memory.Memory, req *op.SaveRequest) {
	if !e.enriches(req) {
		return
	}
	if req.Entities == nil {
		m.Entities = e.entitiesOf(m.Content, e.opt.DetectSecrets && !req.AllowSecret)
		m.EntitiesFound = len(m.Entities) > 0
	}
	if req.Strength == nil && !m.DataOnly() {
		m.Strength = e.opt.Phrases.Strength(m.Content, len(m.Entities))
		m.StrengthFound = m.Strength != 1
	}
}

// entitiesOf is entitiesIn for a content that is stored. One that was let pass although
// it looks like a credential is not taken apart: what it holds must not be listed as a
// name. Clean says that it was scanned and is none.
func (e *Engine) entitiesOf(content string, clean bool) []string {
	if !clean && len(secret.Scan(content)) > 0 {
		return nil
	}
	return e.entitiesIn(content)
}

// entitiesIn finds what a text is about, what is known already by its name there.
func (e *Engine) entitiesIn(text string) []string {
	return entities.Find(text, entities.Options{Known: e.names.spelling, Guessed: e.names.guessed})
}

// mostNames bounds the names that are known, at some 200 bytes each; saves at one time
// may exceed it a little.
const mostNames = 50_000

// knownNames are what entities are called in memories and notes. A name stays known
// until the next start, though nothing may have it any more: it is only ever found in a
// text that has it. Saves ask for hundreds of them at once, and hardly ever is one new.
type knownNames struct {
	byKey sync.Map // of calling, by [entities.Key]
	count atomic.Int64
}

// calling is how a name is written, and whether somebody wrote it so on purpose.
type calling struct {
	name  string
	given bool
}

// spelling is what [entities.Options] asks for.
func (n *knownNames) spelling(key string) (name string, ok bool) {
	known, ok := n.byKey.Load(key)
	if !ok {
		return "", false
	}
	return known.(calling).name, true
}

// guessed reports whether a name was found and never given.
func (n *knownNames) guessed(key string) bool {
	known, ok := n.byKey.Load(key)
	return ok && !known.(calling).given
}

// learn takes in names. One that was given takes the place of the same one that was
// found, and the first that was given stays.
func (n *knownNames) learn(given bool, all ...string) {
	for _, name := range all {
		if key := entities.Key(name); key != "" {
			n.put(key, calling{name, given})
		}
	}
}

func (n *knownNames) put(key string, c calling) {
	had, known := n.byKey.Load(key)
	switch {
	case known && c.given && !had.(calling).given:
		n.byKey.CompareAndSwap(key, had, c)
	case !known && n.count.Load() < mostNames:
		if _, there := n.byKey.LoadOrStore(key, c); !there {
			n.count.Add(1)
		}
	}
}

// learnFrom takes in the entities of memories; a nil is one that is not live.
func (n *knownNames) learnFrom(rows ...*stm.Row) {
	for _, r := range rows {
		if r == nil {
			continue
		}
		if all := r.Entities(); len(all) > 0 {
			n.learn(!r.EntitiesFound(), all...)
		}
	}
}

// learnNote takes in what a note is called. The note of a memory is called by the
// beginning of its text, which is no name.
func (n *knownNames) learnNote(note *vault.Note) {
	if note.MemoryID != "" {
		return
	}
	for _, name := range append([]string{note.Title, stemOf(note.Path)}, note.Aliases...) {
		if called, err := memory.NormalizeEntity(name); err == nil {
			n.learn(true, called)
		}
	}
}

func stemOf(notePath string) string {
	return strings.TrimSuffix(path.Base(notePath), path.Ext(notePath))
}

// learnNames takes in the names of everything that was there at the start.
func (e *Engine) learnNames(ctx context.Context) {
	for r := range e.stm.Rows() {
		if ctx.Err() != nil {
			return
		}
		e.names.learnFrom(r)
	}
	if e.notes != nil {
		index, _ := e.notes.current()
		e.names.learnIndexed(index, e.notes.carriers)
	}
}

// learnIndexed takes in the file names of notes that were read before the start.
func (n *knownNames) learnIndexed(index *ltm.Index, of *carriers) {
	for notePath := range index.Known() {
		if _, carries := of.at(notePath); carries {
			continue
		}
		if called, err := memory.NormalizeEntity(stemOf(notePath)); err == nil {
			n.learn(true, called)
		}
	}
}
