package sqlitefile

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"emberd/internal/durable"
)

// MaxBytes bounds the size of a database with its log or journal.
const MaxBytes = 16 << 30

// A copy counts if no part changed while it was made, nor shortly before: two writes within one tick
// of the file system's clock leave one time. maxTries bounds how often it is made.
const (
	settleTime = 100 * time.Millisecond
	maxTries   = 20
)

// parts are the endings of the files that a database consists of. The index of a write-ahead log,
// -shm, is made again from the log.
var parts = []string{"", "-wal", "-journal"}

// fileState is by what a changed file is recognized.
type fileState struct {
	size     int64
	modified time.Time
}

// copyDatabase copies a database as it was at one moment. The error is [ErrBusy] if it never stood still.
func copyDatabase(ctx context.Context, from, to string) error {
	for range maxTries {
		before, err := states(from)
		if err != nil {
			return err
		}
		if settled(before, time.Now()) {
			same, err := copyParts(ctx, from, to, before)
			if err != nil || same {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(settleTime):
		}
	}
	return ErrBusy
}

// settled reports whether no part was written a moment ago. A time in the future is one of another clock.
func settled(all [3]fileState, now time.Time) bool {
	for _, s := range all {
		if age := now.Sub(s.modified); age >= 0 && age < settleTime {
			return false
		}
	}
	return true
}

// states returns the sizes and times of the parts, zero for one that is missing.
func states(name string) (all [3]fileState, err error) {
	var total int64
	for i, part := range parts {
		info, err := os.Stat(name + part)
		if isMissing(err) && i > 0 {
			continue
		}
		if err != nil {
			return all, err
		}
		all[i] = fileState{info.Size(), info.ModTime()}
		total += info.Size()
	}
	if total > MaxBytes {
		return all, ErrTooLarge
	}
	return all, nil
}

// copyParts copies all parts, and reports whether they are still as they were before.
func copyParts(ctx context.Context, from, to string, before [3]fileState) (same bool, err error) {
	for _, part := range parts {
		err := copyFile(ctx, from+part, to+part)
		if isMissing(err) && part != "" {
			err = removeIfThere(to + part)
		}
		if err != nil {
			return false, err
		}
	}
	after, err := states(from)
	return after == before, err
}

func removeIfThere(name string) error {
	if err := os.Remove(name); err != nil && !isMissing(err) {
		return err
	}
	return nil
}

// copyStep is how much is copied between two looks at whether the caller has given up.
const copyStep = 16 << 20

func copyFile(ctx context.Context, from, to string) error {
	in, err := openRegular(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	for total := int64(0); err == nil && total <= MaxBytes; total += copyStep {
		if err = ctx.Err(); err == nil {
			_, err = io.CopyN(out, in, copyStep)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, out.Close())
}

func openRegular(name string) (*os.File, error) { return durable.OpenGiven(name) }
