// Package fetch brings one file to where it belongs: a copy of one on this machine, or a
// download from an http or https address that a person gave.
//
// # What holds
//
// The name [Options.To] means nothing or the whole, checked file: bytes arrive in a file
// beside it that ends in ".partial", and only when their number and their SHA-256 are what
// was asked for, and [Options.Check] agrees, are they synced and renamed. What is not what
// was asked for is removed.
//
// A download that breaks off stays, and the next one of the same thing goes on from there,
// even after the process was killed or the power was lost: a second file, ".partial.json",
// says what the first is of and how much of it is known to be on the disk. The same thing is
// what has the same expected SHA-256, or comes from the same address and is, by the server's
// word (RFC 9110, 13.1.5: If-Range), unchanged since. A server that knows no ranges, or a
// file that changed, starts anew.
//
// Two processes that fetch to one name do not meet: the partial file is locked with flock(2)
// while it is written, and the second of them is told so at once. A process that dies leaves
// no lock behind.
//
// # What is bounded
//
// The size, before the first byte where the server tells it and while reading in any case;
// redirects, [MostRedirects] of them, never from https to http, to another scheme or to this
// machine itself;
// silence, [Options.Stall]. The environment's proxy (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) is
// respected, as a person who asks for a download expects. An address may hold secrets, in its
// user part or its query, and so neither appears in any error or file: see [Shown].
//
// Each error is one sentence with what to do. Fetch may be called from several goroutines.
package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"emberd/internal/durable"
)

// MostRedirects is how many redirects one download follows.
const MostRedirects = 5

// Stall is how long a server may be silent where [Options.Stall] does not say.
const Stall = 30 * time.Second

// Retries is for [Options.Retries] where a person waits: about half a minute of waits.
const Retries = 5

// Options say what to fetch.
type Options struct {
	// Source is an http or https address, or the path of a file.
	Source string
	// To is the path of the file to make. A file that is there is replaced.
	To string
	// SHA256 is the digest that the file must have, in hex; any if empty.
	SHA256 string
	// Size is how many bytes the file must have; any number if 0.
	Size int64
	// Most is how many bytes the file may have; it must be given.
	Most int64
	// Progress, if not nil, is told now and then how many bytes are there and how many
	// there will be, 0 if that is not known. It is called by the goroutine that fetches.
	Progress func(done, total int64)
	// Check, if not nil, judges the complete file before it gets its name. With an
	// error the file is removed, and the error returned as it is.
	Check func(path, sha256 string) error
	// Stall is how long a server may send nothing before it is given up; [Stall] if 0.
	Stall time.Duration
	// Retries is how often in a row, without a byte, a download that broke off is gone on
	// with by itself. A server that does not answer at first is not asked again.
	Retries int
	// Client does the requests; nil is one that respects the environment's proxy. Its
	// CheckRedirect is not used.
	Client *http.Client
}

// A File is what was fetched.
type File struct {
	Size    int64
	SHA256  string // in lower-case hex
	Resumed int64  // bytes of it that an earlier download left
}

// What a caller may have to tell apart: that another process fetches to the same name, that
// the disk is full, and that the expected digest is none.
var (
	ErrBusy    = errors.New("is being fetched by another process already; wait until it is done")
	ErrNoSpace = errors.New("no space left on the disk that holds")
	ErrDigest  = errors.New("is no SHA-256")
)

// Fetch brings the file to its place. After an error nothing is at To that was not there
// before; where a download can go on later, the error says so: [*StoppedError] if the context
// ended it.
func Fetch(ctx context.Context, o Options) (*File, error) {
	if o.Most <= 0 || o.To == "" {
		return nil, errors.New("fetch: a bound and a place are needed")
	}
	o.SHA256 = strings.ToLower(o.SHA256)
	if o.SHA256 != "" && !isDigest(o.SHA256) {
		return nil, fmt.Errorf("%q %w: 64 hexadecimal digits are needed, as sha256sum prints them", o.SHA256, ErrDigest)
	}
	bring := copyFile
	if IsURL(o.Source) {
		bring = download
	}
	if err := durable.MkdirAll(durable.OS{}, filepath.Dir(o.To)); err != nil {
		return nil, Explain(err, filepath.Dir(o.To))
	}
	p, err := openPartial(o.To)
	if err != nil {
		return nil, err
	}
	defer p.close()
	return bring(ctx, &o, p)
}

// Forget removes what a download to a path that broke off has left, and reports whether there
// was anything. One that is under way is [ErrBusy].
func Forget(to string) (found bool, err error) {
	if _, err := os.Lstat(partialName(to)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	p, err := openPartial(to)
	if err != nil {
		return false, err
	}
	p.remove()
	p.close()
	return true, nil
}

func isDigest(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == sha256.Size
}

// IsURL reports whether a source is an address, and not the path of a file. What has another
// scheme than http and https is an address too, which Fetch refuses.
func IsURL(source string) bool {
	scheme, _, found := strings.Cut(source, "://")
	return found && scheme != "" && !strings.ContainsAny(scheme, `/\.`)
}

// Shown is a source as people may see it: an address without its user part, query and
// fragment, any of which may hold a secret; a path as it is.
func Shown(source string) string {
	if !IsURL(source) {
		return source
	}
	u, err := url.Parse(source)
	if err != nil || u.Host == "" {
		scheme, _, _ := strings.Cut(source, "://")
		return scheme + "://..."
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
