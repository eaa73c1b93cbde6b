package engine

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// history reads the versions of a memory from the log, newest first.
func (e *Engine) history(ctx context.Context, req *op.HistoryRequest) (*op.HistoryResult, error) {
	id, err := e.stm.Resolve(req.ID)
	if err != nil {
		return nil, err
	}
	limit, err := checkLimit(req.Limit, defaultPage)
	if err != nil {
		return nil, err
	}
	if req.Cursor != "" {
		if _, err := stm.ParseStamp(req.Cursor); err != nil {
			return nil, memory.Errorf(memory.Invalid, "cursor is not one that emberd gave; use next_cursor of the page before, or none for the first page").At("cursor")
		}
	}
	versions, err := e.stm.History(ctx, id)
	if err != nil {
		return nil, err
	}
	if e.grant != nil {
		versions = e.seenVersions(versions)
	}
	if len(versions) == 0 {
		return nil, memory.Errorf(memory.NotFound, "the log tells of no memory %s; emberd list shows those there are", id).At("id")
	}
	res := &op.HistoryResult{ID: id, Total: len(versions), Versions: []op.HistoryVersion{}}
	if row, live := e.stm.Get(id); live && req.Cursor == "" {
		res.Chain = e.chainOf(row)
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

// journal pages through the journal, newest first.
func (e *Engine) journal(ctx context.Context, req *op.JournalRequest) (*op.JournalResult, error) {
	limit, err := checkLimit(req.Limit, defaultPage)
	if err != nil {
		return nil, err
	}
	var before stm.Stamp
	if req.Cursor != "" {
		if before, err = stm.ParseStamp(req.Cursor); err != nil {
			return nil, memory.Errorf(memory.Invalid, "cursor is not one that emberd gave; use next_cursor of the page before, or none for the first page").At("cursor")
		}
	}
	entries, total := e.entries(ctx, before, limit+1)
	res := &op.JournalResult{Entries: []op.JournalEntry{}, Total: total}
	for i, j := range entries {
		if i == limit {
			res.NextCursor = entries[i-1].Tx
			break
		}
		res.Entries = append(res.Entries, op.JournalEntry{Undone: j.Undone, Undoes: j.Undoes,
			Entry: op.Entry{Tx: j.Tx, Verb: j.Verb, At: j.At, By: j.By, IDs: len(j.IDs)}})
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

// quarantineList lists the damaged lines that nobody has decided about.
func (e *Engine) quarantineList(context.Context, *op.QuarantineListRequest) (*op.QuarantineListResult, error) {
	lines, err := e.stm.Quarantine()
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

// quarantineShow shows a damaged line and what accepting it would change.
func (e *Engine) quarantineShow(_ context.Context, req *op.QuarantineShowRequest) (*op.QuarantineShowResult, error) {
	q, err := e.stm.Quarantined(req.ID)
	if err != nil {
		return nil, err
	}
	text := strings.ToValidUTF8(string(q.Text), string(utf8.RuneError))
	return &op.QuarantineShowResult{Line: quarantined(&q), Text: text, Changes: fieldChanges(e.stm.Acceptance(q))}, nil
}

// quarantineAccept takes a damaged line for right.
func (e *Engine) quarantineAccept(ctx context.Context, req *op.QuarantineAcceptRequest) (*op.QuarantineAcceptResult, error) {
	id, receipt, err := e.stm.Accept(ctx, req.ID, op.CallerFrom(ctx))
	if err != nil {
		return nil, err
	}
	return &op.QuarantineAcceptResult{Name: req.ID, ID: id, Tx: receipt.Entry}, nil
}

// quarantineDrop gives a damaged line up.
func (e *Engine) quarantineDrop(_ context.Context, req *op.QuarantineDropRequest) (*op.QuarantineDropResult, error) {
	if err := e.stm.Drop(req.ID); err != nil {
		return nil, err
	}
	return &op.QuarantineDropResult{Name: req.ID}, nil
}
