package ownfiles_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/stm/device"
	"emberd/stm/extent"
	"emberd/stm/ownfiles"
	"emberd/stm/record"
)

const (
	segment = "s-00000001.jsonl"
	history = "h-00000001-00000001.g1.jsonl"
)

// counting counts the files that are read.
type counting struct {
	durable.FS
	reads int
}

func (c *counting) OpenRead(name string) (durable.ReadFile, error) {
	c.reads++
	return c.FS.OpenRead(name)
}

// fixture is a device with files of its log, and how often a repair was asked for.
type fixture struct {
	*ownfiles.Files
	t     *testing.T
	home  *device.Home
	disk  *counting
	asked int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dev, _ := record.ParseDevice("k7q2mzxa")
	f := &fixture{t: t, disk: &counting{FS: durable.OS{}}}
	f.home = &device.Home{Data: t.TempDir(), State: t.TempDir(), FS: f.disk, Now: time.Now, Device: dev}
	f.do(os.MkdirAll(f.home.OwnDir(), 0o700))
	var err error
	f.Files, err = ownfiles.Open(f.home, func() { f.asked++ })
	f.do(err)
	return f
}

func (f *fixture) do(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) path(base string) string { return filepath.Join(f.home.OwnDir(), base) }

// write makes a file that is as it should be.
func (f *fixture) write(base, text string) {
	f.t.Helper()
	f.do(os.WriteFile(f.path(base), []byte(text), 0o600))
	n := int64(len(text))
	f.do(f.Note(base, extent.Extent{Bytes: n, Sum: extent.Sum(f.home.FS, f.path(base), n)}))
}

func (f *fixture) want(what string, short []extent.ShortFile, names ...string) {
	f.t.Helper()
	var got []string
	for _, s := range short {
		got = append(got, s.Name)
	}
	if !slices.Equal(got, names) {
		f.t.Errorf("%s are %q, want %q", what, got, names)
	}
}

func TestAWholeFileIsReadOnce(t *testing.T) {
	f := newFixture(t)
	f.write(segment, "one\n")
	f.want("short files", f.Short(""))
	before := f.disk.reads
	f.want("damaged files", f.Look(""))
	if before == 0 || f.disk.reads != before {
		t.Errorf("files were read %d times, then %d times", before, f.disk.reads-before)
	}
}

func TestADamagedFileIsRepaired(t *testing.T) {
	f := newFixture(t)
	f.write(segment, "one\ntwo\n")
	f.write("s-00000002.jsonl", "three\n")
	f.do(os.Truncate(f.path(segment), 4))
	f.want("damaged files", f.Look(""), segment)
	f.want("files to make good", f.Damaged(), segment)
	if f.AskForRepair(); f.asked != 1 {
		t.Errorf("a repair was asked for %d times", f.asked)
	}
	f.Repaired(f.Damaged())
	f.want("missed files", f.Missed())
	f.want("damaged files after the repair", f.Look(""))
}

func TestAFileThatWasMissedBeforeStaysMissed(t *testing.T) {
	f := newFixture(t)
	f.write(segment, "one\ntwo\n")
	f.do(os.Truncate(f.path(segment), 4))
	f.Miss(f.Short(""))
	f.want("damaged files, which the start knew", f.Look(""))
	f.do(os.Truncate(f.path(segment), 0))
	f.want("damaged files", f.Look(""), segment)
	f.Repaired(f.Damaged())
	f.want("missed files", f.Missed(), segment)
	f.Settle()
	f.want("missed files once nothing is missed of them", f.Missed())
	f.want("short files", f.Short(""))
}

func TestAFileThatWasRemovedOnPurposeIsWhole(t *testing.T) {
	f := newFixture(t)
	f.write(segment, "one\n")
	f.do(f.Forget(segment))
	f.do(os.Remove(f.path(segment)))
	f.want("damaged files", f.Look(""))
}

func TestAHistoryComesBackFromACopyOnly(t *testing.T) {
	f := newFixture(t)
	f.write(history, "superseded\n")
	backup := filepath.Join(t.TempDir(), "stm", f.home.Device.String())
	f.do(os.MkdirAll(backup, 0o700))
	f.do(os.Rename(f.path(history), filepath.Join(backup, history)))
	f.Miss(f.Short(""))
	f.Settle()
	f.want("missed files", f.Missed(), history)
	if got, err := f.ReturnHistories(t.TempDir()); err != nil || len(got) > 0 {
		t.Errorf("an empty folder gave back %q (%v)", got, err)
	}
	got, err := f.ReturnHistories(filepath.Dir(filepath.Dir(backup)))
	if err != nil || !slices.Equal(got, []string{f.path(history)}) {
		t.Errorf("the copy gave back %q (%v)", got, err)
	}
	f.want("missed files", f.Missed())
	f.want("short files", f.Short(""))
}

func TestALossIsAccepted(t *testing.T) {
	f := newFixture(t)
	f.write(history, "superseded\n")
	f.do(os.Remove(f.path(history)))
	f.Miss(f.Short(""))
	f.do(f.AcceptLoss())
	f.want("missed files", f.Missed())
	f.want("short files", f.Short(""))
}
