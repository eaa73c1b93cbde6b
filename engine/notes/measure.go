package notes

// NotesSeen are the figures of one moment.
type NotesSeen struct {
	Notes, Waiting, Unread, Pending   int
	Bytes                             int64
	There, Events, Overflows, Scanned float64
}

// Seen returns the current figures of the vault.
func (n *VaultNotes) Seen() NotesSeen {
	index, w := n.Current()
	is, ws := index.Status(), w.Status()
	s := NotesSeen{Notes: is.Notes, Bytes: is.Bytes, Waiting: int(n.waiting.Load()), Events: float64(ws.Events),
		Overflows: float64(ws.Overflows)}
	if !ws.Gone {
		s.There = 1
	}
	if !ws.LastScan.IsZero() {
		s.Scanned = float64(ws.LastScan.UnixMilli()) / 1e3
	}
	n.Mu.RLock()
	defer n.Mu.RUnlock()
	s.Unread = len(n.Skipped)
	return s
}
