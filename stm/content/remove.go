package content

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"time"

	"emberd/compaction"
	"emberd/internal/durable"
	"emberd/stm/record"
)

// ReadPurges returns the memories that a data folder says were purged, and when. Damaged lines, and the
// rest of files that cannot be read, are passed over. A folder without a log has none.
func ReadPurges(ctx context.Context, fsys durable.FS, root string) (Purges, error) {
	out := Purges{}
	files, _ := filesIn(fsys, root)
	for _, file := range files {
		name := filepath.Join(root, filepath.FromSlash(file.Name))
		_ = eachLine(ctx, fsys, name, func(_, _ []byte, l *record.Line, is record.Class) {
			for i := range l.Changes { // also of a purge of another device that came back
				key, counts := l.Changes[i].ID.Bytes(), is == record.Counted || l.Op == record.OpPurge
				if counts && l.Changes[i].Op == record.OpPurge {
					out[key] = record.Later(out[key], l.Stamp)
				}
			}
		})
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return out, nil
}

// filesIn lists the files of the log below a data folder, sorted.
func filesIn(fsys durable.FS, root string) (files []File, err error) {
	devices, err := fsys.ReadDir(filepath.Join(root, "stm"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, d := range devices {
		if !d.IsDir() {
			continue
		}
		entries, failed := fsys.ReadDir(filepath.Join(root, "stm", d.Name()))
		err = errors.Join(err, failed)
		for _, e := range entries {
			if info, failed := e.Info(); failed == nil && record.IsLogFile(e) {
				files = append(files, File{Name: path.Join("stm", d.Name(), e.Name()), Size: info.Size()})
			}
		}
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return files, err
}

// eachLine calls fn for every line of a file, as a compaction of the device whose folder it is in
// takes it.
func eachLine(ctx context.Context, fsys durable.FS, name string,
	fn func(b, good []byte, l *record.Line, is record.Class)) error {
	f, err := fsys.OpenRead(name)
	if err != nil {
		return err
	}
	defer f.Close()
	dev, _ := record.ParseDevice(filepath.Base(filepath.Dir(name)))
	_, err = record.ScanLines(ctx, f, record.AtOnce(f, 0), func(b []byte, _ record.Place, whole bool) error {
		l, good, is := record.Classify(b, whole, dev)
		fn(b, good, &l, is)
		return nil
	})
	return err
}

// Remove takes memories that were purged out of every file of the folder, and adds files that say so. No
// store may have the folder open. It returns the files that are there then.
func (f *Folder) Remove(ctx context.Context, gone Purges, now time.Time) ([]File, error) {
	dirs := map[string][]string{}
	for _, file := range f.Files {
		if f.isLog(file.Name) {
			dirs[path.Dir(file.Name)] = append(dirs[path.Dir(file.Name)], path.Base(file.Name))
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if err := f.clean(ctx, dir, dirs[dir], record.Redaction(gone), now); err != nil {
			return nil, err
		}
	}
	var err error
	if f.Files, err = filesIn(f.FS, f.Root); err != nil {
		return nil, err
	}
	for _, s := range gone.saved(f, now) {
		if err := f.write(s); err != nil {
			return nil, err
		}
	}
	return filesIn(f.FS, f.Root)
}

func (f *Folder) write(s Saved) error {
	if err := durable.MkdirAll(f.FS, filepath.Dir(f.path(s.Name))); err != nil {
		return err
	}
	return durable.ReplaceFile(f.FS, f.path(s.Name), s.Data)
}

// clean rewrites the files of one device if any of them tells of a purged memory: those with names of
// emberd's own as a compaction does, which accounts for the numbers that go.
func (f *Folder) clean(ctx context.Context, dir string, names []string, p record.Redaction, now time.Time) error {
	job := compaction.Job{HistoryKeep: 1<<63 - 1, Histories: true}
	told := false
	for _, base := range names {
		tells, err := f.tells(ctx, path.Join(dir, base), p)
		if err != nil {
			return err
		}
		if record.ParseName(base).Kind != record.Odd {
			told = told || tells
			job.Inputs = append(job.Inputs, base)
		} else if tells {
			if err := f.redact(ctx, path.Join(dir, base), p); err != nil {
				return err
			}
		}
	}
	if !told {
		return nil
	}
	dev, ok := record.ParseDevice(path.Base(dir))
	if !ok {
		return fmt.Errorf("%s is not the folder of a device", dir)
	}
	_, err := compaction.Run(ctx, compaction.Source{FS: f.FS, Dir: f.path(dir), Device: dev,
		Log: slog.New(slog.DiscardHandler), Now: now, TrashKeep: 1<<63 - 1, Purged: p,
		IsActive: func(string) bool { return false },
		Seen:     func() map[record.Device]uint64 { return nil },
		Foreign:  func() ([]string, error) { return nil, nil }}, job)
	if err != nil {
		return err
	}
	for _, base := range job.Inputs {
		if err := f.FS.Remove(f.path(path.Join(dir, base))); err != nil {
			return err
		}
	}
	return f.FS.SyncDir(f.path(dir))
}

// tells reports whether a file says anything about purged memories but that they were purged.
func (f *Folder) tells(ctx context.Context, name string, p record.Redaction) (told bool, err error) {
	err = eachLine(ctx, f.FS, f.path(name), func(b, good []byte, l *record.Line, is record.Class) {
		if !told {
			_, _, _, told = p.Redact(b, good, l, is)
		}
	})
	return told, err
}

// redact writes a file again without purged memories, and with a seal that fits.
func (f *Folder) redact(ctx context.Context, name string, p record.Redaction) error {
	var out sealedLines
	err := eachLine(ctx, f.FS, f.path(name), func(b, good []byte, l *record.Line, is record.Class) {
		if end, sealed := record.SealOf(b); sealed && is == record.Meta {
			out.text = out.seal(l.Stamp, end)
			return
		}
		switch b, good, is, _ = p.Redact(b, good, l, is); is {
		case record.Empty:
		case record.Counted, record.Meta:
			out.add(append(bytes.Clone(good), '\n'))
		default:
			out.addDamaged(append(bytes.TrimSuffix(bytes.Clone(b), []byte("\n")), '\n'))
		}
	})
	if err != nil {
		return err
	}
	return f.write(Saved{Name: name, Data: out.text})
}
