package logcheck_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/logcheck"
	"emberd/stm/record"
)

// log is a store over real files.
type log struct {
	*stm.Store
	t           *testing.T
	data, state string
}

func newLog(t *testing.T) *log {
	t.Helper()
	l := &log{t: t, data: filepath.Join(t.TempDir(), "data"), state: filepath.Join(t.TempDir(), "state")}
	l.open()
	return l
}

func (l *log) open() {
	l.t.Helper()
	var err error
	if l.Store, err = stm.Open(l.data, l.state, &stm.Options{Durability: stm.None}); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = l.Close() }) // may be closed
}

func (l *log) close() {
	l.t.Helper()
	if err := l.Close(); err != nil {
		l.t.Fatal(err)
	}
}

// set writes one field of the memory that a name stands for.
func (l *log) set(name, key, value string) {
	l.t.Helper()
	l.commit(stm.Change{ID: memory.DeriveID([]byte(name)), Set: map[string]json.RawMessage{key: record.Encode(value)}})
}

func (l *log) commit(c stm.Change) {
	l.t.Helper()
	_, err := l.Update(context.Background(), []memory.ID{c.ID}, "", func([]*stm.Row) (*stm.Tx, error) {
		return &stm.Tx{Verb: "save", Changes: []stm.Change{c}}, nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *log) segments() []string {
	l.t.Helper()
	names, err := stm.LogFiles(durable.OS{}, l.data)
	if err != nil || len(names) == 0 {
		l.t.Fatalf("the log has the files %q (%v)", names, err)
	}
	return names
}

// sealedLog writes a log of two segments, closes it, and returns the data folder
// and the first segment.
func sealedLog(t *testing.T) (data, first string) {
	t.Helper()
	l := newLog(t)
	l.set("a", "content", "first of all")
	l.set("a", "content", "first of all, mended")
	l.set("b", "content", "second")
	l.close()
	l.open()
	l.set("c", "content", "third")
	l.commit(stm.Change{ID: memory.DeriveID([]byte("c")), Delete: true})
	l.close()
	return l.data, l.segments()[0]
}

func checked(t *testing.T, path string) *logcheck.Report {
	t.Helper()
	c, err := logcheck.Check(t.Context(), durable.OS{}, path, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCheckOfAGoodLog(t *testing.T) {
	data, first := sealedLog(t)
	for _, path := range []string{data, filepath.Join(data, "stm"), filepath.Dir(first), first} {
		c := checked(t, path)
		if c.Wrong() != 0 || findings(c) != "" {
			t.Errorf("%s: %s", path, findings(c))
		}
		for _, f := range c.Files {
			if info, err := os.Stat(f.Path); err != nil || f.Bytes != info.Size() || !f.Sealed || f.Lines < 4 {
				t.Errorf("%s: %d bytes, %d lines, sealed %t (%v)", f.Path, f.Bytes, f.Lines, f.Sealed, err)
			}
		}
	}
	if _, err := logcheck.Check(t.Context(), durable.OS{}, filepath.Join(data, "nowhere"), time.Now()); err == nil {
		t.Error("a path that is not there was checked")
	}
}

// The log is checked while it is written, too.
func TestCheckBesideTheWriter(t *testing.T) {
	l := newLog(t)
	l.set("a", "content", "the daemon writes")
	if c := checked(t, l.data); findings(c) != "" || c.Files[0].Sealed {
		t.Errorf("found %q", findings(c))
	}
}

func TestCheckFindsEveryFlippedByte(t *testing.T) {
	data, first := sealedLog(t)
	whole, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole[:len(whole)-1] {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 1
		if err := os.WriteFile(first, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		c := checked(t, data)
		// Without the name of its checksum a line is a human's edit.
		if c.Wrong() == 0 && !strings.Contains(findings(c), "as a manual edit") {
			t.Fatalf("a flip of byte %d (%q) was not found: %q", i, whole[i], findings(c))
		}
		if len(c.Missing) > 0 && whole[i] != '\n' { // which makes one damaged line of two
			t.Fatalf("a flip of byte %d is told as a missing record too: %s", i, findings(c))
		}
	}
}

func TestCheckSaysWhatIsWrong(t *testing.T) {
	cut := func(b []byte, from, to int) []byte { // without lines from to to-1, which count from 0
		lines := bytes.SplitAfter(b, []byte("\n"))
		return bytes.Join(append(append([][]byte{}, lines[:from]...), lines[to:]...), nil)
	}
	line := func(b []byte, i int) []byte { return bytes.SplitAfter(b, []byte("\n"))[i] }
	for _, c := range []struct {
		name   string
		change func([]byte) []byte
		want   string
	}{
		{"a record is gone", func(b []byte) []byte { return cut(b, 2, 3) },
			"4 the seal is for 4 lines, but the file has 3 lines before the seal; 3 record 2 is missing before this line"},
		{"two records are gone", func(b []byte) []byte { return cut(b, 1, 3) },
			"3 the seal is for 4 lines, but the file has 2 lines before the seal; 2 records 1 to 2 are missing before this line"},
		{"the header is gone", func(b []byte) []byte { return cut(b, 0, 1) },
			"1 the first line is not a header; 4 the seal is for 4 lines, but the file has 3 lines before the seal"},
		{"a record stands twice", func(b []byte) []byte { return append(b, line(b, 1)...) },
			"6 the line is after the seal; 6 the timestamp "},
		{"the seal is gone", func(b []byte) []byte { return cut(b, 4, 5) }, ""},
		{"a crash left a half line", func(b []byte) []byte { return append(cut(b, 4, 5), line(b, 1)[:20]...) },
			"5* the line is incomplete, probably because of a crash"},
		{"a power cut left zeros", func(b []byte) []byte { return append(cut(b, 4, 5), make([]byte, 7)...) },
			"5* 7 NUL bytes instead of a record, probably because of a power failure"},
		{"a line is damaged", func(b []byte) []byte { return bytes.Replace(b, []byte("second"), []byte("zecond"), 1) },
			"4 checksum does not match"},
		{"a line is no line", func(b []byte) []byte { return append(cut(b, 4, 5), "hello\n"...) },
			"5 line has no checksum"},
		{"a human took the checksum out", func(b []byte) []byte {
			l := line(b, 3)
			return append(cut(b, 3, 5), append(l[:len(l)-record.SuffixLen-1], "}\n"...)...)
		}, "4* the line has no checksum, so emberd treats it as a manual edit"},
		{"a later version wrote a line", func(b []byte) []byte {
			return append(cut(b, 4, 5), record.SealLine([]byte(`{"v":2,"op":"new"`), 0)...)
		}, `5* this version of emberd does not support operation "new" in format version 2`},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, first := sealedLog(t)
			b, err := os.ReadFile(first)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(first, c.change(b), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := findings(checked(t, data)); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// What a crash left half written goes to the history as it was found.
func TestCheckOfHistoryWithHalfALine(t *testing.T) {
	l := newLog(t)
	l.set("a", "content", "whole")
	l.close()
	b, err := os.ReadFile(l.segments()[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	head := bytes.Replace(lines[0], []byte(`"seg":1`), []byte(`"seg":1,"from":1,"gen":1,"oldest":"x"`), 1)
	head = record.SealLine(head[:len(head)-record.SuffixLen-1], 0)
	history := filepath.Join(filepath.Dir(l.segments()[0]), "h-00000001-00000001.g1.jsonl")
	text := bytes.Join([][]byte{head, lines[1], []byte("{\"half\":\n"), lines[2]}, nil)
	if err := os.WriteFile(history, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := findings(checked(t, history)); got != "3* line has no checksum" {
		t.Errorf("found %q", got)
	}
}

func TestCheckComparesNamesWithHeaders(t *testing.T) {
	data, first := sealedLog(t)
	device := filepath.Base(filepath.Dir(first))
	moved := filepath.Join(data, "stm", "aaaabbbb")
	if err := os.Rename(filepath.Dir(first), moved); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("names device %q, but the file is in the folder of device aaaabbbb", device)
	if got := findings(checked(t, data)); !strings.Contains(got, want) {
		t.Errorf("another folder: %s", got)
	}
	for name, want := range map[string]string{
		"s-00000077.jsonl":               "1 the header is for segment 1, which does not match the name of the file",
		"s-00000001 (copy).jsonl":        "0* emberd does not create files with this name",
		"c-00000001-00000001.g2.jsonl":   "1 the header is for segment 1, which does not match the name of the file",
		"s-00000001.sync-conflict.jsonl": "0* emberd does not create files with this name",
	} {
		to := filepath.Join(moved, name)
		if err := os.Rename(filepath.Join(moved, filepath.Base(first)), to); err != nil {
			t.Fatal(err)
		}
		if got := findings(checked(t, to)); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if err := os.Rename(to, filepath.Join(moved, filepath.Base(first))); err != nil {
			t.Fatal(err)
		}
	}
}

func findings(c *logcheck.Report) string {
	var out []string
	say := func(f logcheck.Finding) {
		star := map[bool]string{true: "*"}[f.Harmless]
		out = append(out, fmt.Sprintf("%d%s %s", f.Line, star, f.Reason))
	}
	for _, f := range c.Files {
		for _, g := range f.Findings {
			say(g)
		}
	}
	for _, f := range c.Missing {
		say(f)
	}
	return strings.Join(out, "; ")
}

// Segments that have the names of one another are all there, and nothing is wrong. One in the place of another is.
func TestCheckOfExchangedNames(t *testing.T) {
	data, first := sealedLog(t)
	second := strings.Replace(first, "s-00000001", "s-00000002", 1)
	one, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		one, two []byte
		wrong    bool
	}{{two, one, false}, {two, two, true}, {one, one, true}} {
		for name, b := range map[string][]byte{first: test.one, second: test.two} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if c := checked(t, data); (c.Wrong() > 0) != test.wrong || findings(c) == "" {
			t.Errorf("%d things are wrong: %s", c.Wrong(), findings(c))
		}
	}
}
