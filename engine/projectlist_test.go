package engine_test

import (
	"strings"
	"testing"

	"emberd/memory"
	"emberd/op"
)

func TestProjectsHaveNotes(t *testing.T) {
	t.Parallel()
	d := &desk{house: promotingHouse(t, nil), t: t}
	d.VaultProjects = "Memories/Projects"
	d.start()
	add := func(project, content string, tags ...string) op.Memory {
		return do(t, d.Engine, op.Save, &op.SaveRequest{Content: content, Project: project, Tags: tags}).Memory
	}
	a := add("apollo", "we use PostgreSQL", "decision")
	b := add("apollo", "we use SQLite")
	add("apollo", "who writes the launch plan?", "todo")
	add("small", "nothing much")
	do(t, d.Engine, op.Relate, relating(a, b, memory.Contradicts))
	do(t, d.Engine, op.Relate, relating(b, a, memory.Contradicts))
	d.listed()
	const path = "Memories/Projects/apollo.md"
	note := d.note(t, path)
	parts := strings.Split(note, "\n## ")
	if len(parts) != 4 || !strings.HasPrefix(note, "---\nemberd: \"project/apollo\"\n---\n<!-- emberd:project -->\n") {
		t.Fatalf("the note is\n%s", note)
	}
	for i, want := range [][]string{{}, {"Decisions", "PostgreSQL"}, {"Open tasks", "launch plan"}, {"Conflicts", "PostgreSQL", "SQLite"}} {
		for _, text := range want {
			if !strings.Contains(parts[i], text) {
				t.Errorf("part %d is %q, without %q", i, parts[i], text)
			}
		}
	}
	if n := strings.Count(parts[3], "PostgreSQL"); n != 1 {
		t.Errorf("the conflict is there %d times", n)
	}
	wantFiles(t, d.house, path)

	// The user's text stays, a second pass writes nothing, and the note follows its memories.
	d.write(t, path, note+"mine\n")
	d.listed()
	if got := d.note(t, path); got != note+"mine\n" {
		t.Errorf("the note is\n%s", got)
	}
	do(t, d.Engine, op.Forget, &op.ForgetRequest{ID: string(a.ID)})
	d.listed()
	if got := d.note(t, path); strings.Contains(got, "PostgreSQL") || !strings.HasSuffix(got, "mine\n") {
		t.Errorf("the note is\n%s", got)
	}
	d.wantWritable(path, false)
}

// wantWritable says whether agents may write a note.
func (d *desk) wantWritable(path string, want bool) {
	d.t.Helper()
	_, err := op.NoteWrite.Call(d.t.Context(), d.Engine, &op.NoteWriteRequest{Path: path + "x", Text: "x"})
	if (err == nil) != want {
		d.t.Errorf("writing beside %s: %v", path, err)
	}
}
