package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"emberd/internal/durable"
	"emberd/internal/text"
)

// Variables that begin with envPrefix are emberd's own. Besides one for each key there are those
// that say where the keys are, envToken, which is a secret and therefore no setting that is listed,
// and envHooks, which the command that agents run at events reads; names that begin with testPrefix belong to the
// project's own tests and are ignored.
const (
	envPrefix  = "EMBERD_"
	envHome    = "EMBERD_HOME"
	envConfig  = "EMBERD_CONFIG"
	envToken   = "EMBERD_TOKEN"
	envHooks   = "EMBERD_HOOKS"
	testPrefix = "EMBERD_TEST_"
)

// maxUnknown is how many unknown keys of a file are reported one by one.
const maxUnknown = 20

// given is a value as a user wrote it.
type given struct {
	text   string
	list   []string // instead of text, when not nil
	origin Origin
	from   string // flag, variable or file:line
	base   string // directory that relative paths start from, else the working directory
	hint   string // how to overrule it, when that is not obvious
	fault  error  // why text could not be read
}

// layer is what one place sets, by key.
type layer map[string]given

// alias is a variable of another program that names a setting.
type alias struct {
	name  string
	read  func(string) (string, error) // into the form that the key accepts; nil leaves it
	whole bool                         // one entry of a list, not to be split
}

// collect returns the layers, strongest first, and sets FileRead and Warnings.
func (c *Config) collect(s Source, env map[string]string, pl *places) ([]layer, error) {
	flags, flagErr := c.flagLayer(s.Flags)
	own, ownErr := c.ownLayer(env)
	file, fileErr := c.fileLayer(pl)
	return []layer{flags, own, c.foreignLayer(env), file}, errors.Join(flagErr, ownErr, fileErr)
}

// warn records that a place sets a key that an earlier version had.
func (c *Config) warn(from string, r *removedKey) {
	c.Warnings = append(c.Warnings, fmt.Sprintf("%s is ignored: %s", from, r.say()))
}

func (c *Config) flagLayer(flags []string) (layer, error) {
	out := layer{}
	var faults []error
	for _, f := range flags {
		name, val, found := strings.Cut(f, "=")
		name = strings.TrimSpace(name)
		gone := removedAs(name)
		switch {
		case !found:
			faults = append(faults, fmt.Errorf("invalid --set %s; use KEY=VALUE", clip(f)))
		case gone != nil:
			c.warn("--set "+name, gone)
		case find(keys(), name) < 0:
			faults = append(faults, fmt.Errorf("--set: %w", unknownKey(name)))
		default:
			out[name] = given{text: strings.TrimSpace(val), origin: FromFlag, from: "--set " + name}
		}
	}
	return out, errors.Join(faults...)
}

// environ indexes NAME=value pairs without those set to nothing. The first of two equal names
// wins, as for os.Getenv.
func environ(pairs []string) map[string]string {
	env := make(map[string]string, len(pairs))
	for _, p := range slices.Backward(pairs) {
		if name, val, _ := strings.Cut(p, "="); strings.TrimSpace(val) != "" {
			env[name] = val
		} else {
			delete(env, name)
		}
	}
	return env
}

func (c *Config) ownLayer(env map[string]string) (layer, error) {
	out := layer{}
	known := []string{envHome, envConfig, envToken, envHooks}
	for _, k := range keys() {
		known = append(known, k.env())
		if v, ok := env[k.env()]; ok {
			out[k.name] = given{text: strings.TrimSpace(v), origin: FromEnv, from: k.env()}
		}
	}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if gone := removedVariable(name); gone != nil {
			c.warn(name, gone)
			continue
		}
		if !strings.HasPrefix(name, envPrefix) || strings.HasPrefix(name, testPrefix) || slices.Contains(known, name) {
			continue
		}
		faults = append(faults, fmt.Errorf("unknown environment variable %s; did you mean %s?", clip(name),
			nearest(name, known)))
	}
	return out, errors.Join(faults...)
}

// foreignLayer reads the variables of other programs. A value that cannot be read is kept as a
// fault, which counts only if nothing stronger has the key: a variable meant for another program
// must not fail a command that overrides it.
func (c *Config) foreignLayer(env map[string]string) layer {
	out := layer{}
	for _, k := range keys() {
		for _, a := range k.also {
			raw, set := env[a.name]
			if _, done := out[k.name]; set && !done {
				out[k.name] = a.given(k.env(), strings.TrimSpace(raw))
			}
		}
	}
	return out
}

func (a alias) given(own, raw string) given {
	g := given{text: raw, origin: FromEnv, from: a.name, hint: own + " overrides it"}
	if a.whole {
		g.list = []string{raw}
	}
	if a.read == nil {
		return g
	}
	text, err := a.read(raw)
	if err != nil {
		g.fault = fmt.Errorf("must be %w, not %s", err, clip(raw))
		return g
	}
	g.text = text
	return g
}

// in reads a bare number of some unit of time.
func in(unit string) func(string) (string, error) {
	unitNames := map[string]string{"d": "days", "s": "seconds"}
	return func(s string) (string, error) {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return "", errors.New("a number of " + unitNames[unit])
		}
		return strconv.FormatFloat(f, 'f', -1, 64) + unit, nil
	}
}

// onOff reads a truth value for a setting that has words for it.
func onOff(on, off string) func(string) (string, error) {
	return func(s string) (string, error) {
		b, ok := truth(s)
		switch {
		case !ok:
			return "", errors.New(wantTruth)
		case b:
			return on, nil
		}
		return off, nil
	}
}

// pythonLevel reads the names of Python's logging levels.
func pythonLevel(s string) (string, error) {
	switch level := strings.ToLower(s); level {
	case "warning":
		return "warn", nil
	case "critical":
		return "error", nil
	default:
		return level, nil
	}
}

// fileLayer reads the config file. It may be missing unless the user named it.
func (c *Config) fileLayer(pl *places) (layer, error) {
	data, err := readFile(pl.file)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && pl.fileFrom == "":
		return layer{}, nil
	case missing:
		return layer{}, fmt.Errorf("config file %s not found; create it, or omit %s", pl.file, pl.fileFrom)
	case err != nil:
		return layer{}, fmt.Errorf("cannot read the config file: %w; use a readable file", err)
	}
	c.FileRead = true
	entries, err := readYAML(pl.file, data)
	faults := []error{err}
	out := layer{}
	for i, e := range entries {
		from := pl.file + ":" + strconv.Itoa(e.line)
		if len(faults) > maxUnknown {
			faults = append(faults, fmt.Errorf("%s: emberd did not check %d more entries because of too "+
				"many errors; make sure that this is a config file of emberd", from, len(entries)-i))
			break
		}
		known := find(keys(), e.key) >= 0
		gone := removedAs(e.key)
		switch {
		case gone != nil:
			c.warn(from+": "+e.key, gone)
		case e.null && (known || isGroup(e.key)):
		case !known:
			faults = append(faults, fmt.Errorf("%s: %w", from, unknownKey(e.key)))
		default:
			out[e.key] = given{text: strings.TrimSpace(e.text), list: e.list, origin: FromFile,
				from: from, base: filepath.Dir(pl.file)}
		}
	}
	return out, errors.Join(faults...)
}

// readFile reads at most one byte more than a config file may have, of a regular file only.
func readFile(name string) ([]byte, error) {
	f, err := durable.OpenGiven(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxFile+1))
}

// settle sets the strongest given value, or the default.
func (k *key) settle(layers []layer, pl *places) (Setting, error) {
	st := k.setting()
	var won *given
	for _, l := range layers {
		g, ok := l[k.name]
		switch {
		case !ok:
		case won == nil:
			won = &g
		default:
			st.Overrules = append(st.Overrules, g.from)
		}
	}
	if won == nil {
		won = &given{text: k.def, origin: FromDefault, from: string(FromDefault)}
		if k.underHome && pl.home != "" {
			won.from = pl.homeFrom
		}
	}
	st.Origin, st.From = won.origin, won.from
	return st, k.apply(won, pl)
}

func (k *key) apply(g *given, pl *places) error {
	err := g.fault
	if err == nil {
		err = k.value.assign(g, func(s string) (string, error) { return pl.expand(s, g.base) })
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, errWant) {
		err = fmt.Errorf("must be %s, not %s", k.value.want, clip(g.written()))
	}
	if g.hint != "" {
		err = fmt.Errorf("%w; %s", err, g.hint)
	}
	if g.origin == FromFlag {
		return fmt.Errorf("%s: %w", g.from, err)
	}
	return fmt.Errorf("%s: %s %w", g.from, k.name, err)
}

func (g *given) written() string {
	if g.list != nil {
		return strings.Join(g.list, ", ")
	}
	return g.text
}

func (v value) assign(g *given, expand expander) error {
	for _, s := range append([]string{g.text}, g.list...) {
		if err := onOneLine(s); err != nil {
			return err
		}
	}
	switch {
	case v.all != nil && g.list != nil:
		return v.all(g.list, expand)
	case v.all != nil && v.whole && (g.origin == FromFile || v.sep == ""):
		return v.all([]string{g.text}, expand)
	case v.all != nil:
		return v.all(strings.Split(g.text, v.sep), expand)
	case g.list != nil || g.text == "":
		return errWant
	}
	return v.set(g.text, expand)
}

func onOneLine(s string) error {
	if !text.IsPrintable(s) {
		return errors.New("must be one line of valid UTF-8 without control characters")
	}
	return nil
}

// clip quotes what a user wrote, short enough for an error.
func clip(s string) string { return strconv.Quote(text.Truncate(s, 80)) }
