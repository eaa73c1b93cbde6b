package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/cli"
	"emberd/op"
)

func tokenCommand(s *cli.App) *cobra.Command {
	return cli.Group("token",
		tokenCreateCommand(s), tokenListCommand(s), tokenRevokeCommand(s))
}

// scopeFlags are the flags that say what a token is for.
func scopeFlags(f *pflag.FlagSet, read, write *[]string, expires *string) {
	f.StringArrayVar(read, "read", nil, "")
	f.StringArrayVar(write, "write", nil, "")
	f.StringVar(expires, "expires", "", "")
}

func tokenCreateCommand(s *cli.App) *cobra.Command {
	var req op.TokenCreateRequest
	cmd := cli.Command("create NAME", cli.ArgCount(1, 1, "one name"), nil,
		func(cmd *cobra.Command, args []string) error {
			req.Name = args[0]
			return cli.Show(cmd.Context(), s, op.TokenCreate, &req, func(s *cli.App, res *op.TokenCreateResult) {
				s.Printf("%s\n", res.Secret)
				s.Note("token %s: %s; emberd does not show the secret again; pass the "+
					"secret to programs in the environment variable EMBERD_TOKEN", res.Token.Name,
					tokenLimits(s, &res.Token))
				noteUnmatched(s, res)
			})
		})
	scopeFlags(cmd.Flags(), &req.Read, &req.Write, &req.Expires)
	return cmd
}

// noteUnmatched tells which scopes of a new token may be misspelt.
func noteUnmatched(s *cli.App, res *op.TokenCreateResult) {
	if len(res.Unmatched) > 0 {
		s.Note("no memory or note matches %s yet; if the scope contains a typo, create the token again",
			cli.Flat(strings.Join(res.Unmatched, " or ")))
	}
}

func tokenListCommand(s *cli.App) *cobra.Command {
	return cli.Command("list", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		res, err := cli.Call(cmd.Context(), s, op.TokenList, &op.TokenListRequest{})
		if err != nil {
			return err
		}
		return s.Found(res, len(res.Tokens), func() {
			for _, t := range res.Tokens {
				printToken(s, &t)
			}
			if len(res.Tokens) == 0 {
				s.Note("no tokens; all your programs have full access")
			}
		})
	})
}

func tokenRevokeCommand(s *cli.App) *cobra.Command {
	return cli.Command("revoke NAME", cli.ArgCount(1, 1, "one name"), s.CompleteTokens,
		func(cmd *cobra.Command, args []string) error {
			res, err := cli.Call(cmd.Context(), s, op.TokenRevoke, &op.TokenRevokeRequest{Name: args[0]})
			if err != nil {
				return err
			}
			if err := dropSecret(s, res.Token.Name); err != nil {
				return err
			}
			return s.Answer(res, func() { s.Printf("revoked token %s\n", res.Token.Name) })
		})
}

// printToken prints a token in two lines or three.
func printToken(s *cli.App, t *op.Token) {
	used := "never used"
	if t.Shown != "" {
		used = "last used " + t.Shown
	}
	if t.Client != "" {
		used += ", made for " + t.Client
	}
	s.Printf("%s %s\n", cli.Pad(t.Name, 16), tokenLimits(s, t))
	s.Printf("%s %s\n", cli.Pad("", 16), used)
	if t.Refused > 0 {
		s.Printf("%s emberd refused this token %s since the daemon started, most recently %s, for operation %s\n",
			cli.Pad("", 16), cli.Count(t.Refused, "time", "times"), s.When(t.LastRefused), t.RefusedAs)
	}
}

// tokenLimits says what a token is for and when it ends.
func tokenLimits(s *cli.App, t *op.Token) string {
	var parts []string
	if len(t.Write) > 0 {
		parts = append(parts, "can see and change "+cli.Flat(strings.Join(t.Write, " ")))
	}
	if len(t.Read) > 0 {
		parts = append(parts, "sees "+cli.Flat(strings.Join(t.Read, " ")))
	}
	text := strings.Join(parts, ", ") + ", "
	switch end := t.Expires.In(s.Zone).Format(time.DateTime); {
	case t.Expires.IsZero():
		return text + "never expires"
	case t.Expired:
		return text + "expired " + end
	default:
		return text + "expires " + end
	}
}

const secretSuffix = ".secret"

// secretFile is where the token that install-client made is kept for its client.
func secretFile(s *cli.App, name string) (string, error) {
	c, err := s.Load()
	if err != nil {
		return "", err
	}
	return filepath.Join(c.State, "tokens", name+secretSuffix), nil
}

// dropSecret removes the file of a token that is no more, if it had one.
func dropSecret(s *cli.App, name string) error {
	file, err := secretFile(s, name)
	if err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot delete the secret of a revoked token: %w", err)
	}
	return nil
}
