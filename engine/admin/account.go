package admin

import (
	"context"
	"reflect"
	"time"

	"emberd/engine/cleanup"
	"emberd/engine/core"
	"emberd/engine/health"
	"emberd/internal/ledger"
	"emberd/internal/notejournal"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	LedgerFile = "audit.json" // in the state folder
	// ledgerDelay is how long counts stay in memory, and so what a crash can lose.
	ledgerDelay = 30 * time.Second
)

// Account counts a request for its caller. It cannot fail, and its cost does not depend on the
// number of memories.
func (e *Admin) Account(ctx context.Context, s *op.Spec, req, res any, err error) {
	c := ledger.Call{What: s.Name}
	if err != nil {
		c.Refused = refusedSaves(req, err)
	} else {
		countReturned(&c, s, req, res)
		c.Used = usedBy(req, res)
		countSaved(&c, req, res)
	}
	if e.Ledger.Count(op.CallerFrom(ctx), &c) {
		core.Nudge(e.Uncounted)
	}
}

// refusedSaves returns how many saves an error refused because of their content.
func refusedSaves(req any, err error) int {
	switch req.(type) {
	case *op.SaveRequest, *op.AddRequest:
		if forItsContent(memory.CodeOf(err)) {
			return 1
		}
	}
	return 0
}

// forItsContent reports whether a code means that a save was refused because of its content.
func forItsContent(code memory.Code) bool {
	switch code {
	case memory.Invalid, memory.TooLarge, memory.Secret, memory.Forgotten:
		return true
	}
	return false
}

// countSaved counts what was saved, and what was refused of a batch. A dry run counts nothing.
func countSaved(c *ledger.Call, req, res any) {
	if batch, ok := req.(*op.SaveBatchRequest); ok && batch.DryRun {
		return
	}
	switch res := res.(type) {
	case *op.SaveResult:
		if !res.Replayed && res.Echo == nil && !res.Confirmed && res.Memory.ID != "" {
			c.Saved = append(c.Saved, res.Memory.ID)
		}
	case *op.AddResult:
		if res.New {
			c.Saved = append(c.Saved, res.Memory.ID)
		}
	case *op.SaveBatchResult:
		for i := range res.Results {
			switch one := &res.Results[i]; {
			case one.Error != nil:
				if forItsContent(one.Error.Code) {
					c.Refused++
				}
			case !one.Replayed:
				c.Saved = append(c.Saved, one.ID)
			}
		}
	}
}

// countReturned counts the memories and notes in an answer. It knows the answers of frequent
// operations; in others it searches for IDs.
func countReturned(c *ledger.Call, s *op.Spec, req, res any) {
	switch res := res.(type) {
	case *op.SearchResult:
		c.Search, c.Given = true, make([]memory.ID, 0, len(res.Hits))
		for i := range res.Hits {
			countHit(c, &res.Hits[i])
		}
		if asked, ok := req.(*op.SearchRequest); ok && !asked.Trial && res.AsOf == nil {
			c.Recalled = c.Given
		}
	case *op.QueryResult:
		c.Search = true
		for i := range res.Results {
			if h := res.Results[i].Hit; h != nil {
				countHit(c, h)
			}
		}
		c.Recalled = c.Given
	case *op.VerifyResult:
		countMatches(c, res)
	case *op.ShowResult:
		countMemory(c, &res.Memory)
	case *op.OpenManyResult:
		for i := range res.Memories {
			countMemory(c, &res.Memories[i].Memory)
		}
	case *op.ListResult:
		for i := range res.Memories {
			countMemory(c, &res.Memories[i])
		}
	case *op.NoteReadResult:
		c.Tokens, c.Reads = op.Tokens(res.Text), true
	case *op.NoteContextResult:
		c.Tokens, c.Reads = op.Tokens(res.Text), true
		for i := range res.Memories {
			c.Given = append(c.Given, res.Memories[i].ID)
		}
	case *op.NoteChangeResult: // the difference has text of the note
		c.Tokens, c.Reads, c.Tx = op.Tokens(res.Diff), true, res.Tx
	case *op.UndoResult:
		if notejournal.Is(res.Tx) {
			c.Tx = res.Tx
		}
	case *op.AuditResult, *op.CompleteResult, *op.StatusResult, *op.VersionResult:
	default:
		if s.Effect == op.Read {
			countAny(c, reflect.ValueOf(res))
		}
	}
	c.Reads = c.Reads || len(c.Given) > 0
}

func countMemory(c *ledger.Call, m *op.Memory) {
	c.Given = append(c.Given, m.ID)
	c.Tokens += op.Tokens(m.Content)
}

// countHit counts the snippet, which most callers show, and not the whole text.
func countHit(c *ledger.Call, h *op.Hit) {
	c.Reads = true
	c.Tokens += op.Tokens(h.Snippet.Text)
	switch {
	case h.Memory != nil:
		c.Given = append(c.Given, h.Memory.ID)
	case h.Note != nil && h.Note.MemoryID != "":
		c.Given = append(c.Given, h.Note.MemoryID)
	}
}

// countMatches counts the matches of a claim. They are not recalled: the caller asked only
// what is related to the claim.
func countMatches(c *ledger.Call, res *op.VerifyResult) {
	give := func(m *op.Match) {
		c.Reads = true
		c.Tokens += op.Tokens(m.Text)
		if m.Memory != nil {
			c.Given = append(c.Given, m.Memory.ID)
		}
	}
	for i := range res.Matches {
		give(&res.Matches[i])
	}
	for i := range res.Conflicts {
		give(&res.Conflicts[i].Match)
	}
}

// maxGiven is how many IDs of one answer are counted.
const maxGiven = 1000

// countAny searches any value for IDs and contents of memories.
func countAny(c *ledger.Call, v reflect.Value) {
	if len(c.Given) >= maxGiven {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			countAny(c, v.Elem())
		}
	case reflect.Struct:
		if m, ok := v.Interface().(op.Memory); ok {
			countMemory(c, &m)
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				countAny(c, v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			countAny(c, v.Index(i))
		}
	case reflect.String:
		if id, ok := v.Interface().(memory.ID); ok && id != "" {
			c.Given = append(c.Given, id)
		}
	}
}

// usedBy returns the memories that a request used: opened, observed, changed or confirmed.
func usedBy(req, res any) []memory.ID {
	switch res := res.(type) {
	case *op.ShowResult:
		if asked, ok := req.(*op.ShowRequest); ok && res.AsOf == nil && tracked(asked.Track) {
			return []memory.ID{res.Memory.ID}
		}
	case *op.OpenManyResult:
		if asked, ok := req.(*op.OpenManyRequest); ok && tracked(asked.Track) {
			return idsOf(res.Memories, func(m *op.OpenedMemory) memory.ID { return m.ID })
		}
	case *op.ObserveResult:
		return idsOf(res.Results, func(o *op.Observed) memory.ID {
			if o.Status != op.ObservedReinforced {
				return ""
			}
			return memory.ID(o.ID)
		})
	case *op.TouchResult:
		return []memory.ID{res.MemoryID}
	case *op.EditResult:
		return []memory.ID{res.Memory.ID}
	case *op.PromoteResult:
		if !res.DryRun && res.Outcome != op.PromotionUnmet {
			return []memory.ID{res.Memory.ID}
		}
	case *op.ConfirmResult:
		return idsOf(res.Memories, func(m *op.Memory) memory.ID { return m.ID })
	case *op.RelateResult:
		return []memory.ID{res.Relation.From, res.Relation.To}
	case *op.ReinforceResult:
		if res.Found && res.Memory != nil {
			return []memory.ID{res.Memory.ID}
		}
	}
	return nil
}

// tracked reports whether a request counts as a use.
func tracked(track *bool) bool { return track == nil || *track }

func idsOf[T any](of []T, id func(*T) memory.ID) []memory.ID {
	var out []memory.ID
	for i := range of {
		if one := id(&of[i]); one != "" {
			out = append(out, one)
		}
	}
	return out
}

// auditKind returns the audit kind of a journal verb.
func auditKind(verb string) string {
	switch verb {
	case "forget", core.GcVerb, core.PurgeVerb, core.GoneVerb:
		return op.AuditForget
	case core.ConsolidateVerb, health.MergeVerb, cleanup.CleanupVerb:
		return op.AuditMerge
	}
	return op.AuditWrite
}

// CountChange counts a change of the journal.
func (e *Admin) CountChange(entry *stm.Entry) {
	e.Ledger.Changed(changeOf(entry))
	core.Nudge(e.Uncounted)
}

// SignChange returns the seal of a change that is about to be written.
func (e *Admin) SignChange(entry *stm.Entry) string { return e.Ledger.Sign(changeOf(entry)) }

func changeOf(entry *stm.Entry) *ledger.Change {
	return &ledger.Change{By: entry.By, How: auditKind(entry.Verb), What: entry.Verb, Tx: entry.Tx,
		IDs: entry.IDs, Seq: entry.Seq, Stamp: entry.Stamp.String()}
}

// WasDiscarded reports whether a memory was deleted, or merged into another.
func (e *Admin) WasDiscarded(id memory.ID) bool {
	row, live := e.Stm.Get(id)
	return !live || row.Has("consolidated_into")
}

// ThrottleReason returns why a caller is throttled, "" if it is not. It takes no lock, so that
// every request can call it.
func (e *Admin) ThrottleReason(a memory.Actor) string { return e.Ledger.Slow(a) }

// ledgerTask writes the ledger some time after a count, and judges the callers again.
func (e *Admin) ledgerTask() *core.Task {
	return &core.Task{Name: "audit", Wake: e.Uncounted, Woken: e.After(ledgerDelay),
		Do: func(context.Context) time.Time {
			e.Ledger.Judge(e.WasDiscarded)
			e.Chores.Settle("writing the caller statistics", e.Ledger.Flush())
			return time.Time{}
		}}
}

// CloseLedger writes the counts. An error is only logged.
func (e *Admin) CloseLedger() {
	if err := e.Ledger.Close(); err != nil {
		e.Opt.Logger.Warn("latest caller statistics not saved", "err", err)
	}
}

// ForgetCounted removes purged memories from the ledger.
func (e *Admin) ForgetCounted() error {
	return e.Ledger.Forget(e.Stm.Purged)
}
