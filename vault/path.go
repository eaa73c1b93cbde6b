package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"
)

// Reason is why something is not read or not written, as the end of a sentence that
// begins "not read: ".
type Reason string

// The reasons why something is not read.
const (
	BadPath      Reason = "its path is not a plain one inside the vault, from its root and with forward slashes"
	BadName      Reason = "its name is not valid UTF-8; rename it"
	NotNote      Reason = "only files whose names end in .md are notes"
	Hidden       Reason = "names that begin with a dot are not notes for Obsidian either"
	Temporary    Reason = "its name is one that editors and sync tools give to temporary files"
	Ignored      Reason = "an ignore pattern of the settings covers it"
	Symlink      Reason = "it is, or lies behind, a symbolic link, and links are not followed"
	NotRegular   Reason = "it is not a regular file"
	NotLocal     Reason = "its content is in the cloud and not on this computer; download it there"
	NotPermitted Reason = "your user may not read it; change its permissions"
	NotText      Reason = "it is not UTF-8 text; save it as UTF-8"
	Unsettled    Reason = "it kept changing while it was being read; it is read again after its next change"
)

// Skipped is the error for what is not read, on purpose or because it cannot be.
type Skipped struct {
	Path   string
	Reason Reason
}

func (s *Skipped) Error() string { return fmt.Sprintf("%q is not read: %s", s.Path, s.Reason) }

// maxPath bounds a path in bytes, as Linux does (PATH_MAX).
const maxPath = 4096

// Classify tells from a path alone whether it names a note. Then reason is "" and
// note the path. For the stub that iCloud leaves in place of a note that is not
// on this computer (.name.md.icloud), note is the path of the note that it stands
// for and reason is [NotLocal]. For anything else note is "".
func (v *Vault) Classify(name string) (note string, reason Reason) {
	if reason := checkPath(name); reason != "" {
		return "", reason
	}
	if stub, ok := stubOf(name); ok {
		if note, reason := v.Classify(stub); reason != "" {
			return note, reason
		}
		return stub, NotLocal
	}
	for element := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(element, ".") {
			return "", Hidden
		}
	}
	switch base := path.Base(name); {
	case v.ignore.match(name, false):
		return "", Ignored
	case temporary(base):
		return "", Temporary
	case !strings.EqualFold(path.Ext(base), ".md"):
		return "", NotNote
	}
	return name, ""
}

// checkPath refuses what is no path inside the vault. A backslash is a byte of a
// name like any other: on the systems emberd runs on it separates nothing.
func checkPath(name string) Reason {
	switch {
	case !utf8.ValidString(name):
		return BadName
	case !fs.ValidPath(name), name == ".", len(name) > maxPath, strings.Contains(name, "\x00"):
		return BadPath
	}
	return ""
}

// stubOf returns the note that an iCloud stub stands for: before macOS 14 the
// content of a file that was evicted is replaced by a small file of such a name.
func stubOf(name string) (note string, ok bool) {
	dir, base := path.Split(name)
	base, dotted := strings.CutPrefix(base, ".")
	base, stub := strings.CutSuffix(base, ".icloud")
	return dir + base, dotted && stub && base != ""
}

// temporary knows the names of Syncthing, Office, vim and Emacs that do not begin
// with a dot.
func temporary(base string) bool {
	return strings.HasPrefix(base, "~syncthing~") || strings.HasPrefix(base, "~$") || strings.HasSuffix(base, "~") ||
		strings.HasSuffix(base, ".swp") || base == "4913"
}

// conflicted recognises the copies that Syncthing, Dropbox and Obsidian Sync make
// of a note when two devices changed it.
func conflicted(base string) bool {
	return strings.Contains(base, ".sync-conflict-") ||
		strings.Contains(strings.ToLower(base), "conflicted copy")
}

// IsCopy reports whether a note's name is one that Syncthing, Dropbox or Obsidian Sync gives
// to a copy, and of which note it is one, as far as the name tells.
func IsCopy(name string) (of string, ok bool) {
	dir, base := path.Split(name)
	if !conflicted(base) {
		return "", false
	}
	stem, ext := base, path.Ext(base)
	for _, mark := range []string{".sync-conflict-", " (", " - "} {
		if before, _, found := strings.Cut(stem, mark); found && before != "" {
			return dir + before + ext, true
		}
	}
	return "", true
}

// admit refuses by name.
func (v *Vault) admit(name string) error {
	if _, reason := v.Classify(name); reason != "" {
		return &Skipped{Path: name, Reason: reason}
	}
	return nil
}

// look refuses by what lies at the path, and returns the stat of a regular file.
func (v *Vault) look(name string) (File, error) {
	for at := range len(name) {
		if name[at] != '/' {
			continue
		}
		if info, err := v.root.Lstat(name[:at]); err != nil {
			return File{}, v.explain(name, err)
		} else if info.Mode()&fs.ModeSymlink != 0 {
			return File{}, &Skipped{Path: name, Reason: Symlink}
		}
	}
	info, err := v.root.Lstat(name)
	if err != nil {
		return File{}, v.explain(name, err)
	}
	return v.judge(name, info)
}

// judge refuses all but regular files whose content is here.
func (v *Vault) judge(name string, info fs.FileInfo) (File, error) {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return File{}, &Skipped{Path: name, Reason: Symlink}
	case !mode.IsRegular():
		return File{}, &Skipped{Path: name, Reason: NotRegular}
	case evicted(info):
		return File{}, &Skipped{Path: name, Reason: NotLocal}
	}
	return fileOf(name, info), nil
}

// explain turns an error of the file system into a reason where there is one. A
// note that is gone stays [fs.ErrNotExist], unless its stub is there.
func (v *Vault) explain(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return &Skipped{Path: name, Reason: NotPermitted}
	case errors.Is(err, syscall.ENAMETOOLONG):
		return &Skipped{Path: name, Reason: BadPath}
	case errors.Is(err, fs.ErrNotExist):
		dir, base := path.Split(name)
		if _, stub := v.root.Lstat(dir + "." + base + ".icloud"); stub == nil {
			return &Skipped{Path: name, Reason: NotLocal}
		}
	}
	return fmt.Errorf("read note %q: %w", name, err)
}
