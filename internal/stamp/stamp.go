// Package stamp names the places of a log: which device wrote a line, and when by its clock.
package stamp

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Device names one installation's part of the log: eight characters of
// lower-case base32, random, minted once.
type Device [8]byte

func (d Device) String() string { return string(d[:]) }

const deviceAlphabet = "abcdefghijklmnopqrstuvwxyz234567"

// NewDevice returns a device that there was not before.
func NewDevice() (Device, error) {
	var raw [5]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return Device{}, fmt.Errorf("create a device ID: %w", err)
	}
	var d Device
	base32.NewEncoding(deviceAlphabet).Encode(d[:], raw[:])
	return d, nil
}

// ParseDevice reads the text form of a device.
func ParseDevice(s string) (Device, bool) {
	var d Device
	if len(s) != len(d) || strings.Trim(s, deviceAlphabet) != "" {
		return d, false
	}
	copy(d[:], s)
	return d, true
}

// Stamp is a hybrid logical clock reading (Kulkarni, Demirbas et al., 2014):
// 48 bits of Unix milliseconds over a 16-bit counter, and the device. Its text
// is fixed-width, so string order is stamp order, and stamp order is causal
// order on one device and a total order across devices.
type Stamp struct {
	T   uint64
	Dev Device
}

// Len is the length of a stamp's text: 0192f3a1b2c3-0004-k7q2mzxa.
const Len = 12 + 1 + 4 + 1 + 8

func (s Stamp) String() string { return string(s.Append(make([]byte, 0, Len))) }

// Append appends the text form.
func (s Stamp) Append(b []byte) []byte {
	b = AppendHex(b, s.T>>16, 12)
	b = append(b, '-')
	b = AppendHex(b, s.T&0xffff, 4)
	b = append(b, '-')
	return append(b, s.Dev[:]...)
}

// AppendHex appends n in so many lower-case digits.
func AppendHex(b []byte, n uint64, digits int) []byte {
	for i := digits - 1; i >= 0; i-- {
		b = append(b, "0123456789abcdef"[n>>(4*i)&15])
	}
	return b
}

// Parse reads the text form.
func Parse(s string) (Stamp, error) {
	bad := func() (Stamp, error) {
		return Stamp{}, fmt.Errorf("%q is not an ID such as 0192f3a1b2c3-0004-k7q2mzxa", s)
	}
	if len(s) != Len || s[12] != '-' || s[17] != '-' || strings.ToLower(s) != s {
		return bad()
	}
	ms, err1 := strconv.ParseUint(s[:12], 16, 64)
	n, err2 := strconv.ParseUint(s[13:17], 16, 16)
	dev, ok := ParseDevice(s[18:])
	if err1 != nil || err2 != nil || !ok {
		return bad()
	}
	return Stamp{T: ms<<16 | n, Dev: dev}, nil
}

// Time is the wall-clock part.
func (s Stamp) Time() time.Time { return time.UnixMilli(int64(s.T >> 16)).UTC() }

// IsZero reports whether s is no stamp at all.
func (s Stamp) IsZero() bool { return s == Stamp{} }

// Compare orders by time, then counter, then device.
func (s Stamp) Compare(o Stamp) int {
	switch {
	case s.T < o.T:
		return -1
	case s.T > o.T:
		return 1
	}
	return strings.Compare(string(s.Dev[:]), string(o.Dev[:]))
}

func (s Stamp) After(o Stamp) bool { return s.Compare(o) > 0 }

// MaxSkew is how far ahead of our clock a stamp from elsewhere may be before
// it is held back instead of dragging our clock along.
const MaxSkew = 24 * time.Hour

// Clock hands out stamps. Only the goroutine that owns the log may use it.
type Clock struct {
	Dev  Device
	Now  func() time.Time
	Last uint64
}

// Next returns a stamp later than every one seen. A counter that overflows
// carries into the milliseconds.
func (c *Clock) Next() Stamp {
	c.Last = max(c.Last+1, uint64(max(0, c.Now().UnixMilli()))<<16)
	return Stamp{T: c.Last, Dev: c.Dev}
}

// Observe takes note of a stamp read from the log.
func (c *Clock) Observe(s Stamp) { c.Last = max(c.Last, s.T) }

// Future reports whether s is too far ahead to be believed now.
func (c *Clock) Future(s Stamp) bool { return s.Time().Sub(c.Now()) > MaxSkew }
