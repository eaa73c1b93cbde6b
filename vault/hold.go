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
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"emberd/internal/durable"
)

// maxWritten bounds the notes that are written, in bytes.
const maxWritten = 4 << 20

// snapshot is a note as read before a write (V1).
type snapshot struct {
	data   []byte
	digest digest
	sum    [sha256.Size]byte
}

func (w *Writer) makeFolders() error {
	for _, dir := range []string{w.records, w.backups} {
		if err := durable.MkdirAll(w.state, dir); err != nil {
			return err
		}
	}
	return durable.SweepTemps(w.state, w.records)
}

func refuse(why Reason) *Result { return &Result{Outcome: Refused, Reason: why} }

// ready reads a note that may be written, or says why it may not. held is nil if it
// may.
func (w *Writer) ready(ctx context.Context, name string) (s *snapshot, held *Result, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, context.Cause(ctx)
	}
	if held = w.place(name); held != nil {
		return nil, held, nil
	}
	info, err := w.notes.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(Gone), nil
	}
	if err != nil {
		return nil, nil, err
	}
	if held = w.allowed(name, info); held == nil {
		held, err = w.undisturbed(name)
	}
	if held != nil || err != nil {
		return nil, held, err
	}
	return w.steady(name, info)
}

// place judges a path, whatever lies there.
func (w *Writer) place(name string) *Result {
	_, reason := w.vault.Classify(name)
	later := func(why Reason) *Result {
		res := w.later(why, w.pace.quiet)
		return &res
	}
	switch {
	case reason == NotLocal:
		return later(NotLocal)
	case reason != "":
		return refuse(reason)
	case conflicted(path.Base(name)):
		return refuse(ConflictCopy)
	case !w.vault.Current():
		return later(VaultReplaced)
	}
	for dir := range folders(name) {
		info, err := w.notes.Lstat(dir)
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
	for _, r := range w.open {
		if r.Path == name || r.Target == name {
			res := Result{Outcome: Later, Reason: RecentlyOurs, Until: r.Begun.Add(w.pace.looks[len(w.pace.looks)-1])}
			return &res
		}
	}
	if gitBusy(filepath.Join(w.vault.dir, filepath.FromSlash(path.Dir(name)))) {
		return later(GitBusy)
	}
	return nil
}

// allowed judges the file.
func (w *Writer) allowed(name string, info fs.FileInfo) *Result {
	file, err := w.vault.judge(name, info)
	if skipped, ok := errors.AsType[*Skipped](err); ok {
		if skipped.Reason == NotLocal {
			res := w.later(NotLocal, w.pace.quiet)
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
	case w.now().Sub(changed) < w.pace.quiet:
		until := changed.Add(w.pace.quiet)
		if latest := w.now().Add(day); until.After(latest) {
			until = latest // somebody set the clock back
		}
		return &Result{Outcome: Later, Reason: NotQuiet, Until: until}
	}
	return nil
}

// lastChange is by the clock of this computer. The time of modification is what some
// program says, and is only asked where there is nothing else.
func (f File) lastChange() time.Time {
	if f.ChangeTime.IsZero() {
		return f.ModTime
	}
	return f.ChangeTime
}

// undisturbed looks for copies that a sync tool made of the note.
func (w *Writer) undisturbed(name string) (*Result, error) {
	entries, err := w.notes.ReadDir(path.Dir(name))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if w.copyOf(name, e.Name()) {
			res := w.later(ConflictCopy, w.pace.quiet)
			return &res, nil
		}
	}
	return nil, nil
}

// copyOf knows the names of Syncthing, Dropbox and Obsidian Sync. iCloud's "name 2"
// may be a note like any other, so it must carry the same memory.
func (w *Writer) copyOf(name, other string) bool {
	stem := trimExtension(path.Base(name))
	rest, ok := strings.CutPrefix(other, stem)
	if !ok || rest == "" || other == path.Base(name) {
		return false
	}
	if conflicted(rest) {
		return true
	}
	number := strings.TrimSuffix(strings.TrimPrefix(rest, " "), ".md")
	if len(number)+len(" .md") != len(rest) || strings.Trim(number, "0123456789") != "" {
		return false
	}
	id := w.memoryID(name)
	return id != "" && id == w.memoryID(path.Join(path.Dir(name), other))
}

func (w *Writer) memoryID(name string) string {
	data, err := durable.ReadAll(w.notes, name)
	if err != nil {
		return ""
	}
	h, err := readHead(data)
	if err != nil {
		return ""
	}
	if at := h.find("memory-id"); at >= 0 {
		return h.entries[at].value.Value
	}
	return ""
}

// steady reads the note between two equal looks at it.
func (w *Writer) steady(name string, before fs.FileInfo) (*snapshot, *Result, error) {
	data, err := durable.ReadAll(w.notes, name)
	if why := refusal(err); why != "" {
		return nil, refuse(why), nil
	}
	if err != nil {
		return nil, nil, err
	}
	after, err := w.notes.Lstat(name)
	res := w.later(Unsettled, w.pace.quiet)
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

// free judges the name of a note to be. held is nil if it is free.
func (w *Writer) free(name string, want digest) (held *Result, err error) {
	if held := w.place(name); held != nil {
		return held, nil
	}
	dir, base := path.Split(name)
	dir = path.Clean(dir)
	entries, err := w.notes.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return w.folderLookAlike(dir)
	case err != nil && refusal(err) != "":
		return refuse(refusal(err)), nil
	case err != nil:
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Name() == "."+base+".icloud" {
			res := w.later(NotLocal, w.pace.quiet)
			return &res, nil
		}
		names = append(names, e.Name())
	}
	other, taken := lookAlike(names, base)
	if !taken {
		return nil, nil
	}
	if now, err := look(w.notes, name); other == base && err == nil && now == want {
		sum, err := now.bytes()
		return &Result{Outcome: Written, Digest: sum}, err
	}
	return &Result{Outcome: Refused, Reason: NameTaken, Taken: path.Join(dir, other)}, nil
}

// folderLookAlike judges the name of a folder to be: a second one whose name differs
// by capitals only would become one with the first on other systems.
func (w *Writer) folderLookAlike(dir string) (*Result, error) {
	parent := path.Dir(dir)
	entries, err := w.notes.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) && parent != dir {
		return w.folderLookAlike(parent)
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if other, taken := lookAlike(names, path.Base(dir)); taken {
		return &Result{Outcome: Refused, Reason: FolderTaken, Taken: path.Join(parent, other)}, nil
	}
	return nil, nil
}

// gitBusy reports a lock, merge or rebase in the repository that holds a folder. No
// git is run: what a repository is configured to do is not for emberd to start.
func gitBusy(dir string) bool {
	git, found := gitFolder(dir)
	if !found {
		return false
	}
	for _, name := range []string{"index.lock", "HEAD.lock", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"} {
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
			data, err := os.ReadFile(git)
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
