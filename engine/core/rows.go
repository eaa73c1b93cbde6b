package core

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// FromData reports whether a link comes from a tool or the web.
func FromData(link memory.Source) bool {
	return link.Kind == memory.FromTool || link.Kind == memory.FromWeb
}

// ByVectors returns how an answer names a comparison by embeddings, or "".
func ByVectors(is bool) string {
	if is {
		return op.ComparedByVectors
	}
	return ""
}

// StatusOf returns the status by the rule of memory.Memory, without decoding a memory.
func StatusOf(stage memory.Stage, promoted bool) string {
	m := memory.Memory{Stage: stage}
	if promoted {
		m.PromotedTo = "a note"
	}
	return m.Status()
}

// RowStatus returns the status of a memory. It decodes the memory only if another system said what it is.
func RowStatus(r *stm.Row) string {
	if bytes.Contains(r.Value("meta"), []byte(memory.ForeignStatusKey)) {
		if m, err := r.Memory(); err == nil {
			return m.Status()
		}
	}
	return StatusOf(r.Stage(), r.Promoted())
}

// rekindleBudget is how long a search waits for the texts of all matching cold memories.
const rekindleBudget = 50 * time.Millisecond

// Cold reports whether the text of a memory is in a note.
func Cold(r *stm.Row) bool { return r.Stage().Cold() }

// Archived reports whether the text of a memory is in the index of archived texts, and not in the word index: it is
// in a note of the archive folder.
func (e *View) Archived(r *stm.Row) bool { return len(e.Opt.Vaults) > 0 && e.Opt.archived(r) }

// Elsewhere returns which memories the word index leaves out, nil for none.
func (o *Options) Elsewhere() func(*stm.Row) bool {
	if len(o.Vaults) == 0 {
		return nil
	}
	return o.archived
}

func (o *Options) archived(r *stm.Row) bool {
	if !r.Stage().Cold() || r.Promoted() {
		return false
	}
	dir := strings.Trim(path.Clean("/"+o.VaultArchive), "/")
	return dir != "" && strings.HasPrefix(NoteOfRow(r), dir+"/")
}

// Only returns a filter that accepts what both accept; a nil accept accepts everything.
func Only(accept, more func(*stm.Row) bool) func(*stm.Row) bool {
	if accept == nil {
		return more
	}
	return func(r *stm.Row) bool { return more(r) && accept(r) }
}

// MergedInto returns the live memory that contains the text of a merged memory, over any
// number of merges. It returns nil if the merged memory was deleted; then its parts count
// again.
func MergedInto(get func(memory.ID) (*stm.Row, bool), into memory.ID) *stm.Row {
	var last *stm.Row
	for range 100 { // devices that merge the same memories at once can create a cycle
		if into == "" {
			return last
		}
		row, live := get(into)
		if !live {
			return last
		}
		m, err := row.Memory()
		if err != nil {
			return row
		}
		last, into = row, m.ConsolidatedInto
	}
	return nil
}

// MergedRow returns the memory that contains the text of r: the one that r was merged into, or
// r itself.
func MergedRow(get func(memory.ID) (*stm.Row, bool), r *stm.Row) *stm.Row {
	if !Cold(r) || !r.Has("consolidated_into") {
		return r
	}
	m, err := r.Memory()
	if err != nil {
		return r
	}
	return cmp.Or(MergedInto(get, m.ConsolidatedInto), r)
}

const (
	HoursOfADay = 24
)

// LastAccess returns when a search last returned a memory. If none did, it is the time of
// creation, or the zero time for an imported memory without an access time, until its
// migration.
func LastAccess(r *stm.Row) time.Time {
	if at := r.LastAccessed(); !at.IsZero() {
		return at
	}
	if r.Imported() {
		return time.Time{}
	}
	return r.CreatedAt()
}

// UnusedSince returns since when a memory is unused, for every list, count and chart: since a
// search last returned it or, if none did, since its last use. A memory that an import brings
// without a use was last used when it came in, whatever its date.
func UnusedSince(r *stm.Row) time.Time {
	if at := r.LastAccessed(); !at.IsZero() {
		return at
	}
	return r.LastUsed()
}

// The kind of relation from a memory to the one that it supersedes, and the fields of the
// superseded memory. Package memories removes the fields together with the relation.
const (
	KindSupersedes = memory.KindSupersedes
	SupersededBy   = "superseded_by"
	SupersededAt   = "superseded_at"
)

// Successors returns the memories that superseded r, one after the other. The last one is
// current. There are none if the first one was deleted; then r is current again.
//
// Devices that did not see each other's changes can create a cycle. In a cycle the oldest
// statement is ignored, so that one memory, the newest, is current.
func Successors(get func(memory.ID) (*stm.Row, bool), r *stm.Row) []*stm.Row {
	path := []*stm.Row{r}
	for {
		next, live := get(path[len(path)-1].SupersededBy())
		if !live {
			return path[1:]
		}
		if i := slices.IndexFunc(path, func(p *stm.Row) bool { return p.ID() == next.ID() }); i >= 0 {
			return path[1:max(1, i+1+oldestWord(path[i:]))]
		}
		path = append(path, next)
	}
}

// oldestWord returns the index of the memory in a cycle that was superseded first; of several
// at the same time, the one with the lowest ID.
func oldestWord(circle []*stm.Row) int {
	oldest := 0
	for i, r := range circle {
		at, least := r.Changed(SupersededBy), circle[oldest].Changed(SupersededBy)
		if at.Before(least) || at.Equal(least) && r.CompareID(circle[oldest]) < 0 {
			oldest = i
		}
	}
	return oldest
}

// Successor returns the current memory that supersedes r, or nil if r is current. If that
// memory was merged into another, Successor returns the merged one.
func Successor(get func(memory.ID) (*stm.Row, bool), r *stm.Row) *stm.Row {
	if r.SupersededBy() == "" {
		return nil
	}
	all := Successors(get, r)
	if len(all) == 0 {
		return nil
	}
	last := MergedRow(get, all[len(all)-1])
	if last.ID() == r.ID() {
		return nil
	}
	return last
}

// Superseded reports whether a live memory supersedes r.
func (e *View) Superseded(r *stm.Row) bool { return Successor(e.Stm.Get, r) != nil }

// Live reports whether a memory is live and readable.
func (e *View) Live(id memory.ID) bool {
	_, live := e.Stm.Get(id)
	return live
}

const (
	// completionText is how many characters of a memory a shell completion shows.
	completionText = 60
)

// BeginningOf returns the first words of a text in one line, with … if there is more.
func BeginningOf(text string) string {
	start := text[:ByteOf(text, 4*completionText)]
	line := strings.Join(strings.Fields(start), " ")
	if n := ByteOf(line, completionText); n == len(line) && len(start) == len(text) {
		return line
	}
	return strings.TrimRight(line[:ByteOf(line, completionText-1)], " ") + "…"
}

// Changes returns the fields that turn one memory into another in the log.
func Changes(was, is *memory.Memory) (map[string]json.RawMessage, error) {
	before, err := Fields(was)
	if err != nil {
		return nil, err
	}
	after, err := Fields(is)
	return Difference(before, after), err
}
