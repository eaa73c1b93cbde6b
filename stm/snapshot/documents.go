package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"emberd/internal/durable"
	"emberd/stm/device"
	"emberd/stm/docfile"
	"emberd/stm/record"
	"emberd/stm/table"
)

// documents writes which files of documents the rows refer to, if they refer to any.
func (w *writer) documents(ctx context.Context) {
	if len(w.c.Files) == 0 {
		return
	}
	e := &record.Encoder{}
	for _, f := range w.c.Files {
		e.Text(filepath.Base(f.Name()))
	}
	w.buffered(ctx, kindDocs, len(w.c.Files), e.B)
}

// documentNames are the files of documents that the rows refer to, in their folder.
func (f *File) documentNames() (names []string, err error) {
	err = f.each(kindDocs, 1, func(d *record.Decoder, n int) {
		for range n {
			if name := d.Text(); docfile.IsName(name) && filepath.Base(name) == name {
				names = append(names, name)
			} else {
				d.Fail()
			}
		}
	})
	return names, err
}

// openDocuments opens the files that the rows refer to. A file that is not there is an error.
func (f *File) openDocuments() (files []*table.DocFile, err error) {
	names, err := f.documentNames()
	for _, name := range names {
		var in *docfile.File
		if err == nil {
			in, err = f.openOne(name)
		}
		if err == nil {
			files = append(files, &table.DocFile{File: in})
		}
	}
	if err != nil {
		closeAll(files)
		return nil, fmt.Errorf("cannot open the documents of the snapshot: %v",
			err) // a file that is not there is damage
	}
	return files, nil
}

func (f *File) openOne(name string) (*docfile.File, error) {
	if f.fsys == nil {
		return nil, fs.ErrNotExist
	}
	return docfile.Open(f.fsys, filepath.Join(f.dir, name))
}

func closeAll(files []*table.DocFile) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // it was only read
		}
	}
}

// checkDocuments compares all that the files of documents hold with its checksums.
func (f *File) checkDocuments() error {
	names, err := f.documentNames()
	for _, name := range names {
		err = errors.Join(err, docfile.Check(context.Background(), f.fsys, filepath.Join(f.dir, name)))
	}
	return err
}

// Sweep removes the files of documents beside the snapshot of a state folder that it does not refer to, nor any other
// that is kept there. It must not run while a snapshot is written. While one of them cannot be read nothing is removed.
func Sweep(fsys durable.FS, state string) error {
	name := device.SnapshotIn(state)
	entries, err := fsys.ReadDir(filepath.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	needed := map[string]bool{}
	for _, name := range append(device.KeptSnapshots(fsys, state), name, device.AsideIn(state)) {
		err = errors.Join(err, need(fsys, name, needed))
	}
	if err != nil {
		return err
	}
	removed := false
	for _, e := range entries {
		if docfile.IsName(e.Name()) && !needed[e.Name()] {
			err = errors.Join(err, fsys.Remove(filepath.Join(filepath.Dir(name), e.Name())))
			removed = true
		}
	}
	if removed {
		err = errors.Join(err, fsys.SyncDir(filepath.Dir(name)))
	}
	return err
}

// need notes which files a snapshot refers to, if it is there.
func need(fsys durable.FS, name string, needed map[string]bool) error {
	f, in, err := Open(fsys, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrStale) { // of a version without such files
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	names, err := f.documentNames()
	for _, name := range names {
		needed[name] = true
	}
	return err
}
