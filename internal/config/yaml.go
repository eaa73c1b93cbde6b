package config

import (
	"bytes"
	"emberd/internal/text"
	"errors"
	"fmt"
	"io"

	"gopkg.in/yaml.v3"
)

// MaxFile bounds a config file in bytes; the largest sensible one has a few hundred lines.
const MaxFile = 64 << 10

// entry is one setting of the file, its key in dotted form.
type entry struct {
	key  string
	text string   // the scalar as written, without quotes
	list []string // instead of text, for a list
	null bool     // neither text nor list
	line int

	valueLine, valueColumn int // in characters, from 1
}

// readYAML flattens a YAML document into dotted keys, so that "a: {b: 1}" and "a.b: 1" are the
// same. Values stay as they were written: the table knows their types, YAML does not. Aliases,
// further documents and a key set twice in any spelling are refused. The name of the file is for
// errors, which begin with it, and with the line if that is known.
func readYAML(name string, data []byte) ([]entry, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%s is too large for a config file (limit %d KiB)", name, MaxFile>>10)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && isNull(doc.Content[0]) {
		return nil, nil
	}
	r := yamlReader{name: name, seen: map[string]int{}}
	if err != nil {
		return nil, r.syntax(err)
	}
	if err := dec.Decode(&next); err == nil {
		return nil, r.fault(&next, "a config file must contain only one YAML document; remove the others")
	} else if !errors.Is(err, io.EOF) {
		return nil, r.syntax(err)
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, r.fault(top, "a config file must consist of key: value lines")
	}
	return r.entries, errors.Join(r.mapping(top, "")...)
}

type yamlReader struct {
	name    string
	seen    map[string]int // line of each dotted key and group
	entries []entry
}

func (r *yamlReader) fault(at *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", r.name, at.Line, fmt.Errorf(format, args...))
}

var yamlError = text.Pattern(`^yaml: (?:line (\d+): )?`)

// syntax moves the line number of a parser's error to the front, as in f:3.
func (r *yamlReader) syntax(err error) error {
	place := r.name
	if line := yamlError().FindStringSubmatch(err.Error()); line != nil && line[1] != "" {
		place += ":" + line[1]
	}
	return fmt.Errorf("%s: invalid YAML: %s", place, yamlError().ReplaceAllString(err.Error(), ""))
}

// mapping adds the settings of one mapping and continues after a bad one, so that all faults are
// reported at once.
func (r *yamlReader) mapping(m *yaml.Node, prefix string) (faults []error) {
	for i := 0; i < len(m.Content); i += 2 {
		faults = append(faults, r.pair(m.Content[i], m.Content[i+1], prefix))
	}
	return faults
}

func (r *yamlReader) pair(name, val *yaml.Node, prefix string) error {
	if name.Kind != yaml.ScalarNode || name.Value == "" {
		return r.fault(name, "a key must be a name such as decay.model")
	}
	e := entry{key: prefix + name.Value, line: name.Line, valueLine: val.Line, valueColumn: val.Column}
	if first, twice := r.seen[e.key]; twice {
		return r.fault(name, "%s is set here and on line %d; remove one of the lines", e.key, first)
	}
	r.seen[e.key] = e.line
	switch {
	case val.Kind == yaml.AliasNode:
		return r.fault(val, "aliases (*name) are not supported; repeat the value instead")
	case isNull(val), val.Kind == yaml.MappingNode && len(val.Content) == 0:
		e.null = true
	case val.Kind == yaml.MappingNode:
		return errors.Join(r.mapping(val, e.key+".")...)
	case val.Kind == yaml.SequenceNode:
		e.list = []string{}
		for _, item := range val.Content {
			if item.Kind != yaml.ScalarNode || isNull(item) {
				return r.fault(item, "a list can contain only plain values")
			}
			e.list = append(e.list, item.Value)
		}
	default:
		e.text = val.Value
	}
	r.entries = append(r.entries, e)
	return nil
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}
