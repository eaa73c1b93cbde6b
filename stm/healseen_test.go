package stm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/stm/logcheck"
	"emberd/stm/wal"
)

// wantTells checks that status, and a check of the log, say that records are missing, or nothing.
func (ts *testStore) wantTells(lacks string, when string) {
	ts.t.Helper()
	warned := strings.Join(ts.Status().Warnings, "\n")
	found := strings.Join(ts.foundBy(logcheck.CheckDecided), "\n")
	if lacks == "" && (strings.Contains(warned, "missing") || found != "") {
		ts.t.Errorf("%s status warns %q, and a check finds %q", when, warned, found)
	}
	if lacks != "" && (!strings.Contains(warned, lacks) || !strings.Contains(found, "missing")) {
		ts.t.Errorf("%s status warns %q, and a check finds %q, want %q", when, warned, found, lacks)
	}
}

// What another device loses while this one is stopped, or is killed soon after, and its snapshot is gone too, is told
// with its number until it is back, or given up.
func TestWhatAnotherDeviceLostIsTold(t *testing.T) {
	for _, how := range []string{"stopped", "killed", "from before seen.json"} {
		t.Run(how, func(t *testing.T) {
			p := newPair(t)
			p.a.livesOfThreeSegments()
			p.b.save("b has one of its own")
			p.b.refresh()
			names := p.a.filesOf(p.a.Status().Device)
			last, err := os.ReadFile(names[len(names)-1])
			if err == nil {
				err = p.a.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			b := p.b
			if how == "killed" {
				b = p.b.killed()
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			if how == "from before seen.json" {
				os.Remove(filepath.Join(b.root, "state", "seen.json"))
			}
			os.Remove(names[len(names)-1])
			os.RemoveAll(filepath.Join(b.root, "state", "index"))
			b.open()
			told := " records that this device read earlier"
			for _, when := range []string{"after the loss", "after a restart"} {
				b.wantTells(told, when)
				b.refresh()
				b.wantTells(told, when+" and a look")
				b.reopen()
			}
			if err := os.WriteFile(names[len(names)-1], last, 0o600); err != nil {
				t.Fatal(err)
			}
			b.refresh()
			b.wantTells("", "with the file back")
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			os.Remove(names[len(names)-1])
			os.RemoveAll(filepath.Join(b.root, "state", "index"))
			b.open()
			b.wantTells(told, "after a second loss")
			if _, err := b.AcceptLoss(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.refresh()
			b.wantTells("", "when it is given up")
			b.reopen()
			b.wantTells("", "after a restart")
		})
	}
}

// What tells how far the log was written is gone, too: what the last files that are left say, and what the devices told
// one another, still tells that something is missing.
func TestALossIsToldWithoutStateWritten(t *testing.T) {
	for _, gone := range []string{"last segment", "compacted file", "compacted file and devices"} {
		t.Run(gone, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			id := ts.save("quixotic zeppelin").ID()
			for range 3 {
				ts.edit(id, "content", "the zeppelin is "+strings.Repeat("very ", 3)+"old")
				ts.save("apple pie")
			}
			ts.reopen()
			if gone != "last segment" {
				ts.compact()
				ts.unlink()
			} else {
				ts.save("the last one")
			}
			if err := ts.Close(); err != nil {
				t.Fatal(err)
			}
			names := ts.segments()
			for _, name := range names {
				if strings.HasPrefix(filepath.Base(name), "c-") || gone == "last segment" && name == names[len(names)-1] {
					os.Remove(name)
				}
			}
			for _, name := range []string{"state/written", "state/index"} {
				os.RemoveAll(filepath.Join(ts.root, name))
			}
			if strings.Contains(gone, "devices") {
				os.RemoveAll(filepath.Join(ts.root, "data", "devices"))
			}
			found := strings.Join(ts.foundBy(logcheck.CheckDecided), "\n")
			if !strings.Contains(found, "missing") || gone != "last segment" && !strings.Contains(found, "records 1 to ") {
				t.Errorf("a check finds %q", found)
			}
			ts.open()
			ts.wantTells("missing", "after the start")
			if _, err := ts.AcceptLoss(t.Context()); err != nil {
				t.Fatal(err)
			}
			ts.reopen()
			ts.wantTells("", "when it is given up")
		})
	}
}
