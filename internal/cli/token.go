package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"emberd/internal/durable"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

// The variables that name a token. One that is set to nothing is an error: whoever set it
// meant a limit, and without a token there is none.
const (
	EnvToken     = "EMBERD_TOKEN"
	EnvTokenFile = "EMBERD_TOKEN_FILE"
)

// Token is the capability token that the daemon is shown, "" when none was named.
func (s *App) Token() (string, error) {
	for _, name := range []string{EnvToken, EnvTokenFile} {
		if s.emptied(name) {
			return "", memory.Errorf(memory.Invalid, "%s is empty; set it to a token, or unset it", name)
		}
	}
	c, err := s.Load()
	if err != nil {
		return "", err
	}
	given := Getenv(s, EnvToken)
	switch {
	case given != "" && c.TokenFile != "":
		return "", memory.Errorf(memory.Invalid, "%s and the setting token_file cannot be combined", EnvToken)
	case given != "":
		if strings.ContainsFunc(given, NotTokenChar) {
			return "", memory.Errorf(memory.Invalid,
				"%s does not contain a token; set it to the output of emberd agent token create", EnvToken)
		}
		return given, nil
	case c.TokenFile == "":
		return "", nil
	}
	return readToken(c.TokenFile)
}

// WithoutToken returns an error if a token is named for a command that reads files itself: a token limits
// only what the daemon answers, so the command would show more than the token allows.
func (s *App) WithoutToken(reads string) error {
	token, err := s.Token()
	if err != nil || token == "" {
		return err
	}
	return memory.Errorf(memory.Forbidden, "%s, which an access token cannot limit; to run this command "+
		"without a token, unset %s and %s, and remove the setting token_file", reads, EnvToken, EnvTokenFile)
}

// emptied reports whether a variable is there and blank.
func (s *App) emptied(name string) bool {
	return slices.ContainsFunc(s.Env, func(pair string) bool {
		value, ok := strings.CutPrefix(pair, name+"=")
		return ok && strings.TrimSpace(value) == ""
	})
}

// readToken returns the token in a file that is its owner's alone.
func readToken(file string) (string, error) {
	token, err := ReadKey(file, "token")
	if err != nil {
		return "", memory.Errorf(memory.Invalid, "token_file: %w", err)
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return "", memory.Errorf(memory.Invalid, "token_file: %v", err)
	case info.Mode().Perm()&0o077 != 0:
		return "", memory.Errorf(memory.Invalid,
			"token_file: %s is readable by other users (mode %04o); run: chmod 600 %s", file, info.Mode().Perm(),
			text.ShellQuote(file))
	case strings.ContainsFunc(token, NotTokenChar):
		return "", memory.Errorf(memory.Invalid,
			"token_file: %s does not contain a valid token; write the output of emberd agent token create to this file",
			file)
	}
	return token, nil
}

// limited holds what is asked of an engine of our own to the token, as the daemon would.
func (s *App) limited(ctx context.Context, who memory.Actor) (context.Context, error) {
	token, err := s.Token()
	if err != nil {
		return nil, err
	}
	if token != "" && s.local != nil {
		grant, err := s.local.Authorize(token)
		if err != nil {
			return nil, err
		}
		who.Token, ctx = grant.Token, op.WithGrant(ctx, grant)
	}
	return op.WithCaller(ctx, who), nil
}

// NotTokenChar reports what a bearer token may not have, RFC 6750, section 2.1.
func NotTokenChar(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._~+/=", r))
}

// maxKey bounds a key in bytes; the longest known ones have a few hundred.
const maxKey = 16 << 10

// ReadKey returns the one word in a file, a key or what else it is to be; "" without a file.
func ReadKey(path, what string) (string, error) {
	if path == "" {
		return "", nil
	}
	// Not wrapped: an error of a path is taken for one of the daemon's own folders.
	f, err := durable.OpenGivenOrPipe(path)
	if err != nil {
		return "", fmt.Errorf("%v; write the %s to this file, or remove the setting", err, what)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return "", fmt.Errorf("%v; use a readable file", err)
	}
	key := string(bytes.TrimSpace(data))
	switch {
	case key == "":
		return "", fmt.Errorf("%s is empty; write the %s to this file, or remove the setting", path, what)
	case len(data) > maxKey, strings.ContainsFunc(key, func(r rune) bool {
		return unicode.IsSpace(r) ||
			!unicode.IsPrint(r)
	}):
		return "", fmt.Errorf("%s contains more than one word; the file must contain only the %s", path, what)
	}
	return key, nil
}
