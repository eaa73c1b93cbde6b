package unpack

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func longList(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := range 4000 {
		if _, err := w.Create(fmt.Sprintf("%s%d", strings.Repeat("x", 200), i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// counting counts what is read of an archive.
type counting struct {
	io.ReaderAt
	bytes int
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	c.bytes += len(p)
	return c.ReaderAt.ReadAt(p, at)
}

// A list that is longer than any that is taken is not read to its end.
func TestZipWithALongList(t *testing.T) {
	data := longList(t)
	o := Options{MaxEntries: 100, MaxFile: 1, MaxBytes: 1}
	archive := &counting{ReaderAt: bytes.NewReader(data)}
	w := &walker{ctx: t.Context().Err, o: &o, names: map[string]bool{}}
	err := w.walkZip(archive, int64(len(data)))
	if err == nil || !strings.Contains(err.Error(), "too many entries (limit 100)") {
		t.Errorf("walk: %v, want too many entries", err)
	}
	if limit := 100*listedBytes + listEnd; archive.bytes > limit {
		t.Errorf("%d bytes of %d were read, want at most %d", archive.bytes, len(data), limit)
	}
}

// What follows the last file comes out of the same bomb, and is given up with the rest.
func TestCancelledAfterTheLastFile(t *testing.T) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(make([]byte, 8<<20)); err != nil { // of which the first KiB ends the tar file
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	asked := 0
	o := Options{MaxEntries: 1, MaxFile: 1, MaxBytes: 1 << 30}
	w := &walker{o: &o, names: map[string]bool{}, ctx: func() error {
		if asked++; asked > 10 {
			return context.Canceled
		}
		return nil
	}}
	if err := w.walkTar(&out); !errors.Is(err, context.Canceled) {
		t.Errorf("walk: %v, want context.Canceled", err)
	}
}
