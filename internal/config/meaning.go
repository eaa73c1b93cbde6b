package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Values that only the settings of vectors have.

// trust is a weight that may be left to "auto", which makes it negative, or be "off",
// which is 0.
type trust number

func (v trust) set(s string, expand expander) error {
	switch strings.ToLower(s) {
	case auto:
		*v.to = -1
		return nil
	case off:
		*v.to = 0
		return nil
	}
	return number(v).set(s, expand)
}

func (v trust) String() string {
	switch {
	case *v.to < 0:
		return auto
	case *v.to == 0:
		return off
	}
	return number(v).String()
}

func (v trust) want() string { return number(v).want() + ", or auto, or off" }

// names is a list of different words out of a few; case is ignored.
type names struct {
	to    *[]string
	what  string // what they name
	words []string
}

func (v names) set(s string, expand expander) error { return v.setAll([]string{s}, expand) }

// setAll takes commas too, since no name has one.
func (v names) setAll(list []string, _ expander) error {
	var all []string
	text := strings.ToLower(strings.Join(list, ","))
	if text == none {
		text = ""
	}
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "":
			continue
		case !slices.Contains(v.words, name):
			return fmt.Errorf("names the %s %s, which there is not: the nearest known one is %s", v.what, clip(name), nearest(name, v.words))
		case slices.Contains(all, name):
			return fmt.Errorf("names %s twice", name)
		}
		all = append(all, name)
	}
	*v.to = all
	return nil
}

func (v names) String() string { return cmp.Or(strings.Join(*v.to, ","), none) }

func (v names) want() string {
	return "a list of " + choice{words: v.words}.want() + ", the first choice first, or none"
}

// ownServer is the URL of a server of this machine.
type ownServer struct{ to *string }

func (v ownServer) set(s string, _ expander) error {
	if s == none {
		*v.to = ""
		return nil
	}
	at, err := url.Parse(s)
	switch {
	case err != nil || at.RawQuery != "" || at.Fragment != "":
		return errWant
	case at.User != nil:
		return errors.New("must not name a user; the key goes into embedding.key_file")
	case (at.Scheme == "unix" || at.Scheme == "http+unix") && at.Host == "" && at.Path != "":
	case !strings.HasPrefix(at.Scheme, "http") || at.Hostname() == "":
		return errWant
	case !ofThisMachine(at.Hostname()):
		return fmt.Errorf("must name a server of this machine, which %s is not: no other is sent any text", at.Hostname())
	case at.Scheme != "http" || !isPort(at.Port()):
		return errWant
	}
	*v.to = s
	return nil
}

// isPort reports whether a port is one, or left out.
func isPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

func (v ownServer) String() string { return cmp.Or(*v.to, none) }
func (v ownServer) want() string   { return "http://127.0.0.1:PORT, unix:///path, or none" }

func ofThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// modelSuffix is what the names of model files end in.
const modelSuffix = ".gguf"

// model is a model file: a path, or the name of one in the folder of models, which is
// kept as it is until that folder is known.
type model struct{ to *string }

func (v model) set(s string, expand expander) (err error) {
	switch {
	case s == none:
		s = ""
	case isPath(s) || strings.EqualFold(filepath.Ext(s), modelSuffix):
		s, err = expand(s)
	case !isName(s):
		return errWant
	}
	if err == nil {
		*v.to = s
	}
	return err
}

func (v model) String() string { return cmp.Or(*v.to, none) }
func (v model) want() string   { return "a path, the name of an installed model, or none" }

// native says which libraries run models: auto, none, the name of installed ones, or a
// directory.
type native struct{ to *string }

func (v native) set(s string, expand expander) (err error) {
	switch {
	case isPath(s):
		s, err = expand(s)
	case !isName(s):
		return errWant
	}
	if err == nil {
		*v.to = s
	}
	return err
}

func (v native) String() string { return cmp.Or(*v.to, auto) }
func (v native) want() string {
	return "auto, none, the name of an installed engine, or a path with a /"
}

// isPath reports whether a value is one where a name would do, too.
func isPath(s string) bool { return strings.ContainsAny(s, "/~$") }

// isName reports whether s can name what is installed.
func isName(s string) bool {
	return s[0] != '.' && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-+", r)
	})
}
