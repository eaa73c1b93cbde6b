package engine_test

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
)

func TestEditChangesWhatIsGiven(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	for _, c := range []struct {
		name    string
		edit    op.EditRequest
		changed []string
		check   func(m op.Memory) bool
	}{
		{"content", op.EditRequest{Content: new("new text")}, []string{"content"},
			func(m op.Memory) bool { return m.Content == "new text" && m.Source == "logbook" }},
		{"the same content", op.EditRequest{Content: new("old text")}, []string{},
			func(m op.Memory) bool { return m.UpdatedAt.IsZero() }},
		{"nothing", op.EditRequest{}, []string{}, func(m op.Memory) bool { return m.UpdatedAt.IsZero() }},
		{"tags replaced", op.EditRequest{Tags: &[]string{"Three"}}, []string{"tags"},
			func(m op.Memory) bool { return slices.Equal(m.Tags, []string{"three"}) }},
		{"all tags removed", op.EditRequest{Tags: new([]string{})}, []string{"tags"},
			func(m op.Memory) bool { return len(m.Tags) == 0 }},
		{"tags added and removed", op.EditRequest{AddTags: []string{"three", "one"}, RemoveTags: []string{"TWO", "four"}}, []string{"tags"},
			func(m op.Memory) bool { return slices.Equal(m.Tags, []string{"one", "three"}) }},
		{"a tag it has", op.EditRequest{AddTags: []string{"one"}}, []string{}, func(m op.Memory) bool { return len(m.Tags) == 2 }},
		{"source emptied", op.EditRequest{Source: new("")}, []string{"source"}, func(m op.Memory) bool { return m.Source == "" }},
		{"meta merged", op.EditRequest{Meta: map[string]json.RawMessage{"a": json.RawMessage("null"), "c": json.RawMessage("3")}}, []string{"meta"},
			func(m op.Memory) bool {
				return len(m.Meta) == 2 && string(m.Meta["b"]) == "2" && string(m.Meta["c"]) == "3"
			}},
		{"several", op.EditRequest{Strength: new(2.0), Core: new(true), Project: new("boat"), Collection: new("")}, []string{"core", "project", "strength"},
			func(m op.Memory) bool {
				return m.Strength == 2 && m.Core && m.Project == "boat" && m.Collection == "knowledge"
			}},
	} {
		m := do(t, e, op.Save, &op.SaveRequest{
			Content: "old text", Source: "logbook", Tags: []string{"one", "two"},
			Meta: map[string]json.RawMessage{"a": json.RawMessage("1"), "b": json.RawMessage("2")},
		}).Memory
		clock.advance(time.Second)
		c.edit.ID, c.edit.IfMatch = string(m.ID), m.Rev
		res := do(t, e, op.Edit, &c.edit)
		if !slices.Equal(res.Changed, c.changed) || !c.check(res.Memory) {
			t.Errorf("%s: changed %q to %+v, want %q", c.name, res.Changed, res.Memory, c.changed)
		}
		if wrote := len(c.changed) > 0; wrote != (res.Tx != "") || wrote != (res.Memory.Rev != m.Rev) || wrote != res.Memory.UpdatedAt.Equal(clock.Now()) {
			t.Errorf("%s: entry %q, revision %s after %s, updated %v; written should be %v", c.name, res.Tx, res.Memory.Rev, m.Rev, res.Memory.UpdatedAt, wrote)
		}
	}
}

func TestAnEditIsFoundByItsNewWords(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "the mainsail is torn")
	do(t, e, op.Edit, &op.EditRequest{ID: string(m.ID), Content: new("the spinnaker is torn")})
	if hits := searchFor(t, e, "spinnaker"); len(hits) != 1 {
		t.Errorf("the new word finds %d", len(hits))
	}
	if hits := searchFor(t, e, "mainsail"); len(hits) != 0 {
		t.Errorf("the old word finds %d", len(hits))
	}
}

func TestOfManyEditsOfOneRevisionOneWins(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	m := save(t, e, "contested")
	var won atomic.Int32
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			_, err := op.Edit.Call(t.Context(), e, &op.EditRequest{ID: string(m.ID), IfMatch: m.Rev, Strength: new(float64(i) / 20)})
			switch typed, _ := err.(*memory.Error); {
			case err == nil:
				won.Add(1)
			case typed == nil || typed.Code != memory.Conflict || typed.Current == "" || typed.Current == m.Rev:
				t.Errorf("edit %d: %+v, want a conflict that names the current revision", i, err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d edits succeeded, want 1", won.Load())
	}
}
