package engine_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/op"
)

// human is somebody who works on the note of one memory, and what should come of it.
type human struct {
	*desk
	id      memory.ID
	path    string // where the note is, or was
	body    string
	tags    []string
	broken  bool // the frontmatter cannot be read
	deleted bool
	copies  int
	copied  bool // within this minute

	copying bool // copies are made; else the frontmatter breaks, and memories are forgotten
	forgot  bool // through emberd
	missed  bool // the note was not there when a minute had passed
	typed   int
}

func (h *human) text() string {
	if h.broken {
		return fmt.Sprintf("---\nmemory-id: %q\ntags: [a\n---\n%s\n", h.id, h.body)
	}
	return noteFor(h.id, h.body, h.tags...)
}

func (h *human) write() {
	h.desk.write(h.t, h.path, h.text())
	h.batch([]string{h.path}, nil)
	h.deleted = false
}

// actions are what a human, sync tools and the machine do to the note.
func (h *human) actions() map[string]func(*rapid.T) {
	names := []string{"Kettle.md", "kettle.md", "Kitchen/Kettle.md", "Ä – ü.md", "Memories/Archive/Kettle.md"}
	return map[string]func(*rapid.T){
		"type": func(r *rapid.T) {
			h.typed++
			h.body = fmt.Sprintf("text %d", h.typed)
			h.tags = []string{fmt.Sprintf("tag%d", rapid.IntRange(0, 3).Draw(r, "tag"))}
			h.write()
		},
		"break the frontmatter": func(r *rapid.T) {
			if h.copying {
				r.Skip("nobody could say which is the copy")
			}
			h.broken = true
			h.write()
		},
		"mend it": func(*rapid.T) { h.broken = false; h.write() },
		"rename": func(r *rapid.T) {
			to := rapid.SampledFrom(names).Draw(r, "to")
			if h.deleted || to == h.path {
				r.Skip("not there")
			}
			h.desk.move(h.path, to)
			h.path = to
		},
		"rename by a sync tool": func(r *rapid.T) {
			to := rapid.SampledFrom(names).Draw(r, "to")
			if h.deleted || to == h.path || h.broken || h.copied {
				r.Skip("not there, or it looks like a deletion, or nobody could say which is the copy")
			}
			ok(h.t, os.Remove(h.at(h.path)))
			h.batch(nil, []string{h.path})
			h.path = to
			h.write()
		},
		"delete": func(r *rapid.T) {
			if h.deleted || h.copying {
				r.Skip("not there, or a copy takes its place")
			}
			ok(h.t, os.Remove(h.at(h.path)))
			h.batch(nil, []string{h.path})
			h.deleted = true
		},
		"make a copy": func(r *rapid.T) {
			if !h.copying {
				r.Skip("not now")
			}
			h.copied = true
			h.copies++
			name := fmt.Sprintf("A copy %d.md", h.copies)
			h.desk.write(h.t, name, h.text())
			h.batch([]string{name}, nil)
		},
		"edit through emberd": func(r *rapid.T) {
			if _, live := h.Stm.Get(h.id); !live {
				r.Skip("forgotten")
			}
			_, err := op.Edit.Call(h.t.Context(), h.Engine, &op.EditRequest{ID: string(h.id), Source: new(fmt.Sprint(h.typed))})
			if err != nil && memory.CodeOf(err) != memory.Conflict { // a note may claim the memory
				r.Fatal(err)
			}
		},
		"forget": func(r *rapid.T) {
			if _, live := h.Stm.Get(h.id); !live || h.copying {
				r.Skip("forgotten, or nobody could say which is the copy")
			}
			do(h.t, h.Engine, op.Forget, &op.ForgetRequest{ID: string(h.id)})
			h.forgot = true
		},
		"restore": func(r *rapid.T) {
			if !h.Stm.Trashed(h.id) {
				r.Skip("not in the trash")
			}
			do(h.t, h.Engine, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(h.id)}})
			h.forgot = false
		},
		"a minute": func(*rapid.T) { h.minute() },
		"kill": func(*rapid.T) {
			if h.copying || h.broken { // a torn index reads copies anew, as if they had just come, and still has the ID
				h.restart()
				return
			}
			h.desk = h.killed()
		},
		"": func(r *rapid.T) {
			if h.Stm.Trashed(h.id) && !h.forgot && !h.missed {
				r.Fatal("the memory is in the trash, and nobody forgot it or deleted its note")
			}
		},
	}
}

func (h *human) minute() {
	h.missed = h.missed || h.deleted
	h.copied = false
	h.settle()
}

// decide answers as the user where a note is not known as the memory's: it came back with another text, or
// was renamed while the memory was in the trash or its ID could not be read.
func (h *human) decide() {
	if h.Stm.Trashed(h.id) {
		do(h.t, h.Engine, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(h.id)}})
		h.minute()
	}
	for _, item := range h.claims() {
		if !strings.Contains(item.Evidence, fmt.Sprintf("%q", h.path)) {
			continue // a copy
		}
		do(h.t, h.Engine, op.ReviewClose, h.adoptingOf(item.ID))
		h.minute()
	}
}

// Whatever is done to a note, in the end the memory is what the note says, and it was
// never forgotten unless somebody forgot it or deleted the note.
func TestNoteAndMemoryStayTogether(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	ok(t, checks.Value.Set(fmt.Sprint(size(8, 200))))
	defer func() { ok(t, checks.Value.Set(before)) }()
	rapid.Check(t, func(r *rapid.T) {
		d := newDesk(t, nil)
		h := &human{desk: d, id: d.kept("text 0", "Kettle.md"), path: "Kettle.md", body: "text 0", copying: rapid.Bool().Draw(r, "copying")}
		r.Repeat(h.actions())
		h.broken = false
		h.write()
		h.minute()
		if h.forgot {
			if !h.Stm.Trashed(h.id) {
				r.Fatal("what was forgotten came back")
			}
			return
		}
		h.decide()
		m := h.memory(h.id)
		if m.Content != h.body || m.PromotedTo != h.path || !m.NoteGone.IsZero() || len(m.Tags) != len(h.tags) {
			r.Logf("the memory is %q with tags %q at %q; the note is %q with tags %q at %q", m.Content, m.Tags, m.PromotedTo, h.body, h.tags, h.path)
			r.Fatal("in the end the memory is not as its note says")
		}
		lines := h.lines(h.id)
		h.batch([]string{h.path}, nil)
		h.minute()
		if got := h.lines(h.id); got != lines {
			r.Fatalf("%d lines for nothing", got-lines)
		}
	})
}
