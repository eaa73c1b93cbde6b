package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/internal/text"
)

const (
	auto = "auto" // the word for a value that is computed
	none = "none" // the word for an optional value that is absent
	off  = "off"  // the word for a feature that is disabled

	day     = 24 * time.Hour
	decade  = 3650 * day
	century = 36500 * day
)

// value is one typed place in a Config. set parses text that is not empty and contains no
// control characters; errWant says that the text is not what want describes, any other error
// gives a reason of its own.
type value struct {
	want  string // completes "must be ..."
	words []string
	set   func(text string, expand expander) error
	text  func() string // in the form that the config file accepts

	// all is for lists alone and takes the place of set. As one text the entries are joined by
	// sep; whole keeps a plain value of the config file as one entry, and of any place if sep is "".
	all   func(list []string, expand expander) error
	sep   string
	whole bool
}

// expander makes a path absolute, with ~ and variables replaced.
type expander func(text string) (string, error)

var errWant = errors.New("invalid value")

// word is a text that stands for a value.
type word[T any] struct {
	text string
	is   T
}

// or returns v, extended by words; case is ignored.
func or[T comparable](v value, to *T, words ...word[T]) value {
	set, text := v.set, v.text
	for _, w := range words {
		v.want += ", or " + w.text
	}
	v.set = func(s string, expand expander) error {
		for _, w := range words {
			if strings.EqualFold(s, w.text) {
				*to = w.is
				return nil
			}
		}
		return set(s, expand)
	}
	v.text = func() string {
		for _, w := range words {
			if *to == w.is {
				return w.text
			}
		}
		return text()
	}
	return v
}

func optional(v value, to *string) value { return or(v, to, word[string]{none, ""}) }

// plainValue stores what parse returns and shows it with %v.
func plainValue[T any](to *T, want string, parse func(s string, expand expander) (T, error)) value {
	return value{want: want, text: func() string { return fmt.Sprint(*to) },
		set: func(s string, expand expander) error {
			v, err := parse(s, expand)
			if err == nil {
				*to = v
			}
			return err
		}}
}

func pathValue(to *string) value {
	return plainValue(to, "a path", func(s string, expand expander) (string, error) { return expand(s) })
}

// place is a path on disk that the platform chooses if it is "auto".
func place(to *string) value        { return or(pathValue(to), to, word[string]{auto, ""}) }
func optionalPath(to *string) value { return optional(pathValue(to), to) }

func optionalText(to *string) value {
	return optional(plainValue(to, "text", func(s string, _ expander) (string, error) { return s, nil }), to)
}

// choice is one of a few lower-case words; case is ignored.
func choice(to *string, words ...string) value {
	last := len(words) - 1
	want := strings.Join(words[:last], ", ") + " or " + words[last]
	v := plainValue(to, want, func(s string, _ expander) (string, error) {
		s = strings.ToLower(s)
		if !slices.Contains(words, s) {
			return "", errWant
		}
		return s, nil
	})
	v.words = words
	return v
}

const wantTruth = "true or false (or yes/no, on/off, 1/0)"

// boolean accepts the words that users write for yes and no.
func boolean(to *bool) value {
	v := plainValue(to, wantTruth, func(s string, _ expander) (bool, error) {
		b, ok := truth(s)
		if !ok {
			return false, errWant
		}
		return b, nil
	})
	v.words = []string{"true", "false"}
	return v
}

func truth(s string) (b, ok bool) {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

// integer is a whole number within inclusive bounds.
func integer(to *int, low, high int) value {
	want := fmt.Sprintf("a whole number from %d to %d", low, high)
	return plainValue(to, want, func(s string, _ expander) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < low || n > high {
			return 0, errWant
		}
		return n, nil
	})
}

// number is a finite number within inclusive bounds.
func number(to *float64, low, high float64) value {
	want := fmt.Sprintf("a number from %g to %g", low, high)
	return plainValue(to, want, func(s string, _ expander) (float64, error) {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || !(f >= low && f <= high) {
			return 0, errWant
		}
		return f, nil
	})
}

// duration is a length of time within inclusive bounds, with days as a unit.
func duration(to *time.Duration, low, high time.Duration) value {
	want := fmt.Sprintf("a time from %s to %s, such as 72h or 3d", formatDuration(low), formatDuration(high))
	v := plainValue(to, want, func(s string, _ expander) (time.Duration, error) {
		d, ok := parseDuration(s)
		if !ok || d < low || d > high {
			return 0, errWant
		}
		return d, nil
	})
	v.text = func() string { return formatDuration(*to) }
	return v
}

// parseDuration reads what time.ParseDuration does, with an optional number of days in front:
// 90d, 1.5d, 1d12h. A unit is required except for 0.
func parseDuration(s string) (time.Duration, bool) {
	days, rest, found := strings.Cut(s, "d")
	if !found {
		d, err := time.ParseDuration(s)
		return d, err == nil
	}
	n, err := strconv.ParseFloat(days, 64)
	if err != nil || !(n >= 0 && n <= century.Hours()/24) {
		return 0, false
	}
	d := time.Duration(math.Round(n * float64(day)))
	if rest == "" {
		return d, true
	}
	more, err := time.ParseDuration(rest)
	return d + more, err == nil && more >= 0 && more <= century
}

// formatDuration writes whole days as days and drops the zero minutes and seconds that
// time.Duration.String appends.
func formatDuration(d time.Duration) string {
	if d != 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// list is a list whose entries parse checks; as one text they are joined by sep. Empty entries
// are skipped.
func list(to *[]string, sep, want string, parse func(s string, expand expander) (string, error)) value {
	text := func() string { return strings.Join(*to, sep) }
	return value{want: want, sep: sep, text: text, all: func(entries []string, expand expander) error {
		var all []string
		for _, s := range entries {
			if s = strings.TrimSpace(s); s == "" {
				continue
			}
			entry, err := parse(s, expand)
			if err != nil {
				return err
			}
			all = append(all, entry)
		}
		*to = all
		return nil
	}}
}

// unique refuses a list that contains an entry twice or has more than most entries.
func unique(v value, to *[]string, most int) value {
	all := v.all
	v.all = func(entries []string, expand expander) error {
		if len(entries) > most {
			return errWant
		}
		if err := all(entries, expand); err != nil {
			return err
		}
		for i, s := range *to {
			if slices.Contains((*to)[:i], s) {
				return fmt.Errorf("names %s twice", s)
			}
		}
		return nil
	}
	return v
}

// onePath is a list of at most one path. A text that joins paths as in PATH counts as several, because a user means
// that more often than a folder whose name ends in a colon.
func onePath(to *[]string, several string) value {
	v := list(to, "", "the path of a folder", func(s string, expand expander) (string, error) { return expand(s) })
	v.whole = true
	all := v.all
	v.all = func(entries []string, expand expander) error {
		n := 0
		for _, s := range entries {
			if strings.TrimSpace(s) != "" {
				n += len(joinedPaths().FindAllString(s, -1)) + 1
			}
		}
		if n > 1 {
			return fmt.Errorf("must be one folder, not %d; %s", n, several)
		}
		return all(entries, expand)
	}
	return v
}

// joinedPaths finds the end of each path that another absolute one follows.
var joinedPaths = text.Pattern(`.:[/~$]`)

// patterns is a list of file patterns; as one text they are joined by commas.
func patterns(to *[]string) value {
	const want = "a list of patterns such as Templates/ or *.excalidraw.md"
	v := list(to, ",", want, func(s string, _ expander) (string, error) {
		if _, err := path.Match(strings.ReplaceAll(s, "**", "*"), ""); err != nil {
			return "", errWant
		}
		return s, nil
	})
	v.whole = true
	return v
}

// projects is a list of names of projects.
func projects(to *[]string) value {
	all := list(to, ",", "a list of projects", func(s string, _ expander) (string, error) { return s, nil })
	return unique(all, to, 1000)
}

// names is a list of different words out of a few; case is ignored. what is what they name.
func names(to *[]string, what string, words ...string) value {
	want := "a list of " + choice(nil, words...).want + " in order of preference, or none"
	v := unique(list(to, ",", want, func(s string, _ expander) (string, error) {
		name := strings.ToLower(s)
		if !slices.Contains(words, name) {
			return "", fmt.Errorf("contains the unknown %s %s; did you mean %s?", what, clip(name),
				nearest(name, words))
		}
		return name, nil
	}), to, len(words)+1)
	all := v.all
	v.all = func(entries []string, expand expander) error {
		if len(entries) == 1 && strings.EqualFold(entries[0], none) {
			entries = nil
		}
		return all(entries, expand)
	}
	v.text = func() string { return cmp.Or(strings.Join(*to, ","), none) }
	return v
}

// ages is a list of categories with their own times.
func ages(to *[]string) value {
	const want = "a list such as decision=30d/90d/365d: for each category, the increasing times after which its " +
		"memories become demoted, archived and rehydratable"
	return list(to, ",", want, func(s string, _ expander) (string, error) {
		_, _, err := ParseAges(s)
		return s, err
	})
}

// ParseAges reads a category and its times: NAME=DEMOTE/ARCHIVE/REHYDRATABLE.
func ParseAges(s string) (category string, after [3]time.Duration, err error) {
	name, times, ok := strings.Cut(s, "=")
	parts := strings.Split(times, "/")
	if name = strings.TrimSpace(name); !ok || name == "" || len(parts) != len(after) {
		return "", after, errWant
	}
	for i, part := range parts {
		after[i], ok = parseDuration(strings.TrimSpace(part))
		if !ok || after[i] < time.Minute || i > 0 && after[i] < after[i-1] {
			return "", after, errWant
		}
	}
	return name, after, nil
}

// tuning is a list of NAME=NUMBER for the rows of numberKeys, whose values it sets.
func tuning(c *Config) value {
	return list(&c.Tuning, ",", "a list such as verify.confirmed=0.9", func(s string, expand expander) (string, error) {
		name, text, ok := strings.Cut(s, "=")
		name, text = strings.TrimSpace(name), strings.TrimSpace(text)
		table := numberKeys(c)
		at := find(table, name)
		switch {
		case !ok:
			return "", errWant
		case at < 0:
			return "", fmt.Errorf("contains the unknown name %s; did you mean %s?", clip(name),
				nearest(name, namesOf(table)))
		}
		err := table[at].value.set(text, expand)
		if errors.Is(err, errWant) {
			err = fmt.Errorf("%s must be %s, not %s", name, table[at].value.want, clip(text))
		}
		return name + "=" + text, err
	})
}

// tracker is whether review items are mirrored, or the folder that the tracker runs in.
func tracker(to *Review) value {
	return value{
		want: "true, false, or a path that contains /", words: []string{"true", "false"},
		text: func() string { return cmp.Or(to.BeadsDir, strconv.FormatBool(to.Beads)) },
		set: func(s string, expand expander) error {
			on, ok := truth(s)
			if ok {
				to.Beads, to.BeadsDir = on, ""
				return nil
			}
			if !isPath(s) {
				return errWant
			}
			dir, err := expand(s)
			if err == nil {
				to.Beads, to.BeadsDir = true, dir
			}
			return err
		},
	}
}

// inVault is what every path inside a vault must be. Obsidian hides names that begin with a dot,
// so they are refused together with paths that lead out of the vault.
const inVault = "inside the vault, as a relative path, " +
	"without names that begin with a dot or are invalid on some systems"

func folder(to *string) value {
	return plainValue(to, "a folder "+inVault, func(s string, _ expander) (string, error) {
		p := path.Clean(strings.ReplaceAll(s, `\`, "/"))
		hidden := strings.HasPrefix(p, ".") || strings.Contains(p, "/.")
		if !fs.ValidPath(p) || hidden || strings.ContainsAny(p, `:*?"<>|`) {
			return "", errWant
		}
		return p, nil
	})
}

// folders is a list of folders inside a vault, or / for all of it; as one text they are joined by commas.
func folders(to *[]string, most int) value {
	v := list(to, ",", "a list of folders "+inVault+", or / for the whole "+
		"vault", func(s string, e expander) (string, error) {
		if s == "/" {
			return s, nil
		}
		var one string
		err := folder(&one).set(s, e)
		return one, err
	})
	v.whole = true
	return unique(v, to, most)
}

// note is a note inside a vault, or "auto", which stays as it is until it is filled in, or "none".
func note(to *string) value {
	set := folder(to).set
	v := plainValue(to, "a note whose name ends in .md, "+inVault, nil)
	v.set = func(s string, expand expander) error {
		if !strings.EqualFold(path.Ext(s), ".md") || strings.EqualFold(path.Base(s), ".md") {
			return errWant
		}
		return set(s, expand)
	}
	return or(v, to, word[string]{auto, auto}, word[string]{none, ""})
}
