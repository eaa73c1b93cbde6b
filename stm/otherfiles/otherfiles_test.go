package otherfiles_test

import (
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/stm/device"
	"emberd/stm/otherfiles"
	"emberd/stm/record"
	"emberd/stm/snapshot"
)

var (
	noon   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	folder = filepath.Join("/data", "stm", "b3k9w2pq")
)

func at(base string) string { return filepath.Join(folder, base) }

// readTo is a file of which so many lines were read.
func readTo(text string) otherfiles.File {
	return otherfiles.File{Look: snapshot.Mark{Name: "it"}, End: int64(len(text)),
		Sum: crc32.Checksum([]byte(text), record.Castagnoli), Count: record.Recovery{Applied: 1, TornTail: 1}}
}

func TestReadingContinuesOnlyWhereTheFileBeginsAsItDid(t *testing.T) {
	read := readTo("one\ntwo\n")
	held := read
	held.Due = noon
	had := otherfiles.Had{End: read.End, Sum: read.Sum}
	cut := readTo("one\n")
	cut.Problem, cut.Had = otherfiles.Shorter, had
	for _, c := range []struct {
		name, text string
		file       otherfiles.File
		want       otherfiles.File
	}{
		{"it has grown", "one\ntwo\nthree\n", read, otherfiles.File{Look: read.Look, End: read.End, Sum: read.Sum,
			Count: record.Recovery{Applied: 1}}},
		{"it was replaced", "uno\ndos\ntres\n", read, otherfiles.File{Problem: otherfiles.Altered, Had: had}},
		{"it was cut", "one\n", read, otherfiles.File{Problem: otherfiles.Shorter, Had: had}},
		{"it is cut still", "one\n", cut, otherfiles.File{Look: cut.Look, End: cut.End, Sum: cut.Sum,
			Count: record.Recovery{Applied: 1}, Problem: otherfiles.Shorter, Had: had}},
		{"it has all again", "one\ntwo\nthree\n", cut, otherfiles.File{}},
		{"a line of it is due", "one\ntwo\nthree\n", held, otherfiles.File{}},
	} {
		if got := c.file.Next(strings.NewReader(c.text), int64(len(c.text)), noon); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestOnlyASoundFileIsMarkedForTheSnapshot(t *testing.T) {
	damaged, garbled := readTo("one\n"), readTo("one\n")
	damaged.Count.Quarantined, garbled.Problem = 1, otherfiles.Garbled
	for name, f := range map[string]otherfiles.File{"damaged": damaged, "garbled": garbled, "unread": {}} {
		if m, ok := f.Mark(name); ok {
			t.Errorf("a file that is %s is marked %+v", name, m)
		}
	}
	sound := readTo("one\n")
	if m, ok := sound.Mark("it"); !ok || m.Size != 4 || m.Sum != sound.Sum || !m.Growing {
		t.Errorf("a sound file is marked %+v, %t", m, ok)
	}
}

func TestAFileThatIsGoneIsLostUnlessACompactedOneCoversIt(t *testing.T) {
	var files otherfiles.Files
	files.Set(at("c-00000001-00000002.g1.jsonl"), readTo("all\n"))
	files.Vanish([]string{at("s-00000001.jsonl"), at("s-00000002.jsonl")}, noon)
	if since := files.LostSince(); !since.IsZero() {
		t.Errorf("lines are lost since %s although a compacted file has them", since)
	}
	files.Vanish([]string{at("s-00000003.jsonl")}, noon)
	files.Vanish([]string{at("s-00000003.jsonl")}, noon.Add(time.Hour))
	if since := files.LostSince(); !since.Equal(noon) {
		t.Errorf("lines are lost since %s, want %s", since, noon)
	}
	if got := files.Regained(); !slices.Equal(got, []string{at("s-00000003.jsonl")}) || !files.LostSince().IsZero() {
		t.Errorf("gone are %q, lost since %s", got, files.LostSince())
	}
}

func TestWhatIsNotPresentHasVanished(t *testing.T) {
	var files otherfiles.Files
	files.Set(at("s-00000001.jsonl"), readTo("one\n"))
	files.Set(at("s-00000002.jsonl"), readTo("two\n"))
	files.SetUnreadable(folder)
	files.Missing(map[string]bool{folder: true, at("s-00000002.jsonl"): true})
	if got := files.Get(at("s-00000001.jsonl")); got != (otherfiles.File{Problem: otherfiles.Vanished}) {
		t.Errorf("the file that is gone is %+v", got)
	}
	if got := files.Get(at("s-00000002.jsonl")).Problem; got != otherfiles.Sound {
		t.Errorf("the file that is there %s", got)
	}
	if got := files.Get(folder).Problem; got != otherfiles.Sound {
		t.Errorf("the folder that can be listed again %s", got)
	}
}

func TestTheFirstLineThatIsHeldBackIsDue(t *testing.T) {
	var files otherfiles.Files
	if due := files.Due(); !due.IsZero() {
		t.Errorf("without files one is due at %s", due)
	}
	for i, base := range []string{"s-00000001.jsonl", "s-00000002.jsonl", "s-00000003.jsonl"} {
		files.Set(at(base), otherfiles.File{Due: noon.Add(time.Duration(2-i) * time.Hour)})
	}
	files.Set(at("s-00000004.jsonl"), otherfiles.File{})
	if due := files.Due(); !due.Equal(noon) {
		t.Errorf("due at %s, want %s", due, noon)
	}
}

func TestAClaimGoesWithItsHeader(t *testing.T) {
	var files otherfiles.Files
	kept := []record.Kept{{Of: map[string][][2]uint64{"k7q2mzxa": {{1, 3}}}}}
	files.Keeps(at("s-00000001.jsonl"), kept)
	if got := files.Claims(); len(got) != 1 || len(got[at("s-00000001.jsonl")]) != 1 {
		t.Errorf("the claims are %v", got)
	}
	files.Keeps(at("s-00000001.jsonl"), nil)
	if got := files.Claims(); len(got) > 0 {
		t.Errorf("the claims are %v", got)
	}
}

func TestReportNamesWhatDeservesALook(t *testing.T) {
	var files otherfiles.Files
	damaged := readTo("one\n")
	damaged.Count.Quarantined = 2
	files.Set(at("s-00000001.jsonl"), damaged)
	files.Set(at("s-00000002.jsonl"), otherfiles.File{Problem: otherfiles.Shorter})
	files.Set(at("s-00000003.sync-conflict-1.jsonl"), readTo("one\n"))
	files.Set(filepath.Join("/data/stm/zzzzzzzz", "s-00000001.jsonl"), damaged)
	files.Set(at("saved-20260131T120000.000Z.jsonl"), readTo("one\n")) // by a backup
	files.SetUnreadable(folder)
	h := &device.Home{Former: []string{"zzzzzzzz"}}
	sum, failed, warnings := files.Report(h, &device.Peers{Home: h})
	if sum.Quarantined != 4 || failed != 1 {
		t.Errorf("%d lines are passed over and %d files cannot be read", sum.Quarantined, failed)
	}
	want := []string{"s-00000001.jsonl of device b3k9w2pq has 2 damaged lines",
		"s-00000002.jsonl of device b3k9w2pq is shorter", "is a harmless copy that a sync tool made of a log file",
		"which this device wrote with the ID zzzzzzzz"}
	for i, w := range warnings {
		if i >= len(want) || !strings.Contains(w, want[i]) {
			t.Errorf("warning %d is %q", i, w)
		}
	}
	if len(warnings) != len(want) {
		t.Errorf("%d warnings, want %d", len(warnings), len(want))
	}
}
