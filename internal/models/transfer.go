package models

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"emberd/internal/durable"
)

// Bounds of a transfer.
const (
	maxRedirects    = 5
	maxSilence      = 30 * time.Second // without a byte
	maxTransferTime = 6 * time.Hour
)

// Progress receives how many bytes have arrived, of a total that is 0 if it is unknown. The
// goroutine that installs calls it.
type Progress func(done, total int64)

// A transfer copies a local file or downloads one, once: a broken download is repeated from the
// start. An address may contain secrets in its user part or its query, so errors and files only
// get what [shownSource] leaves of it. The environment's proxy applies.
type transfer struct {
	source   string // path or URL
	to       string // path of the new file
	sha256   string // expected digest in lower-case hex; any if empty
	size     int64  // expected size in bytes; any if 0
	maxSize  int64
	silence  time.Duration
	progress Progress
}

var (
	errSilent   = errors.New("the server stopped sending data")
	errRedirect = errors.New("emberd did not follow the redirect")
)

// run makes the new file, synced to the disk, and returns its digest and size. After an error the
// caller removes what there is of the file.
func (t *transfer) run(ctx context.Context) (digest string, size int64, err error) {
	ctx, stop := context.WithTimeout(ctx, maxTransferTime)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(t.silence, func() { cancel(errSilent) })
	defer idle.Stop()
	body, total, err := t.open(ctx)
	if err != nil {
		return "", 0, t.explain(ctx, err)
	}
	defer body.Close()
	file, err := os.OpenFile(t.to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", 0, explainWrite(err, filepath.Dir(t.to))
	}
	arrives := func() error {
		idle.Reset(t.silence)
		return ctx.Err()
	}
	digest, size, err = t.pour(file, interruptible{arrives, body}, total)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", 0, t.explain(ctx, err)
	}
	if t.sha256 != "" && digest != t.sha256 {
		return "", 0, fmt.Errorf("%s has the SHA-256 %s instead of %s: the file is damaged or not the "+
			"expected file, so emberd did not install it; check where the file comes from", shownSource(t.source),
			digest, t.sha256)
	}
	return digest, size, nil
}

// pour writes what it reads to a file, within the expected size.
func (t *transfer) pour(file io.Writer, body io.Reader, total int64) (digest string, size int64, err error) {
	sum := sha256.New()
	buf := make([]byte, 128<<10)
	for err == nil {
		var n int
		n, err = body.Read(buf)
		sum.Write(buf[:n])
		size += int64(n)
		if sizeErr := t.checkSize(size, errors.Is(err, io.EOF)); sizeErr != nil {
			return "", 0, sizeErr
		}
		if _, writeErr := file.Write(buf[:n]); writeErr != nil {
			return "", 0, writeErr
		}
		if t.progress != nil {
			t.progress(size, total)
		}
	}
	if !errors.Is(err, io.EOF) {
		return "", 0, err
	}
	return hex.EncodeToString(sum.Sum(nil)), size, nil
}

// checkSize compares the bytes so far, or at the end, with the expected size.
func (t *transfer) checkSize(size int64, atEnd bool) error {
	switch {
	case t.size != 0 && atEnd && size != t.size:
		return fmt.Errorf(
			"%s has %d bytes instead of %d: this is not the expected file; check where the file comes from",
			shownSource(t.source), size, t.size)
	case t.size != 0 && size > t.size:
		return fmt.Errorf(
			"%s has more than the expected %d bytes: this is not the expected file; check where the file comes from",
			shownSource(t.source), t.size)
	case size > t.maxSize:
		return fmt.Errorf("%s is too large: a download is limited to %d bytes; check the URL", shownSource(t.source),
			t.maxSize)
	}
	return nil
}

// open opens the source and returns its size, 0 if that is unknown.
func (t *transfer) open(ctx context.Context) (io.ReadCloser, int64, error) {
	if !isURL(t.source) {
		return openFile(t.source)
	}
	u, err := url.Parse(t.source)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, 0, fmt.Errorf("invalid download URL %s; use a URL such as "+
			"https://example.org/file, or the path of a file on this machine", shownSource(t.source))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.source, nil)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("User-Agent", "emberd")
	req.Header.Set("Accept-Encoding", "identity") // the digest is of the file, not of a packed form
	resp, err := (&http.Client{CheckRedirect: checkRedirect}).Do(req)
	if err != nil {
		return nil, 0, t.unreachable(err)
	}
	size := max(0, resp.ContentLength)
	err = t.checkResponse(resp)
	if err == nil && size > 0 {
		err = t.checkSize(size, true)
	}
	if err != nil {
		resp.Body.Close()
		return nil, 0, err
	}
	return resp.Body, size, nil
}

// openFile opens a regular file and returns its size.
func openFile(name string) (*os.File, int64, error) {
	size, err := sizeOf(name)
	if err != nil {
		return nil, 0, err
	}
	f, err := durable.OpenGiven(name)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return f, size, nil
}

// sizeOf returns the size of a regular file. Others are refused: opening a pipe would wait for a
// writer.
func sizeOf(name string) (int64, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, problemf(ErrInput, "file %s not found; check its path", name)
	case err != nil:
		return 0, fmt.Errorf("cannot read %s: %w", name, err)
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s is not a file; use the path of a file", name)
	}
	return info.Size(), nil
}

// checkResponse explains why a response is not the file.
func (t *transfer) checkResponse(resp *http.Response) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	packed := resp.Header.Get("Content-Encoding")
	var problem string
	switch code := resp.StatusCode; {
	case code == http.StatusOK && kind == "text/html":
		problem = "the server returned a web page instead of a file; open the page in a browser and copy the " +
			"download link"
	case code == http.StatusOK && packed != "" && packed != "identity":
		problem = "the server sent the file compressed; download it with a browser, and install it from its path"
	case code == http.StatusOK:
		return nil
	case code == http.StatusNotFound, code == http.StatusGone:
		problem = "the server did not find the file; check the URL"
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		problem = "the server requires you to log in or accept terms; download the file with a browser, " +
			"and install it from its path"
	case code == http.StatusProxyAuthRequired:
		problem = "the proxy requires a login; set the user name and password in HTTPS_PROXY"
	case code == http.StatusTooManyRequests, code >= 500:
		problem = "the server cannot answer now; try again later"
	default:
		problem = "the server did not return the file; open the URL in a browser to check it"
	}
	return fmt.Errorf("%s: %s (%d %s)", shownSource(t.source), problem, resp.StatusCode,
		http.StatusText(resp.StatusCode))
}

// checkRedirect refuses redirects that lose encryption, and those that would make this machine
// ask its own services for a server elsewhere.
func checkRedirect(req *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("%w: more than %d redirects", errRedirect, maxRedirects)
	case req.URL.Scheme != "https" && req.URL.Scheme != "http":
		return fmt.Errorf("%w: the target URL has the unsupported scheme %s", errRedirect, req.URL.Scheme)
	case isLocal(req.URL.Hostname()) && !isLocal(from.Hostname()):
		return fmt.Errorf("%w: the target is a local address", errRedirect)
	case from.Scheme == "https" && req.URL.Scheme == "http":
		return fmt.Errorf("%w: the target uses http instead of https, so other parties could change the file",
			errRedirect)
	}
	req.Header.Del("Referer") // an address may contain a secret
	return nil
}

// isLocal reports whether a host is this machine, or one that only this machine reaches.
func isLocal(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // RFC 6761, 6.3
		return true
	}
	at, err := netip.ParseAddr(host)
	at = at.Unmap()
	return err == nil && (at.IsLoopback() || at.IsUnspecified() || at.IsLinkLocalUnicast())
}

// unreachable explains why there is no response. The address in a url.Error is left out: a
// redirect may have put a secret into it.
func (t *transfer) unreachable(err error) error {
	for outer, ok := errors.AsType[*url.Error](err); ok; outer, ok = errors.AsType[*url.Error](err) {
		err = outer.Err
	}
	shown := shownSource(t.source)
	switch {
	case strings.Contains(err.Error(), "Location header"):
		return fmt.Errorf("%s: %w: the target is not a valid URL", shown, errRedirect)
	case errors.Is(err, errRedirect), errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", shown, err)
	}
	return fmt.Errorf("cannot reach %s; check the URL, the network and the proxy, and try again: %w", shown, err)
}

// explain adds to an error of a transfer what to do about it.
func (t *transfer) explain(ctx context.Context, err error) error {
	_, network := errors.AsType[net.Error](err)
	_, local := errors.AsType[*fs.PathError](err)
	switch {
	case local:
		return explainWrite(err, filepath.Dir(t.to))
	case errors.Is(context.Cause(ctx), errSilent):
		return fmt.Errorf("%s: received no data for %s; check the network and try again", shownSource(t.source),
			t.silence)
	case errors.Is(err, io.ErrUnexpectedEOF), network:
		return fmt.Errorf("%s: the download was interrupted; try again: %w", shownSource(t.source), err)
	}
	return err
}

// isURL reports whether a source is an address and not a path. An address with a scheme other
// than http and https is one, too, and refused later.
func isURL(source string) bool {
	scheme, _, found := strings.Cut(source, "://")
	return found && scheme != "" && !strings.ContainsAny(scheme, `/\.`)
}

// shownSource returns a path unchanged, and an address without its user part, query and fragment.
func shownSource(source string) string {
	if !isURL(source) {
		return source
	}
	u, err := url.Parse(source)
	if err != nil || u.Host == "" {
		scheme, _, _ := strings.Cut(source, "://")
		return scheme + "://..."
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// An interruptible reader fails once check does.
type interruptible struct {
	check func() error
	io.Reader
}

func (i interruptible) Read(p []byte) (int, error) {
	if err := i.check(); err != nil {
		return 0, err
	}
	return i.Reader.Read(p)
}

// digestOf returns the SHA-256 of a file in hex, and its size.
func digestOf(ctx context.Context, name string, progress Progress) (digest string, size int64, err error) {
	f, total, err := openFile(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	t := transfer{source: name, maxSize: total, progress: progress}
	return t.pour(io.Discard, interruptible{ctx.Err, f}, total)
}
