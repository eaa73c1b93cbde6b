package engine

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/internal/access"
	"emberd/internal/durable"
	"emberd/internal/when"
	"emberd/memory"
	"emberd/op"
)

// enter takes the lock of the state folder and reads the capability tokens in it.
func (o *Options) enter() (*durable.Lock, *access.Store, error) {
	lock, err := acquire(o.State)
	if err != nil {
		return nil, nil, err
	}
	tokens, err := access.OpenStore(o.FS, filepath.Join(o.State, "tokens.json"), o.Now)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Close())
	}
	return lock, tokens, nil
}

// Grant returns what who shows the secret of a capability token may see and change, for
// [op.WithGrant]. That of no token here, or of one that was revoked or has expired, gets
// code Forbidden and is to be refused.
func (e *Engine) Grant(secret string) (*access.Grant, error) { return e.tokens.Grant(secret) }

// soon is how long before its end status tells of a token.
const soon = 7 * 24 * time.Hour

func (e *Engine) tokenStatus() *op.TokenStatus {
	valid, expiring := e.tokens.Count(soon)
	if valid == 0 {
		return nil
	}
	return &op.TokenStatus{Valid: valid, Expiring: expiring}
}

func (e *Engine) addTokens(add func(*op.Spec, op.Handler)) {
	add(op.TokenCreate.Handle(e.tokenCreate))
	add(op.TokenList.Handle(e.tokenList))
	add(op.TokenRevoke.Handle(e.tokenRevoke))
}

func (e *Engine) tokenCreate(ctx context.Context, req *op.TokenCreateRequest) (*op.TokenCreateResult, error) {
	t := access.Token{Name: req.Name, Client: req.Client}
	var err error
	if t.Read, err = access.ParseScopes(req.Read); err != nil {
		return nil, inField(err, "read")
	}
	if t.Write, err = access.ParseScopes(req.Write); err != nil {
		return nil, inField(err, "write")
	}
	if t.Expires, err = expiry(req.Expires, e.opt.Now()); err != nil {
		return nil, err
	}
	secret, made, err := e.tokens.Create(t, req.Replace)
	if err != nil {
		return nil, err
	}
	who := op.CallerFrom(ctx)
	e.opt.Logger.Info("token made", "token", made.Name, "read", access.ScopeTexts(made.Read), "write", access.ScopeTexts(made.Write), "expires", ends(made.Expires), "via", who.Via, "pid", who.PID)
	return &op.TokenCreateResult{Token: e.tokenTold(&made), Secret: secret, Unmatched: e.unmatched(slices.Concat(made.Write, made.Read))}, nil
}

// unmatched are the scopes that nothing fits, which may be misspelt; none while notes are
// still being read.
func (e *Engine) unmatched(scopes []access.Scope) (texts []string) {
	if e.notes != nil && !e.notes.complete.Load() {
		return nil
	}
	for _, s := range scopes {
		seen := e.through(&access.Grant{Read: []access.Scope{s}}).seenStatus()
		if s.Kind != access.All && seen.Memories == 0 && (len(seen.Vaults) == 0 || seen.Vaults[0].Notes == 0) {
			texts = append(texts, s.String())
		}
	}
	return texts
}

func (e *Engine) tokenList(_ context.Context, _ *op.TokenListRequest) (*op.TokenListResult, error) {
	res := &op.TokenListResult{Tokens: []op.Token{}}
	for _, t := range e.tokens.List() {
		res.Tokens = append(res.Tokens, e.tokenTold(&t))
	}
	return res, nil
}

func (e *Engine) tokenRevoke(ctx context.Context, req *op.TokenRevokeRequest) (*op.TokenRevokeResult, error) {
	t, err := e.tokens.Revoke(req.Name)
	if err != nil {
		return nil, err
	}
	who := op.CallerFrom(ctx)
	e.opt.Logger.Info("token revoked", "token", t.Name, "via", who.Via, "pid", who.PID)
	return &op.TokenRevokeResult{Token: e.tokenTold(&t)}, nil
}

// ends is when a token expires, in words for the log.
func ends(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format(time.RFC3339)
}

func (e *Engine) tokenTold(t *access.Token) op.Token {
	told := op.Token{Name: t.Name, Client: t.Client, Read: access.ScopeTexts(t.Read), Write: access.ScopeTexts(t.Write),
		Created: t.Created, Expires: t.Expires, Expired: !t.Expires.IsZero() && !e.opt.Now().Before(t.Expires)}
	if !t.Shown.IsZero() {
		told.Shown = t.Shown.Format(time.DateOnly)
	}
	return told
}

// inField names the request field that a refusal is about.
func inField(err error, field string) error {
	if e, ok := errors.AsType[*memory.Error](err); ok {
		return e.At(field)
	}
	return err
}

// span is a length of time that a token lasts.
var span = regexp.MustCompile(`^([0-9]{1,4})([hdw])$`)

// units are what spans are counted in. There is no m, which is minutes to some and months to others. Days are of 24 hours: a token need not end at the
// same time of the clock.
var units = map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

// expiry reads when a token ends; the zero time is never. A day that is named is its last.
func expiry(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "never" {
		return time.Time{}, nil
	}
	if m := span.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // four digits
		return now.Add(time.Duration(n) * units[m[2]]), nil
	}
	if _, end, ok := when.Period(text, now); ok && end.After(now) { // it also reads ages, which are over
		return end, nil
	}
	return time.Time{}, memory.Errorf(memory.Invalid, "%q is not when a token can expire; write 12h, 30d, 8w, a day to come as in 2027-01-31, or never", memory.Clip(text)).At("expires")
}
