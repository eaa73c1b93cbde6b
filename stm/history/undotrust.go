package history

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// A change by a limited token takes away from a memory that the user said or confirmed it. That comes
// back with the user's words, and with no words of a token beside them.
var trustKeys = []string{"origin", "confirmed_at"}

// tokensSince returns, for a step by a token that changed the trust of a memory, the values that later
// changes by tokens replaced: of each key the first. Otherwise it returns nil.
func (s *Timeline) tokensSince(ctx context.Context, l *record.Line, c *record.Change) (map[string]json.RawMessage,
	error) {
	takes := func(key string) bool { return record.Member(c.Data, key) != nil }
	if c.Op != record.OpSet || l.Entry().By.Token == "" || !slices.ContainsFunc(trustKeys, takes) {
		return nil, nil
	}
	names, err := record.LogFiles(s.wal.FS, s.wal.Data)
	if err != nil {
		return nil, err
	}
	lines, err := s.linesAbout(ctx, names, c.ID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, memory.Errorf(memory.Busy, "the log was compacted during the undo; try again")
	}
	if err != nil {
		return nil, err
	}
	since := map[string]json.RawMessage{}
	for _, at := range slices.SortedFunc(maps.Keys(lines), record.Stamp.Compare) {
		later := lines[at]
		if at.After(l.Stamp) && later.Actor().Token != "" {
			noteReplaced(since, later.Line().Changes, c.ID)
		}
	}
	return since, nil
}

// noteReplaced adds the values that the changes of one memory replaced, of the keys that its author decides.
func noteReplaced(since map[string]json.RawMessage, changes []record.Change, id memory.ID) {
	for i := range changes {
		prior, err := changes[i].Superseded()
		if changes[i].ID != id || changes[i].Op != record.OpSet || err != nil {
			continue
		}
		_ = record.EachField(changes[i].Data, func(name, _ []byte) bool {
			key := string(name)
			if _, noted := since[key]; !noted && memory.Stated(key) {
				since[key] = prior.Keys[key]
			}
			return true
		})
	}
}

// keepTrust takes the trust out of what a step sets, if words of a token stay in the memory, and names
// the key that has them: one that the step wrote and that does not go back, or one of a later change.
func (st *undoStep) keepTrust(row *table.Row, set map[string]json.RawMessage) string {
	if st.since == nil {
		return ""
	}
	stays := func(key string, earlier json.RawMessage) bool {
		return set[key] == nil && !record.Same(row.Value(key), earlier)
	}
	var words []string
	for key, earlier := range st.since {
		if stays(key, earlier) {
			words = append(words, key)
		}
	}
	_ = record.EachField(st.Data, func(name, _ []byte) bool {
		if key := string(name); memory.Stated(key) && stays(key, st.prior.Keys[key]) {
			words = append(words, key)
		}
		return true
	})
	if len(words) == 0 {
		return ""
	}
	for _, key := range trustKeys {
		delete(set, key)
	}
	return slices.Min(words)
}
