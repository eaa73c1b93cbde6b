package hookrun

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"time"

	"emberd/internal/hooks"
	"emberd/internal/transcript"
	"emberd/op"
)

const (
	maxTranscript = 1 << 20 // bytes that are read of a transcript, its end
	maxSaid       = 1 << 20 // bytes of the texts that are handed over
)

// said returns what was said since the last event: of the turn that ended, and at a compaction and at the end of a
// session all that is left. Transcripts are written late, so that the last answer comes with the event.
func said(e *hooks.Event) []op.SessionMessage {
	messages := e.Request.Messages
	if len(messages) == 0 {
		awaitWritten(e)
		messages = transcriptOf(e.Request.Agent, e.Transcript)
	}
	if e.Request.Event == op.HookTurn {
		messages = transcript.LastTurn(messages)
	}
	return bounded(withLast(messages, e.Last))
}

// writtenWait bounds how long the end of a turn waits for its transcript.
const writtenWait = 300 * time.Millisecond

// awaitWritten waits until the transcript of a turn changes, if the event does not say the last answer itself. Copilot
// CLI 1.0.102 writes the turn within 100 ms of the event, and the first one of a session to a file that is not there
// before.
func awaitWritten(e *hooks.Event) {
	if e.Request.Event != op.HookTurn || e.Transcript == "" || e.Last != "" {
		return
	}
	before, _ := os.Stat(e.Transcript) // nil if it is not there
	for end := time.Now().Add(writtenWait); time.Now().Before(end); time.Sleep(writtenWait / 30) {
		now, err := os.Stat(e.Transcript)
		if err == nil && (before == nil || now.Size() != before.Size()) {
			return
		}
	}
}

// withLast adds the last answer unless it is among the messages.
func withLast(messages []op.SessionMessage, last string) []op.SessionMessage {
	last = transcript.Clean(last)
	if last == "" {
		return messages
	}
	for _, m := range messages {
		if m.Role == op.RoleAgent && strings.Contains(m.Text, last) {
			return messages
		}
	}
	return append(messages, op.SessionMessage{ID: lastID(last), Role: op.RoleAgent, Text: last, Final: true})
}

// lastID is an id for an answer whose own is not known. It is the same for the same text.
func lastID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "last-" + hex.EncodeToString(sum[:8])
}

// bounded returns the newest messages that are not too long together.
func bounded(messages []op.SessionMessage) []op.SessionMessage {
	size := 0
	for i := len(messages) - 1; i >= 0; i-- {
		if size += len(messages[i].Text) + len(messages[i].Command); size > maxSaid {
			return messages[i+1:]
		}
	}
	return messages
}

// transcriptOf reads the end of a transcript, nothing if it cannot be read.
func transcriptOf(agent, path string) []op.SessionMessage {
	if path == "" {
		return nil
	}
	session, err := transcript.Tail(agent, path, maxTranscript)
	if err != nil {
		return nil
	}
	return session.Messages
}

// lastPrompt returns what the person typed last, of agents that do not send it with the event.
func lastPrompt(agent, path string) string {
	messages := transcriptOf(agent, path)
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == op.RoleUser {
			return messages[i].Text
		}
	}
	return ""
}
