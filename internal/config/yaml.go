package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Limits of a config file; the largest sensible one has a few hundred lines.
const (
	maxFile  = 64 << 10 // bytes
	maxDepth = 32       // nested mappings and lists
)

// entry is one setting of the file, its key in dotted form.
type entry struct {
	key  string
	text string   // the scalar as written, without quotes
	list []string // instead of text, for a list
	null bool     // neither text nor list
	line int

	valueLine, valueColumn int // in characters, from 1
}

// readYAML flattens a YAML document into dotted keys, so that "a: {b: 1}" and
// "a.b: 1" are the same. Values stay as they were written: the table knows
// their types, YAML does not. Anchors, aliases, tags, further documents, tabs
// as indentation and a key set twice in any spelling are refused. The name of
// the file is for errors, which begin with name:line.
func readYAML(name string, data []byte) ([]entry, error) {
	r := yamlReader{name: name, seen: map[string]int{}}
	if err := r.checkBytes(data); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, r.syntax(err)
	}
	if err := dec.Decode(&next); err == nil {
		return nil, r.fault(next.Line, "a config file holds one document; remove the others")
	} else if !errors.Is(err, io.EOF) {
		return nil, r.syntax(err)
	}
	return r.entries, r.document(doc.Content[0])
}

type yamlReader struct {
	name    string
	lines   int
	seen    map[string]int // line of each dotted key and group
	entries []entry
}

func (r *yamlReader) fault(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", r.name, line, fmt.Errorf(format, args...))
}

func (r *yamlReader) checkBytes(data []byte) error {
	if len(data) > maxFile {
		return fmt.Errorf("%s is larger than the %d KiB a config file may have", r.name, maxFile>>10)
	}
	for text := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		r.lines++
		line := r.lines
		indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
		switch {
		case !utf8.Valid(text):
			return r.fault(line, "not valid UTF-8; save the file as UTF-8")
		case bytes.ContainsRune(indent, '\t'):
			return r.fault(line, "indented with a tab; indent with spaces")
		case bytes.ContainsFunc(text, forbidden):
			return r.fault(line, "holds a control character; remove it")
		}
	}
	return nil
}

// forbidden tells the characters that YAML does not allow as they are (section
// 5.1 of YAML 1.2), which the parser would refuse without a line number.
func forbidden(c rune) bool {
	return unicode.IsControl(c) && !strings.ContainsRune("\t\n\r\u0085", c) || c == '\ufeff' || c == '\ufffe' || c == '\uffff'
}

// syntax moves the line number of a parser's error to the front, as in f:3.
func (r *yamlReader) syntax(err error) error {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1 // the parser leaves out the number of the first line
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		number, what, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, msg = n, what
			if countsFromZero(what) {
				line = min(n+1, r.lines)
			}
		}
	}
	if strings.HasPrefix(msg, "unknown anchor") {
		return fmt.Errorf("%s: aliases (*name) are not read: %s", r.name, msg)
	}
	return r.fault(line, "not valid YAML: %s", msg)
}

// countsFromZero tells the messages of yaml.v3's parser, whose line numbers
// are one less than those of its scanner.
func countsFromZero(msg string) bool {
	what, ok := strings.CutPrefix(msg, "did not find expected ")
	return ok && slices.Contains([]string{"node content", "key", "'-' indicator", "',' or ']'", "',' or '}'"}, what)
}

func (r *yamlReader) document(top *yaml.Node) error {
	if isNull(top) {
		return nil
	}
	if err := r.plain(top, 0); err != nil {
		return err
	}
	if top.Kind != yaml.MappingNode {
		return r.fault(top.Line, "a config file holds key: value lines")
	}
	return r.mapping(top, "", 0)
}

// mapping adds the settings of one mapping, going on after a bad one so that
// all faults show at once.
func (r *yamlReader) mapping(m *yaml.Node, prefix string, depth int) error {
	var faults []error
	for i := 0; i < len(m.Content); i += 2 {
		faults = append(faults, r.pair(m.Content[i], m.Content[i+1], prefix, depth+1))
	}
	return errors.Join(faults...)
}

func (r *yamlReader) pair(name, val *yaml.Node, prefix string, depth int) error {
	if err := cmp.Or(r.plain(name, depth), r.plain(val, depth)); err != nil {
		return err
	}
	if name.Kind != yaml.ScalarNode || name.Value == "" {
		return r.fault(name.Line, "a key must be a name such as decay.model")
	}
	e := entry{key: prefix + name.Value, line: name.Line, valueLine: val.Line, valueColumn: val.Column}
	if first, twice := r.seen[e.key]; twice {
		return r.fault(e.line, "%s stands here and on line %d; remove one", e.key, first)
	}
	r.seen[e.key] = e.line
	switch {
	case isNull(val), val.Kind == yaml.MappingNode && len(val.Content) == 0:
		e.null = true
	case val.Kind == yaml.MappingNode:
		return r.mapping(val, e.key+".", depth)
	case val.Kind == yaml.SequenceNode:
		list, err := r.sequence(val, depth)
		if err != nil {
			return err
		}
		e.list = list
	default:
		e.text = val.Value
	}
	r.entries = append(r.entries, e)
	return nil
}

func (r *yamlReader) sequence(s *yaml.Node, depth int) ([]string, error) {
	list := []string{}
	for _, item := range s.Content {
		if err := r.plain(item, depth+1); err != nil {
			return nil, err
		}
		if item.Kind != yaml.ScalarNode || isNull(item) {
			return nil, r.fault(item.Line, "a list holds plain values only")
		}
		list = append(list, item.Value)
	}
	return list, nil
}

// plain refuses what a list of settings has no use for.
func (r *yamlReader) plain(n *yaml.Node, depth int) error {
	switch {
	case depth > maxDepth:
		return r.fault(n.Line, "nested deeper than %d levels", maxDepth)
	case n.Kind == yaml.AliasNode:
		return r.fault(n.Line, "aliases (*name) are not read; write the value again")
	case n.Anchor != "":
		return r.fault(n.Line, "anchors (&name) are not read; remove it")
	case n.Style&yaml.TaggedStyle != 0:
		return r.fault(n.Line, "tags (!name) are not read; remove it")
	}
	return nil
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}
