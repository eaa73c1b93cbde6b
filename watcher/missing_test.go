package watcher

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// missingOf returns the absences of n files since noon.
func missingOf(n int) *missingFiles {
	a := newMissingFiles(defaultGrace, false)
	for i, p := range numbered(n, "%d.md") {
		a.add(File{Path: p, Inode: uint64(i + 1), Size: 10}, false, noon)
	}
	return &a
}

func TestWhenDeletionsAreHeldBack(t *testing.T) {
	for _, test := range []struct {
		missing, known int
		frozen         bool
	}{
		{1, 1, false},
		{massLeast - 1, massLeast - 1, false},
		{massLeast, massLeast, true},
		{20, 100, false},
		{21, 100, true},
		{massFiles, 10_000, false},
		{massFiles + 1, 10_000, true},
	} {
		a := missingOf(test.missing)
		a.judge(test.known, noon)
		if got := a.frozen != ""; got != test.frozen {
			t.Errorf("%d of %d missing: held back %v, want %v", test.missing, test.known, got, test.frozen)
		}
	}
}

func TestNothingIsHeldBackThatMayPass(t *testing.T) {
	a := missingOf(massFiles + 1)
	a.pass = true
	a.judge(massFiles+1, noon)
	if ready := a.ready(noon.Add(defaultGrace)); a.frozen != "" || len(ready) != massFiles+1 {
		t.Errorf("%d are reported, held back for %q", len(ready), a.frozen)
	}
}

func TestAFreezeLastsUntilTheLastIsBack(t *testing.T) {
	a := missingOf(60)
	a.judge(1000, noon)
	for _, p := range numbered(59, "%d.md") {
		a.drop(p)
		a.judge(1000, noon)
		if a.frozen == "" {
			t.Fatalf("thawed with %d still missing", len(a.byPath))
		}
	}
	if next := a.next(); !next.IsZero() {
		t.Errorf("frozen, and yet something is due at %v", next)
	}
	a.drop("59.md")
	a.judge(1000, noon)
	if a.frozen != "" {
		t.Errorf("all are back, and still %q", a.frozen)
	}
}

func TestWhenAFreezeEndsByItself(t *testing.T) {
	for name, test := range map[string]struct {
		known int
		grew  time.Duration // when one more went missing
		after time.Duration
		want  bool
	}{
		"an hour":                    {1000, 0, thawAfter, true},
		"less than an hour":          {1000, 0, thawAfter - time.Second, false},
		"an hour, but it grew":       {1000, time.Minute, thawAfter, false},
		"an hour after it grew":      {1000, time.Minute, thawAfter + time.Minute, true},
		"most of the notes are gone": {100, 0, 100 * thawAfter, false},
	} {
		a := missingOf(60)
		a.judge(test.known, noon)
		if test.grew > 0 {
			a.add(File{Path: "late.md"}, false, noon.Add(test.grew))
		}
		a.judge(test.known, noon.Add(test.after))
		if got := a.frozen == ""; got != test.want {
			t.Errorf("%s: thawed %v, want %v", name, got, test.want)
		}
		if got := len(a.ready(noon.Add(test.after))) > 0; got != test.want {
			t.Errorf("%s: deletions ready %v, want %v", name, got, test.want)
		}
	}
}

func TestGraces(t *testing.T) {
	a := newMissingFiles(defaultGrace, false)
	a.add(File{Path: "file.md"}, false, noon)
	a.add(File{Path: "folder/file.md"}, true, noon)
	a.add(File{Path: "file.md"}, false, noon.Add(time.Second)) // seen missing again
	for _, test := range []struct {
		after time.Duration
		want  []string
	}{
		{defaultGrace - 1, nil},
		{defaultGrace, []string{"file.md"}},
		{wholeFolder*defaultGrace - 1, []string{"file.md"}},
		{wholeFolder * defaultGrace, []string{"file.md", "folder/file.md"}},
	} {
		var got []string
		for _, absent := range a.ready(noon.Add(test.after)) {
			got = append(got, absent.file.Path)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("after %v %v are ready, want %v", test.after, got, test.want)
		}
	}
	a.postpone("file.md", noon.Add(defaultGrace))
	if got, want := a.next(), noon.Add(2*defaultGrace); got != want {
		t.Errorf("postponed, it is due at %v, want %v", got, want)
	}
}

func TestOnlyTheSameFileIsAMove(t *testing.T) {
	old := File{Path: "old.md", Inode: 7, Size: 10, ModTime: 1, ChangeTime: 1}
	for name, test := range map[string]struct {
		found File
		want  string
	}{
		"renamed":          {File{Path: "new.md", Inode: 7, Size: 10, ModTime: 1, ChangeTime: 2}, "new.md"},
		"a copy":           {File{Path: "new.md", Inode: 8, Size: 10, ModTime: 1, ChangeTime: 2}, ""},
		"the inode reused": {File{Path: "new.md", Inode: 7, Size: 10, ModTime: 9, ChangeTime: 9}, ""},
		"inode and time":   {File{Path: "new.md", Inode: 7, Size: 11, ModTime: 1, ChangeTime: 2}, ""},
		"the file itself":  {old, ""},
	} {
		a := newMissingFiles(defaultGrace, false)
		a.add(old, false, noon)
		a.pair(slices.Values([]File{{Path: "other.md", Inode: 1}, test.found}))
		if got := a.byPath["old.md"].moved; got != test.want {
			t.Errorf("%s: moved to %q, want %q", name, got, test.want)
		}
	}
}

func TestMovesDoNotCountAsMissing(t *testing.T) {
	a := missingOf(100)
	var moved []File
	for p, absent := range a.byPath {
		f := absent.file
		f.Path = "moved/" + p
		moved = append(moved, f)
	}
	a.pair(slices.Values(moved))
	a.judge(100, noon)
	if a.frozen != "" {
		t.Errorf("a hundred moves were held back: %s", a.frozen)
	}
	if got := len(a.ready(noon)); got != 100 {
		t.Errorf("%d moves are ready at once, want 100", got)
	}
}

// What the program removed is reported, however much it is, and holds back nothing; what vanishes beside it does.
func TestWhatTheProgramRemovedIsNoLoss(t *testing.T) {
	inBubble(t, 100, Options{}, func(t *testing.T, d disk, f *follower) {
		for i := range 60 {
			name := fmt.Sprintf("%d.md", i)
			d.remove(name)
			f.Removed(name)
		}
		d.write("0.md", "written anew")
		f.pass(time.Minute)
		f.thawed()
		f.settled()
		if got := len(f.gone()); got != 59 {
			t.Errorf("%d reported gone, want the 59 that were removed", got)
		}
		for i := 60; i < 90; i++ {
			d.remove(fmt.Sprintf("%d.md", i))
		}
		f.pass(time.Minute)
		f.frozen()
	})
}
