package data

import (
	"slices"
	"strings"

	"emberd/internal/cli"
)

// columns gives the columns of a table that are named as tables usually name them the names of our fields.
type columns struct {
	s        *cli.App
	rules    []string // of --map
	template string   // of --content-template
}

// usualNames are the names of columns that fill a field, the likeliest first.
func usualNames() map[string][]string {
	return map[string][]string{
		"content":    {"text", "note", "memory", "body", "message"},
		"created_at": {"date", "created", "time", "timestamp", "when"},
		"tags":       {"tag", "labels", "label", "keywords"},
	}
}

// known returns the names with those of fields put in, and tells which they are. A column that --map or
// --content-template names keeps its name, and so does one whose field is filled already.
func (c *columns) known(names []string) []string {
	names = slices.Clone(names)
	var told []string
	first := []string{"content", "created_at", "tags"}
	rest := slices.DeleteFunc(importFields(), func(field string) bool { return slices.Contains(first, field) })
	for _, field := range slices.Concat(first, rest) {
		if slices.Contains(names, field) || c.fills(field) {
			continue
		}
		for _, usual := range append([]string{field}, usualNames()[field]...) {
			i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(strings.TrimSpace(n), usual) })
			if i >= 0 && !c.mentions(names[i]) {
				told = append(told, names[i]+" as "+field)
				names[i] = field
				break
			}
		}
	}
	if len(told) > 0 {
		c.s.Note("columns: %s; to change this mapping, use --map", strings.Join(told, ", "))
	}
	return names
}

// fills reports whether the flags say what a field is filled from.
func (c *columns) fills(field string) bool {
	return field == "content" && c.template != "" || slices.ContainsFunc(c.rules, func(rule string) bool {
		r, _, err := parseRule(rule)
		return err == nil && r.to == field
	})
}

// mentions reports whether the flags say what becomes of a column.
func (c *columns) mentions(name string) bool {
	return strings.Contains(c.template, "{"+name+"}") || strings.Contains(c.template, "{"+name+"?}") ||
		slices.ContainsFunc(c.rules, func(rule string) bool {
			r, literal, err := parseRule(rule)
			return err == nil && !literal && r.key == name
		})
}
