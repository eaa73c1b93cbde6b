package core

import (
	"encoding/json"
	"path/filepath"

	"emberd/internal/durable"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/stm"
)

// purgedFile, in the state folder, lists the memories that were purged here, so that no copy brings one
// back even if the log has lost the purge.
const purgedFile = "purged.json"

// purgedEntry is one of them, in a file that is no JSON any more.
var purgedEntry = text.Pattern(`"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})":"([^"]*)"`)

// AddPurged joins known purges with those in the state folder: both have all of them then. A damaged file is
// kept with the damaged ones, and a new one has what can be read of it.
func AddPurged(fsys durable.FS, state string, known stm.Purges) error {
	name := filepath.Join(state, purgedFile)
	data, err := LastState(fsys, name)
	if err != nil {
		return err
	}
	stored, sound := parsePurged(data)
	if sound = sound || data == nil; !sound {
		if err := stm.KeepDamaged(fsys, state, name); err != nil {
			return err
		}
	}
	for key, at := range stored {
		if at.After(known[key]) {
			known[key] = at
		}
	}
	news, all := !sound, make(map[memory.ID]string, len(known))
	for key, at := range known {
		news = news || at.After(stored[key])
		all[memory.IDFromBytes(key)] = at.String()
	}
	if !news {
		return nil
	}
	if data, err = json.Marshal(all); err != nil {
		return err
	}
	return durable.ReplaceFile(fsys, name, data)
}

// DamagedNow returns the name of the file if it is damaged.
func DamagedNow(fsys durable.FS, state string) []string {
	name := filepath.Join(state, purgedFile)
	data, err := durable.ReadAll(fsys, name)
	if _, sound := parsePurged(data); err != nil || sound {
		return nil
	}
	return []string{name}
}

// parsePurged reads the file, or what is left of it.
func parsePurged(data []byte) (stored stm.Purges, sound bool) {
	var texts map[string]string
	sound = json.Unmarshal(data, &texts) == nil && texts != nil
	if !sound {
		texts = map[string]string{}
		for _, m := range purgedEntry().FindAllSubmatch(data, -1) {
			texts[string(m[1])] = string(m[2])
		}
	}
	stored = make(stm.Purges, len(texts))
	for text, stamp := range texts {
		id, err := memory.ParseID(text)
		at, failed := stm.ParseStamp(stamp)
		if err != nil || failed != nil {
			sound = false
			continue
		}
		stored[id.Bytes()] = at
	}
	return stored, sound
}

// ResolvePurged finds a memory that was purged here, or that the log knows of as such, by its id or a part of it.
func ResolvePurged(fsys durable.FS, state string, known stm.Purges, name string) (memory.ID, error) {
	if err := AddPurged(fsys, state, known); err != nil {
		return "", err
	}
	return stm.ResolvePurged(name, known)
}
