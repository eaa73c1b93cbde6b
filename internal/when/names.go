package when

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"time"

	"emberd/internal/text"
)

//go:embed names.txt
var namesFile string

// names are the lists of words by name, see names.txt.
var names = sync.OnceValue(func() map[string]string { return text.Lists(namesFile) })

// numbered returns the words of the lists "name NUMBER" with their numbers, which are read when they are first
// asked for.
func numbered[T ~int](name string) func() map[string]T {
	return sync.OnceValue(func() map[string]T { return numbersOf[T](name) })
}

func numbersOf[T ~int](name string) map[string]T {
	all := make(map[string]T)
	for list, words := range names() {
		n, err := strconv.Atoi(strings.TrimPrefix(list, name+" "))
		if err != nil {
			continue
		}
		for w := range strings.FieldsSeq(words) {
			all[strings.ReplaceAll(w, "_", " ")] = T(n)
		}
	}
	return all
}

// set returns the words of a list, as numbered does.
func set(name string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		all := make(map[string]bool)
		for w := range strings.FieldsSeq(names()[name]) {
			all[w] = true
		}
		return all
	})
}

// month is a month by one of its names.
type month struct {
	time.Month
	sure bool // the name means nothing else
}

var months = sync.OnceValue(monthNames)

func monthNames() map[string]month {
	all := make(map[string]month)
	for name, m := range numbersOf[time.Month]("unsure month") {
		all[name] = month{Month: m}
	}
	for name, m := range numbersOf[time.Month]("month") {
		all[name] = month{m, true}
	}
	return all
}

// unit is a length of time by the calendar.
type unit int

const (
	day unit = iota + 1
	week
	weekend
	aMonth
	quarter
	year
)

// edge is how a word bounds the time behind it.
type edge int

const (
	sinceEdge edge = iota + 1
	afterEdge
	beforeEdge
)

// The words of names.txt with their meanings.
var (
	units    = numbered[unit]("unit")
	seasons  = numbered[time.Month]("season") // by the month they begin in
	weekdays = numbered[time.Weekday]("weekday")
	counts   = numbered[int]("count")
	turns    = numbered[int]("turn")   // -1 before this, 0 this, 1 after this
	turned   = numbered[int]("turned") // the same, behind the word that they belong to
	today    = numbered[int]("today")  // days after today
	edges    = numbered[edge]("edge")

	prepositions = set("prepositions")
	articles     = set("articles")
	ofs          = set("ofs")
	elided       = set("elided")
	ordinals     = set("ordinals")
	begins       = set("begins")
	tos          = set("tos")
	dashes       = set("dashes")
	frenchWords  = set("frenchWords")
	notYears     = set("notYears")
)
