package vault_test

import (
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
	"emberd/vault"
	"emberd/vault/noteedit"
)

// story is a write, what a user does at one of its steps, and the texts that
// the note may have afterwards.
type story struct {
	name  string
	aside bool // no exchange of names
	write func(t *testing.T, w *vault.Writer) (vault.Result, error)
	save  string // a human's text, saved for good just before names change
	note  []string
	fresh bool // the note was saved by a program that did not sync it
	late  bool // a program that had the note open saves it after the write
	other bool // d.md is written together with the note
}

const (
	before = "human\n"
	newer  = "human, newer\n"
)

func stories() []story {
	update := func(t *testing.T, w *vault.Writer) (vault.Result, error) {
		return w.Update(t.Context(), "a.md", stamp("1"))
	}
	create := func(t *testing.T, w *vault.Writer) (vault.Result, error) {
		return w.Create(t.Context(), "b.md", []byte("new"))
	}
	remove := func(t *testing.T, w *vault.Writer) (vault.Result, error) {
		return w.Remove(t.Context(), "a.md", sha256.Sum256([]byte(before)))
	}
	move := func(t *testing.T, w *vault.Writer) (vault.Result, error) { return w.Move(t.Context(), "a.md", "c.md") }
	revise := func(t *testing.T, w *vault.Writer) (res vault.Result, err error) {
		for _, text := range []string{"1", "2"} {
			res, err = vault.Reviser{w}.Revise(t.Context(), "a.md", func(note []byte) ([]byte, error) {
				return noteedit.Splice(note, stamp(text))
			})
			if err != nil {
				break
			}
		}
		return res, err
	}
	reviseAll := func(t *testing.T, w *vault.Writer) (vault.Result, error) {
		var all []vault.Revision
		for _, name := range []string{"a.md", "d.md"} {
			all = append(all, vault.Revision{name, []byte(before), []byte(stamped("1", before))})
		}
		out, err := vault.Reviser{w}.ReviseAll(t.Context(), all)
		return out[0], err
	}
	both := []string{before, stamped("1", before)}
	three := []string{before, stamped("2", before), stamped("1", before)}
	return []story{
		{name: "update", write: update, note: both},
		{name: "update a fresh note", write: update, note: both, fresh: true},
		{name: "update aside", aside: true, write: update, note: both},
		{name: "update and save", write: update, save: newer, note: both},
		{name: "update aside and save", aside: true, write: update, save: newer, note: both},
		{name: "update and late save", write: update, note: both, late: true},
		{name: "update aside and late save", aside: true, write: update, note: both, late: true},
		{name: "remove and late save", write: remove, note: []string{before, ""}, late: true},
		{name: "revise twice", write: revise, note: three},
		{name: "revise twice aside", aside: true, write: revise, note: three},
		{name: "revise twice and late save", write: revise, note: three, late: true},
		{name: "revise two", write: reviseAll, note: both, other: true},
		{name: "revise two, one fresh", write: reviseAll, note: both, fresh: true, other: true},
		{name: "revise two aside", aside: true, write: reviseAll, note: both, other: true},
		{name: "revise two and save", write: reviseAll, save: newer, note: both, other: true},
		{name: "revise two and late save", write: reviseAll, note: both, late: true, other: true},
		{name: "create", write: create, note: []string{before}},
		{name: "remove", write: remove, note: []string{before, ""}},
		{name: "remove and save", write: remove, save: newer, note: []string{before, ""}},
		{name: "move", write: move, note: []string{before, ""}},
	}
}

// scene is a story being played on a disk in memory.
type scene struct {
	story
	vault *vault.Vault // an empty folder: the notes are on the disk
	disk  *crashdisk.Disk
	open  durable.File // the note, in an editor
	saved bool
	clock *clock
}

func (s *story) begin(t *testing.T, v *vault.Vault) *scene {
	t.Helper()
	c := &scene{story: *s, vault: v, disk: crashdisk.New(), clock: &clock{now: time.Now().Add(time.Hour)}}
	if s.late {
		f, err := c.disk.CreateAppend("a.md")
		must(t, err)
		_, err = f.Write([]byte(before))
		must(t, errors.Join(err, f.Sync(), c.disk.SyncDir("/")))
		c.open = f
	} else {
		must(t, saveOn(c.disk, "a.md", before, !s.fresh))
	}
	if s.other {
		must(t, saveOn(c.disk, "d.md", before, true))
	}
	must(t, durable.MkdirAll(c.disk, "/state/writing"))
	must(t, durable.MkdirAll(c.disk, "/state/backups/notes"))
	return c
}

// saveOn saves a text as an editor does, a careful one if it syncs.
func saveOn(disk *crashdisk.Disk, name, text string, sync bool) error {
	f, err := disk.CreateAppend(name + ".tmp")
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(text))
	if sync {
		err = errors.Join(err, f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = disk.Rename(name+".tmp", name)
	}
	if err == nil {
		err = disk.SyncDir("/")
	}
	return err
}

// writer opens the disk as a process does; its recovery is part of what is tried.
func (c *scene) writer(t *testing.T) (*vault.Writer, error) {
	t.Helper()
	disk := onMemory(c.disk)
	notes := stepped{disk, func(op, name string) error {
		if c.aside && op == "exchange" {
			return errors.ErrUnsupported
		}
		if (op == "exchange" || op == "rename") && name == "a.md" && c.save != "" && !c.saved {
			c.saved = saveOn(c.disk, "a.md", c.save, true) == nil
		}
		return nil
	}}
	return vault.OpenWriterOn(c.vault, notes, disk, "/state", c.clock.Now)
}

// check is what holds after a crash and recovery: the note is whole and old or new,
// or what the human saved; that is not lost; nothing temporary is left.
func (c *scene) check(t *testing.T, res vault.Result) {
	t.Helper()
	w, err := c.writer(t)
	if err != nil {
		t.Fatalf("recover: %v\n%s", err, strings.Join(c.disk.Trace(), "\n"))
	}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf(format+"\n%s", append(args, strings.Join(c.disk.Trace(), "\n"))...)
	}
	if c.fresh && !slices.ContainsFunc(c.disk.Trace(), func(line string) bool { return strings.HasSuffix(line, " sync a.md") }) {
		return // the power went before emberd did anything to it
	}
	note, kept := c.text("a.md"), c.backups(t)
	if other := c.text("d.md"); c.other && (!slices.Contains(c.note, other) || other != before && !slices.Contains(kept, before)) {
		fail("the other note is %q, and the backups are %q", other, kept)
	}
	if c.late { // it may take the next look to find it, and what is not synced may be cut
		if note = c.finish(t, w); c.saved && note != before+newer {
			fail("the late text is not in the note but %q, backups %q", note, c.backups(t))
		}
		return
	}
	moved := c.text("c.md")
	switch {
	case c.saved && note == newer:
	case c.saved && !slices.Contains(kept, newer):
		fail("the human's text is lost: note %q, backups %q", note, kept)
	case !slices.Contains(c.note, note) && note != c.save:
		fail("the note is %q, want one of %q", note, c.note)
	case note == "" && moved != before && !slices.Contains(kept, before):
		fail("the note is gone, and not among the backups %q", kept)
	case res.Outcome == vault.Written && res.Backup != "" && !slices.Contains(kept, before):
		fail("the backup is gone, there are %q", kept)
	case note != "" && moved != "":
		fail("the note is there twice")
	case res.Outcome == vault.Written && c.name != "create" && !c.saved && note != c.note[1]:
		fail("the note is %q after it was written", note)
	case res.Outcome == vault.Written && c.name == "create" && c.text("b.md") != "new":
		fail("the new note is %q after it was written", c.text("b.md"))
	}
	if created := c.text("b.md"); created != "" && created != "new" {
		fail("the new note is %q", created)
	}
	if again := c.finish(t, w); again != note {
		fail("the note is %q after the checks, was %q", again, note)
	}
}

// finish lets all looks pass and returns the note.
func (c *scene) finish(t *testing.T, w *vault.Writer) string {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf(format+"\n%s", append(args, strings.Join(c.disk.Trace(), "\n"))...)
	}
	for range 5 {
		c.clock.Add(time.Minute)
		if _, err := w.Check(t.Context()); err != nil {
			fail("check: %v", err)
		}
	}
	entries, err := c.disk.ReadDir("/")
	must(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), vault.TempPrefix) {
			fail("%s is left", e.Name())
		}
	}
	if left, err := c.disk.ReadDir("/state/writing"); err != nil || len(left) > 0 || w.Unfinished() > 0 {
		fail("records are left: %v, %v", left, err)
	}
	return c.text("a.md")
}

func (c *scene) text(name string) string {
	data, err := durable.ReadAll(c.disk, name)
	if err != nil {
		return ""
	}
	return string(data)
}

func (c *scene) backups(t *testing.T) []string {
	t.Helper()
	entries, err := c.disk.ReadDir("/state/backups/notes")
	must(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, c.text(path.Join("/state/backups/notes", e.Name())))
	}
	return all
}

// play begins the story and cuts the power, or kills the process, after some
// operations; played is false when it came to its end before that.
func (s *story) play(t *testing.T, v *vault.Vault, after int) (c *scene, res vault.Result, played bool) {
	t.Helper()
	c = s.begin(t, v)
	w, err := c.writer(t)
	must(t, err)
	start := c.disk.Ops()
	c.disk.StopAfter(start + after)
	res, err = s.write(t, w)
	if err == nil && s.late {
		_, failed := c.open.Write([]byte(newer))
		c.saved = errors.Join(failed, c.open.Sync()) == nil
		c.clock.Add(time.Second)
		_, err = w.Check(t.Context())
	}
	if err != nil && !errors.Is(err, crashdisk.ErrPowerOff) {
		t.Fatalf("%v\n%s", err, strings.Join(c.disk.Trace(), "\n"))
	}
	return c, res, err != nil || c.disk.Ops() == start+after
}

// Case 53: kill and power cut after every operation of every write, and again after
// every operation of the recovery. With EMBERD_PROOF more of what a power cut may leave
// is tried.
func TestCase53KillAndPowerCut(t *testing.T) {
	states, seeds, lucks := 0, uint64(8), uint64(2)
	if os.Getenv("EMBERD_PROOF") != "" {
		seeds, lucks = 48, 8
	}
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			v := openVault(t, t.TempDir(), nil)
			for after := 0; ; after++ {
				c, res, cut := s.play(t, v, after)
				for seed := range seeds {
					next := *c
					if seed == 0 {
						next.disk = c.disk.Kill()
					} else {
						next.disk = c.disk.Crash(rand.New(rand.NewPCG(seed, uint64(after))))
					}
					again := next
					next.check(t, res)
					states++
					if seed < 4 {
						states += again.cutRecovery(t, res, seed, c, lucks)
					}
				}
				if !cut {
					break
				}
			}
		})
	}
	t.Logf("%d states", states)
}

// cutRecovery lets the recovery itself be cut off after each of its operations.
func (c *scene) cutRecovery(t *testing.T, res vault.Result, seed uint64, source *scene, lucks uint64) (states int) {
	t.Helper()
	for after := 0; ; after++ {
		next := *c
		if seed == 0 {
			next.disk = source.disk.Kill()
		} else {
			next.disk = source.disk.Crash(rand.New(rand.NewPCG(seed, uint64(after))))
		}
		next.disk.StopAfter(after)
		_, err := next.writer(t)
		done := err == nil
		for luck := range lucks {
			last := next
			last.disk = next.disk.Crash(rand.New(rand.NewPCG(100*seed+luck, uint64(after))))
			last.check(t, res)
			states++
		}
		if done {
			return states
		}
	}
}

// Every operation fails with an I/O error, once or from then on: the write says so or ends, and in the
// end all is as after a crash.
func TestWritesSurviveErrors(t *testing.T) {
	for i, s := range append(stories(), stories()...) {
		forever := i >= len(stories())
		t.Run(s.name, func(t *testing.T) {
			v := openVault(t, t.TempDir(), nil)
			for nth := 1; ; nth++ {
				c := s.begin(t, v)
				w, err := c.writer(t)
				must(t, err)
				start := c.disk.Ops()
				c.disk.Fail(crashdisk.Fault{Nth: nth, Forever: forever})
				res, _ := s.write(t, w)
				failures := 0
				for range 6 {
					c.clock.Add(time.Minute)
					if _, err := w.Check(t.Context()); err != nil {
						failures++
					}
				}
				if failures > 1 && !forever {
					t.Fatalf("one error on the disk made %d checks fail", failures)
				}
				over := c.disk.Ops() < start+nth
				c.disk = c.disk.Kill() // and the fault with it
				c.check(t, res)
				if over {
					break
				}
			}
		})
	}
}

// Case 53 on the real disk: the process ends before each of its changes, with and
// without exchange, with the backups on another disk, and with a user who saves.
func TestCase53StoppedOnTheRealDisk(t *testing.T) {
	for mode, step := range map[string]func(op, name string) error{
		"exchange": noExchange(), "fallback": noExchange("exchange"), "fallback without links": noExchange("exchange", "put", "link"), "another disk": noExchange("export"),
	} {
		for _, text := range []string{"", newer} {
			t.Run(mode+" "+text, func(t *testing.T) {
				t.Parallel() // it waits for the disk
				for stop := 0; stopped(t, step, text, stop); stop++ {
				}
			})
		}
	}
}

// stopped stops before a change and reports whether there was that many.
func stopped(t *testing.T, step func(op, name string) error, text string, stop int) bool {
	t.Helper()
	d := newDesk(t, files{"a.md": before})
	killed, saved, changes := errors.New("killed"), false, 0
	d.step = func(op, name string) error {
		if changes++; changes > stop {
			return killed
		}
		if name == "a.md" && (op == "exchange" || op == "rename") && text != "" && !saved && step(op, name) == nil {
			saved = true
			d.save(t, "a.md", text)
		}
		return step(op, name)
	}
	res, err := d.writer.Update(t.Context(), "a.md", stamp("1"))
	if err != nil && !errors.Is(err, killed) {
		t.Fatal(err)
	}
	d.step = nil
	d.reopen(t)
	d.finish(t)
	switch got := d.read(t, "a.md"); {
	case saved && got != text && !slices.Contains(d.kept(t), text):
		t.Errorf("stopped before change %d: the human's text is lost: %q, %q", stop, got, d.kept(t))
	case saved && got == text:
	case got != before && got != stamped("1", before):
		t.Errorf("stopped before change %d: the note is %q", stop, got)
	case res.Outcome == vault.Written && got == before:
		t.Errorf("stopped before change %d: the note is old after it was written", stop)
	}
	return changes > stop
}
