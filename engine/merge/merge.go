package merge

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/internal/dedupe"
	"emberd/memory"
	"emberd/rekindle"
	"emberd/stm"
)

const (
	// MergedReason is the archive reason of a merged memory.
	MergedReason = "merged"
	// maxCarried is the maximum number of relations to a part of a merge, and of memories that
	// a merge locks and changes besides its parts.
	maxCarried = 5000
	// ConsolidatedInto is the field of a part with the ID of the merged memory.
	ConsolidatedInto = "consolidated_into"
)

// A MergeRun makes one memory of several, for every operation that merges. It plans the merge
// ([dedupe.PlanMerge]), locks all memories that the plan changes, plans again from the locked
// memories, and writes the plan as one log line, which one undo reverts.
//
// Archived parts have their texts in readable notes before the log has the line with the
// merged memory and the archived parts. So a crash leaves either all of it or, at most, notes
// that the next attempt finds. Parts in the trash keep all their fields there.
type MergeRun struct {
	lifecycle.Archiver
	Merge *Merge
	Rows  []*stm.Row // the parts as they were read
	Rules dedupe.Rules
	// Check returns an error for a part that must not be merged for another reason than a
	// change.
	Check func(*stm.Row) error
	// Answers is the review item that requested the merge, in the state after it. An item
	// claimed by the merge agent gets the plan's reason.
	Answers *memory.ReviewItem

	leaving []lifecycle.ArchiveCandidate // the parts to archive
	IDs     []memory.ID                  // all locked memories, the parts first
	Plan    *dedupe.Plan                 // the latest plan

	of   map[memory.ID]*stm.Row                   // the locked memories, nil for a deleted one
	sets map[memory.ID]map[string]json.RawMessage // the fields to write
}

// NewMerge returns a merge of memories into a new one, which archives them.
func (e *Merge) NewMerge(rows []*stm.Row, cohesion float64, by memory.Actor) (*MergeRun, error) {
	id, err := memory.NewID()
	return &MergeRun{Merge: e, Archiver: lifecycle.Archiver{E: e.Lifecycle, Reason: MergedReason, By: by}, Rows: rows,
		Rules: dedupe.Rules{Into: id, Cohesion: cohesion}}, err
}

// Parts returns the IDs of the merged memories.
func (m *MergeRun) Parts() []memory.ID {
	ids := make([]memory.ID, len(m.Rows))
	for i, row := range m.Rows {
		ids[i] = row.ID()
	}
	return ids
}

// keeps reports whether one of the parts remains.
func (m *MergeRun) keeps() bool { return slices.Contains(m.Parts(), m.Rules.Into) }

// planOf plans a merge of rows, which are the parts at some time.
func (m *MergeRun) planOf(rows []*stm.Row) (*dedupe.Plan, error) {
	parts := make([]dedupe.Part, len(rows))
	for i, row := range rows {
		one, err := row.Memory()
		if err != nil {
			return nil, err
		}
		in, total := m.E.Stm.RelationsTo(row.ID(), maxCarried)
		if total > maxCarried && row.ID() != m.Rules.Into {
			return nil, memory.Errorf(memory.TooLarge, "too many relations to one memory: %d to memory %s (limit "+
				"%d); remove some relations, or exclude this memory from the merge", total, row.ID(), maxCarried)
		}
		if one.LastAccessed.IsZero() && m.keeps() {
			one.LastAccessed = core.LastAccess(row)
		}
		parts[i] = dedupe.Part{Memory: one, Unknown: core.UnknownFields(row.Fields()), Outgoing: m.E.Stm.Relations(row),
			Incoming: in}
	}
	rules := m.Rules
	rules.Now = core.StampTime(m.E.Opt.Now())
	plan, err := dedupe.PlanMerge(parts, rules)
	if n := len(plan.Others()); err == nil && n > maxCarried {
		err = memory.Errorf(memory.TooLarge,
			"too many memories are related to the memories to merge: %d (limit %d); merge fewer memories at once", n,
			maxCarried)
	}
	return plan, err
}

// Prepare summarizes the parts to archive, while nothing is locked, and finds the memories to
// lock.
func (m *MergeRun) Prepare(ctx context.Context) error {
	plan, err := m.planOf(m.Rows)
	if err == nil && !m.Rules.Trash {
		err = m.summarize(ctx)
	}
	if err != nil {
		return err
	}
	m.IDs = m.Parts()
	if plan.New {
		m.IDs = append(m.IDs, plan.Into)
	}
	m.IDs = append(m.IDs, plan.Others()...)
	return nil
}

func (m *MergeRun) summarize(ctx context.Context) error {
	if why := m.E.Notes.VaultUnavailable(); why != "" {
		return memory.Errorf(memory.Busy, "cannot merge memories now: %s", why)
	}
	size := 0
	for _, row := range m.Rows {
		l, why := m.Leave(archivalOf(row), row)
		if why != "" {
			return NotMerged(row.ID(), why)
		}
		if size += len(row.Fields()[core.ContentField]); size > lifecycle.ArchiveBytes {
			return memory.Errorf(memory.TooLarge,
				"too many bytes in the texts of the memories to merge (limit %d); merge fewer memories at once",
				lifecycle.ArchiveBytes)
		}
		m.leaving = append(m.leaving, l)
	}
	m.SummarizeAll(ctx, m.leaving)
	return context.Cause(ctx)
}

// archivalOf returns the move of a memory to the archive.
func archivalOf(row *stm.Row) rekindle.Move {
	return rekindle.Move{ID: row.ID(), From: row.Stage(), To: memory.Archived, Used: stm.LastTouched(row)}
}

// NotMerged returns the error of a merge that was refused because of one memory.
func NotMerged(id memory.ID, why string) error {
	return memory.Errorf(memory.Conflict, "emberd merged no memories, because it cannot change memory %s: %s", id, why)
}

// Apply merges, as part of a change or as a new one for "". After an error nothing has
// changed.
func (m *MergeRun) Apply(ctx context.Context, verb, entry string) (stm.Receipt, error) {
	if entry != "" && m.E.Stm.Undone(entry) { // before it writes notes in vain
		return stm.Receipt{}, memory.Errorf(memory.Conflict,
			"emberd stopped the merge, because a client undid change %s; start the merge again", entry)
	}
	if err := m.Prepare(ctx); err != nil {
		return stm.Receipt{}, err
	}
	return m.E.Stm.Update(ctx, m.IDs, "", func(rows []*stm.Row) (*stm.Tx, error) {
		of := make(map[memory.ID]*stm.Row, len(rows))
		for i, id := range m.IDs {
			of[id] = rows[i]
		}
		changes, err := m.Changes(ctx, of)
		return &stm.Tx{Verb: verb, By: m.By, Entry: entry, Changes: changes}, err
	})
}

// Changes returns the changes of the locked memories. It writes notes only if every part can
// be archived and the merged text contains no new credential.
func (m *MergeRun) Changes(ctx context.Context, of map[memory.ID]*stm.Row) ([]stm.Change, error) {
	rows, err := m.unchanged(of)
	if err != nil {
		return nil, err
	}
	if m.Plan, err = m.planOf(rows); err != nil {
		return nil, err
	}
	m.of, m.sets = of, make(map[memory.ID]map[string]json.RawMessage)
	if err := core.FirstError(m.setFields(), m.setRelations(), m.setPlaces()); err != nil {
		return nil, err
	}
	gone, err := m.release(ctx, rows)
	if err != nil {
		return nil, err
	}
	var changes []stm.Change
	for _, id := range m.IDs {
		if c, goes := gone[id]; goes {
			changes = append(changes, c)
		} else if set := m.sets[id]; len(set) > 0 {
			changes = append(changes, stm.Change{ID: id, Set: set})
		}
	}
	return changes, nil
}

// unchanged returns the parts among the locked memories, or an error if one has changed.
func (m *MergeRun) unchanged(of map[memory.ID]*stm.Row) ([]*stm.Row, error) {
	rows := make([]*stm.Row, len(m.Rows))
	for i, was := range m.Rows {
		row := of[was.ID()]
		if m.Check != nil {
			if err := m.Check(row); err != nil {
				return nil, err
			}
		}
		why := ""
		if row == nil || row.ID() != m.Rules.Into {
			why = lifecycle.ChangedReason(row, archivalOf(was))
		}
		if why == "" && row.Rev() != was.Rev() {
			why = "the memory was changed in the meantime"
		}
		if item := m.Answers; why == "" && item != nil && item.MemoryIDs[0] == row.ID() {
			why = m.Merge.NotOpenReason(row, item)
		}
		if why != "" {
			return nil, NotMerged(was.ID(), why)
		}
		rows[i] = row
	}
	return rows, nil
}

// set returns the fields to write to a memory.
func (m *MergeRun) set(id memory.ID) map[string]json.RawMessage {
	if m.sets[id] == nil {
		m.sets[id] = make(map[string]json.RawMessage)
	}
	return m.sets[id]
}

// setFields sets the fields of the remaining memory.
func (m *MergeRun) setFields() error {
	whole, err := core.Fields(&m.Plan.Memory)
	if err != nil {
		return err
	}
	row := m.of[m.Plan.Into]
	if m.Plan.New || row == nil {
		maps.Copy(whole, m.Plan.Unknown)
		m.sets[m.Plan.Into] = whole
		return nil
	}
	before, err := row.Memory()
	if err != nil {
		return err
	}
	had, err := core.Fields(&before)
	if err != nil {
		return err
	}
	set := core.Difference(had, whole)
	if more := m.Plan.Memory.AccessCount - before.AccessCount; more > 0 { // the devices have counted the rest
		set["access_count"], err = core.Encode(min(math.MaxUint32, row.StoredAccesses()+more))
	}
	m.sets[m.Plan.Into] = set
	return err
}

// setRelations sets the relations of the plan.
func (m *MergeRun) setRelations() error {
	for i := range m.Plan.Relations {
		r := &m.Plan.Relations[i]
		owner := m.of[r.From]
		if owner == nil && r.From != m.Plan.Into { // it was added or deleted during locking
			return relationsChanged(r.From)
		}
		key := stm.RelationKey(r.ID)
		if owner != nil && owner.Has(key) {
			continue
		}
		value, err := stm.RelationValue(r)
		if err != nil {
			return err
		}
		m.set(r.From)[key] = value
	}
	for id, set := range m.sets {
		bytes := 0
		if owner := m.of[id]; owner != nil {
			bytes = owner.RelationBytes()
		}
		for key, value := range set {
			if stm.IsRelationKey(key) {
				bytes += len(key) + len(value)
			}
		}
		if bytes > memory.MaxRelationsBytes {
			return memory.Errorf(memory.TooLarge, "too many bytes in the relations of memory %s after the merge "+
				"(limit %d); remove some relations of the memories to merge", id, memory.MaxRelationsBytes)
		}
	}
	return nil
}

func relationsChanged(id memory.ID) error {
	return memory.Errorf(memory.Conflict,
		"emberd merged no memories, because relations of memory %s just changed; try again", id)
}

// setPlaces makes the remaining memory replace the parts in the trash: it supersedes the
// memories that they superseded last, and memories merged into them count as merged into it.
func (m *MergeRun) setPlaces() error {
	into := m.Plan.Into
	for _, id := range m.Plan.Superseded {
		old := m.of[id]
		if old == nil {
			return relationsChanged(id)
		}
		if row := m.of[into]; row != nil {
			if err := m.Merge.Similar.CheckSupersede(row, old); err != nil {
				return err
			}
		} else if m.Plan.Memory.DataOnly() {
			return memory.Errorf(memory.Conflict,
				"emberd merged no memories, because an unconfirmed memory cannot supersede memory %s", id)
		}
		if slices.Contains(m.Plan.Gone, old.SupersededBy()) {
			maps.Copy(m.set(id), m.Merge.Similar.PlaceTaken(into))
		}
	}
	value, err := core.Encode(into)
	for _, id := range m.Plan.Merged {
		part := m.of[id]
		if part == nil {
			return relationsChanged(id)
		}
		in := memory.ID(strings.Trim(string(part.Value(ConsolidatedInto)), `"`))
		if slices.Contains(m.Plan.Gone, in) {
			m.set(id)[ConsolidatedInto] = value
		}
	}
	return err
}

// release returns the changes of the parts that are archived or deleted.
func (m *MergeRun) release(ctx context.Context, rows []*stm.Row) (map[memory.ID]stm.Change, error) {
	changes := make(map[memory.ID]stm.Change, len(rows))
	if m.Rules.Trash {
		for _, id := range m.Plan.Gone {
			changes[id] = stm.Change{ID: id, Delete: true}
		}
		return changes, nil
	}
	into, err := core.Encode(m.Plan.Into)
	for _, dry := range []bool{true, false} {
		m.Dry = dry
		for i, l := range m.leaving {
			set, why, err := m.ArchivedRow(ctx, rows[i], l)
			if err == nil && why != "" {
				err = NotMerged(l.ID, why)
			}
			if err != nil {
				return nil, err
			}
			if !dry {
				set[ConsolidatedInto] = into
			}
			changes[l.ID] = stm.Change{ID: l.ID, Set: set}
		}
		if dry { // the log checks it again after the notes are written
			whole := stm.Change{ID: m.Plan.Into, Set: m.sets[m.Plan.Into]}
			if err := m.E.Vet(&stm.Tx{Changes: []stm.Change{whole}}, rows); err != nil {
				return nil, err
			}
		}
	}
	if err := m.IndexTexts(ctx); err != nil {
		return nil, err
	}
	if item := m.Answers; item != nil {
		if item.ClaimedBy == MergeClaim {
			item.Reason = m.Plan.Why
		}
		changes[item.MemoryIDs[0]].Set[stm.ReviewKey(item.ID)] = stm.ReviewValue(item)
	}
	return changes, err
}

// MaxMergedAhead is for how many merges notes are created together, and so how many notes an
// interrupted run can leave for the next one to find.
const MaxMergedAhead = 16

// KeepMergesAhead creates the notes for the parts of merges that can be applied, many at once
// and before any lock.
func (e *Merge) KeepMergesAhead(ctx context.Context, runs []*MergeRun) {
	var rows []*stm.Row
	for _, m := range runs {
		if m.Rules.Trash {
			continue
		}
		rows = append(rows, m.keepable()...)
	}
	made := e.Lifecycle.KeepAhead(ctx, rows)
	for _, m := range runs {
		m.Made = made
	}
}

// keepable returns the current parts, or none if the merge will be refused, so that no part
// gets a note. A merged text with a new credential is refused.
func (m *MergeRun) keepable() []*stm.Row {
	of := make(map[memory.ID]*stm.Row, len(m.Rows))
	for _, row := range m.Rows {
		if now, live := m.E.Stm.Get(row.ID()); live {
			of[row.ID()] = now
		}
	}
	rows, err := m.unchanged(of)
	if err != nil || slices.ContainsFunc(rows, func(row *stm.Row) bool { return !core.FitsNote(row.Content()) }) {
		return nil
	}
	plan, err := m.planOf(rows)
	if err != nil {
		return nil
	}
	text, err := core.Encode(plan.Memory.Content)
	set := map[string]json.RawMessage{core.ContentField: text}
	if err != nil || m.E.Vet(&stm.Tx{Changes: []stm.Change{{ID: plan.Into, Set: set}}}, rows) != nil {
		return nil
	}
	return rows
}

const (
	duplicateText = 150
)

// MergeClaim is the name under which the merge agent claims items that it merges without
// review.
const MergeClaim = "merge agent"

// NotOpenReason returns why the item of a merge is not open, "" if it is.
func (e *Merge) NotOpenReason(row *stm.Row, item *memory.ReviewItem) string {
	for _, there := range row.ReviewItems() {
		if there.ID != item.ID {
			continue
		}
		if there.Status == memory.ItemClaimed && there.ClaimedBy != item.ClaimedBy {
			return there.ClaimedBy + " has claimed the review item"
		}
		if there.Status == memory.ItemClosed {
			return "the review item was just closed"
		}
		return ""
	}
	return "the review item was just removed"
}

// PartsChanged reports whether a part was changed or used since it was read.
func (m *MergeRun) PartsChanged() bool {
	return slices.ContainsFunc(m.Rows, func(was *stm.Row) bool {
		row, live := m.E.Stm.Get(was.ID())
		return !live || row.Rev() != was.Rev() || !row.LastUsed().Equal(was.LastUsed())
	})
}
