package record

// Kept says of records of other devices, by their sequence numbers, that what they did is in files of
// this device: their lines were in no file any more, and what still counted of them was written again.
type Kept struct {
	Of map[string][][2]uint64 `json:"of"`           // by device
	In []Replaced             `json:"in,omitempty"` // the files that have it, as they were then; they may have grown
}

// Numbers returns the sequence numbers, by device.
func (k *Kept) Numbers() map[Device]*Ranges {
	out := make(map[Device]*Ranges, len(k.Of))
	for name, spans := range k.Of {
		dev, ok := ParseDevice(name)
		if !ok {
			continue
		}
		out[dev] = &Ranges{}
		for _, s := range spans {
			if s[0] <= s[1] {
				out[dev].Add(s[0], s[1])
			}
		}
	}
	return out
}
