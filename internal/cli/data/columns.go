package data

import (
	"slices"
	"strconv"
	"strings"

	"emberd/internal/cli"
	"emberd/internal/importer"
	"emberd/internal/text"
	"emberd/memory"
)

// columns gives the columns of a table that are named as tables usually name them the names of our fields.
type columns struct {
	s        *cli.App
	rules    []string // of --map
	template string   // of --content-template

	named map[string]string // the columns that known gives the names of fields, by field

	text  string       // the column with the text, "" if there is none
	dated bool         // a column or --map fills the date
	rest  []restColumn // in the order of the table
}

// restColumn is a column that fills no field, so that its cells go to meta.
type restColumn struct {
	at    int // among the cells of a row
	name  string
	cells int // that say something
	dates int // of them
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
	names = c.matchCase(names)
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
				c.named[field], names[i] = names[i], field
				break
			}
		}
	}
	if len(told) > 0 {
		c.s.Note("columns: %s; to change this mapping, use --map", strings.Join(told, ", "))
	}
	c.sort(names)
	return names
}

// matchCase renames a column to the key of a --map rule if they differ in capitals alone, no column has exactly that
// name, and nothing names the column as it is.
func (c *columns) matchCase(names []string) []string {
	names = slices.Clone(names)
	for _, rule := range c.rules {
		r, literal, err := parseRule(rule)
		if err != nil || literal || slices.Contains(names, r.key) {
			continue
		}
		same := func(n string) bool { return strings.EqualFold(n, r.key) }
		i := slices.IndexFunc(names, same)
		if i >= 0 && !slices.ContainsFunc(names[i+1:], same) && !c.mentions(names[i]) {
			c.named[r.key], names[i] = names[i], r.key
		}
	}
	return names
}

// sort notes what the columns are for.
func (c *columns) sort(names []string) {
	c.dated = slices.Contains(names, "created_at") || c.fills("created_at")
	for i, name := range names {
		switch to := c.target(name); {
		case to == "content":
			c.text = name
		case to == "" && !c.mentions(name):
			c.rest = append(c.rest, restColumn{at: i, name: name})
		}
	}
}

// checkText returns an error if neither a column nor a flag gives the text of the memories.
func (c *columns) checkText(names []string) error {
	if c.text != "" || c.template != "" || slices.ContainsFunc(c.rules, func(rule string) bool {
		r, literal, err := parseRule(rule)
		return err == nil && literal && r.to == "content"
	}) {
		return nil
	}
	c.rest = nil // nothing is imported
	return memory.Errorf(memory.Invalid, "no column is mapped to the text of the memories; the columns are %s; map "+
		"the column that contains the text, for example --map NAME=content",
		cli.Flat(cli.Cut(strings.Join(names, ", "), 300)))
}

// target returns the field that a column fills, "" for none.
func (c *columns) target(name string) string {
	for _, rule := range c.rules {
		if r, literal, err := parseRule(rule); err == nil && !literal && r.key == name {
			return r.to
		}
	}
	if slices.Contains(importFields(), name) && !c.fills(name) {
		return name
	}
	return ""
}

// look counts the dates in the columns that fill no field.
func (c *columns) look(cells []string) {
	for i := range c.rest {
		if r := &c.rest[i]; r.at < len(cells) && strings.TrimSpace(cells[r.at]) != "" {
			r.cells++
			_, isDate := importer.ParseDate(cells[r.at], importer.DayFirst)
			isDate = isDate || importer.HasMissingDay(cells[r.at])
			if _, err := strconv.ParseFloat(strings.TrimSpace(cells[r.at]), 64); isDate && err != nil {
				r.dates++
			}
		}
	}
}

// noteRest names the columns that fill no field, and one with dates if the memories got none.
func (c *columns) noteRest(dryRun bool) {
	if len(c.rest) == 0 {
		return
	}
	var names []string
	for _, r := range c.rest {
		names = append(names, r.name)
	}
	c.s.Note("columns without a field, stored in meta: %s", strings.Join(names, ", "))
	i := slices.IndexFunc(c.rest, func(r restColumn) bool { return r.cells > 0 && r.dates == r.cells })
	if i < 0 || c.dated {
		return
	}
	how := "undo this import and run it again with"
	if dryRun {
		how = "use"
	}
	c.s.Note("column %s contains dates; to date the memories by it, %s --map %s", cli.JsonText(names[i]), how,
		text.ShellWord(names[i]+"=created_at"))
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
