package unpack_test

import (
	"errors"
	"io"
	"path"
	"strings"
	"testing"

	"emberd/internal/unpack"
)

// Whatever an archive contains, Read stays within its bounds and hands out clean names, each
// once. The seeds under testdata are archives of the tables of the other tests.
func FuzzRead(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, bytes := 0, int64(0)
		seen := map[string]bool{}
		o := unpack.Options{MaxEntries: 100, MaxFile: 1 << 20, MaxBytes: 1 << 20}
		err := unpack.Read(t.Context(), file(t, data), o, func(e unpack.Entry, content io.Reader) error {
			if e.Name != path.Clean(e.Name) || path.IsAbs(e.Name) || e.Name == ".." || strings.HasPrefix(e.Name, "../") ||
				seen[strings.ToLower(e.Name)] {
				t.Errorf("the name %q", e.Name)
			}
			seen[strings.ToLower(e.Name)] = true
			if entries++; entries > 100 || (content == nil) != (e.Link != "") && content == nil {
				t.Errorf("entry %d is %+v with %v", entries, e, content)
			}
			if content == nil {
				return nil
			}
			n, err := io.Copy(io.Discard, content)
			if bytes += n; n > e.Size+1 || bytes > 1<<20+int64(entries) {
				t.Errorf("%d bytes of %+v, %d in all", n, e, bytes)
			}
			return err
		})
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error of more than one line: %v", err)
		}
		if errors.Is(err, io.EOF) {
			t.Errorf("an end of the input is told as it is: %v", err)
		}
	})
}
