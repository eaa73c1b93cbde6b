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
	"strings"
	"time"
	"unicode/utf8"

	"emberd/internal/durable"
)

// digest is the SHA-256 of a file in hex. absent is that of no file, and odd that of
// something that is no file or cannot be read.
type digest string

const (
	absent digest = ""
	odd    digest = "?"
)

func digestOf(data []byte) digest {
	sum := sha256.Sum256(data)
	return digest(hex.EncodeToString(sum[:]))
}

// operation is what a record is of.
type operation string

const (
	opUpdate  operation = "update"
	opRestore operation = "restore" // a late text goes back to its note
	opRemove  operation = "remove"
	opCreate  operation = "create"
	opMove    operation = "move"
)

// record is one write that is not over. It is on the disk before the first file
// appears in the vault, and goes when the last check for late savers is done. What
// a crash left is told from it and the digests of the files it names.
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

func (r *record) aside() string { return r.Temp + asideSuffix }
func (r *record) dir() string   { return path.Dir(r.Path) }

// begin makes the record of a write, for good.
func (w *Writer) begin(op operation, name string, from, to digest) (*record, error) {
	r := w.newRecord(op, name, from, to)
	return r, w.save(r)
}

func (w *Writer) newRecord(op operation, name string, from, to digest) *record {
	id := strings.ToLower(rand.Text()[:16])
	at := w.now()
	return &record{
		ID: id, Vault: w.vault.dir, Op: op, Path: name, Old: from, New: to, Begun: at, Aside: w.fallback,
		Temp:   path.Join(path.Dir(name), tempPrefix+id),
		Backup: at.UTC().Format(backupTime) + "-" + id + "-" + shortened(path.Base(name)),
	}
}

// shortened leaves room for what a backup's name has in front.
func shortened(base string) string {
	const most = 150
	for len(base) > most {
		_, size := utf8.DecodeRuneInString(base)
		base = base[size:]
	}
	return base
}

func (w *Writer) save(r *record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("record the write of %q: %w", r.Path, err)
	}
	return durable.ReplaceFile(w.state, w.recordName(r), data)
}

func (w *Writer) recordName(r *record) string { return filepath.Join(w.records, r.ID+".json") }
func (w *Writer) backupName(r *record) string { return filepath.Join(w.backups, r.Backup) }

// forget ends a record. A crash may bring it back; it is over then, too.
func (w *Writer) forget(r *record) error {
	if err := w.state.Remove(w.recordName(r)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end the write of %q: %w", r.Path, err)
	}
	return nil
}

// load reads the records that the last run left.
func (w *Writer) load() ([]*record, error) {
	entries, err := w.state.ReadDir(w.records)
	if err != nil {
		return nil, err
	}
	var all []*record
	for _, e := range entries {
		if path.Ext(e.Name()) != ".json" {
			continue
		}
		data, err := durable.ReadAll(w.state, filepath.Join(w.records, e.Name()))
		if err != nil {
			return nil, err
		}
		r := &record{crashed: true}
		if err := json.Unmarshal(data, r); err != nil || r.ID+".json" != e.Name() {
			return nil, fmt.Errorf("the record %s of a write to a note cannot be read; move it away and look for %s files in the vault: %w",
				filepath.Join(w.records, e.Name()), tempPrefix, err)
		}
		if r.Vault == "" || r.Vault == w.vault.dir || w.exists(r.Temp) || w.exists(r.aside()) {
			all = append(all, r) // a vault can have been moved; what is of another one waits for that
		}
	}
	return all, nil
}

// look returns the digest of a file as it is now.
func look(fsys durable.FS, name string) (digest, error) {
	data, err := durable.ReadAll(fsys, name)
	switch {
	case err == nil:
		return digestOf(data), nil
	case errors.Is(err, fs.ErrNotExist):
		return absent, nil
	}
	if info, statErr := fsys.Lstat(name); statErr == nil && !info.Mode().IsRegular() {
		return odd, nil
	}
	return odd, err
}
