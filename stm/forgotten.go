package stm

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
)

// fingerprint is the fingerprint of a text that somebody had forgotten: its HMAC-SHA-256
// under the key of the device that wrote so.
type fingerprint [sha256.Size]byte

func (p *fingerprint) String() string { return base64.RawURLEncoding.EncodeToString(p[:]) }

func parsePrint(value []byte) (*fingerprint, error) {
	text, err := textValue(value)
	if err != nil {
		return nil, err
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != sha256.Size {
		return nil, fmt.Errorf("%.50q is not a fingerprint", text)
	}
	return (*fingerprint)(b), nil
}

// forgot is what a memory's deletes say about its text. The fingerprint of the
// latest that has one counts until a later line lifts it.
type forgot struct {
	print  fingerprint
	at     Stamp
	lifted Stamp
}

// counts reports whether the text is not to be saved again unasked.
func (f *forgot) counts() bool { return f != nil && f.at.after(f.lifted) }

// printed returns f after a delete with a fingerprint, f itself if it is not news.
func (f *forgot) printed(p *fingerprint, at Stamp) *forgot {
	if p == nil || f != nil && !at.after(f.at) {
		return f
	}
	next := forgot{print: *p, at: at}
	if f != nil {
		next.lifted = f.lifted
	}
	return &next
}

// liftedAt returns f after a line that lifts it, f itself if it is not news.
func (f *forgot) liftedAt(at Stamp) *forgot {
	if f != nil && !at.after(f.lifted) {
		return f
	}
	next := forgot{}
	if f != nil {
		next = *f
	}
	next.lifted = at
	return &next
}

// textKeys are the keys of the devices.
type textKeys struct {
	making sync.Mutex // held while the own one is made, and guards sure
	sure   bool       // the own one is on the disk, and will be after a power cut

	mu sync.RWMutex // guards by
	by map[Device][]byte
}

func (t *table) notePrint(p fingerprint, key [16]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.prints[p], key) {
		t.prints[p] = append(t.prints[p], key)
	}
}

// printed returns the rows of the memories whose deletes had a fingerprint once.
func (t *table) printed(p fingerprint) (rows []*Row) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, key := range t.prints[p] {
		if c := t.cells[key]; c != nil {
			rows = append(rows, c.row.Load())
		}
	}
	return rows
}

// printsOf returns the fingerprints of a text under the keys of all devices, none
// when nothing was ever forgotten with one.
func (s *Store) printsOf(text string) (prints []fingerprint) {
	s.table.mu.RLock()
	none := len(s.table.prints) == 0
	s.table.mu.RUnlock()
	if none {
		return nil
	}
	plain := WordingOf(text)
	s.textKeys.mu.RLock()
	defer s.textKeys.mu.RUnlock()
	for _, secret := range s.textKeys.by {
		prints = append(prints, *fingerprintOf(secret, plain))
	}
	return prints
}

func fingerprintOf(secret []byte, plain Wording) *fingerprint {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(plain))
	return (*fingerprint)(mac.Sum(nil))
}

// ForgottenText is a memory that was forgotten with a certain text.
type ForgottenText struct {
	ID memory.ID
	At time.Time // when
}

// ForgottenAs lists the memories that somebody had forgotten, purged ones too, whose
// text was this one but for case, white space and how its characters are composed:
// latest first. Memories that were brought back are not among them, nor are those
// whose text was saved again on purpose, see [Tx].Again. It takes one HMAC for each
// device that ever wrote such a line, and no look at the disk; a fingerprint takes
// some 115 bytes of memory.
func (s *Store) ForgottenAs(text string) (found []ForgottenText) {
	for _, p := range s.printsOf(text) {
		for _, row := range s.table.printed(p) {
			if f := row.rest().forgot; !row.live() && f.counts() && f.print == p {
				found = append(found, ForgottenText{ID: row.ID(), At: f.at.Time()})
			}
		}
	}
	slices.SortFunc(found, func(a, b ForgottenText) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID))
	})
	return s.visible(found)
}

// printOf is the fingerprint of a text under the own key, which is made when it is
// needed first. Without a key the text is forgotten all the same, and can be saved
// again.
func (s *Store) printOf(text string) *fingerprint {
	if text == "" {
		return nil
	}
	secret, err := s.ownKey()
	if err != nil {
		s.log.Warn("a text is forgotten without a fingerprint, so that nothing keeps it from being saved again", "error", err)
		return nil
	}
	return fingerprintOf(secret, WordingOf(text))
}

// ownKey returns the key of this device, which is on the disk before any line needs
// it.
func (s *Store) ownKey() ([]byte, error) {
	s.textKeys.making.Lock()
	defer s.textKeys.making.Unlock()
	if !s.textKeys.sure {
		if err := s.keepKey(); err != nil {
			return nil, fmt.Errorf("key of this device: %w", err)
		}
		s.textKeys.sure = true
	}
	return s.textKeys.get(s.device), nil
}

// keepKey makes the own key, or makes sure of the one that is there: a killed process
// may have synced the file and not its name. One that cannot be read stays, since earlier
// lines need it, and only what is no key at all is replaced.
func (s *Store) keepKey() error {
	if err := durable.MkdirAll(s.fs, s.peersDir()); err != nil {
		return err
	}
	secret, err := s.secretOf(s.device)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNoKey):
		return s.makeKey()
	case err != nil:
		return err
	}
	if err := s.fs.SyncDir(s.peersDir()); err != nil {
		return err
	}
	s.textKeys.set(s.device, secret)
	return nil
}

// makeKey writes a new key, or the one that was there when the store was opened.
func (s *Store) makeKey() error {
	secret := s.textKeys.get(s.device)
	if secret == nil {
		secret = make([]byte, sha256.Size)
		if _, err := rand.Read(secret); err != nil {
			return err
		}
	}
	if err := durable.ReplaceFile(s.fs, s.keyPath(s.device), secret); err != nil {
		return err
	}
	s.textKeys.set(s.device, secret)
	return nil
}

const keySuffix = ".key"

func (s *Store) keyPath(dev Device) string {
	return filepath.Join(s.peersDir(), dev.String()+keySuffix)
}

func (k *textKeys) get(dev Device) []byte {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.by[dev]
}

func (k *textKeys) set(dev Device, secret []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.by == nil {
		k.by = map[Device][]byte{}
	}
	k.by[dev] = secret
}

// readKey reads the key of a device. What is no key, or not whole yet, is passed
// over: what that device wrote cannot be checked then.
func (s *Store) readKey(e fs.DirEntry) {
	name, ok := strings.CutSuffix(e.Name(), keySuffix)
	dev, valid := parseDevice(name)
	if !ok || !valid || !e.Type().IsRegular() {
		return
	}
	secret, err := s.secretOf(dev)
	if err != nil {
		s.log.Debug("key of a device passed over", "file", e.Name(), "error", err)
		return
	}
	s.textKeys.set(dev, secret)
}

var errNoKey = errors.New("it has not the length of a key")

// secretOf reads a key file.
func (s *Store) secretOf(dev Device) ([]byte, error) {
	f, err := s.fs.OpenRead(s.keyPath(dev))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	secret, err := io.ReadAll(io.LimitReader(f, sha256.Size+1))
	if err == nil && len(secret) != sha256.Size {
		err = errNoKey
	}
	return secret, err
}

// lifting adds to the ids of a transaction those that it brings back although their
// text is not to be saved again unasked.
func (s *Store) lifting(tx *Tx, changes []change) []memory.ID {
	lift := slices.Clone(tx.Again)
	for _, c := range changes {
		if cell := s.table.cell(c.id.Bytes()); c.op == opPut && cell != nil && cell.row.Load().rest().forgot.counts() {
			lift = append(lift, c.id)
		}
	}
	slices.Sort(lift)
	return slices.Compact(lift)
}

// lift takes note of a line that lifts fingerprints.
func (t *table) lift(ids []memory.ID, at Stamp) {
	for _, id := range ids {
		cell := t.claim(id.Bytes())
		for {
			old := cell.row.Load()
			o := old.rest()
			o.forgot = o.forgot.liftedAt(at)
			if next := old.with(o); next == old || t.swap(cell, old, next) {
				break
			}
		}
	}
}

// purgedPrint is the fingerprint that the purge of a memory leaves: of its text or,
// if that is not known any more, the one there is. One that was lifted stays so.
func (s *Store) purgedPrint(id memory.ID) *fingerprint {
	if row := s.table.get(id); row != nil {
		return s.printOf(row.Content())
	}
	if c := s.table.cell(id.Bytes()); c != nil {
		if f := c.row.Load().rest().forgot; f != nil && !f.at.IsZero() {
			if f.counts() {
				return &f.print
			}
			return nil
		}
	}
	m, err := s.Forgotten(id)
	if err != nil {
		return nil // not in the trash any more
	}
	return s.printOf(m.Content)
}
