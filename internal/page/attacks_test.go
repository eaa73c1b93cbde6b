package page_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"emberd/internal/page"
	"emberd/op"
)

// TestRequestsOfOtherSitesAreRefused has each request that another site, or a program that is no
// browser, can send. Each has a valid cookie, and would be answered but for the one thing that it differs in.
func TestRequestsOfOtherSitesAreRefused(t *testing.T) {
	w := start(t)
	cookie := w.browser(t)
	m := w.save(t, &op.SaveRequest{Content: "The staging database listens on port 5433"})
	post := func(r request) request {
		r.method, r.path, r.body = http.MethodPost, "/do/forget", `{"id":"`+string(m.ID)+`"}`
		return r
	}
	port := w.address[strings.LastIndex(w.address, ":"):]
	attacks := map[string]struct {
		request
		status int
	}{
		"rebinding":                       {request{header: map[string]string{"Host": "evil.example" + port}}, 403},
		"rebinding without a port":        {request{header: map[string]string{"Host": "127.0.0.1"}}, 403},
		"rebinding to another port":       {request{header: map[string]string{"Host": "127.0.0.1:1"}}, 403},
		"rebinding to another loopback":   {request{header: map[string]string{"Host": "127.0.0.2" + port}}, 403},
		"rebinding by a longer name":      {request{header: map[string]string{"Host": "localhost.evil.example" + port}}, 403},
		"write after rebinding":           {post(request{header: map[string]string{"Host": "evil.example", "Origin": "http://evil.example"}}), 403},
		"script of another site":          {request{header: map[string]string{"Origin": "https://evil.example"}}, 403},
		"script of another port":          {request{header: map[string]string{"Origin": "http://127.0.0.1:1"}}, 403},
		"script of a sandboxed frame":     {request{header: map[string]string{"Origin": "null"}}, 403},
		"two origins":                     {request{header: map[string]string{"Origin": "http://" + w.address}, more: http.Header{"Origin": {"http://evil.example"}}}, 403},
		"link of another site":            {request{header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}}, 403},
		"image of another site":           {request{header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image"}}, 403},
		"another port of the same host":   {request{header: map[string]string{"Sec-Fetch-Site": "same-site"}}, 403},
		"frame":                           {request{header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}}, 403},
		"frame that a person opened":      {request{header: map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "iframe"}}, 403},
		"no word on the site":             {request{header: map[string]string{"Sec-Fetch-Site": ""}}, 403},
		"two words on the site":           {request{more: http.Header{"Sec-Fetch-Site": {"cross-site"}}}, 403},
		"write that was typed":            {post(request{header: map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "document"}}), 403},
		"form of another site":            {post(request{header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "X-Emberd": "", "Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}}), 403},
		"form without a header":           {post(request{header: map[string]string{"X-Emberd": ""}}), 403},
		"form that looks like a script's": {post(request{header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}), 415},
		"text that is JSON":               {post(request{header: map[string]string{"Content-Type": "text/plain"}}), 415},
		"no type":                         {post(request{header: map[string]string{"Content-Type": ""}}), 415},
		"write by GET":                    {request{path: "/do/forget?id=" + string(m.ID)}, 405},
		"another method":                  {request{method: http.MethodDelete, path: "/memory/" + string(m.ID)}, 405},
		"question before a script":        {request{method: http.MethodOptions, path: "/do/forget"}, 405},
	}
	for name, a := range attacks {
		t.Run(name, func(t *testing.T) {
			a.cookie = cookie
			if a.path == "" {
				a.path = "/today"
			}
			status, header, _ := w.send(t, a.request)
			if status != a.status {
				t.Errorf("answered %d, want %d", status, a.status)
			}
			for name := range header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("the answer has %s", name)
				}
			}
		})
	}
	if status, _, _ := w.send(t, request{path: "/today", cookie: cookie}); status != http.StatusOK {
		t.Errorf("the page itself was answered %d", status)
	}
	if _, err := op.Show.Call(t.Context(), w.client, &op.ShowRequest{ID: string(m.ID)}); err != nil {
		t.Errorf("after the attacks: %v", err)
	}
	if status, _, _ := w.send(t, post(request{cookie: cookie})); status != http.StatusOK {
		t.Errorf("the write of the page itself was answered %d", status)
	}
}

// TestATextThatIsTooLongIsRefused sends more than a request may have.
func TestATextThatIsTooLongIsRefused(t *testing.T) {
	w := start(t)
	long := `{"id":"` + strings.Repeat("x", 1<<20) + `"}`
	status, _, body := w.send(t, request{method: http.MethodPost, path: "/do/edit", cookie: w.browser(t), body: long})
	if status != http.StatusRequestEntityTooLarge || !strings.Contains(body, "too long") {
		t.Errorf("status %d, %q, want 413 and that it is too long", status, body)
	}
}

// TestNothingIsShownWithoutASession asks for each route with a cookie that is missing or not valid here.
func TestNothingIsShownWithoutASession(t *testing.T) {
	w := start(t)
	w.save(t, &op.SaveRequest{Content: "The staging database listens on port 5433"})
	cookie := w.browser(t)
	other, address := w.serve(t)
	_, code, _ := strings.Cut(other.Address(), "#")
	second := &world{client: w.client, page: other, address: address, ahead: w.ahead}
	foreign := second.open(t, code)
	name, value, _ := strings.Cut(cookie, "=")
	_, foreignValue, _ := strings.Cut(foreign, "=")
	for what, cookie := range map[string]string{"none": "", "wrong": name + "=AAAA", "cookie of another port": foreign,
		"session of another port": name + "=" + foreignValue, "two": cookie + "; " + name + "=AAAA",
		"other name": "emberd=" + value} {
		for _, r := range []request{{path: "/today"}, {path: "/search?q=staging"}, {path: "/events"}, {path: "/health"},
			{method: http.MethodPost, path: "/do/undo", body: "{}"}, {method: http.MethodPost, path: "/end", body: "{}"}} {
			r.cookie = cookie
			status, _, body := w.send(t, r)
			if status != http.StatusUnauthorized || strings.Contains(body, "5433") {
				t.Errorf("cookie %s, %s: answered %d", what, r.path, status)
			}
		}
	}
	if status, _, body := w.send(t, request{path: "/search?q=staging", cookie: cookie}); status != 200 || !strings.Contains(body, "5433") {
		t.Errorf("with the session: answered %d", status)
	}
	if status, _, _ := second.send(t, request{path: "/today", cookie: cookie}); status != http.StatusUnauthorized {
		t.Errorf("the session was taken at another port: %d", status)
	}
}

func TestCodeOpensOneSessionWithinAMinute(t *testing.T) {
	w := start(t)
	code := w.code()
	if w.open(t, code+"x") != "" || w.open(t, "") != "" {
		t.Error("a wrong code was taken")
	}
	if w.open(t, code) == "" {
		t.Error("a code was refused")
	}
	if w.open(t, code) != "" {
		t.Error("a code was taken twice")
	}
	old := w.code()
	if w.code(); w.open(t, old) != "" {
		t.Error("a code was taken after a newer one was made")
	}
	late := w.code()
	w.pass(59 * time.Second)
	inTime := w.open(t, late)
	late = w.code()
	w.pass(60 * time.Second)
	if inTime == "" || w.open(t, late) != "" {
		t.Error("a code holds for less or more than 60 seconds")
	}
}

func TestSessionsEnd(t *testing.T) {
	w := start(t)
	works := func(cookie string) bool {
		status, _, _ := w.send(t, request{path: "/health", cookie: cookie})
		return status == http.StatusOK
	}
	first := w.browser(t)
	var others []string
	for range 7 {
		others = append(others, w.browser(t))
	}
	if !works(first) {
		t.Error("of eight sessions the first does not work")
	}
	if last := w.browser(t); works(first) || !works(others[0]) || !works(last) {
		t.Error("a ninth session did not end the first one alone")
	}
	if w.send(t, request{method: http.MethodPost, path: "/end", body: "{}", cookie: others[0]}); works(others[0]) {
		t.Error("a session works after its end")
	}
	w.pass(12*time.Hour - time.Minute)
	if !works(others[1]) {
		t.Error("a session ended before 12 hours")
	}
	if w.pass(2 * time.Minute); works(others[1]) {
		t.Error("a session works after 12 hours")
	}
}

// TestHeadersKeepOthersOut: no frame, no script but the page's own, nothing kept on the disk.
func TestHeadersKeepOthersOut(t *testing.T) {
	w := start(t)
	cookie := w.browser(t)
	for _, r := range []request{{path: "/"}, {path: "/today", cookie: cookie}, {path: "/static/app.js"},
		{path: "/nothing"}, {path: "/today", header: map[string]string{"Host": "evil.example"}}} {
		_, h, _ := w.send(t, r)
		csp := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'",
			"form-action 'none'", "base-uri 'none'", "require-trusted-types-for 'script'", "trusted-types emberd"} {
			if !strings.Contains(csp+";", part+";") {
				t.Errorf("%s: the policy lacks %q: %s", r.path, part, csp)
			}
		}
		for name, want := range map[string]string{"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin"} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", r.path, name, got, want)
			}
		}
		if got := h.Get("Cache-Control"); got != "no-store" && !strings.HasPrefix(r.path, "/static/") {
			t.Errorf("%s: Cache-Control is %q", r.path, got)
		}
	}
}

func TestCookieIsForThisPortAndThePageAlone(t *testing.T) {
	w := start(t)
	code := w.code()
	_, h, _ := w.send(t, request{method: http.MethodPost, path: "/session", body: `{"code":"` + code + `"}`})
	c, err := http.ParseSetCookie(h.Get("Set-Cookie"))
	if err != nil {
		t.Fatal(err)
	}
	port := w.address[strings.LastIndex(w.address, ":")+1:]
	if c.Name != "emberd-"+port || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" ||
		c.MaxAge != 12*60*60 || len(c.Value) < 43 {
		t.Errorf("the cookie is %v", c)
	}
}

func TestListensOnThisMachineAlone(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "[::]:0", ":0", "localhost:0", "192.0.2.1:0", "127.0.0.1"} {
		if ln, err := page.Listen(t.Context(), address); err == nil {
			t.Errorf("it listens on %s", address)
			ln.Close()
		}
	}
}

// TestFiveViewsDoNotReceiveEvents: four streams at most.
func TestFiveViewsDoNotReceiveEvents(t *testing.T) {
	w := start(t)
	cookie := w.browser(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 4 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.address+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Cookie", cookie)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		res, err := new(http.Transport).RoundTrip(r)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("a stream: %v, %v", res, err)
		}
		defer res.Body.Close()
	}
	if status, _, _ := w.send(t, request{path: "/events", cookie: cookie}); status != http.StatusServiceUnavailable {
		t.Errorf("a fifth stream was answered %d", status)
	}
}

// TestLookingChangesNothing: no view counts as a use, an access or a change.
func TestLookingChangesNothing(t *testing.T) {
	w := start(t)
	cookie := w.browser(t)
	m := w.save(t, &op.SaveRequest{Content: "The staging database listens on port 5433", Tags: []string{"infra"}})
	before, err := op.Journal.Call(t.Context(), w.client, &op.JournalRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/today", "/search", "/search?q=staging+database", "/decisions", "/duplicates", "/graph",
		"/graph?of=" + string(m.ID), "/fading", "/callers", "/health", "/memory/" + string(m.ID),
		"/whynot?q=kettle&of=" + string(m.ID)} {
		if status, _, body := w.send(t, request{path: path, cookie: cookie}); status != http.StatusOK {
			t.Errorf("%s: answered %d: %s", path, status, body)
		}
	}
	no := false
	after, err := op.Show.Call(t.Context(), w.client, &op.ShowRequest{ID: string(m.ID), Track: &no})
	if err != nil {
		t.Fatal(err)
	}
	if after.Memory.UseCount != m.UseCount || after.Memory.AccessCount != m.AccessCount || after.Memory.Rev != m.Rev {
		t.Errorf("the memory was %+v and is %+v", m, after.Memory)
	}
	now, err := op.Journal.Call(t.Context(), w.client, &op.JournalRequest{})
	if err != nil || now.Total != before.Total {
		t.Errorf("the journal has %d entries, and had %d (%v)", now.Total, before.Total, err)
	}
}
