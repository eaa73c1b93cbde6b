package engine

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"emberd/internal/cleanup"
	"emberd/internal/cluster"
	"emberd/memory"
	"emberd/rekindle"
	"emberd/stm"
)

// merging makes one memory of several, see [merger]: where there is a vault the parts are
// archived with their texts in it, and else they go to the trash. What a merge of two
// memories by hand has no say on comes along as well: keys of the record that emberd does
// not know, and the relations of the parts, from both ends.
func (c *cleaner) merging(ctx context.Context, one *cleaning) (*cleaning, error) {
	into := one.act.Into
	if _, live := c.e.stm.Get(into); live {
		return nil, nil // before a crash
	}
	m := &joining{c: c, act: one.act, merger: merger{archiver: archiver{e: c.e, reason: mergedReason, by: c.run.By}, id: into, cohesion: one.act.Cohesion}}
	for _, id := range one.act.MemoryIDs {
		row, live := c.e.stm.Get(id)
		if !live {
			return nil, gone()
		}
		m.rows = append(m.rows, row)
		one.size += 2 * row.Size()
	}
	others, err := m.begin(ctx)
	if err != nil {
		return nil, err
	}
	m.others = others
	one.ids = slices.Concat(one.act.MemoryIDs, []memory.ID{into}, others)
	for _, id := range m.replaced() {
		if !slices.Contains(one.ids, id) {
			one.ids = append(one.ids, id)
		}
	}
	one.join, one.change = m, m.join
	return one, nil
}

// joining is one merge.
type joining struct {
	merger
	c    *cleaner
	act  *cleanup.Action
	rows []*stm.Row // the parts, as they were looked at
	// others are those that have relations to the parts.
	others []memory.ID
}

// begin summarises the parts where they are archived, and names the memories that have
// relations to them.
func (m *joining) begin(ctx context.Context) ([]memory.ID, error) {
	if m.e.notes == nil {
		for _, row := range m.rows {
			m.group = append(m.group, leaving{Move: rekindle.Move{ID: row.ID(), From: row.Stage(), To: memory.Archived, Used: row.LastUsed()}})
		}
		c, err := m.e.carry(m.id, m.rows)
		if err != nil {
			return nil, err
		}
		return c.others(), nil
	}
	all := make([]int, len(m.rows))
	for i := range all {
		all[i] = i
	}
	return m.prepare(ctx, &gathering{rows: m.rows}, cluster.Cluster{Members: all, Cohesion: m.act.Cohesion})
}

// replaced are the memories whose place a part took, if the parts are to go: the merged
// memory takes it then.
func (m *joining) replaced() (out []memory.ID) {
	if m.e.notes != nil {
		return nil
	}
	for _, row := range m.rows {
		for _, r := range m.e.stm.Relations(row) {
			if isSupersession(&r) && !slices.Contains(m.act.MemoryIDs, r.To) {
				out = append(out, r.To)
			}
		}
	}
	return out
}

// join is what the log is to say of the locked memories.
func (m *joining) join(ctx context.Context, of map[memory.ID]*stm.Row) ([]stm.Change, error) {
	rows := make([]*stm.Row, len(m.act.MemoryIDs))
	for i, id := range m.act.MemoryIDs {
		rows[i] = of[id]
		if err := m.c.asPlanned(rows[i]); err != nil {
			return nil, err
		}
	}
	others := make([]*stm.Row, len(m.others))
	for i, id := range m.others {
		others[i] = of[id]
	}
	change := m.changes
	if m.e.notes == nil {
		change = func(context.Context, []*stm.Row, []*stm.Row) ([]stm.Change, error) {
			return m.discarded(rows, others, of)
		}
	}
	return change(ctx, rows, others)
}

// discarded moves the parts to the trash: the merged memory has all they say.
func (m *joining) discarded(rows, others []*stm.Row, of map[memory.ID]*stm.Row) ([]stm.Change, error) {
	whole, err := m.merged(rows)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(whole, func(key string, _ json.RawMessage) bool { return stm.IsRelationKey(key) }) // to the parts
	c, err := m.e.carry(m.id, rows)
	if err != nil {
		return nil, err
	}
	related, err := c.write(whole, others)
	if err != nil {
		return nil, err
	}
	var changes []stm.Change
	for _, row := range rows {
		changes = append(changes, stm.Change{ID: row.ID(), Delete: true})
	}
	related, err = m.takePlaces(rows, of, whole, related)
	return slices.Concat(changes, []stm.Change{{ID: m.id, Set: whole}}, related), err
}

// takePlaces gives the merged memory the places that its parts took of others, which would
// count again if nothing had them.
func (m *joining) takePlaces(rows []*stm.Row, of map[memory.ID]*stm.Row, whole map[string]json.RawMessage, related []stm.Change) ([]stm.Change, error) {
	for _, row := range rows {
		for _, r := range m.e.stm.Relations(row) {
			old := of[r.To]
			if !isSupersession(&r) || old == nil || slices.Contains(m.act.MemoryIDs, r.To) {
				continue
			}
			key, value, err := m.e.supersedes(m.id, r.To)
			if err != nil {
				return nil, err
			}
			whole[key] = value
			if old.SupersededBy() != row.ID() {
				continue
			}
			i := slices.IndexFunc(related, func(c stm.Change) bool { return c.ID == r.To })
			if i < 0 {
				i, related = len(related), append(related, stm.Change{ID: r.To, Set: make(map[string]json.RawMessage)})
			}
			maps.Copy(related[i].Set, m.e.placeTaken(m.id))
		}
	}
	return related, nil
}

// knownFields are the names of a memory's fields in its JSON.
var knownFields = sync.OnceValue(func() map[string]bool {
	out := make(map[string]bool)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[memory.Memory]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out[name] = true
	}
	return out
})

// unknownFields are the keys of a record that emberd keeps and does not know.
func unknownFields(fields map[string]json.RawMessage) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	for key, value := range fields {
		if knownFields()[key] || stm.IsRelationKey(key) || stm.IsSourceKey(key) || stm.IsReviewKey(key) {
			continue
		}
		if out == nil {
			out = make(map[string]json.RawMessage)
		}
		out[key] = value
	}
	return out
}

// metaOf are the fields of a record's meta.
func metaOf(fields map[string]json.RawMessage) map[string]json.RawMessage {
	var meta map[string]json.RawMessage
	if raw := fields["meta"]; raw != nil && json.Unmarshal(raw, &meta) != nil {
		return nil // of another shape, as another program may have written it
	}
	return meta
}

// isManual reports whether somebody wrote a record, and not an indexer; see
// [cleanup.Manual].
func isManual(fields map[string]json.RawMessage) bool {
	return cleanup.Manual(unknownFields(fields), metaOf(fields))
}
