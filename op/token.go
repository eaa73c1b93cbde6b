package op

import "time"

// TokenCreateRequest lists what a caller with the token can see and change.
type TokenCreateRequest struct {
	Name    string   `json:"name" doc:"new name of the token, 1 to 64 characters: a to z, 0 to 9 and hyphens"`
	Read    []string `json:"read,omitempty" doc:"scopes that the token can read but not change: tag:NAME, project:NAME, folder:PATH or all; at most 20"`
	Write   []string `json:"write,omitempty" doc:"scopes that the token can read and change: tag:NAME, project:NAME, folder:PATH or all; at most 20"`
	Expires string   `json:"expires,omitempty" doc:"lifetime of the token, such as 12h, 30d or 8w; a last day, such as 2027-01-31; or never (default)"`
	Client  string   `json:"client,omitempty" doc:"name of the client that uses the token; emberd only shows the name"`
	Replace bool     `json:"replace,omitempty" doc:"if a token with this name exists, revoke the old token"`
}

// TokenCreateResult has the secret, which is shown here and never again.
type TokenCreateResult struct {
	Token  Token  `json:"token"`
	Secret string `json:"secret"` // what the caller sends as its bearer token
	// Unmatched are the scopes that no memory and no note fits at the moment.
	Unmatched []string `json:"unmatched,omitempty"`
}

// Token is a capability token without its secret, which is not kept.
type Token struct {
	Name    string    `json:"name"`
	Client  string    `json:"client,omitempty"`
	Read    []string  `json:"read"`  // scopes
	Write   []string  `json:"write"` // scopes
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // none for never
	Expired bool      `json:"expired,omitempty"`
	Shown   string    `json:"shown,omitempty"` // the last day on which it was shown, in UTC
	// Refused is how often it was refused what it may not do since the daemon started, LastRefused when
	// last, and RefusedAs by which operation.
	Refused     int       `json:"refused,omitempty"`
	LastRefused time.Time `json:"last_refused,omitzero"`
	RefusedAs   string    `json:"refused_as,omitempty"`
}

// TokenListRequest has no fields.
type TokenListRequest struct{}

// TokenListResult lists the tokens by name.
type TokenListResult struct {
	Tokens []Token `json:"tokens"`
}

// TokenRevokeRequest names a token.
type TokenRevokeRequest struct {
	Name string `json:"-" path:"name"`
}

// TokenRevokeResult is the token as it was.
type TokenRevokeResult struct {
	Token Token `json:"token"`
}

// TokenStatus counts the tokens that have not expired.
type TokenStatus struct {
	Valid    int `json:"valid"`
	Expiring int `json:"expiring"` // of them within a week
}
