package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"emberd/internal/durable"
	"emberd/memory"
)

// tokenFile is where the token of the loopback port is kept.
func tokenFile(stateDir string) string { return filepath.Join(stateDir, "mcp-token") }

// loadToken returns the token in a file, which it makes if there is none. Only the
// daemon calls it, under its lock.
func loadToken(name string) (string, error) {
	disk := durable.OS{}
	raw, err := durable.ReadAll(disk, name)
	if errors.Is(err, fs.ErrNotExist) {
		token := rand.Text() + rand.Text() // 256 bits
		err := durable.CreateFile(disk, name, func(w io.Writer) error {
			_, err := io.WriteString(w, token+"\n")
			return err
		})
		if err != nil {
			return "", fmt.Errorf("make the token of the port: %w", err)
		}
		return token, nil
	}
	if err != nil {
		return "", fmt.Errorf("read the token of the port: %w", err)
	}
	info, err := disk.Lstat(name)
	if err != nil {
		return "", fmt.Errorf("check the token of the port: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	switch {
	case info.Mode().Perm()&0o077 != 0:
		return "", memory.Errorf(memory.Forbidden, "%s can be read by others (mode %04o); remove it, so that a new token is made", name, info.Mode().Perm())
	case len(token) < minToken || strings.ContainsFunc(token, notTokenChar):
		return "", memory.Errorf(memory.Forbidden, "%s holds no token of %d or more letters and digits; remove it, so that one is made", name, minToken)
	}
	return token, nil
}

// minToken bounds tokens that somebody chose, in characters.
const minToken = 32

// notTokenChar reports what a bearer token may not have, RFC 6750, section 2.1.
func notTokenChar(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._~+/=", r))
}
