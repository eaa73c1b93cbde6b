package device

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"emberd/internal/durable"
	"emberd/internal/text"
	"emberd/stm/record"
)

const (
	// announceEvery is how often a device reports to the others how far it is.
	announceEvery = 10 * time.Minute
	// keeperLife is after how long without a sign of life another device becomes
	// the keeper.
	keeperLife = 14 * 24 * time.Hour
	// maxPeerFile bounds a devices file; a real one has some hundred bytes.
	maxPeerFile = 1 << 20
)

// Watermark is what a device last said about itself, and how far it is.
type Watermark struct {
	Device record.Device
	Name   string    // of the host
	At     time.Time // latest sign of life: of its devices file, or of an operation; never later than now
	Last   uint64    // its own last sequence number, as far as known
	// Seen is how far the device has everything of the others, by device: up to
	// that sequence number without a gap. For this device it is what is in the table.
	Seen map[record.Device]uint64
}

// Peer is a devices file. Each device writes its own, and reads the others'.
type Peer struct {
	Device string            `json:"device"`
	Name   string            `json:"name"`
	Format int               `json:"format"`
	At     time.Time         `json:"at"`
	Last   uint64            `json:"last"`
	Seen   map[string]uint64 `json:"seen"`
	Keeper string            `json:"keeper,omitempty"` // stamp of the claim to be the keeper
	Former []string          `json:"former,omitempty"` // names of the device before backups were restored
	// TakenOver are devices that this one took the place of, and since when: each is gone until it is heard of again.
	TakenOver map[string]time.Time `json:"taken_over,omitempty"`
}

// Peers are the devices files, the own one included.
type Peers struct {
	*Home
	Keys *TextKeys
	Last *atomic.Uint64                  // last own sequence number
	Seen func() map[record.Device]uint64 // how far each device was read without a gap

	announcing sync.Mutex // held by Announce

	mu     sync.Mutex // guards what follows
	by     map[record.Device]Peer
	newest map[record.Device]uint64 // clock of the latest operation
	wrote  time.Time                // when the own one was written by this run
}

func (s *Peers) Get(dev record.Device) Peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by[dev]
}

func (s *Peers) set(dev record.Device, said Peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[record.Device]Peer{}
	}
	s.by[dev] = said
}

// Heard takes note of an operation, which is a sign of life.
func (s *Peers) Heard(stamp record.Stamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest == nil {
		s.newest = map[record.Device]uint64{}
	}
	s.newest[stamp.Dev] = max(s.newest[stamp.Dev], stamp.T)
}

func (s *Home) PeersDir() string { return filepath.Join(s.Data, "devices") }

// ReadPeers reads every devices file. One that cannot be read, or is cut off,
// leaves what the last one said.
func (s *Peers) ReadPeers() {
	entries, err := s.FS.ReadDir(s.PeersDir())
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.Logger.Warn("devices folder not read", "error", err)
		}
		return
	}
	for _, e := range entries {
		s.Keys.readKey(e)
		name, ok := strings.CutSuffix(e.Name(), ".json")
		dev, valid := record.ParseDevice(name)
		if !ok || !valid || !e.Type().IsRegular() {
			continue
		}
		p, err := s.readPeer(filepath.Join(s.PeersDir(), e.Name()))
		if err != nil || p.Device != dev.String() {
			s.Logger.Debug("skipped a file in the devices folder", "file", e.Name(), "error", err)
			continue
		}
		s.set(dev, p)
	}
}

func (s *Peers) readPeer(name string) (p Peer, err error) {
	b, err := durable.ReadAtMost(s.FS, name, maxPeerFile)
	if err != nil {
		return p, err
	}
	err = json.Unmarshal(b, &p)
	p.Name = shown(p.Name)
	return p, err
}

// shown keeps a foreign name short, on one line and free of what steers a terminal.
func shown(name string) string { return text.FirstBytes(text.OneLine(name), 64) }

// Announce reports to the other devices, in this device's file of data/devices, how
// far it is: at most every ten minutes unless now is set, and only if there is
// something new. It returns when it may be called again to some effect, the zero
// time if there is nothing to tell.
func (s *Peers) Announce(now bool) (next time.Time, err error) {
	s.announcing.Lock()
	defer s.announcing.Unlock()
	p, news := s.announcement()
	s.mu.Lock()
	wrote := s.wrote
	s.mu.Unlock()
	switch {
	case !news:
		return time.Time{}, nil
	case !now && !wrote.IsZero() && s.Now().Sub(wrote) < announceEvery:
		return wrote.Add(announceEvery), nil
	}
	return time.Time{}, s.writePeer(p)
}

// announcement is the own devices file as it should be, and whether that says
// anything new. A sign of life is news once a day.
func (s *Peers) announcement() (p Peer, news bool) {
	p = Peer{Device: s.Device.String(), Name: s.Host, Format: record.FormatVersion,
		At:   s.Now().UTC().Truncate(time.Second),
		Last: s.Last.Load(), Seen: map[string]uint64{}}
	for dev, n := range s.Seen() {
		if dev != s.Device {
			p.Seen[dev.String()] = n
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.by[s.Device]
	p.Keeper, p.Former, p.TakenOver = old.Keeper, s.Former, s.TakenOver
	news = old.Name != p.Name || !slices.Equal(old.Former, p.Former) || old.Last != p.Last ||
		!maps.Equal(old.Seen, p.Seen) || !maps.EqualFunc(old.TakenOver, p.TakenOver, time.Time.Equal) ||
		p.At.Sub(old.At).Abs() > 24*time.Hour || s.takenForGone(old.At, p.At)
	return p, news
}

// takenForGone reports whether another device says since the sign of life at old that it took the place of this one,
// which a sign of life at now refutes. The lock is held.
func (s *Peers) takenForGone(old, now time.Time) bool {
	for _, p := range s.by {
		if at := p.TakenOver[s.Device.String()]; !at.Before(old) && !at.IsZero() && at.Before(now) {
			return true
		}
	}
	return false
}

func (s *Peers) writePeer(p Peer) error {
	if err := durable.MkdirAll(s.FS, s.PeersDir()); err != nil {
		return fmt.Errorf("cannot write the file of this device in the devices folder: %w", err)
	}
	name := filepath.Join(s.PeersDir(), s.Device.String()+".json")
	if err := durable.ReplaceFile(s.FS, name, append(record.Encode(p), '\n')); err != nil {
		return fmt.Errorf("cannot write the file of this device in the devices folder: %w", err)
	}
	s.set(s.Device, p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrote = s.Now()
	return nil
}

// Watermarks describes every device known, this one included, sorted by id, but for those whose
// device goes on under another name since a backup was restored: nothing is to be expected of them.
// A device counts as alive by its devices file or by the stamps of its operations, whichever is
// later: the clock behind those is never behind what it has read, however wrong the device's own
// may be.
func (s *Peers) Watermarks() []Watermark {
	seen, now := s.Seen(), s.Now().UTC()
	s.mu.Lock()
	defer s.mu.Unlock()
	known := map[record.Device]bool{s.Device: true}
	for dev := range seen {
		known[dev] = true
	}
	for dev := range s.by {
		known[dev] = true
	}
	s.retire(known)
	var out []Watermark
	for dev := range known {
		p := s.by[dev]
		m := Watermark{Device: dev, Name: p.Name, At: s.heardOf(dev), Last: max(p.Last, seen[dev]),
			Seen: map[record.Device]uint64{}}
		if dev == s.Device {
			m.Name, m.At, m.Last, m.Seen = s.Host, now, s.Last.Load(), seen
		}
		for name, n := range p.Seen {
			if other, ok := record.ParseDevice(name); ok && dev != s.Device {
				m.Seen[other] = n
			}
		}
		if m.At.After(now) {
			m.At = now
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Watermark) int { return strings.Compare(a.Device.String(), b.Device.String()) })
	return out
}

// retire takes out former names of any device, and those that another one took the place of and that were not heard
// of since. The lock is held.
func (s *Peers) retire(known map[record.Device]bool) {
	gone := func(name string) {
		if dev, ok := record.ParseDevice(name); ok && dev != s.Device {
			delete(known, dev)
		}
	}
	all := []Peer{{Former: s.Former, TakenOver: s.TakenOver}}
	all = slices.AppendSeq(all, maps.Values(s.by))
	for _, p := range all {
		for _, name := range p.Former {
			gone(name)
		}
		for name, at := range p.TakenOver {
			if dev, ok := record.ParseDevice(name); ok && !s.heardOf(dev).After(at) {
				gone(name)
			}
		}
	}
}

// heardOf is the latest sign of life of another device. The lock is held.
func (s *Peers) heardOf(dev record.Device) time.Time {
	at := s.by[dev].At
	if t := (record.Stamp{T: s.newest[dev]}).Time(); t.After(at) {
		return t
	}
	return at
}

// MayRewrite reports whether this device may replace the files of a device: its own, and those under a former name
// that nobody else can write under and that was not heard of since.
func (s *Peers) MayRewrite(dev record.Device) bool {
	if dev == s.Device {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.Sole, dev.String()) && !s.heardOf(dev).After(s.TakenOver[dev.String()])
}

// Primary is the device that does what only one of them may do: write notes in
// the background.
type Primary struct {
	Device  record.Device
	Name    string
	Claimed time.Time // when it was chosen by Claim; zero if it has the lowest id
}

// Primary names the keeper: of the devices seen within 14 days the one that
// claimed it last, else the one with the lowest id. Every device computes the
// same from the same files.
func (s *Peers) Primary() Primary {
	marks := s.Watermarks()
	var best Primary
	var latest record.Stamp
	for _, m := range marks {
		if s.Now().Sub(m.At) > keeperLife {
			continue
		}
		if best.Device == (record.Device{}) {
			best = Primary{Device: m.Device, Name: m.Name}
		}
		if claim, ok := s.claim(m.Device); ok && claim.After(latest) {
			latest, best = claim, Primary{Device: m.Device, Name: m.Name, Claimed: claim.Time()}
		}
	}
	return best
}

// claim returns the stamp of a device's claim. One from a clock that is far
// ahead does not count until its time has come.
func (s *Peers) claim(dev record.Device) (record.Stamp, bool) {
	at, err := record.ParseStamp(s.Get(dev).Keeper)
	return at, err == nil && at.Time().Sub(s.Now()) <= record.MaxSkew
}

// ClaimPrimary makes this device the keeper, for all devices once the sync tool has
// carried its file to them.
func (s *Peers) ClaimPrimary() error {
	s.announcing.Lock()
	defer s.announcing.Unlock()
	clock := record.Clock{Dev: s.Device, Now: s.Now}
	for _, m := range s.Watermarks() {
		if at, ok := s.claim(m.Device); ok {
			clock.Observe(at)
		}
	}
	p, _ := s.announcement()
	p.Keeper = clock.Next().String()
	return s.writePeer(p)
}

// PeerStatus is a device as status shows it.
type PeerStatus struct {
	Device  string
	Name    string
	Self    bool
	Keeper  bool
	At      time.Time // latest sign of life; zero if there was none
	Missing uint64    // of its operations, how many have not arrived here
	Behind  uint64    // of this device's operations, how many it had not told to have at At
}

func (s *Peers) PeerStatus() []PeerStatus {
	marks, keeper, last := s.Watermarks(), s.Primary().Device, s.Last.Load()
	var out []PeerStatus
	var mine Watermark
	for _, m := range marks {
		if m.Device == s.Device {
			mine = m
		}
	}
	for _, m := range marks {
		p := PeerStatus{Device: m.Device.String(), Name: m.Name, Self: m.Device == s.Device,
			Keeper: m.Device == keeper, At: m.At}
		if !p.Self {
			p.Missing, p.Behind = m.Last-mine.Seen[m.Device], last-min(last, m.Seen[s.Device])
		}
		out = append(out, p)
	}
	return out
}

// HostName is how a device is called, by people.
func HostName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return shown(name)
}
