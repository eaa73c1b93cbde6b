package transcripts

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"emberd/internal/access"
	"emberd/ltm"
	"emberd/op"
)

// Wanted says which sessions a search is about. The zero value is all.
type Wanted struct {
	Project string
	Since   time.Time // something was said then or later
	// After and Before bound when something was said.
	After, Before time.Time
}

// Ask calls question with the index of the sessions that the caller may read, and with a function that reports whether
// a session is wanted. It does not call it if nothing is stored.
func (e *Transcripts) Ask(ctx context.Context, w Wanted,
	question func(index *ltm.Index, accept func(name string) bool) error) error {
	var err error
	for range 2 {
		var index *ltm.Index
		if index, err = e.current(ctx); err != nil || index == nil {
			return err
		}
		if !e.Grant.SeesAll() {
			index = index.Through(func(name string, _ []string) bool { return e.sees(name) })
		}
		err = question(index, func(name string) bool { return e.wanted(name, &w) })
		if !errors.Is(err, ltm.ErrClosed) && !errors.Is(err, ltm.ErrRebuild) {
			return err
		}
	}
	return err
}

func (e *Transcripts) current(ctx context.Context) (*ltm.Index, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.open(ctx)
	return e.index, err
}

func (e *Transcripts) head(name string) (head, bool) {
	value, ok := e.heads.Load(name)
	if !ok {
		return head{}, false
	}
	return value.(head), true
}

// sees reports whether the caller may read a session: a token may if it reads everything, or its project.
func (e *Transcripts) sees(name string) bool {
	h, ok := e.head(name)
	return ok && e.Grant.Sees(access.Subject{Project: h.Project})
}

func (e *Transcripts) wanted(name string, w *Wanted) bool {
	h, ok := e.head(name)
	return ok && (w.Project == "" || h.Project == w.Project) &&
		(w.Since.IsZero() || !h.Last.Before(w.Since)) &&
		(w.After.IsZero() || !h.Last.Before(w.After)) &&
		(w.Before.IsZero() || h.First.Before(w.Before))
}

// TextOf returns the words of a session, for phrases.
func (e *Transcripts) TextOf(name string) (string, bool) {
	s, err := e.read(name)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	for _, part := range s.sections() {
		b.WriteString(part.text())
	}
	return b.String(), true
}

// Message is a message of a session.
type Message struct {
	Role, Text string
	At         time.Time
}

// Answer returns what a hit is of, without the message, and the messages of the part that answers best, of which only
// some have words of the query. It is false for a session that is gone.
func (e *Transcripts) Answer(h *ltm.Hit) (op.SessionPassage, []Message, bool) {
	s, err := e.read(h.Path)
	if err != nil {
		return op.SessionPassage{}, nil, false
	}
	out := op.SessionPassage{Agent: s.Agent, ID: s.ID, Project: s.Project, Title: s.Title, At: s.First}
	all := s.sections()
	if len(all) == 0 {
		return out, nil, true
	}
	best := all[max(0, slices.IndexFunc(all, func(part section) bool { return part.line() == h.SectionLine }))]
	messages := make([]Message, len(best))
	for i, m := range best {
		messages[i] = Message{m.role, m.text, m.at}
	}
	return out, messages, true
}
