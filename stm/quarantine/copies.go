package quarantine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"emberd/internal/durable"
	"emberd/stm/record"
)

// Keep makes a copy of a damaged line, given its file and where in it the line begins, if this device wrote
// that file, which may have had another name then. The original stays in place, so a copy that cannot be
// made is no loss.
func (s *Lines) Keep(file string, offset int64, line []byte) {
	base, folder := filepath.Base(file), filepath.Dir(file)
	switch {
	case s.IsFormer(folder): // two devices may have given a name
		base = filepath.Base(folder) + "-" + base
	case filepath.Base(folder) != s.Device.String():
		return
	}
	name := filepath.Join(s.QuarantineDir(), fmt.Sprintf("%s@%d", base, offset))
	if _, err := s.FS.Lstat(name); err == nil {
		return
	}
	err := durable.MkdirAll(s.FS, s.QuarantineDir())
	if err == nil {
		err = durable.ReplaceFile(s.FS, name, line)
	}
	if err != nil {
		s.Logger.Warn("damaged line not copied to quarantine", "file", name, "error", err)
	}
}

// DropMoot removes the copies of damaged lines that are not in the log any more. It is for when no record is
// missing.
func (s *Lines) DropMoot() {
	damaged, err := s.List()
	for _, q := range damaged {
		if !s.isInLog(&q) {
			err = errors.Join(err, s.FS.Remove(filepath.Join(s.QuarantineDir(), q.Name)))
		}
	}
	if err != nil {
		s.Logger.Warn("copies of removed damaged lines not deleted", "error", err)
	}
}

// isInLog reports whether a damaged line is where it was met. What cannot be read may be there.
func (s *Lines) isInLog(q *Line) bool {
	base, at, _ := strings.Cut(q.Name, "@")
	offset, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return true
	}
	dir := s.OwnDir()
	if former, rest, ok := strings.Cut(base, "-"); ok && s.IsFormer(filepath.Join(s.Data, "stm", former)) {
		dir, base = filepath.Join(s.Data, "stm", former), rest
	}
	f, err := s.FS.OpenRead(filepath.Join(dir, base))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	b := make([]byte, len(q.Text))
	n, err := f.ReadAt(b, offset)
	return err != nil && !errors.Is(err, io.EOF) || bytes.Equal(b[:n], q.Text)
}

// Purge removes the copies that mention a purged memory, and returns how many.
func (s *Lines) Purge(p record.Redaction) (removed int, err error) {
	entries, err := s.FS.ReadDir(s.QuarantineDir())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		name := filepath.Join(s.QuarantineDir(), e.Name())
		if !strings.Contains(e.Name(), "@") || !e.Type().IsRegular() {
			continue
		}
		b, err := durable.ReadAll(s.FS, name)
		if err != nil {
			return removed, err
		}
		if !p.Mentioned(b) {
			continue
		}
		if err := s.FS.Remove(name); err != nil {
			return removed, err
		}
		removed++
	}
	if removed > 0 {
		err = s.FS.SyncDir(s.QuarantineDir())
	}
	return removed, err
}
