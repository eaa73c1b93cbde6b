package engine_test

import (
	"strings"
	"testing"

	"emberd/engine"
	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
)

// homeGrant reads what is tagged home.
func homeGrant() *access.Grant {
	return &access.Grant{Token: "reader", Read: []access.Scope{{Kind: access.Tag, Value: "home"}}}
}

// wantUnseen fails if a grant finds a note by a search, reads it, or is told why a search does not find it.
func wantUnseen(t *testing.T, e *engine.Engine, g *access.Grant, query, path string) {
	t.Helper()
	found, err := as(g, e, op.Search, &op.SearchRequest{Query: query})
	ok(t, err)
	if len(found.Hits) > 0 {
		t.Errorf("%s finds %+v", g.Token, found.Hits[0])
	}
	_, err = as(g, e, op.NoteRead, &op.NoteReadRequest{Path: path})
	wantCode(t, err, memory.NotFound, "")
}

// A limited token puts what it writes into no other scope, by tags in the text of a memory that becomes a
// note: the memory's fields decide who reads that.
func TestATagInTheTextOfAMemoryIsNoScope(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, map[string]string{"Kitchen.md": "the kettle whistles #home\n"})
	e := h.following(t)
	for _, text := range []string{"the boiler runs hot #home", "#home\nthe boiler runs hot", "---\ntags: [home]\naliases: [home]\n---\nthe boiler runs hot #home"} {
		saved, err := as(workGrant(), e, op.Save, &op.SaveRequest{Content: text, Tags: []string{"work"}})
		ok(t, err)
		id := string(saved.Memory.ID)
		made, err := as(workGrant(), e, op.Promote, &op.PromoteRequest{ID: id, Force: true})
		ok(t, err)
		if !strings.Contains(h.note(t, made.Path), "boiler") {
			t.Fatalf("the note is %q", h.note(t, made.Path))
		}
		wantUnseen(t, e, homeGrant(), "boiler", made.Path)
		read, err := as(workGrant(), e, op.NoteRead, &op.NoteReadRequest{Path: made.Path})
		if err != nil || !strings.Contains(read.Text, "boiler") {
			t.Errorf("the token does not read its own note: %+v, %v", read, err)
		}
		_, err = as(workGrant(), e, op.Forget, &op.ForgetRequest{ID: id})
		ok(t, err)
		wantUnseen(t, e, homeGrant(), "boiler", made.Path)
	}
	if found, err := as(homeGrant(), e, op.Search, &op.SearchRequest{Query: "kettle"}); err != nil || len(found.Hits) != 1 {
		t.Errorf("a note of the user with the tag is found as %+v, %v", found, err)
	}
}
