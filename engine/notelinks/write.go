package notelinks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/engine/memories"
	"emberd/engine/notes"
	"emberd/engine/notewrite"
	"emberd/engine/promote"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
	"emberd/vault/frontmatter"
)

// properties returns the properties of a note of a memory that are emberd's, nil if it is not the memory's or they
// cannot be changed.
func properties(n *memoryNote, note []byte) map[string][]string {
	has, err := frontmatter.Lists(note, append(promote.LinkKeys(), notes.MemoryIDKey)...)
	if err != nil || len(has[notes.MemoryIDKey]) != 1 {
		return nil
	}
	if id, err := memory.ParseID(has[notes.MemoryIDKey][0]); err != nil || id != n.m.ID {
		return nil
	}
	return has
}

// write writes the notes that are due, as one change of the journal. Both ends of a relation are in it, unless one of
// the notes has to wait.
func (p *pass) write(ctx context.Context, due []readNote) error {
	if !p.all && len(due) > maxWrites {
		p.res.Waiting += len(due) - maxWrites
		due = due[:maxWrites]
		p.k.Later(p.e.Opt.Now().Add(time.Second))
	}
	if len(due) == 0 {
		return nil
	}
	var paths []string
	for i := range due {
		paths = append(paths, due[i].n.path)
	}
	now, got, err := p.e.NoteWrite.CurrentAll(ctx, paths)
	if err != nil {
		return err
	}
	var revisions []vault.Revision
	var plans []*notePlan
	var of []*memoryNote
	for i := range due {
		op.Report(ctx, len(due)+i, 2*len(due))
		r, plan := p.revision(ctx, due[i].n, now[i], &got[i])
		if plan == nil {
			continue
		}
		p.show(due[i].n, plan)
		revisions, plans, of = append(revisions, *r), append(plans, plan), append(of, due[i].n)
	}
	if p.dry || len(revisions) == 0 {
		return nil
	}
	if err := p.begin(revisions, plans, of); err != nil {
		return err
	}
	tx, left, err := p.e.NoteWrite.ReviseAll(ctx, notewrite.LinkVerb, p.by, revisions)
	p.res.Tx = tx
	for i := range revisions {
		if why, stays := left[revisions[i].Path]; stays || err != nil {
			p.putOff(&why)
			continue
		}
		sum := sha256.Sum256(revisions[i].After)
		p.remember(of[i], plans[i], hex.EncodeToString(sum[:]))
		p.res.Written++
	}
	return err
}

// show adds a change to the result.
func (p *pass) show(n *memoryNote, plan *notePlan) {
	c := op.NoteLinks{Path: n.path, ID: n.m.ID}
	for _, key := range promote.LinkKeys() {
		if _, is := plan.set[key]; is {
			c.Properties = append(c.Properties, key)
		}
	}
	if p.res.Total++; len(p.res.Changed) < op.MaxNoteLinks {
		p.res.Changed = append(p.res.Changed, c)
	}
}

// revision returns the change of a note as it is now. The plan is nil if it has to wait, or has nothing to change.
func (p *pass) revision(ctx context.Context, n *memoryNote, now []byte, got *vault.Result) (*vault.Revision,
	*notePlan) {
	if got.Outcome != vault.Written {
		p.putOff(got)
		return nil, nil
	}
	has := properties(n, now)
	if has == nil {
		return nil, nil
	}
	plan := p.plan(ctx, n, has)
	if plan.isReadBack() {
		p.k.Later(p.e.Opt.Now().Add(core.Quiet))
		return nil, nil
	}
	after, err := plan.changes().Apply(now)
	if err != nil || len(plan.set) == 0 { // the note is written in a way that cannot be changed
		return nil, nil
	}
	return &vault.Revision{Path: n.path, Before: now, After: after}, plan
}

// putOff schedules another try of a note that could not be written, if time can help.
func (p *pass) putOff(why *vault.Result) {
	p.res.Waiting++
	switch why.Outcome {
	case vault.Later:
		p.k.Later(why.Until)
	case vault.Conflict:
		p.k.Later(p.e.Opt.Now().Add(core.Quiet))
	}
}

// begin records what is about to be written, so that after a crash it counts as emberd's.
func (p *pass) begin(revisions []vault.Revision, plans []*notePlan, of []*memoryNote) error {
	for i, n := range of {
		k := p.k.notes.Notes[n.m.ID]
		if k == nil {
			k = &knownLinks{Links: make(map[string][]knownLink)}
			for key, links := range plans[i].known.Links {
				k.Links[key] = slices.DeleteFunc(slices.Clone(links), func(l knownLink) bool { return l.By != byOther })
			}
			p.k.notes.Notes[n.m.ID] = k
		}
		k.Writing = plans[i].known.Values
		p.k.writes(revisions[i].Path, sha256.Sum256(revisions[i].After))
	}
	return p.k.save()
}

// remember records the links of a note with a digest.
func (p *pass) remember(n *memoryNote, plan *notePlan, sum string) {
	if p.dry {
		return
	}
	plan.known.Digest = sum
	p.k.notes.Notes[n.m.ID] = plan.known
	p.res.Links += plan.links
}

// readBack takes over what persons did to links: it removes the relations whose links they removed and makes those
// whose links they added, as one change of the journal. A note that was saved a moment ago waits. It returns the notes
// to go on with.
func (p *pass) readBack(ctx context.Context, due []readNote) ([]readNote, error) {
	var add []op.RelateRequest
	var added []place
	gone := make(map[string]memory.Relation)
	due = slices.DeleteFunc(due, func(r readNote) bool {
		plan := p.plan(ctx, r.n, r.has)
		if !plan.isReadBack() {
			return false
		}
		if until := p.youngUntil(r.n.path); until.After(p.e.Opt.Now()) {
			p.k.Later(until)
			return true
		}
		for key, ids := range plan.added {
			for _, id := range ids {
				rel := relationFor(key, r.n.m.ID, id)
				add = append(add,
					op.RelateRequest{From: string(rel.From), To: string(rel.To), Type: rel.Type, Kind: rel.Kind})
				added = append(added, place{r.n.m.ID, key, id})
			}
		}
		for key, ids := range plan.removed {
			for _, id := range ids {
				for _, rel := range r.n.relations[key][id] {
					gone[rel.ID] = rel
				}
			}
		}
		return false
	})
	p.res.Added, p.res.Removed = len(add), len(gone)
	if p.dry || len(add)+len(gone) == 0 {
		return due, nil
	}
	if err := p.apply(ctx, add, added, gone); err != nil {
		return nil, err
	}
	p.g = p.e.gather(p.k.notes.Since)
	clear(p.links)
	return p.changed(ctx)
}

// place is a link in the list of a note.
type place struct {
	in  memory.ID
	key string
	to  memory.ID
}

// madeLinks are links that persons added, by the memory in whose note they are and by property.
type madeLinks map[memory.ID]map[string][]memory.ID

func (l madeLinks) add(at place) {
	if l[at.in] == nil {
		l[at.in] = make(map[string][]memory.ID)
	}
	l[at.in][at.key] = append(l[at.in][at.key], at.to)
}

// apply changes the relations in the log.
func (p *pass) apply(ctx context.Context, add []op.RelateRequest, added []place,
	gone map[string]memory.Relation) error {
	ctx = op.WithCaller(ctx, core.VaultActor())
	made, tx, err := p.e.Memories.RelateAll(ctx, &op.RelateBatchRequest{Items: add})
	if err != nil {
		return err
	}
	for i := range made {
		if p.made.add(added[i]); made[i].Err != nil {
			p.refuse(added[i], made[i].Err)
		}
	}
	if len(gone) > 0 {
		var all []memory.Relation
		for _, id := range slices.Sorted(maps.Keys(gone)) {
			all = append(all, gone[id])
		}
		if tx, err = memories.RemoveRelations(ctx, p.e.Memories, all, tx); err != nil {
			return err
		}
	}
	p.res.RelationsTx = tx
	p.e.Opt.Logger.Info("relations updated from note links", "added", p.res.Added, "removed", p.res.Removed, "entry",
		tx)
	return nil
}

// refuse records a link that cannot be a relation. It stays in the note.
func (p *pass) refuse(at place, err error) {
	p.refused.add(at)
	p.res.Added--
	p.e.Opt.Logger.Info("relation not created from a link", "memory", at.in, "property", at.key, "to", at.to, "error",
		err)
}

// youngUntil returns when a note has been left alone for long enough to read it back.
func (p *pass) youngUntil(path string) time.Time {
	file, err := p.e.Notes.Vault.Root.Load().Stat(path)
	if err != nil {
		return p.e.Opt.Now().Add(core.Quiet)
	}
	return file.ModTime.Add(p.e.Opt.Pace.Settle)
}

// Reverted records that an undo took links out of notes, so that they are not written again, and that the relations
// stay.
func (e *Links) Reverted(ctx context.Context, res *op.UndoResult) {
	if e.Known == nil || res.DryRun {
		return
	}
	k := e.Known
	k.passing.Lock()
	defer k.passing.Unlock()
	for _, item := range res.Items {
		id, carries := e.Notes.Vault.Carriers.At(item.Path)
		text, err := e.Notes.Vault.Root.Load().Text(ctx, item.Path)
		note := k.notes.Notes[id]
		if !carries || item.Action != stm.Reverted || err != nil || note == nil {
			continue
		}
		note.takeOut(properties(&memoryNote{m: memory.Memory{ID: id}}, []byte(text)))
	}
	e.Chores.Settle("update of the list of note links", k.save())
}

// takeOut records that a note has only these properties by now.
func (k *knownLinks) takeOut(has map[string][]string) {
	if k.Off == nil {
		k.Off = make(map[string][]memory.ID)
	}
	k.Digest = ""
	for key, wrote := range k.Values {
		if !slices.Equal(has[key], wrote) {
			k.Off[key] = []memory.ID{}
		}
	}
	for key, links := range k.Links {
		k.Links[key] = slices.DeleteFunc(links, func(l knownLink) bool {
			out := !slices.Contains(has[key], l.Text)
			if out {
				k.Off[key] = append(k.Off[key], l.To)
			}
			return out
		})
	}
}

// IsOwn reports whether every link in a note, and every other of these properties, is as emberd wrote it. Nothing is
// known of a note of an earlier version, of which it holds too.
func (e *Links) IsOwn(id memory.ID, note []byte) bool {
	if e.Known == nil {
		return true
	}
	e.Known.passing.Lock()
	defer e.Known.passing.Unlock()
	k := e.Known.notes.Notes[id]
	has := properties(&memoryNote{m: memory.Memory{ID: id}}, note)
	if k == nil || has == nil {
		return true
	}
	for _, key := range promote.RelationKeys() {
		for _, item := range has[key] {
			is := func(l knownLink) bool { return l.By == byEmberd && l.Text == item }
			if !slices.ContainsFunc(k.Links[key], is) {
				return false
			}
		}
	}
	for key, wrote := range k.Values {
		if !slices.Equal(has[key], wrote) {
			return false
		}
	}
	return true
}
