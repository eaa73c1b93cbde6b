// Package notebase writes the base of the memories into a vault: a file in which Obsidian shows their notes as tables,
// cards and lists (https://help.obsidian.md/bases/syntax).
//
// Guarantee: a file that is there stays as it is.
package notebase

import (
	_ "embed"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"emberd/internal/durable"
)

// Name is the name of the file.
const Name = "Memories.base"

// maxBase is the size of a file that is compared, in bytes.
const maxBase = 1 << 20

//go:embed memories.base
var text string

// Text returns the base for a vault with this archive folder.
func Text(archive string) string {
	inYAML := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "'", "''").Replace(archive) // a text in an expression
	return strings.ReplaceAll(text, "ARCHIVE", inYAML)
}

// Write writes the base into the folder for promoted memories of the vault at dir, which it makes if need be. The
// folders are paths in the vault, with slashes. made is false if there is a file of that name; changed says that it is
// not the base as Write makes it.
func Write(dir, promoted, archive string) (file string, made, changed bool, err error) {
	folder := filepath.Join(dir, filepath.FromSlash(promoted))
	file = filepath.Join(folder, Name)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return file, false, false, err
	}
	err = durable.CreateFile(durable.OS{}, file, func(w io.Writer) error {
		_, err := io.WriteString(w, Text(archive))
		return err
	})
	if !errors.Is(err, fs.ErrExist) {
		return file, err == nil, false, err
	}
	is, err := durable.ReadAtMost(durable.OS{}, file, maxBase)
	return file, false, string(is) != Text(archive), err
}
