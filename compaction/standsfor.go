package compaction

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"

	"emberd/internal/durable"
	"emberd/stm/record"
)

// StandsFor returns which of the names in dir the compacted file base replaces,
// nothing if it, or the history that belongs to it, is not whole.
func StandsFor(ctx context.Context, fsys durable.FS, dir, base string, names []string) []string {
	n := record.ParseName(base)
	if n.Kind != record.Compacted {
		return nil
	}
	covered := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		o := record.ParseName(name)
		return o.Kind != record.Odd && !n.Covers(o)
	})
	if len(covered) == 0 {
		return nil
	}
	h, err := Inspect(ctx, fsys, filepath.Join(dir, base))
	if err == nil && h.History > 0 {
		_, err = Inspect(ctx, fsys, filepath.Join(dir, n.Companion().String()))
	}
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(covered, func(name string) bool { return !isFolded(fsys, dir, name, h.Replaces) })
}

// isFolded reports whether a file is as it was when it was folded in. One that is
// not listed was folded into a file that is.
func isFolded(fsys durable.FS, dir, name string, list []record.Replaced) bool {
	odd := record.ParseName(name).Kind == record.Odd
	i := slices.IndexFunc(list, func(r record.Replaced) bool { return r.Name == name })
	if i < 0 {
		return !odd
	}
	info, err := fsys.Lstat(filepath.Join(dir, name))
	if err != nil || info.Size() != list[i].Bytes {
		return false
	}
	return !odd || hasCRC(fsys, filepath.Join(dir, name), list[i].CRC)
}

func hasCRC(fsys durable.FS, name, want string) bool {
	f, err := fsys.OpenRead(name)
	if err != nil {
		return false
	}
	defer f.Close()
	crc := crc32.New(record.Castagnoli)
	_, err = record.ScanLines(context.Background(), io.TeeReader(f, crc), record.AtOnce(f, 0),
		func([]byte, record.Place, bool) error { return nil })
	return err == nil && fmt.Sprintf("%08x", crc.Sum32()) == want
}

// IsListed reports whether a file is, to the last byte, one that was folded in.
func IsListed(fsys durable.FS, dir, name string, list []record.Replaced) bool {
	i := slices.IndexFunc(list, func(r record.Replaced) bool { return r.Name == name })
	return i >= 0 && hasCRC(fsys, filepath.Join(dir, name), list[i].CRC)
}

// Inspect reads a compacted file or a history whole and returns its header, or
// an error if any byte of it is not as it was written.
func Inspect(ctx context.Context, fsys durable.FS, name string) (record.Header, error) {
	f, err := fsys.OpenRead(name)
	if err != nil {
		return record.Header{}, err
	}
	defer f.Close()
	var first, last []byte
	var lines int
	var length int64
	var crc uint32
	size, err := record.ScanLines(ctx, f, record.AtOnce(f, 0), func(b []byte, _ record.Place, _ bool) error {
		if lines++; lines == 1 {
			first = bytes.Clone(b)
		}
		crc = crc32.Update(crc, record.Castagnoli, last)
		last = append(last[:0], b...)
		length += int64(len(b))
		return nil
	})
	if err != nil {
		return record.Header{}, err
	}
	h, ok := record.HeaderOf(first)
	end, sealed := record.SealOf(last)
	if !ok || !sealed || size != length || end.Count != lines-1 || end.CRC != fmt.Sprintf("%08x", crc) {
		return record.Header{}, fmt.Errorf("%s is incomplete", filepath.Base(name))
	}
	if !h.Fits(record.ParseName(filepath.Base(name))) {
		return record.Header{}, fmt.Errorf("the header of %s does not match the file name", filepath.Base(name))
	}
	return h, nil
}
