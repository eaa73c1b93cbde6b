package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/text/unicode/norm"

	"emberd/internal/durable"
	"emberd/internal/text"
	"emberd/vault"
	"emberd/vault/frontmatter"
	"emberd/vault/notename"
)

// A Survey is what a walk through a vault showed.
type Survey struct {
	Folders  int // that are watched, the vault's own included
	Notes    int // without those that emberd makes: lists of memories, and those archived
	Archived int // notes of the archive folder
	Findings []Finding
}

// maxListed bounds the findings of a kind that are listed one by one.
const maxListed = 3

// maxNote bounds what is read of a note, in bytes: larger ones get no memory.
const maxNote = 4 << 20

// A Copy is what the daemon says of a note with the ID of a memory that has another note.
type Copy struct {
	Text string // that it will settle the copy by itself, or asks about it
	Next string // the command that shows the question, "" for none
}

// Vault looks at a folder of notes: whether it is there, can be read and written, and what sync
// tools left in it. Notes are read, none is changed. Archive is the folder in it where
// emberd archives, "" for none. settles returns what the daemon says of the copies of which it leaves nothing to
// the user, by path. It is called when a copy is found; without a daemon it is nil.
func Vault(ctx context.Context, dir, archive string, ignore []string, settles func() map[string]Copy) (*Survey,
	error) {
	s := &Survey{}
	if bad := vaultFolder(dir); len(bad) > 0 {
		s.Findings = bad
		return s, nil
	}
	v, err := vault.Open(dir, &vault.Options{Ignore: ignore})
	if err != nil {
		return nil, err
	}
	defer v.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	l := &scanner{dir: dir, archive: archive, vault: v, root: root, survey: s, names: map[string]string{},
		counts: map[string]int{}, settles: settles}
	if err := l.all(ctx); err != nil {
		return nil, err
	}
	var st unix.Statfs_t
	kind := "an unknown file system"
	if err := unix.Statfs(dir, &st); err == nil {
		kind = fsName(&st)
	}
	if slices.Contains(remote, kind) {
		s.Findings = append(s.Findings, Finding{Area: "vault", Code: "vault-remote", Severity: Note,
			Text: fmt.Sprintf("%s is on %s, which does not report changes made on other "+
				"machines; emberd finds such changes within 30 seconds", dir, kind)})
	}
	s.Findings = append(s.Findings, l.more()...)
	s.Findings = append(s.Findings,
		Finding{Area: "vault", Severity: OK, Text: fmt.Sprintf("%s, %s on %s", dir, s.notes(), kind)})
	return s, nil
}

// notes returns how many there are.
func (s *Survey) notes() string {
	all := count(s.Notes, "note file", "note files")
	if s.Archived > 0 {
		all += " and " + count(s.Archived, "archived one", "archived ones")
	}
	return all
}

// vaultFolder returns why a folder cannot be a vault at present.
func vaultFolder(dir string) []Finding {
	f := Finding{Area: "vault", Severity: Error}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Code, f.Next = "vault-missing", "ls -la "+text.ShellWord(filepath.Dir(dir))
		f.Text = fmt.Sprintf("vault %s not found; restore the folder or mount the disk of the "+
			"vault; if you moved the vault, change vaults: in the config file", dir)
		return []Finding{f}
	case err != nil || !info.IsDir():
		f.Code, f.Text, f.Next = "vault-missing", fmt.Sprintf("vault %s is not a folder; configure another vault", dir),
			"emberd init"
		return []Finding{f}
	}
	if err := unix.Access(dir, unix.R_OK|unix.X_OK); err != nil {
		f.Code, f.Text, f.Next = "vault-unreadable", fmt.Sprintf("your user cannot read the vault %s (mode %04o)", dir,
			info.Mode().Perm()), "chmod u+rwx "+text.ShellWord(dir)
		return []Finding{f}
	}
	switch err := unix.Access(dir, unix.W_OK); {
	case errors.Is(err, unix.EROFS):
		f.Code, f.Next = "vault-readonly", "findmnt -T "+text.ShellWord(dir)
		f.Text = fmt.Sprintf(
			"vault %s is on a read-only file system, so memories cannot be promoted; remount it read-write", dir)
	case err != nil:
		f.Code, f.Next = "vault-readonly", "chmod u+w "+text.ShellWord(dir)
		f.Text = fmt.Sprintf("your user cannot write to vault %s (mode %04o), so memories cannot be promoted", dir,
			info.Mode().Perm())
	default:
		return nil
	}
	return []Finding{f}
}

// scanner walks through a vault.
type scanner struct {
	dir     string
	archive string
	vault   *vault.Vault
	root    *os.Root
	survey  *Survey
	names   map[string]string // of what is there, by how systems see it that know no capitals
	counts  map[string]int    // findings by code
	ids     map[string]string // of memories, with the first note that carries each
	settles func() map[string]Copy
}

func (l *scanner) all(ctx context.Context) error {
	return fs.WalkDir(l.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && d != nil && d.IsDir():
			l.find("vault-unreadable", Warning, "chmod u+rx "+l.shell(name), "cannot read the folder %s",
				l.path(name))
			return fs.SkipDir
		case err != nil:
			return nil // deleted since
		case d.IsDir() && (name == "." || !strings.HasPrefix(d.Name(), ".")):
			if _, reason := l.vault.Classify(path.Join(name, "a.md")); reason == vault.Ignored {
				return fs.SkipDir
			}
			l.survey.Folders++
			l.twin(name)
			return nil
		case d.IsDir():
			return fs.SkipDir
		}
		return l.file(ctx, name, d)
	})
}

func (l *scanner) file(ctx context.Context, name string, d fs.DirEntry) error {
	note, reason := l.vault.Classify(name)
	switch {
	case reason == vault.NotLocal:
		l.find("vault-evicted", Note, "brctl download "+l.shell(note),
			"note %s is only in the cloud, so searches do not include it; download the note", l.path(note))
		return nil
	case reason != "" || !d.Type().IsRegular():
		return nil
	}
	l.twin(name)
	if info, err := d.Info(); err == nil && info.Size() > vault.MaxSize {
		l.find("note-large", Warning, "ls -l "+l.shell(name), "the note %s has %.1f MiB, and emberd reads only "+
			"notes of up to %d MiB; split the note, or move it out of the vault", l.path(name),
			float64(info.Size())/(1<<20), vault.MaxSize>>20)
	}
	text, err := l.read(name)
	l.number(ctx, name, text)
	if of, ok := notename.IsCopy(name); ok {
		return l.copied(name, of)
	}
	ours := err == nil && bytes.HasPrefix(text, []byte("---")) && bytes.Contains(text, []byte("\nmemory-id:"))
	if ours {
		l.carries(name, frontmatter.Get(text, "memory-id"))
	}
	if ours && marked(text) {
		l.find("note-merge", Warning, "${EDITOR:-vi} "+l.shell(name), "note %s of a memory contains merge conflict "+
			"markers (<<<<<<< and >>>>>>>); resolve the conflict; until then, emberd does not update the note",
			l.path(name))
	}
	return nil
}

// carries tells of a note with the ID of a memory that another note has.
func (l *scanner) carries(name, id string) {
	if id == "" || l.archive != "" && strings.HasPrefix(name, l.archive+"/") {
		return
	}
	if l.ids == nil {
		l.ids = make(map[string]string)
	}
	other, twice := l.ids[id]
	if !twice {
		l.ids[id] = name
		return
	}
	if l.settled(other) || l.settled(name) {
		return
	}
	l.find("note-twice", Warning, "emberd vault check", "the notes %s and %s have the same memory ID, but a memory "+
		"can have only one note; to see how to fix this, run: emberd vault check", l.path(other), l.path(name))
}

// number counts a note. A list of memories, which begins with a property, is none.
func (l *scanner) number(ctx context.Context, name string, text []byte) {
	if bytes.Contains(text, []byte(vault.ListKey)) {
		if note, err := l.vault.Read(ctx, name); err == nil && vault.IsList(note.List) {
			return
		}
	}
	if l.archive != "" && strings.HasPrefix(name, l.archive+"/") {
		l.survey.Archived++
		return
	}
	l.survey.Notes++
}

// marked reports whether a note holds what git leaves where two sides changed a place.
func marked(text []byte) bool {
	return bytes.Contains(text, []byte("\n<<<<<<< ")) && bytes.Contains(text, []byte("\n>>>>>>> "))
}

// settled tells of a second note of a memory that the daemon settles by itself or asks about, and reports whether
// it does.
func (l *scanner) settled(name string) bool {
	if l.settles == nil {
		return false
	}
	c, is := l.settles()[name]
	if is {
		l.find("sync-settled", Note, c.Next, "%s: %s", l.path(name), c.Text)
	}
	return is
}

// sameMemory reports whether two notes have the ID of one memory.
func sameMemory(one, other []byte) bool {
	id := frontmatter.Get(one, "memory-id")
	return id != "" && id == frontmatter.Get(other, "memory-id")
}

// copied tells of the copy of a note.
func (l *scanner) copied(name, of string) error {
	if l.settled(name) {
		return nil
	}
	if _, err := l.root.Lstat(of); of == "" || err != nil {
		l.find("sync-copy", Warning, "${EDITOR:-vi} "+l.shell(name),
			"%s is a sync conflict copy, but the original note is missing; rename the copy", l.path(name))
		return nil
	}
	one, errOne := l.read(name)
	other, errOther := l.read(of)
	if l.settles == nil && sameMemory(one, other) {
		l.find("sync-settled", Note, "", "%s is a sync conflict copy of the note of a memory; when the "+
			"daemon runs, it resolves the conflict or adds a review item", l.path(name))
		return nil
	}
	if errOne == nil && errOther == nil && bytes.Equal(one, other) {
		l.find("sync-copy", Warning, "rm "+l.shell(name),
			"%s is a sync conflict copy with the same content as the note; delete the copy", l.path(name))
		return nil
	}
	l.find("sync-copy", Warning, "diff "+l.shell(of)+" "+l.shell(name), "%s is a sync conflict copy: two devices "+
		"changed the note; merge the differences into the note and delete the copy", l.path(name))
	return nil
}

// twin tells of names that are one on systems that know no capitals, such as macOS.
func (l *scanner) twin(name string) {
	key := strings.ToLower(norm.NFC.String(name))
	if other, taken := l.names[key]; taken && path.Dir(other) == path.Dir(name) {
		l.find("vault-twins", Warning,
			"mv -n "+l.shell(name)+" "+l.shell(strings.TrimSuffix(name, path.Ext(name))+" 2"+path.Ext(name)), "%s "+
				"and %s have the same name on macOS and Windows, where "+
				"a sync tool loses one of them; rename one of them", l.path(other), path.Base(name))
		return
	}
	l.names[key] = name
}

// read returns a note of at most [maxNote] bytes. It does not open a larger one.
func (l *scanner) read(name string) ([]byte, error) {
	return durable.ReadAtMost(durable.NewRoot(l.root), name, maxNote)
}

func (l *scanner) find(code string, severity Severity, next, text string, args ...any) {
	if l.counts[code]++; l.counts[code] > maxListed {
		return
	}
	area, _, _ := strings.Cut(code, "-")
	l.survey.Findings = append(l.survey.Findings,
		Finding{Area: area, Code: code, Severity: severity, Text: fmt.Sprintf(text, args...), Next: next})
}

// more sums up what was not told one by one.
func (l *scanner) more() (out []Finding) {
	for _, f := range slices.Clone(l.survey.Findings) {
		if n := l.counts[f.Code] - maxListed; n > 0 {
			l.counts[f.Code] = 0
			out = append(out, Finding{Area: f.Area, Code: f.Code, Severity: f.Severity, Next: "emberd doctor",
				Text: fmt.Sprintf("%s of this kind; to see them, fix the first %d", count(n, "more finding",
					"more findings"),
					maxListed)})
		}
	}
	return out
}

func (l *scanner) path(name string) string { return filepath.Join(l.dir, filepath.FromSlash(name)) }

func (l *scanner) shell(name string) string { return text.ShellWord(l.path(name)) }
