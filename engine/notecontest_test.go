package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

// contestants are some agents and an editor that change the same notes at the same time. The clock of the engine
// is an hour ahead, so that it does not wait for a note to be left alone: each save can meet a write.
type contestants struct {
	*house
	e     *engine.Engine
	paths []string // of the notes

	mu      sync.Mutex // guards the fields below
	saves   []editorSave
	edits   []agentEdit
	refused map[string]int
}

// editorSave is what the editor saved, and when it was done.
type editorSave struct {
	note, line, text string
	ended            time.Time
}

// agentEdit is a change that was acknowledged. The token is what it added.
type agentEdit struct {
	kind, note, token, tx string
	began                 time.Time
	undone                string    // what became of its undo, "" if it was not undone
	undoing               time.Time // when that began
}

// editorWays are the ways in which editors save: in place, in two parts, and by a new file.
var editorWays = []func(file, text string) error{
	func(file, text string) error { return os.WriteFile(file, []byte(text), 0o600) },
	func(file, text string) error {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		half := len(text) / 2
		_, err = f.WriteString(text[:half])
		time.Sleep(rand.N(2 * time.Millisecond))
		if err == nil {
			_, err = f.WriteString(text[half:])
		}
		return firstOf(err, f.Close())
	},
	func(file, text string) error {
		temp := file + ".tmp"
		if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
			return err
		}
		return os.Rename(temp, file)
	},
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// edit has the editor add a line of the user's to what it shows, and save.
func (c *contestants) edit(t *testing.T, n int) {
	note := c.paths[rand.IntN(len(c.paths))]
	file := filepath.Join(c.Vaults[0], note)
	shown, err := os.ReadFile(file)
	if err != nil {
		return // it is missing for a moment
	}
	line := fmt.Sprintf("the user's line u%dz", n)
	time.Sleep(rand.N(3 * time.Millisecond)) // typing
	text := string(shown) + line + "\n"
	if err := editorWays[rand.IntN(len(editorWays))](file, text); err != nil {
		t.Errorf("the editor cannot save: %v", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.saves = append(c.saves, editorSave{note, line, text, time.Now()})
}

// change has an agent change a note in one of four ways, and undo some of the changes.
func (c *contestants) change(t *testing.T, n int) {
	kind := []string{"append", "edit", "property", "write"}[n%4]
	made := agentEdit{kind: kind, note: c.paths[rand.IntN(len(c.paths))], token: fmt.Sprintf("a%dz", n), began: time.Now()}
	res, err := c.ask(&made)
	if err == nil {
		made.tx = res.Tx
		if n%5 == 0 {
			var done *op.UndoResult
			made.undoing = time.Now()
			if done, err = op.Undo.Call(context.Background(), c.e, &op.UndoRequest{Tx: res.Tx}); err == nil {
				made.undone = done.Items[0].Action
			} else {
				made.undone = "refused"
				c.refuse(t, "undo", err)
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.edits = append(c.edits, made)
		return
	}
	c.refuse(t, kind, err)
}

func (c *contestants) ask(made *agentEdit) (*op.NoteChangeResult, error) {
	ctx := context.Background()
	switch made.kind {
	case "append":
		return op.NoteAppend.Call(ctx, c.e, &op.NoteAppendRequest{Path: made.note, Text: made.token})
	case "edit":
		return op.NoteEdit.Call(ctx, c.e, &op.NoteEditRequest{Path: made.note, Find: "# Start\n", Replace: "# Start\n" + made.token + "\n"})
	case "property":
		return op.NoteEdit.Call(ctx, c.e, &op.NoteEditRequest{Path: made.note, Set: map[string]json.RawMessage{"k" + made.token: json.RawMessage(strconv.Quote(made.token))}})
	}
	read, err := op.NoteContext.Call(ctx, c.e, &op.NoteContextRequest{Path: made.note, MaxTokens: 20_000})
	if err != nil {
		return nil, err
	}
	if read.Next > 0 {
		return nil, memory.Errorf(memory.TooLarge, "the note is larger than the agent reads")
	}
	return op.NoteWrite.Call(ctx, c.e, &op.NoteWriteRequest{Path: made.note, Text: read.Text + made.token + "\n", Digest: read.Digest})
}

// refuse counts a refusal by its reason. Only those that tell an agent to come back are right here.
func (c *contestants) refuse(t *testing.T, kind string, err error) {
	code := memory.CodeOf(err)
	if !slices.Contains([]memory.Code{memory.Busy, memory.Conflict, memory.NotFound, memory.TooLarge}, code) {
		t.Errorf("%s was refused with %s: %v", kind, code, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[string(code)]++
}

// everywhere is the text of a note and of all backups.
func (c *contestants) backups(t *testing.T) (all []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(c.State, "backups", "notes", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(data))
	}
	return all
}

// saved reports whether the editor saved a note after some time with an agent's token, or without it.
func (c *contestants) saved(made *agentEdit, after time.Time, with bool) bool {
	return slices.ContainsFunc(c.saves, func(s editorSave) bool {
		return s.note == made.note && s.ended.After(after) && strings.Contains(s.text, made.token) == with
	})
}

// TestAgentsAndAnEditor: agents change notes that an editor saves at the same time. No line of the user is lost:
// each is in its note, or in a backup. Each change of an agent is in its note, or the editor replaced it by what it
// saved, or the agent was told why it was not made. EMBERD_TEST_NOTE_EDITS is how many changes agents try.
func TestAgentsAndAnEditor(t *testing.T) {
	edits := 120
	if n, err := strconv.Atoi(os.Getenv("EMBERD_TEST_NOTE_EDITS")); err == nil {
		edits = n
	}
	notes := make(map[string]string)
	c := &contestants{refused: make(map[string]int)}
	for i := range 12 {
		c.paths = append(c.paths, fmt.Sprintf("Agents/n%d.md", i))
		notes[c.paths[i]] = "# Start\n\nthe user's first line\n"
	}
	c.house, c.e = agentDesk(t, notes)
	var agents, others sync.WaitGroup
	stop := make(chan struct{})
	others.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(rand.N(8 * time.Millisecond)):
				c.edit(t, n)
			}
		}
	})
	others.Go(func() { // so that the writer looks for late saves
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				c.advance(500 * time.Millisecond)
				c.e.Promote.WriteDue(t.Context())
			}
		}
	})
	const atOnce = 4
	for a := range atOnce {
		agents.Go(func() {
			for n := a; n < edits; n += atOnce {
				c.change(t, n)
			}
		})
	}
	agents.Wait()
	close(stop)
	others.Wait()
	c.rest(t, c.e)
	c.judge(t, edits)
	if len(c.edits) == 0 {
		t.Error("there was no contest")
	}
}

// judge looks for what everybody wrote.
func (c *contestants) judge(t *testing.T, edits int) {
	t.Helper()
	text := make(map[string]string)
	for _, path := range c.paths {
		text[path] = c.note(t, path)
	}
	kept := c.backups(t)
	inNote, inBackup, lost := 0, 0, 0
	for _, s := range c.saves {
		has := func(text string) bool { return strings.Contains(text, s.line) }
		switch {
		case has(text[s.note]):
			inNote++
		case slices.ContainsFunc(kept, has):
			inBackup++
		default:
			lost++
			t.Errorf("%q, saved to %s, is nowhere", s.line, s.note)
		}
	}
	t.Logf("editor: %d saves, %d lines in the notes, %d in backups only, %d lost", len(c.saves), inNote, inBackup, lost)
	count := make(map[string]int)
	for i := range c.edits {
		made := &c.edits[i]
		there := strings.Contains(text[made.note], made.token)
		fate := "in the note"
		switch {
		case made.undone == "reverted" && !there:
			fate = "undone"
		case made.undone == "reverted" && c.saved(made, made.undoing, true):
			fate = "undone, and saved again by the editor, which showed it"
		case made.undone == "reverted":
			t.Errorf("%s %s was undone and is in %s", made.kind, made.token, made.note)
		case there:
		case c.saved(made, made.began, false):
			fate = "replaced by a later save of the editor"
		default:
			t.Errorf("%s %s was acknowledged and is not in %s", made.kind, made.token, made.note)
		}
		count[fate]++
	}
	for _, fate := range slices.Sorted(maps.Keys(count)) {
		t.Logf("agents: %d changes %s", count[fate], fate)
	}
	t.Logf("agents: %d changes tried, %d acknowledged, refused with a reason: %v", edits, len(c.edits), c.refused)
	if len(c.saves) == 0 {
		t.Error("there was no contest")
	}
}
