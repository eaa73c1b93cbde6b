package config

import (
	"bytes"
	"emberd/internal/text"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Change is a setting and the value that it is to have.
type Change struct{ Key, Value string }

// Set returns the text of a config file with other values for some settings. Every other byte
// stays, comments too: a setting that the text has gets its value where it stands, others are
// added at the end under their dotted names. file is for errors, and values are not checked:
// [Load] does.
//
// A value that is a list, empty or longer than a line is not changed: the error says which.
func Set(file string, text []byte, changes []Change) ([]byte, error) {
	entries, err := readYAML(file, text)
	if err != nil {
		return nil, err
	}
	want := said(entries)
	lines := slices.Collect(bytes.Lines(text))
	var added []byte
	var names []string
	for _, c := range changes {
		names = append(names, c.Key)
		want[c.Key] = entry{text: c.Value}.said()
		at := slices.IndexFunc(entries, func(e entry) bool { return e.key == c.Key })
		if at < 0 {
			added = fmt.Appendf(added, "%s: %s\n", c.Key, scalar(c.Value))
			continue
		}
		line := &lines[entries[at].valueLine-1]
		if *line, err = entries[at].replace(*line, scalar(c.Value)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, entries[at].line, err)
		}
	}
	changed := bytes.Join(lines, nil)
	if len(added) > 0 && len(changed) > 0 && !bytes.HasSuffix(changed, []byte("\n")) {
		changed = append(changed, '\n')
	}
	changed = append(changed, added...)
	// The result has to say what the file said, except for the changes.
	if after, err := readYAML(file, changed); err != nil || fmt.Sprint(said(after)) != fmt.Sprint(want) {
		return nil, fmt.Errorf("cannot change the config file %s automatically; set %s by hand", file,
			strings.Join(names, ", "))
	}
	return changed, nil
}

// replace puts another value in the place of the entry's, which the line contains.
func (e *entry) replace(line []byte, value string) ([]byte, error) {
	by := fmt.Errorf("cannot change %s in the config file automatically; set it to %s by hand", e.key, value)
	runes := []rune(string(line))
	if e.null || e.list != nil || e.valueColumn > len(runes) {
		return nil, by
	}
	before, rest := string(runes[:e.valueColumn-1]), string(runes[e.valueColumn-1:])
	// Bare comes last: without quotes, an empty text is nothing at all.
	for _, written := range []string{strconv.Quote(e.text), "'" + e.text + "'", e.text} {
		if after, ok := strings.CutPrefix(rest, written); ok {
			return []byte(before + value + after), nil
		}
	}
	return nil, by
}

// said returns what entries set, by key, to compare it.
func said(entries []entry) map[string]string {
	all := map[string]string{}
	for _, e := range entries {
		all[e.key] = e.said()
	}
	return all
}

func (e entry) said() string { return fmt.Sprintf("%q %q %t", e.text, e.list, e.null) }

// plain are values that mean themselves in YAML without quotes.
var plain = text.Pattern(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

func scalar(value string) string {
	if plain().MatchString(value) {
		return value
	}
	return strconv.Quote(value)
}
