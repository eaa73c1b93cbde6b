package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// blanks is JSON's white space.
const blanks = " \t\r\n"

// maxDepth bounds how deep values may lie in one another. encoding/json has the same.
const maxDepth = 10_000

// mark is the byte order mark in UTF-8.
func mark() []byte { return []byte("\xef\xbb\xbf") }

// node is a value in a text, from its first byte to behind its last one.
type node struct {
	start, end int
	object     bool
	members    []member // of an object
}

// member is a key and its value.
type member struct {
	name  string
	key   int // where it begins
	value *node
	comma int // behind the value, -1 for none
}

type parser struct {
	text    []byte
	at      int
	dialect Dialect
	depth   int
}

// parse returns the object that a text is, nil for a text without any value.
func parse(text []byte, d Dialect) (*node, error) {
	p := &parser{text: text, dialect: d}
	if bytes.HasPrefix(text, mark()) {
		p.at = len(mark())
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at == len(text) {
		return nil, nil
	}
	root, err := p.value()
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at < len(text) {
		return nil, p.fault("nothing may follow the value")
	}
	if !root.object {
		return nil, fmt.Errorf("%s: the text is no object", place(text, root.start))
	}
	return root, nil
}

func (p *parser) fault(says string) error {
	if p.at >= len(p.text) {
		return fmt.Errorf("%s: the text ends too early", place(p.text, len(p.text)))
	}
	return fmt.Errorf("%s: %s", place(p.text, p.at), says)
}

// next is the byte here, 0 at the end.
func (p *parser) next() byte {
	if p.at >= len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// space skips white space and comments.
func (p *parser) space() error {
	for {
		p.at = len(p.text) - len(bytes.TrimLeft(p.text[p.at:], blanks))
		if p.next() != '/' {
			return nil
		}
		if err := p.comment(); err != nil {
			return err
		}
	}
}

func (p *parser) comment() error {
	if p.dialect == Strict {
		return p.fault("this program reads no comments here")
	}
	rest := p.text[p.at:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			p.at += end + 1
		} else {
			p.at = len(p.text)
		}
	case bytes.HasPrefix(rest, []byte("/*")):
		end := bytes.Index(rest[2:], []byte("*/"))
		if end < 0 {
			return p.fault("the comment has no end")
		}
		p.at += end + 4
	default:
		return p.fault("a single / begins nothing")
	}
	return nil
}

func (p *parser) value() (*node, error) {
	switch p.next() {
	case '{', '[':
		if p.depth++; p.depth > maxDepth {
			return nil, p.fault("the values lie too deep in one another")
		}
		defer func() { p.depth-- }()
		return p.list(p.next() == '{')
	case '"':
		n := &node{start: p.at}
		_, err := p.str()
		n.end = p.at
		return n, err
	}
	return p.word()
}

// list reads an object or an array.
func (p *parser) list(object bool) (*node, error) {
	n := &node{start: p.at, object: object}
	closing := map[bool]byte{true: '}', false: ']'}[object]
	p.at++
	for complete := true; ; { // unless a comma was the last
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.next() == closing {
			if n.end = p.at + 1; !complete && p.dialect == Strict {
				return nil, p.fault("a comma may not stand before the end")
			}
			p.at++
			return n, nil
		}
		m, err := p.element(object)
		if err != nil {
			return nil, err
		}
		more := p.next() == ','
		if more {
			m.comma = p.at
			p.at++
		} else if p.next() != closing {
			return nil, p.fault("a comma is missing")
		}
		complete = !more
		n.members = append(n.members, m)
	}
}

// element reads what stands between two commas, and the space behind it.
func (p *parser) element(object bool) (m member, err error) {
	m.key, m.comma = p.at, -1
	if object {
		if p.next() != '"' {
			return m, p.fault("a name in double quotes is missing")
		}
		if m.name, err = p.str(); err != nil {
			return m, err
		}
		if err = p.space(); err != nil {
			return m, err
		}
		if p.next() != ':' {
			return m, p.fault("a colon is missing")
		}
		p.at++
		if err = p.space(); err != nil {
			return m, err
		}
	}
	if m.value, err = p.value(); err != nil {
		return m, err
	}
	return m, p.space()
}

func (p *parser) str() (s string, err error) {
	start := p.at
	for at := start + 1; at < len(p.text); at++ {
		switch p.text[at] {
		case '\\':
			at++
		case '"':
			if json.Unmarshal(p.text[start:at+1], &s) != nil {
				return "", p.fault("the text in double quotes is not well-formed")
			}
			p.at = at + 1
			return s, nil
		}
	}
	return "", p.fault("the double quote has no end")
}

// word reads a number, true, false or null.
func (p *parser) word() (*node, error) {
	rest := p.text[p.at:]
	end := bytes.IndexAny(rest, blanks+",]}/:\"{[")
	if end < 0 {
		end = len(rest)
	}
	if !json.Valid(rest[:end]) {
		return nil, p.fault("a value is missing or not well-formed")
	}
	n := &node{start: p.at, end: p.at + end}
	p.at = n.end
	return n, nil
}
