package engine_test

import (
	"context"
	"strings"
	"testing"

	"emberd/engine/search"
	"emberd/memory"
	"emberd/op"
)

// FuzzQuestion parses a query and asks it of a small store, with notes, in each scope: it is
// answered within its bounds, or refused in a sentence.
func FuzzQuestion(f *testing.F) {
	h := vaultHouse(f, map[string]string{"Harbour.md": "---\nstatus: open\ntags: [sea]\n---\n# Tide\n\nIt turns at [[Nine]]. #sea/north\n"})
	h.Enrich = true
	e := h.following(f)
	for _, text := range []string{"the tide turns at nine in Leith", "the ferry leaves at ten", "日本語 and JWT tokens, v1.2", "on 2026-03-01 the light was green"} {
		do(f, e, op.Save, &op.SaveRequest{Content: text, Tags: []string{"sea"}})
	}
	for _, text := range []string{`tide -"at ten" #sea after:7d`, `path:"Harbour" [status:open]`, `entity:Leith`, "«日本", strings.Repeat("-", 4096)} {
		f.Add(uint8(0), text)
	}
	scopes := []string{search.ScopeAll, search.ScopeMemories, search.ScopeNotes, search.ScopeArchive}
	f.Fuzz(func(t *testing.T, n uint8, text string) {
		res, err := op.Search.Call(context.Background(), e, &op.SearchRequest{Query: text, Scope: scopes[int(n)%len(scopes)], Limit: 3, Explain: n%2 == 0})
		checkQuestion(t, text, err)
		if err == nil && (len(res.Hits) > 3 || res.Total < len(res.Hits)) {
			t.Errorf("%q: %d hits of %d", text, len(res.Hits), res.Total)
		}
		_, err = op.Query.Call(context.Background(), e, &op.QueryRequest{Query: text, Limit: 3})
		checkQuestion(t, text, err)
		_, err = op.Verify.Call(context.Background(), e, &op.VerifyRequest{Claim: text})
		checkQuestion(t, text, err)
	})
}

func checkQuestion(t *testing.T, text string, err error) {
	t.Helper()
	switch code := memory.CodeOf(err); {
	case err == nil:
	case code != memory.Invalid && code != memory.TooLarge:
		t.Errorf("%q: %s: %v", text, code, err)
	case strings.ContainsAny(err.Error(), "\n\x1b"):
		t.Errorf("%q is refused with %q, want one printable line", text, err)
	}
}
