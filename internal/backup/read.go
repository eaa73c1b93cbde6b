package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/durable"
)

func sortedBy[T any](items []T, key func(T) string) []T {
	return slices.SortedFunc(slices.Values(items), func(a, b T) int { return cmp.Compare(key(a), key(b)) })
}

// ErrDamaged is the cause in the error for a file that is not a whole backup.
var ErrDamaged = errors.New("the backup is damaged or incomplete")

// Verify reads all of a backup and returns what it holds. The cause of the error
// is [ErrDamaged] if a byte of it is not as it was written.
func Verify(ctx context.Context, fsys durable.FS, name string) (*Manifest, error) {
	return read(ctx, fsys, name, func(*Manifest) error { return nil },
		func(File, io.Reader) error { return nil })
}

// read verifies a backup and hands over the manifest and then each file, in
// order. Each is verified only after it was handed over; an error tells.
func read(ctx context.Context, fsys durable.FS, name string, begin func(*Manifest) error,
	take func(File, io.Reader) error) (*Manifest, error) {
	f, err := fsys.OpenRead(name)
	if err != nil {
		return nil, fmt.Errorf("read a backup: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read a backup: %w", err)
	}
	packed := info.Size() - int64(len(lastMember(nil))+2*sha256.Size)
	if err := checkSum(ctx, f, packed); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	m, err := unpack(ctx, io.NewSectionReader(f, 0, packed), packed, begin, take)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return m, nil
}

// damaged wraps an error of a reader that found something wrong.
func damaged(err error) error { return fmt.Errorf("%w: %w", ErrDamaged, err) }

// checkSum compares the last member with the bytes before it.
func checkSum(ctx context.Context, f io.ReaderAt, packed int64) error {
	if packed <= 0 {
		return damaged(errors.New("the file is too short"))
	}
	sum := sha256.New()
	if err := copyN(ctx, sum, io.NewSectionReader(f, 0, packed), packed); err != nil {
		return err
	}
	want := lastMember(sum.Sum(nil))
	got := make([]byte, len(want))
	if _, err := f.ReadAt(got, packed); err != nil && err != io.EOF {
		return err
	}
	if !bytes.Equal(got, want) {
		return damaged(errors.New("the checksum does not match the content of the file"))
	}
	return nil
}

func unpack(ctx context.Context, in io.Reader, packed int64, begin func(*Manifest) error,
	take func(File, io.Reader) error) (*Manifest, error) {
	source := bufio.NewReader(in)
	zip, err := gzip.NewReader(source)
	if err != nil {
		return nil, damaged(err)
	}
	zip.Multistream(false)
	archive := tar.NewReader(zip)
	m, err := readManifest(archive, packed)
	if err != nil {
		return nil, damaged(err)
	}
	if err := begin(m); err != nil {
		return nil, err
	}
	for _, f := range m.Files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := f.read(archive, take); err != nil {
			return nil, err
		}
	}
	if err := atEnd(archive, zip, source); err != nil {
		return nil, damaged(err)
	}
	return m, nil
}

// atEnd refuses what follows the files.
func atEnd(archive *tar.Reader, zip io.Reader, source *bufio.Reader) error {
	switch h, err := archive.Next(); {
	case err == nil:
		return fmt.Errorf("the backup contains a file that its manifest does not list: %q", h.Name)
	case err != io.EOF:
		return fmt.Errorf("cannot read the end of the archive: %w", err)
	}
	const padding = 1 << 20 // what tar writers fill up
	n, err := io.Copy(io.Discard, io.LimitReader(zip, padding+1))
	if err != nil {
		return fmt.Errorf("cannot read the end of the archive: %w", err)
	}
	if n > padding {
		return errors.New("the file contains data after the archive")
	}
	if _, err := source.ReadByte(); err != io.EOF {
		return errors.New("the file contains data after the first gzip member")
	}
	return nil
}

func readManifest(archive *tar.Reader, packed int64) (*Manifest, error) {
	h, err := archive.Next()
	if err != nil {
		return nil, err
	}
	if h.Name != manifestName || h.Typeflag != tar.TypeReg || h.Size > maxManifest {
		return nil, fmt.Errorf("the backup begins with %q (%d bytes) instead of the manifest", h.Name, h.Size)
	}
	text, err := io.ReadAll(archive)
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("cannot read the manifest: %w", err)
	}
	return &m, m.check(packed)
}

// read hands the next file of the archive over and verifies it.
func (f File) read(archive *tar.Reader, take func(File, io.Reader) error) error {
	h, err := archive.Next()
	if err != nil {
		return damaged(fmt.Errorf("file %q is missing: %w", f.Name, err))
	}
	if h.Name != f.Name || h.Typeflag != tar.TypeReg || h.Size != f.Size {
		return damaged(fmt.Errorf("the backup contains %q (%d bytes) at the position of %q (%d bytes)", h.Name, h.Size,
			f.Name, f.Size))
	}
	sum := sha256.New()
	in := io.TeeReader(archive, sum)
	if err := take(f, in); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return damaged(fmt.Errorf("%q: %w", f.Name, err))
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return damaged(fmt.Errorf("the checksum of %q does not match the manifest", f.Name))
	}
	return nil
}

// Newest returns the manifest of the newest backup in a folder and its name there, nil if there is none.
// Files that are no backups are passed over. No more than the manifests are read.
func Newest(fsys durable.FS, dir string) (newest *Manifest, name string, err error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".tar.gz") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		m, failed := manifestOf(fsys, filepath.Join(dir, e.Name()))
		if failed == nil && (newest == nil || m.Created.After(newest.Created)) {
			newest, name = m, e.Name()
		}
	}
	return newest, name, err
}

func manifestOf(fsys durable.FS, name string) (*Manifest, error) {
	f, err := fsys.OpenRead(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	zip, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, err
	}
	return readManifest(tar.NewReader(zip), info.Size())
}
