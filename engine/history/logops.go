package history

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"emberd/engine/core"
	"emberd/engine/memories"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// History returns the versions of a memory from the log, newest first.
func (e *History) History(ctx context.Context, req *op.HistoryRequest) (*op.HistoryResult, error) {
	id, err := e.Stm.Resolve(req.ID)
	if err != nil {
		return nil, err
	}
	limit, err := core.CheckLimit(req.Limit, memories.DefaultPage)
	if err != nil {
		return nil, err
	}
	if req.Cursor != "" {
		if _, err := stm.ParseStamp(req.Cursor); err != nil {
			return nil, core.BadCursor()
		}
	}
	versions, err := e.Stm.History(ctx, id)
	if err != nil {
		return nil, err
	}
	if e.Grant != nil {
		versions = e.PermittedVersions(versions)
	}
	if len(versions) == 0 {
		return nil, memory.Errorf(memory.NotFound, "memory %s not found in the log; run: emberd list", id).At("id")
	}
	res := &op.HistoryResult{ID: id, Total: len(versions), Versions: []op.HistoryVersion{}}
	if row, live := e.Stm.Get(id); live && req.Cursor == "" {
		res.Chain = e.Similar.ChainOf(row)
	}
	for _, v := range slices.Backward(versions) {
		rev := v.Stamp.String()
		if req.Cursor != "" && rev >= req.Cursor {
			continue
		}
		if len(res.Versions) == limit {
			res.NextCursor = res.Versions[limit-1].Rev
			break
		}
		res.Versions = append(res.Versions, version(&v))
	}
	return res, nil
}

// Journal returns a page of the journal, newest first.
func (e *History) Journal(ctx context.Context, req *op.JournalRequest) (*op.JournalResult, error) {
	limit, err := core.CheckLimit(req.Limit, memories.DefaultPage)
	if err != nil {
		return nil, err
	}
	var before stm.Stamp
	if req.Cursor != "" {
		if before, err = stm.ParseStamp(req.Cursor); err != nil {
			return nil, core.BadCursor()
		}
	}
	found, total := e.Entries(ctx, before, limit+1)
	res := &op.JournalResult{Entries: []op.JournalEntry{}, Total: total}
	for _, j := range found {
		res.Entries = append(res.Entries, op.JournalEntry{Undone: j.Undone, Undoes: j.Undoes,
			Entry: op.Entry{Tx: j.Tx, Verb: j.Verb, At: j.At, By: j.By, IDs: len(j.IDs)}})
	}
	if err := e.addNoteEntries(res, req.Cursor); err != nil {
		return nil, err
	}
	if len(res.Entries) > limit {
		res.Entries = res.Entries[:limit]
		res.NextCursor = res.Entries[limit-1].Tx
	}
	return res, nil
}

func version(v *stm.Version) op.HistoryVersion {
	return op.HistoryVersion{Rev: v.Stamp.String(), At: v.Entry.At, Action: v.Action, Verb: v.Entry.Verb,
		By: v.Entry.By, Tx: v.Entry.Tx, Undoes: v.Undoes, Fields: fieldChanges(v.Fields), Cut: v.Cut}
}

func fieldChanges(in []stm.Field) []op.FieldChange {
	out := make([]op.FieldChange, len(in))
	for i, f := range in {
		out[i] = op.FieldChange(f)
	}
	return out
}

// QuarantineList returns the damaged lines without a decision.
func (e *History) QuarantineList(context.Context, *op.QuarantineListRequest) (*op.QuarantineListResult, error) {
	lines, err := e.Stm.Quarantine()
	if err != nil {
		return nil, err
	}
	res := &op.QuarantineListResult{Lines: make([]op.QuarantinedLine, len(lines))}
	for i := range lines {
		res.Lines[i] = quarantined(&lines[i])
	}
	return res, nil
}

func quarantined(q *stm.Quarantined) op.QuarantinedLine {
	return op.QuarantinedLine{Name: q.Name, Bytes: len(q.Text), Reason: q.Reason, At: q.At, Op: q.Op, Verb: q.Verb,
		ID: q.ID, Acceptable: q.Hindrance == "", Hindrance: q.Hindrance}
}

// QuarantineShow returns a damaged line and what accepting it would change.
func (e *History) QuarantineShow(_ context.Context, req *op.QuarantineShowRequest) (*op.QuarantineShowResult, error) {
	q, err := e.Stm.Quarantined(req.ID)
	if err != nil {
		return nil, err
	}
	text := strings.ToValidUTF8(string(q.Text), string(utf8.RuneError))
	return &op.QuarantineShowResult{Line: quarantined(&q), Text: text, Changes: fieldChanges(e.Stm.Acceptance(q))}, nil
}

// QuarantineAccept applies a damaged line.
func (e *History) QuarantineAccept(ctx context.Context,
	req *op.QuarantineAcceptRequest) (*op.QuarantineAcceptResult, error) {
	id, receipt, err := e.Stm.Accept(ctx, req.ID, op.CallerFrom(ctx))
	if err != nil {
		return nil, err
	}
	return &op.QuarantineAcceptResult{Name: req.ID, ID: id, Tx: receipt.Entry}, nil
}

// QuarantineDrop drops a damaged line.
func (e *History) QuarantineDrop(_ context.Context, req *op.QuarantineDropRequest) (*op.QuarantineDropResult, error) {
	if err := e.Stm.Drop(req.ID); err != nil {
		return nil, err
	}
	return &op.QuarantineDropResult{Name: req.ID}, nil
}
