package engine

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"emberd/internal/secret"
	"emberd/memory"
	"emberd/op"
)

// passage is a text to scan. The lead is what only gives it context, such as
// the key that a meta value stands under.
type passage struct{ field, lead, text string }

// passages are the texts of a request that end up in the log, as they were
// given: normalising a tag could hide a credential and would still store it.
func passages(req *op.SaveRequest) []passage {
	out := []passage{{field: "content", text: req.Content}, {field: "context", text: req.Context}, {field: "source", text: req.Source}}
	out = appendEach(out, "entities", req.Entities)
	out = appendEach(out, "tags", req.Tags)
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
		last := key
		out = append(out, passage{field: field, text: key})
		dec := json.NewDecoder(bytes.NewReader(meta[key]))
		dec.UseNumber()
		for tok, err := dec.Token(); err == nil; tok, err = dec.Token() {
			if s, ok := tok.(string); ok {
				out = append(out, passage{field: field, lead: last + ": ", text: s})
				last = s
			}
		}
	}
	return out
}

// checkSecrets refuses the first passage that looks like a credential. The
// error says where and what, and shows no more of it than package secret masks.
func checkSecrets(texts []passage) error {
	for _, p := range texts {
		whole := p.lead + p.text
		findings := secret.Scan(whole)
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
