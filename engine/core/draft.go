package core

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"emberd/memory"
	"emberd/stm"
)

// maxAhead is how far the clock of another machine may be ahead of this one.
const maxAhead = 24 * time.Hour

// MaxUses is the maximum of an imported use count, so that adding to it cannot overflow.
const MaxUses = 1_000_000_000

// ValueOr returns *v, or otherwise if v is nil.
func ValueOr(v *float64, otherwise float64) float64 {
	if v == nil {
		return otherwise
	}
	return *v
}

// SetTimes sets when the memory was created and last used. Without a last use that is now, so that what was written
// down long ago fades from the moment that emberd learned it; its date stays.
func SetTimes(m *memory.Memory, created, used, now time.Time) error {
	if created.IsZero() {
		created = now
	}
	if used.IsZero() {
		used = memory.Later(created, now)
	}
	if err := CheckTime("created_at", created, now); err != nil {
		return err
	}
	if err := CheckTime("last_used", used, now); err != nil {
		return err
	}
	if used.Before(created) {
		return memory.Errorf(memory.Invalid, "last_used %s is before created_at %s; set created_at as well",
			used.Format(time.RFC3339), created.Format(time.RFC3339)).At("last_used")
	}
	m.CreatedAt, m.LastUsed = StampTime(created), StampTime(used)
	return nil
}

// CheckTime returns an error if a time is before 1970 or more than a day in the future.
func CheckTime(field string, t, now time.Time) error {
	if t.After(now.Add(maxAhead)) {
		return memory.Errorf(memory.Invalid, "%s %s is in the future; the clock of the daemon shows %s", field,
			t.Format(time.RFC3339), now.UTC().Format(time.RFC3339)).At(field)
	}
	if !t.After(time.UnixMilli(0)) {
		return memory.Errorf(memory.Invalid, "%s %s is before 1970; if you do not know the time, omit the field", field,
			t.Format(time.RFC3339)).At(field)
	}
	return nil
}

// StampTime returns a time in the form that the log stores: UTC in milliseconds.
func StampTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Check returns an error if a field of the memory is out of bounds. It does not check tags and
// entities, which the caller checked when it normalized them.
func Check(m *memory.Memory) error {
	return FirstError(
		checkContent(m),
		memory.CheckAliases(m.Aliases),
		memory.CheckText("source", m.Source, memory.MaxSource),
		memory.CheckText("context", m.Context, memory.MaxContext),
		CheckNames(
			Name{"category", m.Category}, Name{"type", m.Type}, Name{"section", m.Section},
			Name{"session_id", m.SessionID}, Name{"collection", m.Collection}, Name{"project", m.Project},
		),
		checkNotReserved(m.Collection),
		CheckObject("meta", m.Meta, memory.MaxMetaBytes),
		memory.CheckRange("confidence", m.Confidence, 0, 1),
		memory.CheckRange("importance", m.Importance, 0, 1),
		memory.CheckRange("strength", m.Strength, 0, 2),
		memory.CheckRange("use_count", float64(m.UseCount), 0, MaxUses),
	)
}

// checkContent checks the length of the text. A memory with a note may be as long as a note.
func checkContent(m *memory.Memory) error {
	if NotePath(m) == "" || TooLong(m.Content) == "" {
		return memory.CheckContent(m.Content)
	}
	return memory.CheckText("content", m.Content, WholeNote)
}

// Name is a short text field.
type Name struct{ Field, Value string }

// CheckNames returns an error for the first name that is too long or not valid text.
func CheckNames(names ...Name) error {
	for _, n := range names {
		if err := memory.CheckText(n.Field, n.Value, memory.MaxName); err != nil {
			return err
		}
	}
	return nil
}

func checkNotReserved(collection string) error {
	if collection == EveryCollection {
		return memory.Errorf(memory.Invalid,
			"the collection name %q is reserved for all collections; choose another name", collection).At("collection")
	}
	return nil
}

// CheckObject returns an error if an object has more than most bytes of JSON. It checks every
// value, because values of a caller in this process have passed no decoder.
func CheckObject(field string, object map[string]json.RawMessage, most int) error {
	size := 0
	for key, value := range object {
		if !utf8.ValidString(key) || !utf8.Valid(value) {
			return memory.Errorf(memory.Invalid, "invalid %s: the text is not UTF-8; send UTF-8 text", field).At(field)
		}
		if !json.Valid(value) {
			return memory.Errorf(memory.Invalid,
				"invalid %s: a value is not JSON; write a text as a JSON string in quotation marks", field).At(field)
		}
		size += len(key) + len(value) + len(`"":,`)
	}
	if size > most {
		return memory.Errorf(memory.TooLarge, "too many bytes of JSON in %s: %d (limit %d, %d KiB); shorten the JSON",
			field, size, most, most>>10).At(field)
	}
	return nil
}

// Fields returns the JSON of every field of m except its ID, by name. It does not escape HTML,
// so that meta values keep their spelling.
func Fields(m *memory.Memory) (map[string]json.RawMessage, error) {
	stored := *m
	stm.Implied(&stored)
	raw, err := Encode(&stored)
	if err != nil {
		return nil, err
	}
	out := stm.Values(raw)
	delete(out, "id")
	DropImplied(out)
	return out, nil
}

// DropImplied removes the values that every new memory has: zero counts, and a last use equal
// to the creation. Most memories keep them, and they are a fifth of a short record.
func DropImplied(set map[string]json.RawMessage) {
	for _, count := range []string{"use_count", "access_count"} {
		if string(set[count]) == "0" {
			delete(set, count)
		}
	}
	if bytes.Equal(set["last_used"], set["created_at"]) {
		delete(set, "last_used")
	}
}

// Encode returns the JSON of v without HTML escapes and without a newline at the end.
func Encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// FirstError returns the first error that is not nil.
func FirstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
