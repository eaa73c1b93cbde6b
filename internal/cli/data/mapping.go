package data

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/internal/cleanup"
	"emberd/internal/cli"
	"emberd/internal/importer"
	"emberd/memory"
	"emberd/op"
)

// mapping turns lines of somebody else's making into requests to save.
type mapping struct {
	from        []route // what is read from the line, in order
	literals    []route // what is the same for all: to is the field, key the value
	template    []piece // of --content-template; nil when there is none
	tags        []string
	dates       importer.DateOrder
	columns     map[string]string // of a table: the column that is read as a field without --map
	allowSecret bool
	again       bool
}

// route sends a key of the line to a field of ours.
type route struct{ key, to string }

// piece of a template: literal text, or the key whose value stands there.
type piece struct {
	text     string
	key      bool
	optional bool // {KEY?}: nothing stands there in a line without the key
}

// metaPrefix in front of a name sends a value into meta under that name.
const metaPrefix = "meta."

// importFields are the fields that a line may fill under their own names.
func importFields() []string {
	return []string{
		"id", "content", "tags", "entities", "source", "context", "category", "type", "section",
		"importance", "strength", "confidence", "core", "collection", "project", "session_id",
		"created_at", "last_used", "use_count", "aliases", "meta",
	}
}

// newMapping reads --map: key=field, or field:=value for a literal.
func newMapping(rules []string, template string) (*mapping, error) {
	m := &mapping{}
	taken := map[string]bool{}
	for _, rule := range rules {
		r, literal, err := parseRule(rule)
		if err == nil {
			err = checkField(r.to, taken)
		}
		if err != nil {
			return nil, err
		}
		if literal {
			m.literals = append(m.literals, r)
		} else {
			m.from = append(m.from, r)
		}
	}
	if template != "" && taken["content"] {
		return nil, memory.Errorf(memory.Invalid, "--map to content and --content-template cannot be combined")
	}
	var err error
	m.template, err = parseTemplate(template)
	taken["content"] = taken["content"] || template != ""
	for _, f := range importFields() {
		if !taken[f] {
			m.from = append(m.from, route{f, f})
		}
	}
	return m, err
}

func parseRule(rule string) (r route, literal bool, err error) {
	left, right, ok := strings.Cut(rule, "=")
	field, literal := strings.CutSuffix(left, ":")
	if literal {
		r = route{key: right, to: field}
	} else {
		r = route{key: left, to: right}
	}
	if !ok || r.to == "" || left == "" {
		err = memory.Errorf(memory.Invalid, "invalid --map %s; use KEY=FIELD or FIELD:=VALUE", cli.JsonText(rule))
	}
	return r, literal, err
}

// checkField refuses a field that does not exist or is given twice. Tags, entities and
// aliases may come from several keys.
func checkField(field string, taken map[string]bool) error {
	name, inMeta := strings.CutPrefix(field, metaPrefix)
	if inMeta && name != "" {
		return nil
	}
	if !slices.Contains(importFields(), field) {
		return memory.Errorf(memory.Invalid, "--map: field %s not found; use one of %s, or meta.NAME",
			cli.JsonText(field), strings.Join(importFields(), ", "))
	}
	if taken[field] && !slices.Contains([]string{"tags", "entities", "aliases"}, field) {
		return memory.Errorf(memory.Invalid, "--map sets field %s twice", field)
	}
	taken[field] = true
	return nil
}

// parseTemplate splits "{speaker}: {text} {caption?}"; doubled braces stand for
// one.
func parseTemplate(text string) ([]piece, error) {
	var out []piece
	literal := ""
	for rest := text; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			literal, rest = literal+rest, ""
			continue
		}
		literal += rest[:i]
		if strings.HasPrefix(rest[i+1:], rest[i:i+1]) {
			literal, rest = literal+rest[i:i+1], rest[i+2:]
			continue
		}
		key, after, ok := strings.Cut(rest[i+1:], "}")
		if rest[i] == '}' || !ok || key == "" {
			return nil, memory.Errorf(memory.Invalid, "--content-template %s: write {KEY}, and {{ or }} for a brace",
				cli.JsonText(text))
		}
		name, optional := strings.CutSuffix(key, "?")
		out = append(out, piece{text: literal}, piece{text: name, key: true, optional: optional})
		literal, rest = "", after
	}
	if literal != "" {
		out = append(out, piece{text: literal})
	}
	return out, nil
}

// apply makes a request of a line.
func (m *mapping) apply(line map[string]json.RawMessage) (*op.SaveRequest, error) {
	req := &op.SaveRequest{Tags: slices.Clone(m.tags), AllowSecret: m.allowSecret, Again: m.again}
	used := map[string]bool{}
	var sourceID string
	for _, r := range m.from {
		value, ok := lookUp(line, r.key, used)
		if !ok {
			continue
		}
		var err error
		switch r.to {
		case "id":
			sourceID = cli.PlainValue(value)
		case "meta":
			err = mergeMeta(req, value, r.key, used)
		default:
			err = m.set(req, r.to, value)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.columnOf(r.key), err)
		}
	}
	for _, l := range m.literals {
		if err := m.set(req, l.to, cli.JsonText(l.key)); err != nil {
			return nil, err
		}
	}
	if err := m.fill(req, line, used); err != nil {
		return nil, err
	}
	if err := m.rest(req, line, used); err != nil {
		return nil, err
	}
	req.ID = importID(req, sourceID)
	req.Aliases = append(req.Aliases, foreignID(sourceID, req.ID)...)
	return req, cmp.Or(m.noText(req, line), memory.CheckContent(req.Content))
}

// columnOf returns a key as the file has it.
func (m *mapping) columnOf(key string) string {
	if column := m.columns[key]; column != "" {
		return column
	}
	return key
}

// noText is the error for a line in which the key of the text is missing. It
// names the keys that are there.
func (m *mapping) noText(req *op.SaveRequest, line map[string]json.RawMessage) error {
	i := slices.IndexFunc(m.from, func(r route) bool { return r.to == "content" })
	if req.Content != "" || m.template != nil || i < 0 || len(line) == 0 {
		return nil
	}
	if _, ok := lookUp(line, m.from[i].key, map[string]bool{}); ok {
		return nil
	}
	const most = 12
	keys := slices.Sorted(maps.Keys(line))
	if len(keys) > most {
		keys = append(keys[:most], "…")
	}
	return memory.Errorf(memory.Invalid,
		"key %s not found; the keys are %s; map the key that contains the text, for example --map NAME=content",
		cli.JsonText(m.from[i].key), cli.Flat(cli.Cut(strings.Join(keys, ", "), 300))).At("content")
}

// fill writes the content by the template.
func (m *mapping) fill(req *op.SaveRequest, line map[string]json.RawMessage, used map[string]bool) error {
	var b strings.Builder
	for _, p := range m.template {
		if !p.key {
			b.WriteString(p.text)
			continue
		}
		value, ok := lookUp(line, p.text, used)
		if !ok && !p.optional {
			return memory.Errorf(memory.Invalid,
				"key %s of the template not found in this line; if the key is optional, write {%s?}",
				cli.JsonText(p.text), p.text).At("content")
		}
		if ok {
			b.WriteString(cli.PlainValue(value))
		}
	}
	if m.template != nil {
		req.Content = strings.TrimSpace(b.String())
	}
	return nil
}

// saysNothing reports whether a member of a line is null. A null field by which a cleanup recognizes
// entries of an indexer is kept: its presence protects the memory.
func saysNothing(name string, value json.RawMessage) bool {
	return string(value) == "null" && !slices.Contains(cleanup.AutomationFields(), name)
}

// rest puts what nothing was said about into meta, but for nulls.
func (m *mapping) rest(req *op.SaveRequest, line map[string]json.RawMessage, used map[string]bool) error {
	for key, value := range line {
		if used[key] || saysNothing(key, value) {
			continue
		}
		if err := setMeta(req, key, value); err != nil {
			return err
		}
	}
	return nil
}

// lookUp finds the value of a key, or of a.b in nested objects. A null is as
// good as no value. What is found is noted as used; an object that is only
// looked into still goes into meta as a whole, unless it is the meta itself.
func lookUp(line map[string]json.RawMessage, key string, used map[string]bool) (json.RawMessage, bool) {
	value, ok := line[key]
	if ok {
		used[key] = true
		return value, string(value) != "null"
	}
	head, tail, nested := strings.Cut(key, ".")
	if !nested {
		return nil, false
	}
	var inner map[string]json.RawMessage
	if json.Unmarshal(line[head], &inner) != nil {
		return nil, false
	}
	used[key] = true
	return lookUp(inner, tail, map[string]bool{})
}

// set fills one field of a request.
func (m *mapping) set(req *op.SaveRequest, field string, value json.RawMessage) error {
	if name, ok := strings.CutPrefix(field, metaPrefix); ok {
		return setMeta(req, name, value)
	}
	text := map[string]*string{
		"content": &req.Content, "source": &req.Source, "context": &req.Context, "category": &req.Category,
		"type": &req.Type, "section": &req.Section, "collection": &req.Collection, "project": &req.Project,
		"session_id": &req.SessionID,
	}
	if to, ok := text[field]; ok {
		*to = cli.PlainValue(value)
		return nil
	}
	switch field {
	case "tags":
		return appendList(&req.Tags, value)
	case "entities":
		return appendList(&req.Entities, value)
	case "aliases":
		return appendAliases(&req.Aliases, value)
	case "created_at":
		return m.setTime(&req.CreatedAt, value)
	case "last_used":
		return m.setTime(&req.LastUsed, value)
	case "meta":
		return mergeMeta(req, value, field, nil)
	}
	return setScalar(req, field, value)
}

func setScalar(req *op.SaveRequest, field string, value json.RawMessage) error {
	text := cli.PlainValue(value)
	switch field {
	case "importance":
		return setImportance(req, text)
	case "core":
		on, err := strconv.ParseBool(text)
		if err != nil {
			return memory.Errorf(memory.Invalid, "core must be true or false").At(field)
		}
		req.Core = on
		return nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return memory.Errorf(memory.Invalid, "%s is not a number", field).At(field)
	}
	switch field {
	case "strength":
		req.Strength = &n
	case "confidence":
		req.Confidence = &n
	case "use_count":
		req.UseCount = int64(n)
	}
	return nil
}

func setImportance(req *op.SaveRequest, text string) error {
	var v cli.Importance
	if err := v.Set(text); err != nil {
		return err
	}
	req.Importance = &v.Value
	req.Core = req.Core || v.Core
	return nil
}

// appendAliases takes an array of strings or numbers, or one of them. A comma is part of
// an id.
func appendAliases(to *[]string, value json.RawMessage) error {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		list = []json.RawMessage{value}
	}
	for _, one := range list {
		if string(one) != "null" {
			*to = append(*to, cli.PlainValue(one))
		}
	}
	return nil
}

// isBetween reports whether a character stands between the names of a list in one cell.
func isBetween(c rune) bool { return c == ',' || c == ';' || c == '|' }

// appendList takes an array of strings, or one string with commas, semicolons or bars between them.
func appendList(to *[]string, value json.RawMessage) error {
	var list []string
	if json.Unmarshal(value, &list) != nil {
		list = strings.FieldsFunc(cli.PlainValue(value), isBetween)
	}
	*to = append(*to, slices.DeleteFunc(list, func(s string) bool { return strings.TrimSpace(s) == "" })...)
	return nil
}

func (m *mapping) setTime(to *time.Time, value json.RawMessage) (err error) {
	text := spreadsheetDate(cli.PlainValue(value))
	if *to, err = cli.ParseDate(text, m.dates); err != nil && importer.IsAmbiguous(text) {
		return memory.Errorf(memory.Invalid,
			"%s can be read as more than one date; use --dates day-first or --dates month-first", cli.JsonText(text))
	}
	return err
}

// spreadsheetDate returns the date of a serial number, which is what a spreadsheet writes for a date without a format:
// the days since 30 December 1899 in the 1900 date system of Excel. Numbers of the years 1954 to 2119 are dates, since
// as seconds they would all be of the first day of 1970. Other texts stay as they are.
func spreadsheetDate(text string) string {
	days, err := strconv.ParseFloat(text, 64)
	if err != nil || days < 20_000 || days >= 80_000 {
		return text
	}
	at := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).Add(time.Duration(days*86_400+0.5) * time.Second)
	if days == math.Trunc(days) {
		return at.Format(time.DateOnly)
	}
	return at.Format("2006-01-02T15:04:05")
}

// mergeMeta keeps what an object under key holds, but for nulls and for what
// was used as key.NAME.
func mergeMeta(req *op.SaveRequest, value json.RawMessage, key string, used map[string]bool) error {
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) != nil {
		return memory.Errorf(memory.Invalid, "invalid meta; use a JSON object").At("meta")
	}
	for name, v := range object {
		if used[key+"."+name] || saysNothing(name, v) {
			continue
		}
		if err := setMeta(req, name, v); err != nil {
			return err
		}
	}
	return nil
}

func setMeta(req *op.SaveRequest, name string, value json.RawMessage) error {
	if _, ok := req.Meta[name]; ok {
		return memory.Errorf(memory.Invalid, "two values map to meta %s; map one of them to another field",
			cli.JsonText(name)).At("meta")
	}
	if req.Meta == nil {
		req.Meta = make(map[string]json.RawMessage)
	}
	req.Meta[name] = value
	return nil
}

// foreignID is the alias of a memory whose id elsewhere is not the one that it has here,
// none if it cannot be one.
func foreignID(sourceID string, id memory.ID) []string {
	if known, err := memory.ParseID(sourceID); err == nil && known == id {
		return nil
	}
	alias, err := memory.NormalizeAliases([]string{sourceID})
	if err != nil {
		return nil
	}
	return alias
}

// importID gives a line the same id whenever it is imported: its own when that is a UUID, else one derived from its
// collection and the source's id. Of a number, such as 1, 2, 3, that comes back in the next file for something else
// the text is part of it; without an id the text and the time are.
func importID(req *op.SaveRequest, sourceID string) memory.ID {
	if id, err := memory.ParseID(sourceID); err == nil {
		return id
	}
	kind, own := "id", sourceID
	if own == "" {
		kind = "time"
	}
	if own == "" && !req.CreatedAt.IsZero() {
		own = req.CreatedAt.Format(time.RFC3339Nano)
	}
	parts := []string{kind, req.Collection, own}
	if kind == "time" || strings.Trim(own, "0123456789") == "" {
		parts = append(parts, req.Content)
	}
	return memory.DeriveID([]byte(strings.Join(parts, "\x00")))
}
