package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"emberd/memory"
)

// boundary is what a client may send so much of, and what is said of more.
type boundary struct {
	name   string
	row    string // of docs/internals/threat-model.md, with the bound
	most   int
	send   func(n int) (method, path, body string)
	status int    // beyond
	says   string // the sentence, beyond
}

const mebibyte = 1 << 20

func boundaries() []boundary {
	save := func(body string) (string, string, string) { return http.MethodPost, "/v1/memories", body }
	search := func(query string) (string, string, string) { return http.MethodGet, "/v1/search?" + query, "" }
	tags := func(of int, long int) string {
		all := make([]string, of)
		for i := range all {
			all[i] = fmt.Sprintf("%0*d", long, i)
		}
		text, _ := json.Marshal(all) // texts: this cannot fail
		return string(text)
	}
	return []boundary{
		{"content", "| content | 50,000 characters, 200 KiB | 413 |", memory.MaxContent, func(n int) (string, string, string) {
			return save(`{"content":"` + strings.Repeat("reef ", n/5+1)[:n-1] + `x"}`)
		}, http.StatusRequestEntityTooLarge, "too many characters in content: 50001 (limit 50000)"},
		{"tags", "| tags | 50 of 100 characters | 413 |", memory.MaxTags, func(n int) (string, string, string) {
			return save(fmt.Sprintf(`{"content":"a reef of %d tags","tags":%s}`, n, tags(n, 5)))
		}, http.StatusRequestEntityTooLarge, "too many tags: 51 (limit 50)"},
		{"characters of a tag", "| tags | 50 of 100 characters | 413 |", memory.MaxTag, func(n int) (string, string, string) {
			return save(fmt.Sprintf(`{"content":"a reef of a tag of %d","tags":%s}`, n, tags(1, n)))
		}, http.StatusRequestEntityTooLarge, "101 characters (limit 100)"},
		{"query", "| query | 4 KiB | 413 |", memory.MaxQueryBytes, func(n int) (string, string, string) {
			return search("q=" + url.QueryEscape(strings.Repeat("reef ", n/5+1)[:n-1]+"x"))
		}, http.StatusRequestEntityTooLarge, "too many bytes in the query: 4097 (limit 4096)"},
		{"results", "| results | 100 | 400 |", memory.MaxResults, func(n int) (string, string, string) {
			return search(fmt.Sprintf("q=reef&limit=%d", n))
		}, http.StatusBadRequest, "limit 101 is out of range (1 to 100)"},
		{"depth of what is stored", "| depth of JSON | 64, of what is stored 60 | 400 with the place |", 60, func(n int) (string, string, string) {
			return save(fmt.Sprintf(`{"content":"a reef %d deep","meta":{"a":%s%s}}`, n, strings.Repeat("[", n-2), strings.Repeat("]", n-2)))
		}, http.StatusBadRequest, "nested more than 60 levels deep"},
		{"body", "| body | 4 MiB, whether its length is told or not | 413;", 4 * mebibyte, func(n int) (string, string, string) {
			text := fmt.Sprintf(`{"content":"a reef of %d bytes"}`, n)
			return save(text + strings.Repeat(" ", n-len(text)))
		}, http.StatusRequestEntityTooLarge, "too many bytes in the request body (limit 4194304, 4 MiB)"},
	}
}

// TestWhatIsSentIsBounded tries each bound of what is sent: one below, at it, and one beyond,
// which is refused in a sentence. The daemon is the real one.
func TestWhatIsSentIsBounded(t *testing.T) {
	t.Parallel()
	home, _ := startHome(t)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", home+"/emberd.sock")
	}}}
	docs, err := os.ReadFile("../../docs/internals/threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range boundaries() {
		if !strings.Contains(string(docs), b.row) {
			t.Errorf("%s: docs/internals/threat-model.md lacks %q", b.name, b.row)
		}
		for _, n := range []int{b.most - 1, b.most, b.most + 1} {
			method, path, body := b.send(n)
			status, said := exchange(t, client, method, path, body)
			switch {
			case n <= b.most && status >= http.StatusBadRequest:
				t.Errorf("%s, %d of %d: %d %s", b.name, n, b.most, status, said)
			case n > b.most && (status != b.status || !strings.Contains(said, b.says)):
				t.Errorf("%s, %d of %d: %d %s; want %d with %q", b.name, n, b.most, status, said, b.status, b.says)
			}
		}
	}
}

func exchange(t *testing.T, client *http.Client, method, path, body string) (status int, said string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://emberd"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, fmt.Sprintf("%.300s", text)
}
