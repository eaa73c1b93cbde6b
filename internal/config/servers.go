package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// urlValue is a URL, as check accepts it, or "none".
func urlValue(to *string, want string, check func(at *url.URL) error) value {
	return optional(plainValue(to, want, func(s string, _ expander) (string, error) {
		at, err := url.Parse(s)
		if err != nil {
			return "", errWant
		}
		return s, check(at)
	}), to)
}

// endpoint is the URL of a server that is reached over the network or a socket.
func endpoint(to *string) value {
	return urlValue(to, "http://host:port, https://host, unix:///path", func(at *url.URL) error {
		switch {
		case at.User != nil:
			return errors.New("must not contain a user name; write the API key to " +
				"a file, and set llm.key_file to the path of the file")
		case at.Scheme == "unix" && at.Host == "" && at.Path != "":
		case (at.Scheme == "http" || at.Scheme == "https") && at.Hostname() != "":
		default:
			return errWant
		}
		return nil
	})
}

// localServer is the URL of a server of this machine.
func localServer(to *string) value {
	return urlValue(to, "http://127.0.0.1:PORT, unix:///path", func(at *url.URL) error {
		switch {
		case at.RawQuery != "" || at.Fragment != "":
			return errWant
		case at.User != nil:
			return errors.New("must not contain a user name; write the API key to a " +
				"file, and set embedding.key_file to the path of the file")
		case (at.Scheme == "unix" || at.Scheme == "http+unix") && at.Host == "" && at.Path != "":
		case !strings.HasPrefix(at.Scheme, "http") || at.Hostname() == "":
			return errWant
		case !isLocal(at.Hostname()):
			return fmt.Errorf(
				"must be a server on this machine: %s is another machine, and emberd sends texts only to this machine",
				at.Hostname())
		case at.Scheme != "http" || !isPort(at.Port()):
			return errWant
		}
		return nil
	})
}

// isPort reports whether a port is valid, or left out.
func isPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// loopback is an address and port of this machine at which something listens. Names are not taken,
// since they can lead elsewhere.
func loopback(to *string) value {
	return plainValue(to, "127.0.0.1:PORT or [::1]:PORT", func(s string, _ expander) (string, error) {
		at, err := netip.ParseAddrPort(s)
		if err != nil || !at.Addr().IsLoopback() {
			return "", errWant
		}
		return s, nil
	})
}

func isLocal(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// modelSuffix ends the names of model files.
const modelSuffix = ".gguf"

// model is a model file: a path, or the name of a model in the folder of models, which stays as
// it is until that folder is known.
func model(to *string) value {
	return optional(installed(to, "a path, the name of an installed model", func(s string) bool {
		return strings.EqualFold(filepath.Ext(s), modelSuffix)
	}), to)
}

// native is the library that runs models: auto, none, the name of an installed one, or a path.
func native(to *string) value {
	const want = "auto, none, the name of an installed runtime, or a path that contains /"
	return installed(to, want, func(string) bool { return false })
}

// installed is a path or the name of something installed.
func installed(to *string, want string, isFile func(s string) bool) value {
	return plainValue(to, want, func(s string, expand expander) (string, error) {
		switch {
		case isPath(s) || isFile(s):
			return expand(s)
		case !isName(s):
			return "", errWant
		}
		return s, nil
	})
}

// isPath reports whether a value is a path where a name would do, too.
func isPath(s string) bool { return strings.ContainsAny(s, "/~$") }

// isName reports whether s can name what is installed.
func isName(s string) bool {
	return s[0] != '.' && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-+", r)
	})
}
