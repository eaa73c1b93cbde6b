package entity

import (
	_ "embed"
	"strings"
	"sync"
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
	names    map[string]listedName // products, places, given names and topics
	most     map[string]int        // how many words the longest of names has that begins with a word
	function map[string]bool
	openers  map[string]bool
	common   map[string]bool
	verbs    map[string]bool
	labels   map[string]bool
	roles    map[string]bool // and titles, for which it is false
	suffixes map[string]bool
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
		names: make(map[string]listedName, 8192), most: make(map[string]int, 8192),
		function: set(functionFile), openers: set(openersFile), common: set(commonFile), verbs: set(verbsFile),
		labels: set(labelsFile),
		roles:  map[string]bool{}, suffixes: set(suffixesFile), markers: map[string]string{},
	}
	for _, of := range nameLists() {
		for entry := range entries(of.file) {
			l.add(entry, of.kind)
		}
	}
	for entry := range entries(rolesFile) {
		title, isTitle := strings.CutSuffix(entry, "!")
		l.roles[folded(title)] = !isTitle
	}
	for file, language := range map[string]string{germanFile: "de", englishFile: "en"} {
		for word := range set(file) {
			l.markers[word] = language
		}
	}
	return l
})

// add adds an entry of a list of names.
func (l *wordLists) add(entry string, kind Kind) {
	name, doubtful := strings.CutSuffix(entry, "?")
	key := Key(name)
	if had, twice := l.names[key]; twice && !had.doubtful && (doubtful || kind == Person) {
		return
	}
	l.names[key] = listedName{name, kind, doubtful}
	first, _, _ := strings.Cut(key, " ")
	words := strings.Count(key, " ") + 1
	for _, r := range key {
		if r >= 0x3000 {
			first, words = string(r), max(words, len([]rune(key)))
			break
		}
	}
	l.most[first] = max(l.most[first], words)
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

// set reads a list of words.
func set(file string) map[string]bool {
	words := map[string]bool{}
	for entry := range entries(file) {
		words[folded(entry)] = true
	}
	return words
}
