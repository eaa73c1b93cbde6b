// Package unpack reads files out of archives that come from elsewhere: gzipped tar files and zip
// files, told apart by their first bytes.
//
// # Guarantees
//
// [Read] writes nothing and trusts nothing an archive claims. The number of entries, the size of
// each file and the bytes of all files are bounded while they are unpacked, whatever the headers
// say, so a small archive cannot fill memory or disk. A name that the caller receives is relative
// and clean, has no "..", and occurs once, whatever the case of its letters. Entries are plain
// files or symbolic links; the caller checks where a link points before it creates one.
//
// A file that the caller receives has the checksum that the archive states. A tar file is read to
// its end, so Read also finds an archive that was cut short after the last file.
//
// Each error is one sentence. Read may be called from several goroutines.
package unpack

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"emberd/internal/durable"
)

// The default bounds. Builds of llama.cpp with the kernels of a graphics card have more than a
// gigabyte.
const (
	MaxEntries = 20_000
	MaxFile    = 4 << 30
	MaxBytes   = 8 << 30
)

// maxName is the maximum length of a name or of the target of a link, in bytes.
const maxName = 1024

// Options select files and bound what is unpacked.
type Options struct {
	// Shown names the archive in errors; its path if empty.
	Shown string
	// Keep reports whether the caller wants the file with a slash-separated name; nil keeps all.
	Keep func(name string) bool
	// MaxFile and MaxBytes bound the bytes of one kept file and of all kept files; the constants
	// of their names if 0. MaxBytes also bounds everything in a tar file.
	MaxFile, MaxBytes int64
	// MaxEntries bounds the entries of the archive; [MaxEntries] if 0.
	MaxEntries int
}

// An Entry is a file or a symbolic link of an archive.
type Entry struct {
	Name string // slash-separated and clean
	Size int64  // bytes
	Link string // target of a symbolic link; empty for a file
}

// Read calls f for each kept file and link, in the order of the archive. content is nil for a
// link; f need not read it to its end, and its errors name the archive. Files that are not kept
// are not read from a zip file. An error of f ends Read and is returned unchanged.
func Read(ctx context.Context, archive string, o Options, f func(e Entry, content io.Reader) error) error {
	o.Shown = cmp.Or(o.Shown, archive)
	o.MaxEntries = cmp.Or(o.MaxEntries, MaxEntries)
	o.MaxFile, o.MaxBytes = cmp.Or(o.MaxFile, MaxFile), cmp.Or(o.MaxBytes, MaxBytes)
	w := &walker{ctx: ctx.Err, o: &o, names: map[string]bool{}}
	var own error
	w.visit = func(e Entry, content io.Reader) error {
		own = f(e, content)
		return own
	}
	err := w.open(archive)
	if err == nil || own != nil {
		return own
	}
	return explain(err, o.Shown)
}

// A walker reads the entries of one archive.
type walker struct {
	ctx     func() error // the error of the context
	o       *Options
	visit   func(e Entry, content io.Reader) error
	entries int
	bytes   int64           // of all kept files so far, unpacked
	names   map[string]bool // in lower case: many disks treat a and A as one name
}

func (w *walker) open(archive string) error {
	info, err := os.Stat(archive)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return flawed("is not a file; use the path of the archive")
	}
	f, err := durable.OpenGiven(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	var magic [2]byte
	if _, err := f.ReadAt(magic[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch string(magic[:]) {
	case "\x1f\x8b":
		return w.walkTar(bufio.NewReaderSize(f, 1<<20))
	case "PK":
		return w.walkZip(f, info.Size())
	}
	return flawed("is not a .tar.gz or .zip file; download it again, or use another archive")
}

func (w *walker) walkTar(r io.Reader) error {
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	// Headers and padding count too: they come out of the same compressed bytes.
	all := &io.LimitedReader{R: &interruptible{unzipped, w.ctx, w.o.Shown}, N: w.o.MaxBytes + 1}
	t := tar.NewReader(all)
	for {
		h, err := t.Next()
		if all.N == 0 {
			return w.errBytes()
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := w.tarEntry(h, t); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, all); err != nil { // up to the checksum at the end
		return err
	}
	if all.N == 0 {
		return w.errBytes()
	}
	return nil
}

func (w *walker) tarEntry(h *tar.Header, content io.Reader) error {
	e := Entry{Name: h.Name, Size: h.Size}
	open := func() (io.ReadCloser, error) { return io.NopCloser(content), nil }
	switch h.Typeflag {
	case tar.TypeReg:
		return w.entry(e, open)
	case tar.TypeSymlink:
		e.Link, open = h.Linkname, nil
		return w.entry(e, open)
	case tar.TypeXGlobalHeader:
		return nil
	}
	return w.other(e, h.Typeflag == tar.TypeDir)
}

// A zip file starts with its list of entries, which is read into memory as a whole. listedBytes
// bounds the bytes of an entry in it, on average, and listEnd what is read to find the list: a
// comment of 64 KiB may follow it, and a part of it is read twice.
const (
	listedBytes = 512
	listEnd     = 256 << 10
)

func (w *walker) walkZip(f io.ReaderAt, size int64) error {
	list := &limitedAt{f, int64(w.o.MaxEntries)*listedBytes + listEnd}
	z, err := zip.NewReader(list, size)
	if list.left < 0 {
		return w.errEntries()
	}
	list.left = math.MaxInt64                               // files are counted as they are unpacked
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // entry checks each name
		return err
	}
	for _, f := range z.File {
		if err := w.zipEntry(f); err != nil {
			return err
		}
	}
	return nil
}

// A limitedAt fails once more than left bytes were requested. It has one reader at a time.
type limitedAt struct {
	io.ReaderAt
	left int64
}

func (l *limitedAt) ReadAt(p []byte, at int64) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, io.ErrShortBuffer
	}
	return l.ReaderAt.ReadAt(p, at)
}

func (w *walker) zipEntry(f *zip.File) error {
	e := Entry{Name: f.Name, Size: int64(f.UncompressedSize64)}
	isDir := strings.HasSuffix(f.Name, "/")
	switch mode := f.Mode(); {
	case !isDir && mode&fs.ModeSymlink != 0:
		target, err := readTarget(f)
		if err != nil {
			return err
		}
		e.Link = target
		return w.entry(e, nil)
	case isDir || !mode.IsRegular():
		return w.other(e, isDir)
	}
	return w.entry(e, f.Open)
}

// readTarget reads the target of a symbolic link, which is its content in a zip file.
func readTarget(f *zip.File) (string, error) {
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	target, err := io.ReadAll(io.LimitReader(r, maxName+1))
	return string(target), err
}

// keeps counts an entry, replaces its name by a clean one and reports whether the caller wants it.
func (w *walker) keeps(e *Entry) (bool, error) {
	if err := w.ctx(); err != nil {
		return false, err
	}
	if w.entries++; w.entries > w.o.MaxEntries {
		return false, w.errEntries()
	}
	name, err := cleanName(e.Name)
	e.Name = name
	return err == nil && (w.o.Keep == nil || w.o.Keep(name)), err
}

// other refuses a hard link, a device or a pipe that the caller wants as a file. Directories are
// skipped.
func (w *walker) other(e Entry, isDir bool) error {
	wanted, err := w.keeps(&e)
	if wanted && !isDir {
		return flawed("contains %.100q, which is a hard link or special file instead of a regular file", e.Name)
	}
	return err
}

// entry hands a file or a link to the caller if the caller wants it.
func (w *walker) entry(e Entry, open func() (io.ReadCloser, error)) error {
	if wanted, err := w.keeps(&e); !wanted || err != nil {
		return err
	}
	folded := strings.ToLower(e.Name)
	if w.names[folded] {
		return flawed("contains the name %.100q twice", e.Name)
	}
	w.names[folded] = true
	if open == nil {
		if e.Link == "" {
			return flawed("contains the link %.100q without a target", e.Name)
		}
		e.Size = 0
		return w.visit(e, nil)
	}
	if e.Size < 0 || e.Size > w.o.MaxFile {
		return flawed("contains %.100q, which is larger than %d bytes, the limit for a file", e.Name, w.o.MaxFile)
	}
	if w.bytes += e.Size; w.bytes > w.o.MaxBytes {
		return w.errBytes()
	}
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	// One byte more reaches the end, where the size and the checksum of a zip file are compared.
	content := &interruptible{io.LimitReader(r, e.Size+1), w.ctx, w.o.Shown}
	if err := w.visit(e, content); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, content)
	return err
}

// cleanName returns the name of an entry as a path below a directory. A name may end in a slash
// and begin with "./"; one that goes up is refused even if it comes back.
func cleanName(name string) (string, error) {
	switch {
	case len(name) > maxName:
		return "", flawed("contains a name of %d bytes (limit %d)", len(name), maxName)
	case name == "" || strings.ContainsAny(name, "\\\x00"):
		return "", flawed("contains the invalid name %.100q", name)
	case path.IsAbs(name) || slices.Contains(strings.Split(name, "/"), ".."):
		return "", flawed("contains the name %.100q, which leads outside the target folder", name)
	}
	return path.Clean(strings.TrimSuffix(name, "/")), nil
}

func (w *walker) errEntries() error {
	return flawed("contains too many entries (limit %d)", w.o.MaxEntries)
}

func (w *walker) errBytes() error {
	return flawed("is too large when unpacked (limit %d bytes)", w.o.MaxBytes)
}

// An interruptible reader fails once its context is done, and explains the errors of its archive.
type interruptible struct {
	r     io.Reader
	ctx   func() error
	shown string
}

func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx(); err != nil {
		return 0, err
	}
	n, err := i.r.Read(p)
	if err != nil && err != io.EOF {
		err = explain(err, i.shown)
	}
	return n, err
}

// A flaw is the reason for refusing an archive; the text continues a sentence after its name.
type flaw string

func (f flaw) Error() string { return string(f) }

func flawed(format string, args ...any) error { return flaw(fmt.Sprintf(format, args...)) }

// A problem is an error that names its archive.
type problem struct{ error }

func (p *problem) Unwrap() error { return p.error }

// explain adds the archive to an error, and what to do about an error of a library.
func explain(err error, archive string) error {
	if _, ok := errors.AsType[*problem](err); ok {
		return err
	}
	if f, ok := errors.AsType[flaw](err); ok {
		return &problem{fmt.Errorf("archive %s %w", archive, f)}
	}
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	damage := []error{gzip.ErrChecksum, gzip.ErrHeader, tar.ErrHeader, zip.ErrFormat, zip.ErrChecksum, zip.ErrAlgorithm}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &problem{fmt.Errorf("archive %s is incomplete; download it again", archive)}
	case corrupt, slices.ContainsFunc(damage, func(d error) bool { return errors.Is(err, d) }):
		return &problem{fmt.Errorf("archive %s is damaged; download it again: %w", archive, err)}
	}
	return &problem{fmt.Errorf("unpack %s: %w", archive, err)}
}
