package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"

	"emberd/vault/notename"
)

// A Reason is why a note is not read or not written, as the end of a sentence that begins "not
// read: ".
type Reason string

// The reasons why something is not read.
const (
	BadPath      Reason = "the path is not a relative path inside the vault"
	BadName      Reason = "the name of the note is not valid UTF-8; rename the note"
	NotNote      Reason = "only files whose names end in .md are notes"
	Hidden       Reason = "a name in the path begins with a dot, and Obsidian ignores such files and folders"
	Temporary    Reason = "the file looks like a temporary file of an editor or sync tool"
	Ignored      Reason = "the path matches an ignore pattern in the settings"
	Symlink      Reason = "the path contains a symbolic link, and emberd does not follow symbolic links"
	NotRegular   Reason = "the path is not a regular file"
	NotLocal     Reason = "the content of the note is only in the cloud; download the note"
	NotPermitted Reason = "your user cannot read the note; change its permissions"
	NotText      Reason = "the note is not UTF-8 text; save the note as UTF-8"
	TooLong      Reason = "the note is larger than 16 MiB; split the note"
	Unsettled    Reason = "the note changed while emberd read it; emberd reads the note again after the next change"
)

// Skipped is the error for a note that is not read, by a rule or because it cannot be read.
type Skipped struct {
	Path   string
	Reason Reason
}

func (s *Skipped) Error() string { return fmt.Sprintf("emberd does not read %q: %s", s.Path, s.Reason) }

// maxPath bounds a path in bytes, as Linux does (PATH_MAX).
const maxPath = 4096

// Classify decides by a path alone whether it names a note. Then reason is "" and note the path.
// For the stub that iCloud leaves in place of a note that is not on this computer
// (.name.md.icloud), note is the path of that note and reason is [NotLocal]. For all other paths
// note is "".
func (v *Vault) Classify(name string) (note string, reason Reason) {
	if reason := checkPath(name); reason != "" {
		return "", reason
	}
	if stub, ok := notename.ParseCloudStub(name); ok {
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
	case v.ignore.Match(name, false):
		return "", Ignored
	case notename.IsTemporary(base):
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

// checkName returns an error for a path that is not that of a note.
func (v *Vault) checkName(name string) error {
	if _, reason := v.Classify(name); reason != "" {
		return &Skipped{Path: name, Reason: reason}
	}
	return nil
}

// findFile returns the stat of the regular file at a path. It returns an error for symbolic links
// on the way, and for everything else.
func (v *Vault) findFile(name string) (File, error) {
	for at := range len(name) {
		if name[at] != '/' {
			continue
		}
		if info, err := v.root.Lstat(name[:at]); err != nil {
			return File{}, v.explainError(name, err)
		} else if info.Mode()&fs.ModeSymlink != 0 {
			return File{}, &Skipped{Path: name, Reason: Symlink}
		}
	}
	info, err := v.root.Lstat(name)
	if err != nil {
		return File{}, v.explainError(name, err)
	}
	return v.checkFile(name, info)
}

// checkFile returns an error for all but regular files of at most [MaxSize] bytes whose content
// is on this computer.
func (v *Vault) checkFile(name string, info fs.FileInfo) (File, error) {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return File{}, &Skipped{Path: name, Reason: Symlink}
	case !mode.IsRegular():
		return File{}, &Skipped{Path: name, Reason: NotRegular}
	case evicted(info):
		return File{}, &Skipped{Path: name, Reason: NotLocal}
	case info.Size() > MaxSize:
		return File{}, &Skipped{Path: name, Reason: TooLong}
	}
	return fileOf(name, info), nil
}

// explainError replaces an error of the file system by a reason where there is one. For a note
// that is gone the error stays [fs.ErrNotExist], unless its stub is there.
func (v *Vault) explainError(name string, err error) error {
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
	return fmt.Errorf("cannot read note %q: %w", name, err)
}
