package ltm

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"emberd/internal/durable"
	"emberd/internal/text"
	"emberd/ltm/boltfile"
)

// What lies in the folder of an index beside Bleve's root.bolt and *.zap.
const (
	formatFile  = "format"  // what the index was made by
	sealFile    = "closed"  // there while the index is closed in good order: checksums of all files
	damagedFile = "damaged" // there once a running index found itself damaged: why
	rootFile    = "root.bolt"
)

// asideSuffix names the folder of an unusable index.
const asideSuffix = ".aside"

// errInUse is the reason that another process has the index open.
var errInUse = errors.New("note index is in use by another process")

// errVersion is the reason that an index has to be built again without any damage.
var errVersion = errors.New("another version of emberd created the note index")

// errNone is the reason that there is no index yet.
var errNone = errors.New("note index not found")

// format returns the content of the format file. The number changes with counts, with the record
// and with how notes are split into passages.
func format(identity string) string {
	return fmt.Sprintf("emberd note index 3\nsegments %d\nterms %s\n", segmentVersion, identity)
}

// begin makes the folder an empty index.
func begin(dir, identity string) error {
	return durable.ReplaceFile(durable.OS{}, filepath.Join(dir, formatFile), []byte(format(identity)))
}

// verify tells whether the files in dir are worth opening, and takes the seal away. An
// empty folder is errNone.
func verify(dir, identity string) error {
	if err := durable.SweepTemps(durable.OS{}, dir); err != nil {
		return err
	}
	made, err := readSmall(filepath.Join(dir, formatFile))
	if errors.Is(err, fs.ErrNotExist) {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			return cmp.Or(err, errors.New("the folder of the note index contains other files, but no index"))
		}
		return errNone
	}
	if err != nil {
		return err
	}
	if want := format(identity); string(made) != want {
		return fmt.Errorf("%w (%s)", errVersion, text.OneLine(text.FirstBytes(string(made), maxReason)))
	}
	if why, err := readSmall(filepath.Join(dir, damagedFile)); err == nil {
		return fmt.Errorf("damaged index: %s", text.OneLine(text.FirstBytes(string(why), maxReason)))
	}
	if err := plausible(dir); err != nil {
		return err
	}
	return unseal(dir)
}

// Damaged returns why an index found damage while it ran, "" if it did not. The next [Open] builds
// it again.
func Damaged(dir string) string {
	why, err := readSmall(filepath.Join(dir, damagedFile))
	if err != nil {
		return ""
	}
	return text.OneLine(text.FirstBytes(string(why), maxReason))
}

// readSmall reads one of the files that describe an index.
func readSmall(name string) ([]byte, error) { return durable.ReadAtMost(durable.OS{}, name, maxSmall) }

// maxSmall is more than the longest of them has, which lists some hundred files.
const maxSmall = 1 << 20

// seal writes the checksums of all of Bleve's files. The snapshot file has none of its own, and
// only a list shows that a segment is gone.
func seal(dir string) error {
	sums, err := checksums(dir)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(durable.OS{}, filepath.Join(dir, sealFile), []byte(sums))
}

// unseal checks the files against the seal and removes the seal. After an unclean stop there is
// none; then the checksums in the segments, the structure of the snapshot file and the counting of
// parts protect the index.
func unseal(dir string) error {
	name := filepath.Join(dir, sealFile)
	want, err := readSmall(name)
	if errors.Is(err, fs.ErrNotExist) {
		return checkUnsealed(dir)
	}
	if err != nil {
		return err
	}
	got, err := checksums(dir)
	if err != nil {
		return err
	}
	if got != string(want) {
		return errors.New(
			"the files of the note index do not match the checksums that emberd stored when it closed the index")
	}
	if err := os.Remove(name); err != nil {
		return err
	}
	return durable.OS{}.SyncDir(dir)
}

// checkUnsealed finds segment files without the snapshot file they belong to, and a damaged snapshot file.
func checkUnsealed(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, rootFile), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err == nil {
		defer f.Close()
		return checkSnapshots(f)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	segments, err := filepath.Glob(filepath.Join(dir, "*.zap"))
	if err == nil && len(segments) > 0 {
		return errors.New("the snapshot file of the note index is missing")
	}
	return err
}

// checkSnapshots checks the structure of the snapshot file, which bbolt trusts. An empty file was just made.
func checkSnapshots(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	if err := boltfile.Check(f, info.Size()); err != nil {
		return fmt.Errorf("the snapshot file of the note index is damaged: %w", err)
	}
	return nil
}

// Bleve opens no longer file. bbolt makes its file 16 MiB longer at a time, and no other hole is made.
const (
	maxIndexFile = math.MaxInt32
	maxHole      = 64 << 20
)

// plausible finds files that are longer by damage than anything that was written. Reading them
// would take minutes, and as much memory as a segment is long.
func plausible(dir string) error {
	names, err := bleveFiles(dir)
	for _, name := range names {
		if err == nil {
			err = plausibleFile(filepath.Join(dir, name))
		}
	}
	return err
}

func plausibleFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch base := filepath.Base(name); {
	case err != nil:
		return err
	case info.Size() > maxIndexFile:
		return fmt.Errorf("%s has %d bytes, more than the limit of an index file", base, info.Size())
	case holes(f, info.Size()) > maxHole:
		return fmt.Errorf("%s is a sparse file of %d bytes", base, info.Size())
	}
	return nil
}

// holes adds up the parts of a file that were never written, until they are more than maxHole. A
// file system that cannot tell shows none.
func holes(f *os.File, size int64) (sum int64) {
	for at := int64(0); at < size && sum <= maxHole; {
		hole, err := f.Seek(at, unix.SEEK_HOLE)
		if err != nil || hole >= size {
			return sum
		}
		if at, err = f.Seek(hole, unix.SEEK_DATA); err != nil { // no data follows
			at = size
		}
		sum += at - hole
	}
	return sum
}

// bleveFiles returns the names of Bleve's files, in order.
func bleveFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() == rootFile || filepath.Ext(e.Name()) == ".zap" {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// checksums lists Bleve's files by name, each with a CRC-32C and its length: that of its bytes, or
// that at the end of a segment, with which its bytes are compared when it is opened.
func checksums(dir string) (string, error) {
	var list strings.Builder
	names, err := bleveFiles(dir)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		sum, size, err := checksum(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&list, "%08x %d %s\n", sum, size, name)
	}
	return list.String(), nil
}

func checksum(name string) (sum uint32, size int64, err error) {
	f, err := durable.OS{}.OpenRead(name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && filepath.Ext(name) == ".zap" && info.Size() >= footerSize {
		var end [4]byte
		_, err = f.ReadAt(end[:], info.Size()-int64(len(end)))
		return binary.LittleEndian.Uint32(end[:]), info.Size(), err
	}
	h := crc32.New(castagnoli)
	if err == nil {
		size, err = io.Copy(h, f)
	}
	return h.Sum32(), size, err
}

// setAside moves the folder aside, in place of what was moved there before, and makes an empty
// one.
func setAside(dir string) (aside string, err error) {
	aside = filepath.Clean(dir) + asideSuffix
	if err := os.RemoveAll(aside); err != nil {
		return "", err
	}
	disk := durable.OS{}
	if err := disk.Rename(dir, aside); err != nil {
		return "", err
	}
	if err := disk.SyncDir(filepath.Dir(aside)); err != nil {
		return "", err
	}
	return aside, durable.MkdirAll(disk, dir)
}

// maxReason bounds in bytes what an error repeats of a file.
const maxReason = 200
