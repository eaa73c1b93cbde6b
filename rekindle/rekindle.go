// Package rekindle is what fading does to a memory and what brings it back, as
// pure logic: which stage a memory belongs in, which of many may move in one run,
// the sentence and the key terms that stay when its text goes to the vault,
// whether a search means a cold memory strongly enough, and what became of the
// note that its text is to be read back from.
//
// # Stages
//
// A memory is active, demoted, archived or rehydratable by the time since its
// last use: 7, 30 and 90 days unless a [Policy] says otherwise. Core memories are
// always active. Promoted ones fade like any other. The background never makes a
// cold memory, archived or rehydratable, warm again, since its text is elsewhere;
// a [Judge] and the code that applies its verdict do.
//
// # Summaries
//
// What is left of an archived memory is one sentence of at most
// max(80, length/100) characters, and of a rehydratable one at most [MaxKeyTerms]
// terms to be searched by beside that sentence to show. Both are extracts: the
// sentence is the part of the text that holds most weight, where weight is made
// of how telling a term is (common terms weigh next to nothing,
// names and identifiers more), how often the text repeats it, the entities that
// the memory is known by, and where the sentence stands. After Luhn, The Automatic
// Creation of Literature Abstracts (1958), and Edmundson, New Methods in Automatic
// Extracting (1969). A [Model] may write the sentence instead; the extract steps
// in when it fails.
//
// Nothing here reads a clock, a file or a random number: equal arguments give
// equal results. Values may be shared by any number of goroutines, and arguments
// are neither kept nor changed.
package rekindle

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"emberd/memory"
)

// Digest identifies a text byte by byte: "sha256:" and 64 hexadecimal digits.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// A Verdict reports what became of the note that holds a memory's text.
type Verdict string

// The verdicts.
const (
	Unchanged Verdict = "unchanged" // where it was, with the text that went into it
	Edited    Verdict = "edited"    // where it was, with another text, which now counts
	Moved     Verdict = "moved"     // elsewhere, recognised by the memory's id
	Gone      Verdict = "gone"      // nowhere: the summary is what is left
)

// A Note is one that may hold a memory's text, as it is in the vault now.
type Note struct {
	Path   string    // from the vault's root
	ID     memory.ID // the memory that the note says it belongs to, "" when it names none
	Digest string    // of the memory's text in it, see [Digest]
}

// An Outcome is a verdict and where to read. Edited is also set for a moved note
// whose text has changed. An edited text may be empty, which is not a memory's:
// the caller keeps the summary then.
type Outcome struct {
	Verdict Verdict
	Path    string // "" when gone
	Edited  bool
}

// Judge returns what became of the note at path that held the text of that
// digest. The notes are the one at path, if there is one, and all that name id;
// a note that could not be read is not a reason to ask, for an unplugged disk would
// be taken for a deleted note.
//
// A note counts when it names id, or names no memory and has the very text: one that
// took over the path, or that lost its id and was edited since, could be of another memory.
// Of several, the one at path wins, then one with the text as it was, then the
// first by path.
func Judge(id memory.ID, path, digest string, notes []Note) Outcome {
	var ours []Note
	for _, n := range notes {
		if n.ID == id || n.ID == "" && n.Digest == digest {
			ours = append(ours, n)
		}
	}
	if len(ours) == 0 {
		return Outcome{Verdict: Gone}
	}
	best := slices.MinFunc(ours, func(a, b Note) int {
		return cmp.Or(falseLast(a.Path == path, b.Path == path),
			falseLast(a.Digest == digest, b.Digest == digest), cmp.Compare(a.Path, b.Path))
	})
	out := Outcome{Verdict: Unchanged, Path: best.Path, Edited: best.Digest != digest}
	switch {
	case best.Path != path:
		out.Verdict = Moved
	case out.Edited:
		out.Verdict = Edited
	}
	return out
}

func falseLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// MinRelevance is the least relevance, 0 to 1, of an archived memory that a search found for the memory to be
// rekindled when it is opened or used: from there on a hit more probably answers the query than not.
const MinRelevance = 0.5

// A Threshold is how well words have to match archived memories for a request to rekindle them.
type Threshold struct {
	Relevance float64 // least relevance, 0 to 1
	Most      int     // memories that one request rekindles at most, the most relevant ones
	Vague     int     // when more than so many pass, the words mean none of them in particular
}

// DefaultThreshold returns the default: three at a time, and none of more than ten.
func DefaultThreshold() Threshold { return Threshold{Relevance: MinRelevance, Most: 3, Vague: 10} }

// Strong returns the places of the relevances of those to rekindle, most relevant first.
func (t Threshold) Strong(relevances []float64) []int {
	var strong []int
	for i, r := range relevances {
		if r >= t.Relevance {
			strong = append(strong, i)
		}
	}
	if len(strong) > t.Vague {
		return nil
	}
	slices.SortStableFunc(strong, func(a, b int) int { return cmp.Compare(relevances[b], relevances[a]) })
	return strong[:min(len(strong), t.Most)]
}
