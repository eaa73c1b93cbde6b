package engine

import (
	"context"
	"encoding/json"
	"slices"

	"emberd/internal/cluster"
	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
)

// keepAhead makes the notes that memories are about to be archived in, many at once and
// before anything is locked, and returns their paths. It changes nothing else, and what it
// does not make is made one by one: whoever archives a memory looks whether its note has
// its text. A note of a memory that is not archived after all is like one that a crash
// leaves: the next attempt finds it.
func (e *Engine) keepAhead(ctx context.Context, rows []*stm.Row) map[memory.ID]string {
	if e.notes == nil || e.opt.VaultArchive == "" || e.vaultAway() != "" {
		return nil
	}
	var all []vault.New
	of := make(map[string]memory.ID)
	for _, row := range rows {
		m, err := row.Memory()
		if err != nil || m.Stage.Cold() || homeOf(&m) != "" || len(e.notes.carriers.of(m.ID)) > 0 {
			continue
		}
		for _, name := range e.namesIn(e.opt.VaultArchive, &m) {
			if of[name] == "" {
				of[name] = m.ID
				all = append(all, vault.New{Path: name, Data: archiveBytesOf(&m)})
				break
			}
		}
	}
	made := make(map[memory.ID]string)
	var got []vault.Result
	err := e.writing.with(func(w *vault.Writer) (err error) {
		got, err = w.CreateAll(ctx, all)
		return err
	})
	if err != nil {
		e.opt.Logger.Warn("notes not made ahead", "err", err)
	}
	for i, res := range got {
		if res.Outcome == vault.Written {
			made[of[all[i].Path]] = all[i].Path
		}
	}
	e.writing.nudge()
	return made
}

// mergedAtOnce bounds of how many merges the notes are made together, and so how many are
// left of a run that is ended: the next one finds them.
const mergedAtOnce = 16

// keepParts keeps ahead the members of those of the first clusters that can be merged.
func (e *Engine) keepParts(ctx context.Context, g *gathering, some []cluster.Cluster) map[memory.ID]string {
	var rows []*stm.Row
	for _, one := range some[:min(len(some), mergedAtOnce)] {
		var parts []*stm.Row
		for _, m := range one.Members {
			parts = append(parts, g.rows[m])
		}
		members, err := g.memories(one)
		if err != nil || slices.ContainsFunc(members, unkeepable) || !e.makesText(parts, members, one.Cohesion) { // as its merge will say
			continue
		}
		rows = append(rows, parts...)
	}
	return e.keepAhead(ctx, rows)
}

// makesText reports whether a merge has a text that may be written, with no credential that
// none of its parts held.
func (e *Engine) makesText(parts []*stm.Row, members []memory.Memory, cohesion float64) bool {
	merged, err := cluster.Merge(members, cohesion)
	if err != nil {
		return false
	}
	text, err := encode(merged.Content)
	set := map[string]json.RawMessage{contentField: text}
	return err == nil && e.vet(&stm.Tx{Changes: []stm.Change{{ID: members[0].ID, Set: set}}}, parts) == nil
}

// unkeepable reports a text that a note does not keep.
func unkeepable(m memory.Memory) bool { return !keepable(m.Content) }

// memories are the members of a cluster.
func (g *gathering) memories(one cluster.Cluster) ([]memory.Memory, error) {
	members := make([]memory.Memory, len(one.Members))
	for i, m := range one.Members {
		var err error
		if members[i], err = g.rows[m].Memory(); err != nil {
			return nil, err
		}
	}
	return members, nil
}

// ahead has the parts of those merges of a batch kept that can be made, before it is written.
func (c *cleaner) ahead(ctx context.Context, batch []cleaning) {
	var rows []*stm.Row
	for _, one := range batch {
		if one.join != nil {
			rows = append(rows, c.joinable(one.join)...)
		}
	}
	made := c.e.keepAhead(ctx, rows)
	for _, one := range batch {
		if one.join != nil {
			one.join.made = made
		}
	}
}

// joinable are the parts of a merge as they are now, none if it will be refused: then no
// part is to have a note.
func (c *cleaner) joinable(m *joining) []*stm.Row {
	var parts []*stm.Row
	var members []memory.Memory
	for _, id := range m.act.MemoryIDs {
		row, live := c.e.stm.Get(id)
		if !live || c.asPlanned(row) != nil {
			return nil
		}
		one, err := row.Memory()
		if err != nil || unkeepable(one) {
			return nil
		}
		parts, members = append(parts, row), append(members, one)
	}
	if !c.e.makesText(parts, members, m.cohesion) {
		return nil
	}
	return parts
}
