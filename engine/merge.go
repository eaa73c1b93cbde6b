package engine

import (
	"context"
	"encoding/json"
	"maps"

	"emberd/internal/cluster"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

// mergedReason is why a memory was archived that another one has the text of.
const mergedReason = "merged"

// apply makes one memory of a cluster. The text of every member is in a note that can be
// read before the log has the line that says both that there is a merged memory and that
// the members are archived. So a crash leaves either all of it or, at most, notes that
// the next attempt finds.
func (c *consolidating) apply(ctx context.Context, one cluster.Cluster) error {
	id, err := memory.NewID()
	if err != nil {
		return err
	}
	m := merger{archiver: archiver{Engine: c.Engine, reason: mergedReason, by: c.by}, id: id, cohesion: one.Cohesion}
	if err := m.prepare(ctx, c.g, one); err != nil {
		return err
	}
	ids := append(c.ids(one), id)
	receipt, err := c.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		changes, err := m.changes(ctx, rows[:len(m.group)])
		return &stm.Tx{Verb: consolidateVerb, By: c.by, Entry: c.res.Tx, Changes: changes}, err
	})
	if err != nil {
		return err
	}
	c.res.Tx = receipt.Entry
	c.res.Merged = append(c.res.Merged, op.MergedCluster{ClusterID: one.ID, NewMemoryID: id, SourceIDs: c.ids(one), RelationIDs: m.relations})
	return nil
}

// merger makes one memory of several, which it archives.
type merger struct {
	archiver
	id        memory.ID // of the new one
	cohesion  float64
	group     []leaving
	relations []string // ids of those from the new one to the others
}

// prepare summarises the members, as long as nothing is locked.
func (m *merger) prepare(ctx context.Context, g *gathering, one cluster.Cluster) error {
	if why := m.vaultAway(); why != "" {
		return memory.Errorf(memory.Busy, "nothing can be merged now: %s", why)
	}
	size := 0
	for _, i := range one.Members {
		row := g.rows[i]
		l, why := m.leave(ctx, rekindle.Move{ID: row.ID(), From: row.Stage(), To: memory.Archived, Used: row.LastUsed()}, row)
		if why != "" {
			return notMerged(row.ID(), why)
		}
		if size += len(row.Fields()[contentField]); size > archiveBytes {
			return memory.Errorf(memory.TooLarge, "the texts of the cluster have more than %d bytes together; make clusters smaller", archiveBytes)
		}
		m.group = append(m.group, l)
	}
	return context.Cause(ctx)
}

func notMerged(id memory.ID, why string) error {
	return memory.Errorf(memory.Conflict, "nothing was merged, for memory %s stays as it is: %s", id, why)
}

// changes are what the log is to say of the locked members and of the merged memory.
// Nothing is written to the vault unless every member can be archived.
func (m *merger) changes(ctx context.Context, rows []*stm.Row) ([]stm.Change, error) {
	merged, err := m.merged(rows)
	if err != nil {
		return nil, err
	}
	var changes []stm.Change
	for _, dry := range []bool{true, false} {
		m.dry, changes = dry, nil
		for i, l := range m.group {
			set, why, err := m.cooled(ctx, rows[i], l)
			if err == nil && why != "" {
				err = notMerged(l.ID, why)
			}
			if err != nil {
				return nil, err
			}
			changes = append(changes, stm.Change{ID: l.ID, Set: set})
		}
	}
	into, err := encode(m.id)
	for _, c := range changes {
		c.Set["consolidated_into"] = into
	}
	return append(changes, stm.Change{ID: m.id, Set: merged}), err
}

// merged is the new memory.
func (m *merger) merged(rows []*stm.Row) (map[string]json.RawMessage, error) {
	members := make([]memory.Memory, len(rows))
	for i, row := range rows {
		if why := unlike(row, m.group[i].Move); why != "" {
			return nil, notMerged(m.group[i].ID, why)
		}
		var err error
		if members[i], err = row.Memory(); err != nil {
			return nil, err
		}
	}
	whole, err := cluster.Merge(members, m.cohesion)
	if err != nil {
		return nil, err
	}
	whole.ID, whole.ConsolidatedAt = m.id, stampTime(m.opt.Now())
	set, err := fields(&whole)
	if err != nil {
		return nil, err
	}
	var from starting
	for _, member := range members {
		err := from.add(memory.Relation{From: m.id, To: member.ID, Type: memory.ConsolidatedFrom, Strength: 1, CreatedAt: whole.ConsolidatedAt})
		if err != nil {
			return nil, err
		}
	}
	m.relations = from.ids
	maps.Copy(set, from.values)
	return set, nil
}
