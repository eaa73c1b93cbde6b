package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"emberd/memory"
	"emberd/stm/record"
)

// indexedAt are the keys that searches look into, by stage: of what is archived the
// summary, which is its content, and the key terms; of what is rehydratable those alone.
func indexedAt(s record.Stage) []string {
	switch record.Stages[s] {
	case memory.Archived:
		return []string{"content", "key_terms"}
	case memory.Rehydratable:
		return []string{"key_terms"}
	default:
		return []string{"content", "tags", "entities", "source", "context", "summary"}
	}
}

// entitiesFound is the key that is set if emberd found the entities in the content.
const entitiesFound = "entities_found"

// searchText joins what searches look into. Entities that were found in the content
// would only count its words twice.
func searchText(doc []byte) string {
	var b strings.Builder
	stage, _ := record.Text(record.Member(doc, "stage"))
	repeated := found(doc)
	for _, key := range indexedAt(record.StageOf(stage)) {
		if repeated && key == "entities" {
			continue
		}
		_ = record.EachField(doc, func(name, value []byte) bool {
			if string(name) != key {
				return true
			}
			addText(&b, value)
			return false
		})
	}
	addOtherTexts(&b, doc)
	return b.String()
}

// OtherText returns what searches look into of a warm memory beside its content.
func OtherText(r *Row) string {
	var b strings.Builder
	for _, key := range []string{"tags", "entities", "source", "context"} {
		if key != "entities" || !found(r.JSON()) {
			addText(&b, r.Value(key))
		}
	}
	return b.String()
}

// addOtherTexts adds the texts that wait for a decision which of them the memory has.
func addOtherTexts(b *strings.Builder, doc []byte) {
	if !bytes.Contains(doc, []byte(record.OtherTexts)) { // as in nearly all
		return
	}
	for _, item := range (&Row{Doc: doc}).ReviewItems() {
		for _, other := range item.Texts {
			b.WriteString(other.Text)
			b.WriteByte('\n')
		}
	}
}

// otherTexts reports whether a change may add or remove such a text.
func otherTexts(before *Row, set map[string]json.RawMessage) bool {
	for key, value := range set {
		if record.IsReviewKey(key) && (bytes.Contains(value, []byte(record.OtherTexts)) ||
			bytes.Contains(before.Value(key), []byte(record.OtherTexts))) {
			return true
		}
	}
	return false
}

func addText(b *strings.Builder, value []byte) {
	if len(value) > 0 && value[0] == '[' {
		var many []string
		// A field of another shape is not text and is not searched.
		_ = json.Unmarshal(value, &many)
		for _, s := range many {
			fmt.Fprintf(b, "%s\n", s)
		}
		return
	}
	if s, err := record.Text(value); err == nil {
		b.WriteString(s)
		b.WriteByte('\n')
	}
}
