package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"emberd/internal/cleanup"
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
	if c.res.Tx != "" && c.e.stm.Undone(c.res.Tx) { // before notes are written for nothing
		return memory.Errorf(memory.Conflict, "nothing more was merged, for journal entry %s was undone meanwhile; start again", c.res.Tx)
	}
	id, err := memory.NewID()
	if err != nil {
		return err
	}
	m := merger{archiver: archiver{e: c.e, reason: mergedReason, by: c.by, made: c.made}, id: id, cohesion: one.Cohesion, answers: c.answers}
	others, err := m.prepare(ctx, c.g, one)
	if err != nil {
		return err
	}
	ids := slices.Concat(c.ids(one), []memory.ID{id}, others)
	receipt, err := c.e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		changes, err := m.changes(ctx, rows[:len(m.group)], rows[len(m.group)+1:])
		return &stm.Tx{Verb: consolidateVerb, By: c.by, Entry: c.res.Tx, Changes: changes}, err
	})
	if err != nil {
		return err
	}
	c.res.Tx = receipt.Entry
	c.res.Merged = append(c.res.Merged, op.MergedCluster{ClusterID: one.ID, NewMemoryID: id, SourceIDs: c.ids(one), RelationIDs: m.relations})
	return nil
}

// mergeMembers makes one memory of exactly these, as [Engine.consolidate] does of a
// cluster, and returns the journal entry: entry, or the one that was begun if that is "".
// It is an error of code Conflict if two of them do not say the same, or if one of them
// is not to be merged with the others; then nothing was changed.
func (e *Engine) mergeMembers(ctx context.Context, by memory.Actor, entry string, ids []memory.ID) (op.MergedCluster, string, error) {
	if len(ids) < 2 || len(ids) > largestCluster {
		return op.MergedCluster{}, "", memory.Errorf(memory.Conflict, "nothing was merged, for that takes 2 to %d memories, not %d", largestCluster, len(ids))
	}
	if err := e.needVault(); err != nil {
		return op.MergedCluster{}, "", err
	}
	g := e.gather(false)
	members, err := e.membersIn(g, ids)
	if err != nil {
		return op.MergedCluster{}, "", err
	}
	one, why, err := cluster.Exactly(ctx, e.text, g.items, members, cluster.Options{Vectors: e.clusterVectors(ctx, g)}, telling(ctx))
	if err == nil && why != "" {
		err = memory.Errorf(memory.Conflict, "nothing was merged, for the memories do not say the same: %s; edit or forget what is wrong first", why)
	}
	if err != nil {
		return op.MergedCluster{}, "", err
	}
	c := consolidating{e: e, g: g, by: by, res: op.ConsolidateResult{Tx: entry}}
	if err := c.apply(ctx, one); err != nil {
		return op.MergedCluster{}, "", err
	}
	return c.res.Merged[0], c.res.Tx, nil
}

// membersIn finds memories among those that may be merged, all of one collection and
// project.
func (e *Engine) membersIn(g *gathering, ids []memory.ID) ([]int, error) {
	place := make(map[memory.ID]int, len(g.items))
	for i, item := range g.items {
		place[item.ID] = i
	}
	var members []int
	for _, id := range ids {
		i, found := place[id]
		if !found {
			return nil, e.unmergeable(id)
		}
		if len(members) > 0 && g.items[i].Group != g.items[members[0]].Group {
			return nil, memory.Errorf(memory.Conflict, "nothing was merged, for memories %s and %s are of different collections or projects", g.items[members[0]].ID, id)
		}
		if !slices.Contains(members, i) {
			members = append(members, i)
		}
	}
	return members, nil
}

// unmergeable says why a memory is not among those that may be merged.
func (e *Engine) unmergeable(id memory.ID) error {
	row, live := e.stm.Get(id)
	if !live {
		return e.missing(id)
	}
	return notMerged(id, cmp.Or(e.staysApart(row), "it was changed just now"))
}

// staysApart is why a memory is not to be merged with any other, "" if it may be.
func (e *Engine) staysApart(row *stm.Row) string {
	switch {
	case row.Core():
		return "it is a core memory, and those are never merged away"
	case row.Promoted():
		return "it has a note of its own, which decides about its text"
	case e.superseded(row):
		return "another memory took its place"
	case row.Stage().Cold() || row.Has("text_digest"):
		return fmt.Sprintf("it is %s, and its text is in a note", row.Stage())
	}
	return ""
}

// merger makes one memory of several, which it archives.
type merger struct {
	archiver
	id        memory.ID // of the new one
	cohesion  float64
	group     []leaving
	relations []string // ids of those from the new one to the others
	// answers is the review item that asked for the merge, which the line of it closes.
	answers *memory.ReviewItem
}

// prepare summarises the members, as long as nothing is locked, and names the memories
// that have relations to them.
func (m *merger) prepare(ctx context.Context, g *gathering, one cluster.Cluster) ([]memory.ID, error) {
	if why := m.e.vaultAway(); why != "" {
		return nil, memory.Errorf(memory.Busy, "nothing can be merged now: %s", why)
	}
	size := 0
	var parts []*stm.Row
	for _, i := range one.Members {
		row := g.rows[i]
		parts = append(parts, row)
		l, why := m.leave(ctx, rekindle.Move{ID: row.ID(), From: row.Stage(), To: memory.Archived, Used: row.LastUsed()}, row)
		if why != "" {
			return nil, notMerged(row.ID(), why)
		}
		if size += len(row.Fields()[contentField]); size > archiveBytes {
			return nil, memory.Errorf(memory.TooLarge, "the texts of the cluster have more than %d bytes together; make clusters smaller", archiveBytes)
		}
		m.group = append(m.group, l)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	c, err := m.e.carry(m.id, parts)
	if err != nil {
		return nil, err
	}
	return c.others(), nil
}

func notMerged(id memory.ID, why string) error {
	return memory.Errorf(memory.Conflict, "nothing was merged, for memory %s stays as it is: %s", id, why)
}

// changes are what the log is to say of the locked members, of the merged memory and of
// others that are related to it then. Nothing is written to the vault unless every member
// can be archived and the whole holds no credential that none of them held.
func (m *merger) changes(ctx context.Context, rows, others []*stm.Row) ([]stm.Change, error) {
	merged, err := m.merged(rows)
	if err != nil {
		return nil, err
	}
	if err := m.stillOpen(rows); err != nil {
		return nil, err
	}
	c, err := m.e.carry(m.id, rows)
	if err != nil {
		return nil, err
	}
	related, err := c.write(merged, others)
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
		if dry { // the log asks, too, when the notes are there
			if err := m.e.vet(&stm.Tx{Changes: append(changes, stm.Change{ID: m.id, Set: merged})}, rows); err != nil {
				return nil, err
			}
		}
	}
	into, err := encode(m.id)
	for _, c := range changes {
		c.Set["consolidated_into"] = into
		if item := m.answers; item != nil && item.MemoryIDs[0] == c.ID {
			c.Set[stm.ReviewKey(item.ID)] = stm.ReviewValue(item)
		}
	}
	return slices.Concat(changes, []stm.Change{{ID: m.id, Set: merged}}, related), err
}

// stillOpen refuses a merge that somebody has decided about meanwhile.
func (m *merger) stillOpen(rows []*stm.Row) error {
	for _, row := range rows {
		if m.answers != nil && m.answers.MemoryIDs[0] == row.ID() {
			if why := m.e.notOpen(row, m.answers); why != "" {
				return notMerged(row.ID(), why)
			}
		}
	}
	return nil
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
	whole.ID, whole.ConsolidatedAt = m.id, stampTime(m.e.opt.Now())
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
	return set, keepUnknown(rows, set)
}

// keepUnknown takes over the keys that emberd does not know, the oldest part's first, so
// that a chunk stays one and no cleanup takes it for what somebody wrote, and says that
// there is an implementation if any part had one.
func keepUnknown(rows []*stm.Row, whole map[string]json.RawMessage) error {
	old, implemented := slices.Clone(rows), false
	slices.SortStableFunc(old, func(a, b *stm.Row) int { return b.CreatedAt().Compare(a.CreatedAt()) })
	for _, row := range old {
		all := row.Fields()
		unknown := unknownFields(all)
		maps.Copy(whole, unknown)
		has, _ := cleanup.Chunking(unknown, metaOf(all))
		implemented = implemented || has
	}
	if !implemented {
		return nil
	}
	yes := json.RawMessage("true")
	meta := metaOf(whole)
	if meta[cleanup.ImplementationField] == nil || whole[cleanup.ImplementationField] != nil {
		whole[cleanup.ImplementationField] = yes
		return nil
	}
	meta[cleanup.ImplementationField] = yes
	raw, err := encode(meta)
	whole["meta"] = raw
	return err
}
