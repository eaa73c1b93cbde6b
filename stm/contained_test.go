package stm_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"emberd/stm/record"
	"emberd/stm/wal"
)

// faulty is a log handler that panics where recovery tells of a line with unexpected fields, in
// the midst of reading that line.
type faulty struct{ slog.Handler }

func (f faulty) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "skipped a log line with unexpected fields" {
		panic("a fault in the reader of lines")
	}
	return f.Handler.Handle(ctx, r)
}

// A line that its reader panics at costs that line: it is in the quarantine, the others are read,
// at this start and the next.
func TestAPanicCostsOneLine(t *testing.T) {
	var said bytes.Buffer
	ts := openStore(t, wal.Options{Logger: slog.New(faulty{slog.NewTextHandler(&said, nil)})})
	first, bad, last := ts.save("apples"), ts.save("broken pears"), ts.save("cherries")
	ts.damage(func(b []byte) []byte {
		lines := bytes.SplitAfter(b, []byte("\n"))
		for i, l := range lines {
			if bytes.Contains(l, []byte("broken pears")) {
				l = bytes.Replace(l, []byte(`"content":"broken pears"`), []byte(`"content":"broken pears","strength":"x"`), 1)
				lines[i] = record.SealLine(l[:len(l)-record.SuffixLen-1], 0)
			}
		}
		return bytes.Join(lines, nil)
	})
	for range 2 {
		ts.wantContent(first.ID(), "apples")
		ts.wantContent(last.ID(), "cherries")
		ts.wantGone(bad.ID())
		if q := ts.only(); !strings.Contains(string(q.Text), "broken pears") {
			t.Errorf("the quarantine has %q", q.Text)
		}
		if got := ts.Status().Recovery.Quarantined; got != 1 {
			t.Errorf("%d lines are counted as damaged, want 1", got)
		}
		ts.withoutSnapshot()
	}
	if !strings.Contains(said.String(), "panic contained") || !strings.Contains(said.String(), "contained_test.go") {
		t.Errorf("the log has no stack of the panic: %s", &said)
	}
}

// A peer's line that its reader panics at costs that line too, while the store runs.
func TestAPanicAtAPeersLineCostsThatLine(t *testing.T) {
	ts := openStore(t, wal.Options{Logger: slog.New(faulty{slog.NewTextHandler(io.Discard, nil)})})
	mine := ts.save("apples")
	bad := strings.Replace(putLine(2, 2, "broken pears"), `"content":`, `"strength":"x","content":`, 1)
	ts.peerFile("s-00000001.jsonl", putLine(1, 1, "cherries")+
		string(record.SealLine([]byte(bad[:len(bad)-record.SuffixLen-1]), 0))+putLine(3, 3, "plums"))
	ts.refresh()
	for _, when := range []string{"while it runs", "after a start"} {
		ts.wantContent(mine.ID(), "apples")
		ts.wantContent(idOf(1), "cherries")
		ts.wantContent(idOf(3), "plums")
		ts.wantGone(idOf(2))
		if got := ts.Status().Warnings; len(got) != 1 || !strings.Contains(got[0], "damaged") {
			t.Errorf("%s: warnings %q", when, got)
		}
		ts.reopen()
	}
}
