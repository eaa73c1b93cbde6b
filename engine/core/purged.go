package core

import (
	"encoding/json"
	"path/filepath"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm"
)

// purgedFile, in the state folder, lists the memories that were purged here, so that no backup brings one
// back even if the log has forgotten the purge.
const purgedFile = "purged.json"

// AddPurged joins known purges with those in the state folder: both have all of them then.
func AddPurged(fsys durable.FS, state string, known stm.Purges) error {
	name := filepath.Join(state, purgedFile)
	stored := map[memory.ID]string{}
	data, err := LastState(fsys, name)
	if err != nil {
		return err
	}
	if json.Unmarshal(data, &stored) != nil { // what the log knows is written anew
		stored = map[memory.ID]string{}
	}
	news := false
	for key, at := range known {
		id := memory.IDFromBytes(key)
		if was, err := stm.ParseStamp(stored[id]); err != nil || at.After(was) {
			stored[id], news = at.String(), true
		}
	}
	for id, text := range stored {
		if at, err := stm.ParseStamp(text); err == nil && at.After(known[id.Bytes()]) {
			known[id.Bytes()] = at
		}
	}
	if !news {
		return nil
	}
	data, err = json.Marshal(stored)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(fsys, name, data)
}

// ResolvePurged finds a memory that was purged here, or that the log knows of as such, by its id or a part of it.
func ResolvePurged(fsys durable.FS, state string, known stm.Purges, name string) (memory.ID, error) {
	if err := AddPurged(fsys, state, known); err != nil {
		return "", err
	}
	return stm.ResolvePurged(name, known)
}
