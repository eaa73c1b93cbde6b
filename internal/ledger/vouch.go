package ledger

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"emberd/internal/stamp"
)

// What the chain notes of a change that it found in the journal: [vouched], a reason why nothing
// vouches for it, or "" if the journal had no seals then.
const vouched = "sealed"

// Sign returns the seal of a change that is about to be written, "" if there is no chain yet. It
// takes no lock.
func (l *Ledger) Sign(c *Change) string {
	if l.chain == nil {
		return ""
	}
	return l.chain.Seal(signed(c))
}

// signed is what the seal of a change is of: all but the memories, of which purges and compaction
// leave some out.
func signed(c *Change) []byte {
	by, _ := json.Marshal(asStored(c.By)) // strings and numbers
	return fmt.Appendf(nil, "%s %d %s %q %s", c.Stamp, c.Seq, c.Tx, c.What, by)
}

// vouchFor returns what is to be noted of a change that was found, by a chain that ended with a line.
// Seals reports whether the changes of its device have them.
func (l *Ledger) vouchFor(c *Change, ended int64, seals bool) string {
	switch n, ok := l.chain.Sealed(signed(c), c.Audit); {
	case c.Audit == "" && !seals:
		return ""
	case c.Audit == "":
		return "the change has no seal, but emberd seals every change"
	case !ok:
		return "the seal of the change is invalid"
	case n > ended:
		return setBack(n, ended)
	}
	return vouched
}

// closedAfter returns after which line of the chain a device closed its journal in order the last time.
func (l *Ledger) closedAfter(device stamp.Device) (n int64, ok bool) {
	if l.journal == nil {
		return 0, false
	}
	end := l.journal.Closed(device)
	if end == nil {
		return 0, false
	}
	return l.chain.Sealed(signed(end), end.Audit)
}

func closedAhead(n, ended int64) string {
	return fmt.Sprintf("the log was closed after line %d of the audit log, but the "+
		"chain ended at line %d: an earlier copy replaced the chain", n, ended)
}

func setBack(n, ended int64) string {
	return fmt.Sprintf("the change was written after line %d of the audit log, but "+
		"the chain ended at line %d: an earlier copy replaced the chain", n, ended)
}

// noCounts is in place of a digest where there is no file.
const noCounts = "none"

// counts returns a digest of what the file says of callers and saves, as it is written.
func (f *file) counts() (string, error) {
	sum := sha256.New()
	w := bufio.NewWriterSize(sum, 64<<10)
	err := errors.Join(writeItems(w, f.Callers), writeItems(w, f.Saves), w.Flush())
	return hex.EncodeToString(sum.Sum(nil)[:16]), err
}

// countsIn returns the digest of a file that was written.
func countsIn(data []byte) (string, error) {
	var f struct{ Callers, Saves json.RawMessage }
	if err := json.Unmarshal(data, &f); err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write(f.Callers)
	sum.Write(f.Saves)
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

// deviceOf returns the device of a stamp, the zero device if it is none.
func deviceOf(text string) stamp.Device {
	at, _ := stamp.Parse(text)
	return at.Dev
}
