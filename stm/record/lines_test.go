package record_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"emberd/internal/durable"
	"emberd/stm/record"
)

// Lines of a log are read, however many: the bound is of what is none.
func TestALongFileIsReadWhole(t *testing.T) {
	line := append(record.MetaLine("x", record.Stamp{T: 1}, string(bytes.Repeat([]byte("x"), 1<<20))), '\n')
	n := record.MaxGarbage/len(line) + 2
	got, err := linesOf(t, bytes.Repeat(line, n))
	if got != n || !errors.Is(err, io.EOF) {
		t.Errorf("%d lines, %v; want %d", got, err, n)
	}
}

// Of a file of anything else no more is read than the bound says.
func TestAFileOfSomethingElseIsNotReadWhole(t *testing.T) {
	line := append(bytes.Repeat([]byte("x"), 1<<20), '\n')
	got, err := linesOf(t, bytes.Repeat(line, record.MaxGarbage>>20+2))
	if got > record.MaxGarbage>>20 || !errors.Is(err, record.ErrGarbage) {
		t.Errorf("%d lines, %v", got, err)
	}
}

// linesOf counts the lines of a file, and returns why there are no more.
func linesOf(t *testing.T, b []byte) (n int, _ error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s-00000001.jsonl")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := durable.OS{}.OpenRead(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := record.NewLineReader(f, 0, 0); ; n++ {
		if _, _, _, err := in.Next(); err != nil {
			return n, err
		}
	}
}
