package unpack

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
)

// A visit is told of an entry that is taken, and reads a file's content to its end or not.
type visit func(e Entry, content io.Reader) error

// A walker goes through the entries of one archive.
type walker struct {
	ctx     func() error // the walk's only sight of its context
	o       *Options
	visit   visit
	entries int
	bytes   int64           // of all files so far, as unpacked
	names   map[string]bool // in lower case: many disks take a and A for one
	over    bool            // what is not taken is passed over
}

// walk reads a whole archive and visits what is taken of it.
func walk(ctx context.Context, archive string, o *Options, v visit) error {
	return (&walker{visit: v}).open(ctx, archive, o)
}

// walkOver visits what is taken of an archive and reads nothing else of it.
func walkOver(ctx context.Context, archive string, o *Options, v visit) error {
	return (&walker{visit: v, over: true}).open(ctx, archive, o)
}

func (w *walker) open(ctx context.Context, archive string, o *Options) error {
	f, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("open archive: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return flawed("is not a file: name the archive itself")
	}
	bounded := *o
	if bounded.MostEntries == 0 {
		bounded.MostEntries = MostEntries
	}
	if bounded.MostFile == 0 {
		bounded.MostFile = MostFile
	}
	if bounded.MostBytes == 0 {
		bounded.MostBytes = MostBytes
	}
	w.ctx, w.o, w.names = ctx.Err, &bounded, map[string]bool{}
	return w.walk(f, info.Size())
}

func (w *walker) walk(f *os.File, size int64) error {
	var magic [4]byte
	n, err := f.ReadAt(magic[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch head := string(magic[:n]); {
	case strings.HasPrefix(head, "\x1f\x8b"):
		return w.walkTar(bufio.NewReaderSize(f, 1<<20))
	case strings.HasPrefix(head, "PK"):
		return w.walkZip(f, size)
	}
	return errKind
}

var errKind = flawed("is neither a .tar.gz nor a .zip file: download it again, or name another one")

func (w *walker) walkTar(r io.Reader) error {
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	// Every byte counts here, those of headers and fill too: they come out of the same bomb.
	all := &io.LimitedReader{R: &interruptible{unzipped, w.ctx}, N: w.o.MostBytes + 1}
	t := tar.NewReader(all)
	for {
		h, err := t.Next()
		if all.N == 0 {
			return w.tooMuch()
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
	if _, err := io.Copy(io.Discard, all); err != nil { // to the checksum at the end
		return err
	}
	if all.N == 0 {
		return w.tooMuch()
	}
	return nil
}

func (w *walker) tarEntry(h *tar.Header, content io.Reader) error {
	e := Entry{Name: h.Name, Size: h.Size}
	switch h.Typeflag {
	case tar.TypeReg:
		return w.entry(e, "", func() (io.ReadCloser, error) { return io.NopCloser(content), nil })
	case tar.TypeSymlink:
		e.Link = h.Linkname
		return w.entry(e, "", nil)
	case tar.TypeDir:
		return w.entry(e, "a directory", nil)
	case tar.TypeXGlobalHeader:
		return nil
	}
	other, known := map[byte]string{tar.TypeLink: "a hard link", tar.TypeChar: "a device", tar.TypeBlock: "a device", tar.TypeFifo: "a pipe"}[h.Typeflag]
	if !known {
		other = fmt.Sprintf("of the kind %q", h.Typeflag)
	}
	return w.entry(e, other, nil)
}

func (w *walker) walkZip(f io.ReaderAt, size int64) error {
	// The list of entries is read into memory as a whole, however long it is.
	list := &limitedAt{f, int64(w.o.MostEntries)*mostListed + endOfList}
	z, err := zip.NewReader(list, size)
	if list.left < 0 {
		return w.tooMany()
	}
	list.left = math.MaxInt64                               // what follows is counted as it is unpacked
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // which is judged entry by entry
		return err
	}
	for _, entry := range z.File {
		if err := w.zipEntry(entry); err != nil {
			return err
		}
	}
	return nil
}

// mostListed is how many bytes an entry may take in the list of a zip file, on average, and
// endOfList how many are read to find the list: a comment of 64 KiB may follow it, and a part
// of it is read twice.
const (
	mostListed = 512
	endOfList  = 256 << 10
)

// limitedAt is an archive of which so many bytes may be read, left being negative once more
// were asked for. It has one reader at a time.
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
	switch mode := f.Mode(); {
	case strings.HasSuffix(f.Name, "/"):
		return w.entry(e, "a directory", nil)
	case mode&fs.ModeSymlink != 0:
		target, err := readTarget(f)
		if err != nil {
			return err
		}
		e.Link = target
		return w.entry(e, "", nil)
	case !mode.IsRegular():
		return w.entry(e, fmt.Sprintf("of the kind %v", mode.Type()), nil)
	}
	return w.entry(e, "", f.Open)
}

// readTarget reads what a symbolic link of a zip file points at, which is its content.
func readTarget(f *zip.File) (string, error) {
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	target, err := io.ReadAll(io.LimitReader(r, mostName+1))
	return string(target), err
}

// entry judges an entry and visits it if it is taken. What is other, a directory or a device,
// is passed over unless it was to be taken.
func (w *walker) entry(e Entry, other string, open func() (io.ReadCloser, error)) error {
	if err := w.ctx(); err != nil {
		return err
	}
	if w.entries++; w.entries > w.o.MostEntries {
		return w.tooMany()
	}
	name, err := cleanName(e.Name)
	if err != nil {
		return err
	}
	e.Name = name
	within, ok := w.takes(name)
	if other != "" {
		if ok && other != "a directory" {
			return flawed("holds %.100q, %s, where a file was expected", name, other)
		}
		return nil
	}
	if ok {
		if err := w.once(name); err != nil {
			return err
		}
	}
	if e.Link == "" {
		return w.file(e, within, ok, open)
	}
	if !ok {
		return nil
	}
	if err := checkLink(within, e.Link); err != nil {
		return err
	}
	return w.visit(Entry{Name: within, Link: e.Link}, nil)
}

// takes reports whether a name is taken, and what it is called below the folder.
func (w *walker) takes(name string) (string, bool) {
	if w.o.Folder != "" && w.o.Folder != "." {
		within, found := strings.CutPrefix(name, w.o.Folder+"/")
		if !found {
			return "", false
		}
		name = within
	}
	return name, w.o.Keep == nil || w.o.Keep(name)
}

func (w *walker) once(name string) error {
	folded := strings.ToLower(name)
	if w.names[folded] {
		return flawed("holds the name %.100q twice", name)
	}
	w.names[folded] = true
	return nil
}

// file reads one file, within the bounds.
func (w *walker) file(e Entry, within string, take bool, open func() (io.ReadCloser, error)) error {
	if w.over && !take {
		return nil
	}
	if e.Size < 0 || e.Size > w.o.MostFile {
		return flawed("holds %.100q with more than %d bytes, which is the most for a file", e.Name, w.o.MostFile)
	}
	if w.bytes += e.Size; w.bytes > w.o.MostBytes {
		return w.tooMuch()
	}
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	// One byte more, to come to the end, where a zip file's size and checksum are compared.
	content := &interruptible{io.LimitReader(r, e.Size+1), w.ctx}
	if take {
		if err := w.visit(Entry{Name: within, Size: e.Size}, content); err != nil {
			return err
		}
	}
	_, err = io.Copy(io.Discard, content)
	return err
}

func (w *walker) tooMany() error {
	return flawed("has more than %d entries, which is the most that is looked at", w.o.MostEntries)
}

func (w *walker) tooMuch() error {
	return flawed("holds more than %d bytes, which is the most that is unpacked", w.o.MostBytes)
}

// interruptible is the content of a file, which ends with the walk's context.
type interruptible struct {
	r   io.Reader
	ctx func() error
}

func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}

// A flaw is what an archive must not be; the text goes on after its name.
type flaw string

func (f flaw) Error() string { return string(f) }

func flawed(format string, args ...any) error { return flaw(fmt.Sprintf(format, args...)) }

// explain says of which archive an error is, and what a library's error means.
func explain(err error, archive string) error {
	if f, ok := errors.AsType[flaw](err); ok {
		return fmt.Errorf("archive %s %w", archive, f)
	}
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("archive %s is cut short: download it again", archive)
	case corrupt, errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.Is(err, tar.ErrHeader),
		errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrChecksum), errors.Is(err, zip.ErrAlgorithm):
		return fmt.Errorf("archive %s is damaged: download it again: %w", archive, err)
	}
	return fmt.Errorf("unpack %s: %w", archive, err)
}
