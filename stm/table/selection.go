package table

// A Selection is a condition whose memories a table keeps a list of, from the first call of [MemorySet.Selected] on.
type Selection struct{ which func(*Row) bool }

// NewSelection returns the selection of the memories that which reports. It looks at the row's document alone.
func NewSelection(which func(*Row) bool) *Selection { return &Selection{which} }

// selected are the live memories of a selection, by project.
type selected map[string]map[[16]byte]*Cell

// Selected returns the memories of a project, "" for those of none, that a selection has, in no order. It takes time in
// proportion to their number; the first call with a selection looks at all live memories.
func (m *MemorySet) Selected(s *Selection, project string) []*Row {
	m.Table.placing.Lock()
	defer m.Table.placing.Unlock()
	var rows []*Row
	for _, cell := range m.Table.selected(s)[project] {
		if r := cell.Row.Load(); m.Shows(r) {
			rows = append(rows, r)
		}
	}
	return rows
}

// selected returns the list of a selection, begun. The lock of the table is held.
func (t *Table) selected(s *Selection) selected {
	if list, begun := t.selections[s]; begun {
		return list
	}
	list := selected{}
	t.Each(func(c *Cell, r *Row) bool {
		if s.which(r) {
			list.add(c, r)
		}
		return true
	})
	if t.selections == nil {
		t.selections = map[*Selection]selected{}
	}
	t.selections[s] = list
	return list
}

// reselect follows a row that took another's place.
func (t *Table) reselect(c *Cell, old, next *Row) {
	if len(t.selections) == 0 || old.Live() == next.Live() && SameDoc(old, next) {
		return
	}
	for s, list := range t.selections {
		list.remove(old)
		if next.Live() && s.which(next) {
			list.add(c, next)
		}
	}
}

func (l selected) add(c *Cell, r *Row) {
	of := l[r.Project()]
	if of == nil {
		of = map[[16]byte]*Cell{}
		l[r.Project()] = of
	}
	of[r.Key] = c
}

func (l selected) remove(r *Row) {
	of := l[r.Project()]
	if delete(of, r.Key); len(of) == 0 {
		delete(l, r.Project())
	}
}
