package engine

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"emberd/internal/secret"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// passage is a text to scan. The lead is what only gives it context, such as
// the key that a meta value stands under.
type passage struct{ field, lead, text string }

// findings are the credentials in the text, or that begin in what gives it context.
func (p *passage) findings() []secret.Finding {
	return slices.DeleteFunc(secret.Scan(p.lead+p.text), func(f secret.Finding) bool { return f.End <= len(p.lead) })
}

// passages are the texts of a request that end up in the log, as they were
// given: normalising a tag could hide a credential and would still store it.
func passages(req *op.SaveRequest) []passage {
	out := []passage{{field: "content", text: req.Content}, {field: "context", text: req.Context}, {field: "source", text: req.Source},
		{field: "category", text: req.Category}, {field: "type", text: req.Type}, {field: "section", text: req.Section},
		{field: "session_id", text: req.SessionID}, {field: "collection", text: req.Collection}, {field: "project", text: req.Project},
		{field: "Idempotency-Key", text: req.IdempotencyKey}}
	out = appendEach(out, "entities", req.Entities)
	out = appendEach(out, "tags", req.Tags)
	out = appendEach(out, "aliases", req.Aliases)
	out = append(out, claimedPassages(&req.Provenance)...)
	return appendMeta(out, "meta", req.Meta)
}

func appendEach(out []passage, field string, texts []string) []passage {
	for _, s := range texts {
		out = append(out, passage{field: field, text: s})
	}
	return out
}

// appendMeta adds every string in meta, which is the value of a field, however deep, with the key before it:
// what follows "password" is judged by that. The values are valid JSON.
func appendMeta(out []passage, field string, meta map[string]json.RawMessage) []passage {
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		out = append(out, passage{field: field, text: key})
		out = appendStrings(out, field, key, meta[key])
	}
	return out
}

// appendStrings adds every string in a JSON value, with the one before it as its context,
// at first last.
func appendStrings(out []passage, field, last string, value json.RawMessage) []passage {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	for tok, err := dec.Token(); err == nil; tok, err = dec.Token() {
		s, ok := tok.(string)
		if !ok {
			continue
		}
		p := passage{field: field, text: s}
		if last != "" {
			p.lead = last + ": "
		}
		out, last = append(out, p), s
	}
	return out
}

// checkSecrets refuses the first passage that looks like a credential. The
// error says where and what, and shows no more of it than package secret masks.
func checkSecrets(texts []passage) error {
	for _, p := range texts {
		whole := p.lead + p.text
		findings := p.findings()
		if len(findings) == 0 {
			continue
		}
		first := findings[0]
		return memory.Errorf(memory.Secret,
			"%s holds what looks like a credential (%s, %s) at character %d; remove it, or set allow_secret (--allow-secret) to save it all the same",
			p.field, first.Type, secret.Masked(whole, first), max(1, secret.Position(whole, first)-len([]rune(p.lead)))).At(p.field)
	}
	return nil
}

// storedTexts are the texts of a memory's fields as the log has them, so that no field is left
// out, whatever it is called. What a meta value stands under is its context there, too.
func storedTexts(fields map[string]json.RawMessage) (out []passage) {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if derived[key] || stm.IsReviewKey(key) {
			continue
		}
		var text string
		var texts []string
		var inner map[string]json.RawMessage
		switch value := fields[key]; {
		case json.Unmarshal(value, &text) == nil:
			out = append(out, passage{field: key, text: text})
		case json.Unmarshal(value, &texts) == nil:
			out = appendEach(out, key, texts)
		case json.Unmarshal(value, &inner) == nil:
			out = appendMeta(out, key, inner)
		default:
			out = appendStrings(out, key, "", value)
		}
	}
	return out
}

// derived are fields without a text of their own: digests, and paths of notes, which have
// the names that a person gave them. Review items are looked through when they are filed.
var derived = map[string]bool{"note_seen": true, "text_digest": true, "vault_path": true, "promoted_to": true}

// vet refuses a transaction that would bring what looks like a credential into the log and
// was in none of the memories that it changes: two halves may make one in a merge, and a
// model may write one. It is asked of every transaction, so that no way in is forgotten;
// those whose requests are looked through themselves tell better what to do.
func (e *Engine) vet(tx *stm.Tx, before []*stm.Row) error {
	if !e.opt.DetectSecrets {
		return nil
	}
	err := checkSecrets([]passage{{field: "client", text: tx.By.Client}, {field: "session", text: tx.By.Session}})
	if err != nil {
		return err
	}
	var let []string
	for _, c := range tx.Changes {
		if c.Allowed || len(c.Set) == 0 {
			continue
		}
		for _, p := range storedTexts(c.Set) {
			whole := p.lead + p.text
			for _, f := range p.findings() {
				if let == nil {
					let = letPass(before)
				}
				if !isLet(let, whole[f.Start:f.End]) {
					return memory.Errorf(memory.Secret, "%s of memory %s would hold what looks like a credential (%s, %s), so nothing is written; take it out of what that is made of",
						p.field, c.ID.Short(), f.Type, secret.Masked(whole, f)).At(p.field)
				}
			}
		}
	}
	return nil
}

// letPass are the credentials that some memories hold, in lower case as key terms have them.
func letPass(rows []*stm.Row) []string {
	out := []string{}
	for _, row := range rows {
		if row != nil {
			for _, p := range storedTexts(row.Fields()) {
				out = append(out, credentialsIn(p.lead+p.text)...)
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

// isLet reports whether one of those is a credential, or the part of it that a summary has.
func isLet(let []string, found string) bool {
	found = strings.ToLower(found)
	return slices.ContainsFunc(let, func(l string) bool { return strings.Contains(l, found) || strings.Contains(found, l) })
}
