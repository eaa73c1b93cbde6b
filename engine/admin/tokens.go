package admin

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/internal/access"
	"emberd/internal/text"
	"emberd/internal/when"
	"emberd/memory"
	"emberd/op"
)

// soon is how long before a token expires status reports it.
const soon = 7 * 24 * time.Hour

func (e *Admin) tokenStatus() *op.TokenStatus {
	valid, expiring := e.Tokens.Count(soon)
	if valid == 0 {
		return nil
	}
	return &op.TokenStatus{Valid: valid, Expiring: expiring}
}

// AddTokens adds the handlers of access tokens.
func (e *Admin) AddTokens(add func(*op.Spec, op.Handler)) {
	add(op.TokenCreate.Handle(e.tokenCreate))
	add(op.TokenList.Handle(e.tokenList))
	add(op.TokenRevoke.Handle(e.tokenRevoke))
}

func (e *Admin) tokenCreate(ctx context.Context, req *op.TokenCreateRequest) (*op.TokenCreateResult, error) {
	t := access.Token{Name: req.Name, Client: req.Client}
	var err error
	if t.Read, err = access.ParseScopes(req.Read); err != nil {
		return nil, inField(err, "read")
	}
	if t.Write, err = access.ParseScopes(req.Write); err != nil {
		return nil, inField(err, "write")
	}
	if t.Expires, err = Expiry(req.Expires, e.Opt.Now()); err != nil {
		return nil, err
	}
	secret, made, err := e.Tokens.Create(t, req.Replace)
	if err != nil {
		return nil, err
	}
	who := op.CallerFrom(ctx)
	e.Opt.Logger.Info("token made", "token", made.Name, "read", access.ScopeTexts(made.Read), "write",
		access.ScopeTexts(made.Write), "expires", Ends(made.Expires), "via", who.Via, "pid", who.PID)
	return &op.TokenCreateResult{Token: e.tokenView(&made), Secret: secret,
		Unmatched: e.unmatched(slices.Concat(made.Write, made.Read))}, nil
}

// unmatched returns the scopes that match nothing, which may be misspelled; none while notes
// are being read.
func (e *Admin) unmatched(scopes []access.Scope) (texts []string) {
	if e.Notes.Vault != nil && !e.Notes.Vault.Complete.Load() {
		return nil
	}
	for _, s := range scopes {
		seen := e.Hooks.Status(&access.Grant{Read: []access.Scope{s}})
		if s.Kind != access.All && seen.Memories == 0 && (len(seen.Vaults) == 0 || seen.Vaults[0].Notes == 0) {
			texts = append(texts, s.String())
		}
	}
	return texts
}

func (e *Admin) tokenList(_ context.Context, _ *op.TokenListRequest) (*op.TokenListResult, error) {
	if err := e.Tokens.Damage(); err != nil {
		return nil, err
	}
	res := &op.TokenListResult{Tokens: []op.Token{}}
	for _, t := range e.Tokens.List() {
		res.Tokens = append(res.Tokens, e.tokenView(&t))
	}
	return res, nil
}

func (e *Admin) tokenRevoke(ctx context.Context, req *op.TokenRevokeRequest) (*op.TokenRevokeResult, error) {
	t, err := e.Tokens.Revoke(req.Name)
	if err != nil {
		return nil, err
	}
	who := op.CallerFrom(ctx)
	e.Opt.Logger.Info("token revoked", "token", t.Name, "via", who.Via, "pid", who.PID)
	return &op.TokenRevokeResult{Token: e.tokenView(&t)}, nil
}

// CountRefusals counts what an operation refused to a token: all of it, or items of a batch.
func (e *Admin) CountRefusals(ctx context.Context, s *op.Spec, res any, err error) {
	grant, refused := op.GrantFrom(ctx), 0
	count := func(p *op.Problem) {
		if p != nil && p.Code == memory.Forbidden {
			refused++
		}
	}
	switch res := res.(type) {
	case *op.SaveBatchResult:
		for _, a := range res.Results {
			count(a.Error)
		}
	case *op.RelateBatchResult:
		for _, a := range res.Results {
			count(a.Error)
		}
	}
	if memory.CodeOf(err) == memory.Forbidden {
		refused = 1
	}
	if grant != nil && refused > 0 {
		e.Tokens.CountRefusal(grant, s.Name, refused)
	}
}

// Ends returns when a token expires, for the log.
func Ends(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format(time.RFC3339)
}

func (e *Admin) tokenView(t *access.Token) op.Token {
	told := op.Token{Name: t.Name, Client: t.Client, Read: access.ScopeTexts(t.Read), Write: access.ScopeTexts(t.Write),
		Refused: t.Refused.Count, LastRefused: t.Refused.Last, RefusedAs: t.Refused.Operation,
		Created: t.Created, Expires: t.Expires, Expired: !t.Expires.IsZero() && !e.Opt.Now().Before(t.Expires)}
	if !t.Shown.IsZero() {
		told.Shown = t.Shown.Format(time.DateOnly)
	}
	return told
}

// inField adds the name of a request field to an error.
func inField(err error, field string) error {
	if e, ok := errors.AsType[*memory.Error](err); ok {
		return e.At(field)
	}
	return err
}

// span matches the lifetime of a token.
var span = text.Pattern(`^([0-9]{1,4})([hdw])$`)

// units are the units of spans. There is no m, which could be minutes or months. A day has 24
// hours: a token need not expire at the same time of day.
var units = map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

// Expiry parses when a token expires; the zero time is never. A token is valid through a named
// day.
func Expiry(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "never" {
		return time.Time{}, nil
	}
	if m := span().FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // four digits
		return now.Add(time.Duration(n) * units[m[2]]), nil
	}
	// Period also parses ages, which are in the past
	if _, end, ok := when.Period(text, now); ok && end.After(now) {
		return end, nil
	}
	return time.Time{},
		memory.Errorf(memory.Invalid, "invalid expiry %q; use 12h, 30d, 8w, a future day such as 2027-01-31, or never",
			memory.Clip(text)).At("expires")
}
