package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// An unsteady server answers each request as the next word of a list says, of a file whose size
// does not change.
type unsteady struct {
	data  []byte
	words []string
	asked []string // the Range headers
}

func (u *unsteady) RoundTrip(r *http.Request) (*http.Response, error) {
	u.asked = append(u.asked, r.Header.Get("Range"))
	word := u.words[min(len(u.asked), len(u.words))-1]
	var from int
	if asked := r.Header.Get("Range"); asked != "" {
		if _, err := fmt.Sscanf(asked, "bytes=%d-", &from); err != nil {
			return nil, err
		}
	}
	resp := &http.Response{StatusCode: http.StatusOK, Request: r, Header: http.Header{"Etag": {`"v1"`}}, ContentLength: int64(len(u.data) - from)}
	if from > 0 {
		resp.StatusCode = http.StatusPartialContent
		resp.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(u.data)-1, len(u.data)))
	}
	left := u.data[from:]
	switch word {
	case "refuses":
		return nil, errors.New("connection refused")
	case "busy":
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Request: r, Body: http.NoBody}, nil
	case "lost":
		return &http.Response{StatusCode: http.StatusNotFound, Request: r, Body: http.NoBody}, nil
	case "breaks":
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(left[:100]), waiting(func() error { return io.ErrUnexpectedEOF })))
	case "breaks at once":
		resp.Body = io.NopCloser(waiting(func() error { return io.ErrUnexpectedEOF }))
	default:
		resp.Body = io.NopCloser(bytes.NewReader(left))
	}
	return resp, nil
}

func TestGoesOnByItself(t *testing.T) {
	data := content(1000)
	for _, tt := range []struct {
		name  string
		words []string
		tries int
		waits time.Duration
		asked int
		want  string // of the error
	}{
		{"all is well", []string{"sends"}, 3, 0, 1, ""},
		{"it breaks twice", []string{"breaks", "breaks", "sends"}, 3, 2 * time.Second, 3, ""},
		{"the network is away for a while", []string{"breaks", "refuses", "busy", "breaks at once", "sends"}, 4, 15 * time.Second, 5, ""},
		{"it stays away", []string{"breaks", "refuses"}, 3, 7 * time.Second, 4, "cannot be reached"},
		{"it was never there", []string{"refuses"}, 3, 0, 1, "cannot be reached"},
		{"it breaks before the first byte", []string{"breaks at once"}, 3, 0, 1, "broke off after 0 bytes"},
		{"the file is gone", []string{"breaks", "lost"}, 3, time.Second, 2, "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			to := place(t)
			synctest.Test(t, func(t *testing.T) {
				u := &unsteady{data: data, words: tt.words}
				start := time.Now()
				o := Options{Source: "http://example.org/m", To: to, Most: 1 << 20, Retries: tt.tries, Client: &http.Client{Transport: u}}
				_, err := Fetch(t.Context(), o)
				if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
					t.Errorf("Fetch: %v, want %q", err, tt.want)
				}
				if waited := time.Since(start); waited != tt.waits || len(u.asked) != tt.asked {
					t.Errorf("asked %q in %v, want %d times in %v", u.asked, waited, tt.asked, tt.waits)
				}
			})
			if tt.want == "" {
				holds(t, to, data)
			}
		})
	}
}

func TestStoppedBetweenTwoTries(t *testing.T) {
	to := place(t)
	data := content(1000)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		u := &unsteady{data: data, words: []string{"breaks", "refuses"}}
		o := Options{Source: "http://example.org/m", To: to, Most: 1 << 20, Retries: 20, Client: &http.Client{Transport: u}}
		time.AfterFunc(1500*time.Millisecond, cancel)
		_, err := Fetch(ctx, o)
		told, ok := errors.AsType[*StoppedError](err)
		if !ok || !errors.Is(err, context.Canceled) || !strings.Contains(told.Error(), "stopped after 100 bytes of 1000 bytes: run this again to go on from there") {
			t.Errorf("Fetch: %v, want that it was stopped and can go on", err)
		}
		u.words = []string{"sends"}
		file, err := Fetch(t.Context(), o)
		if err != nil || file.Resumed != 100 || !slices.Contains(u.asked, rangeFrom(100)) {
			t.Errorf("Fetch = %+v, %v, want that it went on", file, err)
		}
	})
	holds(t, to, data)
}

// Where a server has another version of the file only by its date, and no If-Range, two
// versions do not become one file.
func TestAnotherDateStartsAnew(t *testing.T) {
	p := &partial{size: 100, note: note{Modified: "Sat, 21 Nov 2026 10:00:00 GMT", Total: 1000}}
	resp := &http.Response{Header: http.Header{}}
	resp.Header.Set("Content-Range", "bytes 100-999/1000")
	for date, want := range map[string]bool{p.note.Modified: true, "": true, "Sat, 21 Nov 2026 11:00:00 GMT": false} {
		resp.Header.Set("Last-Modified", date)
		if got := continues(resp, p); got != want {
			t.Errorf("an answer of %q continues: %v, want %v", date, got, want)
		}
	}
}

// A server elsewhere must not make this machine ask its own services.
func TestRedirectsToThisMachine(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		want     bool // that it is followed
	}{
		{"https://example.org/x", "https://cdn.example.org/x", true},
		{"http://example.org/x", "http://10.0.0.7/x", true}, // a mirror of one's own network
		{"http://localhost:8080/x", "http://127.0.0.1:9090/x", true},
		{"http://example.org/x", "http://localhost:8080/x", false},
		{"http://example.org/x", "http://a.localhost/x", false},
		{"http://example.org/x", "http://LocalHost/x", false},
		{"http://example.org/x", "http://localhost./x", false},
		{"https://example.org/x", "https://127.0.0.1/x", false},
		{"http://example.org/x", "http://[::1]:80/x", false},
		{"http://example.org/x", "http://[::ffff:127.0.0.1]/x", false},
		{"http://example.org/x", "http://0.0.0.0/x", false},
		{"http://example.org/x", "http://169.254.169.254/latest", false},
	} {
		request := func(address string) *http.Request {
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			return &http.Request{URL: u, Header: http.Header{}}
		}
		err := checkRedirect(request(tt.to), []*http.Request{request(tt.from)})
		if (err == nil) != tt.want || err != nil && !errors.Is(err, errRedirect) {
			t.Errorf("from %s to %s: %v, want it followed: %v", tt.from, tt.to, err, tt.want)
		}
	}
}
