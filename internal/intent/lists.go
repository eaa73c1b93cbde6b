package intent

import (
	_ "embed"
	"iter"
	"strings"
	"sync"
)

// list is one of the lists of phrases.
type list uint8

const (
	saveCommands list = iota
	recall
	savePreferences
	saveDecisions
	exclusion
	importanceCritical
	importanceMarkers
	importanceWords
	uncertainty
	preference
	negation
	openers
	possessives
	pronouns
	listCount
)

// names are the lists as the file calls them.
func names() [listCount]string {
	return [listCount]string{
		saveCommands: "save.commands", savePreferences: "save.preferences", saveDecisions: "save.decisions",
		recall: "recall", exclusion: "exclusion", importanceCritical: "importance.critical",
		importanceMarkers: "importance.markers", importanceWords: "importance.words", uncertainty: "uncertainty",
		preference: "preference", negation: "negation", openers: "openers", possessives: "possessives",
		pronouns: "pronouns",
	}
}

// purpose tells the lists that say what a message is for. A word serves one of them.
func (l list) purpose() bool { return l <= exclusion }

// negatable tells the lists whose phrases a negation takes back.
func (l list) negatable() bool {
	switch l {
	case saveCommands, savePreferences, saveDecisions, importanceCritical, importanceMarkers, importanceWords:
		return true
	}
	return false
}

// set is a set of lists.
type set uint32

func (s set) has(l list) bool { return s&(1<<l) != 0 }

// members are the lists of s in order.
func (s set) members() iter.Seq[list] {
	return func(yield func(list) bool) {
		for l := list(0); s>>l != 0; l++ {
			if s.has(l) && !yield(l) {
				return
			}
		}
	}
}

// An Analyzer judges messages by lists of phrases. Make one with Default or Load.
type Analyzer struct{ root node }

//go:embed phrases.yaml
var defaultFile []byte

var ours = sync.OnceValue(func() *phrases {
	p, err := parse("phrases.yaml", defaultFile)
	if err != nil {
		panic(err) // a test reads it
	}
	return p
})

var byOurs = sync.OnceValue(func() *Analyzer { return ours().analyzer() })

// Default returns the Analyzer with our lists.
func Default() *Analyzer { return byOurs() }

// DefaultFile returns the file with our lists, commented, for users to copy from.
func DefaultFile() []byte { return append([]byte(nil), defaultFile...) }

// Load returns an Analyzer with the lists of a user's YAML file in place of ours of
// the same names. Name is the file's, for errors. The file may have 64 KiB, 2,000
// phrases of twelve words and 100 tags. All its faults are reported at once, each with
// its line and what to do.
func Load(name string, data []byte) (*Analyzer, error) {
	own, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	all := *ours()
	for l, given := range own.given {
		if given {
			all.lists[l] = own.lists[l]
		}
	}
	if own.tags != nil {
		all.tags = own.tags
	}
	return all.analyzer(), nil
}

// phrases are the lists of one file.
type phrases struct {
	lists [listCount][]phrase
	given [listCount]bool
	tags  []tagWords // nil unless given
}

// phrase is an entry of a list.
type phrase struct {
	text     string // as written, without the anchor
	words    []string
	anchored bool
}

// tagWords are a tag and the phrases that suggest it.
type tagWords struct {
	tag   string
	words []phrase
}

func (p *phrases) analyzer() *Analyzer {
	a := &Analyzer{}
	for l, entries := range p.lists {
		for _, e := range entries {
			n := a.root.at(e.words)
			n.phrase, n.lists = e.text, n.lists|1<<l
			if e.anchored {
				n.anchored |= 1 << l
			}
		}
	}
	for _, t := range p.tags {
		for _, e := range t.words {
			n := a.root.at(e.words)
			n.tags = append(n.tags, t.tag)
		}
	}
	return a
}

func (n *node) at(words []string) *node {
	for _, w := range words {
		n = n.child(w)
	}
	return n
}

// newPhrase splits an entry into its words.
func newPhrase(entry string) phrase {
	text, anchored := strings.CutPrefix(entry, "^")
	p := phrase{text: strings.TrimSpace(text), anchored: anchored}
	for _, w := range read(p.text).words {
		p.words = append(p.words, w.folded)
	}
	return p
}
