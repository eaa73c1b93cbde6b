// Package tomledit changes one table of a TOML document (https://toml.io/en/v1.0.0) and leaves every other byte
// as it is: order, blank lines, spellings and comments.
//
// What a change means is checked with the library's decoder before it is returned: the document then says what it
// said before and the change, and nothing else. A document that cannot be changed so, because it has the table in
// braces for example, is an error. No function keeps or changes the texts that it receives.
package tomledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Member is a key of a table with its value, which is a string or a list of strings.
type Member struct {
	Key   string
	Value any
}

// ErrShape is returned for a table that is written in a way that is not edited.
var ErrShape = errors.New("the TOML table does not have its own [header] line")

// Get returns the value at path, as [toml.Unmarshal] has it, and whether there is one.
func Get(text []byte, path ...string) (any, bool, error) {
	root, err := decode(text)
	if err != nil {
		return nil, false, err
	}
	v, ok := at(root, path)
	return v, ok, nil
}

// Set returns text with members in the table at path. It replaces the values of keys that are there, adds the other
// ones after them, and adds a table that is missing at the end, from where Remove takes it without a trace.
func Set(text []byte, members []Member, path ...string) ([]byte, error) {
	want, err := decode(text)
	if err != nil {
		return nil, err
	}
	if _, ok := at(want, path); !ok {
		out := appendTable(text, members, path)
		return checked(out, with(want, members, path))
	}
	out := slices.Clone(text)
	for _, m := range members {
		if out, err = setMember(out, m, path); err != nil {
			return nil, err
		}
	}
	return checked(out, with(want, members, path))
}

// Remove returns text without the table at path and the tables in it; without one, text as it is.
func Remove(text []byte, path ...string) ([]byte, error) {
	want, err := decode(text)
	if err != nil {
		return nil, err
	}
	if _, ok := at(want, path); !ok {
		return slices.Clone(text), nil
	}
	exprs, err := parse(text)
	if err != nil {
		return nil, err
	}
	out := without(text, exprs, path)
	if parent, ok := at(want, path[:len(path)-1]); ok {
		delete(parent.(map[string]any), path[len(path)-1]) // a value below it was found
	}
	return checked(trimGap(out, text, exprs, path), want)
}

// without returns text without the lines of what is at path, and without blank lines between them.
func without(text []byte, exprs []expression, path []string) []byte {
	out := slices.Clone(text)
	next := len(text) // where the lines begin that were removed before
	for _, e := range slices.Backward(exprs) {
		if !begins(e.key, path) {
			continue
		}
		start, end := lineStart(text, e.start), lineEnd(text, e.end)
		if end < next && next < len(text) && len(bytes.TrimSpace(text[end:next])) == 0 {
			end = next
		}
		out = slices.Delete(out, start, end)
		next = start
	}
	return out
}

// trimGap removes the blank line before a table that was removed and that was followed by the end or by another
// blank line, and the end of the last line if the text had none. Without a line of the table's own, because it is in
// braces, it returns out as it is.
func trimGap(out, text []byte, exprs []expression, path []string) []byte {
	first := slices.IndexFunc(exprs, func(e expression) bool { return begins(e.key, path) })
	if first < 0 {
		return out
	}
	start, nl := lineStart(text, exprs[first].start), []byte(newline(text))
	before, after := out[:start], out[start:]
	if len(after) > 0 && !bytes.HasPrefix(after, nl) {
		return out
	}
	kept := before
	if blank, ok := bytes.CutSuffix(before, nl); ok && bytes.HasSuffix(blank, []byte("\n")) {
		kept = blank
	}
	if len(after) == 0 && !bytes.HasSuffix(text, []byte("\n")) {
		kept = bytes.TrimSuffix(kept, nl)
	}
	return slices.Concat(kept, after)
}

// appendTable returns text with a new table at the end, after a blank line. A text without the end of its last line
// has none then, either.
func appendTable(text []byte, members []Member, path []string) []byte {
	nl := newline(text)
	table := strings.ReplaceAll(Table(members, path...), "\n", nl)
	switch {
	case len(text) == 0:
		return []byte(table)
	case bytes.HasSuffix(text, []byte("\n")):
		return slices.Concat(text, []byte(nl), []byte(table))
	}
	return slices.Concat(text, []byte(nl+nl), []byte(strings.TrimSuffix(table, nl)))
}

// Table returns a table of TOML.
func Table(members []Member, path ...string) string {
	keys := make([]string, len(path))
	for i, key := range path {
		keys[i] = bareOrQuoted(key)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s]\n", strings.Join(keys, "."))
	for _, m := range members {
		fmt.Fprintf(&b, "%s = %s\n", bareOrQuoted(m.Key), value(m.Value))
	}
	return b.String()
}

// setMember returns text with one key of a table that exists.
func setMember(text []byte, m Member, path []string) ([]byte, error) {
	exprs, err := parse(text)
	if err != nil {
		return nil, err
	}
	last, own := -1, -1
	for i, e := range exprs {
		switch {
		case slices.Equal(e.key, append(slices.Clone(path), m.Key)) && !e.header:
			own = i
		case slices.Equal(e.key, path) && e.header, slices.Equal(e.table, path) && !e.header:
			last = i
		}
	}
	if own >= 0 {
		e := exprs[own]
		return slices.Concat(text[:e.value], []byte(value(m.Value)), text[e.valueEnd:]), nil
	}
	if last < 0 {
		return nil, ErrShape
	}
	end := lineEnd(text, exprs[last].end)
	line := bareOrQuoted(m.Key) + " = " + value(m.Value) + newline(text)
	if end > 0 && text[end-1] != '\n' {
		line = newline(text) + strings.TrimRight(line, "\r\n")
	}
	return slices.Concat(text[:end], []byte(line), text[end:]), nil
}

// value returns a string, or a list of strings. TOML has them as JSON does.
func value(v any) string {
	if list, ok := v.([]string); ok {
		words := make([]string, len(list))
		for i, word := range list {
			words[i] = value(word)
		}
		return "[" + strings.Join(words, ", ") + "]"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // a string always encodes
	return strings.TrimSpace(b.String())
}

func bareOrQuoted(key string) string {
	const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	if key != "" && strings.Trim(key, bare) == "" {
		return key
	}
	return value(key)
}

func decode(text []byte) (map[string]any, error) {
	root := map[string]any{}
	if err := toml.Unmarshal(text, &root); err != nil {
		var where *toml.DecodeError
		if errors.As(err, &where) {
			line, column := where.Position()
			return nil, fmt.Errorf("line %d, column %d: %s", line, column, strings.TrimPrefix(where.Error(), "toml: "))
		}
		return nil, err
	}
	return root, nil
}

// checked returns text if it means what is wanted.
func checked(text []byte, want map[string]any) ([]byte, error) {
	got, err := decode(text)
	if err != nil || !reflect.DeepEqual(pruned(got), pruned(want)) {
		return nil, ErrShape
	}
	return text, nil
}

// pruned is a table without the tables in it that have nothing.
func pruned(table map[string]any) map[string]any {
	out := map[string]any{}
	for key, v := range table {
		if sub, ok := v.(map[string]any); ok {
			if sub = pruned(sub); len(sub) == 0 {
				continue
			}
			v = sub
		}
		out[key] = v
	}
	return out
}

// at returns the value at path.
func at(root map[string]any, path []string) (any, bool) {
	var v any = root
	for _, key := range path {
		table, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = table[key]; !ok {
			return nil, false
		}
	}
	return v, true
}

// with returns root, changed to have members in the table at path.
func with(root map[string]any, members []Member, path []string) map[string]any {
	table := root
	for _, key := range path {
		sub, ok := table[key].(map[string]any)
		if !ok {
			sub = map[string]any{}
			table[key] = sub
		}
		table = sub
	}
	for _, m := range members {
		table[m.Key] = m.Value
		if list, ok := m.Value.([]string); ok {
			words := make([]any, len(list))
			for i, word := range list {
				words[i] = word
			}
			table[m.Key] = words
		}
	}
	return root
}
