package query

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxOperators bounds what every document has to be judged by.
const maxOperators = 64

// Parse reads a query as of now, whose zone decides when a day begins. The caller
// bounds the length of text; Parse takes any, and text that is not UTF-8. Errors
// are sentences for the user who typed the query, and quote it.
func Parse(text string, now time.Time) (Query, error) {
	p := parser{text: text, now: now, closing: make(map[rune]reach)}
	for at := p.space(0); at < len(text); at = p.space(at) {
		end, err := p.item(at)
		if err != nil {
			return Query{}, err
		}
		at = end
	}
	p.query.Words = strings.Join(p.words, " ")
	return p.query, nil
}

// parser goes through a text once, item by item. An item begins at the start of
// the text, after white space, or right after the end of the item before it.
//
// String relies on this: what makes an item a word is in the word itself, or else
// that nothing in all the text behind it closes it. So words are still words when
// the operators between them are gone.
type parser struct {
	text    string
	now     time.Time
	query   Query
	words   []string
	filters int
	closing map[rune]reach // by what opens
}

// kind is what an item is.
type kind string

const (
	word     kind = "word"
	phrase   kind = "phrase"
	property kind = "property"

	// Named as they are typed.
	tag    kind = "tag"
	path   kind = "path"
	file   kind = "file"
	before kind = "before"
	after  kind = "after"
	entity kind = "entity"
)

// item is one piece of a query and where it ends in the text.
type item struct {
	kind  kind
	key   string // of a property
	value string
	end   int
}

// item reads what stands at at, which is not a space, and returns its end.
func (p *parser) item(at int) (end int, err error) {
	start, not := at, false
	if r, n := p.sign(at); r == '-' {
		not, at = true, at+n
	}
	it, err := p.scan(at)
	if err != nil {
		return 0, err
	}
	switch {
	case it.kind == word && not && excludable(it.value):
		it.kind = phrase
	case it.kind == word:
		it.value = p.text[start:it.end]
	}
	if it.kind == word {
		p.words = append(p.words, it.value)
		p.query.Prefix = it.end == len(p.text) && endsInside(it.value)
		return it.end, nil
	}
	p.query.Prefix = false
	return it.end, p.add(it, not)
}

// excludable tells the word of -word from the rest of an arrow, a rule or a flag.
func excludable(v string) bool {
	r, _ := utf8.DecodeRuneInString(v)
	return twin(r) != '-' && strings.ContainsFunc(v, func(r rune) bool {
		return unicode.In(r, unicode.L, unicode.N, unicode.So)
	})
}

// endsInside reports whether a word could continue.
func endsInside(v string) bool {
	r, _ := utf8.DecodeLastRuneInString(v)
	return r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// add puts an item that is not a word into the query.
func (p *parser) add(it item, not bool) error {
	if p.filters++; p.filters > maxOperators {
		return fmt.Errorf("too many operators, phrases and exclusions in the query (limit %d); remove some",
			maxOperators)
	}
	to := &p.query.Must
	if not {
		to = &p.query.Not
	}
	switch it.kind {
	case phrase:
		to.Phrases = append(to.Phrases, it.value)
	case tag:
		to.Tags = append(to.Tags, it.value)
	case path:
		to.Paths = append(to.Paths, it.value)
	case file:
		to.Files = append(to.Files, it.value)
	case entity:
		to.Entities = append(to.Entities, it.value)
	case property:
		to.Properties = append(to.Properties, Property{Key: it.key, Value: it.value})
	case before, after:
		return p.bound(it, not)
	}
	return nil
}

// scan reads an item without its minus sign.
func (p *parser) scan(at int) (item, error) {
	r, _ := p.sign(at)
	switch {
	case p.opens(at) != "":
		return p.phrase(at), nil
	case r == '[':
		return p.property(at)
	case r == '#':
		return p.hashtag(at), nil
	}
	if k, value := p.operator(at); k != "" {
		return p.operation(k, at, value)
	}
	return p.word(at, at), nil
}

// word takes the text from at up to the first white space at or after from.
func (p *parser) word(at, from int) item {
	end := len(p.text)
	if n := strings.IndexFunc(p.text[from:], unicode.IsSpace); n >= 0 {
		end = from + n
	}
	return item{kind: word, value: p.text[at:end], end: end}
}

// phrase reads a text in quotes. One without content, or one that is never
// closed, is a word.
func (p *parser) phrase(at int) item {
	value, end, ok := p.quoted(at)
	switch {
	case !ok:
		return p.word(at, at)
	case value == "":
		return p.word(at, end)
	}
	return item{kind: phrase, value: value, end: end}
}

// hashtag reads #x. As in Obsidian, a tag has no punctuation but _, - and /, and
// is not only a number.
func (p *parser) hashtag(at int) item {
	it := p.word(at, at)
	_, n := p.sign(at)
	name := it.value[n:]
	if strings.ContainsFunc(name, isNoTag) || !strings.ContainsFunc(name, isTagLetter) {
		return it
	}
	return item{kind: tag, value: tag.trim(name), end: it.end}
}

func isTagLetter(r rune) bool {
	return unicode.In(r, unicode.L, unicode.So)
}

func isNoTag(r rune) bool {
	// Format characters and modifiers are parts of emoji.
	emoji := r > unicode.MaxASCII && unicode.In(r, unicode.Sk, unicode.Cf)
	return r != '_' && r != '-' && r != '/' && !emoji && !isTagLetter(r) && !unicode.In(r, unicode.M, unicode.N)
}

// operator recognises the name of an operator and its colon. It returns where
// the value begins, or "" when there is none.
func (p *parser) operator(at int) (k kind, end int) {
	n := strings.IndexFunc(p.text[at:], func(r rune) bool { return r < 'A' || r > 'z' })
	if n < 0 {
		return "", 0
	}
	r, size := p.sign(at + n)
	switch k = kind(strings.ToLower(p.text[at : at+n])); k {
	case tag, path, file, before, after, entity:
		if r == ':' {
			return k, at + n + size
		}
	}
	return "", 0
}

// operation reads the value at from of the operator at at.
func (p *parser) operation(k kind, at, from int) (item, error) {
	value, end, ok := p.quoted(from)
	if !ok {
		bare := p.word(from, from)
		if p.opens(from) != "" || strings.HasPrefix(bare.value, "//") {
			return p.word(at, at), nil
		}
		value, end = bare.value, bare.end
	}
	it := item{kind: k, value: k.trim(value), end: end}
	if it.value == "" {
		return item{}, k.missing()
	}
	return it, nil
}

// trim takes off what may stand around a value without being part of it.
func (k kind) trim(v string) string {
	slash := func(r rune) bool { return unicode.IsSpace(r) || r == '/' }
	switch k {
	case tag:
		v = strings.TrimLeftFunc(v, func(r rune) bool { return slash(r) || twin(r) == '#' })
		return strings.TrimRightFunc(v, slash)
	case path:
		v = strings.TrimLeftFunc(v, slash)
	}
	return strings.TrimSpace(v)
}

// missing is the error for an operator without a value.
func (k kind) missing() error {
	example := map[kind]string{
		tag: "tag:work", path: "path:Projects/", file: "file:plan", before: "before:2026-03", after: "after:7d",
		entity: `entity:"Ada Lovelace"`,
	}[k]
	return fmt.Errorf("%[1]s: has no value; write a value directly after the colon, "+
		"such as %[2]s; to search for \"%[1]s:\" as text, put it in quotes", k, example)
}

// sign returns the rune at at, full-width signs as their ASCII twins, and its size.
func (p *parser) sign(at int) (rune, int) {
	r, n := utf8.DecodeRuneInString(p.text[at:])
	return twin(r), n
}

// twin returns the ASCII sign that a full-width one of the language stands for.
func twin(r rune) rune {
	switch r {
	case '：':
		return ':'
	case '＃':
		return '#'
	case '－':
		return '-'
	}
	return r
}

// space returns the end of the white space at at.
func (p *parser) space(at int) int {
	return len(p.text) - len(strings.TrimLeftFunc(p.text[at:], unicode.IsSpace))
}

// ends reports whether an item may end at at.
func (p *parser) ends(at int) bool {
	r, _ := utf8.DecodeRuneInString(p.text[at:])
	return at == len(p.text) || unicode.IsSpace(r)
}
