package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"emberd/compaction"
	"emberd/internal/durable"
	"emberd/stm/extent"
	"emberd/stm/record"
)

// Believed returns the numbers of records that were written again, as far as the files with them are there.
// kept is what headers say, by the paths of their files.
func Believed(ctx context.Context, fsys durable.FS, kept map[string][]record.Kept) map[record.Device]*record.Ranges {
	all := map[record.Device]*record.Ranges{}
	for bearer, claims := range kept {
		for i := range claims {
			if _, whole := Carriers(ctx, fsys, bearer, &claims[i]); !whole {
				continue
			}
			for dev, numbers := range claims[i].Numbers() {
				if all[dev] == nil {
					all[dev] = &record.Ranges{}
				}
				all[dev].AddAll(numbers)
			}
		}
	}
	return all
}

// Carriers returns the files that have what a header says that they keep, and whether all of them are
// there as they were or in a compacted file. The header is that of the file named bearer.
func Carriers(ctx context.Context, fsys durable.FS, bearer string, k *record.Kept) (names []string, all bool) {
	dir := filepath.Dir(bearer)
	names = []string{bearer}
	if record.ParseName(filepath.Base(bearer)).Kind == record.Compacted && !isWhole(ctx, fsys, bearer) {
		return nil, false
	}
	for _, f := range k.In {
		name := compactedFor(ctx, fsys, dir, f.Name)
		if name == "" {
			name = filepath.Join(dir, f.Name)
			if fmt.Sprintf("%08x", extent.Sum(fsys, name, f.Bytes)) != f.CRC {
				return nil, false
			}
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), true
}

// compactedFor returns the whole compacted file of a folder that stands for a name, "" if none does.
func compactedFor(ctx context.Context, fsys durable.FS, dir, base string) string {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(entries, func(e fs.DirEntry) bool {
		covers := record.ParseName(e.Name()).Covers(record.ParseName(base))
		return covers && isWhole(ctx, fsys, filepath.Join(dir, e.Name()))
	})
	if i < 0 {
		return ""
	}
	return filepath.Join(dir, entries[i].Name())
}

func isWhole(ctx context.Context, fsys durable.FS, name string) bool {
	_, err := compaction.Inspect(ctx, fsys, name)
	return err == nil
}

// WrittenAgain lists the files in the folder of a device that have lines which other devices wrote.
func WrittenAgain(fsys durable.FS, dir string, dev record.Device) (files []record.Replaced, err error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	for _, e := range entries {
		if !record.IsReadAtStart(e) {
			continue
		}
		name := filepath.Join(dir, e.Name())
		info, err := fsys.Lstat(name)
		if err != nil {
			return nil, fmt.Errorf("cannot read a log file: %w", err)
		}
		lines, err := Returned(fsys, []string{name}, func(of record.Device) bool { return of != dev })
		if err != nil {
			return nil, err
		}
		if len(lines) > 0 {
			files = append(files, record.Replaced{Name: e.Name(), Bytes: info.Size(),
				CRC: fmt.Sprintf("%08x", extent.Sum(fsys, name, info.Size()))})
		}
	}
	return files, nil
}

// Returned reads the lines that came back from some files, of the devices that are wanted.
func Returned(fsys durable.FS, names []string, wanted func(record.Device) bool) (lines []record.Line, err error) {
	for _, name := range names {
		for l, failed := range record.ReadLogContaining(fsys, name, []byte(`"`+Verb+`"`)) {
			if failed != nil {
				err = cmp.Or(err, failed)
				break
			}
			if l.State == record.LineGood && l.Verb == Verb && wanted(l.Stamp.Dev) {
				lines = append(lines, l.Line())
			}
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return lines, err
}
