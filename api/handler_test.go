package api

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/wire"
	"emberd/memory"
	"emberd/op"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const jsonBody = "\nContent-Type: application/json\n\n"

func TestAnHourOfUse(t *testing.T) {
	ctx := t.Context()
	c, _ := start(t, newShelf())
	jwt := save(t, c, "JWT <tokens> & 日本語 \u2028 for auth", "api", "a, b")
	save(t, c, "another thing")
	id := string(jwt.Memory.ID)

	found, err := op.Search.Call(ctx, c, &op.SearchRequest{Query: "<tokens> & 日本語", Explain: true})
	if err != nil || found.Total != 1 || found.Hits[0].Content != jwt.Memory.Content || found.Hits[0].Explain.Terms == nil {
		t.Errorf("search = %+v, %v; want the first memory, explained", found, err)
	}
	list, err := op.List.Call(ctx, c, &op.ListRequest{Filter: op.Filter{Tags: []string{"api", "a, b"}}})
	if err != nil || list.Total != 1 {
		t.Errorf("list by two tags = %+v, %v; want one", list, err)
	}
	edited, err := op.Edit.Call(ctx, c, &op.EditRequest{ID: id, IfMatch: jwt.Memory.Rev, Content: new("changed")})
	if err != nil || !slices.Equal(edited.Changed, []string{"content"}) {
		t.Errorf("edit = %+v, %v; want content changed", edited, err)
	}
	_, err = op.Edit.Call(ctx, c, &op.EditRequest{ID: id, IfMatch: jwt.Memory.Rev, Content: new("late")})
	if e, ok := errors.AsType[*memory.Error](err); !ok || !errors.Is(err, memory.ErrConflict) || e.Current != edited.Memory.Rev {
		t.Errorf("edit of an old rev = %#v, want a conflict with rev %s", err, edited.Memory.Rev)
	}
	if _, err := op.Undo.Call(ctx, c, &op.UndoRequest{}); err != nil {
		t.Error(err)
	}
	if gone, err := op.Forget.Call(ctx, c, &op.ForgetRequest{ID: id, DryRun: true}); err != nil || gone.Tx != "" || len(gone.Forgotten) != 1 {
		t.Errorf("dry forget = %+v, %v", gone, err)
	}
	if _, err := op.Forget.Call(ctx, c, &op.ForgetRequest{ID: id}); err != nil {
		t.Error(err)
	}
	if _, err := op.Show.Call(ctx, c, &op.ShowRequest{ID: id}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("show of a forgotten memory = %v, want not found", err)
	}
	back, err := op.TrashRestore.Call(ctx, c, &op.TrashRestoreRequest{IDs: []string{id}})
	if err != nil || back.Restored[0].Content != jwt.Memory.Content {
		t.Errorf("restore = %+v, %v; want the content before the edit", back, err)
	}
	shown, err := op.Show.Call(ctx, c, &op.ShowRequest{ID: id, Track: new(false)})
	if err != nil || shown.Memory.UseCount != 0 {
		t.Errorf("show without tracking = %+v, %v; want no use", shown, err)
	}
}

func TestTheBackendLearnsWhoAsks(t *testing.T) {
	shelf := newShelf()
	_, sock := start(t, shelf)
	for _, name := range []string{"cli", "mcp", "obsidian"} {
		c := NewClient(sock, &ClientOptions{Name: name, Version: "1.2", Session: "s-1"})
		if _, err := op.Version.Call(t.Context(), c, &op.VersionRequest{}); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	ask(t, sock, "GET /v1/version HTTP/1.1")
	c := NewClient(sock, &ClientOptions{Name: "mcp", Session: "s-1"})
	defer c.Close()
	agent := op.WithCaller(t.Context(), memory.Actor{Client: "an editor/3", Session: "s-2"})
	if _, err := op.Version.Call(agent, c, &op.VersionRequest{}); err != nil {
		t.Fatal(err)
	}
	uid, pid := os.Geteuid(), os.Getpid()
	want := []memory.Actor{
		{Via: "cli", UID: uid, PID: pid, Client: "cli/1.2", Session: "s-1"},
		{Via: "mcp", UID: uid, PID: pid, Client: "mcp/1.2", Session: "s-1"},
		{Via: "http", UID: uid, PID: pid, Client: "obsidian/1.2", Session: "s-1"},
		{Via: "http", UID: uid, PID: pid},
		{Via: "mcp", UID: uid, PID: pid, Client: "an editor/3", Session: "s-2"},
	}
	if !slices.Equal(shelf.callers, want) {
		t.Errorf("callers = %+v, want %+v", shelf.callers, want)
	}
}

func TestWhatHTTPHasWordsFor(t *testing.T) {
	_, sock := start(t, newShelf())
	body := jsonBody + `{"content":"one"}`
	made := ask(t, sock, "POST /v1/memories HTTP/1.1\nIdempotency-Key: k"+body)
	again := ask(t, sock, "POST /v1/memories HTTP/1.1\nIdempotency-Key: k"+body)
	if made.StatusCode != 201 || again.StatusCode != 200 {
		t.Errorf("save twice = %d, %d; want 201, 200", made.StatusCode, again.StatusCode)
	}
	if made.Header.Get("ETag") != `"1"` || made.Header.Get("Content-Type") != typeJSON || made.Header.Get(headerVersion) != "devel protocol/1" {
		t.Errorf("header of a save: %v", made.Header)
	}
	at := made.Header.Get("Location")
	if shown := ask(t, sock, "GET "+at+" HTTP/1.1"); shown.StatusCode != 200 || shown.Header.Get("ETag") != `"1"` {
		t.Errorf("show = %d, ETag %s; want 200 and the rev", shown.StatusCode, shown.Header.Get("ETag"))
	}
	patch := "PATCH " + at + " HTTP/1.1\nIf-Match: %s" + jsonBody + `{"content":"two"}`
	for _, c := range []struct {
		match  string
		status int
		etag   string
	}{{`"0"`, 409, `"1"`}, {"0", 409, `"1"`}, {`"1"`, 200, `"11"`}, {"11", 200, `"11"`}, {"*", 200, `"11"`}} {
		if got := ask(t, sock, fmt.Sprintf(patch, c.match)); got.StatusCode != c.status || got.Header.Get("ETag") != c.etag {
			t.Errorf("edit with If-Match %s = %d, ETag %s; want %d, %s", c.match, got.StatusCode, got.Header.Get("ETag"), c.status, c.etag)
		}
	}
	if got := ask(t, sock, "GET /v1/search?q=nothing HTTP/1.1"); !strings.Contains(got.body, `"hits":[]`) {
		t.Errorf("an empty search = %s, want an empty list", got.body)
	}
	if got := ask(t, sock, "HEAD "+at+" HTTP/1.1"); got.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("HEAD = %d, want 405, since a look counts as a use", got.StatusCode)
	}
	if got := ask(t, sock, "PUT "+at+" HTTP/1.1"); got.Header.Get("Allow") != "DELETE, GET, PATCH" {
		t.Errorf("Allow = %q", got.Header.Get("Allow"))
	}
}

func TestCase66HostsThatAreServed(t *testing.T) {
	_, sock := start(t, newShelf())
	for _, host := range []string{"emberd", "localhost", "Localhost", ""} {
		if got := ask(t, sock, "GET /v1/version HTTP/1.1\nHost: "+host); got.StatusCode != http.StatusOK {
			t.Errorf("host %q: %d, want 200", host, got.StatusCode)
		}
	}
}

func deep(levels int) string {
	return `{"content":"x","meta":{"a":` + strings.Repeat("[", levels-2) + strings.Repeat("]", levels-2) + "}}"
}

// badRequests are golden: testdata/problems.golden has each with its answer.
var badRequests = []struct{ name, request string }{
	{"unknown route", "GET /v1/memory HTTP/1.1"},
	{"unclean path", "GET /v1//status HTTP/1.1"},
	{"trailing slash", "GET /v1/status/ HTTP/1.1"},
	{"wrong method", "PUT /v1/status HTTP/1.1"},
	{"asterisk", "OPTIONS * HTTP/1.1"},
	{"foreign host", "GET /v1/status HTTP/1.1\nHost: evil.example"},
	{"host with port", "GET /v1/status HTTP/1.1\nHost: localhost:80"},
	{"absolute foreign address", "GET http://evil.example/v1/status HTTP/1.1"},
	{"from a page", "GET /v1/status HTTP/1.1\nOrigin: null"},
	{"from a browser", "GET /v1/status HTTP/1.1\nSec-Fetch-Site: none"},
	{"newer client", "GET /v1/status HTTP/1.1\nEmberd-Client: cli/9.0 protocol/9"},
	{"odd client", "GET /v1/status HTTP/1.1\nEmberd-Client: cli"},
	{"long session", "GET /v1/status HTTP/1.1\nEmberd-Session: " + strings.Repeat("s", maxClaim+1)},
	{"form", "POST /v1/memories HTTP/1.1\nContent-Type: application/x-www-form-urlencoded\n\n{\"content\":\"x\"}"},
	{"no content type", "POST /v1/memories HTTP/1.1\n\n{\"content\":\"x\"}"},
	{"latin-1", "POST /v1/memories HTTP/1.1\nContent-Type: application/json; charset=iso-8859-1\n\n{\"content\":\"x\"}"},
	{"no body", "POST /v1/memories HTTP/1.1"},
	{"empty content", "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":""}`},
	{"unknown field", "POST /v1/memories HTTP/1.1" + jsonBody + `{"contnet":"x"}`},
	{"field in another case", "POST /v1/memories HTTP/1.1" + jsonBody + `{"Content":"x"}`},
	{"unknown nested field", "POST /v1/memories/batch HTTP/1.1" + jsonBody + `{"items":[{"content":"x"},{"content":"x","tag":"y"}]}`},
	{"repeated field", "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":"x","content":"y"}`},
	{"repeated key in meta", "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":"x","meta":{"a":{"b":1,"b":2}}}`},
	{"wrong type", "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":"x","tags":"y"}`},
	{"wrong type in a list", "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":"x","tags":["y",1]}`},
	{"string for a number", "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":"x","importance":"high"}`},
	{"fraction", "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":"x","use_count":1.5}`},
	{"huge number", "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":"x","importance":1e999}`},
	{"bad time", "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":"x","created_at":"yesterday"}`},
	{"null", "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":null}`},
	{"list for the body", "POST /v1/memories HTTP/1.1" + jsonBody + `[]`},
	{"trailing data", "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":"x"}{}`},
	{"cut off", "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":"x`},
	{"not UTF-8", "POST /v1/memories HTTP/1.1" + jsonBody + "{\"content\":\"\xff\"}"},
	{"half a character", "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":"\\\ud83dx"}`},
	{"too deep", "POST /v1/memories HTTP/1.1" + jsonBody + deep(wire.MaxDepth+1)},
	{"too large", "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":"` + strings.Repeat("x", maxBody) + `"}`},
	{"body where none belongs", "GET /v1/status HTTP/1.1" + jsonBody + `{}`},
	{"missing field", "POST /v1/memories HTTP/1.1" + jsonBody + `{"tags":["x"]}`},
	{"missing nested field", "POST /v1/memories/batch HTTP/1.1" + jsonBody + `{"items":[{"content":"x"},{}]}`},
	{"missing parameter", "GET /v1/search?limit=1 HTTP/1.1"},
	{"unknown parameter", "GET /v1/search?query=x HTTP/1.1"},
	{"parameter where none belongs", "GET /v1/version?x=1 HTTP/1.1"},
	{"parameter for events", "GET /v1/events?after=tx-1 HTTP/1.1"},
	{"repeated parameter", "GET /v1/search?q=x&limit=1&limit=2 HTTP/1.1"},
	{"word for a number", "GET /v1/search?q=x&limit=ten HTTP/1.1"},
	{"no number", "GET /v1/search?q=x&min_score=NaN HTTP/1.1"},
	{"word for truth", "GET /v1/search?q=x&explain=yes HTTP/1.1"},
	{"query not UTF-8", "GET /v1/search?q=%ff HTTP/1.1"},
	{"malformed query", "GET /v1/search?q=%zz HTTP/1.1"},
	{"weak tag", "PATCH /v1/memories/0199 HTTP/1.1\nIf-Match: W/\"1\"" + jsonBody + "{}"},
	{"empty tag", "PATCH /v1/memories/0199 HTTP/1.1\nIf-Match: \"\"" + jsonBody + "{}"},
	{"two tags", "PATCH /v1/memories/0199 HTTP/1.1\nIf-Match: \"1\", \"2\"" + jsonBody + "{}"},
	{"repeated header", "POST /v1/memories HTTP/1.1\nIdempotency-Key: a\nIdempotency-Key: b" + jsonBody + `{"content":"x"}`},
	{"no such memory", "GET /v1/memories/0199 HTTP/1.1"},
}

func TestBadRequests(t *testing.T) {
	_, sock := start(t, newShelf())
	var got strings.Builder
	for _, c := range badRequests {
		answer := ask(t, sock, c.request)
		if media := answer.Header.Get("Content-Type"); media != typeProblem {
			t.Errorf("%s: content type %q", c.name, media)
		}
		line, _, _ := strings.Cut(c.request, " HTTP/1.1")
		fmt.Fprintf(&got, "# %s\n%s\n%d %s\n", c.name, line, answer.StatusCode, answer.body)
	}
	golden := filepath.Join("testdata", "problems.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	gots, wants := strings.Split(got.String(), "\n\n"), strings.Split(string(want), "\n\n")
	if len(gots) != len(wants) {
		t.Fatalf("%d answers, want %d; see -update", len(gots), len(wants))
	}
	for i := range gots {
		if gots[i] != wants[i] {
			t.Errorf("got\n%s\nwant\n%s", gots[i], wants[i])
		}
	}
}

func TestJustInBounds(t *testing.T) {
	_, sock := start(t, newShelf())
	// An operation without required fields needs no body.
	if got := ask(t, sock, "POST /v1/undo HTTP/1.1"); got.StatusCode != http.StatusNotFound || !strings.Contains(got.body, "nothing to undo") {
		t.Errorf("undo without a body: %d %s", got.StatusCode, got.body)
	}
	for name, request := range map[string]string{
		"depth":        "POST /v1/memories HTTP/1.1" + jsonBody + deep(wire.MaxDepth),
		"whole pair":   "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":"\\ud83d \ud83d\ude00"}`,
		"charset":      "POST /v1/memories HTTP/1.1\nContent-Type: application/json; charset=UTF-8\n\n{\"content\":\"x\"}",
		"null in meta": "POST /v1/memories HTTP/1.1" + jsonBody + `{"content":"x","meta":{"a":null}}`,
		"session":      "GET /v1/status HTTP/1.1\nEmberd-Session: " + strings.Repeat("s", maxClaim),
		"any client":   "GET /v1/version HTTP/1.1\nEmberd-Client: cli/9.0 protocol/9",
		"lists":        "GET /v1/memories?tag=a&tag=b&stage=active HTTP/1.1",
		"empty text":   "GET /v1/memories?project= HTTP/1.1",
	} {
		if got := ask(t, sock, request); got.StatusCode >= 300 {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
}
