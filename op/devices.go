package op

import "time"

// KeeperRequest asks for the primary device.
type KeeperRequest struct{}

// KeeperHereRequest makes this device the keeper.
type KeeperHereRequest struct{}

// KeeperResult names the device that does what only one of several may do.
type KeeperResult struct {
	Device string `json:"device"`
	Name   string `json:"name"` // of its host
	Here   bool   `json:"here"` // it is this one
	// Claimed is when it was chosen; none if it is the one with the lowest id of
	// those seen within 14 days.
	Claimed time.Time `json:"claimed,omitzero"`
}

// DeviceStatus is one of the devices that share the data folder.
type DeviceStatus struct {
	Device string    `json:"device"`
	Name   string    `json:"name"` // of its host
	Here   bool      `json:"here"`
	Keeper bool      `json:"keeper"`
	Seen   time.Time `json:"seen,omitzero"` // its latest sign of life that has arrived here
	// Missing is how many operations of that device have not arrived here, Behind
	// how many of this device's it did not have yet when it last told.
	Missing uint64 `json:"missing"`
	Behind  uint64 `json:"behind"`
}
