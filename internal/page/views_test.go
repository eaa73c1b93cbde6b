package page_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// do carries out an action of the page and returns the notice.
func (w *world) do(t *testing.T, cookie, action string, in map[string]string) (int, string) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	status, _, text := w.send(t, request{method: http.MethodPost, path: "/do/" + action, body: string(body), cookie: cookie})
	return status, text
}

// TestTextIsShownAsText puts HTML and hidden characters into every field that is shown.
func TestTextIsShownAsText(t *testing.T) {
	w := start(t)
	cookie := w.browser(t)
	const hostile = "<b onclick=x()>\"'&\u202e{{.}}"
	m := w.save(t, &op.SaveRequest{Content: hostile + " kettle", Tags: []string{hostile}, Entities: []string{hostile}, Source: hostile,
		Context: hostile, Project: hostile, Category: hostile, Type: hostile, Section: hostile,
		Meta: map[string]json.RawMessage{hostile: json.RawMessage(`"` + "<b onclick=x()>" + `"`)}})
	if _, err := op.ReviewCreate.Call(t.Context(), w.client, &op.ReviewCreateRequest{MemoryIDs: []string{string(m.ID)},
		Evidence: hostile}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/today", "/search", "/search?q=kettle", "/search?q=" + url.QueryEscape(hostile), "/decisions",
		"/memory/" + string(m.ID), "/graph?of=" + string(m.ID), "/graph?of=" + url.QueryEscape(hostile), "/fading",
		"/whynot?q=" + url.QueryEscape(hostile) + "&of=" + url.QueryEscape(hostile), "/open?ref=" + url.QueryEscape(hostile)} {
		_, _, body := w.send(t, request{path: path, cookie: cookie})
		if strings.Contains(body, "<b onclick") || strings.ContainsRune(body, '\u202e') {
			t.Errorf("%s shows text as HTML, or hidden characters as they are", path)
		}
	}
	if _, _, body := w.send(t, request{path: "/memory/" + string(m.ID), cookie: cookie}); !strings.Contains(body, "⟨U+202E⟩") {
		t.Error("the hidden character is not shown")
	}
}

// TestChangesAreTheUsers: a text that is edited on the page is the user's, and the audit names the page.
func TestChangesAreTheUsers(t *testing.T) {
	w := start(t)
	cookie := w.browser(t)
	m := w.save(t, &op.SaveRequest{Content: "The staging database listens on port 5433", Provenance: op.Provenance{Origin: memory.FromAgent}})
	status, text := w.do(t, cookie, "edit", map[string]string{"id": string(m.ID), "rev": m.Rev, "content": "It listens on 5432\r\nnow",
		"tags": "infra, port"})
	if status != http.StatusOK || !strings.Contains(text, "Saved") {
		t.Fatalf("answered %d: %s", status, text)
	}
	no := false
	res, err := op.Show.Call(t.Context(), w.client, &op.ShowRequest{ID: string(m.ID), Track: &no})
	if err != nil {
		t.Fatal(err)
	}
	if res.Memory.Content != "It listens on 5432\nnow" || len(res.Memory.Tags) != 2 {
		t.Errorf("the memory is %+v", res.Memory.Memory)
	}
	audit, err := op.Audit.Call(t.Context(), w.client, &op.AuditRequest{Kind: op.AuditWrite, Caller: "page"})
	if err != nil || len(audit.Events) != 1 || audit.Events[0].What != "edit" {
		t.Errorf("the audit of the page is %+v (%v)", audit, err)
	}
	if status, text := w.do(t, cookie, "edit", map[string]string{"id": string(m.ID), "rev": m.Rev, "content": "lost"}); status != http.StatusConflict {
		t.Errorf("an edit of an old version was answered %d: %s", status, text)
	}
}

// TestTodayShowsChanges also after many looks, which are in the audit, too.
func TestTodayShowsChanges(t *testing.T) {
	w := start(t)
	cookie := w.browser(t)
	m := w.save(t, &op.SaveRequest{Content: "The staging database listens on port 5433", Project: "garden"})
	w.save(t, &op.SaveRequest{Content: "Deploys wait for the migration job"})
	w.do(t, cookie, "forget", map[string]string{"id": string(m.ID)})
	for range 30 {
		w.send(t, request{path: "/fading", cookie: cookie})
	}
	_, _, body := w.send(t, request{path: "/today", cookie: cookie})
	for _, want := range []string{"Deploys wait for the migration job", "forgotten", "by page", "saved", "by cli"} {
		if !strings.Contains(body, want) {
			t.Errorf("Today lacks %q", want)
		}
	}
}

// TestTodayShowsWhatUndoWouldBringBack: a decision names the forgotten memory alone, and texts in the trash are shown.
func TestTodayShowsWhatUndoWouldBringBack(t *testing.T) {
	w := start(t)
	cookie := w.browser(t)
	kept := w.save(t, &op.SaveRequest{Content: "The mill burned down in 1891"})
	gone := w.save(t, &op.SaveRequest{Content: "The mill burned down in 1819"})
	item, err := op.ReviewCreate.Call(t.Context(), w.client, &op.ReviewCreateRequest{Action: "merge", Urgency: op.UrgencyLow,
		MemoryIDs: []string{string(kept.ID), string(gone.ID)}, Evidence: "they are similar"})
	if err != nil {
		t.Fatal(err)
	}
	if status, text := w.do(t, cookie, "decide", map[string]string{"item": string(item.Item.ID),
		"decision": op.DecideForgetOne + string(gone.ID)}); status != http.StatusOK {
		t.Fatalf("answered %d: %s", status, text)
	}
	_, _, body := w.send(t, request{path: "/today", cookie: cookie})
	_, line, _ := strings.Cut(body, `<span class="verb">forgotten</span>`)
	line, _, _ = strings.Cut(line, "</li>")
	if !strings.Contains(line, "1 memory") || !strings.Contains(line, "in 1819") || strings.Contains(line, "in 1891") {
		t.Errorf("the line of the decision is %s", line)
	}
}

// TestUndoGoesBackStepByStep: without an entry, undo takes back what this session did last, and no more.
func TestUndoGoesBackStepByStep(t *testing.T) {
	w := start(t)
	cookie, other := w.browser(t), w.browser(t)
	a := w.save(t, &op.SaveRequest{Content: "The staging database listens on port 5433"})
	b := w.save(t, &op.SaveRequest{Content: "Deploys wait for the migration job"})
	for _, m := range []*op.Memory{a, b} {
		if status, text := w.do(t, cookie, "forget", map[string]string{"id": string(m.ID)}); status != http.StatusOK {
			t.Fatalf("answered %d: %s", status, text)
		}
	}
	there := func(m *op.Memory) bool {
		no := false
		_, err := op.Show.Call(t.Context(), w.client, &op.ShowRequest{ID: string(m.ID), Track: &no})
		return err == nil
	}
	if w.do(t, other, "undo", nil); there(a) || there(b) {
		t.Error("another session undid something")
	}
	if w.do(t, cookie, "undo", nil); there(a) || !there(b) {
		t.Error("undo did not take back the last change alone")
	}
	if w.do(t, cookie, "undo", nil); !there(a) || !there(b) {
		t.Error("undo did not take back the change before")
	}
	if _, text := w.do(t, cookie, "undo", nil); !strings.Contains(text, "Nothing to undo here") || !there(a) || !there(b) {
		t.Errorf("a third undo: %s", text)
	}
}

// TestTokenIsRevokedByItsName: no token ends without its name typed.
func TestTokenIsRevokedByItsName(t *testing.T) {
	w := start(t)
	cookie := w.browser(t)
	if _, err := op.TokenCreate.Call(t.Context(), w.client, &op.TokenCreateRequest{Name: "robot", Read: []string{"all"}}); err != nil {
		t.Fatal(err)
	}
	left := func() int {
		res, err := op.TokenList.Call(t.Context(), w.client, &op.TokenListRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return len(res.Tokens)
	}
	for _, typed := range []string{"", "robo", "Robot", "yes"} {
		if w.do(t, cookie, "revoke", map[string]string{"name": "robot", "typed": typed}); left() != 1 {
			t.Fatalf("%q revoked the token", typed)
		}
	}
	if w.do(t, cookie, "revoke", map[string]string{"name": "robot", "typed": "robot"}); left() != 0 {
		t.Error("the token is there")
	}
}

// TestUnknownThingsAreAnswered: what is not there is answered with a status that says so.
func TestUnknownThingsAreAnswered(t *testing.T) {
	w := start(t)
	cookie := w.browser(t)
	for path, want := range map[string]int{"/memory/ffffffff": 404, "/nothing": 404, "/static/nothing.js": 404,
		"/static/LICENSE-uplot": 404, "/do/forget": 405, "/open?ref=nothing": 404} {
		if status, _, body := w.send(t, request{path: path, cookie: cookie}); status != want {
			t.Errorf("%s: answered %d: %s", path, status, body[:min(len(body), 80)])
		}
	}
}
