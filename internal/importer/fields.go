package importer

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/internal/cleanup"
	"emberd/memory"
)

// record is what a store says of one memory: a JSON object of which what has a field here is
// taken, and the rest is left for meta.
type record map[string]json.RawMessage

// anyLength is the bound of a content, of which [builder.add] tells that it is too long.
const anyLength = math.MaxInt

// text takes the first of these keys that holds a text of at most max characters.
func (s record) text(max int, keys ...string) string {
	for _, key := range keys {
		var value string
		if json.Unmarshal(s[key], &value) == nil && strings.TrimSpace(value) != "" &&
			memory.CheckText(key, value, max) == nil {
			delete(s, key)
			return value
		}
	}
	return ""
}

// number takes a number within bounds.
func (s record) number(key string, lo, hi float64) (float64, bool) {
	value, err := strconv.ParseFloat(string(s[key]), 64)
	if err != nil || memory.CheckRange(key, value, lo, hi) != nil {
		return 0, false
	}
	delete(s, key)
	return value, true
}

// names takes a list of texts, a JSON list in a text, as stores without lists have it, or a
// text with commas.
func (s record) names(key string) []string {
	var list []string
	if json.Unmarshal(s[key], &list) != nil {
		var text string
		if json.Unmarshal(s[key], &text) != nil {
			return nil
		}
		if json.Unmarshal([]byte(text), &list) != nil {
			list = strings.Split(text, ",")
		}
	}
	return slices.DeleteFunc(list, func(name string) bool { return strings.TrimSpace(name) == "" })
}

// time takes the first of these keys that holds one.
func (s record) time(now time.Time, keys ...string) time.Time {
	for _, key := range keys {
		if t, ok := moment(plain(s[key]), now); ok {
			delete(s, key)
			return t
		}
	}
	return time.Time{}
}

// moment reads a time between 1970 and a day from now. A number is one from 1980 on: those
// before are years, or places in a recording.
func moment(text string, now time.Time) (time.Time, bool) {
	from := time.UnixMilli(0)
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		from = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	t, ok := ParseTime(text)
	return t, ok && t.After(from) && t.Before(now.Add(24*time.Hour))
}

// plain returns a JSON text without quotes, and any other value as written.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// into fills the fields of a memory. What does not fit where it belongs stays in meta, and so
// do all other keys. A null says nothing, unless it is of a field by which a cleanup knows
// what an indexer made: there its presence counts.
func (s record) into(m *memory.Memory, o *Options) {
	m.Category = s.text(memory.MaxName, "category")
	m.Type = s.text(memory.MaxName, "entityType", "entity_type", "type")
	m.Source = s.text(memory.MaxSource, "source")
	m.Context = s.text(memory.MaxContext, "context")
	m.Section = s.text(memory.MaxName, "section")
	m.SessionID = s.text(memory.MaxName, "session_id")
	m.Project = s.text(memory.MaxName, "project")
	m.EmbeddingVersion = s.text(memory.MaxName, "embedding_version")
	if o.Collection == "" {
		if name := s.text(memory.MaxName, "collection"); name != "" {
			m.Collection = name
		}
	}
	for key, to := range map[string]*float64{"confidence": &m.Confidence, "importance": &m.Importance,
		"strength": &m.Strength} {
		hi := 1.0
		if key == "strength" {
			hi = 2
		}
		if value, ok := s.number(key, 0, hi); ok {
			*to = value
			m.StrengthFound = m.StrengthFound && key != "strength"
		}
	}
	s.lists(m)
	m.CreatedAt = s.time(o.Now, "created_at", "added_at", "timestamp", "created_timestamp", "create_time")
	m.UpdatedAt = s.time(o.Now, "updated_at")
	m.LastAccessed = s.time(o.Now, "last_accessed_ts")
	if n, ok := s.number("access_count", 0, math.MaxUint32); ok {
		m.AccessCount = int64(n)
	}
	s.rest(m)
}

// lists takes tags and entities if all of them can be such.
func (s record) lists(m *memory.Memory) {
	if tags, err := memory.NormalizeTags(s.names("tags")); err == nil && len(tags) > 0 {
		m.Tags = tags
		delete(s, "tags")
	}
	names := s.names("entities")
	if entities, err := memory.NormalizeEntities(names); err == nil && len(entities) > 0 {
		m.Entities = entities
		delete(s, "entities")
	} else if names != nil {
		m.Entities = []string{} // none, and not left out
	}
}

// rest puts what is left into meta.
func (s record) rest(m *memory.Memory) {
	kept := cleanup.AutomationFields()
	maps.DeleteFunc(s, func(key string, value json.RawMessage) bool {
		return string(value) == "null" && !slices.Contains(kept, key)
	})
	if len(s) > 0 {
		m.Meta = s
	}
}

// spread puts what an object under key holds beside what there is, which goes first.
func (s record) spread(key string) {
	var inner map[string]json.RawMessage
	if json.Unmarshal(s[key], &inner) != nil || inner == nil {
		return
	}
	delete(s, key)
	for name, value := range inner {
		if _, there := s[name]; !there {
			s[name] = value
		}
	}
}
