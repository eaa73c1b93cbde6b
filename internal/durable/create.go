package durable

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// CreateFile makes the new file name, mode 0600, with what write writes, whole or
// not at all. A name that is taken is fs.ErrExist and stays as it is; write may
// have been called by then. The steps and what a crash leaves are those of
// [ReplaceFile], and so is a stray temporary file, which [SweepTemps] removes.
func CreateFile(fsys FS, name string, write func(io.Writer) error) error {
	return CreateVerified(fsys, name, write, func(string) error { return nil })
}

// CreateVerified is [CreateFile] of a file that verify looks through, under the temporary name
// that it is given, before the file gets its own. An error of verify leaves no file.
func CreateVerified(fsys FS, name string, write func(io.Writer) error, verify func(temp string) error) error {
	dir := filepath.Dir(name)
	temp := filepath.Join(dir, tempPrefix+rand.Text()+tempSuffix)
	f, err := fsys.CreateAppend(temp)
	if err != nil {
		return errOfTemp("create", name, temp, err)
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = verify(temp)
	}
	if err == nil {
		err = fsys.RenameNoReplace(temp, name)
	}
	if err != nil {
		discard(fsys, temp)
		return errOfTemp("create", name, temp, err)
	}
	if err := fsys.SyncDir(dir); err != nil {
		return fmt.Errorf("cannot sync the directory of %s after creating the file: %w", name, err)
	}
	return nil
}
