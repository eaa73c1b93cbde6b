package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"emberd/internal/text/spelling"
)

// Origin is the kind of place that set a value.
type Origin string

// The origins, strongest first.
const (
	FromFlag    Origin = "flag"
	FromEnv     Origin = "env"
	FromFile    Origin = "file"
	FromDefault Origin = "default"
)

// Setting is one row of the effective configuration.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"` // paths absolute, several joined as in PATH
	Origin Origin `json:"origin"`
	// From is the flag, variable or file:line; "default"; --home or EMBERD_HOME for a place under it.
	From      string   `json:"from"`
	Overrules []string `json:"overrules,omitempty"` // weaker places that name the key too, strongest first
	Default   string   `json:"default"`
	Accepts   string   `json:"accepts"`   // type and bounds in words
	Variables []string `json:"variables"` // strongest first
	Help      string   `json:"help"`
	Words     []string `json:"-"`              // all that it accepts, if that is one of a few words
	Live      bool     `json:"live,omitempty"` // whether a running daemon applies another value on SIGHUP
}

// setting returns the row of k without what only Load knows.
func (k *key) setting() Setting {
	vars := []string{k.env()}
	for _, a := range k.also {
		vars = append(vars, a.name)
	}
	return Setting{Key: k.name, Default: k.def, Accepts: k.value.want, Variables: vars, Help: k.help(),
		Words: k.value.words, Live: k.live}
}

// Effective lists every setting in the order of the table. The caller owns the result.
func (c *Config) Effective() []Setting {
	out := slices.Clone(c.settings)
	for i := range out {
		out[i] = out[i].clone()
	}
	return out
}

// Explain returns one setting, or an error that names the nearest known key.
func (c *Config) Explain(name string) (Setting, error) {
	i := find(keys(), name)
	if i < 0 {
		return Setting{}, unknownKey(name)
	}
	return c.settings[i].clone(), nil
}

func (s Setting) clone() Setting {
	s.Overrules = slices.Clone(s.Overrules)
	s.Variables = slices.Clone(s.Variables)
	s.Words = slices.Clone(s.Words)
	return s
}

// unknownKey is the error for a name that is no key.
func unknownKey(name string) error {
	if gone := removedAs(name); gone != nil {
		return fmt.Errorf("%s is no longer a setting: %s", name, gone.say())
	}
	if isGroup(name) {
		first := keys()[slices.IndexFunc(keys(), func(k key) bool { return k.group() == name })].name
		return fmt.Errorf("%s is a group of settings and has no value; use a setting of this group, such as %s", name,
			first)
	}
	near := nearest(name, namesOf(keys()))
	if 2*remoteness(name, near) > len(name) {
		return fmt.Errorf("setting %s not found; to list all settings, run: emberd config", clip(name))
	}
	return fmt.Errorf("setting %s not found; did you mean %s?", clip(name), near)
}

func isGroup(name string) bool {
	return name != "" && slices.ContainsFunc(keys(), func(k key) bool { return k.group() == name })
}

func namesOf(table []key) (all []string) {
	for _, k := range table {
		all = append(all, k.name)
	}
	return all
}

// nearest returns the known name with the least edit distance, ignoring case. A bare last part of
// a known name is as near as one edit, since leaving out the group is the likeliest mistake.
func nearest(name string, known []string) string {
	return slices.MinFunc(known, func(a, b string) int {
		return cmp.Compare(remoteness(name, a), remoteness(name, b))
	})
}

func remoteness(name, known string) int {
	d := spelling.Distance(name, known)
	if i := strings.LastIndexByte(known, '.'); i >= 0 {
		d = min(d, 1+spelling.Distance(name, known[i+1:]))
	}
	return d
}
