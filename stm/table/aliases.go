package table

import (
	"bytes"
	"encoding/json"
	"slices"

	"emberd/memory"
	"emberd/stm/record"
)

// aliasKey is the key that holds what a memory is called elsewhere.
const aliasKey = "aliases"

// Aliases decodes the ids that other systems have for the memory. The caller owns them.
func (r *Row) Aliases() []string {
	if !mayHave(r, record.HasAliases, `"`+aliasKey+`"`) {
		return nil
	}
	return aliasesIn(r.JSON())
}

func aliasesIn(doc []byte) (names []string) {
	_ = json.Unmarshal(record.Member(doc, aliasKey), &names) // what is of another shape names nothing
	return names
}

// liveAliases are those by which a row is found.
func liveAliases(r *Row) []string {
	if !r.Live() {
		return nil
	}
	return r.Aliases()
}

// aliases are the live memories by their aliases. Like the counts they are built when a
// caller asks for the first time.
type aliases struct {
	begun bool
	of    map[string][][16]byte
}

// replace follows a row that took another's place.
func (a *aliases) replace(old, next *Row) {
	if !a.begun || old.Live() == next.Live() && SameDoc(old, next) {
		return
	}
	was, is := liveAliases(old), liveAliases(next)
	if slices.Equal(was, is) {
		return
	}
	for _, name := range was {
		a.remove(name, old.Key)
	}
	for _, name := range is {
		a.add(name, next.Key)
	}
}

// add notes an alias of a memory, which may have it twice in what another version wrote.
func (a *aliases) add(name string, key [16]byte) {
	if !slices.Contains(a.of[name], key) {
		a.of[name] = append(a.of[name], key)
	}
}

func (a *aliases) remove(name string, key [16]byte) {
	left := slices.DeleteFunc(a.of[name], func(k [16]byte) bool { return k == key })
	if a.of[name] = left; len(left) == 0 {
		delete(a.of, name)
	}
}

// knownAs are the keys of the live memories with an alias. The caller owns them.
func (t *Table) knownAs(name string) [][16]byte {
	t.placing.Lock()
	defer t.placing.Unlock()
	a := &t.aliases
	if !a.begun {
		a.begun, a.of = true, map[string][][16]byte{}
		t.Each(func(_ *Cell, r *Row) bool {
			for _, name := range r.Aliases() {
				a.add(name, r.Key)
			}
			return true
		})
	}
	return slices.Clone(a.of[name])
}

// Called reports whether a memory that is live has an alias.
func (m *MemorySet) Called(alias string) bool { return len(m.aliased(alias)) > 0 }

// aliased are the live memories with an alias. Of those that were merged the one that has
// the text of the others, and their aliases, stands for them.
func (m *MemorySet) aliased(alias string) (ids []memory.ID) {
	var rows []*Row
	for _, key := range m.Table.knownAs(alias) {
		if r := m.Table.at(key); m.Shows(r) {
			rows = append(rows, r)
		}
	}
	for _, r := range rows {
		into := memory.ID(r.textOf("consolidated_into"))
		if into == "" || !slices.ContainsFunc(rows, func(o *Row) bool { return o.ID() == into }) {
			ids = append(ids, r.ID())
		}
	}
	slices.Sort(ids)
	return ids
}

// TrashedByAlias are the memories in the trash that had an alias when they were forgotten.
func (t *Table) TrashedByAlias(alias string) (ids []memory.ID) {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	for key, g := range t.Graves {
		if slices.Contains(g.Aliases, alias) {
			ids = append(ids, memory.IDFromBytes(key))
		}
	}
	return ids
}

// aliasesBefore are those of the memory that a change supersedes.
func aliasesBefore(c *record.Change) []string {
	if !bytes.Contains(c.Prev, []byte(`"`+aliasKey+`"`)) {
		return nil
	}
	return aliasesIn(record.Member(c.Prev, "d"))
}
