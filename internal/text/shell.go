package text

import "strings"

// ShellQuote returns s in single quotes, as one word of a POSIX shell.
func ShellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// ShellWord returns s as one word of a POSIX shell: quoted only if it has characters that a shell might interpret.
func ShellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return ShellQuote(s)
}
