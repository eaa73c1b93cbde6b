package main

import (
	"context"
	"os"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/op"
)

// The variables that name a token. One that is set to nothing is an error: whoever set it
// meant a limit, and without a token there is none.
const (
	envToken     = "EMBERD_TOKEN"
	envTokenFile = "EMBERD_TOKEN_FILE"
)

// token is the capability token that the daemon is shown, "" when none was named.
func (s *state) token() (string, error) {
	for _, name := range []string{envToken, envTokenFile} {
		if s.emptied(name) {
			return "", memory.Errorf(memory.Invalid, "%s is set to nothing; give it a token, or unset it to do without one", name)
		}
	}
	c, err := s.load()
	if err != nil {
		return "", err
	}
	given := s.getenv(envToken)
	switch {
	case given != "" && c.TokenFile != "":
		return "", memory.Errorf(memory.Invalid, "%s and the setting token_file both name a token; leave one of them out", envToken)
	case given != "":
		if strings.ContainsFunc(given, notTokenChar) {
			return "", memory.Errorf(memory.Invalid, "%s is no token; give it what emberd token create printed", envToken)
		}
		return given, nil
	case c.TokenFile == "":
		return "", nil
	}
	return readToken(c.TokenFile)
}

// emptied reports whether a variable is there and blank.
func (s *state) emptied(name string) bool {
	return slices.ContainsFunc(s.env, func(pair string) bool {
		value, ok := strings.CutPrefix(pair, name+"=")
		return ok && strings.TrimSpace(value) == ""
	})
}

// readToken returns the token in a file that is its owner's alone.
func readToken(file string) (string, error) {
	token, err := readKey(file, "token")
	if err != nil {
		return "", memory.Errorf(memory.Invalid, "token_file: %w", err)
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return "", memory.Errorf(memory.Invalid, "token_file: %v", err)
	case info.Mode().Perm()&0o077 != 0:
		return "", memory.Errorf(memory.Invalid, "token_file: %s can be read by others (mode %04o); run: chmod 600 %s", file, info.Mode().Perm(), quoted(file))
	case strings.ContainsFunc(token, notTokenChar):
		return "", memory.Errorf(memory.Invalid, "token_file: %s holds no token; put in what emberd token create printed", file)
	}
	return token, nil
}

// limited holds what is asked of an engine of our own to the token, as the daemon would.
func (s *state) limited(ctx context.Context, who memory.Actor) (context.Context, error) {
	token, err := s.token()
	if err != nil {
		return nil, err
	}
	if token != "" && s.local != nil {
		grant, err := s.local.Grant(token)
		if err != nil {
			return nil, err
		}
		who.Token, ctx = grant.Token, op.WithGrant(ctx, grant)
	}
	return op.WithCaller(ctx, who), nil
}
