package record

import "emberd/internal/stamp"

// The stamps of lines, and the devices in them.
type (
	Device = stamp.Device
	Stamp  = stamp.Stamp
	Clock  = stamp.Clock
)

const (
	StampLen = stamp.Len
	MaxSkew  = stamp.MaxSkew
)

// NewDevice returns a device that there was not before.
func NewDevice() (Device, error) { return stamp.NewDevice() }

// ParseDevice reads the text form of a device.
func ParseDevice(s string) (Device, bool) { return stamp.ParseDevice(s) }

// ParseStamp reads the text form of a stamp.
func ParseStamp(s string) (Stamp, error) { return stamp.Parse(s) }
