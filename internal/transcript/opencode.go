package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"emberd/internal/sqlitefile"
)

// openCode reads what OpenCode writes.
type openCode struct{ *recorder }

type openCodeMessage struct {
	Role    string
	Time    struct{ Created moment }
	Finish  string
	Summary json.RawMessage // true of a summary of what was forgotten
}

type openCodePart struct {
	Type      string
	Text      string
	Synthetic bool // a program wrote it
	Ignored   bool
	Tool      string
	CallID    string
	State     struct {
		Status   string
		Input    json.RawMessage
		Metadata struct{ Exit *int }
	}
}

// readOpenCode reads the sessions of a database of OpenCode, which may be running.
func readOpenCode(ctx context.Context, path string) (all []*Session, err error) {
	db, err := sqlitefile.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if all, err = openCodeSessions(ctx, db); err != nil {
		return nil, err
	}
	for _, s := range all {
		if err := readOpenCodeSession(ctx, db, s); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// openCodeSessions returns the sessions without messages, and without those that an agent started.
func openCodeSessions(ctx context.Context, db *sqlitefile.DB) (all []*Session, err error) {
	const query = `SELECT CAST(id AS TEXT) id, CAST(directory AS TEXT) folder, CAST(time_created AS TEXT) started
		FROM session WHERE parent_id IS NULL ORDER BY time_created, id`
	for row, err := range db.Rows(ctx, query) {
		if err != nil {
			return nil, fmt.Errorf("cannot read the sessions of OpenCode: %w", err)
		}
		var started moment
		_ = started.UnmarshalJSON([]byte(column(row, "started"))) // it never fails
		all = append(all, &Session{
			Agent: OpenCode, ID: column(row, "id"), Folder: column(row, "folder"), Started: started.Time,
		})
	}
	return all, nil
}

// readOpenCodeSession adds the messages of a session.
func readOpenCodeSession(ctx context.Context, db *sqlitefile.DB, s *Session) error {
	const query = `SELECT CAST(m.id AS TEXT) id, CAST(m.data AS TEXT) message, CAST(p.data AS TEXT) part
		FROM message m JOIN part p ON p.message_id = m.id
		WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.id`
	o := openCode{newRecorder(OpenCode)}
	o.session = *s
	for row, err := range db.Rows(ctx, query, s.ID) {
		if err != nil {
			return fmt.Errorf("cannot read the messages of OpenCode: %w", err)
		}
		if o.part(column(row, "id"), column(row, "message"), column(row, "part")) != nil {
			o.session.Skipped++
		}
	}
	*s = o.session
	return nil
}

func column(row sqlitefile.Row, name string) string {
	value, _ := row[name].(string)
	return value
}

// part takes a part of a message.
func (o openCode) part(id, message, part string) error {
	var m openCodeMessage
	var p openCodePart
	if err := errors.Join(json.Unmarshal([]byte(message), &m), json.Unmarshal([]byte(part), &p)); err != nil {
		return err
	}
	switch at := m.Time.Created.Time; {
	case p.Synthetic || p.Ignored || string(m.Summary) == "true":
	case p.Type == "text" && m.Role == "user":
		o.person(id, p.Text, at)
	case p.Type == "text" && m.Role == "assistant":
		o.answer(id, p.Text, at, m.Finish == "stop")
	case p.Type == "tool":
		o.call(p.CallID, p.Tool, p.State.Input, at)
		exit := p.State.Metadata.Exit
		o.outcome(p.CallID, p.State.Status == "error" || exit != nil && *exit != 0)
	}
	return nil
}
