package api

import (
	"context"

	"emberd/memory"
	"emberd/op"
)

// The shelf has no past either.
func (s *shelf) addPastVerbs(add func(*op.Spec, op.Handler)) {
	add(op.Journal.Handle(s.journalPage))
}

func (s *shelf) journalPage(context.Context, *op.JournalRequest) (*op.JournalResult, error) {
	entry := op.Entry{Tx: "01a1fd06c976-0000-k7q2mzxa", Verb: "save", By: memory.Actor{Via: "cli"}, IDs: 1}
	return &op.JournalResult{Total: 1, Entries: []op.JournalEntry{{Entry: entry, Undone: true}}}, nil
}
