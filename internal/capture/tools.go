package capture

import (
	"slices"
	"strings"

	"emberd/internal/text"
	"emberd/op"
)

// commit is the message of a git commit on its command line.
var commit = text.Pattern(`\bgit commit\b[^"']*\s-(?:a?m|-message)[ =]?(?:"([^"]+)"|'([^']+)')`)

// call takes in a call of a tool: why something was committed, and which command failed before.
func (t *turn) call(m op.SessionMessage) {
	t.calls = append(t.calls, m)
	if m.Failed {
		return
	}
	found := commit().FindStringSubmatch(text.FirstBytes(m.Command, maxSentence*4))
	if found == nil {
		return
	}
	s := said{sentence: sentenceOf(found[1] + found[2]), place: -1}
	if s.fits() && s.is("reason") { // what alone says what was done is in the repository
		t.keep(Decision, op.RoleAgent, m, s, s.text)
	}
}

// repaired notes the command that failed, and passed after files were changed, with the cause that the answer tells.
func (t *turn) repaired(m op.SessionMessage) {
	command, files := t.repair()
	if command == "" {
		return
	}
	for i := range t.kept {
		if k := &t.kept[i]; k.Rule == Cause && k.Message == m.ID {
			k.Command, k.Files = command, files
			return
		}
	}
}

// repair returns a command of the turn that failed and later passed, and the files that were
// changed in between.
func (t *turn) repair() (command string, files []string) {
	failed := map[string]int{} // by command, where in the list of changed files
	for _, c := range t.calls {
		line := strings.TrimSpace(c.Command)
		at, before := failed[line]
		switch {
		case line == "":
		case c.Failed && !before:
			failed[line] = len(files)
		case !c.Failed && before && len(files) > at:
			files = slices.Compact(slices.Sorted(slices.Values(files[at:])))
			return text.Truncate(line, 200), files
		}
		files = append(files, c.Files...)
	}
	return "", nil
}
