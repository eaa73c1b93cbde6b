package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// codes reads the list of codes from the source of package memory, so that a
// new one cannot be forgotten here.
func codes(t *testing.T) []memory.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "memory", "errors.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []memory.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Code" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, memory.Code(text))
		}
		return true
	})
	if len(found) < 15 {
		t.Fatalf("found the codes %q, want at least 15", found)
	}
	return found
}

func TestErrorsSurviveTheWire(t *testing.T) {
	var failure error
	c, _ := start(t, backendFunc(func(context.Context, *op.Spec, any) (any, error) { return nil, failure }))
	for _, code := range codes(t) {
		if statusOf(code) == 0 {
			t.Errorf("code %s has no status", code)
		}
		want := memory.Errorf(code, "a sentence about %s with \"quotes\", <signs> and 日本語", code).At("field")
		if code == memory.Conflict {
			want.Current = "rev-7"
			want.About("a.md", "b: c.md")
		}
		failure = fmt.Errorf("wrapped: %w", want)
		_, err := op.Save.Call(t.Context(), c, &op.SaveRequest{Content: "x"})
		got, ok := errors.AsType[*memory.Error](err)
		if !ok || !errors.Is(err, &memory.Error{Code: code}) {
			t.Errorf("%s arrived as %#v", code, err)
			continue
		}
		if got.Message != want.Message || got.Field != want.Field || got.Current != want.Current || got.Error() != want.Error() {
			t.Errorf("%s arrived as %+v, want %+v", code, got, want)
		}
	}
}

func TestStatusesOfProblems(t *testing.T) {
	var failure error
	_, sock := start(t, backendFunc(func(context.Context, *op.Spec, any) (any, error) { return nil, failure }))
	conflict := memory.Errorf(memory.Conflict, "changed")
	conflict.Current = "rev-7"
	for _, c := range []struct {
		err          error
		status       int
		header, want string
	}{
		{memory.Errorf(memory.Invalid, "x"), 400, "ETag", ""},
		{memory.Errorf(memory.TooLarge, "x"), 413, "", ""},
		{memory.Errorf(memory.NotFound, "x"), 404, "", ""},
		{memory.Errorf(memory.Ambiguous, "x"), 409, "ETag", ""},
		{conflict, 409, "ETag", `"rev-7"`},
		{memory.Errorf(memory.Secret, "x"), 422, "", ""},
		{memory.Errorf(memory.Busy, "x"), 503, "Retry-After", "1"},
		{memory.Errorf(memory.ReadOnly, "x"), 503, "Retry-After", ""},
		{memory.Errorf(memory.DiskFull, "x"), 507, "", ""},
		{memory.Errorf(memory.Unknown, "x"), 504, "", ""},
		{context.DeadlineExceeded, 503, "", ""},
		{errors.New("x"), 500, "", ""},
		{memory.Errorf("made up", "x"), 500, "", ""},
	} {
		failure = c.err
		got := ask(t, sock, "GET /v1/status HTTP/1.1")
		if got.StatusCode != c.status || got.Header.Get(c.header) != c.want {
			t.Errorf("%v: %d with %s %q, want %d with %q", c.err, got.StatusCode, c.header, got.Header.Get(c.header), c.status, c.want)
		}
	}
}

// What is not in the vocabulary is for the log, and only for the log.
func TestFaultsOfOursAreLoggedNotTold(t *testing.T) {
	var failure error
	var log bytes.Buffer
	h := NewHandler(backendFunc(func(context.Context, *op.Spec, any) (any, error) { return nil, failure }),
		&HandlerOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	sock, stop := serve(t, h, nil)
	failure = errors.New("segment 7: checksum is off")
	got := ask(t, sock, "GET /v1/status HTTP/1.1")
	if strings.Contains(got.body, "segment") || !strings.Contains(got.body, `"code":"internal"`) {
		t.Errorf("the answer is %s", got.body)
	}
	failure = memory.Errorf(memory.Internal, "the index is out of step; run emberd doctor")
	if got := ask(t, sock, "GET /v1/status HTTP/1.1"); !strings.Contains(got.body, "the index is out of step") {
		t.Errorf("the answer is %s", got.body)
	}
	failure = memory.Errorf(memory.NotFound, "nothing of that name")
	ask(t, sock, "GET /v1/status HTTP/1.1")
	if err := stop(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "\n"); n != 2 || !strings.Contains(log.String(), `route="GET /v1/status" err="segment 7: checksum is off"`) {
		t.Errorf("%d lines in the log, want 2:\n%s", n, log.String())
	}
}

func TestAnswersThatAreNoProblems(t *testing.T) {
	for status, want := range map[int]memory.Code{400: memory.Invalid, 431: memory.TooLarge, 500: memory.Internal, 302: memory.Internal} {
		for _, body := range []string{"", "Bad Request", "{}", `{"code":7}`} {
			if got := memory.CodeOf(errorFrom(status, []byte(body))); got != want {
				t.Errorf("%d with %q became %s, want %s", status, body, got, want)
			}
		}
	}
}

// An operation that panics is answered with status 500 and the fault that the log has.
func TestAPanicIsAnsweredWithItsFault(t *testing.T) {
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	sock, stop := serve(t, NewHandler(backendFunc(func(context.Context, *op.Spec, any) (any, error) { panic("a fault") }),
		&HandlerOptions{Logger: log}), nil)
	client := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", sock)
	}}}
	resp, err := client.Get("http://emberd" + op.Search.Path + "?q=x")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var p op.Problem
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil {
		t.Fatal(err)
	}
	_ = stop()
	_, after, _ := strings.Cut(p.Detail, "for fault ")
	if resp.StatusCode != http.StatusInternalServerError || p.Code != memory.Internal || len(after) < 8 || !strings.Contains(said.String(), "fault="+after[:8]) {
		t.Errorf("the answer is %d %+v, and the log has\n%s", resp.StatusCode, p, &said)
	}
}
