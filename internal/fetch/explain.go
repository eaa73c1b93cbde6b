package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Explain turns what the system says of a folder that is written to into what to do about it.
// Other errors, and nil, it returns as they are.
func Explain(err error, folder string) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w %s: make room and run this again: %w", ErrNoSpace, folder, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s cannot be written to: choose another folder, or change its permissions: %w", folder, err)
	}
	return err
}

// explainNetwork turns the failure of a request into a sentence. The address in a url.Error is
// left out: it may have been redirected to one that holds a secret.
func explainNetwork(ctx context.Context, err error, source string, stall time.Duration) error {
	if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
		return &brokenError{fmt.Errorf("%s: nothing came for %s: check the network and run this again", Shown(source), stall)}
	}
	for {
		outer, ok := errors.AsType[*url.Error](err)
		if !ok {
			break
		}
		err = outer.Err
	}
	if strings.Contains(err.Error(), "Location header") {
		return fmt.Errorf("%s: the server redirects to what is no address; download the file with a browser and install it from there", Shown(source))
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok && lookup.IsNotFound {
		return fmt.Errorf("%s: there is no server of this name; check the address and the network: %w", Shown(source), err)
	}
	if errors.Is(err, errRedirect) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", Shown(source), err)
	}
	return &brokenError{fmt.Errorf("%s cannot be reached: check the address, the network and the proxy, and run this again: %w", Shown(source), err)}
}

// explainStatus is what an answer means that is not the file.
func explainStatus(resp *http.Response, source string) error {
	var problem string
	later := false
	switch code := resp.StatusCode; {
	case code == http.StatusNotFound, code == http.StatusGone:
		problem = "the server has no such file: check the address"
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		problem = "the server does not give the file to everybody: download it with a browser, after logging in or accepting its terms, and install it from there"
	case code == http.StatusProxyAuthRequired:
		problem = "the proxy wants a login: set it in HTTPS_PROXY"
	case code == http.StatusTooManyRequests, code >= 500:
		problem, later = "the server cannot answer now: try again later", true
	default:
		problem = "that is not the file: check the address with a browser"
	}
	err := fmt.Errorf("%s: %s (%d %s)", Shown(source), problem, resp.StatusCode, http.StatusText(resp.StatusCode))
	if later {
		return &brokenError{err}
	}
	return err
}

// A StoppedError is that a download was stopped by who asked for it, and can be gone on with.
type StoppedError struct {
	text  string
	cause error
}

func (e *StoppedError) Error() string { return e.text }

// Unwrap is what the context says.
func (e *StoppedError) Unwrap() error { return e.cause }

func stopped(cause error, o *Options, p *partial) error {
	return &StoppedError{fmt.Sprintf("%s: stopped after %s: run this again to go on from there", Shown(o.Source), amount(p.size, p.note.Total)), cause}
}

// explainBreak is what to say of a download that ended early; kept tells whether it can go on.
func explainBreak(err error, o *Options, p *partial, kept bool) error {
	next := "run this again to start anew"
	if kept {
		next = "run this again to go on from there"
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errStalled) {
		return fmt.Errorf("%s: the download broke off after %s: %s: %w", Shown(o.Source), amount(p.size, p.note.Total), next, err)
	}
	return fmt.Errorf("%s: the download ended after %s: %s: %w", Shown(o.Source), amount(p.size, p.note.Total), next, err)
}

// amount is so many bytes of so many, for people.
func amount(done, total int64) string {
	if total <= 0 {
		return megabytes(done)
	}
	return megabytes(done) + " of " + megabytes(total)
}

func megabytes(n int64) string {
	if n < 100_000 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
