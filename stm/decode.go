package stm

import (
	"encoding/json"

	"emberd/memory"
)

// Decode is the memory that stored keys make, as [Row.Fields] has them, counters aside. Keys
// that no field has are passed over.
func Decode(id memory.ID, fields map[string]json.RawMessage) (memory.Memory, error) {
	m, err := decodeMemory(encode(fields))
	m.ID = id
	return m, err
}

func decodeMemory(doc []byte) (memory.Memory, error) {
	m := memory.Memory{Confidence: 1, Importance: 0.5, Strength: 1,
		Collection: memory.DefaultCollection, Stage: memory.Active}
	err := json.Unmarshal(doc, &m)
	gatherSources(&m, doc)
	return m, err
}
