package transcripts

import (
	"strings"

	"emberd/internal/secret"
	"emberd/internal/text"
	"emberd/internal/text/invisible"
	"emberd/op"
)

// The bounds of what is stored.
const (
	maxText    = 64 << 10 // bytes of a message
	maxScanned = 1 << 20  // bytes of a message that are looked through
	maxTitle   = 80       // characters
	maxSession = 8 << 20  // bytes of a file
)

// stored returns the message as it is stored, or false for one that is not: what the agent says on the way to its
// answer, and calls of tools, whose few words bring more sessions up than they answer questions.
func stored(m *op.SessionMessage) (message, bool) {
	out := message{key: digest(m.ID), role: m.Role, at: m.At}
	if m.Role == op.RoleUser || m.Role == op.RoleAgent && m.Final {
		out.text = text.FirstBytes(harmless(m.Text), maxText)
	}
	return out, out.text != ""
}

// harmless returns a text without credentials and without characters that nobody sees.
func harmless(s string) string {
	s = strings.ToValidUTF8(text.FirstBytes(s, maxScanned), "\uFFFD")
	s = invisible.Without(strings.ReplaceAll(s, "\r\n", "\n"))
	return strings.TrimSpace(withoutSecrets(s))
}

// withoutSecrets returns a text with words in place of what looks like a credential.
func withoutSecrets(s string) string {
	var b strings.Builder
	from := 0
	for _, f := range secret.Scan(s) {
		b.WriteString(s[from:f.Start])
		b.WriteString("[" + f.Type + " removed]")
		from = f.End
	}
	return b.String() + s[from:]
}
