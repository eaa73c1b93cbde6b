package entity

import (
	_ "embed"
	"iter"
	"slices"
	"strings"
	"sync"

	"emberd/internal/text"
)

var (
	//go:embed lists/common.txt
	commonFile string
	//go:embed lists/english.txt
	englishFile string
	//go:embed lists/function.txt
	functionFile string
	//go:embed lists/german.txt
	germanFile string
	//go:embed lists/given.txt
	givenFile string
	//go:embed lists/labels.txt
	labelsFile string
	//go:embed lists/openers.txt
	openersFile string
	//go:embed lists/organisations.txt
	organisationsFile string
	//go:embed lists/places.txt
	placesFile string
	//go:embed lists/products.txt
	productsFile string
	//go:embed lists/roles.txt
	rolesFile string
	//go:embed lists/suffixes.txt
	suffixesFile string
	//go:embed lists/terms.txt
	termsFile string
	//go:embed lists/verbs.txt
	verbsFile string
)

// wordLists are the embedded lists, by the key of each entry.
type wordLists struct {
	keys     *text.Dictionary // of products, places, given names and topics
	names    []listedName     // by the number of the key
	first    *text.Dictionary // the words that keys begin with
	most     []uint8          // how many words the longest key has, by the number of the word it begins with
	function *text.Dictionary
	openers  *text.Dictionary
	common   *text.Dictionary
	verbs    *text.Dictionary
	labels   *text.Dictionary
	roles    map[string]bool // and titles, for which it is false
	suffixes *text.Dictionary
	markers  map[string]string // "de" or "en"
}

// listedName is a name of a list.
type listedName struct {
	name     string // as people write it
	kind     Kind
	doubtful bool // it is an everyday word as well
}

// nameLists are the files of names by their kind. A name of two lists is what the later says,
// but a given name that is a product or place for certain.
func nameLists() []struct {
	file string
	kind Kind
} {
	return []struct {
		file string
		kind Kind
	}{{termsFile, Topic}, {placesFile, Place}, {productsFile, Product}, {organisationsFile, Organisation},
		{givenFile, Person}}
}

var lists = sync.OnceValue(func() *wordLists {
	l := &wordLists{
		function: set(functionFile), openers: set(openersFile), common: set(commonFile), verbs: set(verbsFile),
		labels: set(labelsFile),
		roles:  map[string]bool{}, suffixes: set(suffixesFile), markers: map[string]string{},
	}
	names := make(map[string]listedName, 8192)
	for _, of := range nameLists() {
		for entry := range entries(of.file) {
			add(names, entry, of.kind)
		}
	}
	l.pack(names)
	for entry := range entries(rolesFile) {
		title, isTitle := strings.CutSuffix(entry, "!")
		l.roles[folded(title)] = !isTitle
	}
	for file, language := range map[string]string{germanFile: "de", englishFile: "en"} {
		for word := range foldedEntries(file) {
			l.markers[word] = language
		}
	}
	return l
})

// add adds an entry of a list of names.
func add(names map[string]listedName, entry string, kind Kind) {
	name, doubtful := strings.CutSuffix(entry, "?")
	key := Key(name)
	if had, twice := names[key]; twice && !had.doubtful && (doubtful || kind == Person) {
		return
	}
	names[key] = listedName{name, kind, doubtful}
}

// pack sets the names in a form that takes little memory, since they stay for good.
func (l *wordLists) pack(names map[string]listedName) {
	most := make(map[string]uint8, len(names))
	l.keys = text.NewDictionary(func(yield func(string) bool) {
		for key, name := range names {
			l.names = append(l.names, name)
			first, words := beginning(key)
			most[first] = max(most[first], uint8(words))
			if !yield(key) {
				return
			}
		}
	})
	l.names = slices.Clip(l.names)
	l.first = text.NewDictionary(func(yield func(string) bool) {
		for first, words := range most {
			l.most = append(l.most, words)
			if !yield(first) {
				return
			}
		}
	})
}

// beginning returns the first word of a key and how many words it has.
func beginning(key string) (first string, words int) {
	first, _, _ = strings.Cut(key, " ")
	words = strings.Count(key, " ") + 1
	for _, r := range key {
		if r >= 0x3000 {
			return string(r), max(words, len([]rune(key)))
		}
	}
	return first, words
}

// name returns the listed name of a key, false if there is none.
func (l *wordLists) name(key string) (name listedName, ok bool) {
	n, ok := l.keys.Number(key)
	if !ok {
		return name, false
	}
	return l.names[n], true
}

// longest returns how many words the longest listed name has that begins with a word, 0 if there is none.
func (l *wordLists) longest(first string) int {
	n, ok := l.first.Number(first)
	if !ok {
		return 0
	}
	return int(l.most[n])
}

// entries yields the entries of a list: one a line, # begins a comment.
func entries(file string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(file) {
			entry, _, _ := strings.Cut(line, "#")
			if entry = strings.TrimSpace(entry); entry != "" && !yield(entry) {
				return
			}
		}
	}
}

// foldedEntries yields the entries of a list in small letters.
func foldedEntries(file string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for entry := range entries(file) {
			if !yield(folded(entry)) {
				return
			}
		}
	}
}

// set reads a list of words.
func set(file string) *text.Dictionary { return text.NewDictionary(foldedEntries(file)) }
