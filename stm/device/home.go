package device

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/durable"
	"emberd/stm/record"
)

// Home is where a log lies, and by which device and clock it is written. It is never
// changed once the log is open, so that any goroutine may read it.
type Home struct {
	Data, State string
	FS          durable.FS
	Logger      *slog.Logger
	Now         func() time.Time
	Device      record.Device
	Host        string   // what this device is called
	Former      []string // names of this device before backups were restored
	TakenOver   map[string]time.Time
	Sole        []string // former names that nobody else can write under
}

// IsFormer reports whether a folder of the log is one that this device wrote under a former name.
func (s *Home) IsFormer(dir string) bool { return slices.Contains(s.Former, filepath.Base(dir)) }

func (s *Home) OwnDir() string { return filepath.Join(s.Data, "stm", s.Device.String()) }

func (s *Home) SnapshotPath() string { return SnapshotIn(s.State) }

func SnapshotIn(state string) string { return filepath.Join(state, "index", "stm.snap") }

func (s *Home) QuarantineDir() string { return filepath.Join(s.State, "quarantine") }

// Ours reports whether a log file was written by this device, under a name of
// its own giving.
func (s *Home) Ours(name string) bool {
	return filepath.Base(filepath.Dir(name)) == s.Device.String() && !record.IsCopy(name)
}

func (s *Home) HeaderOf(name string) (record.Header, bool) {
	l, ok := record.HeadLine(s.FS, name)
	if !ok {
		return record.Header{}, false
	}
	h, err := record.DecodeHeader(l.Data)
	return h, err == nil
}

// OwnOrGone reports whether a file that cannot be read ends the search.
func (s *Home) OwnOrGone(name string, err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, context.Canceled) || errors.Is(err,
		context.DeadlineExceeded) ||
		filepath.Base(filepath.Dir(name)) == s.Device.String()
}

// ReadHeader decodes the header of a file of ours.
func (s *Home) ReadHeader(name string) (record.Header, error) {
	l, err := record.FirstLine(s.FS, name)
	if err != nil {
		return record.Header{}, err
	}
	if l.Op != record.OpSegment || l.Version != record.FormatVersion {
		return record.Header{}, fmt.Errorf("log file %s has no header", filepath.Base(name))
	}
	return record.DecodeHeader(l.Data)
}
