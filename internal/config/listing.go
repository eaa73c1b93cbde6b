package config

import (
	"slices"
)

// Origin is the kind of place a value came from.
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
	Key       string   `json:"key"`
	Value     string   `json:"value"` // paths absolute, several joined as in PATH
	Origin    Origin   `json:"origin"`
	From      string   `json:"from"`                // the flag, variable or file:line; "default"; --home or EMBERD_HOME for a place under it
	Overrules []string `json:"overrules,omitempty"` // weaker places that name the key too, strongest first
	Default   string   `json:"default"`
	Accepts   string   `json:"accepts"`   // type and bounds in words
	Variables []string `json:"variables"` // strongest first
	Help      string   `json:"help"`
	Words     []string `json:"-"`              // all that it takes, where that is one of a few words
	Live      bool     `json:"live,omitempty"` // whether a daemon that runs takes another value over on SIGHUP
}

// setting returns the row of k without what only Load knows.
func (k *key) setting() Setting {
	vars := []string{k.env()}
	for _, a := range k.also {
		vars = append(vars, a.name)
	}
	return Setting{Key: k.name, Default: k.def, Accepts: k.field(new(Config)).want(), Variables: vars, Help: k.help, Words: k.words(), Live: k.live}
}

// words are all that the setting takes, nil where they are not a few.
func (k *key) words() []string {
	switch v := k.field(new(Config)).(type) {
	case choice:
		return v.words
	case boolean:
		return []string{"true", "false"}
	}
	return nil
}

// render fills in the values once they are final.
func (c *Config) render() {
	for i, k := range keys {
		c.settings[i].Value = k.field(c).String()
	}
}

// Effective lists every setting in the order of the table. The caller owns the
// result.
func (c *Config) Effective() []Setting {
	out := slices.Clone(c.settings)
	for i := range out {
		out[i] = out[i].clone()
	}
	return out
}

// Explain returns one setting, or an error that names the nearest known key.
func (c *Config) Explain(name string) (Setting, error) {
	i := position(name)
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
