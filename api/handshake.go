package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/memory"
	"emberd/op"
)

// peerVersion is the version of one end, from the header Emberd-Version or Emberd-Client.
type peerVersion struct {
	name     string // "0.1.0", or "cli/0.1.0"
	protocol int
}

const protocolMark = " protocol/"

func (s peerVersion) String() string { return s.name + protocolMark + strconv.Itoa(s.protocol) }

func parsePeerVersion(text string) (peerVersion, bool) {
	at := strings.LastIndex(text, protocolMark)
	if at < 0 || !isClaim(text) {
		return peerVersion{}, false
	}
	n, err := strconv.Atoi(text[at+len(protocolMark):])
	return peerVersion{text[:at], n}, err == nil && n > 0
}

// isClaim bounds what a client says about itself, since it goes into the log.
func isClaim(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxClaim &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// checkCompatible returns an error unless both ends have the same protocol.
func checkCompatible(client, daemon peerVersion) error {
	advice := "the daemon is older; stop it, then run: emberd serve"
	switch {
	case client.protocol == daemon.protocol:
		return nil
	case client.protocol < daemon.protocol:
		advice = "the client is older; upgrade the client"
	}
	return memory.Errorf(memory.Incompatible,
		"daemon %s (protocol %d) and client %s (protocol %d) are incompatible: %s", daemon.name, daemon.protocol,
		client.name, client.protocol, advice)
}

type peerKey struct{}

// peer is the process at the other end, as the kernel knows it.
type peer struct{ uid, pid int }

// welcome returns the caller of r with its permissions, or why r is refused.
func (h *handler) welcome(r *http.Request) (authenticatedCaller, error) {
	actor, err := h.identify(r)
	if err != nil {
		return authenticatedCaller{}, err
	}
	return authenticatedCaller{actor: actor}.limited(r, h.tokens)
}

// identify returns the caller of a request: its process, which the kernel names, and the
// client that the request claims.
func (h *handler) identify(r *http.Request) (memory.Actor, error) {
	if err := fromBrowser(r); err != nil {
		return memory.Actor{}, err
	}
	p, ok := r.Context().Value(peerKey{}).(peer)
	if !ok {
		return memory.Actor{}, memory.Errorf(memory.Forbidden,
			"the operating system did not identify the calling process; connect to the Unix socket of emberd")
	}
	actor := memory.Actor{Via: "http", UID: p.uid, PID: p.pid, Session: r.Header.Get(headerSession)}
	if !isClaim(actor.Session) {
		return memory.Actor{}, memory.Errorf(memory.Invalid, "invalid %s; use up to %d printable characters",
			headerSession, maxClaim).At(headerSession)
	}
	claim := r.Header.Get(headerClient)
	if claim == "" {
		return actor, nil
	}
	client, ok := parsePeerVersion(claim)
	if !ok {
		return memory.Actor{}, memory.Errorf(memory.Invalid,
			`invalid %s %q; use "<name>/<version> protocol/<n>" with up to %d characters`,
			headerClient, memory.Clip(claim), maxClaim).At(headerClient)
	}
	actor.Client = client.name
	if name, _, _ := strings.Cut(client.name, "/"); name == "cli" || name == "mcp" {
		actor.Via = name
	}
	if agent := r.Header.Get(headerAgent); agent != "" {
		if !isClaim(agent) {
			return memory.Actor{}, memory.Errorf(memory.Invalid, "invalid %s; use up to %d printable characters",
				headerAgent, maxClaim).At(headerAgent)
		}
		actor.Client = agent
	}
	if r.URL.Path == op.Version.Path {
		return actor, nil // the question which protocol it is has an answer in all of them
	}
	return actor, checkCompatible(client, h.self)
}

// fromBrowser refuses what only a browser would send: a page that was made to
// look as if it came from here (DNS rebinding) carries its own Host.
func fromBrowser(r *http.Request) error {
	switch strings.ToLower(r.Host) {
	case "", "emberd", "localhost":
	default:
		return memory.Errorf(memory.Forbidden, "invalid host %q; send requests to http://emberd/",
			memory.Clip(r.Host)).At("Host")
	}
	for _, name := range []string{"Origin", "Sec-Fetch-Site"} {
		if _, ok := r.Header[name]; ok {
			return memory.Errorf(memory.Forbidden,
				"the request has the header %s, which browsers send; emberd rejects requests from web pages",
				name).At(name)
		}
	}
	return nil
}

type stopKey struct{}

// stopping returns the channel that is closed when the server shuts down, nil
// when it never does.
func stopping(ctx context.Context) <-chan struct{} {
	stop, _ := ctx.Value(stopKey{}).(<-chan struct{})
	return stop
}
