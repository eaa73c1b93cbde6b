package watcher

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"
)

// When files vanish together, it is more often a mount, a sync client or a
// mistake than the wish to forget them. More than massFiles at once, or more
// than a massShare-th of those known, are held back. Fewer than massLeast are
// not, lest a vault of three notes could not lose one; to read them again, if it
// was a mistake after all, costs nothing.
const (
	massFiles = 50
	massShare = 5
	massLeast = 5
)

// Held back deletions are let through when the same files have been missing for
// thawAfter, the root has been there all the time and at least half of the notes
// are. A vault that is unmounted or half synced does not look like that for an
// hour, one in which the user deleted a folder does. With less than half of the notes
// left only Confirm helps.
const thawAfter = time.Hour

// wholeFolder is how many times longer the grace is for a file whose folder is missing
// too. Sync clients that replace a folder look like that, and a git checkout of the wrong
// branch; both are over within a minute.
const wholeFolder = 12

// missingFiles are the files that are known but not on the disk, until they are back or reported
// gone. Only Run uses it.
type missingFiles struct {
	grace  time.Duration
	pass   bool // nothing is held back
	byPath map[string]missingFile
	frozen string    // why nothing is reported gone; empty when nothing is held back
	since  time.Time // when the freeze began or last grew
}

type missingFile struct {
	file  File
	since time.Time
	whole bool   // its folder is missing too
	moved string // where it is now
	sure  bool   // the user, or an hour, confirms that it is deleted
}

func newMissingFiles(grace time.Duration, pass bool) missingFiles {
	return missingFiles{grace: grace, pass: pass, byPath: make(map[string]missingFile)}
}

// add records that a known file is not there.
func (a *missingFiles) add(f File, whole bool, now time.Time) {
	if _, ok := a.byPath[f.Path]; ok {
		return
	}
	a.byPath[f.Path] = missingFile{file: f, since: now, whole: whole}
	a.since = now
}

// drop removes a file that is back, or reported.
func (a *missingFiles) drop(path string) {
	delete(a.byPath, path)
}

// postpone restarts the grace, if it cannot be seen whether the file is back.
func (a *missingFiles) postpone(path string, now time.Time) {
	if absent, ok := a.byPath[path]; ok {
		absent.since = now
		a.byPath[path] = absent
	}
}

// dismiss records that the watcher no longer follows a known file.
func (a *missingFiles) dismiss(f File) {
	a.byPath[f.Path] = missingFile{file: f, sure: true}
}

// pair finds the missing files among the living ones under another name: a renamed file keeps
// inode, size and modification time. An inode alone proves nothing, since a new file may get that
// of a deleted one.
func (a *missingFiles) pair(living iter.Seq[File]) {
	type trait struct {
		inode         uint64
		size, modTime int64
	}
	of := func(f File) trait { return trait{f.Inode, f.Size, f.ModTime} }
	wanted := make(map[trait]string, len(a.byPath))
	for path, absent := range a.byPath {
		wanted[of(absent.file)] = path
	}
	for f := range living {
		from, ok := wanted[of(f)]
		if !ok || f.Path == from {
			continue
		}
		absent := a.byPath[from]
		absent.moved = f.Path
		a.byPath[from] = absent
		delete(wanted, of(f))
	}
}

// judge decides whether deletions are held back, given how many files are known
// including the absent ones.
func (a *missingFiles) judge(known int, now time.Time) {
	n := a.doubtful()
	switch {
	case n == 0 || a.pass:
		a.frozen = ""
	case a.frozen != "" && now.Sub(a.since) >= thawAfter && 2*n <= known:
		a.confirm()
	case a.frozen != "" || n > massFiles || n >= massLeast && massShare*n > known:
		a.frozen = fmt.Sprintf("%d of %d notes disappeared at once; emberd deletes no "+
			"memory until the notes return or you confirm the deletion", n, known)
	}
}

// doubtful counts the missing files that are neither moved nor confirmed.
func (a *missingFiles) doubtful() int {
	n := 0
	for _, absent := range a.byPath {
		if absent.moved == "" && !absent.sure {
			n++
		}
	}
	return n
}

// confirm releases every missing file for the report.
func (a *missingFiles) confirm() {
	for path, absent := range a.byPath {
		absent.sure = true
		a.byPath[path] = absent
	}
	a.frozen = ""
}

// ready returns the missing files to report, by path. A move needs no grace: the file was seen.
func (a *missingFiles) ready(now time.Time) []missingFile {
	var out []missingFile
	for _, absent := range a.byPath {
		over := a.frozen == "" && !a.deadline(absent).After(now)
		if absent.moved != "" || absent.sure || over {
			out = append(out, absent)
		}
	}
	slices.SortFunc(out, func(x, y missingFile) int { return comparePaths(x.file, y.file) })
	return out
}

// paths returns the paths that are missing.
func (a *missingFiles) paths() []string {
	return slices.Collect(maps.Keys(a.byPath))
}

// due returns the files whose grace is over.
func (a *missingFiles) due(now time.Time) []string {
	var paths []string
	for path, absent := range a.byPath {
		if a.frozen == "" && !a.deadline(absent).After(now) {
			paths = append(paths, path)
		}
	}
	return paths
}

// next returns when the next grace ends; zero if none will.
func (a *missingFiles) next() time.Time {
	var first time.Time
	if a.frozen != "" {
		return first
	}
	for _, absent := range a.byPath {
		first = earliest(first, a.deadline(absent))
	}
	return first
}

func (a *missingFiles) deadline(absent missingFile) time.Time {
	if absent.whole {
		return absent.since.Add(wholeFolder * a.grace)
	}
	return absent.since.Add(a.grace)
}
