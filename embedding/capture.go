package embedding

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"emberd/internal/llamawire"
	"emberd/internal/text"
)

// capture keeps the beginning and the end of what a helper prints: the reason of a crash
// comes first, and what is between is more of the same. It may be shared.
type capture struct {
	mu    sync.Mutex
	first []byte
	last  []byte // at most twice its bound
	total int64
}

// keptOutput is how much is kept of the beginning, and of the end.
const keptOutput = 4 << 10

// Write takes in all of p.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	head := min(keptOutput-len(c.first), n)
	c.first = append(c.first, p[:head]...)
	p = p[head:]
	if len(p) > keptOutput {
		p = p[len(p)-keptOutput:]
	}
	c.last = append(c.last, p...)
	if over := len(c.last) - keptOutput; over > keptOutput {
		c.last = append(c.last[:0], c.last[over:]...)
	}
	return n, nil
}

// String is what is kept, with how much is left out between.
func (c *capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.last[max(0, len(c.last)-keptOutput):]
	text := bytes.Clone(c.first)
	if left := c.total - int64(len(c.first)) - int64(len(last)); left > 0 {
		text = fmt.Appendf(text, "\n[%d bytes omitted]\n", left)
	}
	return strings.ToValidUTF8(string(append(text, last...)), "\ufffd")
}

// maxOfLine is how much of a line is told in a sentence.
const maxOfLine = 200

// output is what may be shown of it: not the registers that a Go program reports on a
// signal, which may hold letters of a text.
func (c *capture) output() string {
	text := c.String()
	at := 0
	for line := range strings.Lines(text) {
		at += len(line)
		if strings.HasPrefix(line, programCounter) {
			return text[:at]
		}
	}
	return text
}

// programCounter begins the second line of a Go program's report on a signal.
const programCounter = "PC="

// reason is the line that tells most: a failed assertion, else the last one that is
// neither a warning, of which healthy helpers have some too, nor of a Go program's report
// on a signal.
func (c *capture) reason() string {
	var reason string
	for line := range strings.Lines(c.output()) {
		line = text.OneLine(line)
		if line == "" || strings.HasPrefix(line, llamawire.Warning) || strings.HasPrefix(line, programCounter) ||
			signalIn(line) != "" {
			continue
		}
		reason = line
		if strings.Contains(line, "ASSERT") {
			break
		}
	}
	if len(reason) > maxOfLine {
		reason = strings.ToValidUTF8(reason[:maxOfLine], "") + "…"
	}
	return reason
}

// signal is the name of the signal that a Go program reports to have ended by, "" if it
// reports none: it then exits with a status like any other.
func (c *capture) signal() string {
	for line := range strings.Lines(c.String()) {
		if name := signalIn(line); name != "" {
			return name
		}
	}
	return ""
}

// signalIn is SIGSEGV of the line "SIGSEGV: segmentation violation".
func signalIn(line string) string {
	name, _, found := strings.Cut(line, ": ")
	if found && strings.HasPrefix(name, "SIG") && !strings.Contains(name, " ") {
		return name
	}
	return ""
}
