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

// side is what one end says about itself in Emberd-Version or Emberd-Client.
type side struct {
	name     string // "0.1.0", or "cli/0.1.0"
	protocol int
}

const protocolMark = " protocol/"

func (s side) String() string { return s.name + protocolMark + strconv.Itoa(s.protocol) }

func parseSide(text string) (side, bool) {
	at := strings.LastIndex(text, protocolMark)
	if at < 0 || !isClaim(text) {
		return side{}, false
	}
	n, err := strconv.Atoi(text[at+len(protocolMark):])
	return side{text[:at], n}, err == nil && n > 0
}

// isClaim bounds what a client says about itself, since it goes into the log.
func isClaim(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxClaim &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// meet compares both ends. They fit when their protocols are equal.
func meet(client, daemon side) error {
	advice := "the daemon is older; restart the daemon: emberd serve"
	switch {
	case client.protocol == daemon.protocol:
		return nil
	case client.protocol < daemon.protocol:
		advice = "the client is older; upgrade this emberd"
	}
	return memory.Errorf(memory.Incompatible, "the daemon (%s) speaks protocol %d and the client (%s) protocol %d: %s",
		daemon.name, daemon.protocol, client.name, client.protocol, advice)
}

type peerKey struct{}

// peer is the process at the other end, as the kernel knows it.
type peer struct{ uid, pid int }

// welcome decides whether r is served, as whose, and limited to what.
func (h *handler) welcome(r *http.Request) (visitor, error) {
	actor, err := h.greet(r)
	if err != nil {
		return visitor{}, err
	}
	return visitor{actor: actor}.limited(r, h.tokens)
}

// greet tells who is calling, as far as the kernel knows and the request claims.
func (h *handler) greet(r *http.Request) (memory.Actor, error) {
	if err := fromBrowser(r); err != nil {
		return memory.Actor{}, err
	}
	who, ok := r.Context().Value(peerKey{}).(peer)
	if !ok {
		return memory.Actor{}, memory.Errorf(memory.Forbidden, "the kernel does not say who is calling; connect to the unix socket of emberd")
	}
	actor := memory.Actor{Via: "http", UID: who.uid, PID: who.pid, Session: r.Header.Get(headerSession)}
	if !isClaim(actor.Session) {
		return memory.Actor{}, memory.Errorf(memory.Invalid, "%s is longer than %d characters or not printable; shorten it", headerSession, maxClaim).At(headerSession)
	}
	claim := r.Header.Get(headerClient)
	if claim == "" {
		return actor, nil
	}
	client, ok := parseSide(claim)
	if !ok {
		return memory.Actor{}, memory.Errorf(memory.Invalid, `%s is %q; send "<name>/<version> protocol/<n>" in up to %d characters`, headerClient, memory.Clip(claim), maxClaim).At(headerClient)
	}
	actor.Client = client.name
	if name, _, _ := strings.Cut(client.name, "/"); name == "cli" || name == "mcp" {
		actor.Via = name
	}
	if agent := r.Header.Get(headerAgent); agent != "" {
		if !isClaim(agent) {
			return memory.Actor{}, memory.Errorf(memory.Invalid, "%s is longer than %d characters or not printable; shorten it", headerAgent, maxClaim).At(headerAgent)
		}
		actor.Client = agent
	}
	if r.URL.Path == op.Version.Path {
		return actor, nil // the question which protocol it is has an answer in all of them
	}
	return actor, meet(client, h.self)
}

// fromBrowser refuses what only a browser would send: a page that was made to
// look as if it came from here (DNS rebinding) carries its own Host.
func fromBrowser(r *http.Request) error {
	switch strings.ToLower(r.Host) {
	case "", "emberd", "localhost":
	default:
		return memory.Errorf(memory.Forbidden, "host %q is not emberd; address requests to http://emberd/", memory.Clip(r.Host)).At("Host")
	}
	for _, name := range []string{"Origin", "Sec-Fetch-Site"} {
		if _, ok := r.Header[name]; ok {
			return memory.Errorf(memory.Forbidden, "a request with %s comes from a web page; emberd does not serve those", name).At(name)
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
