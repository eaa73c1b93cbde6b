package hookrun

import (
	"os"
	"path/filepath"
	"slices"
)

// maxOff bounds the sessions that are noted; the oldest go.
const maxOff = 5000

// OffSession is a session in which hooks were off, a line of state/hooks/off.jsonl.
type OffSession struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
}

// OffSessions returns the sessions in which hooks were off for part of it at least, oldest first. No import reads
// them.
func OffSessions(state string) []OffSession { return spoolIn(state).off() }

func (s spool) offFile() string { return filepath.Join(s.dir, "off.jsonl") }

// off reads the sessions that are noted.
func (s spool) off() []OffSession {
	return readLines(s.offFile(), maxOff*maxLine, func(one *OffSession) bool { return one.Session != "" })
}

// wasOff reports whether hooks were off in a session.
func (s spool) wasOff(agent, session string) bool {
	return slices.Contains(s.off(), OffSession{agent, session})
}

// noteOff notes that hooks were off in a session.
func (s spool) noteOff(agent, session string) {
	if len(session) > maxLine/2 || s.wasOff(agent, session) {
		return
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil && !os.IsExist(err) {
		return // there never was an emberd here
	}
	s.locked(func() {
		all := append(s.off(), OffSession{agent, session})
		replaceLines(s.offFile(), all[max(0, len(all)-maxOff):])
	})
}
