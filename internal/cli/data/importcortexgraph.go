package data

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

func importCortexGraphCommand(s *cli.App) *cobra.Command {
	r := &storeImport{s: s, read: (*storeImport).cortexGraphLine}
	cmd := cli.Command("cortexgraph [FOLDER|FILE…]",
		cli.ArgCount(0, 2, "the folder of the store, or at most two files"), nil,
		func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				folder, err := cortexGraphFolder(s)
				if err != nil {
					return err
				}
				args = []string{folder}
			}
			files, err := cortexGraphFiles(args)
			if err != nil {
				return err
			}
			return r.run(cmd.Context(), files)
		})
	storeFlags(cmd, &r.opt)
	return cmd
}

// cortexGraphFolder is the folder of the settings, which has to be there.
func cortexGraphFolder(s *cli.App) (string, error) {
	c, err := s.Load()
	if err != nil {
		return "", err
	}
	if c.CortexGraphPath == "" {
		return "", memory.Errorf(memory.Invalid, "cannot search for the CortexGraph store without a home folder; "+
			"set CORTEXGRAPH_STORAGE_PATH to the folder of the store")
	}
	if _, err := os.Stat(c.CortexGraphPath); err != nil {
		return "", memory.Errorf(memory.Invalid,
			"CortexGraph store not found in import.cortexgraph_path: %w; pass the folder of the store", err)
	}
	s.Note("importing from %s", c.CortexGraphPath)
	return c.CortexGraphPath, nil
}

// cortexGraphFiles are the files of a store, memories first.
func cortexGraphFiles(args []string) ([]string, error) {
	var out []string
	for _, path := range args {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			out = append(out, path) // opening it tells what is wrong
			continue
		}
		for _, name := range []string{memoriesFile, relationsFile} {
			file := filepath.Join(path, name)
			if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
				out = append(out, file)
			}
		}
	}
	if len(out) == 0 {
		return nil, memory.Errorf(memory.Invalid,
			"memories.jsonl not found in %s; pass the folder of the store, or its files", args[0])
	}
	return out, nil
}

// cortexGraphLine takes in a line: a memory, a relation, or that one of them is deleted.
func (r *storeImport) cortexGraphLine(line sourceLine) error {
	var id string
	if json.Unmarshal(line.object["id"], &id) != nil || id == "" {
		return memory.Errorf(memory.Invalid, "missing id; this is not a line of a CortexGraph store").At("id")
	}
	var deleted bool
	if json.Unmarshal(line.object["_deleted"], &deleted) == nil && deleted {
		if r.memories.drop(id) || r.relations.drop(id) {
			r.report.Deleted++
		}
		return nil
	}
	if _, ok := line.object["from_memory_id"]; ok {
		rel, err := cortexGraphRelation(line.object)
		if err == nil && r.relations.put(id, placed[storeRelation]{r.at(line), rel}) {
			r.report.Superseded++
		}
		return err
	}
	rec, err := r.cortexGraphMemory(id, line.object)
	if err == nil && r.memories.put(id, placed[op.Record]{r.at(line), rec}) {
		r.report.Superseded++
	}
	return err
}

// cortexGraphID is the id of a memory of CortexGraph, which is a UUID unless somebody
// wrote it by hand.
func cortexGraphID(id string) memory.ID {
	if known, err := memory.ParseID(id); err == nil {
		return known
	}
	return memory.DeriveID([]byte("cortexgraph\x00" + id))
}

// cortexGraphMemory maps a memory. What is derived there (embeddings, the priority of a
// review) is left out, and what nothing is known about goes into meta.
func (r *storeImport) cortexGraphMemory(id string, object map[string]json.RawMessage) (op.Record, error) {
	m := memory.Memory{ID: cortexGraphID(id), Aliases: foreignID(id, cortexGraphID(id)), Confidence: 1, Importance: 0.5,
		Strength: 1, StrengthFound: isAbsent(object["strength"]), Collection: memory.DefaultCollection,
		Stage: memory.Active, Meta: map[string]json.RawMessage{}}
	var status string
	fields := map[string]any{
		"content": &m.Content, "entities": &m.Entities, "strength": &m.Strength, "use_count": &m.UseCount,
		"review_count": &m.ReviewCount, "cross_domain_count": &m.CrossDomainCount, "status": &status,
	}
	times := map[string]*time.Time{"created_at": &m.CreatedAt, "last_used": &m.LastUsed,
		"last_review_at": &m.LastReviewAt}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		var err error
		switch value := object[key]; {
		case string(value) == "null" || slices.Contains([]string{"id", "embed", "review_priority", "_deleted"}, key):
		case key == "meta":
			err = cortexGraphMeta(&m, value)
		case fields[key] != nil:
			err = misfit(key, json.Unmarshal(value, fields[key]))
		case times[key] != nil:
			*times[key], err = cli.ParseTime(cli.PlainValue(value))
		default:
			m.Meta[key] = value
		}
		if err != nil {
			return op.Record{}, ofKey(key, err)
		}
	}
	if err := cortexGraphStatus(&m, status); err != nil {
		return op.Record{}, err
	}
	if isAbsent(object["created_at"]) { // CortexGraph has it begin when it reads the line
		m.CreatedAt = r.now
		if !m.LastUsed.IsZero() && m.LastUsed.Before(r.now) {
			m.CreatedAt = m.LastUsed
		}
	}
	if err := r.checkForeign(&m); err != nil {
		return op.Record{}, err
	}
	return r.recordOf(&m)
}

// isAbsent reports whether a source does not give a value.
func isAbsent(value json.RawMessage) bool { return value == nil || string(value) == "null" }

// cortexGraphMeta takes tags, source and context out of meta, and what is under extra as
// meta of its own.
func cortexGraphMeta(m *memory.Memory, value json.RawMessage) error {
	var meta map[string]json.RawMessage
	if err := json.Unmarshal(value, &meta); err != nil {
		return misfit("meta", err)
	}
	own := map[string]any{"tags": &m.Tags, "source": &m.Source, "context": &m.Context}
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		var err error
		switch {
		case string(meta[key]) == "null":
		case own[key] != nil:
			err = misfit("meta."+key, json.Unmarshal(meta[key], own[key]))
		case key == "extra":
			var extra map[string]json.RawMessage
			err = misfit("meta.extra", json.Unmarshal(meta[key], &extra))
			maps.Copy(m.Meta, extra)
		default:
			m.Meta[key] = meta[key]
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cortexGraphStatus maps the three states. An archived one comes in demoted, with its text, and the daemon moves the
// text to a note if there is a vault. A promoted one has its note in a vault that need not be ours. What it was and
// where its note is stays in meta, by which the daemon tells its status.
func cortexGraphStatus(m *memory.Memory, status string) error {
	switch status {
	case "", "active":
	case "archived":
		m.Stage = memory.Demoted
		m.Meta[memory.ForeignStatusKey] = cli.JsonText(status)
	case "promoted":
		m.Meta[memory.ForeignStatusKey] = cli.JsonText(status)
	default:
		return memory.Errorf(memory.Invalid, "invalid status %s; use active, promoted or archived",
			cli.JsonText(cli.Cut(status, 40))).At("status")
	}
	return nil
}

// cortexGraphRelation maps a relation. A type that is none of the six, which files may
// have and tools do not make, is what it is called.
func cortexGraphRelation(object map[string]json.RawMessage) (storeRelation, error) {
	var rel storeRelation
	strength := 1.0
	if err := fill(object, map[string]any{"from_memory_id": &rel.from, "to_memory_id": &rel.to,
		"relation_type": &rel.Type,
		"strength":      &strength, "metadata": &rel.Metadata}); err != nil {
		return rel, err
	}
	if rel.from == "" || rel.to == "" || rel.Type == "" {
		return rel, memory.Errorf(memory.Invalid,
			"the relation must have from_memory_id, to_memory_id and relation_type")
	}
	if memory.CheckRelationType(rel.Type) != nil {
		rel.Type, rel.Kind = memory.Related, rel.Type
	}
	if value := object["created_at"]; value != nil && string(value) != "null" {
		var err error
		if rel.CreatedAt, err = cli.ParseTime(cli.PlainValue(value)); err != nil {
			return rel, ofKey("created_at", err)
		}
	}
	rel.From, rel.To, rel.Strength = string(cortexGraphID(rel.from)), string(cortexGraphID(rel.to)), &strength
	if err := memory.CheckRange("strength", strength, 0, 1); err != nil {
		return rel, err
	}
	return rel, memory.CheckText("relation_type", rel.Kind, memory.MaxKind)
}
