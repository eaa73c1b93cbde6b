package main

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

	"emberd/op"
)

func (s *state) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Limit what an agent may see and change",
		Long: `Make, list and revoke capability tokens. Who shows one sees the memories and
notes of its scopes and no others, over the command line, HTTP and MCP alike;
who shows none may do everything.

A token keeps agents apart that are asked to keep apart. It does not stop a
program that runs as you and reads the data folder itself. For an AI client the
short way is emberd install-client CLIENT --write SCOPE.`,
		Example: `  emberd token create research --read folder:Work --write tag:research
  emberd token list
  emberd token revoke research`,
		Annotations: exits(endings{exitNoDaemon: ""}),
	}
	asGroup(cmd)
	cmd.AddCommand(s.tokenCreateCommand(), s.tokenListCommand(), s.tokenRevokeCommand())
	return cmd
}

// scopeFlags are the flags that say what a token is for.
func scopeFlags(f *pflag.FlagSet, read, write *[]string, expires *string) {
	f.StringArrayVar(read, "read", nil, "see what is in `SCOPE`: tag:NAME, project:NAME, folder:PATH or all; repeatable")
	f.StringArrayVar(write, "write", nil, "see and change what is in `SCOPE`; repeatable")
	f.StringVar(expires, "expires", "", "`WHEN` the token ends: 12h, 30d, 8w, its last day as 2027-01-31, or never")
}

func (s *state) tokenCreateCommand() *cobra.Command {
	var req op.TokenCreateRequest
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a token and print it, this once",
		Long: `Make a token and print it. It is shown this once: only a digest of it is kept.

Give it to a program as EMBERD_TOKEN, in a file of mode 0600 that the setting
token_file names, or over HTTP as Authorization: Bearer. With --read alone it
changes nothing.`,
		Example: `  emberd token create research --read folder:Work --write tag:research
  EMBERD_TOKEN=$(emberd token create try --read all --expires 1h) emberd list`,
		Annotations: exits(endings{exitNoDaemon: "", exitConflict: "there is a token of that name"}),
		Args:        takes(1, 1, "one name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Name = args[0]
			res, err := call(cmd.Context(), s, op.TokenCreate, &req)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printf("%s\n", res.Secret)
			s.note("the token %s: %s; it is not shown again, and a program shows it as EMBERD_TOKEN", res.Token.Name, s.tokenLimits(&res.Token))
			s.noteUnmatched(res)
			return nil
		},
	}
	f := cmd.Flags()
	scopeFlags(f, &req.Read, &req.Write, &req.Expires)
	f.StringVar(&req.Client, "client", "", "`NAME` of the client it is for, as a note")
	return cmd
}

// noteUnmatched tells which scopes of a new token may be misspelt.
func (s *state) noteUnmatched(res *op.TokenCreateResult) {
	if len(res.Unmatched) > 0 {
		s.note("nothing is in %s yet; if that is a slip, make the token again", flat(strings.Join(res.Unmatched, " or ")))
	}
}

func (s *state) tokenListCommand() *cobra.Command {
	return &cobra.Command{
		Use:         "list",
		Short:       "List the tokens, what they are for and when they were last shown",
		Example:     `  emberd token list`,
		Annotations: exits(endings{exitNothing: "there is none", exitNoDaemon: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			res, err := call(cmd.Context(), s, op.TokenList, &op.TokenListRequest{})
			if err != nil {
				return err
			}
			return s.found(res, len(res.Tokens), func() {
				for _, t := range res.Tokens {
					s.printToken(&t)
				}
				if len(res.Tokens) == 0 {
					s.note("there are no tokens; every program of yours may do everything")
				}
			})
		},
	}
}

func (s *state) tokenRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "End a token at once",
		Long: `End a token at once, also for what is connected with it. Nothing takes that
back; its name may be given to another.`,
		Example:           `  emberd token revoke research`,
		Annotations:       exits(endings{exitNothing: "there is no such token", exitNoDaemon: ""}),
		Args:              takes(1, 1, "one name"),
		ValidArgsFunction: s.completeTokens,
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := call(cmd.Context(), s, op.TokenRevoke, &op.TokenRevokeRequest{Name: args[0]})
			if err != nil {
				return err
			}
			if err := s.dropSecret(res.Token.Name); err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printf("the token %s is revoked\n", res.Token.Name)
			return nil
		},
	}
}

// printToken prints a token in two lines or three.
func (s *state) printToken(t *op.Token) {
	used := "never shown"
	if t.Shown != "" {
		used = "last shown " + t.Shown
	}
	if t.Client != "" {
		used += ", made for " + t.Client
	}
	s.printf("%s %s\n", pad(t.Name, 16), s.tokenLimits(t))
	s.printf("%s %s\n", pad("", 16), used)
}

// tokenLimits says what a token is for and when it ends.
func (s *state) tokenLimits(t *op.Token) string {
	var parts []string
	if len(t.Write) > 0 {
		parts = append(parts, "sees and changes "+flat(strings.Join(t.Write, " ")))
	}
	if len(t.Read) > 0 {
		parts = append(parts, "sees "+flat(strings.Join(t.Read, " ")))
	}
	text := strings.Join(parts, ", ") + ", "
	switch end := t.Expires.In(s.zone).Format(time.DateTime); {
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
func (s *state) secretFile(name string) (string, error) {
	c, err := s.load()
	if err != nil {
		return "", err
	}
	return filepath.Join(c.State, "tokens", name+secretSuffix), nil
}

// dropSecret removes the file of a token that is no more, if it had one.
func (s *state) dropSecret(name string) error {
	file, err := s.secretFile(name)
	if err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the secret of a token that is revoked: %w", err)
	}
	return nil
}
