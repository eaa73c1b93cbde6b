package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// FromNotes saves the memories whose notes are in a vault and that this store has never had or has lost,
// and returns their number. A note has the text, tags and category of its memory; the other fields get the
// defaults. A memory that exists, or is in the trash, does not change, and what was purged does not return.
func (e *Transfer) FromNotes(ctx context.Context, dir string) (added int, err error) {
	v, err := vault.Open(dir, &vault.Options{Ignore: e.Opt.VaultIgnore})
	if err != nil {
		return 0, memory.Errorf(memory.Invalid, "cannot read the vault %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	var batch []op.Record
	for path, err := range v.Walk(ctx) {
		r, err := e.recordOf(ctx, v, path, err)
		if err != nil {
			return added, err
		}
		if r == nil {
			continue
		}
		if batch = append(batch, *r); len(batch) == op.MaxBatch {
			n, err := e.importNew(ctx, batch)
			if added += n; err != nil {
				return added, err
			}
			batch = nil
		}
	}
	n, err := e.importNew(ctx, batch)
	return added + n, err
}

// recordOf returns the memory that a note has the text of, or nil if it is no memory's or cannot be read.
func (e *Transfer) recordOf(ctx context.Context, v *vault.Vault, path string, err error) (*op.Record, error) {
	var skipped *vault.Skipped
	if errors.As(err, &skipped) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list the notes: %w", err)
	}
	note, err := v.Read(ctx, path)
	if err != nil || note.Carried == nil || note.Copy || note.Carried.Body == "" || note.Size > core.WholeNote {
		return nil, ctx.Err()
	}
	id, err := memory.ParseID(note.MemoryID)
	if err != nil || e.Stm.Purged(id) {
		return nil, nil
	}
	return e.recordFrom(id, note), nil
}

func (e *Transfer) recordFrom(id memory.ID, note *vault.Note) *op.Record {
	r := &op.Record{ID: id, Fields: map[string]json.RawMessage{}}
	set := func(field string, value any) { r.Fields[field], _ = core.Encode(value) } // texts and times always encode
	set(core.ContentField, note.Carried.Body)
	set("created_at", note.Created)
	set("vault_path", note.Path)
	if tags, err := memory.NormalizeTags(note.Carried.Tags); err == nil && len(tags) > 0 {
		set("tags", tags)
	}
	category := strings.TrimSpace(note.Carried.Fields["category"])
	if category != "" && memory.CheckText("category", category, memory.MaxName) == nil {
		set("category", category)
	}
	if archive := e.Opt.VaultArchive; archive == "" || !strings.HasPrefix(note.Path, archive+"/") {
		set("promoted_to", note.Path)
		set("promoted_at", note.Created)
	}
	return r
}

func (e *Transfer) importNew(ctx context.Context, batch []op.Record) (added int, err error) {
	if len(batch) == 0 {
		return 0, nil
	}
	res, err := e.Import(ctx, &op.ImportRequest{Records: batch})
	if err != nil {
		return 0, err
	}
	for i, answer := range res.Results {
		switch answer.Fate {
		case op.ImportAdded:
			added++
		case op.ImportFailed:
			e.Opt.Logger.Warn("cannot restore the memory of a note", "memory", batch[i].ID, "error", answer.Error)
		}
	}
	return added, nil
}
