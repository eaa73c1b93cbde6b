package notelinks

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// maxWrites bounds the notes that one pass writes unasked, so that it holds nothing else up and sync tools get them
// in portions. The next pass continues.
const maxWrites = 100

// pass is one run over the notes of memories.
type pass struct {
	e     *Links
	k     *Known
	g     *graphOfNotes
	all   bool // notes of any age, as many as there are
	dry   bool
	links map[string]string // by entity
	res   *op.VaultLinksResult
	// made are the links that a person added, and refused those that cannot be relations.
	made, refused madeLinks
	by            memory.Actor
}

// readNote is a note to decide about.
type readNote struct {
	n   *memoryNote
	has map[string][]string // its properties
	sum string              // its digest as the index has it
}

// Task writes links when they are due. Without changes it has no timer.
func (e *Links) Task() *core.Task {
	return &core.Task{Name: "note links", First: e.Known.Next(), Wake: e.Known.Wake(), Rest: time.Second,
		Woken: func(time.Time) time.Time { return e.Known.Next() },
		Do: func(ctx context.Context) time.Time {
			e.WriteLinks(ctx)
			return e.Known.Next()
		}}
}

// WriteLinks reads back what persons did to links, and writes those that changed. It does nothing on a device that is
// not the primary one.
func (e *Links) WriteLinks(ctx context.Context) {
	if !e.Lifecycle.IsPrimary() {
		e.Known.begin()
		return
	}
	_, err := e.run(ctx, &pass{by: core.VaultActor()})
	if errors.Is(err, errAway) {
		e.Known.Later(e.Opt.Now().Add(core.Quiet))
		err = nil
	}
	if ctx.Err() == nil {
		e.Chores.Settle("update of links in notes", err)
	}
}

// VaultLinks writes the links of all notes of memories now, also of old ones and those that an undo took out.
func (e *Links) VaultLinks(ctx context.Context, req *op.VaultLinksRequest) (*op.VaultLinksResult, error) {
	if err := e.Notes.NeedVault(); err != nil {
		return nil, err
	}
	if !e.Lifecycle.IsPrimary() {
		return nil, memory.Errorf(memory.Conflict, "only the primary device can write links into notes; run "+
			"the command on that device, or to make this device the "+
			"primary device, run: emberd config primary-device here")
	}
	res, err := e.run(ctx, &pass{all: true, dry: req.DryRun, by: op.CallerFrom(ctx)})
	if errors.Is(err, errAway) {
		return nil, memory.Errorf(memory.Unavailable, "cannot write links now: %s", e.Notes.VaultUnavailable())
	}
	return res, err
}

func (e *Links) run(ctx context.Context, p *pass) (*op.VaultLinksResult, error) {
	k := e.Known
	k.passing.Lock()
	defer k.passing.Unlock()
	if !p.dry {
		k.begin()
	}
	p.e, p.k, p.links = e, k, make(map[string]string)
	p.res = &op.VaultLinksResult{DryRun: p.dry, Changed: []op.NoteLinks{}}
	p.made, p.refused = make(madeLinks), make(madeLinks)
	if e.Notes.VaultUnavailable() != "" {
		return nil, errAway
	}
	err := p.do(ctx)
	if err == nil && !p.dry {
		err = k.save()
	}
	return p.res, err
}

func (p *pass) do(ctx context.Context) error {
	p.g = p.e.gather(p.k.notes.Since)
	if p.all && !p.dry {
		p.forgetOff()
	}
	p.dropGone()
	due, err := p.changed(ctx)
	if err != nil {
		return err
	}
	if due, err = p.readBack(ctx, due); err != nil {
		return err
	}
	var plans []readNote
	for _, r := range due {
		plan := p.plan(ctx, r.n, r.has)
		switch {
		case plan.isReadBack(): // since the others were read back
			p.k.Later(p.e.Opt.Now().Add(core.Quiet))
		case len(plan.set) > 0:
			plans = append(plans, r)
		default:
			p.remember(r.n, plan, r.sum)
		}
	}
	return p.write(ctx, plans)
}

// forgetOff has links written again that an undo took out.
func (p *pass) forgetOff() {
	for id, k := range p.k.notes.Notes {
		if len(k.Off) > 0 {
			p.k.notes.Notes[id] = k.withoutOff()
		}
	}
}

// withoutOff returns what is known of a note from which no undo took links.
func (k *knownLinks) withoutOff() *knownLinks {
	out := *k
	out.Values, out.Off, out.Digest = maps.Clone(k.Values), nil, ""
	for key := range k.Off {
		delete(out.Values, key)
	}
	return &out
}

// known returns what is known of the note of a memory, nil if nothing is. In a dry run it is what [pass.forgetOff]
// would make of it.
func (p *pass) known(id memory.ID) *knownLinks {
	k := p.k.notes.Notes[id]
	if p.all && p.dry && k != nil && len(k.Off) > 0 {
		return k.withoutOff()
	}
	return k
}

// dropGone forgets the notes of memories that have none any more.
func (p *pass) dropGone() {
	for id := range p.k.notes.Notes {
		if p.g.all[id] == nil && !p.dry {
			delete(p.k.notes.Notes, id)
		}
	}
}

// changed reads the notes that changed, or that have to.
func (p *pass) changed(ctx context.Context) ([]readNote, error) {
	var scope []*memoryNote
	var paths []string
	for id, n := range p.g.all {
		if n.path != "" && (p.all || n.recent || p.k.notes.Notes[id] != nil) {
			scope, paths = append(scope, n), append(paths, n.path)
		}
	}
	slices.SortFunc(scope, func(a, b *memoryNote) int { return strings.Compare(string(a.m.ID), string(b.m.ID)) })
	p.res.Notes = len(scope)
	sums := p.e.Notes.Vault.DigestsOf(paths)
	var due []readNote
	for i, n := range scope {
		if op.Report(ctx, i, 2*len(scope)); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		raw := sums[n.path]
		sum := hex.EncodeToString(raw[:])
		if p.isSettled(ctx, n, sum) {
			continue
		}
		has, err := p.read(ctx, n)
		if err != nil {
			return nil, err
		}
		if has != nil {
			due = append(due, readNote{n: n, has: has, sum: sum})
		}
	}
	return due, nil
}

// isSettled reports whether a note is as emberd last knew it, and has what it is to have.
func (p *pass) isSettled(ctx context.Context, n *memoryNote, sum string) bool {
	k := p.known(n.m.ID)
	if k == nil || k.Digest != sum {
		return false
	}
	plan := p.plan(ctx, n, k.remembered())
	for _, key := range k.Theirs {
		delete(plan.set, key)
	}
	p.res.Links += plan.links
	return len(plan.set) == 0 && !plan.isReadBack()
}

// read returns the properties of a note, nil for one that is not the memory's, or whose properties cannot be changed.
func (p *pass) read(ctx context.Context, n *memoryNote) (map[string][]string, error) {
	text, err := p.e.Notes.Vault.Root.Load().Text(ctx, n.path)
	if _, skipped := errors.AsType[*vault.Skipped](err); skipped || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return properties(n, []byte(text)), nil
}
