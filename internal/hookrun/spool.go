package hookrun

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/durable"
)

// maxLines bounds the lines of the spool; later events are dropped.
const maxLines = 1000

// maxLine bounds a line of the spool in bytes: some paths.
const maxLine = 16 << 10

// spooled is an event that no daemon took, a line of the spool.
type spooled struct {
	Agent      string `json:"agent"`
	Event      string `json:"event"`
	Session    string `json:"session"`
	Project    string `json:"project,omitempty"`
	Folder     string `json:"folder,omitempty"`
	Transcript string `json:"path"`
}

// spool is the folder that keeps events. Failures count as an empty spool: a hook has nobody to tell.
type spool struct{ dir string }

// spoolIn is the spool in a state folder.
func spoolIn(state string) spool { return spool{filepath.Join(state, "hooks")} }

func (s spool) file() string { return filepath.Join(s.dir, "spool.jsonl") }

// keep adds a line, once.
func (s spool) keep(line spooled) {
	if err := os.Mkdir(s.dir, 0o700); err != nil && !os.IsExist(err) {
		return // there never was an emberd here
	}
	raw, err := json.Marshal(line)
	if err != nil || len(raw) > maxLine {
		return
	}
	s.locked(func() {
		lines := s.lines()
		if len(lines) >= maxLines || slices.Contains(lines, line) {
			return
		}
		f, err := os.OpenFile(s.file(), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return
		}
		defer f.Close()
		_, _ = f.Write(append(raw, '\n'))
	})
}

// first returns the oldest lines.
func (s spool) first(most int) (lines []spooled) {
	if _, err := os.Lstat(s.file()); err != nil {
		return nil // as nearly always
	}
	s.locked(func() { lines = s.lines() })
	return lines[:min(most, len(lines))]
}

// remove removes lines, and the file with the last one.
func (s spool) remove(gone []spooled) {
	if len(gone) == 0 {
		return
	}
	s.locked(func() {
		left := slices.DeleteFunc(s.lines(), func(l spooled) bool { return slices.Contains(gone, l) })
		if len(left) == 0 {
			_ = os.Remove(s.file())
			return
		}
		replaceLines(s.file(), left)
	})
}

// replaceLines writes a file of lines anew.
func replaceLines[L any](file string, lines []L) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	for _, line := range lines {
		if enc.Encode(line) != nil {
			return
		}
	}
	temp := file + "." + rand.Text() + ".tmp"
	if os.WriteFile(temp, text.Bytes(), 0o600) != nil || os.Rename(temp, file) != nil {
		_ = os.Remove(temp)
	}
}

// readLines reads the lines of a file that valid accepts, none of a file with more bytes than most.
func readLines[L any](file string, most int64, valid func(*L) bool) (lines []L) {
	text, err := durable.ReadGiven(file, most)
	if err != nil {
		return nil
	}
	for raw := range bytes.Lines(text) {
		var line L
		if json.Unmarshal(raw, &line) == nil && valid(&line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// lines reads the spool.
func (s spool) lines() []spooled {
	lines := readLines(s.file(), maxLines*maxLine, func(line *spooled) bool { return line.Session != "" })
	return lines[:min(len(lines), maxLines)]
}

// locked runs a function while no other hook works on the spool. It gives up after some waiting.
func (s spool) locked(work func()) {
	for range 20 {
		lock, err := durable.AcquireLock(filepath.Join(s.dir, "spool.lock"))
		if err == nil {
			work()
			_ = lock.Close()
			return
		}
		time.Sleep(4 * time.Millisecond)
	}
}
