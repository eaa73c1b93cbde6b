package core

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"emberd/internal/secret"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Passage is a text to scan for credentials. The lead gives it context, such as the key of a
// meta value.
type Passage struct{ Field, lead, Text string }

// Findings returns the credentials in the text. A credential that ends in the lead is left
// out.
func (p *Passage) Findings() []secret.Finding {
	if p.Text == "" {
		return nil
	}
	return slices.DeleteFunc(secret.Scan(p.lead+p.Text), func(f secret.Finding) bool { return f.End <= len(p.lead) })
}

// Passages returns the texts of a request that the log would store, as the caller sent them. A
// normalized tag could hide a credential and would still store it.
func Passages(req *op.SaveRequest) []Passage {
	out := append(make([]Passage, 0, 24), // as many as most requests have
		Passage{Field: "content", Text: req.Content}, Passage{Field: "context", Text: req.Context},
		Passage{Field: "source", Text: req.Source},
		Passage{Field: "category", Text: req.Category}, Passage{Field: "type", Text: req.Type},
		Passage{Field: "section", Text: req.Section}, Passage{Field: "session_id", Text: req.SessionID},
		Passage{Field: "collection", Text: req.Collection}, Passage{Field: "project", Text: req.Project},
		Passage{Field: "Idempotency-Key", Text: req.IdempotencyKey})
	out = AppendEach(out, "entities", req.Entities)
	out = AppendEach(out, "tags", req.Tags)
	out = AppendEach(out, "aliases", req.Aliases)
	out = append(out, ClaimedPassages(&req.Provenance)...)
	return AppendMeta(out, "meta", req.Meta)
}

// AppendEach appends a passage for each text of a field.
func AppendEach(out []Passage, field string, texts []string) []Passage {
	for _, s := range texts {
		out = append(out, Passage{Field: field, Text: s})
	}
	return out
}

// AppendMeta appends every string of a field's meta values at any depth, with the key as its
// lead: a value of "password" is judged by that. The values must be valid JSON.
func AppendMeta(out []Passage, field string, meta map[string]json.RawMessage) []Passage {
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		out = append(out, Passage{Field: field, Text: key})
		out = appendStrings(out, field, key, meta[key])
	}
	return out
}

// appendStrings appends every string of a JSON value, names of members too, each with the previous string as its
// lead; the first has last.
func appendStrings(out []Passage, field, last string, value json.RawMessage) []Passage {
	for at := bytes.IndexByte(value, '"'); at >= 0; at = bytes.IndexByte(value, '"') {
		end := stm.SkipString(value, at)
		if end < 0 {
			return out
		}
		s, ok := textOf(value[at:end])
		if !ok {
			return out
		}
		p := Passage{Field: field, Text: s}
		if last != "" {
			p.lead = last + ": "
		}
		out, last, value = append(out, p), s, value[end:]
	}
	return out
}

// textOf returns the text of a JSON string, false if it is none.
func textOf(value []byte) (string, bool) {
	last := len(value) - 1
	if last > 0 && value[0] == '"' && value[last] == '"' && bytes.IndexByte(value, '\\') < 0 &&
		bytes.IndexByte(value[1:last], '"') < 0 && utf8.Valid(value) {
		return string(value[1:last]), true
	}
	return decoded[string](value)
}

// CheckSecrets returns an error for the first passage with a credential. The error has the
// field and the position, and shows the credential as package secret masks it.
func CheckSecrets(texts []Passage) error {
	for _, p := range texts {
		findings := p.Findings()
		if len(findings) == 0 {
			continue
		}
		whole, first := p.lead+p.Text, findings[0]
		return memory.Errorf(memory.Secret, "%s contains text that looks like a credential (%s, %s) at character %d; "+
			"remove the credential, or to save the text anyway, set allow_secret (--allow-secret)", p.Field, first.Type,
			secret.Masked(whole, first), max(1, secret.Position(whole, first)-len([]rune(p.lead)))).At(p.Field)
	}
	return nil
}

// StoredTexts returns the texts of all stored fields of a memory, whatever their names. The
// lead of a meta value is its key.
func StoredTexts(fields map[string]json.RawMessage) (out []Passage) {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if derived[key] || stm.IsReviewKey(key) {
			continue
		}
		out = appendTexts(out, key, fields[key])
	}
	return out
}

// appendTexts appends the texts of a field, which has quotes if it has any.
func appendTexts(out []Passage, key string, value json.RawMessage) []Passage {
	value = bytes.TrimSpace(value)
	if !bytes.ContainsRune(value, '"') {
		return out
	}
	switch value[0] {
	case '"':
		if text, ok := textOf(value); ok {
			return append(out, Passage{Field: key, Text: text})
		}
	case '[':
		if value[1] == '{' {
			break // as the provenance chain
		}
		if texts, ok := decoded[[]string](value); ok {
			return AppendEach(out, key, texts)
		}
	case '{':
		if inner, ok := decoded[map[string]json.RawMessage](value); ok {
			return AppendMeta(out, key, inner)
		}
	}
	return appendStrings(out, key, "", value)
}

// decoded returns a JSON value as a T, false if it is none.
func decoded[T any](value json.RawMessage) (out T, ok bool) {
	err := json.Unmarshal(value, &out)
	return out, err == nil
}

// derived are the fields without a text of their own: digests, and paths of notes, whose names
// the user chose. Review items are scanned when they are created.
var derived = map[string]bool{"note_seen": true, "text_digest": true, "vault_path": true, "promoted_to": true}

// Vet refuses a transaction with a credential that none of the changed memories contained: a
// merge may join two halves, and a model may write one. The store calls it for every
// transaction, so that no path is missed. Operations that scan their requests give better
// advice.
func (e *View) Vet(tx *stm.Tx, before []*stm.Row) error {
	if !e.Opt.DetectSecrets {
		return nil
	}
	err := CheckSecrets([]Passage{{Field: "client", Text: tx.By.Client}, {Field: "session", Text: tx.By.Session}})
	if err != nil {
		return err
	}
	var let []string
	for _, c := range tx.Changes {
		if c.Allowed || len(c.Set) == 0 {
			continue
		}
		for _, p := range StoredTexts(c.Set) {
			for _, f := range p.Findings() {
				whole := p.lead + p.Text
				if let == nil {
					let = allowedCredentials(before)
				}
				if !isAllowed(let, whole[f.Start:f.End]) {
					return memory.Errorf(memory.Secret, "%s of memory %s would contain text that looks like a "+
						"credential (%s, %s), so emberd wrote nothing; remove "+
						"the credential from the memories that emberd summarizes", p.Field, c.ID.Short(), f.Type,
						secret.Masked(whole, f)).At(p.Field)
				}
			}
		}
	}
	return nil
}

// allowedCredentials returns the credentials in these memories, in lower case, as key terms have them.
func allowedCredentials(rows []*stm.Row) []string {
	out := []string{}
	for _, row := range rows {
		if row != nil {
			for _, p := range StoredTexts(row.Fields()) {
				out = append(out, credentialsIn(p.lead+p.Text)...)
			}
		}
	}
	return out
}

func credentialsIn(text string) (out []string) {
	for _, f := range secret.Scan(text) {
		out = append(out, strings.ToLower(text[f.Start:f.End]))
	}
	return out
}

// isAllowed reports whether a credential is in let, or is the part of one that a summary contains.
func isAllowed(let []string, found string) bool {
	found = strings.ToLower(found)
	return slices.ContainsFunc(let,
		func(l string) bool { return strings.Contains(l, found) || strings.Contains(found, l) })
}
