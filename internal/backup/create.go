package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
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
	"strings"

	"emberd/internal/durable"
	"emberd/stm/content"
)

// Part reports how much of a file to take, given its path and its size now. It
// reports false for a file to leave out.
type Part func(name string, size int64) (int64, bool)

// Fill completes a manifest with what the files of the folder hold, and can add files to it, see
// [Manifest.Add]. The cause of its error is [content.ErrChanged] where a file is not what it was.
type Fill func(ctx context.Context, m *Manifest) error

// errAgain says that the folder changed under the backup.
var errAgain = errors.New("the folder changed during the backup")

// Create writes a backup of the folder root to the new file to, and returns what
// is in it: m completed with the files, and by fill. Files may grow in the meantime, but what part
// takes of them must not change. Hidden files and what is not a regular file are left out. All
// that was written is read back and verified before the file gets its name. A name that is taken
// is fs.ErrExist.
func Create(ctx context.Context, fsys durable.FS, root, to string, m Manifest, part Part, fill Fill) (*Manifest,
	error) {
	if _, err := fsys.Lstat(to); err == nil {
		return nil, fmt.Errorf("create %s: %w", to, fs.ErrExist)
	}
	const attempts = 3
	for try := 1; ; try++ {
		full := m
		full.Format = format
		err := full.gather(ctx, fsys, root, "", part)
		if err == nil {
			err = fill(ctx, &full)
		}
		if err == nil {
			err = durable.CreateVerified(fsys, to,
				func(w io.Writer) error { return full.write(ctx, fsys, root, w) },
				func(temp string) error { _, err := Verify(ctx, fsys, temp); return err })
		}
		if err == nil {
			return &full, nil
		}
		// Compaction removes files that others replace; a second look finds those.
		again := errors.Is(err, fs.ErrNotExist) || errors.Is(err, errAgain) || errors.Is(err, content.ErrChanged)
		if !again || try == attempts {
			return nil, err
		}
	}
}

// gather lists the files below a folder, with their checksums.
func (m *Manifest) gather(ctx context.Context, fsys durable.FS, root, below string, part Part) error {
	entries, err := fsys.ReadDir(filepath.Join(root, filepath.FromSlash(below)))
	if err != nil {
		return fmt.Errorf("list %s: %w", filepath.Join(root, below), err)
	}
	for _, e := range inOrder(entries) {
		name := strings.TrimPrefix(below+"/"+e.Name(), "/")
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			err = m.gather(ctx, fsys, root, name, part)
		case e.Type().IsRegular():
			err = m.add(ctx, fsys, root, name, part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Add puts a further file into a backup that is being made.
func (m *Manifest) Add(name string, data []byte) {
	sum := sha256.Sum256(data)
	m.Files = append(m.Files, File{Name: name, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), data: data})
	m.Files = sortedBy(m.Files, func(f File) string { return f.Name })
}

// inOrder sorts a listing so that a walk meets paths in the order of their text:
// a folder counts with its slash.
func inOrder(entries []fs.DirEntry) []fs.DirEntry {
	key := func(e fs.DirEntry) string {
		if e.IsDir() {
			return e.Name() + "/"
		}
		return e.Name()
	}
	return sortedBy(entries, key)
}

func (m *Manifest) add(ctx context.Context, fsys durable.FS, root, name string, part Part) error {
	f, err := fsys.OpenRead(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return fmt.Errorf("cannot back up %s: %w", name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("cannot back up %s: %w", name, err)
	}
	size, ok := part(name, info.Size())
	if !ok {
		return nil
	}
	sum := sha256.New()
	if err := copyN(ctx, sum, f, size); err != nil {
		return fmt.Errorf("cannot back up %s: %w", name, err)
	}
	m.Files = append(m.Files, File{Name: name, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))})
	return nil
}

// copyN copies exactly n bytes, in pieces, so that ctx is heard.
func copyN(ctx context.Context, to io.Writer, from io.Reader, n int64) error {
	for n > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		piece, err := io.CopyN(to, from, min(n, 1<<20))
		if n -= piece; err != nil {
			return fmt.Errorf("cannot copy the last %d bytes of the file: %w", n, err)
		}
	}
	return nil
}

// write writes the archive and its last member.
func (m *Manifest) write(ctx context.Context, fsys durable.FS, root string, w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<18)
	sum := sha256.New()
	zip := gzip.NewWriter(io.MultiWriter(out, sum))
	archive := tar.NewWriter(zip)
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot write the manifest: %w", err)
	}
	if len(text) > maxManifest {
		return fmt.Errorf("too many bytes in the manifest: %d (limit %d)", len(text), maxManifest)
	}
	if err := m.entry(archive, manifestName, int64(len(text)),
		func() error { _, err := archive.Write(text); return err }); err != nil {
		return err
	}
	for _, f := range m.Files {
		if err := m.entry(archive, f.Name, f.Size,
			func() error { return f.write(ctx, fsys, root, archive) }); err != nil {
			return err
		}
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		return err
	}
	if _, err := out.Write(lastMember(sum.Sum(nil))); err != nil {
		return err
	}
	return out.Flush()
}

func (m *Manifest) entry(archive *tar.Writer, name string, size int64, write func() error) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: m.Created}
	if err := archive.WriteHeader(h); err != nil {
		return fmt.Errorf("cannot back up %s: %w", name, err)
	}
	if err := write(); err != nil {
		return fmt.Errorf("cannot back up %s: %w", name, err)
	}
	return nil
}

// write copies the part of the file that its checksum was made of.
func (f *File) write(ctx context.Context, fsys durable.FS, root string, w io.Writer) error {
	if f.data != nil {
		_, err := w.Write(f.data)
		return err
	}
	in, err := fsys.OpenRead(filepath.Join(root, filepath.FromSlash(f.Name)))
	if err != nil {
		return err
	}
	defer in.Close()
	sum := sha256.New()
	if err := copyN(ctx, io.MultiWriter(w, sum), in, f.Size); err != nil {
		return errors.Join(errAgain, err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return errAgain
	}
	return nil
}

// lastMember is an empty gzip member whose comment is a checksum.
func lastMember(sum []byte) []byte {
	var b bytes.Buffer
	b.Write([]byte{0x1f, 0x8b, 8, 0x10, 0, 0, 0, 0, 0, 0xff}) // deflate, with a comment, no time, unknown system
	b.WriteString("sha256:" + hex.EncodeToString(sum) + "\x00")
	b.Write([]byte{3, 0})                   // an empty deflate block
	b.Write([]byte{0, 0, 0, 0, 0, 0, 0, 0}) // CRC-32 and length of nothing
	return b.Bytes()
}
