package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"emberd/internal/ledger/chain"
)

// Check is what a check of the chain found, and what it says of reads and changes.
type Check struct {
	Lines int       // reads and changes that the chain has
	Since time.Time // of the first line that is kept
	// Problems are sentences on what somebody changed, or a disk lost.
	Problems []string
	// Notes are sentences on what the chain cannot vouch for, although nothing is wrong.
	Notes []string
	// Unkeyed are reads of audit.json from before the chain.
	Unkeyed int
}

// maxProblems is how many problems of a kind are named.
const maxProblems = 20

// Check flushes, checks the chain, and compares with it, both ways, audit.json and the journal as
// they are on the disk, as far as both are kept:
//
//   - The counts of audit.json are those that emberd wrote last.
//   - Each read of audit.json since the chain began has its line, and each line of a read that
//     audit.json still keeps has its read, the same caller, process, operation and memories.
//   - Each change of this device in the journal since the chain began has its line, and each line
//     its change, unless its memories were purged, it is older than what compaction may drop, or a
//     backup was restored since. So has each of a device that this one was.
//   - The seal that each change has in the journal holds, and is from no later line than the last.
//
// A crash can leave changes in the journal without a line, and reads in the chain that audit.json
// has not: the next process takes the former down as found, and both are notes. Changes without a
// seal, and reads after an orderly end, are problems. Without a chain there is nothing to check.
func (l *Ledger) Check() (*Check, error) {
	if l.chain == nil {
		return &Check{}, nil
	}
	c, err := l.collect()
	if err == nil {
		err = c.compareChanges(l.journal)
	}
	if err != nil {
		return nil, err
	}
	if c.more > 0 {
		c.out.Problems = append(c.out.Problems, fmt.Sprintf("and %d more", c.more))
	}
	return &c.out, nil
}

// collect reads the chain and audit.json.
func (l *Ledger) collect() (*comparison, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.flush(); err != nil {
		return nil, err
	}
	if err := l.beginSealing(); err != nil {
		return nil, err
	}
	report, err := l.chain.Check()
	if err != nil {
		return nil, err
	}
	c := newComparison(report, l.chain)
	stored, counts, err := l.storedReads()
	if errors.Is(err, fs.ErrNotExist) {
		stored, counts, err = nil, noCounts, nil
	}
	if err != nil {
		c.problem("cannot read %s: %v", filepath.Base(l.opt.File), err)
		return c, nil
	}
	c.compareReads(stored)
	if c.counts != nil && !slices.Contains(c.counts, counts) {
		c.problem("the counts per caller in audit.json differ from those in the audit log")
	}
	return c, nil
}

// storedReads reads audit.json from the disk, and the digest of its counts.
func (l *Ledger) storedReads() (f *file, counts string, err error) {
	data, err := l.readFile()
	if err != nil {
		return nil, "", err
	}
	f = new(file)
	if err := json.Unmarshal(data, f); err != nil {
		return nil, "", fmt.Errorf("invalid list of callers: %w", err)
	}
	counts, err = countsIn(data)
	return f, counts, err
}

// comparison is what the chain says, by what it says it of, and what is wrong.
type comparison struct {
	replay
	out   Check
	chain *chain.Chain
	ended int64 // the last line of the chain
	more  int   // problems beyond maxProblems
}

func newComparison(report *chain.Report, by *chain.Chain) *comparison {
	c := &comparison{chain: by, ended: report.End(), replay: newReplay()}
	c.out.Problems = report.Problems
	for i := range report.Lines {
		c.add(i, &report.Lines[i])
	}
	if len(report.Lines) > 0 {
		c.out.Since = report.Lines[0].At
	}
	c.finish()
	c.out.Lines, c.out.Notes = len(c.lines), c.notes
	for _, text := range c.problems {
		c.problem("%s", text)
	}
	return c
}

func (c *comparison) problem(format string, args ...any) {
	if len(c.out.Problems) < 2*maxProblems {
		c.out.Problems = append(c.out.Problems, fmt.Sprintf(format, args...))
		return
	}
	c.more++
}
