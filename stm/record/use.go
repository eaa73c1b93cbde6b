package record

import (
	"encoding/json"
	"fmt"
	"time"

	"emberd/memory"
)

// useOnDisk is a device's totals in a use line; the device is the stamp's.
type useOnDisk struct {
	Uses     int64  `json:"u,omitempty"`
	Accesses int64  `json:"a,omitempty"`
	Used     string `json:"lu,omitempty"`
	Accessed string `json:"la,omitempty"`
	Opened   string `json:"lo,omitempty"`
}

func EncodeUse(dirty map[[16]byte]UseTotal) []byte {
	out := make(map[memory.ID]useOnDisk, len(dirty))
	for key, t := range dirty {
		out[memory.IDFromBytes(key)] = useOnDisk{t.Uses, t.Accesses, rfc3339(t.Used), rfc3339(t.Accessed),
			rfc3339(t.Opened)}
	}
	return Encode(out)
}

func rfc3339(ms int64) string {
	if ms == 0 {
		return ""
	}
	return Millis(ms).Format("2006-01-02T15:04:05.000Z07:00")
}

// DecodeUse calls fn for every memory of a use line, or for none.
func DecodeUse(d []byte, dev Device, fn func(key [16]byte, t UseTotal)) error {
	var in map[string]useOnDisk
	if err := json.Unmarshal(d, &in); err != nil {
		return fmt.Errorf("cannot decode the use counts: %w", err)
	}
	keys := make([][16]byte, 0, len(in))
	totals := make([]UseTotal, 0, len(in))
	for name, u := range in {
		id, err := memory.ParseID(name)
		if err != nil {
			return fmt.Errorf("cannot decode the use counts: %w", err)
		}
		t := UseTotal{Dev: dev, Uses: u.Uses, Accesses: u.Accesses}
		if t.Used, err = parseMilli(u.Used); err != nil {
			return fmt.Errorf("cannot decode the use counts: %w", err)
		}
		if t.Accessed, err = parseMilli(u.Accessed); err != nil {
			return fmt.Errorf("cannot decode the use counts: %w", err)
		}
		if t.Opened, err = parseMilli(u.Opened); err != nil {
			return fmt.Errorf("cannot decode the use counts: %w", err)
		}
		keys, totals = append(keys, id.Bytes()), append(totals, t)
	}
	for i := range keys {
		fn(keys[i], totals[i])
	}
	return nil
}

func parseMilli(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t.UnixMilli(), err
}

// MaxUses is how many totals share a line, at some 130 bytes each.
const MaxUses = 8192

func MaxUse(a, b UseTotal) UseTotal {
	a.Uses, a.Accesses = max(a.Uses, b.Uses), max(a.Accesses, b.Accesses)
	a.Used, a.Accessed, a.Opened = max(a.Used, b.Used), max(a.Accessed, b.Accessed), max(a.Opened, b.Opened)
	return a
}
