package reviewnote

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"emberd/op"
)

const (
	keepBox  = "^rev-000000000001-c5532282-keep"
	mergeBox = "^rev-000000000001-c5532282-merge"
)

func TestWhatIsATick(t *testing.T) {
	keep, merge := CheckedBox{Item: "000000000001", Seen: "c5532282", Choice: "keep"}, CheckedBox{Item: "000000000001", Seen: "c5532282", Choice: "merge"}
	for text, want := range map[string][]CheckedBox{
		"- [x] Keep both as they are " + keepBox: {keep},
		"- [X] Keep " + keepBox:                  {keep},
		"* [x] " + keepBox:                       {keep},
		"    1. [x]\tKeep both, for good reasons " + keepBox + " ✅ 2026-03-02":  {keep},
		"- [x] Keep " + keepBox + "\r\n- [x] Merge " + mergeBox:                 {keep, merge},
		"- [x] Keep " + keepBox + "\n- [x] again " + keepBox:                    {keep},
		"> - [x] Keep " + keepBox:                                               nil, // where texts of memories stand
		"- [ ] Keep " + keepBox:                                                 nil,
		"- [-] Keep " + keepBox:                                                 nil,
		"- [/] Keep " + keepBox:                                                 nil,
		"-[x] Keep " + keepBox:                                                  nil,
		"[x] Keep " + keepBox:                                                   nil,
		"- x Keep " + keepBox:                                                   nil,
		"- [x] Keep \\" + keepBox:                                               nil,
		"- [x] Keep" + keepBox:                                                  nil,
		"- [x] Keep " + keepBox + "s":                                           {{Item: "000000000001", Seen: "c5532282", Choice: "keeps"}},
		"- [x] Keep " + keepBox + "-1234":                                       nil,
		"- [x] Keep " + strings.ToUpper(keepBox):                                nil,
		"- [x] Keep ^rev-00000000001-c5532282-keep":                             nil,
		"```\n- [x] Keep " + keepBox + "\n```":                                  nil,
		"~~~~\n```\n- [x] Keep " + keepBox + "\n~~~\n~~~~":                      nil,
		"- [x] Keep " + keepBox + "\n```\n":                                     nil, // which is not closed
		"```\n```\n- [x] Keep " + keepBox:                                       {keep},
		"``` `\n- [x] Keep " + keepBox:                                          {keep},
		"     ```\n- [x] Keep " + keepBox:                                       {keep},
		"- [x] Keep " + keepBox + " " + mergeBox:                                {keep},
		"- [x] a %%hidden%% <!-- c --> " + keepBox + " because it is [[so]] #x": {keep},
	} {
		if got := Parse(text, nil).Ticks; !slices.Equal(got, want) {
			t.Errorf("%q has the ticks %+v, want %+v", text, got, want)
		}
	}
}

// What somebody writes behind the words of a box is the reason, and stays in the note.
func TestWordsBehindABox(t *testing.T) {
	p := full()
	region := Render(p, nil)
	line := "- [ ] Keep both as they are ^rev-000000000001-c5532282-keep"
	edited := strings.Replace(region, line, "- [x] Keep both as they are, they are two gardens ^rev-000000000001-c5532282-keep", 1)
	note := Parse(edited, Sums(p))
	if len(note.Ticks) != 1 || note.Ticks[0].Words != "" { // a comma behind the last word is another word
		t.Fatalf("the ticks are %+v", note.Ticks)
	}
	edited = strings.Replace(region, line, "- [x] Keep both as they are because they are two gardens ^rev-000000000001-c5532282-keep", 1)
	note = Parse(edited, Sums(p))
	if len(note.Ticks) != 1 || note.Ticks[0].Words != "because they are two gardens" {
		t.Fatalf("the ticks are %+v", note.Ticks)
	}
	if got := Render(p, note); got != strings.Replace(region, line, line+"\n- because they are two gardens", 1) {
		t.Errorf("the note is\n%s", got)
	}
	if got := Render(&Page{}, note); !strings.HasSuffix(got, keptHeading+"\n\n- because they are two gardens\n") {
		t.Errorf("the note is\n%s", got)
	}
}

func TestDecision(t *testing.T) {
	it := offering(item(1, "merge", said(1, "a"), said(2, "b")), op.DecideMerge, op.DecideForget+":"+string(id(2)))
	for choice, want := range map[string]string{"merge": "merge", "forget-2": "forget:" + string(id(2)), "forget-1": "", "forget-0": "", "forget-3": "", "forget": "", "keep": "", "": ""} {
		if got, ok := it.Decision(choice); ok != (want != "") || ok && got != want {
			t.Errorf("%q is %q %v, want %q", choice, got, ok, want)
		}
	}
}

// A note that nobody touched is written as it is, whether or not it is known what emberd
// wrote, and so is one that a plugin has tidied.
func TestOwnLinesAreKnown(t *testing.T) {
	p := full()
	region := Render(p, nil)
	tidied := strings.NewReplacer("\n- ", "\n* ", "\n>\n", "\n> \n", "*`", "_`", "user*", "user_", "\n## ", "\n\n\n## ").Replace(region)
	for _, before := range []string{region, tidied, strings.ReplaceAll(region, "\n", "\r\n"), region + region, ""} {
		for _, wrote := range [][]string{Sums(p), nil} {
			if got := Render(p, Parse(before, wrote)); got != region {
				t.Errorf("the note was\n%s\nand became\n%s", before, got)
			}
			if got := Render(&Page{}, Parse(before, wrote)); strings.Contains(got, "##") {
				t.Errorf("with nothing to show the note is\n%s", got)
			}
		}
	}
}

// Without knowing what emberd wrote, a human's own lines stay too.
func TestHumanTextSurvivesALossOfState(t *testing.T) {
	p := full()
	region := Render(p, nil)
	edited := strings.Replace(region, "\n## Decided", "- [ ] call Ann\nmine\n\n## Mine\n\n## Decided", 1) + "\nbelow\n"
	for _, page := range []*Page{p, {}} {
		got := Render(page, Parse(edited, nil))
		if !strings.Contains(got, "\n- [ ] call Ann\nmine\n\n## Mine\n") || !strings.HasSuffix(got, "\nbelow\n") {
			t.Errorf("the note is\n%s", got)
		}
	}
}

// FuzzParse reads anything as the region of a note.
func FuzzParse(f *testing.F) {
	p := full()
	region := Render(p, nil)
	wrote := Sums(p)
	for _, seed := range []string{
		region, strings.ReplaceAll(region, "- [ ] ", "- [x] "), strings.ReplaceAll(region, "\n", "\r\n"), region[:len(region)/2],
		"- [x] Keep " + keepBox, "```\n- [x] a " + keepBox, "\n\nmine\n\n\n> mine\n", "## Decided\n", keptHeading + "\n\nmine", "-\t[x]\t\t" + keepBox + "\x00", "\xff- [x] " + keepBox,
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, known bool) {
		sums := wrote
		if !known {
			sums = nil
		}
		note := Parse(text, sums)
		for _, tick := range note.Ticks {
			if len(tick.Item) != tokenDigits || len(tick.Seen) != seenDigits || tick.Choice == "" {
				t.Errorf("a tick is %+v", tick)
			}
		}
		first := Render(p, note)
		if note.Open || !utf8.ValidString(text) {
			return
		}
		if again := Render(p, Parse(first, wrote)); again != first {
			t.Errorf("%q becomes\n%s\nand then\n%s", text, first, again)
		}
		if !known {
			return
		}
		for _, tick := range Parse(first, wrote).Ticks {
			t.Errorf("%q leaves the tick %+v in\n%s", text, tick, first)
		}
	})
}

// The seeds of the fuzz test are among the files that are tried by every run.
func TestSeedsAreThere(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "fuzz", "FuzzParse", "*"))
	if err != nil || len(files) == 0 {
		t.Errorf("%d seeds, %v", len(files), err)
	}
	for _, file := range files {
		if data, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(data), "go test fuzz v1\n") {
			t.Errorf("%s is no seed: %v", file, err)
		}
	}
}
