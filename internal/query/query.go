// Package query reads the query language that people know from Obsidian, GitHub
// and mail.
//
//	word            ranked: any word may match, more and rarer ones rank higher
//	"exact phrase"  required
//	tag:x #x        required tag; a finds a/b
//	path:dir/       required beginning of a note's path
//	file:name       required part of a note's file name
//	[key] [key:v]   required property of a note
//	entity:name     required entity, by its name or an alias
//	after:D         on the day, or in the month or year, D and later
//	before:D        earlier than D
//	-x              excludes what x, any of the above, stands for
//
// Operators may be written in any case, and a value in quotes may hold spaces.
// D is YYYY, YYYY-MM, YYYY-MM-DD, today, yesterday, or an age of days, weeks,
// months or years: 7d, 2w, 3m, 1y. In quotes, \" and \\ stand for a quote and a
// backslash. The quotation marks “ ” „ « » and the full-width ：＃－＂ of East
// Asian input methods count as the signs they stand for.
//
// Everything else is a word: foo:bar with an operator that does not exist,
// http://x:80, 10:30, --flag, #1, a quote or bracket that is never closed. Words
// stay as typed, for the analyser that documents go through. Only an operator
// without a value, a date that is none, and more than 64 operators are errors.
//
// Time and space are linear in the text. A Query shares no memory with others
// and belongs to the caller.
package query

import (
	"strings"
	"time"
	"unicode"
)

// Query is a parsed query. Its lists keep the order of the text, and values are
// as typed but for white space around them: comparing them without regard to
// case or normal form is up to the owner of the documents.
type Query struct {
	// Words is what to rank by: everything that is no operator, parted by spaces,
	// for the analyser. "" or text without a term ranks nothing.
	Words string
	// Prefix says that the text ends within the last word, so it may be the
	// beginning of a longer one. It is false after a space, a sign or an operator.
	Prefix bool

	// Must is what every hit has, all of it; Not is what no hit has any of.
	Must, Not Filter

	// A hit's time is at or after After and before Before. Zero is no bound.
	// Both begin a day in the zone of the time given to Parse.
	After, Before time.Time
}

// Filter is what a hit is judged by, apart from its rank.
type Filter struct {
	// Phrases are texts whose terms follow one another. In Not they may be single
	// words: to exclude a word is to exclude the phrase it makes.
	Phrases []string
	// Tags have no # before and no / around them. A tag stands for those nested in it.
	Tags []string
	// Paths are beginnings of paths in the vault, without a / at the front.
	Paths []string
	// Files are parts of the last element of a path.
	Files []string
	// Properties are pieces of a note's frontmatter.
	Properties []Property
	// Entities are names of what a memory or note names or is about.
	Entities []string
}

// Property is one condition on a note's frontmatter.
type Property struct {
	Key   string
	Value string // "" for any
}

// NotesOnly reports whether the query asks for something that only notes have, so
// that no memory can be a hit.
func (q Query) NotesOnly() bool {
	return len(q.Must.Paths) > 0 || len(q.Must.Files) > 0 || len(q.Must.Properties) > 0
}

// String returns a canonical form of a query that came from Parse: operators
// first, words last. Parsed in the same zone, it is the same Query again.
func (q Query) String() string {
	items := append(q.Must.items(""), q.Not.items("-")...)
	if !q.After.IsZero() {
		items = append(items, "after:"+q.After.Format(time.DateOnly))
	}
	if !q.Before.IsZero() {
		items = append(items, "before:"+q.Before.Format(time.DateOnly))
	}
	if q.Words != "" {
		items = append(items, q.Words)
	}
	text := strings.Join(items, " ")
	if q.Words != "" && !q.Prefix {
		text += " "
	}
	return text
}

// items writes the filter's conditions, each with sign before it.
func (f Filter) items(sign string) []string {
	var items []string
	for _, v := range f.Phrases {
		items = append(items, sign+quote(v))
	}
	for _, v := range f.Tags {
		items = append(items, sign+"tag:"+operand(v))
	}
	for _, v := range f.Paths {
		items = append(items, sign+"path:"+operand(v))
	}
	for _, v := range f.Files {
		items = append(items, sign+"file:"+operand(v))
	}
	for _, v := range f.Properties {
		items = append(items, sign+v.String())
	}
	for _, v := range f.Entities {
		items = append(items, sign+"entity:"+operand(v))
	}
	return items
}

// String returns the property as a query names it, [key] or [key:value].
func (p Property) String() string {
	key := p.Key
	if !isKey(key) {
		key = quote(key)
	}
	if p.Value == "" {
		return "[" + key + "]"
	}
	return "[" + key + ":" + operand(p.Value) + "]"
}

// operand writes a value the way it may follow a colon: in quotes unless it is
// plain. Two slashes would make a URL of it.
func operand(v string) string {
	plain := func(r rune) bool {
		return r == '_' || r == '-' || r == '.' || r == '/' || unicode.In(r, unicode.L, unicode.M, unicode.N)
	}
	if strings.HasPrefix(v, "//") || strings.ContainsFunc(v, func(r rune) bool { return !plain(r) }) {
		return quote(v)
	}
	return v
}
