package engine

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// maxAhead is how far a clock elsewhere may be ahead of ours.
const maxAhead = 24 * time.Hour

// maxUses bounds an imported use count, so that adding to it cannot overflow.
const maxUses = 1_000_000_000

// draft makes the memory that a request describes, checked, normalised and with
// every default filled in, and the first link of its provenance chain (see
// [Engine.source]). The secret scan is part of it.
func (e *Engine) draft(req *op.SaveRequest, link memory.Source) (*memory.Memory, error) {
	m := &memory.Memory{
		Content: req.Content, Source: req.Source, Context: req.Context, Meta: req.Meta,
		Category: req.Category, Type: req.Type, Section: req.Section,
		Confidence: valueOr(req.Confidence, 1), Importance: valueOr(req.Importance, 0.5), Strength: valueOr(req.Strength, 1),
		Core: req.Core, SessionID: req.SessionID, Collection: req.Collection, Project: req.Project,
		UseCount: req.UseCount, Stage: memory.Active,
	}
	if m.Collection == "" {
		m.Collection = memory.DefaultCollection
	}
	if err := setTimes(m, req.CreatedAt, req.LastUsed, e.opt.Now()); err != nil {
		return nil, err
	}
	var err error
	if m.Tags, err = memory.NormalizeTags(req.Tags); err != nil {
		return nil, err
	}
	if m.Entities, err = memory.NormalizeEntities(req.Entities); err != nil {
		return nil, err
	}
	if m.Aliases, err = memory.NormalizeAliases(req.Aliases); err != nil {
		return nil, err
	}
	m.Learn(link)
	m.Origin = link.Kind
	if err := firstError(check(m), checkProvenance(&req.Provenance), checkStanding(m, memory.Memory{})); err != nil {
		return nil, err
	}
	if e.opt.DetectSecrets && !req.AllowSecret {
		err = checkSecrets(passages(req))
	}
	if err != nil {
		return nil, err
	}
	e.enrich(m, req)
	if req.ID == "" {
		m.ID, err = memory.NewID()
	} else {
		m.ID, err = memory.ParseID(string(req.ID))
	}
	return m, err
}

func valueOr(v *float64, otherwise float64) float64 {
	if v == nil {
		return otherwise
	}
	return *v
}

// setTimes fills in when the memory was made and last used. Without a last use
// an imported memory was last used when it was made, or an old one would come in
// as fresh as today's.
func setTimes(m *memory.Memory, created, used, now time.Time) error {
	if created.IsZero() {
		created = now
	}
	if used.IsZero() {
		used = created
	}
	if err := checkTime("created_at", created, now); err != nil {
		return err
	}
	if err := checkTime("last_used", used, now); err != nil {
		return err
	}
	if used.Before(created) {
		return memory.Errorf(memory.Invalid, "last_used %s is before created_at %s; set created_at as well",
			used.Format(time.RFC3339), created.Format(time.RFC3339)).At("last_used")
	}
	m.CreatedAt, m.LastUsed = stampTime(created), stampTime(used)
	return nil
}

func checkTime(field string, t, now time.Time) error {
	if t.After(now.Add(maxAhead)) {
		return memory.Errorf(memory.Invalid, "%s %s lies in the future; the clock says %s",
			field, t.Format(time.RFC3339), now.UTC().Format(time.RFC3339)).At(field)
	}
	if !t.After(time.UnixMilli(0)) {
		return memory.Errorf(memory.Invalid, "%s %s is before 1970; leave it out if it is not known",
			field, t.Format(time.RFC3339)).At(field)
	}
	return nil
}

// stampTime gives a time the form that is stored.
func stampTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// check refuses a memory with a field out of bounds. Tags and entities were
// checked when they were normalised.
func check(m *memory.Memory) error {
	return firstError(
		checkContent(m),
		memory.CheckAliases(m.Aliases),
		memory.CheckText("source", m.Source, memory.MaxSource),
		memory.CheckText("context", m.Context, memory.MaxContext),
		checkNames(
			name{"category", m.Category}, name{"type", m.Type}, name{"section", m.Section},
			name{"session_id", m.SessionID}, name{"collection", m.Collection}, name{"project", m.Project},
		),
		checkNotReserved(m.Collection),
		checkObject("meta", m.Meta, memory.MaxMetaBytes),
		memory.CheckRange("confidence", m.Confidence, 0, 1),
		memory.CheckRange("importance", m.Importance, 0, 1),
		memory.CheckRange("strength", m.Strength, 0, 2),
		memory.CheckRange("use_count", float64(m.UseCount), 0, maxUses),
	)
}

// checkContent lets a memory that has a note hold as much as that.
func checkContent(m *memory.Memory) error {
	if homeOf(m) == "" || tooLong(m.Content) == "" {
		return memory.CheckContent(m.Content)
	}
	return memory.CheckText("content", m.Content, wholeNote)
}

// name is a short text field.
type name struct{ field, value string }

func checkNames(names ...name) error {
	for _, n := range names {
		if err := memory.CheckText(n.field, n.value, memory.MaxName); err != nil {
			return err
		}
	}
	return nil
}

func checkNotReserved(collection string) error {
	if collection == everyCollection {
		return memory.Errorf(memory.Invalid, "collection %q stands for every collection; choose another name", collection).At("collection")
	}
	return nil
}

// checkObject refuses an object of the caller's own that has more bytes of JSON than
// most. It looks at every value: those of callers in this process have been through no
// decoder.
func checkObject(field string, object map[string]json.RawMessage, most int) error {
	size := 0
	for key, value := range object {
		if !utf8.ValidString(key) || !utf8.Valid(value) {
			return memory.Errorf(memory.Invalid, "%s is not valid UTF-8; convert it and try again", field).At(field)
		}
		if !json.Valid(value) {
			return memory.Errorf(memory.Invalid, "%s holds a value that is not JSON; quote text as a JSON string", field).At(field)
		}
		size += len(key) + len(value) + len(`"":,`)
	}
	if size > most {
		return memory.Errorf(memory.TooLarge, "%s has %d bytes of JSON, more than %d (%d KiB); keep what matters", field, size, most, most>>10).At(field)
	}
	return nil
}

// fields returns the JSON of every field of m but its id, by name, without HTML
// escapes, so that meta values keep their spelling.
func fields(m *memory.Memory) (map[string]json.RawMessage, error) {
	stored := *m
	stm.Implied(&stored)
	raw, err := encode(&stored)
	if err != nil {
		return nil, err
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, err
	}
	delete(out, "id")
	dropImplied(out)
	return out, nil
}

// dropImplied leaves out what every fresh memory has alike: no counts, and a
// last use that is its creation. Most memories stay so, and it is a fifth of
// a short one.
func dropImplied(set map[string]json.RawMessage) {
	for _, count := range []string{"use_count", "access_count"} {
		if string(set[count]) == "0" {
			delete(set, count)
		}
	}
	if bytes.Equal(set["last_used"], set["created_at"]) {
		delete(set, "last_used")
	}
}

func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// firstError returns the first that is not nil, whatever its type.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
