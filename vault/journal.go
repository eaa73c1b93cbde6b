package vault

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"emberd/internal/durable"
)

// digest is the SHA-256 of a file in hex. absent is the digest of no file; odd that of anything
// that is not a regular file or cannot be read.
type digest string

const (
	absent digest = ""
	odd    digest = "?"
)

func digestOf(data []byte) digest {
	sum := sha256.Sum256(data)
	return digest(hex.EncodeToString(sum[:]))
}

// operation is the kind of a write.
type operation string

const (
	opUpdate  operation = "update"
	opRestore operation = "restore" // a late text goes back to its note
	opRemove  operation = "remove"
	opCreate  operation = "create"
	opMove    operation = "move"
)

// The folder writing holds one file for each write that is not over, named by its ID:
//
//	writing/b5kq7xw2m3n4p5q6.json
//	{"id":"b5kq7xw2m3n4p5q6","vault":"/home/ann/Notes","op":"update","path":"Work/Plan.md",
//	 "temp":"Work/.~emberd-b5kq7xw2m3n4p5q6","backup":"20260102T030405Z-b5kq7xw2m3n4p5q6-Plan.md",
//	 "old":"9f86d0…","new":"60303a…","begun":"2026-01-02T03:04:05Z"}
//
// It is on the disk before the first file appears in the vault, and is removed after the last
// look for a late save. A crash is repaired from it and from the digests of the files it names:
//
//	+-----------+  record written   +------------------+  names exchanged  +------------------+
//	| path: old | ----------------> | path: old        | ----------------> | path: new        |
//	+-----------+                   | temp: new        |                   | temp: old        |
//	                                +------------------+                   +------------------+
//	                                                                        temp moved |
//	+-----------+  record removed   +------------------+  1 s and 60 s     +------------------+
//	| path: new | <---------------- | path: new        | <---------------- | path: new        |
//	+-----------+                   | backup: old      |  later            | backup: old      |
//	                                +------------------+                   +------------------+
//
// The records of notes that are written together are one file, ID-all.json, a list of such records, which is removed
// with the last of them. The file of a record that is saved again counts instead of what the list has of it.
//
// The name of a backup is the time of the write in UTC, the ID of its record and the name of the
// note, so that prune can tell its age and a user can tell what it is.

// journal keeps the records of writes that are not over, and the backups of what they displaced.
type journal struct {
	state   durable.FS
	records string // folder
	backups string // folder
}

// record is one write that is not over; see above.
type record struct {
	ID     string    `json:"id"`
	Vault  string    `json:"vault,omitempty"` // folder
	Op     operation `json:"op"`
	Path   string    `json:"path"`
	Target string    `json:"target,omitempty"` // of a move
	Temp   string    `json:"temp"`             // beside the note: ours, then what it displaced
	Backup string    `json:"backup"`           // its name among the backups
	Old    digest    `json:"old"`              // of the note when it was read
	New    digest    `json:"new"`              // of the note as it should be
	// Aside says that names cannot be exchanged here, so that what is displaced is
	// for a moment at the name of Temp with this ending.
	Aside bool `json:"aside,omitempty"`
	// Copied says that the backups are on another disk, so that what was displaced is
	// at the name of Temp until the last look.
	Copied bool `json:"copied,omitempty"`
	// Kept is what was displaced, and Placed what the note had then. Begun is when.
	Kept   digest    `json:"kept,omitempty"`
	Placed digest    `json:"placed,omitempty"`
	Begun  time.Time `json:"begun"`

	batch     *recordBatch  // nil for a record that was begun alone
	crashed   bool          // the process that made it is gone
	unsettled bool          // an error broke the write off
	next      time.Time     // to look at it
	looks     int           // for late savers, done
	wait      time.Duration // between tries, after an error
}

const (
	tempPrefix  = ".~emberd-"
	asideSuffix = "-aside"
)

// recordBatch is a file with the records of several writes.
type recordBatch struct {
	file string
	left int // records that are not over
}

// batchSuffix is how the name of such a file ends.
const batchSuffix = "-all.json"

func (r *record) aside() string { return r.Temp + asideSuffix }
func (r *record) dir() string   { return path.Dir(r.Path) }

// begin makes the record of a write, and syncs it.
func (w *Writer) begin(op operation, name string, from, to digest) (*record, error) {
	r := w.newRecord(op, name, from, to)
	return r, w.save(r)
}

// newRecord returns the record of a write that begins now. It writes nothing.
func (w *Writer) newRecord(op operation, name string, from, to digest) *record {
	id := strings.ToLower(rand.Text()[:16])
	at := w.now()
	return &record{
		ID: id, Vault: w.vault.dir, Op: op, Path: name, Old: from, New: to, Begun: at, Aside: w.fallback,
		Temp:   path.Join(path.Dir(name), tempPrefix+id),
		Backup: at.UTC().Format(backupTime) + "-" + id + "-" + shortened(path.Base(name)),
	}
}

// shortened cuts the start of a name, so that the name of a backup fits a file system.
func shortened(base string) string {
	const most = 150
	for len(base) > most {
		_, size := utf8.DecodeRuneInString(base)
		base = base[size:]
	}
	return base
}

func (j *journal) save(r *record) error {
	if err := j.saveUnlisted(r); err != nil {
		return err
	}
	return j.state.SyncDir(j.records)
}

// saveUnlisted is save without the sync of the folder of records. It may be called from several goroutines.
func (j *journal) saveUnlisted(r *record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("cannot record the write of %q: %w", r.Path, err)
	}
	return durable.ReplaceUnlisted(j.state, j.recordName(r), data)
}

func (j *journal) recordName(r *record) string { return filepath.Join(j.records, r.ID+".json") }
func (j *journal) backupName(r *record) string { return filepath.Join(j.backups, r.Backup) }

// saveAll saves the records of writes that begin together as one file.
func (j *journal) saveAll(all []*record) error {
	b := &recordBatch{file: filepath.Join(j.records, all[0].ID+batchSuffix), left: len(all)}
	for _, r := range all {
		r.batch = b
	}
	data, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("cannot record the write of %q and others: %w", all[0].Path, err)
	}
	return durable.ReplaceFile(j.state, b.file, data)
}

// forget removes a record. A crash may restore it; the write is over then, too.
func (j *journal) forget(r *record) error {
	err := j.remove(j.recordName(r))
	if b := r.batch; b != nil && err == nil {
		if b.left == 1 {
			err = j.remove(b.file)
		}
		if err == nil {
			b.left, r.batch = b.left-1, nil
		}
	}
	if err != nil {
		return fmt.Errorf("cannot finish the write of %q: %w", r.Path, err)
	}
	return nil
}

func (j *journal) remove(name string) error {
	if err := j.state.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// load reads the records that the last run left, and returns those that keep accepts.
func (j *journal) load(keep func(*record) bool) ([]*record, error) {
	entries, err := j.state.ReadDir(j.records)
	if err != nil {
		return nil, err
	}
	var all []*record
	at := make(map[string]int)
	for _, e := range entries {
		if path.Ext(e.Name()) != ".json" {
			continue
		}
		some, err := j.readRecords(e.Name())
		if err != nil {
			return nil, err
		}
		for _, r := range some {
			i, twice := at[r.ID]
			switch {
			case !twice:
				at[r.ID] = len(all)
				all = append(all, r)
			case r.batch == nil: // saved again
				r.batch, all[i] = all[i].batch, r
			default:
				all[i].batch = r.batch
			}
		}
	}
	return slices.DeleteFunc(all, func(r *record) bool { return !keep(r) }), nil
}

// readRecords reads a file of one record, or of those that were begun together.
func (j *journal) readRecords(base string) ([]*record, error) {
	name := filepath.Join(j.records, base)
	data, err := durable.ReadAll(j.state, name)
	if err != nil {
		return nil, err
	}
	var all []*record
	id, batch := strings.CutSuffix(base, batchSuffix)
	if batch {
		err = json.Unmarshal(data, &all)
	} else {
		all, id = []*record{{}}, strings.TrimSuffix(base, ".json")
		err = json.Unmarshal(data, all[0])
	}
	if err != nil || len(all) == 0 || slices.Contains(all, nil) || all[0].ID != id {
		return nil, fmt.Errorf("cannot read the record %s of an unfinished note write; move the "+
			"record to another folder and look for %s files in the vault: %w", name, tempPrefix, err)
	}
	b := &recordBatch{file: name, left: len(all)}
	for _, r := range all {
		if r.crashed = true; batch {
			r.batch = b
		}
	}
	return all, nil
}

// makeFolders makes the folders of records and backups, and removes what a crash left of a
// record's temporary file.
func (j *journal) makeFolders() error {
	for _, dir := range []string{j.records, j.backups} {
		if err := durable.MkdirAll(j.state, dir); err != nil {
			return err
		}
	}
	return durable.SweepTemps(j.state, j.records)
}

// allBackups returns the paths of the backups, which it recognizes by their names.
func (j *journal) allBackups() ([]string, error) {
	entries, err := j.state.ReadDir(j.backups)
	if err != nil {
		return nil, fmt.Errorf("cannot read the backups of notes: %w", err)
	}
	all := []string{}
	for _, e := range entries {
		stamp, _, _ := strings.Cut(e.Name(), "-")
		if _, err := time.Parse(backupTime, stamp); err == nil && e.Type().IsRegular() {
			all = append(all, filepath.Join(j.backups, e.Name()))
		}
	}
	return all, nil
}

// look returns the digest of a file as it is now.
func look(fsys durable.FS, name string) (digest, error) {
	data, err := durable.ReadAtMost(fsys, name, maxWritten)
	switch {
	case err == nil:
		return digestOf(data), nil
	case errors.Is(err, durable.ErrTooLarge):
		return odd, nil // emberd writes none of this size
	case errors.Is(err, fs.ErrNotExist):
		return absent, nil
	}
	if info, statErr := fsys.Lstat(name); statErr == nil && !info.Mode().IsRegular() {
		return odd, nil
	}
	return odd, err
}
