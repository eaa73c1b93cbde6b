package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"emberd/internal/durable"
	"emberd/vault/frontmatter"
	"emberd/vault/notename"
)

// maxWritten bounds the notes that are written, in bytes.
const maxWritten = 4 << 20

// guard decides whether a note may be written now. It reads, and changes nothing.
type guard struct {
	vault *Vault
	notes noteDisk
	now   func() time.Time
	pace  pace
	// recent returns why a note that the writer has just written must wait, nil if it need not.
	// The caller of a guard holds [Writer.mu].
	recent func(name string) *Result
	// own returns the note that the writer has made at name a moment ago, nil for none. The caller
	// holds [Writer.mu].
	own func(name string) *madeNote
	// wrote is that of [WriterOptions]; opened is when the writer was.
	wrote  func(name string, sum [sha256.Size]byte) bool
	opened time.Time
	// listed has the names in the folders that were listed, sorted, for a guard of many notes; nil otherwise.
	listed map[string][]string
	// revises is true for a [Reviser], for which what emberd wrote before opened is its own, too.
	revises bool
}

// madeNote is a note as it was right after emberd gave it its name. While it is that, its last change is
// emberd's, and no sign of a user at work.
type madeNote struct {
	file   File
	digest digest
}

// snapshot is the content of a note before a write (V1).
type snapshot struct {
	data   []byte
	digest digest
	sum    [sha256.Size]byte
}

func refuse(why Reason) *Result { return &Result{Outcome: Refused, Reason: why} }

// ready reads a note that may be written now. If it may not, held is the result that says why.
func (g *guard) ready(ctx context.Context, name string) (s *snapshot, held *Result, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, context.Cause(ctx)
	}
	if held = g.place(name); held != nil {
		return nil, held, nil
	}
	info, err := g.notes.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(Gone), nil
	}
	if err != nil {
		return nil, nil, err
	}
	busy := (*Result)(nil)
	if held = g.allowed(name, info); held != nil && held.Reason == NotQuiet {
		busy, held = held, nil
	}
	if held == nil {
		held, err = g.undisturbed(name)
	}
	if held == nil && err == nil {
		s, held, err = g.steady(name, info)
	}
	if held == nil && err == nil && busy != nil && !g.isOwn(name, info, s) {
		return nil, busy, nil
	}
	return s, held, err
}

// isOwn reports whether the last change of a note was emberd's.
func (g *guard) isOwn(name string, info fs.FileInfo, s *snapshot) bool {
	file := fileOf(name, info)
	if made := g.own(name); made != nil {
		return made.file == file && made.digest == s.digest
	}
	return g.revises && g.wrote != nil && file.lastChange().Before(g.opened) && g.wrote(name, s.sum)
}

func (g *guard) later(why Reason, wait time.Duration) Result {
	return Result{Outcome: Later, Reason: why, Until: g.now().Add(wait)}
}

// place checks a path, whatever is there.
func (g *guard) place(name string) *Result {
	if notename.IsConflictName(path.Base(name)) {
		if _, reason := g.vault.Classify(name); reason == "" {
			return refuse(ConflictCopy)
		}
	}
	return g.folder(name)
}

// folder checks a path apart from whether its name is that of a copy.
func (g *guard) folder(name string) *Result {
	_, reason := g.vault.Classify(name)
	later := func(why Reason) *Result {
		res := g.later(why, g.pace.quiet)
		return &res
	}
	switch {
	case reason == NotLocal:
		return later(NotLocal)
	case reason != "":
		return refuse(reason)
	case !g.vault.Current():
		return later(VaultReplaced)
	}
	for dir := range notename.Folders(name) {
		info, err := g.notes.Lstat(dir)
		if dir == "" || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return refuse(Symlink)
		}
		if !info.IsDir() {
			return refuse(NotFolder)
		}
	}
	if held := g.recent(name); held != nil {
		return held
	}
	if isGitBusy(filepath.Join(g.vault.dir, filepath.FromSlash(path.Dir(name)))) {
		return later(GitBusy)
	}
	return nil
}

// allowed checks the file of a note.
func (g *guard) allowed(name string, info fs.FileInfo) *Result {
	file, err := g.vault.checkFile(name, info)
	if skipped, ok := errors.AsType[*Skipped](err); ok {
		if skipped.Reason == NotLocal {
			res := g.later(NotLocal, g.pace.quiet)
			return &res
		}
		return refuse(skipped.Reason)
	}
	st, known := info.Sys().(*syscall.Stat_t)
	switch changed := file.lastChange(); {
	case known && st.Nlink > 1:
		return refuse(HardLinked)
	case info.Mode()&0o200 == 0:
		return refuse(ReadOnly)
	case info.Size() > maxWritten:
		return refuse(TooLarge)
	case g.now().Sub(changed) < g.pace.quiet:
		until := changed.Add(g.pace.quiet)
		if latest := g.now().Add(day); until.After(latest) {
			until = latest // somebody set the clock back
		}
		return &Result{Outcome: Later, Reason: NotQuiet, Until: until}
	}
	return nil
}

// lastChange returns the time of the last change by the clock of this computer. The modification
// time is what some program set, and is used only if the file system keeps no other.
func (f File) lastChange() time.Time {
	if f.ChangeTime.IsZero() {
		return f.ModTime
	}
	return f.ChangeTime
}

// undisturbed checks for copies that a sync tool made of the note.
func (g *guard) undisturbed(name string) (*Result, error) {
	names, err := g.namesBeside(name)
	if err != nil {
		return nil, err
	}
	for _, e := range names {
		if g.copyOf(name, e) {
			res := g.later(ConflictCopy, g.pace.quiet)
			return &res, nil
		}
	}
	return nil, nil
}

// namesBeside lists the folder of a note. With listed it lists each folder once, and returns the names that begin as
// the note's does, which those of all copies do.
func (g *guard) namesBeside(name string) ([]string, error) {
	dir, stem := path.Dir(name), notename.TrimExtension(path.Base(name))
	if g.listed == nil {
		return namesIn(g.notes, dir)
	}
	if g.listed[dir] == nil {
		names, err := namesIn(g.notes, dir)
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		g.listed[dir] = names
	}
	from, _ := slices.BinarySearch(g.listed[dir], stem)
	rest := g.listed[dir][from:]
	for n := range rest {
		if !strings.HasPrefix(rest[n], stem) {
			return rest[:n], nil
		}
	}
	return rest, nil
}

// copyOf recognizes the names that sync tools give to copies. One that can be an ordinary note's counts only if
// the note carries the same memory.
func (g *guard) copyOf(name, other string) bool {
	is, certain := notename.CopyOf(other, path.Base(name))
	if !is || certain {
		return is
	}
	id := memoryIDAt(g.notes, name)
	return id != "" && id == memoryIDAt(g.notes, path.Join(path.Dir(name), other))
}

func memoryIDAt(disk durable.FS, name string) string {
	data, err := durable.ReadAtMost(disk, name, maxWritten)
	if err != nil {
		return "" // a note that emberd writes to is not larger
	}
	return frontmatter.Get(data, memoryIDKey)
}

// steady reads the note between two equal results of lstat.
func (g *guard) steady(name string, before fs.FileInfo) (*snapshot, *Result, error) {
	data, err := durable.ReadAtMost(g.notes, name, maxWritten)
	if errors.Is(err, durable.ErrTooLarge) { // it grew
		return nil, refuse(TooLarge), nil
	}
	if why := refusal(err); why != "" {
		return nil, refuse(why), nil
	}
	if err != nil {
		return nil, nil, err
	}
	after, err := g.notes.Lstat(name)
	res := g.later(Unsettled, g.pace.quiet)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, refuse(Gone), nil
	case err != nil:
		return nil, nil, err
	case fileOf(name, before) != fileOf(name, after) || int64(len(data)) != after.Size():
		return nil, &res, nil
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return nil, refuse(NotText), nil
	case bytes.HasPrefix(data, []byte("<<<<<<< ")) || bytes.Contains(data, []byte("\n<<<<<<< ")):
		res.Reason = MergeMarks
		return nil, &res, nil
	}
	sum := sha256.Sum256(data)
	return &snapshot{data: data, digest: digestOf(data), sum: sum}, nil, nil
}

// free checks the name of a new note. held is nil if the name is free.
func (g *guard) free(name string, want digest) (held *Result, err error) {
	if held := g.place(name); held != nil {
		return held, nil
	}
	dir, base := path.Split(name)
	dir = path.Clean(dir)
	entries, err := g.notes.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return g.folderLookAlike(dir)
	case err != nil && refusal(err) != "":
		return refuse(refusal(err)), nil
	case err != nil:
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Name() == "."+base+".icloud" {
			res := g.later(NotLocal, g.pace.quiet)
			return &res, nil
		}
		names = append(names, e.Name())
	}
	other, taken := notename.FindLookAlike(names, base)
	if !taken {
		return nil, nil
	}
	if now, err := look(g.notes, name); other == base && err == nil && now == want {
		sum, err := now.bytes()
		return &Result{Outcome: Written, Digest: sum}, err
	}
	return &Result{Outcome: Refused, Reason: NameTaken, Taken: path.Join(dir, other)}, nil
}

// freeIn is free for several notes of a folder, whose names it lists once and keeps in known.
func (g *guard) freeIn(known map[string][]string, name string, want digest) (*Result, error) {
	dir := path.Dir(name)
	names, listed := known[dir]
	if listed {
		if held := g.place(name); held != nil {
			return held, nil
		}
		if other, taken := notename.FindLookAlike(names, path.Base(name)); !taken {
			return nil, nil
		} else if held, err := g.free(name, want); held != nil || err != nil {
			return held, err
		} else { // by one that is made with it
			return &Result{Outcome: Refused, Reason: NameTaken, Taken: path.Join(dir, other)}, nil
		}
	}
	held, err := g.free(name, want)
	if held == nil && err == nil {
		entries, failed := g.notes.ReadDir(dir)
		if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			return nil, failed
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		known[dir] = names
	}
	return held, err
}

// folderLookAlike checks the name of a new folder. A second folder whose name differs only by case
// would become one with the first on other systems.
func (g *guard) folderLookAlike(dir string) (*Result, error) {
	parent := path.Dir(dir)
	entries, err := g.notes.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) && parent != dir {
		return g.folderLookAlike(parent)
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if other, taken := notename.FindLookAlike(names, path.Base(dir)); taken {
		return &Result{Outcome: Refused, Reason: FolderTaken, Taken: path.Join(parent, other)}, nil
	}
	return nil, nil
}

// isGitBusy reports a lock, merge or rebase in the repository that holds a folder. No
// git is run: what a repository is configured to do is not for emberd to start.
func isGitBusy(dir string) bool {
	git, found := gitFolder(dir)
	if !found {
		return false
	}
	for _, name := range []string{"index.lock", "HEAD.lock", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD",
		"rebase-merge", "rebase-apply"} {
		if _, err := os.Lstat(filepath.Join(git, name)); err == nil {
			return true
		}
	}
	return false
}

// gitFolder finds .git in a folder or above. In a worktree it is a file that names
// another folder.
func gitFolder(dir string) (string, bool) {
	for {
		git := filepath.Join(dir, ".git")
		info, err := os.Lstat(git)
		switch {
		case err == nil && info.IsDir():
			return git, true
		case err == nil && info.Mode().IsRegular():
			data, err := durable.ReadAtMost(durable.OS{}, git, maxPath+int64(len("gitdir: \n")))
			to, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
			if !filepath.IsAbs(to) {
				to = filepath.Join(dir, to)
			}
			return to, err == nil && ok
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}
