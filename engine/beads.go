package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/internal/beads"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

const (
	// beadsGap is the least time between two looks for what is to be mirrored.
	beadsGap = 2 * time.Second
	// beadsAgain is how long after a failure bd is tried again.
	beadsAgain = 5 * time.Minute
	// mostBeads is how many issues are brought up to date in one look.
	mostBeads = 50
)

// mirror is the issues of a bd tracker that stand for review items. The tracker follows
// the items and never leads: what is done there changes nothing here.
type mirror struct {
	tracker *beads.Tracker
	wake    chan struct{} // holds a token when something changed since the last look

	mu     sync.Mutex // guards issues
	issues map[string]mirrored
}

// mirrored is what the tracker was told last of an item.
type mirrored struct {
	Bead   string `json:"bead"`
	Status string `json:"status"`
	By     string `json:"by,omitempty"`
}

// newMirror returns nil if nothing is to be mirrored.
func newMirror(o *Options) *mirror {
	if o.Beads == nil {
		return nil
	}
	return &mirror{tracker: o.Beads, wake: make(chan struct{}, 1)}
}

func (m *mirror) committed() {
	if m != nil {
		nudge(m.wake)
	}
}

// bead is the issue of an item, "" for none.
func (m *mirror) bead(item string) string {
	if m == nil {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.issues[item].Bead
}

// keepMirror brings the tracker up to date after changes, until ctx is done. Nothing waits
// for it. A program that fails or is not there is told by status, and tried again later.
func (e *Engine) keepMirror(ctx context.Context) {
	const name = "mirror of review items in bd"
	defer e.chores.disarm(name)
	next := time.After(e.opt.pace.mirror)
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.mirror.wake:
			if next == nil {
				next = time.After(e.opt.pace.mirror)
			}
			continue
		case <-next:
		}
		err := e.mirrorItems(ctx)
		if ctx.Err() != nil {
			return
		}
		next = nil
		e.chores.settle(name, err)
		e.chores.disarm(name)
		if err != nil {
			e.opt.Logger.Warn("review items not mirrored in bd", "err", err)
			next = time.After(beadsAgain)
			e.chores.arm(name, beadsAgain)
		}
	}
}

// mirrorFile lies in a folder of its own, for what a crash left beside it is removed.
func (e *Engine) mirrorFile() string { return filepath.Join(e.opt.State, "beads", "issues.json") }

// mirrorItems is one look. Only the keeper of several devices does it. What fails does
// not keep it from the rest.
func (e *Engine) mirrorItems(ctx context.Context) (failed error) {
	if !e.isKeeper() {
		return nil
	}
	if err := e.mirror.load(ctx, e.opt.FS, e.mirrorFile()); err != nil {
		return err
	}
	items := make(map[string]memory.ReviewItem)
	for item := range e.reviewItems() {
		items[item.ID] = item
	}
	todo := e.mirror.stale(items)
	for _, item := range todo[:min(len(todo), mostBeads)] {
		told, err := e.mirror.tell(ctx, e.opt.FS, e.mirrorFile(), &item)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			failed = cmp.Or(failed, err)
			continue
		}
		if err := e.mirror.set(e.opt.FS, e.mirrorFile(), item.ID, told); err != nil {
			return err
		}
	}
	if len(todo) > mostBeads {
		nudge(e.mirror.wake)
	}
	return failed
}

// load reads what the tracker was told. Where that is lost, the issues that are not closed
// are found again by their references.
func (m *mirror) load(ctx context.Context, fsys durable.FS, file string) error {
	m.mu.Lock()
	known := m.issues != nil
	m.mu.Unlock()
	if known {
		return nil
	}
	data, err := lastState(fsys, file)
	if err != nil {
		return err
	}
	issues := make(map[string]mirrored)
	if data == nil || json.Unmarshal(data, &issues) != nil {
		if issues, err = m.found(ctx); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.issues = issues
	return nil
}

func (m *mirror) found(ctx context.Context) (map[string]mirrored, error) {
	refs, err := m.tracker.Refs(ctx)
	issues := make(map[string]mirrored)
	for ref, bead := range refs {
		if strings.HasPrefix(ref, "rev-") {
			issues[ref] = mirrored{Bead: bead} // to be told again
		}
	}
	return issues, err
}

// stale are the items that the tracker is to be told of, in order of their ids. One that is
// nowhere any more is closed there; one that was is forgotten.
func (m *mirror) stale(items map[string]memory.ReviewItem) []memory.ReviewItem {
	m.mu.Lock()
	defer m.mu.Unlock()
	var todo []memory.ReviewItem
	for id, item := range items {
		was := m.issues[id]
		if was.Bead == "" && item.Status == memory.ItemClosed {
			continue // it was never open while anybody looked
		}
		if was.Status != item.Status || item.Status == memory.ItemClaimed && was.By != item.ClaimedBy {
			todo = append(todo, item)
		}
	}
	for id, was := range m.issues {
		switch _, there := items[id]; {
		case there:
		case was.Status == memory.ItemClosed || was.Bead == "":
			delete(m.issues, id)
		default:
			todo = append(todo, memory.ReviewItem{ID: id, Status: memory.ItemClosed})
		}
	}
	slices.SortFunc(todo, func(a, b memory.ReviewItem) int { return strings.Compare(a.ID, b.ID) })
	return todo
}

// tell brings the issue of an item up to date.
func (m *mirror) tell(ctx context.Context, fsys durable.FS, file string, item *memory.ReviewItem) (mirrored, error) {
	told := mirrored{Bead: m.bead(item.ID), Status: item.Status}
	made := told.Bead == ""
	var err error
	if made {
		if told.Bead, err = m.create(ctx, fsys, file, item); err != nil {
			return told, err
		}
	}
	switch item.Status {
	case memory.ItemClosed:
		err = m.tracker.Close(ctx, told.Bead, cmp.Or(item.Decision, "closed"))
	case memory.ItemClaimed:
		told.By = item.ClaimedBy
		err = m.tracker.Start(ctx, told.Bead, item.ClaimedBy)
	case memory.ItemOpen:
		if !made {
			err = m.tracker.Reopen(ctx, told.Bead)
		}
	}
	if err != nil && made { // the issue is there, so that it is not to be made again
		told.Status, told.By, err = memory.ItemOpen, "", nil
	}
	return told, err
}

// create makes the issue of an item. That it is about to be made is noted first: where that
// was broken off, it may be there all the same and is looked for.
func (m *mirror) create(ctx context.Context, fsys durable.FS, file string, item *memory.ReviewItem) (string, error) {
	m.mu.Lock()
	_, begun := m.issues[item.ID]
	m.mu.Unlock()
	if begun {
		refs, err := m.tracker.Refs(ctx)
		if err != nil || refs[item.ID] != "" {
			return refs[item.ID], err
		}
	} else if err := m.set(fsys, file, item.ID, mirrored{}); err != nil {
		return "", err
	}
	return m.tracker.Create(ctx, issueOf(item))
}

// toldActions are the proposals that a tracker is told: others may be words of a memory.
var toldActions = []string{"reinforce", "gc_candidate", needsReview, "merge", "promote", "contradiction", "update"}

// issueOf is what the tracker is told of an item: ids, labels of ours and what is
// proposed, and no word of a memory.
func issueOf(item *memory.ReviewItem) beads.Issue {
	priority := map[string]int{op.UrgencyHigh: 1, op.UrgencyMedium: 2, op.UrgencyLow: 3}
	ids := make([]string, len(item.MemoryIDs))
	for i, id := range item.MemoryIDs {
		ids[i] = string(id)
	}
	action := item.Action
	if !slices.Contains(toldActions, action) {
		action = "review"
	}
	return beads.Issue{Ref: item.ID, Labels: standardLabels(item), Priority: cmp.Or(priority[item.Urgency], 2),
		Title: fmt.Sprintf("%s: %s %s", item.Agent, action, item.Short()),
		About: fmt.Sprintf("emberd review show %s\nmemories: %s", item.ID, strings.Join(ids, " "))}
}

// set keeps what the tracker was told, on the disk too.
func (m *mirror) set(fsys durable.FS, file, id string, told mirrored) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.issues[id] = told
	data, err := json.Marshal(m.issues)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(fsys, file, data)
}
