package api

import (
	"context"
	"encoding/json"
	"time"

	"emberd/memory"
	"emberd/op"
)

// The shelf has no log: what looks into one is answered from thin air.
func (s *shelf) addLogVerbs(add func(*op.Spec, op.Handler)) {
	s.addPastVerbs(add)
	s.addLifeVerbs(add)
	s.addCareVerbs(add)
	s.addGraphVerbs(add)
	s.addRememberVerbs(add)
	s.addTokenVerbs(add)
	add(op.History.Handle(s.history))
	add(op.Export.Handle(s.export))
	add(op.Import.Handle(s.importRecords))
	add(op.Purge.Handle(s.purge))
	add(op.Confirm.Handle(s.confirm))
	add(op.Promote.Handle(s.promote))
	add(op.Archive.Handle(s.archive))
	add(op.WhyNot.Handle(s.whyNot))
	add(op.Rekindle.Handle(s.rekindle))
	add(op.QuarantineList.Handle(s.quarantineList))
	add(op.QuarantineShow.Handle(s.quarantineShow))
	add(op.QuarantineAccept.Handle(s.quarantineAccept))
	add(op.QuarantineDrop.Handle(s.quarantineDrop))
	add(op.StaleList.Handle(s.staleList))
	add(op.StaleDecide.Handle(s.staleDecide))
	add(op.BackupCreate.Handle(s.backupCreate))
}

func (s *shelf) history(_ context.Context, req *op.HistoryRequest) (*op.HistoryResult, error) {
	return &op.HistoryResult{ID: memory.ID(req.ID), Total: 1, Versions: []op.HistoryVersion{{Action: "created",
		Fields: []op.FieldChange{{Name: "content", To: json.RawMessage(`"<hello> & more"`)}}}}}, nil
}

func (s *shelf) confirm(_ context.Context, req *op.ConfirmRequest) (*op.ConfirmResult, error) {
	return &op.ConfirmResult{Memories: []op.Memory{{Memory: memory.Memory{ID: memory.ID(req.ID), Content: "x", Origin: memory.FromWeb}}}, Tx: "tx"}, nil
}

func (s *shelf) purge(_ context.Context, req *op.PurgeRequest) (*op.PurgeResult, error) {
	return &op.PurgeResult{ID: memory.ID(req.ID), DryRun: req.DryRun, Rewritten: []string{"s-00000001.jsonl"},
		Left: []op.PurgeLeft{{Kind: "git", Place: "/home/ada/.git", Advice: "rewrite its history"}}}, nil
}

func (s *shelf) promote(_ context.Context, req *op.PromoteRequest) (*op.PromoteResult, error) {
	res := &op.PromoteResult{Path: "Memories/Note.md", Outcome: op.PromotionWritten, DryRun: req.DryRun}
	res.Memory.ID = memory.ID(req.ID)
	return res, nil
}

func (s *shelf) whyNot(_ context.Context, req *op.WhyNotRequest) (*op.WhyNotResult, error) {
	return &op.WhyNotResult{Query: req.Query, ID: memory.ID(req.Of), Place: 12, Total: 30,
		Causes: []op.WhyCause{{Stage: op.WhyLimit, Reason: "it is number 12", Fix: "raise the limit"}},
		Drags:  []op.WhyDrag{{What: "decay", Factor: 0.7, Place: 3}}}, nil
}

func (s *shelf) archive(_ context.Context, req *op.ArchiveRequest) (*op.ArchiveResult, error) {
	return &op.ArchiveResult{Archived: []op.Memory{}, DryRun: req.DryRun, Skipped: []op.Skipped{{ID: memory.ID(req.ID), Reason: "it is archived already"}}}, nil
}

func (s *shelf) rekindle(_ context.Context, req *op.RekindleRequest) (*op.RekindleAnswer, error) {
	return &op.RekindleAnswer{Results: []op.RekindleResult{{Verdict: "gone", Near: []op.Note{{Path: "Note.md"}}}}, DryRun: req.DryRun}, nil
}

func (s *shelf) export(context.Context, *op.ExportRequest) (*op.ExportResult, error) {
	res := &op.ExportResult{}
	for id, m := range s.rows {
		text, err := json.Marshal(m.Content)
		if err != nil {
			return nil, err
		}
		res.Records = append(res.Records, op.Record{ID: id, Fields: map[string]json.RawMessage{"content": text}})
	}
	return res, nil
}

func (s *shelf) importRecords(_ context.Context, req *op.ImportRequest) (*op.ImportResult, error) {
	return &op.ImportResult{Tx: req.Tx, Results: make([]op.ImportAnswer, len(req.Records))}, nil
}

func (s *shelf) quarantineList(context.Context, *op.QuarantineListRequest) (*op.QuarantineListResult, error) {
	return &op.QuarantineListResult{}, nil
}

func (s *shelf) quarantineShow(_ context.Context, req *op.QuarantineShowRequest) (*op.QuarantineShowResult, error) {
	return &op.QuarantineShowResult{Line: op.QuarantinedLine{Name: req.ID}}, nil
}

func (s *shelf) quarantineAccept(_ context.Context, req *op.QuarantineAcceptRequest) (*op.QuarantineAcceptResult, error) {
	return &op.QuarantineAcceptResult{Name: req.ID}, nil
}

func (s *shelf) quarantineDrop(_ context.Context, req *op.QuarantineDropRequest) (*op.QuarantineDropResult, error) {
	return &op.QuarantineDropResult{Name: req.ID}, nil
}

func (s *shelf) staleList(context.Context, *op.StaleListRequest) (*op.StaleListResult, error) {
	return &op.StaleListResult{}, nil
}

func (s *shelf) staleDecide(_ context.Context, req *op.StaleDecideRequest) (*op.StaleDecideResult, error) {
	return &op.StaleDecideResult{ID: memory.ID(req.ID)}, nil
}

func (s *shelf) backupCreate(_ context.Context, req *op.BackupCreateRequest) (*op.BackupCreateResult, error) {
	return &op.BackupCreateResult{File: req.File, Created: time.UnixMilli(0).UTC()}, nil
}
