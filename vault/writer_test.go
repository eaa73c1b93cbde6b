package vault_test

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"emberd/vault"
	"emberd/vault/frontmatter"
	"emberd/vault/notename"
)

func TestUpdate(t *testing.T) {
	d := newDesk(t, files{"a.md": "human\n"})
	res, err := d.writer.Update(t.Context(), "a.md", stamp("1"))
	wantOutcome(t, res, err, vault.Written, "")
	want := stamped("1", "human\n")
	if got := d.read(t, "a.md"); got != want || res.Digest != sha256.Sum256([]byte(want)) {
		t.Errorf("got %q, digest %x", got, res.Digest)
	}
	if got, err := os.ReadFile(res.Backup); string(got) != "human\n" || err != nil {
		t.Errorf("backup: %q, %v, want what was there", got, err)
	}
	res, err = d.writer.Update(t.Context(), "a.md", stamp("2"))
	wantOutcome(t, res, err, vault.Later, vault.RecentlyOurs)
	d.finish(t)
	before, err := os.Stat(filepath.Join(d.dir, "a.md"))
	must(t, err)
	res, err = d.writer.Update(t.Context(), "a.md", stamp("1"))
	wantOutcome(t, res, err, vault.Written, "")
	if after, err := os.Stat(filepath.Join(d.dir, "a.md")); err != nil || !os.SameFile(before, after) {
		t.Errorf("writing what is there replaced the file: %v", err)
	}
}

func TestCreate(t *testing.T) {
	d := newDesk(t, files{"Memories/Old.md": "x"})
	must(t, os.Chmod(d.dir, 0o750))
	res, err := d.writer.Create(t.Context(), "New/Deep/a.md", []byte("text"))
	wantOutcome(t, res, err, vault.Written, "")
	info, err := os.Stat(filepath.Join(d.dir, "New/Deep/a.md"))
	must(t, err)
	if got := d.read(t, "New/Deep/a.md"); got != "text" || info.Mode() != 0o640 {
		t.Errorf("got %q with mode %v, want the text, for the readers of the folder", got, info.Mode())
	}
	res, err = d.writer.Create(t.Context(), "New/Deep/a.md", []byte("text"))
	wantOutcome(t, res, err, vault.Written, "")
	for name, other := range map[string]string{"Memories/Old.md": "Memories/Old.md", "Memories/OLD.md": "Memories/Old.md"} {
		res, err = d.writer.Create(t.Context(), name, []byte("y"))
		wantOutcome(t, res, err, vault.Refused, vault.NameTaken)
		if res.Taken != other {
			t.Errorf("%s is taken by %q, want %q", name, res.Taken, other)
		}
	}
	d.finish(t)
}

// Case 57 in a folder: NFC and NFD, capitals and small letters are one name.
func TestCase57LookAlikes(t *testing.T) {
	d := newDesk(t, files{"Cafe\u0301.md": "x"})
	for _, title := range []string{"Café", "CAFE\u0301", "cafe\u0301"} {
		res, err := d.writer.Create(t.Context(), notename.New(title, ""), []byte("y"))
		wantOutcome(t, res, err, vault.Refused, vault.NameTaken)
		res, err = d.writer.Create(t.Context(), notename.New(title, "k3f9"), []byte(title))
		if title == "Café" {
			wantOutcome(t, res, err, vault.Written, "")
		} else {
			wantOutcome(t, res, err, vault.Refused, vault.NameTaken)
		}
	}
	for _, bad := range []string{"../x.md", "/etc/x.md", "a/../../x.md", ".hidden.md", "x", "a\x00.md"} {
		res, err := d.writer.Create(t.Context(), bad, nil)
		if err != nil || res.Outcome != vault.Refused {
			t.Errorf("%q: %v, %v, want it refused", bad, res, err)
		}
	}
}

func TestMoveAndRemove(t *testing.T) {
	d := newDesk(t, files{"a.md": "a", "b.md": "b"})
	res, err := d.writer.Move(t.Context(), "a.md", "b.md")
	wantOutcome(t, res, err, vault.Refused, vault.NameTaken)
	res, err = d.writer.Move(t.Context(), "a.md", "Archive/a.md")
	wantOutcome(t, res, err, vault.Written, "")
	if d.read(t, "a.md") != "(gone)" || d.read(t, "Archive/a.md") != "a" {
		t.Errorf("after the move: %q and %q", d.read(t, "a.md"), d.read(t, "Archive/a.md"))
	}
	res, err = d.writer.Remove(t.Context(), "b.md", sha256.Sum256([]byte("other")))
	wantOutcome(t, res, err, vault.Conflict, vault.HumanChanged)
	res, err = d.writer.Remove(t.Context(), "b.md", sha256.Sum256([]byte("b")))
	wantOutcome(t, res, err, vault.Written, "")
	if got := d.kept(t); d.read(t, "b.md") != "(gone)" || !slices.Equal(got, []string{"b"}) {
		t.Errorf("after the removal: %q, backups %q", d.read(t, "b.md"), got)
	}
	d.finish(t)
}

func TestRemovedNoteThatIsSavedComesBack(t *testing.T) {
	d := newDesk(t, files{"a.md": "a"})
	editor, err := os.OpenFile(filepath.Join(d.dir, "a.md"), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	res, err := d.writer.Remove(t.Context(), "a.md", sha256.Sum256([]byte("a")))
	wantOutcome(t, res, err, vault.Written, "")
	_, err = editor.WriteString(" and more")
	must(t, errors.Join(err, editor.Close()))
	events := d.finish(t)
	if got := d.read(t, "a.md"); got != "a and more" || len(events) != 1 || !events[0].Restored {
		t.Errorf("got %q, events %v, want the late text back", got, events)
	}
}

// Case 48, 41, 46, 47 and the quiet rule: not now.
func TestNotesThatWait(t *testing.T) {
	for name, c := range map[string]struct {
		all   files
		after func(t *testing.T, d *desk)
		why   vault.Reason
	}{
		"just saved":    {files{"a.md": "x"}, func(t *testing.T, d *desk) { d.clock.Add(-time.Hour) }, vault.NotQuiet},
		"in the future": {files{"a.md": "x"}, func(t *testing.T, d *desk) { d.clock.Add(-100 * 24 * time.Hour) }, vault.NotQuiet},
		"Syncthing":     {files{"a.md": "x", "a.sync-conflict-20260102-030405-ABCDEFG.md": "y"}, nil, vault.ConflictCopy},
		"Dropbox":       {files{"a.md": "x", "a (Ann's conflicted copy 2026-01-02).md": "y"}, nil, vault.ConflictCopy},
		"Obsidian":      {files{"a.md": "x", "a (Conflicted copy phone 202601020304).md": "y"}, nil, vault.ConflictCopy},
		"iCloud":        {files{"a.md": "---\nmemory-id: m\n---\n", "a 2.md": "---\nmemory-id: m\n---\nx"}, nil, vault.ConflictCopy},
		"merge":         {files{"a.md": "x\n<<<<<<< HEAD\ny\n=======\nz\n>>>>>>> b\n"}, nil, vault.MergeMarks},
		"stub":          {files{".a.md.icloud": "x"}, nil, vault.Gone},
		"git lock":      {files{"a.md": "x", ".git/index.lock": ""}, nil, vault.GitBusy},
		"git merge":     {files{"a.md": "x", ".git/MERGE_HEAD": ""}, nil, vault.GitBusy},
		"git rebase":    {files{"a.md": "x", ".git/rebase-merge/done": ""}, nil, vault.GitBusy},
		"git worktree":  {files{"a.md": "x", ".git": "gitdir: .elsewhere\n", ".elsewhere/index.lock": ""}, nil, vault.GitBusy},
		"folder replaced": {files{"a.md": "x"}, func(t *testing.T, d *desk) {
			must(t, os.Rename(d.dir, d.dir+"-away"))
			must(t, os.Mkdir(d.dir, 0o700))
		}, vault.VaultReplaced},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, c.all)
			if c.after != nil {
				c.after(t, d)
			}
			res, err := d.writer.Update(t.Context(), "a.md", stamp("1"))
			if c.why == vault.Gone {
				wantOutcome(t, res, err, vault.Refused, vault.Gone)
				res, err = d.writer.Create(t.Context(), "a.md", nil)
				c.why = vault.NotLocal
			}
			wantOutcome(t, res, err, vault.Later, c.why)
			if now := d.clock.Now(); !res.Until.After(now) || res.Until.After(now.Add(24*time.Hour)) {
				t.Errorf("until %v, want within a day of %v", res.Until, now)
			}
			if len(d.kept(t)) > 0 || len(d.strays(t)) > 0 {
				t.Errorf("something was written: %v", d.strays(t))
			}
		})
	}
}

func TestNumberedNotesAreNoCopies(t *testing.T) {
	d := newDesk(t, files{"Chapter.md": "x", "Chapter 2.md": "y", "Chapter two.md": "z"})
	res, err := d.writer.Update(t.Context(), "Chapter.md", stamp("1"))
	wantOutcome(t, res, err, vault.Written, "")
}

// Case 55: what cannot be kept is refused, the rest is kept.
func TestCase55FilesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, file string)
		why     vault.Reason
	}{
		"hard link": {func(t *testing.T, file string) { must(t, os.Link(file, file+".2")) }, vault.HardLinked},
		"read-only": {func(t *testing.T, file string) { must(t, os.Chmod(file, 0o444)) }, vault.ReadOnly},
		"symbolic link": {func(t *testing.T, file string) {
			must(t, os.Rename(file, file+".2"))
			must(t, os.Symlink(file+".2", file))
		}, vault.Symlink},
		"gone":               {func(t *testing.T, file string) { must(t, os.Remove(file)) }, vault.Gone},
		"folder":             {func(t *testing.T, file string) { must(t, os.Remove(file)); must(t, os.Mkdir(file, 0o700)) }, vault.NotRegular},
		"not text":           {func(t *testing.T, file string) { must(t, os.WriteFile(file, []byte("\xff\xfea"), 0o600)) }, vault.NotText},
		"too large":          {func(t *testing.T, file string) { must(t, os.Truncate(file, vault.MaxWritten+1)) }, vault.TooLarge},
		"broken frontmatter": {func(t *testing.T, file string) { must(t, os.WriteFile(file, []byte("---\na: [\n---\n"), 0o600)) }, frontmatter.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, files{"a.md": "human"})
			c.prepare(t, filepath.Join(d.dir, "a.md"))
			before := d.listing(t)
			res, err := d.writer.Update(t.Context(), "a.md", stamp("1"))
			wantOutcome(t, res, err, vault.Refused, c.why)
			if after := d.listing(t); !slices.Equal(before, after) {
				t.Errorf("the vault changed:\n%s\nwas\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
			}
			d.finish(t)
		})
	}
}

// listing is every file with its mode, size and time.
func (d *desk) listing(t testing.TB) []string {
	t.Helper()
	var all []string
	must(t, filepath.WalkDir(d.dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			all = append(all, fs.FormatFileInfo(info))
		}
		return err
	}))
	return all
}

func TestCase55ModeOwnerAndAttributesStay(t *testing.T) {
	d := newDesk(t, files{"a.md": "human"})
	file := filepath.Join(d.dir, "a.md")
	must(t, os.Chmod(file, 0o640))
	owner := os.Geteuid()
	if owner == 0 {
		owner = 65534
		must(t, os.Chown(file, owner, owner))
	}
	err := unix.Setxattr(file, "user.color", []byte("red"), 0)
	attributes := !errors.Is(err, unix.ENOTSUP)
	if attributes {
		must(t, err)
	}
	res, err := d.writer.Update(t.Context(), "a.md", stamp("1"))
	wantOutcome(t, res, err, vault.Written, "")
	info, err := os.Stat(file)
	must(t, err)
	if st := info.Sys().(*syscall.Stat_t); info.Mode() != 0o640 || int(st.Uid) != owner || time.Since(info.ModTime()) > time.Minute {
		t.Errorf("mode %v, owner %d, time %v, want 0640, %d, now", info.Mode(), st.Uid, info.ModTime(), owner)
	}
	if attributes {
		value := make([]byte, 10)
		if n, err := unix.Getxattr(file, "user.color", value); err != nil || string(value[:n]) != "red" {
			t.Errorf("attribute: %q, %v, want red", value[:max(n, 0)], err)
		}
	}
	d.finish(t)
}

// Case 52: a user saves between reading and exchanging, and into the file that was
// displaced.
func TestCase52SavesInBetween(t *testing.T) {
	for mode, step := range map[string]func(op, name string) error{"exchange": noExchange(), "fallback": noExchange("exchange")} {
		for name, save := range map[string]func(t *testing.T, file string){
			"in place": func(t *testing.T, file string) { must(t, os.WriteFile(file, []byte("newer"), 0o600)) },
			"by rename": func(t *testing.T, file string) {
				must(t, os.WriteFile(file+".tmp", []byte("newer"), 0o600))
				must(t, os.Rename(file+".tmp", file))
			},
		} {
			t.Run(mode+" "+name, func(t *testing.T) {
				d := newDesk(t, files{"a.md": "human"})
				saved := false
				d.step = func(op, note string) error {
					if note == "a.md" && (op == "exchange" || op == "rename") && !saved && step(op, note) == nil {
						saved = true
						save(t, filepath.Join(d.dir, "a.md"))
					}
					return step(op, note)
				}
				res, err := d.writer.Update(t.Context(), "a.md", stamp("1"))
				wantOutcome(t, res, err, vault.Conflict, vault.HumanChanged)
				if got := d.read(t, "a.md"); got != "newer" {
					t.Errorf("got %q, want what the human saved", got)
				}
				d.finish(t)
				if got := d.read(t, "a.md"); got != "newer" {
					t.Errorf("in the end: %q, want what the human saved", got)
				}
			})
		}
	}
}

// A save before names change is no conflict yet: the edit is applied to what it left.
func TestCase52SavesWhileTheNewTextIsMade(t *testing.T) {
	d := newDesk(t, files{"a.md": before})
	saved := false
	d.step = func(op, name string) error {
		if op == "create" && strings.HasPrefix(name, vault.TempPrefix) && !saved {
			saved = true
			d.save(t, "a.md", newer)
		}
		return nil
	}
	res, err := d.writer.Update(t.Context(), "a.md", stamp("1"))
	wantOutcome(t, res, err, vault.Written, "")
	if got := d.read(t, "a.md"); got != stamped("1", newer) {
		t.Errorf("got %q, want the edit in what the human saved", got)
	}
	d.finish(t)
}

// An editor that renames the note to its backup and makes a new one leaves nothing at
// the name for a moment, which is no reason to put anything there.
func TestCase52RenamedAwayInBetween(t *testing.T) {
	for mode, without := range map[string][]string{"exchange": nil, "fallback": {"exchange"}} {
		t.Run(mode, func(t *testing.T) {
			d := newDesk(t, files{"a.md": before})
			file, steps := filepath.Join(d.dir, "a.md"), noExchange(without...)
			changed := false
			d.step = func(op, name string) error {
				if op == "syncdir" && d.read(t, "a.md") == stamped("1", before) && !changed {
					changed = true
					must(t, os.Rename(file, file+"~"))
				}
				return steps(op, name)
			}
			_, err := d.writer.Update(t.Context(), "a.md", stamp("1"))
			must(t, err)
			if got := d.read(t, "a.md"); got != "(gone)" || !changed {
				t.Errorf("the note that was renamed away is %q", got)
			}
			d.save(t, "a.md", newer)
			d.finish(t)
			if got := d.read(t, "a.md"); got != newer {
				t.Errorf("the note is %q, want what the human saved", got)
			}
		})
	}
}

func TestCase52SavesIntoTheDisplacedFile(t *testing.T) {
	for mode, step := range map[string]func(op, name string) error{
		"exchange": nil, "fallback": noExchange("exchange"), "another disk": noExchange("export"), "fallback to another disk": noExchange("exchange", "export"),
	} {
		for name, restart := range map[string]bool{"running": false, "restarted": true} {
			t.Run(mode+" "+name, func(t *testing.T) {
				d := newDesk(t, files{"a.md": "human"})
				d.step = step
				editor, err := os.OpenFile(filepath.Join(d.dir, "a.md"), os.O_WRONLY, 0)
				must(t, err)
				res, err := d.writer.Update(t.Context(), "a.md", stamp("1"))
				wantOutcome(t, res, err, vault.Written, "")
				if restart {
					d.reopen(t)
				}
				must(t, editor.Truncate(0))
				d.clock.Add(time.Second)
				_, err = d.writer.Check(t.Context())
				must(t, err)
				_, err = editor.WriteString("saved late")
				must(t, errors.Join(err, editor.Close()))
				d.finish(t)
				if got := d.read(t, "a.md"); got != "saved late" {
					t.Errorf("got %q, backups %q, want what was saved late", got, d.kept(t))
				}
				if res, err := d.writer.Update(t.Context(), "a.md", stamp("1")); err != nil || res.Outcome != vault.Written {
					t.Errorf("written anew: %v, %v", res, err)
				}
			})
		}
	}
}

// Case 58: without the exchange of names, without exclusive renames, without links,
// and with backups on another disk, a note is written all the same.
func TestCase58Fallbacks(t *testing.T) {
	for name, without := range map[string][]string{
		"exchange":                   {"exchange"},
		"exchange, exclusive rename": {"exchange", "put"},
		"all":                        {"exchange", "put", "link"},
		"another disk":               {"export"},
		"all, another disk":          {"exchange", "put", "link", "export"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, files{"a.md": "human"})
			d.step = noExchange(without...)
			res, err := d.writer.Update(t.Context(), "a.md", stamp("1"))
			wantOutcome(t, res, err, vault.Written, "")
			if got := d.read(t, "a.md"); got != stamped("1", "human") {
				t.Errorf("got %q", got)
			}
			if d.writer.Fallback() != slices.Contains(without, "exchange") {
				t.Errorf("fallback: %v", d.writer.Fallback())
			}
			res, err = d.writer.Create(t.Context(), "b.md", []byte("new"))
			wantOutcome(t, res, err, vault.Written, "")
			res, err = d.writer.Move(t.Context(), "b.md", "c.md")
			wantOutcome(t, res, err, vault.Written, "")
			d.finish(t)
			if got := d.kept(t); !slices.Equal(got, []string{"human"}) {
				t.Errorf("backups %q", got)
			}
		})
	}
}

func TestOldBackupsGo(t *testing.T) {
	d := newDesk(t, files{"a.md": "human"})
	must(t, os.WriteFile(filepath.Join(d.backups(), "somebody's"), nil, 0o600))
	res, err := d.writer.Update(t.Context(), "a.md", stamp("1"))
	wantOutcome(t, res, err, vault.Written, "")
	d.finish(t)
	d.clock.Add(29 * 24 * time.Hour)
	_, err = d.writer.Check(t.Context())
	must(t, err)
	if got := len(d.kept(t)); got != 2 {
		t.Errorf("after 29 days %d backups, want both", got)
	}
	d.clock.Add(2 * 24 * time.Hour)
	if due := d.writer.Due(); due.After(d.clock.Now()) {
		t.Errorf("due %v, want it before %v", due, d.clock.Now())
	}
	_, err = d.writer.Check(t.Context())
	must(t, err)
	if got := len(d.kept(t)); got != 1 {
		t.Errorf("after 31 days %d backups, want the one that is not ours", got)
	}
}
