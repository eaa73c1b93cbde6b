package stm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/internal/durable"
)

const (
	// announceEvery is how often a device tells the others how far it is.
	announceEvery = 10 * time.Minute
	// keeperLife is after how long without a sign of life another device becomes
	// the keeper.
	keeperLife = 14 * 24 * time.Hour
	// maxPeerFile bounds a devices file; a real one has some hundred bytes.
	maxPeerFile = 1 << 20
)

// Watermark is what a device last said about itself, and how far it is.
type Watermark struct {
	Device Device
	Name   string    // of the host
	At     time.Time // latest sign of life: of its devices file, or of an operation; never later than now
	Last   uint64    // its own last sequence number, as far as known
	// Seen is how far the device has everything of the others, by device: up to
	// that sequence number without a gap. For this device it is what is in the table.
	Seen map[Device]uint64
}

// peer is a devices file. Each device writes its own, and reads the others'.
type peer struct {
	Device string            `json:"device"`
	Name   string            `json:"name"`
	Format int               `json:"format"`
	At     time.Time         `json:"at"`
	Last   uint64            `json:"last"`
	Seen   map[string]uint64 `json:"seen"`
	Keeper string            `json:"keeper,omitempty"` // stamp of the claim to be the keeper
}

// peers are the devices files, the own one included.
type peers struct {
	announcing sync.Mutex // held by Announce

	mu     sync.Mutex // guards what follows
	by     map[Device]peer
	newest map[Device]uint64 // clock of the latest operation
	wrote  time.Time         // when the own one was written by this run
}

func (p *peers) get(dev Device) peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.by[dev]
}

func (p *peers) set(dev Device, said peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[Device]peer{}
	}
	p.by[dev] = said
}

// heard takes note of an operation, which is a sign of life.
func (p *peers) heard(s Stamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.newest == nil {
		p.newest = map[Device]uint64{}
	}
	p.newest[s.Dev] = max(p.newest[s.Dev], s.T)
}

func (s *Store) peersDir() string { return filepath.Join(s.data, "devices") }

// readPeers reads every devices file. One that cannot be read, or is cut off,
// leaves what the last one said.
func (s *Store) readPeers() {
	entries, err := s.fs.ReadDir(s.peersDir())
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.log.Warn("devices files not read", "error", err)
		}
		return
	}
	for _, e := range entries {
		s.readKey(e)
		name, ok := strings.CutSuffix(e.Name(), ".json")
		dev, valid := parseDevice(name)
		if !ok || !valid || !e.Type().IsRegular() {
			continue
		}
		p, err := s.readPeer(filepath.Join(s.peersDir(), e.Name()))
		if err != nil || p.Device != dev.String() {
			s.log.Debug("devices file passed over", "file", e.Name(), "error", err)
			continue
		}
		s.peers.set(dev, p)
	}
}

func (s *Store) readPeer(name string) (p peer, err error) {
	f, err := s.fs.OpenRead(name)
	if err != nil {
		return p, err
	}
	defer f.Close()
	err = json.NewDecoder(io.LimitReader(f, maxPeerFile)).Decode(&p)
	p.Name = printable(p.Name)
	return p, err
}

// printable keeps a foreign name from playing tricks on a terminal.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	return s[:min(len(s), 64)]
}

// Announce tells the other devices, in this device's file of data/devices, how
// far it is: at most every ten minutes unless now is set, and only if there is
// something new. It returns when it may be called again to some effect, the zero
// time if there is nothing to tell.
func (s *Store) Announce(now bool) (next time.Time, err error) {
	s.peers.announcing.Lock()
	defer s.peers.announcing.Unlock()
	p, news := s.announcement()
	s.peers.mu.Lock()
	wrote := s.peers.wrote
	s.peers.mu.Unlock()
	switch {
	case !news:
		return time.Time{}, nil
	case !now && !wrote.IsZero() && s.now().Sub(wrote) < announceEvery:
		return wrote.Add(announceEvery), nil
	}
	return time.Time{}, s.writePeer(p)
}

// announcement is the own devices file as it should be, and whether that says
// anything new. A sign of life is news once a day.
func (s *Store) announcement() (p peer, news bool) {
	p = peer{Device: s.device.String(), Name: s.host, Format: formatVersion, At: s.now().UTC().Truncate(time.Second),
		Last: s.lastSeq.Load(), Seen: map[string]uint64{}}
	for dev, n := range s.snapshot.seen.contiguous() {
		if dev != s.device {
			p.Seen[dev.String()] = n
		}
	}
	s.peers.mu.Lock()
	defer s.peers.mu.Unlock()
	old := s.peers.by[s.device]
	p.Keeper = old.Keeper
	news = old.Name != p.Name || old.Last != p.Last || !maps.Equal(old.Seen, p.Seen) || p.At.Sub(old.At).Abs() > 24*time.Hour
	return p, news
}

func (s *Store) writePeer(p peer) error {
	if err := durable.MkdirAll(s.fs, s.peersDir()); err != nil {
		return fmt.Errorf("announce this device: %w", err)
	}
	name := filepath.Join(s.peersDir(), s.device.String()+".json")
	if err := durable.ReplaceFile(s.fs, name, append(encode(p), '\n')); err != nil {
		return fmt.Errorf("announce this device: %w", err)
	}
	s.peers.set(s.device, p)
	s.peers.mu.Lock()
	defer s.peers.mu.Unlock()
	s.peers.wrote = s.now()
	return nil
}

// Watermarks tells of every device known, this one included, sorted by id. A
// device counts as alive by its devices file or by the stamps of its operations,
// whichever is later: the clock behind those is never behind what it has read,
// however wrong the device's own may be.
func (s *Store) Watermarks() []Watermark {
	seen, now := s.snapshot.seen.contiguous(), s.now().UTC()
	s.peers.mu.Lock()
	defer s.peers.mu.Unlock()
	known := map[Device]bool{s.device: true}
	for dev := range seen {
		known[dev] = true
	}
	for dev := range s.peers.by {
		known[dev] = true
	}
	var out []Watermark
	for dev := range known {
		p := s.peers.by[dev]
		m := Watermark{Device: dev, Name: p.Name, At: p.At, Last: max(p.Last, seen[dev]), Seen: map[Device]uint64{}}
		if t := (Stamp{T: s.peers.newest[dev]}).Time(); t.After(m.At) {
			m.At = t
		}
		if dev == s.device {
			m.Name, m.At, m.Last, m.Seen = s.host, now, s.lastSeq.Load(), seen
		}
		for name, n := range p.Seen {
			if other, ok := parseDevice(name); ok && dev != s.device {
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

// Keeper is the device that does what only one of them may do: write notes in
// the background.
type Keeper struct {
	Device  Device
	Name    string
	Claimed time.Time // when it was chosen by Claim; zero if it has the lowest id
}

// Keeper names the keeper: of the devices seen within 14 days the one that
// claimed it last, else the one with the lowest id. Every device computes the
// same from the same files.
func (s *Store) Keeper() Keeper {
	marks := s.Watermarks()
	var best Keeper
	var latest Stamp
	for _, m := range marks {
		if s.now().Sub(m.At) > keeperLife {
			continue
		}
		if best.Device == (Device{}) {
			best = Keeper{Device: m.Device, Name: m.Name}
		}
		if claim, ok := s.claim(m.Device); ok && claim.after(latest) {
			latest, best = claim, Keeper{Device: m.Device, Name: m.Name, Claimed: claim.Time()}
		}
	}
	return best
}

// claim returns the stamp of a device's claim. One from a clock that is far
// ahead does not count until its time has come.
func (s *Store) claim(dev Device) (Stamp, bool) {
	at, err := ParseStamp(s.peers.get(dev).Keeper)
	return at, err == nil && at.Time().Sub(s.now()) <= maxSkew
}

// Claim makes this device the keeper, for all devices once the sync tool has
// carried its file to them.
func (s *Store) Claim() error {
	s.peers.announcing.Lock()
	defer s.peers.announcing.Unlock()
	clock := hlc{dev: s.device, now: s.now}
	for _, m := range s.Watermarks() {
		if at, ok := s.claim(m.Device); ok {
			clock.observe(at)
		}
	}
	p, _ := s.announcement()
	p.Keeper = clock.next().String()
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

func (s *Store) peerStatus() []PeerStatus {
	marks, keeper, last := s.Watermarks(), s.Keeper().Device, s.lastSeq.Load()
	var out []PeerStatus
	var mine Watermark
	for _, m := range marks {
		if m.Device == s.device {
			mine = m
		}
	}
	for _, m := range marks {
		p := PeerStatus{Device: m.Device.String(), Name: m.Name, Self: m.Device == s.device, Keeper: m.Device == keeper, At: m.At}
		if !p.Self {
			p.Missing, p.Behind = m.Last-mine.Seen[m.Device], last-min(last, m.Seen[s.device])
		}
		out = append(out, p)
	}
	return out
}

// hostName is how a device is called, by people.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return printable(name)
}
