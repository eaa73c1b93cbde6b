package review

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

	"emberd/engine/core"
	"emberd/internal/beads"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

const (
	// beadsAgain is how long after a failure bd is called again.
	beadsAgain = 5 * time.Minute
	// maxBeads is how many issues one update changes.
	maxBeads = 50
)

// BeadsMirror creates issues of a bd tracker for review items. The tracker follows the items
// only: changes of an issue have no effect in emberd.
type BeadsMirror struct {
	tracker *beads.Tracker
	wake    chan struct{} // room for one token: something changed since the last update

	// mu guards the fields below. It is held to read or set them and while the small file is
	// written, never while bd runs.
	mu     sync.Mutex
	issues map[string]mirroredItem
}

// mirroredItem is the state of an item in the tracker.
type mirroredItem struct {
	Bead   string `json:"bead"`
	Status string `json:"status"`
	By     string `json:"by,omitempty"`
}

// NewBeadsMirror returns nil if items are not mirrored.
func NewBeadsMirror(o *core.Options) *BeadsMirror {
	if o.Beads == nil {
		return nil
	}
	return &BeadsMirror{tracker: o.Beads, wake: make(chan struct{}, 1)}
}

// Committed signals a change of memories. The store's writer goroutine calls it.
func (m *BeadsMirror) Committed() {
	if m != nil {
		core.Nudge(m.wake)
	}
}

// Bead returns the issue of an item, "" for none.
func (m *BeadsMirror) Bead(item string) string {
	if m == nil {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.issues[item].Bead
}

// Task updates the tracker after changes. No caller waits for it. If bd fails or is missing,
// status reports it, and the task tries again later.
func (e *Review) Task() *core.Task {
	const name = "copy of review items to the issue tracker bd"
	return &core.Task{Name: name, First: e.Opt.Now().Add(e.Opt.Pace.Mirror), Wake: e.Mirror.wake,
		Woken: e.After(e.Opt.Pace.Mirror),
		Do: func(ctx context.Context) time.Time {
			err := e.MirrorItems(ctx)
			if ctx.Err() != nil {
				return time.Time{}
			}
			e.Chores.Settle(name, err)
			if err != nil {
				e.Opt.Logger.Warn("review items not copied to the issue tracker bd", "err", err)
				return e.Opt.Now().Add(beadsAgain)
			}
			return time.Time{}
		}}
}

// mirrorFile returns the path of the file. It has a folder of its own, because temporary files
// beside it are removed after a crash.
func (e *Review) mirrorFile() string { return filepath.Join(e.Opt.State, "beads", "issues.json") }

// MirrorItems updates the tracker, on the primary device only. An issue that fails does not
// stop the others.
func (e *Review) MirrorItems(ctx context.Context) (failed error) {
	if !e.Lifecycle.IsPrimary() {
		return nil
	}
	if err := e.Mirror.load(ctx, e.Opt.FS, e.mirrorFile()); err != nil {
		return err
	}
	items := make(map[string]memory.ReviewItem)
	for item := range e.ReviewItems() {
		items[item.ID] = item
	}
	todo := e.Mirror.stale(items)
	for _, item := range todo[:min(len(todo), maxBeads)] {
		told, err := e.Mirror.updateIssue(ctx, e.Opt.FS, e.mirrorFile(), &item)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			failed = cmp.Or(failed, err)
			continue
		}
		if err := e.Mirror.set(e.Opt.FS, e.mirrorFile(), item.ID, told); err != nil {
			return err
		}
	}
	if len(todo) > maxBeads {
		core.Nudge(e.Mirror.wake)
	}
	return failed
}

// load reads the file with the state of the tracker. If it is lost, load finds the open issues
// by their references.
func (m *BeadsMirror) load(ctx context.Context, fsys durable.FS, file string) error {
	m.mu.Lock()
	known := m.issues != nil
	m.mu.Unlock()
	if known {
		return nil
	}
	data, err := core.LastState(fsys, file)
	if err != nil {
		return err
	}
	issues := make(map[string]mirroredItem)
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

func (m *BeadsMirror) found(ctx context.Context) (map[string]mirroredItem, error) {
	refs, err := m.tracker.Refs(ctx)
	issues := make(map[string]mirroredItem)
	for ref, bead := range refs {
		if strings.HasPrefix(ref, "rev-") {
			issues[ref] = mirroredItem{Bead: bead} // to be updated
		}
	}
	return issues, err
}

// stale returns the items whose issues are out of date, in the order of their IDs. An item
// that no longer exists gets its issue closed; a closed one is dropped.
func (m *BeadsMirror) stale(items map[string]memory.ReviewItem) []memory.ReviewItem {
	m.mu.Lock()
	defer m.mu.Unlock()
	var todo []memory.ReviewItem
	for id, item := range items {
		was := m.issues[id]
		if was.Bead == "" && item.Status == memory.ItemClosed {
			continue // it was closed before the first update
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

// updateIssue updates the issue of an item.
func (m *BeadsMirror) updateIssue(ctx context.Context, fsys durable.FS, file string,
	item *memory.ReviewItem) (mirroredItem, error) {
	told := mirroredItem{Bead: m.Bead(item.ID), Status: item.Status}
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
	if err != nil && made { // the issue exists, so that it is not created again
		told.Status, told.By, err = memory.ItemOpen, "", nil
	}
	return told, err
}

// create creates the issue of an item, after it has recorded that. If it was interrupted
// before, the issue may exist, and create looks for it.
func (m *BeadsMirror) create(ctx context.Context, fsys durable.FS, file string,
	item *memory.ReviewItem) (string, error) {
	m.mu.Lock()
	_, begun := m.issues[item.ID]
	m.mu.Unlock()
	if begun {
		refs, err := m.tracker.Refs(ctx)
		if err != nil || refs[item.ID] != "" {
			return refs[item.ID], err
		}
	} else if err := m.set(fsys, file, item.ID, mirroredItem{}); err != nil {
		return "", err
	}
	return m.tracker.Create(ctx, issueOf(item))
}

// issueActions are the actions that an issue may contain. Others may be words of a memory.
var issueActions = []string{"reinforce", "gc_candidate", NeedsReview, "merge", "promote", "contradiction", "update"}

// issueOf returns the issue of an item: IDs, standard labels and the proposed action, and no
// word of a memory.
func issueOf(item *memory.ReviewItem) beads.Issue {
	priority := map[string]int{op.UrgencyHigh: 1, op.UrgencyMedium: 2, op.UrgencyLow: 3}
	ids := make([]string, len(item.MemoryIDs))
	for i, id := range item.MemoryIDs {
		ids[i] = string(id)
	}
	action := item.Action
	if !slices.Contains(issueActions, action) {
		action = "review"
	}
	return beads.Issue{Ref: item.ID, Labels: core.StandardLabels(item), Priority: cmp.Or(priority[item.Urgency], 2),
		Title: fmt.Sprintf("%s: %s %s", item.Agent, action, item.Short()),
		About: fmt.Sprintf("emberd review show %s\nmemories: %s", item.ID, strings.Join(ids, " "))}
}

// set records the state of an issue, in the file too.
func (m *BeadsMirror) set(fsys durable.FS, file, id string, told mirroredItem) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.issues[id] = told
	data, err := json.Marshal(m.issues)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(fsys, file, data)
}
