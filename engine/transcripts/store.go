package transcripts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"emberd/internal/access"
	"emberd/internal/durable"
	"emberd/internal/secret"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

// Put stores the messages of a session that it does not have yet, and has them searched from then on. What is the
// same changes nothing. A token needs to change what belongs to the project of the session.
func (e *Transcripts) Put(ctx context.Context, req *op.HookRequest) (*op.HookResult, error) {
	if err := e.mayPut(req.Project); err != nil {
		return nil, err
	}
	if len(secret.Scan(strings.Join([]string{req.Agent, req.Session, req.Project}, "\n"))) > 0 {
		return nil, memory.Errorf(memory.Secret,
			"the name of the agent, session or project looks like a credential; use another name").
			At("session")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	name, res := fileName(req.Agent, req.Session), &op.HookResult{}
	if e.isForgotten(name) {
		res.Forgotten = true
		return res, nil
	}
	s, err := e.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		s, err = &session{}, nil
	}
	if err == nil && s.ID != "" {
		err = e.mayPut(s.Project)
	}
	if err != nil {
		return nil, err
	}
	if s.ID == "" {
		s.Agent, s.ID, s.Project, s.Folder = req.Agent, req.Session, req.Project, text.OneLine(harmless(req.Folder))
	}
	changed := s.take(req.Messages, res)
	if !changed || req.DryRun {
		return res, nil
	}
	return res, e.write(ctx, name, s)
}

func (e *Transcripts) mayPut(project string) error {
	if e.Grant.May(access.Subject{Project: project}) {
		return nil
	}
	return memory.Errorf(memory.Forbidden,
		"token %s cannot store sessions of project %.60q; ask the user for another token", e.Grant.Token,
		project).At("project")
}

// take adds the messages that a session does not have, puts those that changed in the place of what they were, and
// counts both in the result. It reports whether there were any.
func (s *session) take(messages []op.SessionMessage, res *op.HookResult) (changed bool) {
	at := make(map[string]int, len(s.messages))
	for i, m := range s.messages {
		at[m.role+m.key] = i
	}
	size := len(s.render())
	for i := range messages {
		m, ok := stored(&messages[i])
		if !ok {
			continue
		}
		old, known := at[m.role+m.key]
		if known && (s.messages[old].removed || s.messages[old].text == m.text) {
			continue
		}
		const heading = 64
		if size += len(m.text) + heading; size > maxSession {
			res.Left++
			continue
		}
		if changed = true; known {
			s.messages[old] = m
		} else {
			at[m.role+m.key] = len(s.messages)
			s.messages = append(s.messages, m)
		}
		res.Stored++
	}
	s.describe()
	return changed
}

// describe sets what the head tells of the messages.
func (s *session) describe() {
	s.First, s.Last = s.First.UTC(), s.Last.UTC()
	for _, m := range s.messages {
		if s.Title == "" && m.role == op.RoleUser && m.text != "" {
			s.Title = text.FirstWords(text.OneLine(m.text), maxTitle)
		}
		if m.at.IsZero() {
			continue
		}
		if s.First.IsZero() || m.at.Before(s.First) {
			s.First = m.at
		}
		if m.at.After(s.Last) {
			s.Last = m.at
		}
	}
}

// read returns a session. The caller holds the lock, or can do with one that is replaced meanwhile.
func (s *State) read(fsys durable.FS, name string) (*session, error) {
	data, err := durable.ReadAtMost(fsys, filepath.Join(s.dir, name), 2*maxSession)
	if err != nil {
		return nil, err
	}
	return parse(data), nil
}

func (e *Transcripts) read(name string) (*session, error) { return e.State.read(e.Opt.FS, name) }

// write replaces the file of a session, and then what the index has of it. The caller holds the lock.
func (e *Transcripts) write(ctx context.Context, name string, s *session) error {
	if err := durable.MkdirAll(e.Opt.FS, e.dir); err != nil {
		return err
	}
	if err := e.open(ctx); err != nil {
		return err
	}
	data := s.render()
	if err := durable.ReplaceUnlisted(e.Opt.FS, filepath.Join(e.dir, name), data); err != nil {
		return err
	}
	return e.reindex(ctx, name)
}

func (e *Transcripts) isForgotten(name string) bool {
	_, err := e.Opt.FS.Lstat(filepath.Join(e.dir, strings.TrimSuffix(name, fileExt)+forgottenExt))
	return err == nil
}

// Found is a session that is stored.
type Found struct {
	ID       string
	Messages int
	name     string
}

// Find returns the stored session of an agent, or of any where agent is "", with an id or the beginning of one of at
// least four characters. It returns nil for none, and an error for several.
func (e *Transcripts) Find(ctx context.Context, agent, id string) (*Found, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.open(ctx); err != nil {
		return nil, err
	}
	const least = 4
	var same, begin []string
	e.heads.Range(func(name, value any) bool {
		h := value.(head)
		switch {
		case agent != "" && h.Agent != agent:
		case h.ID == id:
			same = append(same, name.(string))
		case len(id) >= least && strings.HasPrefix(h.ID, id):
			begin = append(begin, name.(string))
		}
		return true
	})
	if len(same) == 0 {
		same = begin
	}
	switch len(same) {
	case 0:
		return nil, nil
	case 1:
		s, err := e.read(same[0])
		if err != nil {
			return nil, err
		}
		return &Found{ID: s.ID, Messages: len(s.messages), name: same[0]}, nil
	}
	return nil, memory.Errorf(memory.Invalid, "%d stored sessions begin with %.60q; pass more characters of the ID",
		len(same), id).At("id")
}

// Forget removes a session: its file, and what the index has of it. It is not stored again.
func (e *Transcripts) Forget(ctx context.Context, f *Found) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	file := filepath.Join(e.dir, f.name)
	err := durable.ReplaceFile(e.Opt.FS, strings.TrimSuffix(file, fileExt)+forgottenExt, nil)
	if err == nil {
		err = e.Opt.FS.Remove(file)
	}
	if err == nil {
		err = e.Opt.FS.SyncDir(e.dir)
	}
	return cmp.Or(err, e.open(ctx))
}

// Purge removes every message that says what a memory does, or that the memory was kept of, and returns how many there
// are. With dryRun it only counts. When it returns nil, neither the files nor the index have them.
func (e *Transcripts) Purge(ctx context.Context, m *memory.Memory, dryRun bool) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.open(ctx); err != nil || e.index == nil {
		return 0, err
	}
	removed := 0
	for _, name := range e.names() {
		if err := ctx.Err(); err != nil {
			return removed, err
		}
		s, err := e.read(name)
		if err != nil {
			return removed, err
		}
		n := s.remove(m)
		if removed += n; n == 0 || dryRun {
			continue
		}
		if err := e.write(ctx, name, s); err != nil {
			return removed, err
		}
	}
	if removed == 0 || dryRun {
		return removed, nil
	}
	return removed, e.index.Scrub(ctx)
}

// remove takes the text of the messages that say what a memory does, and returns how many.
func (s *session) remove(m *memory.Memory) (removed int) {
	about := textsOf(m)
	for i := range s.messages {
		mine := &s.messages[i]
		if mine.removed || !says(mine.text, about) && !s.isSource(m.Source, mine) {
			continue
		}
		mine.text, mine.removed = "", true
		removed++
	}
	if removed > 0 || says(s.Title, about) {
		s.Title = ""
		s.describe()
	}
	return removed
}

// textsOf returns the texts of a memory that a message may have, as normal makes them.
func textsOf(m *memory.Memory) (out []string) {
	texts := []string{m.Content}
	for _, s := range m.Sources {
		texts = append(texts, s.Evidence)
	}
	for _, t := range texts {
		if t = normal(t); t != "  " {
			out = append(out, t)
		}
	}
	return out
}

// says reports whether a text has the words of any of some others, in a row. One or two words have to be a line of
// it: too much has them.
func says(s string, others []string) bool {
	const few = 2
	all := normal(s)
	return slices.ContainsFunc(others, func(t string) bool {
		if len(strings.Fields(t)) > few {
			return strings.Contains(all, t)
		}
		for line := range strings.Lines(s) {
			if normal(line) == t {
				return true
			}
		}
		return false
	})
}

// normal returns the words of a text in lower case, with a space before and behind each.
func normal(s string) string {
	apart := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }
	words := strings.FieldsFunc(strings.ToLower(s), apart)
	return " " + strings.Join(words, " ") + " "
}

// isSource reports whether the source of a memory, session:AGENT/SESSION#MESSAGE, names a message.
func (s *session) isSource(source string, m *message) bool {
	id, ok := strings.CutPrefix(source, "session:"+s.Agent+"/"+s.ID+"#")
	return ok && digest(id) == m.key
}

// cursorDigest identifies the bytes of a file.
func cursorDigest(data []byte) [32]byte { return sha256.Sum256(data) }
