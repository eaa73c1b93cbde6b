package cli

import (
	"bufio"
	"bytes"
	"errors"
	"path/filepath"
	"strings"
)

// Globbed is a folder's name as a pattern that stands for itself.
func Globbed(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// Linkless is a path without links, as far as it is there.
func Linkless(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	if up := filepath.Dir(path); up != path {
		return filepath.Join(Linkless(up), filepath.Base(path))
	}
	return path
}

// SameVaults tells whether dir is among the vaults that are set, or is "" and there is none.
func SameVaults(set []string, dir string) bool {
	if dir == "" {
		return len(set) == 0
	}
	for _, v := range set {
		if Linkless(v) == Linkless(dir) {
			return true
		}
	}
	return false
}

// ReadLine returns a line without its break and how long it was. Of a line
// with more than most bytes only the beginning is kept.
func ReadLine(in *bufio.Reader, most int) (line []byte, n int, err error) {
	for {
		part, err := in.ReadSlice('\n')
		n += len(part)
		if n <= most {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), n, err
		}
	}
}
