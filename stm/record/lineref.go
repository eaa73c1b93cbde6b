package record

// LineRef is one transaction line; lines with one tx are one entry.
type LineRef struct {
	Stamp, Tx Stamp
	At        Place
	Undo      bool // or a purge, or emberd's own doing: nothing that undo reverts automatically
	Cut       bool // only the history has the whole line
}

func RefOf(l *Line) LineRef {
	unasked := l.Unasked() && l.Verb != Recovered // of what came back, nobody knows who asked for it
	return LineRef{Stamp: l.Stamp, Tx: l.Tx, At: l.At, Undo: !l.Ref.IsZero() || l.Purges() || unasked, Cut: l.Cut}
}

// Place is where a line stands on disk.
type Place struct {
	File uint32 // index into Store.files
	Off  int64
	N    uint32 // bytes, LF included
}
