package notewrite

import (
	"bytes"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/vault/frontmatter"
	"emberd/vault/lex"
	"emberd/vault/neutralize"
)

// neutralized returns the new bytes of a note without what a plugin would run, load or hide, apart from what the
// note had already. It changes only lines that are new.
func neutralized(name string, was, now []byte) (out []byte, changed bool, err error) {
	_, wasBody := parts(was)
	nowHead, nowBody := parts(now)
	if had, has := bytes.Count(was, []byte("<%")), bytes.Count(nowHead, []byte("<%")); has > had {
		return nil, false, memory.Errorf(memory.Invalid,
			"the properties contain a Templater command; remove the command").
			At("text")
	}
	before, after := lex.PlainEnds(wasBody), lex.PlainEnds(nowBody)
	made := neutralize.Changed(before, after)
	if made == after {
		return now, false, nil
	}
	newline := lex.LineEnd(now)
	if strings.ReplaceAll(after, "\n", newline) != string(nowBody) || touchesOld(before, after, made) {
		return nil, false, memory.Errorf(memory.Conflict, "cannot change note %q: the change is inside HTML, a "+
			"comment or code that a plugin runs; make the change in Obsidian", name).At("text")
	}
	return slices.Concat(nowHead, []byte(strings.ReplaceAll(made, "\n", newline))), true, nil
}

// parts splits a note behind its properties.
func parts(note []byte) (head, body []byte) {
	text, _ := lex.Normalize(note)
	at := lex.TextStart(note)
	_, end, _ := frontmatter.Find(text[at:])
	return note[:at+end], note[at+end:]
}

// touchesOld reports whether made differs from after in a line that before has too, at the beginning or end that
// both have in common.
func touchesOld(before, after, made string) bool {
	was, now, out := strings.Split(before, "\n"), strings.Split(after, "\n"), strings.Split(made, "\n")
	first, last := 0, 0
	for first < min(len(was), len(now)) && was[first] == now[first] {
		first++
	}
	for last < min(len(was), len(now))-first && was[len(was)-1-last] == now[len(now)-1-last] {
		last++
	}
	for i := range now {
		if (i < first || i >= len(now)-last) && out[i] != now[i] {
			return true
		}
	}
	return false
}
