package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"emberd/internal/durable"
)

var (
	errStalled  = errors.New("the server fell silent")
	errRedirect = errors.New("the redirect was not followed")
)

// download brings what an address names, and goes on where an earlier one broke off.
func download(ctx context.Context, o *Options, p *partial) (*File, error) {
	if err := checkAddress(o.Source); err != nil {
		return nil, err
	}
	address := sha256.Sum256([]byte(o.Source))
	of := note{From: Shown(o.Source), Address: hex.EncodeToString(address[:]), SHA256: o.SHA256}
	if err := p.resume(ctx, &of); err != nil {
		return nil, Explain(err, filepath.Dir(p.to))
	}
	resumed := p.size
	if p.size == 0 || p.size != p.note.Total {
		kept, err := persist(ctx, o, p, of)
		if err != nil {
			return nil, err
		}
		if !kept {
			resumed = 0
		}
	}
	done, err := p.finish(o)
	if done != nil {
		done.Resumed = resumed
	}
	return done, err
}

func checkAddress(source string) error {
	u, err := url.Parse(source)
	switch {
	case err != nil || u.Host == "":
		return fmt.Errorf("%s is no address: one looks like https://example.org/file", Shown(source))
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%s: only http and https addresses can be downloaded; a file of this machine is named by its path", Shown(source))
	}
	return nil
}

// persist receives, and goes on by itself where a download breaks off that can be gone on
// with, after longer and longer waits, until [Options.Retries] of them in a row brought
// nothing. It reports whether what was there was gone on with.
func persist(ctx context.Context, o *Options, p *partial, of note) (kept bool, err error) {
	kept = true
	begun := false
	for tried := 0; ; tried++ {
		before := p.size
		on, err := receive(ctx, o, p, of)
		kept = kept && on
		if err == nil {
			return kept, nil
		}
		if p.size != before {
			tried, begun = 0, true
		}
		if errors.Is(err, context.Canceled) && p.size > 0 {
			return kept, stopped(err, o, p)
		}
		if _, ok := errors.AsType[*brokenError](err); !ok || !begun || tried >= o.Retries || ctx.Err() != nil {
			return kept, err
		}
		select {
		case <-ctx.Done():
			return kept, stopped(ctx.Err(), o, p)
		case <-time.After(min(time.Second<<tried, mostWait)):
		}
	}
}

// mostWait is the longest wait before a download is gone on with.
const mostWait = 30 * time.Second

// A brokenError is an end of a download that may come from a network or a server that will be
// well again in a while.
type brokenError struct{ error }

func (e *brokenError) Unwrap() error { return e.error }

// receive downloads what is missing. It reports whether what was there was gone on with.
func receive(ctx context.Context, o *Options, p *partial, of note) (kept bool, err error) {
	stall := o.Stall
	if stall == 0 {
		stall = Stall
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(stall, func() { cancel(errStalled) })
	defer silence.Stop()

	resp, err := request(ctx, o, p)
	if err == nil && p.size > 0 {
		resp, err = goOn(ctx, o, p, resp)
	}
	if err != nil {
		return false, explainNetwork(ctx, err, o.Source, stall)
	}
	defer resp.Body.Close()
	kept = p.size > 0
	if err := admit(resp, o, p); err != nil {
		return kept, err
	}
	if !kept {
		p.note = of
		p.note.ETag, p.note.Modified = resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")
	}
	p.note.Total = total(resp, p)
	return kept, store(ctx, o, p, &quiet{resp.Body, silence, stall})
}

// goOn looks at the answer to a request for the rest of a file, and starts anew where the rest
// is not to be had. An answer that is no file at all is left to [admit], and what there is to
// another day.
func goOn(ctx context.Context, o *Options, p *partial, resp *http.Response) (*http.Response, error) {
	switch resp.StatusCode {
	case http.StatusPartialContent:
		if continues(resp, p) {
			return resp, nil
		}
	case http.StatusOK:
		return resp, p.reset()
	case http.StatusRequestedRangeNotSatisfiable:
	default:
		return resp, nil
	}
	resp.Body.Close()
	if err := p.reset(); err != nil {
		return nil, err
	}
	return request(ctx, o, p)
}

// request asks for the file, or for what is missing of it.
func request(ctx context.Context, o *Options, p *partial) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.Source, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "emberd")
	req.Header.Set("Accept-Encoding", "identity") // the digest is of the file, not of what it was packed from
	if p.size > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", p.size))
		if v := p.note.validator(); v != "" {
			req.Header.Set("If-Range", v)
		}
	}
	client := http.Client{}
	if o.Client != nil {
		client = *o.Client
	}
	client.CheckRedirect = checkRedirect
	return client.Do(req)
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	switch {
	case len(via) > MostRedirects:
		return fmt.Errorf("%w: there were more than %d, which leads nowhere; check the address with a browser", errRedirect, MostRedirects)
	case req.URL.Scheme != "https" && req.URL.Scheme != "http":
		return fmt.Errorf("%w: it leads to a %s address", errRedirect, req.URL.Scheme)
	case isLocal(req.URL.Hostname()) && !isLocal(from.Hostname()):
		return fmt.Errorf("%w: it leads to this machine itself, where no server of others has anything to ask for", errRedirect)
	case from.Scheme == "https" && req.URL.Scheme == "http":
		return fmt.Errorf("%w: it leads from https to plain http, where anybody could change the file", errRedirect)
	}
	req.Header.Del("Referer") // an address may hold a secret
	return nil
}

// isLocal reports whether a host is this machine, or one that only this machine reaches.
func isLocal(host string) bool {
	// Names are the same in any case, and with the root that they lie in.
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // RFC 6761, 6.3
		return true
	}
	at, err := netip.ParseAddr(host)
	at = at.Unmap()
	return err == nil && (at.IsLoopback() || at.IsUnspecified() || at.IsLinkLocalUnicast())
}

// continues reports whether an answer goes on just where the partial file ends.
func continues(resp *http.Response, p *partial) bool {
	for was, is := range map[string]string{p.note.ETag: resp.Header.Get("ETag"), p.note.Modified: resp.Header.Get("Last-Modified")} {
		if was != "" && is != "" && was != is {
			return false // the server has no If-Range, and another file
		}
	}
	var first, last, all int64
	n, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &all)
	return err == nil && n == 3 && first == p.size && last == all-1 && (p.note.Total == 0 || p.note.Total == all)
}

// total is how many bytes the whole file has, 0 if the server does not tell.
func total(resp *http.Response, p *partial) int64 {
	if resp.ContentLength < 0 {
		return 0
	}
	return p.size + resp.ContentLength
}

// admit says why an answer is not taken, before its first byte is.
func admit(resp *http.Response, o *Options, p *partial) error {
	want := http.StatusOK
	if p.size > 0 {
		want = http.StatusPartialContent
	}
	if resp.StatusCode != want {
		return explainStatus(resp, o.Source)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
		return webPage(o)
	}
	if packed := resp.Header.Get("Content-Encoding"); packed != "" && packed != "identity" {
		return fmt.Errorf("%s: the server sends the file packed as %.40q, which was not asked for; download it with a browser and install it from there", Shown(o.Source), packed)
	}
	all := total(resp, p)
	if all == 0 {
		return nil
	}
	if err := checkSize(o, all); err != nil {
		return err
	}
	free, err := durable.OS{}.Free(filepath.Dir(p.to))
	if missing := all - p.size; err == nil && free < uint64(missing) {
		return tooLittle(filepath.Dir(p.to), free, missing)
	}
	return nil
}

// tooLittle says that a file will not fit.
func tooLittle(folder string, free uint64, needed int64) error {
	return fmt.Errorf("%w %s: %s are free and %s are needed; make room and run this again",
		ErrNoSpace, folder, megabytes(int64(free)), megabytes(needed))
}

func webPage(o *Options) error {
	return fmt.Errorf("%s is a web page and not a file: open it in a browser and take the address of the download itself", Shown(o.Source))
}

// checkSize judges the size of a file.
func checkSize(o *Options, size int64) error {
	if o.Size != 0 && size != o.Size {
		return fmt.Errorf("%s has %d bytes where %d were expected: it is another file; check where it comes from", Shown(o.Source), size, o.Size)
	}
	return checkSoFar(o, size)
}

// checkSoFar judges how much of a file there is.
func checkSoFar(o *Options, size int64) error {
	switch {
	case o.Size != 0 && size > o.Size:
		return fmt.Errorf("%s has more than the %d bytes that were expected: it is another file; check where it comes from", Shown(o.Source), o.Size)
	case size > o.Most:
		return fmt.Errorf("%s has more than %s, which is the most that is taken: check that it is what you want", Shown(o.Source), megabytes(o.Most))
	}
	return nil
}

// store writes what arrives to the partial file. What arrived before an error stays, if the
// download can go on with it.
func store(ctx context.Context, o *Options, p *partial, body io.Reader) error {
	err := pour(ctx, o, p, body)
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*refusal](err); ok {
		p.remove()
		return refused.error
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	synced := p.note.Synced // which is still noted where a full disk has no room for another note
	kept := p.note.resumable() && (p.keep() == nil || synced > 0)
	disk := Explain(err, filepath.Dir(p.to))
	told := explainBreak(disk, o, p, kept)
	if !kept {
		p.remove()
	} else if disk == err && !isPath(err) { // it is of the network
		return &brokenError{told}
	}
	return told
}

// isPath reports whether an error is of a file here.
func isPath(err error) bool {
	_, ok := errors.AsType[*fs.PathError](err)
	return ok
}

// A refusal is an error after which nothing of the file is kept.
type refusal struct{ error }

// pour writes what it reads to the partial file, until the end of either.
func pour(ctx context.Context, o *Options, p *partial, body io.Reader) error {
	buf := make([]byte, 128<<10)
	for kept := p.size; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := body.Read(buf)
		if err := check(o, p, buf[:n]); err != nil {
			return &refusal{err}
		}
		if _, err := p.Write(buf[:n]); err != nil {
			return err
		}
		if o.Progress != nil {
			o.Progress(p.size, p.note.Total)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if p.size-kept >= checkpoint {
			kept = p.size
			if err := p.keep(); err != nil {
				return err
			}
		}
	}
}

// check judges bytes before they are written.
func check(o *Options, p *partial, data []byte) error {
	if p.size == 0 && strings.HasPrefix(http.DetectContentType(data), "text/html") && IsURL(o.Source) {
		return webPage(o)
	}
	return checkSoFar(o, p.size+int64(len(data)))
}

// quiet is a body whose every byte puts off the end of patience.
type quiet struct {
	body    io.Reader
	silence *time.Timer
	stall   time.Duration
}

func (q *quiet) Read(p []byte) (int, error) {
	n, err := q.body.Read(p)
	if n > 0 {
		q.silence.Reset(q.stall)
	}
	return n, err
}
