package noteedit

import (
	"bytes"
	"strings"

	"emberd/vault/lex"
)

// OwnText returns the text of a note, given what follows its frontmatter: bare and without
// regions.
func OwnText(body []byte) string {
	return lex.TrimBody(string(withoutRegions(lex.Plain(body))))
}

// withoutRegions returns a text without the lines of all complete regions.
func withoutRegions(body []byte) []byte {
	var out []byte
	at := 0
	for _, r := range wholeRegions(body) {
		out = append(out, body[at:r.start]...)
		at = r.end
	}
	return append(out, body[at:]...)
}

// wholeRegions returns the regions of any name that have both marks.
func wholeRegions(body []byte) (all []region) {
	if !bytes.Contains(body, []byte("<!-- emberd:")) {
		return nil
	}
	var f lex.Fence
	var open region
	name, at := "", 0
	for line := range bytes.Lines(body) {
		words := strings.TrimRight(string(line), " \t\n")
		begins, isBegin := strings.CutPrefix(words, "<!-- emberd:")
		switch {
		case f.InCode(line):
		case name == "" && isBegin && strings.HasSuffix(begins, " -->"):
			name, open.start, open.from = strings.TrimSuffix(begins, " -->"), at, at+len(line)
		case name != "" && words == "<!-- /emberd:"+name+" -->":
			open.to, open.end = at, at+len(line)
			name, all = "", append(all, open)
		}
		at += len(line)
	}
	return all
}

// FirstRegion returns the first of the names of which a region begins in a text, "" if none
// does.
func FirstRegion(body []byte, names []string) string {
	for _, name := range names {
		if _, found, err := findRegion(body, 0, name); found || err != nil &&
			bytes.Contains(body, []byte("<!-- emberd:"+name+" -->")) {
			return name
		}
	}
	return ""
}
