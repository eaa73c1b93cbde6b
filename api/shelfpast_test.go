package api

import (
	"context"

	"emberd/memory"
	"emberd/op"
)

// The shelf has no past either.
func (s *shelf) addPastVerbs(add func(*op.Spec, op.Handler)) {
	add(op.Journal.Handle(s.journalPage))
	add(op.Why.Handle(s.why))
	add(op.Timeline.Handle(s.timeline))
}

func (s *shelf) journalPage(context.Context, *op.JournalRequest) (*op.JournalResult, error) {
	entry := op.Entry{Tx: "01a1fd06c976-0000-k7q2mzxa", Verb: "save", By: memory.Actor{Via: "cli"}, IDs: 1}
	return &op.JournalResult{Total: 1, Entries: []op.JournalEntry{{Entry: entry, Undone: true}}}, nil
}

func (s *shelf) why(_ context.Context, req *op.WhyRequest) (*op.WhyResult, error) {
	return &op.WhyResult{Memory: op.Memory{Memory: memory.Memory{ID: memory.ID(req.ID)}}, Stages: []op.StageDue{{Stage: memory.Demoted}},
		Crossings: []op.Crossing{{Name: op.CrossForget}}, Promotion: op.PromotionDue{Rules: []op.PromotionRule{{Rule: "score", Missing: []string{"one more use"}}}}}, nil
}

func (s *shelf) timeline(_ context.Context, req *op.TimelineRequest) (*op.TimelineResult, error) {
	return &op.TimelineResult{ID: memory.ID(req.ID), Points: []op.TimelinePoint{{Score: 1}}, Events: []op.TimelineEvent{{What: "saved"}},
		Thresholds: []op.Crossing{}, Stages: []op.StageDue{}}, nil
}
