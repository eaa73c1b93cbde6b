package merge

import (
	"cmp"
	"context"

	"emberd/engine/core"
	"emberd/engine/memories"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// link relates every two members of a cluster, in both directions and with the strength of its
// cohesion, except pairs that are related in any direction.
func (c *consolidation) link(ctx context.Context, m *MergeRun) error {
	ids := m.Parts()
	var made []string
	receipt, err := c.e.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		made = nil
		g := c.e.Memories.NewTxBuilder(ids, rows)
		for i := range ids {
			for j := range i {
				if g.Related(ids[i], ids[j]) || g.Related(ids[j], ids[i]) {
					continue
				}
				for _, ends := range [][2]memory.ID{{ids[i], ids[j]}, {ids[j], ids[i]}} {
					w, err := memories.NewRelationRequest(memory.Relation{From: ends[0], To: ends[1],
						Type:     memory.Related,
						Strength: m.Rules.Cohesion, CreatedAt: core.StampTime(c.e.Opt.Now())})
					if err == nil {
						_, err = g.Add(w)
					}
					if err != nil {
						return nil, err
					}
					made = append(made, w.ID)
				}
			}
		}
		return &stm.Tx{Verb: core.LinkVerb, By: m.By, Entry: c.res.Tx, Changes: g.Changes()}, nil
	})
	if err != nil {
		return err
	}
	c.res.Tx = cmp.Or(receipt.Entry, c.res.Tx)
	c.res.Linked = append(c.res.Linked, op.LinkedCluster{ClusterID: m.clusterID(), MemoryIDs: ids, RelationIDs: made})
	return nil
}
