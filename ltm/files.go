package ltm

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	zap "github.com/blevesearch/zapx/v17"

	"emberd/internal/durable"
)

// What lies in the folder of an index beside Bleve's root.bolt and *.zap.
const (
	formatFile  = "format"  // what the index was made by
	sealFile    = "closed"  // there while the index is closed in good order: checksum of root.bolt
	damagedFile = "damaged" // there once a running index found itself damaged: why
	rootFile    = "root.bolt"
)

// asideSuffix names the folder of an unusable index.
const asideSuffix = ".aside"

// errInUse is the reason that another process has the index open.
var errInUse = errors.New("note index is in use by another process")

// format is the content of the format file. The number changes with counts, with the
// record and with how notes are cut into passages.
func format(identity string) string {
	return fmt.Sprintf("emberd note index 1\nsegments zap %d\nterms %s\n", zap.Version, identity)
}

// begin makes the folder an empty index.
func begin(dir, identity string) error {
	return durable.ReplaceFile(durable.OS{}, filepath.Join(dir, formatFile), []byte(format(identity)))
}

// verify tells whether the files in dir are worth opening, and takes the seal away. A
// folder without an index is fs.ErrNotExist.
func verify(dir, identity string) error {
	if err := durable.SweepTemps(durable.OS{}, dir); err != nil {
		return err
	}
	made, err := os.ReadFile(filepath.Join(dir, formatFile))
	if errors.Is(err, fs.ErrNotExist) {
		if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			return errors.New("folder holds files but no index")
		}
	}
	if err != nil {
		return err
	}
	if want := format(identity); string(made) != want {
		return fmt.Errorf("index was made by another version (%s)", oneLine(string(made)))
	}
	if why, err := os.ReadFile(filepath.Join(dir, damagedFile)); err == nil {
		return fmt.Errorf("index was found damaged: %s", oneLine(string(why)))
	}
	return unseal(dir)
}

// oneLine makes a file's content fit for a message.
func oneLine(s string) string {
	return strings.ToValidUTF8(strings.Join(strings.Fields(s[:min(len(s), 200)]), " "), "?")
}

// seal notes the checksum of the snapshot file, which has none of its own. The segments
// carry theirs.
func seal(dir string) error {
	sum, err := rootSum(dir)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(durable.OS{}, filepath.Join(dir, sealFile), []byte(sum))
}

// unseal checks the snapshot file against the seal and removes that. After an unclean
// stop there is none; then bbolt's own checks and the counting of passages have to do.
func unseal(dir string) error {
	name := filepath.Join(dir, sealFile)
	want, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return checkUnsealed(dir)
	}
	if err != nil {
		return err
	}
	got, err := rootSum(dir)
	if err != nil {
		return fmt.Errorf("snapshot file is unreadable: %v", err) // not fs.ErrNotExist: there was an index
	}
	if got != string(want) {
		return errors.New("snapshot file does not match its checksum")
	}
	if err := os.Remove(name); err != nil {
		return err
	}
	return durable.OS{}.SyncDir(dir)
}

// checkUnsealed finds segment files without the snapshot file they belong to.
func checkUnsealed(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, rootFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	segments, err := filepath.Glob(filepath.Join(dir, "*.zap"))
	if err == nil && len(segments) > 0 {
		return errors.New("snapshot file is missing")
	}
	return err
}

func rootSum(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, rootFile))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%08x %d\n", crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)), len(b)), nil
}

// setAside moves the folder out of the way, in place of what was moved there before, and
// makes an empty one.
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
