package notesync

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
	"emberd/vault/notename"
)

// checkBeside reports a note beside that of a memory: what emberd does about it, or text and why it does nothing.
func (c *vaultChecker) checkBeside(ctx context.Context, kind string, note *vault.Note, line int, text string) {
	f := op.Finding{Kind: kind, Path: note.Path, Line: line, Text: text}
	id, err := memory.ParseID(note.MemoryID)
	row, live := c.e.Stm.Get(id)
	if err != nil || !live && !c.e.Stm.Trashed(id) {
		c.found = append(c.found, f)
		return
	}
	second := "this is a second note of memory " + id.Short()
	item, asked := memory.ReviewItem{}, false
	if live {
		item, asked = core.AskedAbout(row, note.Path, note.Carried.Body)
	}
	f.Item, f.Waits = item.ID, !asked && c.e.Sync.Contains(id)
	switch {
	case asked:
		f.Text = second + ", and emberd needs your decision; run: emberd review show " + item.Short()
	case f.Waits:
		f.Text = second + "; if the notes do not change for two minutes, emberd resolves " +
			"the conflict or creates a review item"
	default:
		if left := c.e.Sync.leftBecause(ctx, id, note.Path); left != "" {
			f.Text += "; emberd does not resolve the conflict automatically: " + left
		}
	}
	c.found = append(c.found, f)
}

// checkNumbered reports notes with a number behind the name of another note, as iCloud names copies and persons name
// notes, if their texts are nearly the same.
func (c *vaultChecker) checkNumbered() {
	texts := make(map[string]string, len(c.read))
	for _, note := range c.read {
		texts[note.Path] = note.Text
	}
	for _, note := range c.read {
		of, may := notename.NumberedCopyOf(note.Path)
		if text, there := texts[of]; may && there && note.MemoryID == "" && nearlySame(note.Text, text) {
			c.find("conflict", note.Path, 1, "this note has nearly the same text as the note %q, and iCloud gives "+
				"such names to conflict copies; if it is a copy, compare the two notes and delete one of them", of)
		}
	}
}

// nearlySame reports whether at least nine of ten words of the longer text are in the other one, too.
func nearlySame(a, b string) bool {
	words, others := strings.Fields(a), strings.Fields(b)
	count := make(map[string]int, len(words))
	for _, w := range words {
		count[w]++
	}
	same := 0
	for _, w := range others {
		if count[w] > 0 {
			count[w]--
			same++
		}
	}
	return same > 0 && 10*same >= 9*max(len(words), len(others))
}

// leftBecause returns why the copy at path of the note of a memory is left to the user, "" if that is not known.
func (t *NoteSync) leftBecause(ctx context.Context, id memory.ID, path string) string {
	copies, err := t.copiesOf(ctx, &NoteChange{ID: id})
	i := slices.IndexFunc(copies, func(c *copyRun) bool { return c.path == path })
	if i < 0 || err != nil {
		return ""
	}
	c := copies[i]
	m, err := t.withCopies(id)
	if there, unread := c.find(ctx); m == nil || err != nil || unread != nil || !there {
		return ""
	}
	copied, like, _, err := c.read(ctx)
	if err != nil || copied == nil {
		return ""
	}
	return c.whyLeft(ctx, m, copied, like)
}

// whyLeft returns why a copy that note sync has looked at was not removed.
func (c *copyRun) whyLeft(ctx context.Context, m *memory.Memory, copied, like []byte) string {
	if !c.canJoin() {
		if c.joinAtRest(ctx, copied, like) != nil {
			return ""
		}
		return c.left
	}
	texts, err := c.t.e.Promote.TextVersions(ctx, m)
	if err != nil {
		return ""
	}
	left, err := c.differsIn(ctx, m, texts, copied, like)
	if left != "" || err != nil {
		return left
	}
	if unfit := c.t.e.Notes.CheckContent(c.copy, m.Content); unfit != nil {
		return unfit.Error()
	}
	return ""
}

// canJoin reports whether the copy's text can be merged into the memory.
func (c *copyRun) canJoin() bool {
	row, live := c.t.e.Stm.Get(c.id)
	return live && !row.Cold() && c.isKnown
}

// formerPaths returns the paths that a memory's note has or had by the log.
func formerPaths(versions []stm.Version) (paths []string) {
	for _, v := range versions {
		for _, f := range v.Fields {
			if f.Name != "promoted_to" && f.Name != "vault_path" {
				continue
			}
			for _, value := range []json.RawMessage{f.From, f.To} {
				var path string
				if json.Unmarshal(value, &path) == nil && path != "" {
					paths = including(paths, path)
				}
			}
		}
	}
	return paths
}
