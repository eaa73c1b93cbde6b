// Package importer reads the exports of other memory systems, one file a system: the notes of
// basic-memory, collections of ChromaDB and Qdrant, the notes.md of the specification
// "memory tools for agents", and the memories that ChatGPT and Claude export. Each reader
// turns a file or a folder into a [Result]: memories, relations between them, and what it
// left out, with the place and the reason.
//
// # Guarantees
//
// The same source always gives the same IDs. Everything that a reader does not understand is
// in [Result.Skips]. Fields that memories do not have are kept in meta under their own names.
// A reader reads at most [MaxBytes] of a file. An error means that the source does not have
// the format, and then there is no Result.
//
// docs/internals/compatibility.md lists for each format which fields go where, which parts of the format
// its authors document, and which are assumed.
//
// Any number of goroutines can call the functions; a Result belongs to its caller.
package importer

import (
	"io"
	"slices"
	"strings"
	"time"

	"emberd/internal/text"
	"emberd/memory"
)

// MaxBytes bounds what is read of one file, archived or not.
const MaxBytes = 256 << 20

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
// them; an end that was not read has an ID that no memory has.
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

// Result is what was read.
type Result struct {
	Met       int // how many things were met that should have been memories or relations
	Records   []Record
	Relations []Relation
	Skips     []Skip
	// Unlisted is how many things more did not come in, beyond the first [MostSkips].
	Unlisted int
}

// MaxSkips bounds [Result.Skips]: a file that is something else altogether may have a million.
const MaxSkips = 10_000

// builder is a Result under construction.
type builder struct {
	Result
	system string // goes into ids
	o      *Options
	dates  map[memory.ID]time.Time // when memories were made, of those that the source says it of
}

func newBuilder(system string, o *Options) *builder {
	return &builder{system: system, o: o, dates: map[memory.ID]time.Time{}}
}

// fail notes something that does not come in.
func (h *builder) fail(at Place, err error) {
	if len(h.Skips) == MaxSkips {
		h.Unlisted++
		return
	}
	h.Skips = append(h.Skips, Skip{Place: at, Err: err})
}

// note tells of something that need not come in.
func (h *builder) note(at Place, format string, args ...any) {
	if len(h.Skips) < MaxSkips {
		h.Skips = append(h.Skips, Skip{Place: at, Err: memory.Errorf(memory.Invalid, format, args...), Minor: true})
	}
}

// blank returns a memory as a save without any options makes it. StrengthFound says that the source gives no strength,
// until it does.
func (h *builder) blank() memory.Memory {
	collection := h.o.Collection
	if collection == "" {
		collection = memory.DefaultCollection
	}
	return memory.Memory{Confidence: 1, Importance: 0.5, Strength: 1, StrengthFound: true, Collection: collection,
		Stage: memory.Active}
}

// add adds a memory, with the fields that all memories of the result share. It reports a text
// that no memory can have, and leaves it out.
func (h *builder) add(m *memory.Memory, at Place) bool {
	if err := memory.CheckContent(m.Content); err != nil {
		h.fail(at, err)
		return false
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt = h.dates[m.ID] // it is there twice
	} else {
		h.dates[m.ID] = m.CreatedAt
	}
	if m.CreatedAt.IsZero() {
		if bad := plain(m.Meta["created_at"]); bad != "" {
			h.note(at, "invalid created_at %q; the memory has the date of the import", text.Truncate(bad, 60))
		}
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

// id returns the id that a memory of this source always has. What parts are given besides the
// collection tells it from the others of the source.
func (h *builder) id(collection string, parts ...string) memory.ID {
	return memory.DeriveID([]byte(strings.Join(append([]string{h.system, collection}, parts...), "\x00")))
}

// known returns the id of a memory that the source calls name: that name if it is a UUID. A number
// comes back in the next collection for something else, so the text counts with it.
func (h *builder) known(collection, name, content string) memory.ID {
	if id, err := memory.ParseID(name); err == nil {
		return id
	}
	if name == "" || strings.Trim(name, "0123456789") == "" {
		return h.id(collection, "id", name, content)
	}
	return h.id(collection, "id", name)
}

// alsoKnown returns the names that can be aliases of a memory with this id.
func alsoKnown(id memory.ID, names ...string) []string {
	var out []string
	for _, name := range names {
		one, err := memory.NormalizeAliases([]string{name})
		if err != nil || strings.EqualFold(name, string(id)) || slices.Contains(out, one[0]) ||
			len(out) == memory.MaxAliases {
			continue
		}
		out = append(out, one[0])
	}
	return out
}

// kindOf returns a relation's type and kind by what the source calls it. What is none of the six
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

func newBounded(r io.Reader) *bounded { return &bounded{r, MaxBytes} }

func errTooLarge() error {
	return memory.Errorf(memory.TooLarge, "the file is larger than %d MiB; export the data in parts", MaxBytes>>20)
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge()
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	return n, err
}
