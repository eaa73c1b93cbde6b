package intent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"emberd/internal/text/spelling"
	"emberd/memory"
)

// Bounds of a file of phrases.
const (
	maxFile    = 64 << 10 // bytes
	maxPhrases = 2000
	maxWords   = 12 // in a phrase
	maxLists   = 100
)

// parse reads a file of phrases, through the parser's nodes so that every fault has
// its line.
func parse(name string, data []byte) (*phrases, error) {
	switch {
	case len(data) > maxFile:
		return nil, fmt.Errorf("%s is larger than the %d KiB a file of phrases may have", name, maxFile>>10)
	case !utf8.Valid(data):
		return nil, fmt.Errorf("%s is not valid UTF-8; save the file as UTF-8", name)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return &phrases{}, nil
	} else if err != nil {
		return nil, notYAML(name, err)
	}
	if err := dec.Decode(&next); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s contains more than one YAML document; remove all but the first", name)
	}
	r := reader{name: name, into: &phrases{}, seen: map[string]int{}}
	r.top(doc.Content[0])
	return r.into, errors.Join(r.faults...)
}

func notYAML(name string, err error) error {
	return fmt.Errorf("%s is not valid YAML: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))
}

type reader struct {
	name   string
	into   *phrases
	count  int
	seen   map[string]int // lines of the lists
	faults []error
}

func (r *reader) fault(line int, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("%s:%d: %s", r.name, line, fmt.Sprintf(format, args...)))
}

func (r *reader) top(n *yaml.Node) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n.Line, "a file of phrases holds lists by name, such as save: {commands: [...]}")
		return
	}
	r.lists(n, "")
}

// lists reads the lists of a mapping; a group of lists is a mapping below it.
func (r *reader) lists(n *yaml.Node, prefix string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := prefix + key.Value
		if key.Kind != yaml.ScalarNode || !r.once(key, name) {
			continue
		}
		known := names()
		at := slices.Index(known[:], name)
		switch {
		case name == "tags":
			r.tags(value)
		case at >= 0:
			r.into.given[at] = true
			r.into.lists[at] = r.list(value, name)
		case prefix == "" && isGroup(name):
			r.group(value, name)
		default:
			r.fault(key.Line, "list %s not found; did you mean %s?", name, nearest(name))
		}
	}
}

func (r *reader) group(n *yaml.Node, name string) {
	if n.Kind != yaml.MappingNode {
		r.fault(n.Line, "%s holds lists by name, such as %s: {%s: [...]}", name, name, firstOf(name))
		return
	}
	r.lists(n, name+".")
}

// once reports a list that stands in the file twice.
func (r *reader) once(key *yaml.Node, name string) bool {
	if first, again := r.seen[name]; again {
		r.fault(key.Line, "%s is set here and on line %d; remove one of the lines", name, first)
		return false
	}
	r.seen[name] = key.Line
	return true
}

func (r *reader) list(n *yaml.Node, name string) []phrase {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.fault(n.Line, "%s must be a list of phrases", name)
		return nil
	}
	var entries []phrase
	lines := map[string]int{}
	for _, item := range n.Content {
		p, ok := r.phrase(item, name)
		if !ok {
			continue
		}
		key := strings.Join(p.words, " ")
		if first, again := lines[key]; again {
			r.fault(item.Line, "%s has %q already on line %d; remove one", name, p.text, first)
			continue
		}
		lines[key] = item.Line
		entries = append(entries, p)
	}
	return entries
}

func (r *reader) phrase(n *yaml.Node, name string) (phrase, bool) {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		r.fault(n.Line, "%s holds something that is no phrase; a phrase is plain text, in quotes if it has a colon",
			name)
		return phrase{}, false
	}
	p := newPhrase(n.Value)
	if r.count++; r.count == maxPhrases+1 {
		r.fault(n.Line, "more than %d phrases; keep the ones that matter", maxPhrases)
	}
	switch {
	case len(p.words) == 0:
		r.fault(n.Line, "%s has the phrase %q without a letter or digit; remove it", name, n.Value)
	case len(p.words) > maxWords:
		r.fault(n.Line, "%s has a phrase of %d words, more than %d; shorten it", name, len(p.words), maxWords)
	case slices.ContainsFunc(read(p.text).words[1:], func(w word) bool { return w.apart() }):
		r.fault(n.Line,
			"%s has the phrase %q that reaches across a comma or the end of a sentence, which no phrase does; split it",
			name, p.text)
	default:
		return p, true
	}
	return phrase{}, false
}

func (r *reader) tags(n *yaml.Node) {
	r.into.tags = []tagWords{}
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode || len(n.Content) > 2*maxLists {
		r.fault(n.Line, "tags holds at most %d lists of words by tag, such as tags: {api: [api, apis]}", maxLists)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		tag, err := memory.NormalizeTag(key.Value)
		if err != nil {
			r.fault(key.Line, "%v", err)
		} else if r.once(key, "tags."+tag) {
			r.into.tags = append(r.into.tags, tagWords{tag, r.list(value, "tags."+tag)})
		}
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func isGroup(name string) bool { return firstOf(name) != "" }

// firstOf returns the first list of a group, "" if there is no such group.
func firstOf(group string) string {
	for _, name := range names() {
		if rest, ok := strings.CutPrefix(name, group+"."); ok {
			return rest
		}
	}
	return ""
}

// nearest returns the name of a list that is spelt most like another.
func nearest(name string) string {
	best := "tags"
	for _, n := range names() {
		if spelling.Distance(n, name) < spelling.Distance(best, name) {
			best = n
		}
	}
	return best
}
