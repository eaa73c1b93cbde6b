package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"emberd/engine/core"
	"emberd/internal/cleanup"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// importRecord is one valid record of an import.
type importRecord struct {
	at int // index in the request
	*op.Record
	size int
}

// ImportRecords stores records as one change, and returns one answer for each record, in
// order. It does not change existing memories, except that it raises their use counts, so that
// a second run changes nothing.
func (e *Transfer) Import(ctx context.Context, req *op.ImportRequest) (*op.ImportResult, error) {
	if err := core.CheckBatch(len(req.Records), "records", "records"); err != nil {
		return nil, err
	}
	res := &op.ImportResult{Tx: req.Tx, Results: make([]op.ImportAnswer, len(req.Records))}
	var good []importRecord
	for i := range req.Records {
		size, err := checkRecord(&req.Records[i])
		if err == nil && req.Foreign && !req.AllowSecret {
			err = e.screen(&req.Records[i])
		}
		if err != nil {
			res.Results[i] = op.ImportAnswer{Fate: op.ImportFailed, Error: op.ProblemOf(err)}
			continue
		}
		good = append(good, importRecord{at: i, Record: withMarks(&req.Records[i]), size: size})
	}
	return res, e.importAll(ctx, req, res, good)
}

// withMarks returns a record with the null fields of an indexer moved to meta. The log drops
// null fields, and a cleanup depends on their presence.
func withMarks(r *op.Record) *op.Record {
	marks := slices.DeleteFunc(cleanup.AutomationFields(),
		func(name string) bool { return string(r.Fields[name]) != "null" })
	meta := core.MetaOf(r.Fields)
	if len(marks) == 0 || meta == nil && r.Fields["meta"] != nil {
		return r
	}
	marked := *r
	marked.Fields = maps.Clone(r.Fields)
	if meta == nil {
		meta = make(map[string]json.RawMessage)
	}
	for _, name := range marks {
		meta[name] = json.RawMessage("null")
	}
	if raw, err := core.Encode(meta); err == nil { // each value was parsed before
		marked.Fields["meta"] = raw
	}
	return &marked
}

// importAll writes the records in a few transactions. If the first fails, the import fails. If
// a later one fails, the earlier ones stay, and the remaining records get the error.
func (e *Transfer) importAll(ctx context.Context, req *op.ImportRequest, res *op.ImportResult,
	records []importRecord) error {
	all := len(records)
	for first := true; len(records) > 0; first = false {
		n := core.Chunk(records, func(r importRecord) (memory.ID, int) { return r.ID, r.size })
		err := e.importChunk(ctx, req, res, records[:n])
		if err != nil && first {
			return err
		}
		if err != nil {
			for _, r := range records {
				res.Results[r.at] = op.ImportAnswer{Fate: op.ImportFailed, Error: op.ProblemOf(err)}
			}
			return nil
		}
		for _, r := range records[:n] {
			if !req.DryRun {
				e.raiseUse(r.Record)
			}
		}
		if err := e.archiveImported(ctx, req, res, records[:n]); err != nil {
			return err
		}
		records = records[n:]
		op.Report(ctx, all-len(records), all)
	}
	return nil
}

func (e *Transfer) importChunk(ctx context.Context, req *op.ImportRequest, res *op.ImportResult,
	records []importRecord) error {
	ids := make([]memory.ID, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	receipt, err := e.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: stm.ImportVerb, By: op.CallerFrom(ctx), Entry: res.Tx}
		trash, err := e.trashOf(records)
		deleted := e.deletedOf(records)
		if err != nil {
			return nil, err
		}
		for i, r := range records {
			fate := e.importDecision(tx, r.Record, existing{rows[i], trash, deleted[r.ID]}, req)
			res.Results[r.at].Fate = fate
			switch named, more := core.AddAliases(rows[i], aliasesIn(r.Record)); {
			case fate == op.ImportAdded:
				if req.Foreign {
					e.markImported(ctx, r.Fields)
					e.fadeFromNow(r.Record)
					e.enrich(r.Record, req.AllowSecret)
				}
				tx.Changes = append(tx.Changes, r.change())
			case req.Foreign && more && r.Forgotten.IsZero():
				tx.Changes, res.Results[r.at].Named = append(tx.Changes, named), true
			}
		}
		if req.DryRun {
			return nil, nil
		}
		return tx, nil
	})
	if err == nil && receipt.Entry != "" {
		res.Tx = receipt.Entry
		e.Graph.Names.LearnFrom(receipt.Rows...)
	}
	return err
}

// trashOf reads the memories in the trash that deleted records are compared with.
func (e *Transfer) trashOf(records []importRecord) (map[memory.ID]stm.TrashedMemory, error) {
	var ids []memory.ID
	for _, r := range records {
		if !r.Forgotten.IsZero() {
			ids = append(ids, r.ID)
		}
	}
	trash := make(map[memory.ID]stm.TrashedMemory, len(ids))
	for len(ids) > 0 {
		found, n, err := e.Stm.ReadTrash(ids)
		if err != nil {
			return nil, err
		}
		maps.Copy(trash, found)
		ids = ids[n:]
	}
	return trash, nil
}

// deletedOf returns which memories of live records a caller deleted.
func (e *Transfer) deletedOf(records []importRecord) map[memory.ID]bool {
	var ids []memory.ID
	for _, r := range records {
		if r.Forgotten.IsZero() {
			ids = append(ids, r.ID)
		}
	}
	return e.Stm.Deleted(ids...)
}

// existing is the current state of a memory: the live row, nil for none, the trash, and whether a caller deleted it.
type existing struct {
	row     *stm.Row
	trash   map[memory.ID]stm.TrashedMemory
	deleted bool
}

// importDecision returns the outcome of a record. It records in tx which deleted texts are
// saved again on request.
func (e *Transfer) importDecision(tx *stm.Tx, r *op.Record, there existing, req *op.ImportRequest) string {
	switch row := there.row; {
	case row != nil && !r.Forgotten.IsZero():
		return op.ImportChanged
	case row != nil && req.Foreign:
		if row.Content() == contentOf(r) {
			return op.ImportPresent
		}
		return op.ImportChanged
	case row != nil:
		return equalFields(row.Fields(), r.Fields)
	case e.Stm.Trashed(r.ID) && !r.Forgotten.IsZero():
		return equalFields(there.trash[r.ID].Fields, r.Fields)
	case there.deleted && !req.Again:
		return op.ImportForgotten
	}
	if r.Forgotten.IsZero() && e.Lifecycle.AskedAgain(tx, contentOf(r), req.Again) != nil {
		return op.ImportForgotten
	}
	return op.ImportAdded
}

func aliasesIn(r *op.Record) (names []string) {
	_ = json.Unmarshal(r.Fields["aliases"], &names) // checkRecord has parsed it
	return names
}

func contentOf(r *op.Record) string {
	var text string
	_ = json.Unmarshal(r.Fields[core.ContentField], &text) // checkRecord has parsed it
	return text
}

// markImported completes the provenance chain of a record from another system, which may have
// none, with the importing user and the time.
func (e *Transfer) markImported(ctx context.Context, fields map[string]json.RawMessage) {
	var chain []memory.Source
	_ = json.Unmarshal(fields["sources"], &chain) // checkRecord has parsed it
	link := e.Source(ctx, &op.Provenance{}, "")
	link.Kind = memory.FromImport
	if len(chain) == 0 {
		chain = []memory.Source{{Kind: memory.FromImport}}
	}
	for i := range chain {
		if chain[i].At.IsZero() {
			chain[i].At, chain[i].By = link.At, link.By
		}
	}
	fields["sources"], _ = core.Encode(chain) // links always encode
}

// fadeFromNow has a memory from another system fade from its import on, unless that system says when it was used
// last. Its dates stay.
func (e *Transfer) fadeFromNow(r *op.Record) {
	_, used := r.Fields["last_used"]
	if !used && r.Forgotten.IsZero() && (r.Use == nil || r.Use.LastUsed.IsZero()) {
		r.Fields["last_used"], _ = core.Encode(core.StampTime(e.Opt.Now())) // a time always encodes
	}
}

// enrich sets the entities and the strength of a record from another system that says nothing of them, as a
// save does. A list without entities says that there are none.
func (e *Transfer) enrich(r *op.Record, allowSecret bool) {
	req := op.SaveRequest{AllowSecret: allowSecret}
	m := memory.Memory{Strength: 1}
	if text, err := core.Encode(r.Fields); err != nil || json.Unmarshal(text, &m) != nil || !r.Forgotten.IsZero() {
		return
	}
	if _, given := r.Fields["entities"]; given {
		req.Entities = append([]string{}, m.Entities...)
	}
	if _, given := r.Fields["strength"]; given {
		req.Strength = &m.Strength
	}
	e.Graph.Enrich(&m, &req)
	delete(r.Fields, "entities")
	set := map[string]any{"strength": m.Strength}
	if len(m.Entities) > 0 {
		set["entities"] = m.Entities
	}
	if m.EntitiesFound {
		set["entities_found"] = true
	}
	if m.StrengthFound {
		set["strength_found"] = true
	}
	for key, value := range set {
		r.Fields[key], _ = core.Encode(value) // names and numbers always encode
	}
}

// screen returns an error for a record with a credential.
func (e *Transfer) screen(r *op.Record) error {
	if !e.Opt.DetectSecrets {
		return nil
	}
	return core.CheckSecrets(core.StoredTexts(r.Fields))
}

// change returns the change that stores the record, live or in the trash. A memory in the
// trash can no longer be counted, so its record includes the counts.
func (in *importRecord) change() stm.Change {
	set := maps.Clone(in.Fields)
	if in.Forgotten.IsZero() {
		return stm.Change{ID: in.ID, Set: set, Allowed: true}
	}
	if in.Use != nil {
		counts := map[string]any{"use_count": in.Use.Uses, "access_count": in.Use.Accesses}
		if !in.Use.LastUsed.IsZero() {
			counts["last_used"] = in.Use.LastUsed
		}
		for key, value := range counts {
			set[key], _ = core.Encode(value) // numbers and times always encode
		}
	}
	core.DropImplied(set)
	return stm.Change{ID: in.ID, Delete: true, Set: set, Allowed: true}
}

// raiseUse raises the counts of a live memory to those of the record. This device's count then
// includes what other devices counted.
func (e *Transfer) raiseUse(r *op.Record) {
	row, ok := e.Stm.Get(r.ID)
	if !ok || r.Use == nil {
		return
	}
	if n := r.Use.Uses - row.UseCount(); n > 0 {
		e.Stm.Use(stm.Use{ID: r.ID, Uses: n, At: r.Use.LastUsed})
	}
	if n := r.Use.Accesses - row.AccessCount(); n > 0 {
		e.Stm.Use(stm.Use{ID: r.ID, Accesses: n, At: r.Use.LastAccessed})
	}
	e.Changed()
}

// checkRecord returns an error for a record that cannot be a memory, and the size of a valid
// one. Unknown fields are kept.
func checkRecord(r *op.Record) (size int, err error) {
	if r.ID, err = memory.ParseID(string(r.ID)); err != nil {
		return 0, err
	}
	if _, ok := r.Fields["id"]; ok {
		return 0, memory.Errorf(memory.Invalid, "the field \"id\" must be next to the field \"memory\", "+
			"not in it; send the output of emberd export").At("memory")
	}
	text, err := core.Encode(r.Fields)
	if err != nil {
		return 0, memory.Errorf(memory.Invalid, "the memory is not valid JSON: %w", err).At("memory")
	}
	m := memory.Memory{Confidence: 1, Importance: 0.5, Strength: 1, Collection: memory.DefaultCollection,
		Stage: memory.Active}
	if err := json.Unmarshal(text, &m); err != nil {
		return 0, memory.Errorf(memory.Invalid, "cannot read the memory: %w", err).At("memory")
	}
	if m.CreatedAt.IsZero() {
		return 0, memory.Errorf(memory.Invalid,
			"missing field created_at of the memory; send the output of emberd export").At("memory.created_at")
	}
	if _, err := memory.ParseStage(string(m.Stage)); err != nil {
		return 0, err
	}
	return len(text),
		core.FirstError(core.Check(&m), checkChain(&m), checkLinks(r), checkRelations(r), core.CheckReviewItems(r))
}

// checkChain returns an error for a provenance chain that emberd would not write.
func checkChain(m *memory.Memory) error {
	if n := len(m.Sources); n > memory.MaxSources {
		return memory.Errorf(memory.TooLarge, "too many sources of the memory: %d (limit %d); keep the first and the "+
			"latest sources, and add the number of removed sources to sources_dropped", n,
			memory.MaxSources).At("memory.sources")
	}
	if err := memory.CheckRange("sources_dropped", float64(m.SourcesDropped), 0, core.MaxUses); err != nil {
		return err
	}
	for _, link := range m.Sources {
		if err := checkLink(&link); err != nil {
			return memory.Errorf(memory.CodeOf(err), "cannot store a source of the memory: %w",
				err).At("memory.sources")
		}
	}
	return nil
}

// checkLinks does the same as checkChain for the links that are fields of their own.
func checkLinks(r *op.Record) error {
	for key, value := range r.Fields {
		link, err := stm.ParseSource(key, value)
		if err != nil {
			continue // kept as an unknown field
		}
		if err := checkLink(&link); err != nil {
			return memory.Errorf(memory.CodeOf(err), "cannot store the field %.60s of the memory: %w", key,
				err).At("memory")
		}
	}
	return nil
}

func checkLink(link *memory.Source) error {
	return core.FirstError(
		memory.CheckText("kind", link.Kind, memory.MaxName),
		memory.CheckText("ref", link.Ref, core.MaxFile),
		memory.CheckText("evidence", link.Evidence, core.MaxLink),
		memory.CheckRange("times", float64(link.Times), 0, core.MaxUses),
	)
}

// checkRelations returns an error for a record with a relation that Relate would refuse. The
// target may be missing, because the import may add it later.
func checkRelations(r *op.Record) error {
	size := 0
	for key, value := range r.Fields {
		if !stm.IsRelationKey(key) {
			continue
		}
		rel, err := stm.ParseRelation(r.ID, key, value)
		if err == nil && rel.ID != memory.RelationID(r.ID, rel.To, rel.Type, rel.Kind) {
			err = errors.New("the ID of the relation does not match its memories and type")
		}
		if err = core.FirstError(err, core.CheckRelation(&rel)); err != nil {
			return memory.Errorf(memory.Invalid,
				"cannot read the field %.60s of the memory: %w; send the output of emberd export", key,
				err).At("memory")
		}
		size += len(key) + len(value)
	}
	if size > memory.MaxRelationsBytes {
		return memory.Errorf(memory.TooLarge,
			"too many bytes in the relations of the memory: %d (limit %d); remove some relations", size,
			memory.MaxRelationsBytes).At("memory")
	}
	return nil
}

// equalFields returns whether an existing memory has the fields of a record. It ignores use
// counts, review items and the spelling of the JSON.
func equalFields(here, there map[string]json.RawMessage) string {
	a, b := canonical(here), canonical(there)
	if maps.EqualFunc(a, b, bytes.Equal) {
		return op.ImportPresent
	}
	return op.ImportChanged
}

func canonical(fields map[string]json.RawMessage) map[string][]byte {
	out := map[string][]byte{}
	for key, value := range fields {
		if !op.IsCounter(key) && !stm.IsReviewKey(key) {
			out[key] = op.Canonical(value)
		}
	}
	return out
}
