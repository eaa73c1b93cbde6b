package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// maxForeign is how many memories with a credential from another device are reported.
const maxForeign = 1_000

// ForeignSecrets are memories with a credential that another device wrote; its emberd may
// allow that. Status reports them, and nothing is left out, because all devices have the same
// log.
type ForeignSecrets struct {
	mu  sync.Mutex // guards ids
	ids []memory.ID
}

// LookForSecrets scans the fields that other devices wrote, of some memories or of all.
func (e *Admin) LookForSecrets(ctx context.Context, ids []memory.ID) {
	if !e.Opt.DetectSecrets || !e.hasOtherDevices() {
		return
	}
	here := e.Stm.Status().Device
	if ids != nil {
		for _, id := range ids {
			if row, live := e.Stm.Get(id); live {
				e.flagSecret(row, here)
			}
		}
		return
	}
	for row := range e.Stm.Rows() {
		if ctx.Err() != nil {
			return
		}
		e.flagSecret(row, here)
	}
}

func (e *Admin) flagSecret(row *stm.Row, here string) {
	if !holdsForeignSecret(row, here) {
		return
	}
	f := &e.foreign
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ids) < maxForeign && !slices.Contains(f.ids, row.ID()) {
		f.ids = append(f.ids, row.ID())
		e.Opt.Logger.Warn("memory from another device contains text that looks like a credential", "memory", row.ID())
	}
}

// holdsForeignSecret reports whether a field last written by another device has a credential.
func holdsForeignSecret(row *stm.Row, here string) bool {
	for _, p := range core.StoredTexts(row.Fields()) {
		if by := row.ChangedBy(p.Field).String(); by != here && len(p.Findings()) > 0 {
			return true
		}
	}
	return false
}

// foreignWaits returns what the user has to do about the memories that still have one.
func (e *Admin) foreignWaits() []op.Waiting {
	here := e.Stm.Status().Device
	f := &e.foreign
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids = slices.DeleteFunc(f.ids, func(id memory.ID) bool {
		row, live := e.Stm.Get(id)
		return !live || !holdsForeignSecret(row, here)
	})
	if len(f.ids) == 0 {
		return nil
	}
	var some []string
	for _, id := range f.ids[:min(len(f.ids), 5)] {
		some = append(some, id.Short())
	}
	text := fmt.Sprintf("%s text that looks like a credential (first memory IDs: %s)", core.NumberOf(len(f.ids),
		"memory from another device contains", "memories from other devices contain"), strings.Join(some, ", "))
	return []op.Waiting{{Code: op.WaitsCredentials, Count: len(f.ids), Command: "emberd edit " + f.ids[0].Short(),
		Text: text, Warning: text + "; remove the credential with emberd edit, or run emberd " +
			"forget --permanently on every device"}}
}
