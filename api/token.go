package api

import (
	"errors"
	"net/http"
	"strings"

	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
)

// Tokens returns the permissions of an access token by its secret, or why it is invalid. It
// must not return a nil grant without an error, which would permit everything.
type Tokens func(secret string) (*access.Grant, error)

// authenticatedCaller is the caller of a request with its permissions; a nil grant permits
// everything.
type authenticatedCaller struct {
	actor memory.Actor
	grant *access.Grant
}

// limited adds the permissions of a request's token. A request without a token is the user's
// own. A request with an invalid token is refused, and never served without it.
func (v authenticatedCaller) limited(r *http.Request, tokens Tokens) (authenticatedCaller, error) {
	if _, ok := r.Header["Authorization"]; !ok {
		return v, nil
	}
	secret, ok := bearer(r)
	if !ok {
		return v, unauthorised("invalid Authorization header; use Bearer and one access token, or omit the header")
	}
	return v.shows(secret, tokens)
}

func (v authenticatedCaller) shows(secret string, tokens Tokens) (authenticatedCaller, error) {
	if tokens == nil {
		return v, unauthorised("this daemon has no access tokens; omit the Authorization header")
	}
	grant, err := tokens(secret)
	if err != nil {
		return v, unauthorised("%w", err)
	}
	if grant == nil { // which would be everything
		return v, errors.New("the access token has no scopes")
	}
	v.grant, v.actor.Token = grant, grant.Token
	return v, nil
}

// request returns r with the caller and its permissions in the context.
func (v authenticatedCaller) request(r *http.Request) *http.Request {
	ctx := op.WithCaller(r.Context(), v.actor)
	if v.grant != nil {
		ctx = op.WithGrant(ctx, v.grant)
	}
	return r.WithContext(ctx)
}

// bearer returns the token of a request (RFC 6750, section 2.1), false if there is none or more
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
