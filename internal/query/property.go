package query

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// property reads [key] or [key:value]. Anything else in brackets, or with more
// text right behind them, is one word; a bracket that is never closed begins one.
func (p *parser) property(at int) (item, error) {
	it := item{kind: property}
	key, i, ok := p.key(at + 1)
	r, n := p.sign(i)
	valued := ok && r == ':'
	if valued {
		it.value, i, ok = p.propertyValue(i + n)
	}
	closed := p.bracket(i)
	if closed < 0 {
		return p.word(at, i), nil
	}
	it.key, it.end = key, closed+1
	if !ok || p.space(i) < closed || !p.ends(it.end) {
		return p.word(at, closed), nil
	}
	if valued && it.value == "" {
		return item{},
			fmt.Errorf("[%s:] has no value; write [key:value], or [key] for any "+
				"value; to search for the text itself, put the text in quotes", clip(key))
	}
	return it, nil
}

// key reads the key of a property: in quotes, or one that isKey.
func (p *parser) key(at int) (key string, end int, ok bool) {
	if key, end, ok = p.quoted(at); ok {
		return key, end, key != ""
	}
	key = p.text[at:]
	if n := strings.IndexFunc(key, isNoKey); n >= 0 {
		key = key[:n]
	}
	return key, at + len(key), isKey(key)
}

// isKey reports whether a property of that name needs no quotes: [1] and [ ] are
// more often text than properties.
func isKey(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return (r == '_' || unicode.IsLetter(r)) && !strings.ContainsFunc(s, isNoKey)
}

func isNoKey(r rune) bool {
	return r != '_' && r != '-' && r != '.' && !unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// propertyValue reads what stands between a property's colon and its bracket,
// either in quotes or all of it. A second colon is Dataview's, of an inline field.
func (p *parser) propertyValue(at int) (value string, end int, ok bool) {
	if r, n := p.sign(at); r == ':' {
		at += n
	}
	from := p.space(at)
	if value, end, ok = p.quoted(from); ok {
		return value, end, true
	}
	closed := p.bracket(at)
	if closed < 0 || p.opens(from) != "" {
		return "", at, false
	}
	return strings.TrimSpace(p.text[at:closed]), closed, true
}
