package fetch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// childVariable makes the test binary fetch, so that a test can kill it.
const childVariable = "EMBERD_FETCH_TEST"

func TestMain(m *testing.M) {
	if job := os.Getenv(childVariable); job != "" {
		source, to, _ := strings.Cut(job, "|")
		_, err := Fetch(context.Background(), Options{Source: source, To: to, Most: 1 << 30,
			Progress: func(done, _ int64) { fmt.Println(done) }})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const (
	large = 2*checkpoint + 12345
	cut   = checkpoint + 1000
)

func TestResume(t *testing.T) {
	data := content(large)
	changed := append(content(large-1), 'x')
	rest := rangeFrom(cut)
	for _, tt := range []struct {
		name    string
		etag    string
		sha     bool
		before  func(*shelf)
		want    []byte
		ranges  []string
		resumed int64
	}{
		{name: "goes on", etag: `"v1"`, want: data, ranges: []string{"", rest}, resumed: cut},
		{name: "by the digest alone", sha: true, want: data, ranges: []string{"", rest}, resumed: cut},
		{name: "a weak tag tells nothing", etag: `W/"v1"`, want: data, ranges: []string{"", ""}},
		{name: "nothing tells", want: data, ranges: []string{"", ""}},
		{name: "the file changed", etag: `"v1"`, want: changed, ranges: []string{"", rest},
			before: func(s *shelf) { s.data, s.etag = changed, `"v2"` }},
		{name: "the file changed where If-Range is unknown", etag: `"v1"`, want: changed, ranges: []string{"", rest, ""},
			before: func(s *shelf) { s.data, s.etag, s.always = changed, `"v2"`, true }},
		{name: "the file is shorter where If-Range is unknown", etag: `"v1"`, want: data[:cut-1], ranges: []string{"", rest, ""},
			before: func(s *shelf) { s.data, s.always = data[:cut-1], true }},
		{name: "no ranges", etag: `"v1"`, want: data, ranges: []string{"", rest},
			before: func(s *shelf) { s.noRange = true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newShelf(t, data, tt.etag)
			s.with(func(s *shelf) { s.cut = cut })
			o := Options{Source: s.URL + "/m", To: place(t)}
			if tt.sha {
				o.SHA256 = digest(data)
			}
			if got := refused(t, o); !strings.Contains(got, "broke off after 4.2 MB of 8.4 MB") {
				t.Fatalf("error %q, want that it broke off", got)
			}
			s.with(func(s *shelf) { s.cut = 0 })
			if tt.before != nil {
				s.with(tt.before)
			}
			file := fetched(t, o)
			holds(t, o.To, tt.want)
			if asked := s.ranges(); !slices.Equal(asked, tt.ranges) {
				t.Errorf("the server was asked for %q, want %q", asked, tt.ranges)
			}
			if file.Resumed != tt.resumed {
				t.Errorf("resumed %d bytes, want %d", file.Resumed, tt.resumed)
			}
		})
	}
}

// A server that is busy, or has lost the file, costs no byte of what there is.
func TestTroubleKeepsThePartialFile(t *testing.T) {
	data := content(large)
	s := newShelf(t, data, `"v1"`)
	s.with(func(s *shelf) { s.cut = cut })
	var status int
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status != 0 {
			w.WriteHeader(status)
			return
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	o := Options{Source: front.URL, To: place(t)}
	refused(t, o)
	for _, status = range []int{503, 404, 302} {
		refused(t, o)
	}
	refused(t, Options{Source: "ftp://example.org/x", To: o.To})
	status = 0
	s.with(func(s *shelf) { s.cut = 0 })
	if file := fetched(t, o); file.Resumed != cut {
		t.Errorf("resumed %d bytes, want %d", file.Resumed, cut)
	}
	holds(t, o.To, data)
}

func TestAnotherSourceStartsAnew(t *testing.T) {
	data := content(large)
	first, second := newShelf(t, content(large), `"v1"`), newShelf(t, data, `"v1"`)
	first.with(func(s *shelf) { s.cut = cut })
	to := place(t)
	refused(t, Options{Source: first.URL, To: to})
	if file := fetched(t, Options{Source: second.URL, To: to}); file.Resumed != 0 {
		t.Errorf("resumed %d bytes of another address, want 0", file.Resumed)
	}
	holds(t, to, data)
}

func TestAnotherDigestStartsAnew(t *testing.T) {
	old, data := content(large), content(large)
	data[0]++
	s := newShelf(t, old, `"v1"`)
	s.with(func(s *shelf) { s.cut = cut })
	o := Options{Source: s.URL, To: place(t), SHA256: digest(old)}
	refused(t, o)
	s.with(func(s *shelf) { s.cut, s.data, s.etag, s.always = 0, data, "", true })
	o.SHA256 = digest(data)
	if file := fetched(t, o); file.Resumed != 0 {
		t.Errorf("resumed %d bytes of another file, want 0", file.Resumed)
	}
	holds(t, o.To, data)
}

// What was written after the last checkpoint may be anything after a power loss.
func TestOnlyWhatWasSyncedCounts(t *testing.T) {
	data := content(large)
	s := newShelf(t, data, `"v1"`)
	s.with(func(s *shelf) { s.cut = cut })
	o := Options{Source: s.URL, To: place(t)}
	refused(t, o)
	f, err := os.OpenFile(partialName(o.To), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(make([]byte, 5000)); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s.with(func(s *shelf) { s.cut = 0 })
	if file := fetched(t, o); file.Resumed != cut {
		t.Errorf("resumed %d bytes, want %d", file.Resumed, cut)
	}
	holds(t, o.To, data)
}

// A process that waited for the lock of a file that is complete by then must not take it for
// the one under its name.
func TestNamed(t *testing.T) {
	name := place(t)
	if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !named(f) {
		t.Error("a file that was just made does not have its name")
	}
	if err := os.Rename(name, name+".done"); err != nil {
		t.Fatal(err)
	}
	if named(f) {
		t.Error("a file that was renamed has its old name")
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if named(f) {
		t.Error("a file that was renamed has the name of another one")
	}
}

// What was expected is the same from a mirror, so the digest lets it go on there.
func TestMirrorGoesOn(t *testing.T) {
	data := content(large)
	first, second := newShelf(t, data, `"v1"`), newShelf(t, data, `"w7"`)
	first.with(func(s *shelf) { s.cut = cut })
	o := Options{Source: first.URL, To: place(t), SHA256: digest(data)}
	refused(t, o)
	o.Source = second.URL
	fetched(t, o)
	holds(t, o.To, data)
}

func TestDamagedPartialFileIsFoundOut(t *testing.T) {
	data := content(large)
	s := newShelf(t, data, `"v1"`)
	s.with(func(s *shelf) { s.cut = cut })
	o := Options{Source: s.URL, To: place(t), SHA256: digest(data)}
	refused(t, o)
	s.with(func(s *shelf) { s.cut = 0 })
	f, err := os.OpenFile(partialName(o.To), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("damage"), 100); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if got := refused(t, o); !strings.Contains(got, "was not kept") {
		t.Errorf("error %q, want the wrong digest", got)
	}
	only(t, o.To)
	fetched(t, o)
	holds(t, o.To, data)
}

func TestKilledProcessGoesOn(t *testing.T) {
	const after = cut + checkpoint // so that the first checkpoint is behind it
	data := content(large + checkpoint)
	hold := make(chan struct{})
	s := newShelf(t, data, `"v1"`)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") != "" {
			s.ServeHTTP(w, r)
			return
		}
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		_, _ = w.Write(data[:after])
		w.(http.Flusher).Flush()
		<-hold
	}))
	t.Cleanup(front.Close)
	t.Cleanup(func() { close(hold) })
	to := place(t)
	kill(t, front.URL, to, after)
	file := fetched(t, Options{Source: front.URL, To: to})
	if file.Resumed < checkpoint || file.Resumed > after {
		t.Errorf("resumed %d bytes, want those of a checkpoint, of which there is one each %d", file.Resumed, checkpoint)
	}
	holds(t, to, data)
}

// kill has another process fetch until it has so many bytes, and kills it with no chance to
// put anything in order.
func kill(t *testing.T, source, to string, after int64) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+source+"|"+to)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if done, _ := strconv.ParseInt(lines.Text(), 10, 64); done >= after {
			break
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed, and says so
}

func TestTwoAtOnce(t *testing.T) {
	data := content(1000)
	arrived, hold := make(chan struct{}), make(chan struct{})
	source := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-hold
		_, _ = w.Write(data)
	})
	o := Options{Source: source, To: place(t), Most: 1 << 20}
	first := make(chan error, 1)
	go func() {
		_, err := Fetch(context.Background(), o)
		first <- err
	}()
	<-arrived
	if _, err := Fetch(t.Context(), o); !errors.Is(err, ErrBusy) {
		t.Errorf("the second Fetch: %v, want ErrBusy", err)
	}
	close(hold)
	if err := <-first; err != nil {
		t.Errorf("the first Fetch: %v", err)
	}
	holds(t, o.To, data)
}

// quietServer sends so many bytes of 2000, and then nothing for ever.
type quietServer int

func (n quietServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if n == 0 {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return &http.Response{
		StatusCode: http.StatusOK, ContentLength: 2000, Header: http.Header{"Etag": {`"v1"`}}, Request: r,
		Body: io.NopCloser(io.MultiReader(bytes.NewReader(content(int(n))), waiting(func() error {
			<-r.Context().Done()
			return r.Context().Err()
		}))),
	}, nil
}

type waiting func() error

func (w waiting) Read([]byte) (int, error) { return 0, w() }

func TestSilence(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server quietServer
		stall  time.Duration
		after  time.Duration
		want   string
	}{
		{"before the answer", 0, 0, Stall, "nothing came for 30s"},
		{"in the middle", 1000, time.Minute, time.Minute, "broke off after 1000 bytes of 2000 bytes: run this again to go on from there: the server fell silent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			to := place(t)
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got := refused(t, Options{Source: "http://example.org/m", To: to, Stall: tt.stall, Client: &http.Client{Transport: tt.server}})
				if !strings.Contains(got, tt.want) {
					t.Errorf("error %q, want %q", got, tt.want)
				}
				if waited := time.Since(start); waited != tt.after {
					t.Errorf("it was given up after %v, want %v", waited, tt.after)
				}
			})
		})
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newShelf(t, content(large), `"v1"`)
	o := Options{Source: s.URL, To: place(t), Most: 1 << 30, Progress: func(done, _ int64) {
		if done > checkpoint {
			cancel()
		}
	}}
	_, err := Fetch(ctx, o)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "go on from there") {
		t.Errorf("Fetch: %v, want that it was cancelled and can go on", err)
	}
	o.Progress = nil
	if file := fetched(t, o); file.Resumed <= checkpoint {
		t.Errorf("resumed %d bytes, want more than %d", file.Resumed, checkpoint)
	}
}

func TestRedirects(t *testing.T) {
	data := content(1000)
	plain := newShelf(t, data, "").URL
	hops := func(n int) string {
		var s *httptest.Server
		s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			left, _ := strconv.Atoi(r.URL.Query().Get("left"))
			if left == 0 {
				_, _ = w.Write(data)
				return
			}
			http.Redirect(w, r, s.URL+"?left="+strconv.Itoa(left-1), http.StatusFound)
		}))
		t.Cleanup(s.Close)
		return s.URL + "?left=" + strconv.Itoa(n)
	}
	secure := func(to string) (string, *http.Client) {
		s := httptest.NewTLSServer(http.RedirectHandler(to, http.StatusFound))
		t.Cleanup(s.Close)
		return s.URL, s.Client()
	}
	to := place(t)
	fetched(t, Options{Source: hops(MostRedirects), To: to})
	holds(t, to, data)

	downgrade, client := secure(plain)
	for _, tt := range []struct {
		name, source, want string
		client             *http.Client
	}{
		{"too many", hops(MostRedirects + 1), "more than 5", nil},
		{"from https to http", downgrade, "from https to plain http", client},
		{"to a file", serve(t, http.RedirectHandler("file:///etc/passwd", http.StatusFound).ServeHTTP), "not followed", nil},
		{"to nowhere", serve(t, sends(map[string]string{"Location": "http://%zz?geheim"}, 302, "")), "what is no address", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := refused(t, Options{Source: tt.source, To: place(t), Client: tt.client})
			if !strings.Contains(got, tt.want) || strings.Contains(got, "geheim") {
				t.Errorf("error %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNoPermission(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere: run as another user")
	}
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	got := refused(t, Options{Source: newShelf(t, content(10), "").URL, To: folder + "/m"})
	if !strings.Contains(got, "cannot be written to: choose another folder") {
		t.Errorf("error %q", got)
	}
}

func TestForget(t *testing.T) {
	s := newShelf(t, content(large), `"v1"`)
	s.with(func(s *shelf) { s.cut = cut })
	o := Options{Source: s.URL, To: place(t), Most: 1 << 30}
	refused(t, o)
	only(t, o.To, "model.gguf.partial", "model.gguf.partial.json")
	for _, want := range []bool{true, false} {
		if found, err := Forget(o.To); err != nil || found != want {
			t.Errorf("Forget = %v, %v, want %v", found, err, want)
		}
		only(t, o.To)
	}
	s.with(func(s *shelf) { s.cut = 0 })
	o.Progress = func(int64, int64) {
		if _, err := Forget(o.To); !errors.Is(err, ErrBusy) {
			t.Errorf("Forget while it is fetched: %v, want ErrBusy", err)
		}
	}
	fetched(t, o)
}
