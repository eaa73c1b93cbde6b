package reviewnote

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/op"
)

// humans are ways in which a human writes something; every %s is a word of its own.
var humans = []string{
	"%s", "because %s", "> %s", "> - %s", "- %s", "- [ ] %s", "- [x] %s", "    - %s", "\t%s", "## %s", "### Decided %s", "%s  ", "*%s*", "1. %s", "<b>%s</b>", "%%%% %s %%%%",
	"```\n- [x] Merge ^rev-000000000001-00000000-merge %s\n```", "~~~~js\n%s\n\n~~~\n~~~~", "%s\n\n\n%s", "%s\n\n> %s\n\n- %s", "| %s |", "^%s", "[[%s]]", "- [x] done %s ^mine", "emberd review show %s",
}

// page draws a page of some items, of which some have changed.
func page(t *rapid.T) *Page {
	p := &Page{After: time.Duration(rapid.IntRange(0, 1).Draw(t, "after")) * 24 * time.Hour, More: rapid.IntRange(0, 1).Draw(t, "more")}
	for _, n := range rapid.Permutation([]int{1, 2, 3, 4}).Draw(t, "order")[:rapid.IntRange(0, 4).Draw(t, "open")] {
		it := item(n, "merge", said(2*n, "the tide"), said(2*n+1, fmt.Sprint("the tide turns ", rapid.IntRange(1, 2).Draw(t, "version"))))
		it.Seen = Seen(it.Memories[1].Text)
		if rapid.Bool().Draw(t, "remarked") {
			it.Remark = "It was changed."
		}
		p.Open = append(p.Open, offering(it, op.DecideMerge, op.DecideKeep))
	}
	if rapid.Bool().Draw(t, "done") {
		p.Done = []Done{{At: day(1), What: "kept"}}
	}
	return p
}

// desk is a note and what a human wrote into it.
type desk struct {
	lines []string
	words []string // each stands in the note once
}

// write puts something into the note, or behind a line of it.
func (d *desk) write(t *rapid.T) {
	text := rapid.SampledFrom(humans).Draw(t, "form")
	for strings.Contains(text, "%s") {
		word := fmt.Sprintf("word%dx", len(d.words))
		d.words = append(d.words, word)
		text = strings.Replace(text, "%s", word, 1)
	}
	text = strings.ReplaceAll(text, "%%", "%")
	at := rapid.IntRange(0, len(d.lines)).Draw(t, "place")
	d.lines = slices.Insert(d.lines, at, strings.Split(text, "\n")...)
}

// change does one thing as a human does.
func (d *desk) change(t *rapid.T) {
	boxes := []int{}
	for i, line := range d.lines {
		if strings.HasPrefix(line, "- [ ] ") && token().MatchString(line) && !strings.Contains(line, "word") {
			boxes = append(boxes, i)
		}
	}
	what := rapid.SampledFrom([]string{"write", "write", "tick", "add", "move", "delete"}).Draw(t, "what")
	if what == "write" || len(boxes) == 0 {
		d.write(t)
		return
	}
	at := rapid.SampledFrom(boxes).Draw(t, "box")
	switch what {
	case "tick":
		d.lines[at] = strings.Replace(d.lines[at], "[ ]", "[x]", 1)
	case "add":
		word := fmt.Sprintf("word%dx", len(d.words))
		d.words = append(d.words, word)
		words, id, _ := strings.Cut(d.lines[at], " ^")
		d.lines[at] = rapid.SampledFrom([]string{words + " " + word + " ^" + id, words + " ^" + id + " " + word, "- [x] " + word + " ^" + id}).Draw(t, "line")
	case "move":
		line := d.lines[at]
		d.lines = slices.Delete(d.lines, at, at+1)
		d.lines = slices.Insert(d.lines, rapid.IntRange(0, len(d.lines)).Draw(t, "to"), "  * "+strings.TrimPrefix(line, "- "))
	case "delete":
		d.lines = slices.Delete(d.lines, at, at+1)
	}
}

// What a human writes into the note stays, whatever becomes of the items and whatever
// else is written, moved, ticked or deleted.
func TestHumanTextSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := page(t)
		region, wrote := Render(p, nil), Sums(p)
		var d desk
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			d.lines = strings.Split(strings.TrimSuffix(region, "\n"), "\n")
			had := len(d.words)
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				d.change(t)
			}
			p := page(t)
			edited := strings.Join(d.lines, "\n") + "\n"
			note := Parse(edited, wrote)
			if note.Open { // and is not written, until a human closes it
				d.words = d.words[:had]
				continue
			}
			region = Render(p, note)
			wrote = append(wrote, Sums(p)...)
			for _, word := range d.words {
				if n := strings.Count(region, word); n != 1 {
					t.Fatalf("%q stands %d times in\n%s\nwhich was\n%s", word, n, region, edited)
				}
			}
			if again := Render(p, Parse(region, wrote)); again != region {
				t.Fatalf("another look writes\n%s\nfor\n%s", again, region)
			}
		}
	})
}
