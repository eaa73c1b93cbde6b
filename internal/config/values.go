package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	auto = "auto" // the word for a value that is computed
	none = "none" // the word for an optional value that is not there
	off  = "off"  // the word for what is not to be done at all

	minute  = time.Minute
	day     = 24 * time.Hour
	decade  = 3650 * day
	century = 36500 * day
)

// value is one typed place in a Config. set parses text that is not empty and
// holds no control characters; errWant says that it is not what want describes,
// any other error gives a reason of its own.
type value interface {
	set(text string, expand expander) error
	String() string // as it could stand in the file
	want() string   // what set accepts, as "must be ..." goes on
}

// expander makes a path absolute, with ~ and variables replaced.
type expander func(text string) (string, error)

var errWant = errors.New("not of the wanted kind")

// optional is text that may be "none"; as a path it is made absolute.
type optional struct {
	to   *string
	path bool
}

func (v optional) set(s string, expand expander) (err error) {
	switch {
	case s == "":
		return errWant
	case s == none:
		s = ""
	case v.path:
		s, err = expand(s)
	}
	if err == nil {
		*v.to = s
	}
	return err
}

func (v optional) String() string { return cmp.Or(*v.to, none) }

func (v optional) want() string {
	if v.path {
		return "a path, or none"
	}
	return "text, or none"
}

// endpoint is the URL of a server that is reached over the network or a socket.
type endpoint struct{ to *string }

func (v endpoint) set(s string, _ expander) error {
	if s == none {
		*v.to = ""
		return nil
	}
	at, err := url.Parse(s)
	if err != nil {
		return errWant
	}
	switch {
	case at.User != nil:
		return errors.New("must not name a user; the key goes into llm.key_file")
	case at.Scheme == "unix" && at.Host == "" && at.Path != "":
	case (at.Scheme == "http" || at.Scheme == "https") && at.Hostname() != "":
	default:
		return errWant
	}
	*v.to = s
	return nil
}

func (v endpoint) String() string { return cmp.Or(*v.to, none) }
func (v endpoint) want() string   { return "http://host:port, https://host, unix:///path, or none" }

// loopback is a port of an address that only this machine reaches.
type loopback struct{ to *string }

func (v loopback) set(s string, _ expander) error {
	if s == none {
		*v.to = ""
		return nil
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return errWant
	}
	if strings.EqualFold(host, "localhost") {
		host = "127.0.0.1" // whatever else the name may be made to mean
	}
	n, err := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil:
		return errWant
	case host != "127.0.0.1" && host != "::1":
		return errors.New("must be an address that no other machine can reach: 127.0.0.1:PORT or [::1]:PORT")
	case n < 1024:
		return errors.New("must have a port from 1024 to 65535")
	}
	*v.to = net.JoinHostPort(host, strconv.FormatUint(n, 10))
	return nil
}

func (v loopback) String() string { return cmp.Or(*v.to, none) }
func (v loopback) want() string   { return "127.0.0.1:PORT, [::1]:PORT, or none" }

// choice is one of a few lower-case words; case is ignored.
type choice struct {
	to    *string
	words []string
}

func (v choice) set(s string, _ expander) error {
	s = strings.ToLower(s)
	if !slices.Contains(v.words, s) {
		return errWant
	}
	*v.to = s
	return nil
}

func (v choice) String() string { return *v.to }

func (v choice) want() string {
	last := len(v.words) - 1
	return strings.Join(v.words[:last], ", ") + " or " + v.words[last]
}

// boolean takes the words people write for yes and no.
type boolean struct{ to *bool }

func (v boolean) set(s string, _ expander) error {
	b, ok := truth(s)
	if !ok {
		return errWant
	}
	*v.to = b
	return nil
}

func (v boolean) String() string { return strconv.FormatBool(*v.to) }
func (v boolean) want() string   { return "true or false (or yes/no, on/off, 1/0)" }

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
type integer struct {
	to        *int
	low, high int
}

func (v integer) set(s string, _ expander) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < v.low || n > v.high {
		return errWant
	}
	*v.to = n
	return nil
}

func (v integer) String() string { return strconv.Itoa(*v.to) }
func (v integer) want() string   { return fmt.Sprintf("a whole number from %d to %d", v.low, v.high) }

// number is a finite number within inclusive bounds.
type number struct {
	to        *float64
	low, high float64
}

func (v number) set(s string, _ expander) error {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= v.low && f <= v.high) {
		return errWant
	}
	*v.to = f
	return nil
}

func (v number) String() string { return strconv.FormatFloat(*v.to, 'g', -1, 64) }
func (v number) want() string   { return fmt.Sprintf("a number from %g to %g", v.low, v.high) }

// rate is a number that may be left to "auto", which leaves zero in its place.
type rate number

func (v rate) set(s string, expand expander) error {
	if s == auto {
		return nil
	}
	return number(v).set(s, expand)
}

func (v rate) String() string { return number(v).String() }
func (v rate) want() string   { return number(v).want() + ", or auto" }

// duration is a length of time within inclusive bounds, with days as a unit.
type duration struct {
	to        *time.Duration
	low, high time.Duration
}

func (v duration) set(s string, _ expander) error {
	d, ok := parseDuration(s)
	if !ok || d < v.low || d > v.high {
		return errWant
	}
	*v.to = d
	return nil
}

func (v duration) String() string { return formatDuration(*v.to) }

func (v duration) want() string {
	return fmt.Sprintf("a time from %s to %s, such as 72h or 3d",
		formatDuration(v.low), formatDuration(v.high))
}

// parseDuration reads what time.ParseDuration does, with an optional number of
// days in front: 90d, 1.5d, 1d12h. A unit is required except for 0.
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

// formatDuration writes whole days as days and drops the zero minutes and
// seconds that time.Duration.String appends.
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

// size is a number of bytes within inclusive bounds.
type size struct {
	to        *int64
	low, high int64
}

type unit struct {
	name  string
	bytes int64
}

func (v size) set(s string, _ expander) error {
	units := []unit{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}
	i := slices.IndexFunc(units, func(u unit) bool {
		return strings.HasSuffix(strings.ToLower(s), strings.ToLower(u.name))
	})
	u := units[i]
	n, err := strconv.ParseInt(strings.TrimSpace(s[:len(s)-len(u.name)]), 10, 64)
	if err != nil || n < 0 || n > v.high/u.bytes || n*u.bytes < v.low {
		return errWant
	}
	*v.to = n * u.bytes
	return nil
}

func (v size) String() string { return formatSize(*v.to) }

func (v size) want() string {
	return fmt.Sprintf("a size from %s to %s, such as 4MiB", formatSize(v.low), formatSize(v.high))
}

func formatSize(n int64) string {
	for _, u := range []unit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// place is a path on disk that may be left to "auto", which leaves it empty.
type place struct{ to *string }

func (v place) set(s string, expand expander) error {
	if s == auto {
		return nil
	}
	p, err := expand(s)
	if err != nil {
		return err
	}
	*v.to = p
	return nil
}

func (v place) String() string { return *v.to }
func (v place) want() string   { return "a path, or auto" }

// listValue is a value that a YAML sequence can give.
type listValue interface {
	value
	setAll(list []string, expand expander) error
}

// dirs is a list of different paths; as one text they are joined as in PATH.
type dirs struct {
	to   *[]string
	most int
}

func (v dirs) set(s string, expand expander) error {
	return v.setAll(filepath.SplitList(s), expand)
}

func (v dirs) setAll(list []string, expand expander) error {
	if len(list) > v.most {
		return errWant
	}
	all := make([]string, 0, len(list))
	for _, s := range list {
		p, err := expand(s)
		if err != nil {
			return err
		}
		if slices.Contains(all, p) {
			return fmt.Errorf("names %s twice", p)
		}
		all = append(all, p)
	}
	*v.to = all
	return nil
}

func (v dirs) String() string { return strings.Join(*v.to, string(filepath.ListSeparator)) }
func (v dirs) want() string   { return fmt.Sprintf("a list of at most %d paths", v.most) }

// patterns is a list of file patterns; as one text they are joined by commas.
type patterns struct{ to *[]string }

func (v patterns) set(s string, expand expander) error {
	return v.setAll(strings.Split(s, ","), expand)
}

func (v patterns) setAll(list []string, _ expander) error {
	var all []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if _, err := path.Match(strings.ReplaceAll(s, "**", "*"), ""); err != nil {
			return errWant
		}
		all = append(all, s)
	}
	*v.to = all
	return nil
}

func (v patterns) String() string { return strings.Join(*v.to, ",") }
func (v patterns) want() string   { return "a list of patterns such as Templates/ or *.excalidraw.md" }

// folder is a folder inside a vault. Obsidian hides names that begin with a
// dot, so they are refused together with what leads out of the vault.
type folder struct{ to *string }

func (v folder) set(s string, _ expander) error {
	p := path.Clean(strings.ReplaceAll(s, `\`, "/"))
	if !fs.ValidPath(p) || strings.HasPrefix(p, ".") || strings.Contains(p, "/.") || strings.ContainsAny(p, `:*?"<>|`) {
		return errWant
	}
	*v.to = p
	return nil
}

func (v folder) String() string { return *v.to }
func (v folder) want() string {
	return "a folder inside the vault, relative to it, without names that begin with a dot or that not every system takes"
}

// list is a note inside a vault that may be left to "auto" or be "none", which stay as they
// are until they are filled in.
type list struct{ to *string }

func (v list) set(s string, expand expander) error {
	if s != auto && s != none {
		p := ""
		if err := (folder{&p}).set(s, expand); err != nil || len(p) <= len(".md") || !strings.EqualFold(path.Ext(p), ".md") {
			return errWant
		}
		s = p
	}
	*v.to = s
	return nil
}

func (v list) String() string { return cmp.Or(*v.to, none) }
func (v list) want() string {
	return "a note inside the vault, relative to it, whose name ends in .md, without names that begin with a dot or that not every system takes; or auto, or none"
}

// ages is a list of categories with their own times.
type ages struct{ to *[]string }

func (v ages) set(s string, expand expander) error {
	return v.setAll(strings.Split(s, ","), expand)
}

func (v ages) setAll(list []string, _ expander) error {
	var all []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if _, _, err := ParseAges(s); err != nil {
			return errWant
		}
		all = append(all, s)
	}
	*v.to = all
	return nil
}

func (v ages) String() string { return strings.Join(*v.to, ",") }
func (v ages) want() string {
	return "a list such as decision=30d/90d/365d: for a category the times, rising, after which its memories are demoted, archived and rehydratable"
}

// ParseAges reads a category and its times: NAME=DEMOTE/ARCHIVE/REHYDRATABLE.
func ParseAges(s string) (category string, after [3]time.Duration, err error) {
	name, times, ok := strings.Cut(s, "=")
	parts := strings.Split(times, "/")
	if name = strings.TrimSpace(name); !ok || name == "" || len(parts) != len(after) {
		return "", after, errWant
	}
	for i, part := range parts {
		if after[i], ok = parseDuration(strings.TrimSpace(part)); !ok || after[i] < minute || i > 0 && after[i] < after[i-1] {
			return "", after, errWant
		}
	}
	return name, after, nil
}
