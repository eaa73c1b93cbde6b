package repair

import (
	"time"

	"emberd/memory"
	"emberd/stm/record"
)

// Healed is what a repair of the log brought back, or would.
type Healed struct {
	Lines    int       // written, or to be written, under the stamps that they had
	Memories int       // that they are about
	Oldest   time.Time // stamps of the lines, zero without any
	Newest   time.Time
	From     []string // the copies that had them
	Records  int      // numbers of this device's records that no file holds
	Covered  int      // of those the ones whose effect a copy held
}

// Note takes what the lines are and are about.
func (h *Healed) Note(lines []record.Line) {
	about := map[memory.ID]bool{}
	for i := range lines {
		at := lines[i].Stamp.Time()
		if h.Oldest.IsZero() || at.Before(h.Oldest) {
			h.Oldest = at
		}
		if at.After(h.Newest) {
			h.Newest = at
		}
		for _, c := range lines[i].Changes {
			about[c.ID] = true
		}
	}
	h.Lines, h.Memories = len(lines), len(about)
}
