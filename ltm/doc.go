package ltm

import (
	"time"

	"emberd/internal/relevance"
	"emberd/internal/text/analysis"
)

// Doc is a note to index. All text is plain, without markup.
type Doc struct {
	// Path is the note's path in the vault, with slashes. It identifies the note.
	Path     string
	Title    string
	Aliases  []string
	Tags     []string // without #, parts separated by "/"
	LinkText []string // what the links say that the sections' text does not
	Sections []Section
	// Text is the whole note as Query.Text returns it, for phrases. Without it a note whose words a
	// phrase has is read at each search.
	Text string
	// Properties are the other values of the frontmatter; a list is one each.
	Properties        []Property
	MemoryID          string // of the memory whose note this is, or ""
	Created, Modified time.Time
	Cursor            Cursor
}

// Section is a heading and the text up to the next one.
type Section struct {
	HeadingPath []string // outermost first; empty for text before the first heading
	Line        int      // of the heading, or of the text where there is none; from 1
	Text        string   // without the heading
}

// Property is a key of a note's frontmatter with one value, or what a query asks of
// it: then the value is "" for any, or stands in the property's as whole words.
type Property struct{ Key, Value string }

// Cursor identifies the state of a file that was indexed.
type Cursor struct {
	Digest              [32]byte // SHA-256 of the bytes
	Size                int64
	ModTime, ChangeTime time.Time
	Inode               uint64
}

// Equal reports whether both stand for the same state of the same file.
func (c Cursor) Equal(d Cursor) bool {
	return c.Digest == d.Digest && c.Size == d.Size && c.Inode == d.Inode &&
		c.ModTime.Equal(d.ModTime) && c.ChangeTime.Equal(d.ChangeTime)
}

// Term is a term to search for, as analysis.Analyzer.Query makes it.
type Term struct {
	Text   string
	Weight float64 // a weight of zero or less leaves the term out
	// DF is in how many documents of the whole collection the term stands. It is
	// used when Query.Docs is set.
	DF int
	// Of are the terms that count as this one, if there are any: Text is only their name.
	Of []string
	// Weak terms rank the notes that hold another term and find none: stop words beside
	// the words of a question, with a weight of WeakWeight. One that more than half of
	// the notes hold is left out: it would say little and take long.
	Weak bool
	// Form and Name are, for an index of memories, the form in which the query has the term, and the one that marks
	// names if it has it as a name.
	Form, Name analysis.Form
}

// WeakWeight is the weight of a weak term for which results were measured to be best.
const WeakWeight = 0.3

// Query is what Search looks for. Without terms or Near, every note that passes
// the filters is a hit of relevance 1, the last created first.
type Query struct {
	Terms []Term // any may match

	// Near is what is added to the relevance of notes, by path, for another reason than
	// their words. These match without any term, and pass every other condition.
	Near map[string]Near
	// Bonus is what is added to the relevance of a note that matches; nil is nothing.
	Bonus func(path string, created time.Time) float64

	Docs int // documents in the whole collection; 0 takes number and DF from the index
	// Lengths are, for an index of memories, those of the memories elsewhere.
	Lengths relevance.Lengths

	Must, Not     Filter    // what every hit has, all of it, and what none has any of
	After, Before time.Time // a hit was created at or after After and before Before; zero is no bound
	Modified      time.Time // a hit was modified then or later; zero is no bound

	// Accept, if it is not nil, says of a path whether that note may be a hit.
	Accept func(path string) bool
	// LooseTotal has Accept asked about notes that would be among the hits only, if more than a few hundred notes
	// match and there is no other filter: Total then counts notes that it refuses, too.
	LooseTotal bool

	// Text returns the text of a note, whose words phrases are looked up in. Several
	// goroutines call it at once, and not for a note whose Doc.Text lacked the phrase.
	// Without it no note has a phrase of more than one word.
	Text func(path string) (string, bool)

	Limit   int // hits to return; 0 returns none and counts only
	Explain bool
}

// Near is one note of [Query.Near].
type Near struct {
	Score float64 // above 0
	// Line is where the part of it begins that is near, which is what a hit shows that
	// holds none of the terms; from 1, or 0 if that is not known.
	Line int
}

// Filter contains conditions of a note besides its rank. Texts are compared without regard to case
// and Unicode normal form.
type Filter struct {
	Phrases    []string // texts whose words follow one another
	Tags       []string // a tag stands for those nested in it
	Paths      []string // beginnings of paths
	Files      []string // parts of file names
	Properties []Property
}

// Result is the result of a search.
type Result struct {
	Hits  []Hit // by falling relevance, then path
	Total int   // notes that match
	Near  int   // of them, those that hold none of the terms
	// Terms are the terms that were searched for, but for weak ones, with those of the
	// prefix, for marking them in a snippet.
	Terms []string
	// Partial says that phrases were looked up in the best candidates only, at least
	// ten, so that Total is a lower bound. With fewer hits than Limit there may be
	// more of them.
	Partial bool
}

// Hit is a note that matches.
type Hit struct {
	Path              string
	Cursor            Cursor // of the state of the file that was found; the rest is of it
	Title             string
	MemoryID          string
	Created, Modified time.Time
	HeadingPath       []string // of the section that answers best
	SectionLine       int      // its Section.Line; from 1
	Line              int      // about where its best passage begins; from 1
	Above             int      // lines of its Section.Text above the best passage
	Relevance         float64
	Near              Near    // what it has of Query.Near
	Bonus             float64 // part of Relevance, as the Score of Near
	Scores            []Score // with Query.Explain: they sum up to what is left of Relevance
}

// Score is what one term gives to a hit through one field.
type Score struct {
	Term   string // "" for the share of a matched name
	Field  Field
	TF     int // in the field of the note; in the body of the best passage for Passage
	DF     int
	Weight float64
	IDF    float64
	Norm   float64 // of memories
	Score  float64
}

// Field is a part of a note that terms stand in.
type Field string

// The fields of a note. Passage is the body again, of the best passage alone, and
// Name the share for a query that is a name of the note.
const (
	Names    Field = "names"
	Tags     Field = "tags"
	Other    Field = "other"
	Headings Field = "headings"
	Body     Field = "body"
	Passage  Field = "passage"
	Name     Field = "name match"
	Form     Field = "form" // of memories
)
