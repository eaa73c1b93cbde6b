package engine

import (
	"context"
	"encoding/json"
	"time"

	"emberd/internal/cluster"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// link relates every two members of a cluster to each other, both ways and as strongly as
// the cluster is cohesive, but for pairs that are related already, whichever way.
func (c *consolidating) link(ctx context.Context, one cluster.Cluster) error {
	ids := c.ids(one)
	var made []string
	receipt, err := c.e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		made = nil
		for i, row := range rows {
			if row == nil {
				return nil, c.e.missing(ids[i])
			}
		}
		sets, err := everyTwo(rows, one.Cohesion, stampTime(c.e.opt.Now()))
		tx := &stm.Tx{Verb: linkVerb, By: c.by, Entry: c.res.Tx}
		for i, set := range sets {
			if len(set.ids) > 0 {
				tx.Changes = append(tx.Changes, stm.Change{ID: ids[i], Set: set.values})
				made = append(made, set.ids...)
			}
		}
		return tx, err
	})
	if err != nil {
		return err
	}
	if receipt.Entry != "" {
		c.res.Tx = receipt.Entry
	}
	c.res.Linked = append(c.res.Linked, op.LinkedCluster{ClusterID: one.ID, MemoryIDs: ids, RelationIDs: made})
	return nil
}

// starting are the relations that a memory gets: their ids, and the log's keys.
type starting struct {
	ids    []string
	values map[string]json.RawMessage
}

// add makes a relation start at a memory.
func (s *starting) add(r memory.Relation) error {
	r.ID = memory.RelationID(r.From, r.To, r.Type, r.Kind)
	value, err := stm.RelationValue(&r)
	if err != nil {
		return err
	}
	if s.values == nil {
		s.values = make(map[string]json.RawMessage)
	}
	s.ids, s.values[stm.RelationKey(r.ID)] = append(s.ids, r.ID), value
	return nil
}

// everyTwo are the relations that each of the rows gets.
func everyTwo(rows []*stm.Row, strength float64, now time.Time) ([]starting, error) {
	has := func(from, to *stm.Row) bool {
		return from.Has(stm.RelationKey(memory.RelationID(from.ID(), to.ID(), memory.Related, "")))
	}
	out := make([]starting, len(rows))
	for i, a := range rows {
		for j, b := range rows[:i] {
			if has(a, b) || has(b, a) {
				continue
			}
			for _, ends := range [][2]int{{i, j}, {j, i}} {
				err := out[ends[0]].add(memory.Relation{From: rows[ends[0]].ID(), To: rows[ends[1]].ID(), Type: memory.Related, Strength: strength, CreatedAt: now})
				if err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}
