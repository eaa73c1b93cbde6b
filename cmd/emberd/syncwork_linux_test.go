package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"emberd/memory"
	"emberd/op"
)

// each calls do now and then with a number, until the time is over.
func each(ctx context.Context, pause time.Duration, do func(n int)) {
	for n := 0; ; n++ {
		if rest(ctx, pause); ctx.Err() != nil {
			return
		}
		do(n)
	}
}

// did counts a call, and what it was refused with, unless the work ended during it.
func (p *pair) did(what string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(err, context.DeadlineExceeded) {
		return
	}
	p.calls[what]++
	if err == nil {
		return
	}
	code := memory.CodeOf(err)
	if p.refused[what+": "+string(code)]++; code == memory.Internal {
		p.internal = append(p.internal, fmt.Sprintf("%s: %v", what, err))
	}
}

// saving is an agent that saves.
func (p *pair) saving(ctx context.Context, by int) {
	d := p.devices[by]
	rng := seeded("saving " + d.name)
	each(ctx, 400*time.Millisecond, func(int) {
		text := soakText(rng, d.name)
		at := time.Now()
		res, err := op.Save.Call(ctx, d.client, &op.SaveRequest{Content: text})
		if p.did("save", err); err != nil {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.saved[res.Memory.ID] = &savedText{text: text, by: by, at: at}
		p.order = append(p.order, res.Memory.ID)
	})
}

// watching looks when saves of the other device are visible on this one.
func (p *pair) watching(ctx context.Context, on int) {
	track := false
	for ; ctx.Err() == nil; rest(ctx, 100*time.Millisecond) {
		awaited := p.unseen(on)
		if len(awaited) == 0 {
			continue
		}
		req := &op.OpenManyRequest{IDs: awaited, Relations: &track, Track: &track}
		res, err := op.OpenMany.Call(ctx, p.devices[on].client, req)
		if err != nil {
			continue // the daemon was killed
		}
		p.mu.Lock()
		for _, m := range res.Memories {
			p.saved[m.ID].seen = time.Now()
		}
		p.mu.Unlock()
	}
}

// unseen are the oldest saves of the other device that were not seen on this one.
func (p *pair) unseen(on int) (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range p.order {
		if s := p.saved[id]; s.by != on && s.seen.IsZero() && len(ids) < 100 {
			ids = append(ids, string(id))
		}
	}
	return ids
}

// some is a memory of either device: often one of the first, which so have notes that both
// devices change.
func (p *pair) some(rng *rand.Rand) (memory.ID, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.order) == 0 {
		return "", false
	}
	if rng.IntN(2) == 0 {
		return p.order[rng.IntN(min(len(p.order), 20))], true
	}
	return p.order[rng.IntN(len(p.order))], true
}

func (p *pair) change(id memory.ID) { p.mu.Lock(); defer p.mu.Unlock(); p.saved[id].changed = true }

// editing is an agent that reads a memory and adds a sentence or a tag to it.
func (p *pair) editing(ctx context.Context, by int) {
	d := p.devices[by]
	rng, track := seeded("editing "+d.name), false
	each(ctx, time.Second, func(n int) {
		id, ok := p.some(rng)
		if !ok {
			return
		}
		if rng.IntN(3) == 0 {
			tag := fmt.Sprintf("t%d", rng.IntN(9))
			_, err := op.Edit.Call(ctx, d.client, &op.EditRequest{ID: string(id), AddTags: []string{tag}})
			p.did("add a tag", err)
			return
		}
		was, err := op.Show.Call(ctx, d.client, &op.ShowRequest{ID: string(id), Track: &track})
		if err != nil || was.Memory.Stage.Cold() {
			return
		}
		word := fmt.Sprintf("edit-%s-%d.", d.name, n)
		p.change(id)
		text := was.Memory.Content + "\n\nAn agent adds " + word
		_, err = op.Edit.Call(ctx, d.client, &op.EditRequest{ID: string(id), Content: &text, IfMatch: was.Memory.Rev})
		if p.did("edit a text", err); err == nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.edits[word] = ackedEdit{id: id, at: time.Now()}
		}
	})
}

// promoting gives notes to memories.
func (p *pair) promoting(ctx context.Context, by int) {
	rng := seeded("promoting " + p.devices[by].name)
	each(ctx, 2*time.Second, func(int) {
		if id, ok := p.some(rng); ok {
			_, err := op.Promote.Call(ctx, p.devices[by].client, &op.PromoteRequest{ID: string(id), Force: true})
			p.did("promote", err)
		}
	})
}

// archiving lets memories fade at once, and now and then restores one.
func (p *pair) archiving(ctx context.Context, by int) {
	rng := seeded("archiving " + p.devices[by].name)
	each(ctx, 5*time.Second, func(int) {
		id, ok := p.some(rng)
		if !ok {
			return
		}
		p.change(id)
		if rng.IntN(3) == 0 {
			_, err := op.Rekindle.Call(ctx, p.devices[by].client, &op.RekindleRequest{Query: string(id)})
			p.did("rekindle", err)
			return
		}
		_, err := op.Archive.Call(ctx, p.devices[by].client, &op.ArchiveRequest{ID: string(id)})
		p.did("archive", err)
	})
}

// forgetting moves memories to the trash, and some of them back, whichever device forgot them.
func (p *pair) forgetting(ctx context.Context, by int) {
	rng := seeded("forgetting " + p.devices[by].name)
	each(ctx, 4*time.Second, func(int) {
		id, ok := p.some(rng)
		if !ok {
			return
		}
		if rng.IntN(3) > 0 {
			_, err := op.Forget.Call(ctx, p.devices[by].client, &op.ForgetRequest{ID: string(id)})
			p.did("forget", err)
			return
		}
		trash, err := op.TrashList.Call(ctx, p.devices[by].client, &op.TrashListRequest{})
		if err != nil || len(trash.Items) == 0 {
			return
		}
		restored := trash.Items[rng.IntN(len(trash.Items))].Memory.ID
		req := &op.TrashRestoreRequest{IDs: []string{string(restored)}}
		_, err = op.TrashRestore.Call(ctx, p.devices[by].client, req)
		p.did("restore", err)
	})
}

// person is somebody who writes and renames notes in Obsidian, each line with a word of its own.
func (p *pair) person(ctx context.Context, by int) {
	d := p.devices[by]
	rng := seeded("person " + d.name)
	each(ctx, 1500*time.Millisecond, func(n int) {
		notes := notesOf(d.vault)
		line := fmt.Sprintf("A person writes line-%s-%d here.", d.name, n)
		switch kind := rng.IntN(10); {
		case kind == 0 || len(notes) == 0:
			name := fmt.Sprintf("Note %s %d.md", d.name, n)
			p.wrote(line, name, inPlace(filepath.Join(d.vault, name), "# A note\n\n"+line+"\n"))
		case kind == 1:
			name := notes[rng.IntN(len(notes))]
			to := fmt.Sprintf("Renamed %s %d.md", d.name, n)
			p.did("rename a note", os.Rename(filepath.Join(d.vault, name), filepath.Join(d.vault, to)))
		default:
			name := notes[rng.IntN(len(notes))]
			p.wrote(line, name, addLine(filepath.Join(d.vault, name), line, rng))
		}
	})
}

func (p *pair) wrote(line, name string, err error) {
	if p.did("write a note", err); err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lines[line] = name
	}
}

// notesOf are the notes that a person writes in, by their paths in the vault: not those in which
// emberd lists memories, and no copies of a sync tool.
func notesOf(vault string) (names []string) {
	listing := []string{"Memories/Index.md", "Memories/Core.md", "Memories/Inbox.md"}
	_ = filepath.WalkDir(vault, func(path string, e fs.DirEntry, err error) error { // what vanishes is no note
		rel, _ := filepath.Rel(vault, path)
		switch {
		case err != nil:
			return nil
		case e.IsDir() && strings.HasPrefix(e.Name(), ".") || rel == "Memories/Archive":
			return fs.SkipDir
		case filepath.Ext(rel) != ".md" || strings.Contains(rel, ".sync-conflict-"):
		case !slices.Contains(listing, rel):
			names = append(names, rel)
		}
		return nil
	})
	return names
}

// addLine puts a line before or behind what a note says, and writes it as Obsidian does.
func addLine(path, line string, rng *rand.Rand) error {
	was, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := strings.TrimRight(string(was), "\n") + "\n\n" + line + "\n"
	at := strings.Index(string(was), "\n---\n")
	if rng.IntN(3) == 0 && strings.HasPrefix(string(was), "---\n") && at > 0 {
		head, body := text[:at+5], text[at+5:]
		text = head + "\n" + line + "\n\n" + strings.TrimLeft(strings.TrimSuffix(body, line+"\n"), "\n")
	}
	return inPlace(path, text)
}
