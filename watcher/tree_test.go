package watcher

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// proof is whether the long versions of these tests are asked for.
func proof() bool { return os.Getenv("EMBERD_PROOF") != "" }

// sized returns how much of something a test takes: usual, or long as a proof.
func sized(usual, long int) int {
	if proof() {
		return long
	}
	return usual
}

// soon are options for tests on real files that wait for deletions.
func soon() Options { return Options{Grace: 50 * time.Millisecond} }

// populate makes a folder with n notes in folders of fifty.
func (d disk) populate(dir string, n int) {
	d.Helper()
	for i := range n {
		d.note(fmt.Sprintf("%s/%02d/%d/note %d.md", dir, i/500, i/50%10, i), "some text")
	}
}

func TestFoldersMadeInOneGo(t *testing.T) {
	t.Parallel()
	d := disk{t, t.TempDir()}
	f := follow(t, d.dir, soon())
	for i := range sized(300, 3000) {
		d.note(fmt.Sprintf("a%d/b/c/note.md", i), "text")
		d.write(fmt.Sprintf("a%d/beside.md", i), "text")
	}
	f.settled()
	for i := range 20 {
		d.write(fmt.Sprintf("a%d/b/c/note.md", i), "edited in the new folder")
	}
	f.settled()
	if s := f.Status(); s.Watches != s.Folders || s.Mode != Watching {
		t.Errorf("status %+v, want every folder watched", s)
	}
	f.audit()
}

// The same without a pause: folders and files while earlier ones are looked at.
func TestFoldersMadeWhileLooking(t *testing.T) {
	t.Parallel()
	d := disk{t, t.TempDir()}
	f := follow(t, d.dir, soon())
	for i := range sized(50, 1000) {
		d.note(fmt.Sprintf("a%d/b/c/note.md", i), "text")
		if i%10 == 0 {
			f.buffer.markAll()
			f.until("the next look", func() bool { return len(f.told) > 9*i/10 })
		}
	}
	f.audit()
}

// Files that are written while their new folder is being listed are in the
// listing or raise an event.
func TestFilesMadeWhileTheirFolderIsListed(t *testing.T) {
	t.Parallel()
	d, outside := disk{t, t.TempDir()}, disk{t, t.TempDir()}
	for i := range sized(1500, 10_000) {
		outside.note(fmt.Sprintf("folder/old %d.md", i), "text")
	}
	f := follow(t, d.dir, soon())
	d.ok(os.Rename(outside.path("folder"), d.path("folder")))
	for i := 0; f.count() < 2; i++ {
		d.write(fmt.Sprintf("folder/new %d.md", i), "text")
	}
	f.audit()
}

func TestLargeFolderComesAndGoes(t *testing.T) {
	t.Parallel()
	notes := sized(2000, 5000)
	d, outside := disk{t, t.TempDir()}, disk{t, t.TempDir()}
	d.populate("stays", 100)
	outside.populate("big", notes)
	f := follow(t, d.dir, soon())

	from := f.count()
	d.ok(os.Rename(outside.path("big"), d.path("big")))
	f.settled()
	if got := f.count() - from; got != 1 {
		t.Errorf("moved in: %d batches, want one", got)
	}
	f.edit(d, "big")

	for _, name := range []string{"other", "Other", "stays/below"} {
		from := f.count()
		d.rename(f.big(), name)
		f.settled()
		if got := f.moves(from); got != notes {
			t.Errorf("renamed to %s: %d moves, want %d", name, got, notes)
		}
		f.edit(d, name)
	}

	d.ok(os.Rename(d.path("stays/below"), outside.path("big")))
	f.frozen()
	f.Confirm()
	f.audit()
}

// big returns the folder that holds the many notes.
func (f *follower) big() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for p := range f.told {
		if top, _, _ := strings.Cut(p, "/"); top != "stays" {
			return top
		}
	}
	f.t.Fatal("no folder beside stays")
	return ""
}

// edit writes deep in a folder, where only a watch under its present name helps.
func (f *follower) edit(d disk, dir string) {
	f.t.Helper()
	d.write(filepath.Join(dir, "03/7/note 1850.md"), "edited in "+dir)
	d.note(filepath.Join(dir, "03/7/deeper/new.md"), "new in "+dir)
	f.settled()
	d.remove(filepath.Join(dir, "03/7/deeper"))
	f.settled()
}

func (f *follower) moves(from int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, b := range f.batches[from:] {
		n += len(b.Moved)
	}
	return n
}

func TestRenamesBackAndForth(t *testing.T) {
	t.Parallel()
	d := disk{t, t.TempDir()}
	d.populate("a", 200)
	f := follow(t, d.dir, soon())
	for i := range sized(8, 150) {
		d.rename("a", "b")
		d.write("b/00/0/note 1.md", fmt.Sprint("round ", i))
		if i%3 == 0 {
			f.settled()
		}
		d.rename("b", "a")
		d.note(fmt.Sprintf("a/00/new %d/new.md", i), "new")
		if i%4 == 0 {
			f.settled()
		}
	}
	f.settled()
	d.write("a/00/0/note 1.md", "last of all")
	f.audit()
}

func TestAFolderTakesThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	d, outside := disk{t, t.TempDir()}, disk{t, t.TempDir()}
	d.populate("a", 4)
	outside.populate("a", 4)
	f := follow(t, d.dir, soon())
	f.buffer.mu.Lock()
	d.ok(os.Rename(d.path("a"), outside.path("old")))
	d.ok(os.Rename(outside.path("a"), d.path("a")))
	f.buffer.mu.Unlock()
	f.settled()
	d.write("a/00/0/note 1.md", "in the other folder")
	f.settled()
	d.remove("a")
	d.write("a", "a file without a note's name")
	f.settled()
	d.remove("a")
	d.note("a/again.md", "a folder again")
	f.audit()
}

func TestFileIsRenamed(t *testing.T) {
	t.Parallel()
	d := disk{t, t.TempDir()}
	d.note("old.md", "text")
	d.mkdir("folder")
	f := follow(t, d.dir, Options{Grace: time.Hour})
	for _, step := range [][2]string{{"old.md", "new.md"}, {"new.md", "New.md"}, {"New.md", "folder/New.md"}} {
		from := f.count()
		d.rename(step[0], step[1])
		f.settled()
		if got := f.moves(from); got != 1 || f.count() != from+1 {
			t.Errorf("%s renamed to %s: %d moves in %d batches, want one in one", step[0], step[1], got, f.count()-from)
		}
	}
}

// Names that mean an unfinished file mean nothing for a folder.
func TestFoldersNamedLikeUnfinishedFiles(t *testing.T) {
	t.Parallel()
	d := disk{t, t.TempDir()}
	f := follow(t, d.dir, soon())
	names := []string{"old~", "x.tmp", "#box#", "~$box"}
	for _, name := range names {
		d.note(name+"/note.md", "text")
		d.note(name+"/old~/note.md", "text")
		d.write("note.md~", "no folder, and no note")
	}
	f.settled()
	for _, name := range names {
		p := name + "/old~/note.md"
		if changed, _ := f.heard(p, 0); len(changed) != 1 {
			t.Errorf("%s: %d changes, want one", p, len(changed))
		}
		d.rename(name, "Plain "+name)
	}
	d.rename("Plain old~", "new~")
	f.audit()
}

func TestNamesThatDifferInCase(t *testing.T) {
	t.Parallel()
	d := disk{t, t.TempDir()}
	d.write("note.md", "text")
	d.note("folder/a.md", "text")
	f := follow(t, d.dir, soon())
	d.write("Note.md", "another")
	d.note("Folder/a.md", "another")
	f.settled()
	d.write("folder/a.md", "edited")
	d.write("Folder/a.md", "edited too")
	f.audit()
}

func TestRealRootIsMovedAwayAndBack(t *testing.T) {
	t.Parallel()
	d := disk{t, filepath.Join(t.TempDir(), "vault")}
	d.populate(".", 100)
	f := follow(t, d.dir, soon())
	d.ok(os.Rename(d.dir, d.dir+".away"))
	f.frozen()
	d.ok(os.WriteFile(d.dir+".away/while away.md", []byte("text"), 0o600))
	d.ok(os.Rename(d.dir+".away", d.dir))
	f.thawed()
	f.settled()
	d.write("00/0/note 1.md", "edited when back")
	f.settled()
	f.mu.Lock()
	for _, b := range f.batches {
		if len(b.Gone) > 0 {
			t.Errorf("%d notes were reported gone", len(b.Gone))
		}
	}
	f.mu.Unlock()
	f.audit()
}

func TestGitSwitchesBranches(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is missing; install the package of that name")
	}
	d := disk{t, t.TempDir()}
	run := func(input string, args ...string) {
		t.Helper()
		cmd := exec.Command(git, args...)
		cmd.Dir, cmd.Stdin = d.dir, strings.NewReader(input)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	notes := sized(600, 3000)
	run("", "init", "-q")
	run(commit("main", notes, "text")+commit("other", notes+30, "other text"), "fast-import", "--quiet")
	run("", "checkout", "-q", "main")
	f := follow(t, d.dir, soon())
	for range sized(1, 10) {
		run("", "checkout", "-q", "other")
		f.settled()
		run("", "checkout", "-q", "main")
		f.settled()
	}
	f.audit()
}

// commit returns what git fast-import makes a branch with n notes of.
func commit(branch string, n int, text string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "commit refs/heads/%s\ncommitter n <e> 1700000000 +0000\ndata 0\n", branch)
	for i := range n {
		body := fmt.Sprintf("%s of note %d", text, i)
		fmt.Fprintf(&b, "M 644 inline notes/%02d/%d/note %d.md\ndata %d\n%s\n", i/500, i/50%10, i, len(body), body)
	}
	return b.String()
}
