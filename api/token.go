package api

import (
	"errors"
	"net/http"
	"strings"

	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
)

// Tokens tells what who shows the secret of a capability token may see and change, or why
// it is worth nothing. It must not return a nil grant without an error, which would be
// everything.
type Tokens func(secret string) (*access.Grant, error)

// visitor is who asks, and what that is limited to; a nil grant is everything.
type visitor struct {
	actor memory.Actor
	grant *access.Grant
}

// limited adds what the token of a request limits its visitor to. A request without one is
// the user's own; one with a token that is no good is refused and never served without it.
func (v visitor) limited(r *http.Request, tokens Tokens) (visitor, error) {
	if _, ok := r.Header["Authorization"]; !ok {
		return v, nil
	}
	secret, ok := bearer(r)
	if !ok {
		return v, unauthorised("the Authorization of a request is Bearer and one token; send that, or leave it out")
	}
	return v.shows(secret, tokens)
}

func (v visitor) shows(secret string, tokens Tokens) (visitor, error) {
	if tokens == nil {
		return v, unauthorised("no capability tokens are known here; leave Authorization out")
	}
	grant, err := tokens(secret)
	if err != nil {
		return v, unauthorised("%w", err)
	}
	if grant == nil { // which would be everything
		return v, errors.New("a token has no grant")
	}
	v.grant, v.actor.Token = grant, grant.Token
	return v, nil
}

// request is r with what operations are told of the visitor.
func (v visitor) request(r *http.Request) *http.Request {
	ctx := op.WithCaller(r.Context(), v.actor)
	if v.grant != nil {
		ctx = op.WithGrant(ctx, v.grant)
	}
	return r.WithContext(ctx)
}

// bearer is the token of a request (RFC 6750, section 2.1), false if there is none or more
// than one.
func bearer(r *http.Request) (string, bool) {
	all := r.Header["Authorization"]
	if len(all) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(all[0], " ")
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

func unauthorised(format string, args ...any) error {
	return refuse(http.StatusUnauthorized, memory.Errorf(memory.Forbidden, format, args...).At("Authorization"))
}
