package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"emberd/internal/secret"
	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
)

// mostForeign bounds the memories that are told of, of those with a credential that another
// device wrote.
const mostForeign = 1_000

// foreignSecrets are memories of which another device wrote what looks like a credential,
// which may run an emberd that lets it pass. They are told in status and never left out:
// what one device has, all have.
type foreignSecrets struct {
	mu  sync.Mutex // guards ids
	ids []memory.ID
}

// lookForSecrets looks through what other devices wrote of some memories, or of all.
func (e *Engine) lookForSecrets(ctx context.Context, ids []memory.ID) {
	if !e.opt.DetectSecrets || !e.company() {
		return
	}
	here := e.stm.Status().Device
	if ids != nil {
		for _, id := range ids {
			if row, live := e.stm.Get(id); live {
				e.flagSecret(row, here)
			}
		}
		return
	}
	for row := range e.stm.Rows() {
		if ctx.Err() != nil {
			return
		}
		e.flagSecret(row, here)
	}
}

func (e *Engine) flagSecret(row *stm.Row, here string) {
	if !holdsForeignSecret(row, here) {
		return
	}
	f := &e.foreign
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ids) < mostForeign && !slices.Contains(f.ids, row.ID()) {
		f.ids = append(f.ids, row.ID())
		e.opt.Logger.Warn("a memory that came from another device holds what looks like a credential", "memory", row.ID())
	}
}

// holdsForeignSecret reports whether a field that another device wrote last does.
func holdsForeignSecret(row *stm.Row, here string) bool {
	for _, p := range storedTexts(row.Fields()) {
		if by := row.ChangedBy(p.field).String(); by != here && len(p.findings()) > 0 {
			return true
		}
	}
	return false
}

// foreignWarnings is one sentence about those that still do.
func (e *Engine) foreignWarnings() []string {
	here := e.stm.Status().Device
	f := &e.foreign
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids = slices.DeleteFunc(f.ids, func(id memory.ID) bool {
		row, live := e.stm.Get(id)
		return !live || !holdsForeignSecret(row, here)
	})
	if len(f.ids) == 0 {
		return nil
	}
	var some []string
	for _, id := range f.ids[:min(len(f.ids), 5)] {
		some = append(some, id.Short())
	}
	return []string{fmt.Sprintf("%d memories that other devices wrote hold what looks like a credential, among them %s; take it out with emberd edit, or emberd purge them on every device",
		len(f.ids), strings.Join(some, ", "))}
}

// credentials lists where a note holds what looks like a credential. Notes are the
// user's: it is told, and nothing else.
func (c *checking) credentials(note *vault.Note) {
	if !c.e.opt.DetectSecrets {
		return
	}
	for _, s := range note.Sections {
		text := s.Heading + "\n" + s.Text
		for _, f := range secret.Scan(text) {
			c.find("credential", note.Path, s.Line, "this part holds what looks like a credential (%s, %s); agents that may search the vault can read it", f.Type, secret.Masked(text, f))
		}
	}
	for _, p := range note.Properties {
		text := p.Key + ": " + p.Value
		for _, f := range secret.Scan(text) {
			c.find("credential", note.Path, p.Line, "the property %.40s holds what looks like a credential (%s, %s); agents that may search the vault can read it", p.Key, f.Type, secret.Masked(text, f))
		}
	}
}
