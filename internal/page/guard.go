package page

import (
	"fmt"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
)

// policy is the Content-Security-Policy of every answer: nothing is loaded from another server,
// no text becomes a script, and no other page shows this one in a frame. The script makes one
// Trusted Types policy, for the HTML that this program sends.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'none'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; " +
	"trusted-types emberd"

// headers are in every answer.
var headers = [][2]string{
	{"Content-Security-Policy", policy},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cache-Control", "no-store"},
	{"Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"},
}

// refusal is why a request is not answered.
type refusal struct {
	status int
	why    string
}

// hostsOf returns the values of Host that name a listener, with its port: its own address, and
// localhost, which browsers resolve to this machine.
func hostsOf(at *net.TCPAddr) []string {
	port := fmt.Sprint(at.Port)
	return []string{net.JoinHostPort(at.IP.String(), port), "localhost:" + port}
}

// check refuses what a browser sends for a page of another site, and what is not from a browser
// that says where a request comes from. It does not look at the session.
func (p *Page) check(r *http.Request) *refusal {
	checks := []func(*http.Request) *refusal{p.checkHost, p.checkOrigin, checkSite, checkMethod, checkWrite}
	for _, check := range checks {
		if no := check(r); no != nil {
			return no
		}
	}
	return nil
}

// checkHost refuses a name that leads here by DNS rebinding.
func (p *Page) checkHost(r *http.Request) *refusal {
	if slices.Contains(p.hosts, r.Host) {
		return nil
	}
	return &refusal{http.StatusForbidden, "invalid address of the web page; open http://" + p.hosts[0]}
}

// checkOrigin refuses scripts and forms of other pages.
func (p *Page) checkOrigin(r *http.Request) *refusal {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 || len(origins) == 1 && origins[0] == "http://"+r.Host {
		return nil
	}
	return &refusal{http.StatusForbidden, "emberd rejected the request, because another web page sent it"}
}

// checkSite refuses what another site caused, and takes what a person typed only for reading.
func checkSite(r *http.Request) *refusal {
	site := r.Header.Get("Sec-Fetch-Site")
	typed := site == "none" && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Dest") == "document"
	if len(r.Header.Values("Sec-Fetch-Site")) == 1 && (site == "same-origin" || typed) {
		return nil
	}
	if site == "" {
		return &refusal{http.StatusForbidden, "the browser did not send the header Sec-Fetch-Site; use a newer browser"}
	}
	return &refusal{http.StatusForbidden, "emberd rejected the request, because another site sent it"}
}

func checkMethod(r *http.Request) *refusal {
	if r.Method == http.MethodGet || r.Method == http.MethodPost {
		return nil
	}
	return &refusal{http.StatusMethodNotAllowed, "unsupported request method; use GET or POST"}
}

// checkWrite wants of a write what no form and no script of another origin can send without
// asking first, which is never allowed here.
func checkWrite(r *http.Request) *refusal {
	if r.Method == http.MethodGet {
		return nil
	}
	if r.Header.Get("X-Emberd") != "1" {
		return &refusal{http.StatusForbidden, "a request that changes data requires the header X-Emberd: 1"}
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !strings.EqualFold(media, "application/json") {
		return &refusal{http.StatusUnsupportedMediaType, "a request that changes data requires the header " +
			"Content-Type: application/json"}
	}
	return nil
}
