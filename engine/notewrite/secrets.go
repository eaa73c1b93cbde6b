package notewrite

import (
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/internal/secret"
	"emberd/memory"
	"emberd/vault/notename"
)

// aroundChange is how many bytes before and behind a change are scanned with it, more than a private key has.
const aroundChange = 8 << 10

func (e *NoteWrite) checkSecrets(texts []core.Passage) error {
	if !e.Opt.DetectSecrets {
		return nil
	}
	return core.CheckSecrets(texts)
}

// checkName returns an error for the path of a new note with a credential in one of its names.
func (e *NoteWrite) checkName(field, name string) error {
	return e.checkSecrets(core.AppendEach(nil, field, strings.Split(notename.TrimExtension(name), "/")))
}

// checkJoined returns an error for a credential that a change makes of its own text and what was around it.
func (e *NoteWrite) checkJoined(c *change, now, out []byte) error {
	if !e.Opt.DetectSecrets {
		return nil
	}
	from, rest := changedSpan(now, out)
	first := max(0, from-aroundChange)
	before := string(now[first:max(first, len(now)-max(0, rest-aroundChange))])
	after := string(out[first:max(first, len(out)-max(0, rest-aroundChange))])
	var had []string
	for _, f := range secret.Scan(before) {
		had = append(had, before[f.Start:f.End])
	}
	for _, f := range secret.Scan(after) {
		if !slices.Contains(had, after[f.Start:f.End]) {
			return memory.Errorf(memory.Secret, "the change and the existing text next to it together contain "+
				"text that looks like a credential (%s); change the text, or "+
				"to write the text anyway, set allow_secret (--allow-secret)", f.Type).At(c.field())
		}
	}
	return nil
}

// field returns the field of the first text of a caller.
func (c *change) field() string {
	if len(c.texts) == 0 {
		return "unset"
	}
	return c.texts[0].Field
}

// changedSpan returns how many bytes two texts have in common at the beginning, and how many at the end.
func changedSpan(a, b []byte) (first, last int) {
	most := min(len(a), len(b))
	for first < most && a[first] == b[first] {
		first++
	}
	for last < most-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	return first, last
}
