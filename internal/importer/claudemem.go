package importer

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"emberd/memory"
)

// ClaudeMem reads claude-mem.db of claude-mem, or the folder that contains it: each observation and each summary of a
// session becomes a memory of its project, with type, concepts as tags, session and time. Prompts and tool calls are
// left out.
func ClaudeMem(ctx context.Context, name string, o *Options) (*Result, error) {
	return readDatabase(ctx, "claude-mem", name, o, func(d *database) error {
		c := &claudeMem{database: d, seen: map[string]bool{}}
		for _, table := range []func(context.Context) error{c.observations, c.summaries, c.items} {
			if err := table(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

type claudeMem struct {
	*database
	seen map[string]bool // numbers of observations
}

// claudeMemColumns are those that observations and items share.
var claudeMemColumns = []string{"project", "type", "title", "subtitle", "text", "narrative", "facts", "concepts",
	"files_read", "files_modified", "created_at_epoch", "metadata"}

func (c *claudeMem) observations(ctx context.Context) error {
	columns := append(slices.Clone(claudeMemColumns), "memory_session_id", "merged_into_project",
		"prompt_number", "agent_type", "agent_id", "generated_by_model")
	query := "SELECT id AS row, " + c.list("observations", columns...) + " FROM observations ORDER BY id"
	return c.rows(ctx, []string{"observations"}, query, func(s record, at Place) error {
		c.seen[plain(s["row"])] = true
		name := []string{"observation", plain(s["memory_session_id"]), plain(s["row"])}
		c.entry(s, name, at)
		return nil
	})
}

// items reads what the server of claude-mem has, unless it is a copy of an observation, or a prompt.
func (c *claudeMem) items(ctx context.Context) error {
	if !c.has("memory_items", "narrative") || !c.has("projects", "name") {
		return nil
	}
	columns := c.list("memory_items", append(slices.Clone(claudeMemColumns[1:]), "id", "project_id", "kind",
		"legacy_observation_id", "updated_at_epoch")...)
	query := "SELECT i.rowid AS row, p.name AS project, i.* FROM (SELECT rowid, " + columns + " FROM memory_items) i" +
		" LEFT JOIN projects p ON p.id = i.project_id ORDER BY i.rowid"
	return c.rows(ctx, []string{"memory_items", "projects"}, query, func(s record, at Place) error {
		if plain(s["kind"]) == "prompt" || c.seen[plain(s["legacy_observation_id"])] {
			return nil
		}
		name := []string{"item", plain(s["id"])}
		s.drop("id", "rowid", "project_id", "kind", "legacy_observation_id")
		c.entry(s, name, at)
		return nil
	})
}

// entry makes a memory of an observation or an item.
func (c *claudeMem) entry(s record, name []string, at Place) {
	c.Met++
	s.parse("facts", "concepts", "files_read", "files_modified", "metadata")
	m := c.blank()
	m.Content = claudeMemText(s)
	tags, err := memory.NormalizeTags(s.names("concepts"))
	if err == nil && len(tags) > 0 {
		m.Tags = tags
		delete(s, "concepts")
	}
	c.finish(&m, s, name, at)
}

// claudeMemText takes the text of an observation: title, subtitle, narrative and facts, or the text of those that an
// early version wrote.
func claudeMemText(s record) string {
	var parts []string
	for _, key := range []string{"title", "subtitle", "narrative", "text"} {
		part, _ := s.whole(key)
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	var facts []string
	if json.Unmarshal(s["facts"], &facts) == nil {
		delete(s, "facts")
		if len(facts) > 0 {
			parts = append(parts, "- "+strings.Join(facts, "\n- "))
		}
	}
	return strings.Join(parts, "\n\n")
}

// summaryParts are the parts of a summary, with what stands above each in the memory.
var summaryParts = [][2]string{{"request", "Request"}, {"investigated", "Investigated"}, {"learned", "Learned"},
	{"completed", "Completed"}, {"next_steps", "Next steps"}, {"notes", "Notes"}}

func (c *claudeMem) summaries(ctx context.Context) error {
	if !c.has("session_summaries", "learned") {
		return nil
	}
	columns := []string{"memory_session_id", "project", "files_read", "files_edited", "created_at_epoch",
		"merged_into_project", "prompt_number"}
	for _, part := range summaryParts {
		columns = append(columns, part[0])
	}
	query := "SELECT id AS row, " + c.list("session_summaries", columns...) + " FROM session_summaries ORDER BY id"
	return c.rows(ctx, []string{"session_summaries"}, query, func(s record, at Place) error {
		c.Met++
		s.parse("files_read", "files_edited")
		m := c.blank()
		var parts []string
		for _, part := range summaryParts {
			if text, _ := s.whole(part[0]); strings.TrimSpace(text) != "" {
				parts = append(parts, part[1]+": "+strings.TrimSpace(text))
			}
		}
		m.Content, s["type"] = strings.Join(parts, "\n\n"), json.RawMessage(`"session_summary"`)
		c.finish(&m, s, []string{"summary", plain(s["memory_session_id"]), plain(s["row"])}, at)
		return nil
	})
}

// finish fills in the fields that all have, and adds the memory.
func (c *claudeMem) finish(m *memory.Memory, s record, name []string, at Place) {
	s.rename("created_at_epoch", "created_at")
	s.rename("updated_at_epoch", "updated_at")
	s.rename("memory_session_id", "session_id")
	s.drop("row")
	s.into(m, c.o)
	m.ID = c.id(m.Collection, name...)
	c.add(m, at)
}
