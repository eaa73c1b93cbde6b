package engine

import (
	"context"
	"reflect"
	"time"

	"emberd/internal/ledger"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	ledgerFile = "audit.json" // in the state folder
	// ledgerDelay is how long the ledger holds back what it counted: what an end
	// by kill -9 loses of it at most.
	ledgerDelay = 30 * time.Second
)

// account takes down what a request came to, for its caller. It cannot fail, and what it
// costs does not depend on how much there is.
func (e *Engine) account(ctx context.Context, s *op.Spec, req, res any, err error) {
	c := ledger.Call{What: s.Name}
	if err != nil {
		c.Refused = refusedSaves(req, err)
	} else {
		gaveTo(&c, s, req, res)
		c.Used = usedBy(req, res)
		savedBy(&c, req, res)
	}
	if e.ledger.Count(op.CallerFrom(ctx), &c) {
		nudge(e.uncounted)
	}
}

// refusedSaves is how many saves an error refused for what was in them.
func refusedSaves(req any, err error) int {
	switch req.(type) {
	case *op.SaveRequest, *op.AddRequest:
		if forItsContent(memory.CodeOf(err)) {
			return 1
		}
	}
	return 0
}

// forItsContent reports whether a save that failed with a code was refused for what was in it.
func forItsContent(code memory.Code) bool {
	switch code {
	case memory.Invalid, memory.TooLarge, memory.Secret, memory.Forgotten:
		return true
	}
	return false
}

// savedBy tells what was saved, and what of a batch was refused. Of a dry run it is nothing.
func savedBy(c *ledger.Call, req, res any) {
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

// gaveTo tells what of memories and notes an answer has. Answers that are asked for all the
// time are known; of others every id is looked for.
func gaveTo(c *ledger.Call, s *op.Spec, req, res any) {
	switch res := res.(type) {
	case *op.SearchResult:
		c.Search, c.Given = true, make([]memory.ID, 0, len(res.Hits))
		for i := range res.Hits {
			givenHit(c, &res.Hits[i])
		}
		if asked, ok := req.(*op.SearchRequest); ok && !asked.Trial && res.AsOf == nil {
			c.Recalled = c.Given
		}
	case *op.QueryResult:
		c.Search = true
		for i := range res.Results {
			if h := res.Results[i].Hit; h != nil {
				givenHit(c, h)
			}
		}
		c.Recalled = c.Given
	case *op.VerifyResult:
		givenMatches(c, res)
	case *op.ShowResult:
		givenMemory(c, &res.Memory)
	case *op.OpenManyResult:
		for i := range res.Memories {
			givenMemory(c, &res.Memories[i].Memory)
		}
	case *op.ListResult:
		for i := range res.Memories {
			givenMemory(c, &res.Memories[i])
		}
	case *op.NoteReadResult:
		c.Tokens, c.Reads = op.Tokens(res.Text), true
	case *op.AuditResult, *op.CompleteResult, *op.StatusResult, *op.VersionResult:
	default:
		if s.Effect == op.Read {
			givenAnyhow(c, reflect.ValueOf(res))
		}
	}
	c.Reads = c.Reads || len(c.Given) > 0
}

func givenMemory(c *ledger.Call, m *op.Memory) {
	c.Given = append(c.Given, m.ID)
	c.Tokens += op.Tokens(m.Content)
}

// givenHit counts the snippet, which is what most callers show, and not what it is of.
func givenHit(c *ledger.Call, h *op.Hit) {
	c.Reads = true
	c.Tokens += op.Tokens(h.Snippet.Text)
	switch {
	case h.Memory != nil:
		c.Given = append(c.Given, h.Memory.ID)
	case h.Note != nil && h.Note.MemoryID != "":
		c.Given = append(c.Given, h.Note.MemoryID)
	}
}

// givenMatches of what is compared with a claim are no recall: that something is about the
// claim is all that was asked.
func givenMatches(c *ledger.Call, res *op.VerifyResult) {
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

// mostGiven bounds the ids of one answer that are looked for.
const mostGiven = 1000

// givenAnyhow looks for ids and contents of memories in any value.
func givenAnyhow(c *ledger.Call, v reflect.Value) {
	if len(c.Given) >= mostGiven {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			givenAnyhow(c, v.Elem())
		}
	case reflect.Struct:
		if m, ok := v.Interface().(op.Memory); ok {
			givenMemory(c, &m)
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				givenAnyhow(c, v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			givenAnyhow(c, v.Index(i))
		}
	case reflect.String:
		if id, ok := v.Interface().(memory.ID); ok && id != "" {
			c.Given = append(c.Given, id)
		}
	}
}

// usedBy are the memories that a request says were of use: opened, observed, changed or
// stood up for.
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

// tracked reports whether a request that may say that it is not to be counted is.
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

// auditKind is what an entry of the journal counts as.
func auditKind(verb string) string {
	switch verb {
	case "forget", gcVerb, purgeVerb, goneVerb:
		return op.AuditForget
	case consolidateVerb, mergeVerb, cleanupVerb:
		return op.AuditMerge
	}
	return op.AuditWrite
}

// countChange takes down what an entry of the journal changed.
func (e *Engine) countChange(entry *stm.Entry) {
	e.ledger.Changed(entry.By, auditKind(entry.Verb), len(entry.IDs))
	nudge(e.uncounted)
}

// cameToNothing reports whether a memory is gone, or another one has its text.
func (e *Engine) cameToNothing(id memory.ID) bool {
	row, live := e.stm.Get(id)
	return !live || row.Has("consolidated_into")
}

// Slow is a word on why a caller is throttled, "" if it is not. It takes no lock, so that
// it can be asked before each request.
func (e *Engine) Slow(a memory.Actor) string { return e.ledger.Slow(a) }

// keepLedger writes the ledger a while after something was counted, and judges the callers
// anew. With no calls nothing ticks.
func (e *Engine) keepLedger(ctx context.Context) {
	const name = "audit"
	defer e.chores.disarm(name)
	var due <-chan time.Time
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-e.uncounted:
			if due == nil {
				due = time.After(ledgerDelay)
				e.chores.arm(name, ledgerDelay)
			}
		case <-due:
			due = nil
			e.chores.disarm(name)
			e.ledger.Judge(e.cameToNothing)
			e.chores.settle("ledger of callers", e.ledger.Flush())
		}
	}
}

// closeLedger writes what was counted. Counts are not worth a failure.
func (e *Engine) closeLedger() {
	if err := e.ledger.Flush(); err != nil {
		e.opt.Logger.Warn("what callers did since is not counted", "err", err)
	}
}

// forgetCounted takes what was purged out of the ledger.
func (e *Engine) forgetCounted() error {
	return e.ledger.Forget(e.stm.Purged)
}
