package stm_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/memory"
	"emberd/stm/history"
	"emberd/stm/logcheck"
	"emberd/stm/record"
	"emberd/stm/wal"
)

// cutOff deletes or cuts the first file of a, which is closed and of whose snapshot nothing is left,
// as a deletion on b that a sync tool carries to a. It returns the memories and the file.
func (p *pair) cutOff(t *testing.T, do func(name, other string)) (want map[memory.ID]string, name string) {
	t.Helper()
	want = p.a.livesOfThreeSegments()
	p.b.refresh()
	p.b.wantAll(want, "b before")
	if err := p.a.Close(); err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(filepath.Join(p.a.root, "state", "index"))
	name = p.a.filesOf(p.a.Status().Device)[0]
	do(name, "")
	return want, name
}

func (ts *testStore) wantSound(when string) {
	ts.t.Helper()
	st := ts.Status()
	if st.Recovery.Gaps != 0 || len(st.Short) > 0 || len(st.Warnings) > 0 {
		ts.t.Errorf("%s: %d records are missing, short are %q, warnings %q", when, st.Recovery.Gaps, st.Short, st.Warnings)
	}
}

// TestADeviceBelievesWhatAnotherWroteAgain deletes or cuts a file of a device that is not running and
// has no snapshot. The other device writes what was in it again, before or after the start.
func TestADeviceBelievesWhatAnotherWroteAgain(t *testing.T) {
	for _, d := range damages[:4] {
		for _, when := range []string{"before its start", "after its start"} {
			t.Run(d.name+"/"+when, func(t *testing.T) {
				p := newPair(t)
				want, _ := p.cutOff(t, d.do)
				if when == "before its start" {
					p.settle()
					p.a.open()
				} else {
					p.a.open()
					if st := p.a.Status(); st.Recovery.Gaps == 0 {
						t.Error("no record is missing before b wrote any again")
					}
					p.settle()
					p.a.refresh()
				}
				p.a.wantAll(want, "a")
				p.a.wantSound("a")
				if got := p.a.Status().Recovered; got.Memories == 0 {
					t.Errorf("a says that nothing came back: %+v", got)
				}
				p.a.withoutSnapshot()
				p.a.wantAll(want, "a without a snapshot")
				p.a.wantSound("a without a snapshot")
				p.b.refresh()
				p.b.withoutSnapshot()
				p.b.wantAll(want, "b without a snapshot")
				p.b.wantSound("b")
			})
		}
	}
}

// TestTheLogCheckHonoursWhatAnotherWroteAgain checks the shared log after b wrote again what a's file held.
func TestTheLogCheckHonoursWhatAnotherWroteAgain(t *testing.T) {
	p := newPair(t)
	p.cutOff(t, damages[0].do)
	if wrong := p.b.foundBy(logcheck.CheckDecided); len(wrong) == 0 {
		t.Fatal("nothing is missing before b wrote it again")
	}
	p.settle()
	if wrong := p.b.foundBy(logcheck.CheckDecided); len(wrong) > 0 {
		t.Errorf("the check on b finds %q", wrong)
	}
	p.b.reopen()
	p.b.save("b has one of its own")
	p.b.reopen()
	p.b.compact()
	p.b.unlink()
	if wrong := p.b.foundBy(logcheck.CheckDecided); len(wrong) > 0 {
		t.Errorf("the check on b finds %q after a compaction", wrong)
	}
}

// TestAPartOfWhatWasWrittenAgainIsNotBelieved lets the file of b that says so arrive before the one
// that has the lines.
func TestAPartOfWhatWasWrittenAgainIsNotBelieved(t *testing.T) {
	p := newPair(t)
	want, _ := p.cutOff(t, damages[0].do)
	p.settle()
	if err := p.b.Close(); err != nil {
		t.Fatal(err)
	}
	var late string
	for _, name := range p.b.filesOf(p.b.Status().Device) {
		if text, _ := os.ReadFile(name); strings.Contains(string(text), `"do":"recover"`) {
			late = name
		}
	}
	text, err := os.ReadFile(late)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []int{0, len(text) / 2} {
		os.WriteFile(late, text[:part], 0o600)
		if part == 0 {
			os.Remove(late)
			p.a.open()
		}
		p.a.refresh()
		if st := p.a.Status(); st.Recovery.Gaps == 0 {
			t.Errorf("a believes what it has %d bytes of", part)
		}
	}
	os.WriteFile(late, text, 0o600)
	p.a.refresh()
	p.a.wantAll(want, "a")
	p.a.wantSound("a")
}

// TestWhatWasWrittenAgainIsBelievedOfACompactedFile compacts the files of b first.
func TestWhatWasWrittenAgainIsBelievedOfACompactedFile(t *testing.T) {
	p := newPair(t)
	want, _ := p.cutOff(t, damages[0].do)
	p.settle()
	want[p.b.save("b has one of its own").ID()] = "b has one of its own"
	p.b.reopen()
	p.b.compact()
	if len(p.b.unlink()) == 0 {
		t.Fatal("no file of b was compacted")
	}
	p.a.open()
	p.a.wantAll(want, "a")
	p.a.wantSound("a")
}

// TestAThirdDeviceMissesNothingThatWasWrittenAgain has one more device read the log of two, of which
// one lost a file and never came back.
func TestAThirdDeviceMissesNothingThatWasWrittenAgain(t *testing.T) {
	p := newPair(t)
	want, _ := p.cutOff(t, damages[0].do)
	p.settle()
	c := &testStore{t: t, root: t.TempDir(), opt: wal.Options{Now: p.b.opt.Now}}
	if err := os.Symlink(filepath.Join(p.a.root, "data"), filepath.Join(c.root, "data")); err != nil {
		t.Fatal(err)
	}
	c.open()
	defer func() { c.Close() }()
	c.wantAll(want, "c")
	for _, d := range c.Status().Devices {
		if d.Missing > 0 {
			t.Errorf("c says that %d records of %s are missing", d.Missing, d.Device)
		}
	}
}

// TestTheTrashKeepsWhatAnotherDeviceForgot compacts a log that has a delete of another device, written
// again since its file was gone. The running device has it in the trash still, and in the journal.
func TestTheTrashKeepsWhatAnotherDeviceForgot(t *testing.T) {
	p := newPair(t)
	id := p.a.save("forgotten on a").ID()
	p.a.reopen()
	forgot := p.a.forget(id)
	p.a.reopen()
	p.b.refresh()
	p.b.save("b has one of its own")
	os.Remove(p.a.filesOf(p.a.Status().Device)[1])
	p.settle()
	p.b.reopen()
	p.b.compact()
	p.b.unlink()
	if n := len(p.b.Trash()); n != 1 {
		t.Fatalf("%d memories are in the trash, want 1", n)
	}
	page, _ := p.b.Entries(record.Stamp{}, 100)
	if !slices.ContainsFunc(page, func(j history.Journaled) bool { return j.Tx == forgot.Entry }) {
		t.Errorf("the journal does not tell of %s", forgot.Entry)
	}
	if _, err := p.b.Restore(t.Context(), []memory.ID{id}, memory.Actor{Via: "test"}); err != nil {
		t.Fatal(err)
	}
	p.b.wantContent(id, "forgotten on a")
}
