package search

import (
	"fmt"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/engine/graph"
	"emberd/internal/entity/knowledge"
	"emberd/internal/query"
	"emberd/memory"
	"emberd/op"
)

// condition is one condition of a search, with the reason if it does not hold, and how to
// search without it.
type condition struct {
	stage, reason, fix string
	query              query.Query
	scope              string
	filter             op.Filter
	keep               func(*remainingSearch)
}

// all returns the conditions of the search besides its words.
func (d *exclusion) all() []condition {
	return append(append(d.scopes(), d.filters()...), d.operators()...)
}

func (d *exclusion) scopes() []condition {
	scope := d.req.Scope
	if scope == "" || scope == ScopeAll {
		return nil
	}
	fix := "remove --" + scope
	what := "this is a note"
	if d.row != nil {
		what = fmt.Sprintf("this is a memory with the stage %s", d.row.Stage())
	}
	if scope == ScopeArchive {
		fix = "remove --scope archive"
	}
	return []condition{{stage: op.WhyScope, scope: scope,
		reason: fmt.Sprintf("the scope of the search is %s, but %s", scope, what), fix: fix,
		keep: func(k *remainingSearch) { k.scope = scope }}}
}

// filters returns the conditions of the request. A note has only some of the fields.
func (d *exclusion) filters() (out []condition) {
	f := d.req.Filter
	add := func(one op.Filter, flag, says string, keep func(*op.Filter)) {
		if d.row == nil && len(one.Tags) == 0 && one.WindowDays == 0 {
			says = "this is a note, and only memories have this field"
		}
		out = append(out, condition{stage: op.WhyFilter, filter: one, fix: "remove " + flag,
			reason: fmt.Sprintf("the condition %s excludes this memory or note: %s", flag, says),
			keep:   func(k *remainingSearch) { keep(&k.filter) }})
	}
	for _, tag := range f.Tags {
		add(op.Filter{Tags: []string{tag}}, "--tag "+tag, d.tags(), func(k *op.Filter) { k.Tags = append(k.Tags, tag) })
	}
	named := func(name, value, has string, set func(*op.Filter)) {
		if value == "" {
			return
		}
		one := op.Filter{}
		set(&one)
		says := "this field of the memory is empty"
		if has != "" {
			says = "the memory has the value " + has
		}
		add(one, "--"+name+" "+value, says, set)
	}
	var project, collection, category, section string
	if d.row != nil {
		project, collection, category, section = d.row.Project(), d.row.Collection(), d.row.Category(), d.row.Section()
	}
	named("project", f.Project, project, func(k *op.Filter) { k.Project = f.Project })
	named("collection", f.Collection, collection, func(k *op.Filter) { k.Collection = f.Collection })
	named("category", f.Category, category, func(k *op.Filter) { k.Category = f.Category })
	named("section", f.Section, section, func(k *op.Filter) { k.Section = f.Section })
	if len(f.Stages) > 0 {
		add(op.Filter{Stages: f.Stages}, "--stage "+stageNames(f.Stages), d.stage(),
			func(k *op.Filter) { k.Stages = f.Stages })
	}
	if f.Status != "" {
		add(op.Filter{Status: f.Status}, "--status "+f.Status, d.status(), func(k *op.Filter) { k.Status = f.Status })
	}
	if f.WindowDays > 0 {
		add(op.Filter{WindowDays: f.WindowDays}, fmt.Sprintf("--within %gd", f.WindowDays), d.lastUse(),
			func(k *op.Filter) { k.WindowDays = f.WindowDays })
	}
	if f.MinScore > 0 {
		add(op.Filter{MinScore: f.MinScore}, fmt.Sprintf("--min-score %g", f.MinScore), d.decayed(),
			func(k *op.Filter) { k.MinScore = f.MinScore })
	}
	if f.MinConfidence > 0 {
		add(op.Filter{MinConfidence: f.MinConfidence}, fmt.Sprintf("--min-confidence %g", f.MinConfidence), d.sure(),
			func(k *op.Filter) { k.MinConfidence = f.MinConfidence })
	}
	return out
}

func stageNames(stages []memory.Stage) string {
	names := make([]string, len(stages))
	for i, s := range stages {
		names[i] = string(s)
	}
	return strings.Join(names, ",")
}

// operators returns the conditions of the query, each as a query of its own.
func (d *exclusion) operators() (out []condition) {
	add := func(one query.Query, says string, keep func(*query.Query)) {
		out = append(out,
			condition{stage: op.WhyOperator, query: one, fix: "remove " + one.String() + " from the query",
				reason: fmt.Sprintf("the condition %s excludes this memory or note: %s", one.String(), says),
				keep:   func(k *remainingSearch) { keep(&k.query) }})
	}
	for _, not := range []bool{false, true} {
		side := func(q *query.Query) *query.Filter {
			if not {
				return &q.Not
			}
			return &q.Must
		}
		for _, one := range splitFilter(*side(&d.asked)) {
			q := query.Query{}
			*side(&q) = one
			add(q, d.conditionReason(one, not), func(k *query.Query) { include(side(k), one) })
		}
	}
	if after := d.asked.After; !after.IsZero() {
		add(query.Query{After: after}, d.made(), func(k *query.Query) { k.After = after })
	}
	if before := d.asked.Before; !before.IsZero() {
		add(query.Query{Before: before}, d.made(), func(k *query.Query) { k.Before = before })
	}
	return out
}

// splitFilter splits a filter into one filter for each condition.
func splitFilter(f query.Filter) (out []query.Filter) {
	for _, v := range f.Phrases {
		out = append(out, query.Filter{Phrases: []string{v}})
	}
	for _, v := range f.Tags {
		out = append(out, query.Filter{Tags: []string{v}})
	}
	for _, v := range f.Paths {
		out = append(out, query.Filter{Paths: []string{v}})
	}
	for _, v := range f.Files {
		out = append(out, query.Filter{Files: []string{v}})
	}
	for _, v := range f.Properties {
		out = append(out, query.Filter{Properties: []query.Property{v}})
	}
	for _, v := range f.Entities {
		out = append(out, query.Filter{Entities: []string{v}})
	}
	return out
}

// include adds the conditions of one filter to another.
func include(f *query.Filter, more query.Filter) {
	f.Phrases = append(f.Phrases, more.Phrases...)
	f.Tags = append(f.Tags, more.Tags...)
	f.Paths = append(f.Paths, more.Paths...)
	f.Files = append(f.Files, more.Files...)
	f.Properties = append(f.Properties, more.Properties...)
	f.Entities = append(f.Entities, more.Entities...)
}

// conditionReason returns why a condition of a query does not hold.
func (d *exclusion) conditionReason(one query.Filter, not bool) string {
	switch {
	case len(one.Phrases) > 0 && not:
		return "the text contains the phrase"
	case len(one.Phrases) > 0:
		return "the text does not contain the phrase"
	case len(one.Tags) > 0:
		return d.tags()
	case len(one.Entities) > 0:
		return d.entitiesNamed()
	case d.row != nil:
		return "this is a memory, and only notes have this field"
	case len(one.Properties) > 0 && not:
		return "the note has this property"
	case len(one.Properties) > 0:
		return "the note does not have this property, or the property has another value"
	}
	return "the path of the note is " + d.path
}

func (d *exclusion) tags() string {
	var tags []string
	if d.row != nil {
		tags = d.row.Tags()
	} else if d.note != nil {
		for _, t := range d.note.Tags {
			tags = append(tags, t.Name)
		}
	}
	if len(tags) == 0 {
		return "the memory or note has no tags"
	}
	return "the tags are " + strings.Join(tags, ", ")
}

// entitiesNamed lists the first entities that the item names.
func (d *exclusion) entitiesNamed() string {
	ref := knowledge.Ref{Path: d.path}
	if d.row != nil {
		ref = knowledge.Ref{ID: d.row.ID()}
	}
	named, about := d.e.Graph.GraphNow().Named(ref)
	if about != "" {
		named = append([]string{about}, named...)
	}
	if len(named) == 0 {
		return "the text mentions no entity"
	}
	return "the text mentions these entities: " + strings.Join(named[:min(graph.MaxRelated, len(named))], ", ")
}

func (d *exclusion) stage() string {
	if d.row == nil {
		return ""
	}
	return "the stage of the memory is " + string(d.row.Stage())
}

func (d *exclusion) status() string {
	if d.row == nil {
		return ""
	}
	return "the status of the memory is " + core.RowStatus(d.row)
}

func (d *exclusion) decayed() string {
	if d.row == nil {
		return ""
	}
	return fmt.Sprintf("the score of the memory is %.2f", d.e.Score(d.row, d.e.Opt.Now()))
}

func (d *exclusion) sure() string {
	if d.row == nil {
		return ""
	}
	return fmt.Sprintf("the confidence of the memory is %g", d.row.Confidence())
}

func (d *exclusion) lastUse() string {
	switch {
	case d.row != nil:
		return "the last use of the memory was on " + dateOf(d.row.LastUsed())
	case d.note != nil:
		return "the last change of the note was on " + dateOf(d.note.Updated)
	}
	return "the last use or change of the memory or note was earlier"
}

func (d *exclusion) made() string {
	switch {
	case d.row != nil:
		return "the memory was saved on " + dateOf(d.row.CreatedAt())
	case d.note != nil:
		return "the note was created on " + dateOf(d.note.Created)
	}
	return "the creation date does not match"
}

func dateOf(t time.Time) string { return t.In(time.Local).Format(time.DateOnly) }
