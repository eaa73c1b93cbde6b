package ledger_test

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/internal/ledger"
	"emberd/memory"
)

// noChain is a disk on which the chain cannot be written while it is full.
type noChain struct {
	durable.OS
	full *bool
}

type segment struct {
	durable.File
	full *bool
}

func (d noChain) CreateAppend(name string) (durable.File, error) {
	f, err := d.OS.CreateAppend(name)
	return segment{f, d.full}, err
}

func (s segment) Write(b []byte) (int, error) {
	if *s.full {
		return 0, errors.New("no space")
	}
	return s.File.Write(b)
}

// That there was no room for the lines of reads is noted once, however often emberd starts later.
func TestLostReadsAreNotedOnce(t *testing.T) {
	dir, full := t.TempDir(), false
	open := func() *ledger.Ledger {
		return ledger.Open(ledger.Options{FS: noChain{full: &full}, File: filepath.Join(dir, "audit.json"), Now: time.Now,
			Logger: slog.New(slog.DiscardHandler), Chain: filepath.Join(dir, "audit")})
	}
	read := func(l *ledger.Ledger, times int) {
		for range times {
			l.Count(memory.Actor{Via: "cli"}, &ledger.Call{What: "show", Reads: true})
		}
	}
	l := open()
	read(l, 1)
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	full = true
	read(l, 20_001)
	if err := l.Flush(); err == nil {
		t.Fatal("a full disk was written")
	}
	full = false
	for range 3 {
		c, err := l.Check()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(strings.Join(c.Notes, "\n"), "cannot be verified: the daemon could not write the audit log"); got != 1 || len(c.Problems) > 0 {
			t.Errorf("noted %d times, want once: %q, problems %q", got, c.Notes, c.Problems)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = open()
		read(l, 1)
	}
}
