package device

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"emberd/internal/durable"
	"emberd/stm/record"
	"emberd/stm/table"
)

// TextKeys are the keys of the devices.
type TextKeys struct {
	*Home

	making sync.Mutex // held while the own one is made, and guards sure
	sure   bool       // the own one is on the disk, and will be after a power cut

	told atomic.Bool // that the own one is damaged

	mu sync.RWMutex // guards by
	by map[record.Device][]byte
}

// PrintsOf returns the fingerprints of a text under the keys of all devices, none
// when nothing was ever forgotten with one.
func (s *TextKeys) PrintsOf(text string) (prints []record.Fingerprint) {
	plain := table.NormalizeText(text)
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, secret := range s.by {
		prints = append(prints, *FingerprintOf(secret, plain))
	}
	return prints
}

func FingerprintOf(secret []byte, plain table.NormalizedText) *record.Fingerprint {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(plain))
	return (*record.Fingerprint)(mac.Sum(nil))
}

// PrintOf is the fingerprint of a text under the own key, which is made when it is
// needed first. Without a key the text is forgotten anyway, and can be saved
// again.
func (s *TextKeys) PrintOf(text string) *record.Fingerprint {
	if text == "" {
		return nil
	}
	secret, err := s.ownKey()
	if err != nil {
		s.Logger.Warn("deleted a text without a fingerprint, so clients can save the text again", "error", err)
		return nil
	}
	return FingerprintOf(secret, table.NormalizeText(text))
}

// ownKey returns the key of this device, which is on the disk before any line needs
// it.
func (s *TextKeys) ownKey() ([]byte, error) {
	s.making.Lock()
	defer s.making.Unlock()
	if !s.sure {
		if err := s.keepKey(); err != nil {
			return nil, fmt.Errorf("cannot read or create the key of this device: %w", err)
		}
		s.sure = true
	}
	return s.Get(s.Device), nil
}

// keepKey makes the own key, or makes sure of the one that is there: a killed process
// may have synced the file and not its name. One that cannot be read stays, since earlier
// lines need it, and only what is no key at all is replaced.
func (s *TextKeys) keepKey() error {
	if err := durable.MkdirAll(s.FS, s.PeersDir()); err != nil {
		return err
	}
	secret, err := s.secretOf(s.Device)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNoKey):
		return s.makeKey()
	case err != nil:
		return err
	}
	if err := s.FS.SyncDir(s.PeersDir()); err != nil {
		return err
	}
	s.set(s.Device, secret)
	return nil
}

// makeKey writes a new key, or the one that was there when the store was opened.
func (s *TextKeys) makeKey() error {
	secret := s.Get(s.Device)
	if secret == nil {
		secret = make([]byte, sha256.Size)
		if _, err := rand.Read(secret); err != nil {
			return err
		}
	}
	if err := durable.ReplaceFile(s.FS, s.KeyPath(s.Device), secret); err != nil {
		return err
	}
	s.set(s.Device, secret)
	return nil
}

const KeySuffix = ".key"

func (s *TextKeys) KeyPath(dev record.Device) string {
	return filepath.Join(s.PeersDir(), dev.String()+KeySuffix)
}

func (s *TextKeys) Get(dev record.Device) []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.by[dev]
}

func (s *TextKeys) set(dev record.Device, secret []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[record.Device][]byte{}
	}
	s.by[dev] = secret
}

// readKey reads the key of a device. What is no key, or not whole yet, is passed
// over: what that device wrote cannot be checked then.
func (s *TextKeys) readKey(e fs.DirEntry) {
	name, ok := strings.CutSuffix(e.Name(), KeySuffix)
	dev, valid := record.ParseDevice(name)
	if !ok || !valid || !e.Type().IsRegular() {
		return
	}
	secret, err := s.secretOf(dev)
	if errors.Is(err, errNoKey) && dev == s.Device {
		s.damaged()
	}
	if err != nil {
		s.Logger.Debug("skipped the key of a device", "file", e.Name(), "error", err)
		return
	}
	s.set(dev, secret)
}

// damaged keeps a copy of the own key, which is replaced when one is needed.
func (s *TextKeys) damaged() {
	if s.told.Swap(true) {
		return
	}
	s.Logger.Warn("the key of this device is damaged, so clients can save deleted texts again", "file",
		s.KeyPath(s.Device))
	if err := KeepDamaged(s.FS, s.State, s.KeyPath(s.Device)); err != nil {
		s.Logger.Warn("damaged key not copied", "error", err)
	}
}

var errNoKey = errors.New("the key has the wrong length")

// secretOf reads a key file.
func (s *TextKeys) secretOf(dev record.Device) ([]byte, error) {
	secret, err := durable.ReadAtMost(s.FS, s.KeyPath(dev), sha256.Size)
	if errors.Is(err, durable.ErrTooLarge) || err == nil && len(secret) != sha256.Size {
		err = errNoKey
	}
	return secret, err
}
