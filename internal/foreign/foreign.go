// Package foreign reads what other memory systems keep or give out: the notes of
// basic-memory, collections of ChromaDB and Qdrant, the notes.md of the specification
// "memory tools for agents", and the memories that ChatGPT and Claude hand out. Each reader
// turns a file or a folder into a [Haul]: memories with ids that are always the same for the
// same source, relations between them, and what was left out, with the place and the reason.
//
// # What holds
//
// Nothing is guessed in silence: what a reader does not understand is in [Haul.Skips]. What a
// store says that has no field here is kept in meta under its own name. A reader looks at no
// more than [MostBytes] of a file, and keeps of it what becomes of it. An error is for a source
// that cannot be read as what it should be, and then there is no haul.
//
// docs/coming-from.md says of each format which fields go where, and what of a format is
// documented by those who make it and what was assumed.
//
// The functions may be called from several goroutines; a Haul belongs to the caller.
package foreign

import (
	"io"
	"slices"
	"strings"
	"time"

	"emberd/memory"
)

// MostBytes bounds what is read of one file, archived or not.
const MostBytes = 256 << 20

// Options say how memories come in.
type Options struct {
	// Now is when those were made that the source has no time for, each a millisecond after
	// the one before it, so that they keep their order.
	Now time.Time
	// Collection is where all of them go; empty is the one that the source names, else
	// [memory.DefaultCollection]. Ids differ between collections.
	Collection string
	Tags       []string // added to all
}

// Place is where something stands in a source.
type Place struct {
	File string // of a folder or an archive, "" where there is one file only
	Line int    // from 1, 0 for the whole file
	Path string // within JSON, such as points[3]
}

// Record is a memory that was read. Its AccessCount and LastAccessed are what the source
// counted.
type Record struct {
	memory.Memory
	Place Place
}

// Relation leads from one memory to another. FromName and ToName are what the source calls
// them; an end that was not read has an id all the same, which no memory has.
type Relation struct {
	From, To         memory.ID
	FromName, ToName string
	Type, Kind       string
	Context          string
	Place            Place
}

// Skip is something that was left out, or that the reader of a report should know.
type Skip struct {
	Place Place
	Err   error
	// Minor says that no memory was lost by it.
	Minor bool
}

// Haul is what was read.
type Haul struct {
	Met       int // how many things were met that should have been memories or relations
	Records   []Record
	Relations []Relation
	Skips     []Skip
	// Unlisted is how many things more did not come in, beyond the first [MostSkips].
	Unlisted int
}

// MostSkips bounds [Haul.Skips]: a file that is something else altogether may have a million.
const MostSkips = 10_000

// haul is a Haul that is being filled.
type haul struct {
	Haul
	system string // goes into ids
	o      *Options
}

func newHaul(system string, o *Options) *haul { return &haul{system: system, o: o} }

// fail notes something that does not come in.
func (h *haul) fail(at Place, err error) {
	if len(h.Skips) == MostSkips {
		h.Unlisted++
		return
	}
	h.Skips = append(h.Skips, Skip{Place: at, Err: err})
}

// note tells of something that need not come in.
func (h *haul) note(at Place, format string, args ...any) {
	if len(h.Skips) < MostSkips {
		h.Skips = append(h.Skips, Skip{Place: at, Err: memory.Errorf(memory.Invalid, format, args...), Minor: true})
	}
}

// blank is a memory as a save without any options makes it.
func (h *haul) blank() memory.Memory {
	collection := h.o.Collection
	if collection == "" {
		collection = memory.DefaultCollection
	}
	return memory.Memory{Confidence: 1, Importance: 0.5, Strength: 1, Collection: collection, Stage: memory.Active}
}

// add takes in a memory, with what all of the haul have in common. A text that no memory can
// have is told of, and not kept until then.
func (h *haul) add(m *memory.Memory, at Place) bool {
	if err := memory.CheckContent(m.Content); err != nil {
		h.fail(at, err)
		return false
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt = h.o.Now.Add(time.Duration(len(h.Records)) * time.Millisecond)
	}
	m.CreatedAt, m.UpdatedAt = m.CreatedAt.Truncate(time.Millisecond), m.UpdatedAt.Truncate(time.Millisecond)
	for _, t := range h.o.Tags {
		if !slices.Contains(m.Tags, t) {
			m.Tags = append(m.Tags, t)
		}
	}
	h.Records = append(h.Records, Record{Memory: *m, Place: at})
	return true
}

// id is the id that a memory of this source always has. What parts are given besides the
// collection tells it from the others of the source.
func (h *haul) id(collection string, parts ...string) memory.ID {
	return memory.DeriveID([]byte(strings.Join(append([]string{h.system, collection}, parts...), "\x00")))
}

// known is the id of a memory that the source calls name: that name if it is a UUID. A number
// comes back in the next collection for something else, so the text counts with it.
func (h *haul) known(collection, name, content string) memory.ID {
	if id, err := memory.ParseID(name); err == nil {
		return id
	}
	if name == "" || strings.Trim(name, "0123456789") == "" {
		return h.id(collection, "id", name, content)
	}
	return h.id(collection, "id", name)
}

// alsoKnown are the names that can be aliases of a memory with this id.
func alsoKnown(id memory.ID, names ...string) []string {
	var out []string
	for _, name := range names {
		one, err := memory.NormalizeAliases([]string{name})
		if err != nil || strings.EqualFold(name, string(id)) || slices.Contains(out, one[0]) || len(out) == memory.MaxAliases {
			continue
		}
		out = append(out, one[0])
	}
	return out
}

// kindOf is a relation's type and kind by what the source calls it. What is none of the six
// types is the kind of one that is related.
func kindOf(name string) (typ, kind string) {
	if memory.CheckRelationType(name) == nil {
		return name, ""
	}
	return memory.Related, name
}

// bounded fails where a source has more than most bytes.
type bounded struct {
	r    io.Reader
	left int64
}

func newBounded(r io.Reader) *bounded { return &bounded{r, MostBytes} }

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, memory.Errorf(memory.TooLarge, "the file has more than %d MiB; take it out in parts", MostBytes>>20)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	return n, err
}
