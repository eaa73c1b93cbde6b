package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/access"
	"emberd/internal/cli"
	"emberd/internal/clients"
	"emberd/internal/durable"
	"emberd/internal/project"
	"emberd/memory"
	"emberd/op"
)

// clientLimit is the token of a client: its name, which is the client's and the project's,
// and the file with its secret. Config files of clients get the path alone, since they are
// synced, shared and copied.
type clientLimit struct {
	name, file string
	there      bool   // the file is
	wanted     bool   // scopes were given
	shared     bool   // it is the token of the client in all projects, which a project's entry uses too
	earlier    string // the name of another that the client has had until now, if any
}

// Limit finds the token of a client. A client that has one keeps it when it is installed
// again: an update must not widen what it may do.
func Limit(s *cli.App, c *clients.Client, file string, o Installation) (clientLimit, error) {
	l := clientLimit{name: c.Name, wanted: len(o.read)+len(o.write) > 0}
	if o.project {
		l.name += "-" + asTokenName(project.Here())
	}
	var err error
	if l.file, err = secretFile(s, l.name); err != nil {
		return l, err
	}
	l.there = isThere(l.file)
	l.before(c, file, o)
	if err := l.share(s, c, o); err != nil {
		return l, err
	}
	seen := cli.Getenv(s, cli.EnvToken)+cli.Getenv(s, cli.EnvTokenFile) != ""
	named := slices.ContainsFunc(s.Set, func(set string) bool { return strings.HasPrefix(set, "token_file=") })
	switch {
	case o.remove && (l.wanted || o.expires != ""):
		return l, memory.Errorf(memory.Invalid, "--remove cannot be combined with --read, --write or --expires")
	case o.expires != "" && !l.wanted:
		return l, memory.Errorf(memory.Invalid, "--expires requires --read or --write")
	case named && l.wanted:
		return l, memory.Errorf(memory.Invalid, "--set token_file cannot be combined with --read or --write")
	case seen && !o.remove:
		return l, memory.Errorf(memory.Invalid, "the client does not inherit %s and %s; unset these variables, and "+
			"limit the client with --read and --write, or with --set token_file=FILE", cli.EnvToken, cli.EnvTokenFile)
	case named:
		l.file = "" // it is among the settings that the client gets
	case !l.there && !l.wanted:
		l.file = ""
	}
	return l, nil
}

// before finds the token that a client has in place of the one it would get: a project may
// have been called otherwise, and names of tokens were made otherwise once. It is kept
// unless there are new scopes, which make one of the new name.
func (l *clientLimit) before(c *clients.Client, config string, o Installation) {
	tokens := filepath.Dir(l.file)
	file := ""
	for _, arg := range c.Args(config) {
		if path, ok := strings.CutPrefix(arg, "token_file="); ok && filepath.Dir(path) == tokens {
			file = path
		}
	}
	name, ours := strings.CutSuffix(filepath.Base(file), secretSuffix)
	switch {
	case !ours || file == l.file || !isThere(file):
	case l.wanted:
		l.earlier = name
	default:
		l.name, l.file, l.there = name, file, true
	}
}

// share gives the entry of a project the token that limits the client in all projects, unless the project has one.
func (l *clientLimit) share(s *cli.App, c *clients.Client, o Installation) error {
	if !o.project || l.wanted || l.there && l.name != c.Name {
		return nil
	}
	file, err := secretFile(s, c.Name)
	if err == nil && isThere(file) {
		l.name, l.file, l.there, l.shared = c.Name, file, true, true
	}
	return err
}

func isThere(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// asTokenName makes of a project's name what a token may be called. One that is not told by
// that has a digest behind it: projects that share a token share its limits.
func asTokenName(project string) string {
	plain, name := strings.ToLower(project), lettersOf(project)
	if name != plain {
		digest := sha256.Sum256([]byte(plain))
		name = strings.TrimPrefix(name+"-"+hex.EncodeToString(digest[:4]), "-")
	}
	return name
}

// lettersOf is a project's name with a hyphen for whatever a token may not be called.
func lettersOf(project string) string {
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(project))
	return strings.Trim(name[:min(len(name), 40)], "-")
}

// mint makes the token of a client and keeps its secret in the client's file. One that is
// there and for the same stays as it is, so that a client that runs is not cut off.
func mint(ctx context.Context, s *cli.App, l clientLimit, client string, o Installation) error {
	list, err := cli.Call(ctx, s, op.TokenList, &op.TokenListRequest{})
	if err != nil {
		return err
	}
	fits := func(t op.Token) bool {
		return t.Name == l.name && !t.Expired && o.expires == "" && sameScopes(t.Read, o.read) &&
			sameScopes(t.Write, o.write)
	}
	if l.there && slices.ContainsFunc(list.Tokens, fits) {
		return nil
	}
	res, err := cli.Call(ctx, s, op.TokenCreate, &op.TokenCreateRequest{Name: l.name, Read: o.read, Write: o.write,
		Expires: o.expires, Client: client, Replace: true})
	if err != nil {
		return err
	}
	if err := keepSecret(l.file, res.Secret); err != nil {
		_, undo := cli.Call(ctx, s, op.TokenRevoke, &op.TokenRevokeRequest{Name: l.name})
		return errors.Join(err, undo)
	}
	s.Note("token %s: %s", l.name, tokenLimits(s, &res.Token))
	if l.earlier != "" {
		s.Note("the earlier token %s of the client is still valid; to revoke it, run: emberd agent token revoke %s",
			l.earlier, l.earlier)
	}
	noteUnmatched(s, res)
	return nil
}

func keepSecret(file, secret string) error {
	disk := durable.OS{}
	if err := durable.MkdirAll(disk, filepath.Dir(file)); err != nil {
		return fmt.Errorf("cannot save the token: %w", err)
	}
	if err := durable.ReplaceFile(disk, file, []byte(secret+"\n")); err != nil {
		return fmt.Errorf("cannot save the token: %w", err)
	}
	return nil
}

func sameScopes(have, want []string) bool {
	a, errA := access.ParseScopes(have)
	b, errB := access.ParseScopes(want)
	return errA == nil && errB == nil && slices.Equal(a, b)
}

// revokeLimit ends the token of a client that was taken off its list.
func revokeLimit(ctx context.Context, s *cli.App, l clientLimit) error {
	if !l.there || l.shared {
		return nil
	}
	_, err := cli.Call(ctx, s, op.TokenRevoke, &op.TokenRevokeRequest{Name: l.name})
	if err != nil && memory.CodeOf(err) != memory.NotFound {
		return memory.Errorf(memory.CodeOf(err),
			"removed emberd from the client, but cannot revoke token %s: %w; run: emberd agent token revoke %s", l.name,
			err, l.name)
	}
	if err := dropSecret(s, l.name); err != nil {
		return err
	}
	s.Note("revoked token %s", l.name)
	return nil
}
