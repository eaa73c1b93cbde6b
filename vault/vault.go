// Package vault reads the notes of an Obsidian vault and changes notes that a user
// may be editing. Reading never writes,
// creates, renames or touches anything; only a [Writer] does.
//
// # Guarantees
//
// All access goes through one [os.Root]: no path and no symbolic link leads out
// of the folder. A symbolic link is never followed at all, neither a note nor a
// folder on the way to it. Only regular files are read, which is checked again
// on the opened file. A note is read whole between two equal looks at its size,
// times and inode, or it is not read ([Unsettled]); whatever is not read is a
// [*Skipped] with its reason.
//
// Every byte string is a note: reading has no parse errors, only a [markdown.Problem]. A
// note with broken frontmatter keeps its text. Time and memory are linear in
// the size of a note, of which at most 1 MiB is looked at. Notes that a Markdown
// parser would take long over are recognized by a count beforehand and read line
// by line instead, and a note that made the parser panic is too.
//
// # What is written
//
// [noteedit.Splice] replaces the bytes of emberd's own properties and marked regions, and the
// text if it still is what the caller knows, and leaves every other byte of a note as
// it is. A [Writer] brings the result to the disk, one of [Written], [Later],
// [Refused] and [Conflict]:
//
//   - A crash or power cut at any moment leaves the note as it was or as it should
//     be, whole, and once [OpenWriter] has returned no temporary file beside it.
//   - What a user saves while a note is written has the note's name in the end, or
//     is among the backups if the user saved yet again. Note and new text change
//     places in one step (renameat2 with EXCHANGE, renamex_np with SWAP); what was
//     displaced is compared with what was read, at once and by [Writer.Check] 1 and
//     60 seconds later, and put back if it is not that.
//   - A note that another program changed within 10 seconds, has a copy of a sync tool beside
//     it, holds the marks of a merge, or lies where git is at work, waits. So does one that
//     emberd wrote within a minute, because a program that had it open may still save; only
//     a [Reviser] goes on, and such a save is still put back.
//   - Mode, owner and extended attributes stay, or the note is refused, and so are
//     symbolic links, hard links and read-only notes.
//
// Where names cannot be exchanged the note is renamed aside and the new text takes
// its name only if it is still free: the note is then missing for some milliseconds.
// A power cut can still cut short what a user's program saved without a sync, as it
// can without emberd. Where there are neither exclusive renames nor links (exFAT and
// NTFS over FUSE) a save within the same microsecond may be replaced.
//
// # What is read
//
// Files whose names end in .md, in any case, as in Obsidian. Names and folders
// that begin with a dot, leavings of editors and sync tools, and what
// [Options.Ignore] covers are passed over; see [Vault.Classify].
//
// Markdown is CommonMark (https://spec.commonmark.org) with tables,
// strikethrough, task lists and footnotes of GitHub, and with Obsidian's
// (https://help.obsidian.md) wikilinks, embeds, tags, block ids, callouts,
// comments, math and properties, and Dataview's inline fields. Comments, in %%
// or in HTML, hold no text, links or tags. Line ends are LF, CRLF and CR. A byte
// that is not UTF-8 reads as "?", a control character as a space.
//
// # Sharing
//
// A Vault may be used by several goroutines, and so may a [Writer]. A
// [Note] belongs to the caller and shares nothing.
package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"emberd/internal/ignore"
	"emberd/vault/markdown"
)

// Options of Open. The zero value is right.
type Options struct {
	// Ignore are patterns of notes and folders to leave out, see package ignore.
	Ignore []string
}

// Vault is an open folder of notes. It may be used by several goroutines.
type Vault struct {
	name     string
	dir      string // absolute
	root     *os.Root
	ignore   ignore.Patterns
	markdown markdown.Parser
}

// Open opens the vault in a folder that exists. opt may be nil.
func Open(dir string, opt *Options) (*Vault, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("vault %s: %w", dir, err)
	}
	return open(full, full, opt)
}

// OpenAway returns the vault of a folder that may not be there, as it is after [Vault.Close]: it is not
// [Vault.Current], and reads fail with [fs.ErrClosed]. opt may be nil.
func OpenAway(dir string, opt *Options) (*Vault, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("vault %s: %w", dir, err)
	}
	v, err := open(full, string(filepath.Separator), opt)
	if err == nil {
		err = v.Close()
	}
	return v, err
}

// open returns the vault of the folder dir, which reads below the folder at.
func open(dir, at string, opt *Options) (*Vault, error) {
	var o Options
	if opt != nil {
		o = *opt
	}
	patterns, err := ignore.Parse(o.Ignore)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, fmt.Errorf("cannot open the vault folder: %w", err)
	}
	return &Vault{name: filepath.Base(dir), dir: dir, root: root, ignore: patterns, markdown: markdown.NewParser()}, nil
}

// Name returns the vault's name, which is that of its folder.
func (v *Vault) Name() string { return v.name }

// Dir returns the vault's folder, as it was given to [Open].
func (v *Vault) Dir() string { return v.dir }

// Current reports whether the folder at the vault's path is the one that is open.
// A sync client, a mount or a restored backup can put another in its place, which
// takes a new Open.
func (v *Vault) Current() bool {
	opened, err := v.root.Stat(".")
	if err != nil {
		return false
	}
	there, err := os.Stat(v.dir)
	return err == nil && os.SameFile(opened, there)
}

// Close releases the folder. Reads fail afterwards with [fs.ErrClosed].
func (v *Vault) Close() error { return v.root.Close() }

// Stat returns what the file system knows about a note. Its errors are those of
// [Vault.Read].
func (v *Vault) Stat(path string) (File, error) {
	if err := v.checkName(path); err != nil {
		return File{}, err
	}
	return v.findFile(path)
}

// Walk yields the path of every note, in the order of names. With a path it
// yields a [*Skipped] for a note or folder that will not be read although a
// reader of the vault might expect it: a symbolic link, a name that is not
// UTF-8, a note that is not on this computer, a folder without permission.
// Hidden, ignored and other files are passed over in silence. Any other error
// ends it. Notes that come and go meanwhile may or may not show.
func (v *Vault) Walk(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := v.walk(ctx, yield); err != nil && !errors.Is(err, fs.SkipAll) {
			yield("", err)
		}
	}
}

func (v *Vault) walk(ctx context.Context, yield func(string, error) bool) error {
	return fs.WalkDir(v.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if ended := ctx.Err(); name == "." || ended != nil {
			if err = cmp.Or(ended, err); err != nil {
				err = fmt.Errorf("cannot list the vault: %w", err)
			}
			return err
		}
		note, skipped := v.entry(name, d)
		if err != nil {
			skipped = v.explainError(name, err)
		}
		if (note != "" || skipped != nil) && !yield(note, skipped) {
			return fs.SkipAll
		}
		if d.IsDir() && (skipped != nil || strings.HasPrefix(d.Name(), ".") || v.ignore.Match(name, true)) {
			return fs.SkipDir
		}
		return nil
	})
}

// entry classifies one entry of a folder: a note, an entry to report as skipped, or neither.
func (v *Vault) entry(name string, d fs.DirEntry) (note string, err error) {
	note, reason := v.Classify(name)
	switch {
	case reason == BadName:
		return name, &Skipped{Path: name, Reason: BadName}
	case reason == Hidden || reason == Temporary || reason == Ignored:
		return "", nil
	case d.Type()&fs.ModeSymlink != 0:
		return name, &Skipped{Path: name, Reason: Symlink}
	case d.IsDir():
		return "", nil
	case reason == NotLocal:
		return note, &Skipped{Path: note, Reason: NotLocal}
	case reason != "":
		return "", nil
	case !d.Type().IsRegular():
		return note, &Skipped{Path: note, Reason: NotRegular}
	}
	return note, nil
}
