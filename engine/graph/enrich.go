package graph

import (
	"context"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/internal/entity"
	"emberd/internal/secret"
	"emberd/internal/words"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// Enriches reports whether emberd should set fields that a save leaves out.
func (e *Graph) Enriches(req *op.SaveRequest) bool {
	on := e.Opt.Enrich
	core.Assign(&on, req.Enrich)
	return on && (req.Entities == nil || req.Strength == nil)
}

// Enrich sets the fields that a save leaves out, by its content.
func (e *Graph) Enrich(m *memory.Memory, req *op.SaveRequest) {
	if !e.Enriches(req) {
		return
	}
	if req.Entities == nil {
		m.Entities = e.EntitiesOf(m.Content, e.Opt.DetectSecrets && !req.AllowSecret)
		m.EntitiesFound = len(m.Entities) > 0
	}
	if req.Strength == nil && !m.DataOnly() {
		m.Strength = e.Opt.Phrases.Strength(m.Content, len(m.Entities))
		m.StrengthFound = m.Strength != 1
	}
}

// EntitiesOf returns EntitiesIn for a stored text. It returns nothing for a text with a credential
// that the user allowed, because an entity list must not show it. clean is true if a scan has
// found none.
func (e *Graph) EntitiesOf(content string, clean bool) []string {
	if !clean && len(secret.Scan(content)) > 0 {
		return nil
	}
	return e.EntitiesIn(content)
}

// EntitiesIn returns the entities in a text, with the spelling of known names.
func (e *Graph) EntitiesIn(text string) []string { return e.entitiesIn(text, e.Names) }

func (e *Graph) entitiesIn(text string, names *KnownNames) []string {
	return entity.Find(text,
		entity.Options{Known: names.Spelling, KnownLength: names.Longest, Guessed: names.isGuessed,
			Small: e.mostlySmall})
}

// A word that at least frequentLeast memories have, and one in frequentShare, is looked up in
// frequentSample of them.
const (
	frequentLeast  = 5
	frequentShare  = 50
	frequentSample = 20
)

// mostlySmall reports whether a word is frequent in the store and mostly written in small letters.
// Before the words of the store are indexed, none is.
func (e *Graph) mostlySmall(word string) bool {
	terms := e.Text.Query(word)
	if len(terms) != 1 {
		return false
	}
	all, with := e.Stm.Frequencies([]string{terms[0].Text})
	if with[0] < frequentLeast || with[0] < all/frequentShare {
		return false
	}
	if known, ok := e.Names.small.Load(word); ok && known.(sampled).holds(with[0]) {
		return known.(sampled).small
	}
	found := e.Stm.Search(stm.Query{Terms: []words.QueryTerm{{Term: terms[0].Text, Weight: 1}},
		Limit: frequentSample, Enough: frequentSample})
	small, capital := 0, 0
	for _, m := range found.Matches {
		s, c := entity.Capitals(m.Row.Content(), word)
		small, capital = small+s, capital+c
	}
	e.Names.small.Store(word, sampled{with[0], small > capital})
	return small > capital
}

// sampled is whether a word was mostly written in small letters when so many memories had it.
type sampled struct {
	with  int
	small bool
}

// holds reports whether that is still so once with memories have the word: until they are a quarter more, or fewer.
func (s sampled) holds(with int) bool { return s.with <= with && with <= s.with+s.with/4 }

// Spelled returns the entities of a memory as people write them. Those that were found are stored in small
// letters.
func Spelled(m *memory.Memory) []string {
	if !m.EntitiesFound {
		return m.Entities
	}
	return entity.Written(m.Content, m.Entities)
}

// MaxNames is how many names are known, at about 200 bytes each. Concurrent saves may exceed
// it a little.
const MaxNames = 50_000

// KnownNames are the names of entities in memories and notes. A name stays known until the
// next start, even if no text has it any more; it is only ever found in a text that has it. A
// save looks up hundreds of names, and few of them are new, so reads take no lock.
type KnownNames struct {
	byKey sync.Map // knownName by [entities.Key]
	most  sync.Map // by [entity.FirstPart]: how many bytes the longest key has that begins so
	small sync.Map // sampled by key, of words that at least one in frequentShare memories has
	Count atomic.Int64
}

// knownName is the spelling of a name, and whether a user or a note gave it.
type knownName struct {
	name  string
	given bool
}

// Spelling returns the known spelling of a name for [entities.Options].
func (n *KnownNames) Spelling(key string) (name string, ok bool) {
	known, ok := n.byKey.Load(key)
	if !ok {
		return "", false
	}
	return known.(knownName).name, true
}

// Longest returns how many bytes the longest key has, or more, that begins with a part, 0 if there is none.
func (n *KnownNames) Longest(first string) int {
	most, ok := n.most.Load(first)
	if !ok {
		return 0
	}
	return most.(int)
}

// reach makes Longest return enough for a key.
func (n *KnownNames) reach(key string) {
	first := entity.FirstPart(key)
	for {
		most, there := n.most.LoadOrStore(first, len(key))
		if !there || most.(int) >= len(key) || n.most.CompareAndSwap(first, most, len(key)) {
			return
		}
	}
}

// isGuessed reports whether a name was found in a text and never given.
func (n *KnownNames) isGuessed(key string) bool {
	known, ok := n.byKey.Load(key)
	return ok && !known.(knownName).given
}

// Learn adds names. A given name replaces a found one, and the first given spelling stays.
func (n *KnownNames) Learn(given bool, all ...string) {
	for _, name := range all {
		if key := entity.Key(name); key != "" {
			n.put(key, knownName{name, given})
		}
	}
}

// GivenNames returns the names that were given, and none that was only found.
func (n *KnownNames) GivenNames() *KnownNames {
	names := new(KnownNames)
	n.byKey.Range(func(key, value any) bool {
		if known := value.(knownName); known.given {
			names.put(key.(string), known)
		}
		return true
	})
	return names
}

// FindAgain returns the entities of a stored text, as EntitiesOf does, by other known names.
func (e *Graph) FindAgain(content string, names *KnownNames) []string {
	if len(secret.Scan(content)) > 0 {
		return nil
	}
	return e.entitiesIn(content, names)
}

// KeepFound forgets the names that were only found and that others lack.
func (n *KnownNames) KeepFound(others *KnownNames) {
	n.byKey.Range(func(key, value any) bool {
		if _, ok := others.byKey.Load(key); !ok && !value.(knownName).given &&
			n.byKey.CompareAndDelete(key, value) {
			n.Count.Add(-1)
		}
		return true
	})
}

func (n *KnownNames) put(key string, c knownName) {
	had, known := n.byKey.Load(key)
	switch {
	case known && c.given && !had.(knownName).given:
		n.byKey.CompareAndSwap(key, had, c)
	case !known && n.Count.Load() < MaxNames:
		n.reach(key) // before it is known
		if _, there := n.byKey.LoadOrStore(key, c); !there {
			n.Count.Add(1)
		}
	}
}

// LearnFrom adds the entities of memories; a nil row is not live.
func (n *KnownNames) LearnFrom(rows ...*stm.Row) {
	for _, r := range rows {
		if r == nil {
			continue
		}
		if all := r.Entities(); len(all) > 0 {
			n.Learn(!r.EntitiesFound(), all...)
		}
	}
}

// LearnNote adds the names of a note. The title of a memory's note is the beginning of a text,
// so it is not a name.
func (n *KnownNames) LearnNote(note *vault.Note) {
	if note.MemoryID != "" {
		return
	}
	for _, name := range append([]string{note.Title, stemOf(note.Path)}, note.Aliases...) {
		if called, err := memory.NormalizeEntity(name); err == nil {
			n.Learn(true, called)
		}
	}
}

func stemOf(notePath string) string {
	return strings.TrimSuffix(path.Base(notePath), path.Ext(notePath))
}

// LearnNames adds the names of all memories and notes at the start.
func (e *Graph) LearnNames(ctx context.Context) {
	for r := range e.Stm.Rows() {
		if ctx.Err() != nil {
			return
		}
		e.Names.LearnFrom(r)
	}
	if e.Notes.Vault != nil {
		index, _ := e.Notes.Vault.Current()
		e.Names.learnIndexed(index, e.Notes.Vault.Carriers)
	}
}

// learnIndexed adds the file names of notes that were indexed before the start.
func (n *KnownNames) learnIndexed(index *ltm.Index, of *notes.NoteIDs) {
	for notePath := range index.Known() {
		if _, carries := of.At(notePath); carries {
			continue
		}
		if called, err := memory.NormalizeEntity(stemOf(notePath)); err == nil {
			n.Learn(true, called)
		}
	}
}
