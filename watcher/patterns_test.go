package watcher

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"emberd/internal/testutil/bubble"
)

// patterns are the ways programs save note.md, with a call of step between any
// two system calls between which a look may fall.
func patterns() map[string]func(d disk, text string, step func()) {
	inPlace := func(d disk, text string, step func()) {
		f, err := os.OpenFile(d.path("note.md"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		d.ok(err)
		step()
		half := len(text) / 2
		_, err = f.WriteString(text[:half])
		d.ok(err)
		step()
		_, err = f.WriteString(text[half:])
		d.ok(err)
		d.ok(f.Close())
		step()
	}
	renamed := func(d disk, temp, text string, step func()) {
		d.write(temp, text)
		step()
		d.rename(temp, "note.md")
		step()
	}
	probe := func(d disk, step func()) {
		d.write("4913", "")
		step()
		d.remove("4913")
		step()
	}
	return map[string]func(d disk, text string, step func()){
		"truncate and write": inPlace,
		"an empty write first": func(d disk, text string, step func()) {
			d.write("note.md", "")
			step()
			d.write("note.md", text)
			step()
		},
		"vim, backupcopy=yes": func(d disk, text string, step func()) {
			d.write("note.md~", "the old text")
			step()
			inPlace(d, text, step)
			d.remove("note.md~")
			step()
		},
		"vim, backupcopy=no": func(d disk, text string, step func()) {
			probe(d, step)
			d.rename("note.md", "note.md~")
			step()
			inPlace(d, text, step)
			d.remove("note.md~")
			step()
		},
		"emacs": func(d disk, text string, step func()) {
			d.ok(os.Symlink("me@here.1:1", d.path(".#note.md")))
			d.write("#note.md#", text)
			step()
			d.remove("note.md~")
			d.rename("note.md", "note.md~")
			step()
			inPlace(d, text, step)
			d.remove(".#note.md")
			d.remove("#note.md#")
			step()
		},
		"safe write": func(d disk, text string, step func()) {
			d.write("note.md___jb_tmp___", text)
			step()
			d.rename("note.md", "note.md___jb_old___")
			step()
			d.rename("note.md___jb_tmp___", "note.md")
			step()
			d.remove("note.md___jb_old___")
			step()
		},
		"atomic rename": func(d disk, text string, step func()) {
			renamed(d, ".goutputstream-X1Y2Z3", text, step)
		},
		"syncthing": func(d disk, text string, step func()) {
			d.write("elsewhere", text)
			d.ok(os.Chtimes(d.path("elsewhere"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
			d.rename("elsewhere", ".syncthing.note.md.tmp")
			step()
			d.rename(".syncthing.note.md.tmp", "note.md")
			step()
		},
		"same size and time": func(d disk, text string, step func()) {
			info, err := os.Stat(d.path("note.md"))
			d.ok(err)
			same := []byte(text + "                              ")[:info.Size()]
			d.ok(os.WriteFile(d.path("note.md"), same, 0o600))
			step()
			d.ok(os.Chtimes(d.path("note.md"), info.ModTime(), info.ModTime()))
			step()
		},
		"delete and create": func(d disk, text string, step func()) {
			d.remove("note.md")
			step()
			inPlace(d, text, step)
		},
	}
}

// With the events of a save read at one go, however it is done there is one
// report with the last state.
func TestASaveIsOneChange(t *testing.T) {
	t.Parallel()
	d := disk{t, t.TempDir()}
	d.write("note.md", "the first text of all")
	f := follow(t, d.dir, Options{Grace: 100 * time.Millisecond})
	for name, save := range patterns() {
		f.checkSave(name, func() { save(d, "saved by "+name, func() {}) })
	}
	for _, mode := range []string{"yes", "no", "auto"} {
		f.checkSave("real vim, backupcopy="+mode, func() { d.vim(mode) })
	}
	f.audit()
}

// vim saves note.md with the real program, or without a backup where there is
// none.
func (d disk) vim(mode string) {
	vim, err := exec.LookPath("vim")
	if err != nil {
		d.Logf("no vim here: %v", err)
		d.write("note.md", "saved for want of vim with "+mode)
		return
	}
	cmd := exec.Command(vim, "-es", "-u", "NONE", "-c", "set backup backupcopy="+mode, "-c", "normal oone more line", "-c", "wq", "note.md")
	cmd.Dir = d.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		d.Fatalf("vim: %v %s", err, out)
	}
}

// checkSave holds the reading of events back while save runs, and then waits for
// a deletion that comes later than one of the note would.
func (f *follower) checkSave(name string, save func()) {
	f.t.Helper()
	d := disk{f.t, f.dir}
	from := f.count()
	f.buffer.mu.Lock()
	save()
	f.buffer.mu.Unlock()
	f.settled()
	d.write("sentinel.md", "there")
	f.settled()
	d.remove("sentinel.md")
	f.settled()
	changed, gone := f.heard("note.md", from)
	if len(changed) != 1 || gone != 0 {
		f.t.Errorf("%s: changed %d times and gone %d times, want once and never", name, len(changed), gone)
	}
}

// With a look after every single step nothing but states of the file is
// reported, and never that it is empty or gone.
func TestNoStepOfASaveFlickers(t *testing.T) {
	for name, save := range patterns() {
		bubble.Test(t, func(t *testing.T) {
			d := disk{t, t.TempDir()}
			d.write("note.md", "the first text of all")
			f := follow(t, d.dir, Options{Poll: never}, blind)
			save(d, "saved by "+name, func() { f.event("note.md") })
			f.pass(time.Hour)
			f.settled()
			changed, gone := f.heard("note.md", 0)
			for _, file := range changed {
				if file.Size == 0 {
					t.Errorf("%s: reported empty", name)
				}
			}
			if gone > 0 {
				t.Errorf("%s: reported gone", name)
			}
			f.stop()
		})
	}
}

func TestAModeAloneIsNoChange(t *testing.T) {
	t.Parallel()
	d := disk{t, t.TempDir()}
	d.write("note.md", "text")
	f := follow(t, d.dir, Options{})
	d.ok(os.Chmod(d.path("note.md"), 0o640))
	d.write("sentinel.md", "text")
	f.until("the sentinel", func() bool { _, ok := f.told["sentinel.md"]; return ok })
	if changed, _ := f.heard("note.md", 1); len(changed) > 0 {
		t.Errorf("chmod made %d changes", len(changed))
	}
}
