package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"emberd/internal/cleanup"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// incoming is one good record of an import.
type incoming struct {
	at int // its place in the request
	*op.Record
	size int
}

// importRecords takes in records under one journal entry and answers each in its
// place. What is there already stays as it is, only use counts are raised, so a
// second run changes nothing.
func (e *Engine) importRecords(ctx context.Context, req *op.ImportRequest) (*op.ImportResult, error) {
	switch n := len(req.Records); {
	case n > op.MaxBatch:
		return nil, memory.Errorf(memory.TooLarge, "the batch has %d records, more than %d; send it in parts", n, op.MaxBatch).At("records")
	case n == 0:
		return nil, memory.Errorf(memory.Invalid, "the batch has no records; give at least one").At("records")
	}
	res := &op.ImportResult{Tx: req.Tx, Results: make([]op.ImportAnswer, len(req.Records))}
	var good []incoming
	for i := range req.Records {
		size, err := checkRecord(&req.Records[i])
		if err == nil && req.Foreign && !req.AllowSecret {
			err = e.screen(&req.Records[i])
		}
		if err != nil {
			res.Results[i] = op.ImportAnswer{Fate: op.ImportFailed, Error: problem(err)}
			continue
		}
		good = append(good, incoming{at: i, Record: withMarks(&req.Records[i]), size: size})
	}
	return res, e.importAll(ctx, req, res, good)
}

// withMarks is a record of which the fields of an indexer that are null stand in meta: the
// log takes a key that is null for none, and a cleanup goes by their presence alone.
func withMarks(r *op.Record) *op.Record {
	marks := slices.DeleteFunc(cleanup.AutomationFields(), func(name string) bool { return string(r.Fields[name]) != "null" })
	meta := metaOf(r.Fields)
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
	if raw, err := encode(meta); err == nil { // each was read before
		marked.Fields["meta"] = raw
	}
	return &marked
}

// importAll writes the log in a few transactions. When one fails, what came
// before stays, and the records from there on tell the error.
func (e *Engine) importAll(ctx context.Context, req *op.ImportRequest, res *op.ImportResult, records []incoming) error {
	all := len(records)
	for first := true; len(records) > 0; first = false {
		n := recordChunk(records)
		err := e.importChunk(ctx, req, res, records[:n])
		if err != nil && first {
			return err
		}
		if err != nil {
			for _, r := range records {
				res.Results[r.at] = op.ImportAnswer{Fate: op.ImportFailed, Error: problem(err)}
			}
			return nil
		}
		for _, r := range records[:n] {
			if !req.DryRun {
				e.raiseUse(r.Record)
			}
		}
		records = records[n:]
		op.Report(ctx, all-len(records), all)
	}
	return nil
}

// recordChunk returns how many of the records, at least one, go into the next
// transaction; it ends before an id that is in it already.
func recordChunk(records []incoming) int {
	size, ids := 0, map[memory.ID]bool{}
	for i, r := range records {
		size += r.size
		if i > 0 && (size > chunkBytes || ids[r.ID]) {
			return i
		}
		ids[r.ID] = true
	}
	return len(records)
}

func (e *Engine) importChunk(ctx context.Context, req *op.ImportRequest, res *op.ImportResult, records []incoming) error {
	ids := make([]memory.ID, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	receipt, err := e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: "import", By: op.CallerFrom(ctx), Entry: res.Tx}
		trash, err := e.trashOf(records)
		if err != nil {
			return nil, err
		}
		for i, r := range records {
			fate := e.fate(tx, r.Record, present{rows[i], trash}, req)
			res.Results[r.at].Fate = fate
			switch named, more := moreNames(rows[i], aliasesIn(r.Record)); {
			case fate == op.ImportAdded:
				if req.Foreign {
					e.markImported(ctx, r.Fields)
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
		e.names.learnFrom(receipt.Rows...)
	}
	return err
}

// trashOf reads those of the trash that records of forgotten memories are compared with.
func (e *Engine) trashOf(records []incoming) (map[memory.ID]stm.Buried, error) {
	var ids []memory.ID
	for _, r := range records {
		if !r.Forgotten.IsZero() {
			ids = append(ids, r.ID)
		}
	}
	trash := make(map[memory.ID]stm.Buried, len(ids))
	for len(ids) > 0 {
		found, n, err := e.stm.Unearth(ids)
		if err != nil {
			return nil, err
		}
		maps.Copy(trash, found)
		ids = ids[n:]
	}
	return trash, nil
}

// present is what there is of a memory: the live one, nil for none, and the trash.
type present struct {
	row   *stm.Row
	trash map[memory.ID]stm.Buried
}

// fate decides about a record. It says in tx what is saved again on purpose.
func (e *Engine) fate(tx *stm.Tx, r *op.Record, there present, req *op.ImportRequest) string {
	trashed := e.stm.Trashed(r.ID)
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
	case trashed && !r.Forgotten.IsZero():
		return equalFields(there.trash[r.ID].Fields, r.Fields)
	case trashed && !req.Again:
		return op.ImportForgotten
	}
	if r.Forgotten.IsZero() && e.askedAgain(tx, contentOf(r), req.Again) != nil {
		return op.ImportForgotten
	}
	return op.ImportAdded
}

// moreNames gives a memory that is live in row, if it is, the aliases that it lacks, so that
// what an earlier version imported without them is found by them. What does not fit is left.
func moreNames(row *stm.Row, names []string) (stm.Change, bool) {
	if row == nil || len(names) == 0 {
		return stm.Change{}, false
	}
	all := row.Aliases()
	before := len(all)
	for _, name := range names {
		if len(all) < memory.MaxAliases && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	raw, _ := encode(all) // texts always encode
	return stm.Change{ID: row.ID(), Set: map[string]json.RawMessage{"aliases": raw}, Allowed: true}, len(all) > before
}

func aliasesIn(r *op.Record) (names []string) {
	_ = json.Unmarshal(r.Fields["aliases"], &names) // checkRecord has read it
	return names
}

func contentOf(r *op.Record) string {
	var text string
	_ = json.Unmarshal(r.Fields[contentField], &text) // checkRecord has read it
	return text
}

// markImported completes the provenance chain of a record of another system, which need
// not have one: who brought it in, and when.
func (e *Engine) markImported(ctx context.Context, fields map[string]json.RawMessage) {
	var chain []memory.Source
	_ = json.Unmarshal(fields["sources"], &chain) // checkRecord has read it
	link := e.source(ctx, &op.Provenance{}, "")
	link.Kind = memory.FromImport
	if len(chain) == 0 {
		chain = []memory.Source{{Kind: memory.FromImport}}
	}
	for i := range chain {
		if chain[i].At.IsZero() {
			chain[i].At, chain[i].By = link.At, link.By
		}
	}
	fields["sources"], _ = encode(chain) // links always encode
}

// screen refuses a record that looks as if it held a credential.
func (e *Engine) screen(r *op.Record) error {
	if !e.opt.DetectSecrets {
		return nil
	}
	return checkSecrets(storedTexts(r.Fields))
}

// change is what brings a record in: a memory, or one that is in the trash. That
// one cannot be counted any more, so it brings its counts along.
func (in *incoming) change() stm.Change {
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
			set[key], _ = encode(value) // numbers and times always encode
		}
	}
	dropImplied(set)
	return stm.Change{ID: in.ID, Delete: true, Set: set, Allowed: true}
}

// raiseUse raises the counts of a live memory to those of the record. What other
// devices counted there becomes this one's.
func (e *Engine) raiseUse(r *op.Record) {
	row, ok := e.stm.Get(r.ID)
	if !ok || r.Use == nil {
		return
	}
	if n := r.Use.Uses - row.UseCount(); n > 0 {
		e.stm.Use(stm.Use{ID: r.ID, Uses: n, At: r.Use.LastUsed})
	}
	if n := r.Use.Accesses - row.AccessCount(); n > 0 {
		e.stm.Use(stm.Use{ID: r.ID, Accesses: n, At: r.Use.LastAccessed})
	}
	e.changed()
}

// checkRecord refuses what could not be a memory of ours, and returns the size
// of one that could. Fields that are not known here are kept.
func checkRecord(r *op.Record) (size int, err error) {
	if r.ID, err = memory.ParseID(string(r.ID)); err != nil {
		return 0, err
	}
	if _, ok := r.Fields["id"]; ok {
		return 0, memory.Errorf(memory.Invalid, "the memory has a field id, which belongs beside it; send what emberd export wrote").At("memory")
	}
	text, err := encode(r.Fields)
	if err != nil {
		return 0, memory.Errorf(memory.Invalid, "the memory is not JSON: %w", err).At("memory")
	}
	m := memory.Memory{Confidence: 1, Importance: 0.5, Strength: 1, Collection: memory.DefaultCollection, Stage: memory.Active}
	if err := json.Unmarshal(text, &m); err != nil {
		return 0, memory.Errorf(memory.Invalid, "the memory cannot be read: %w", err).At("memory")
	}
	if m.CreatedAt.IsZero() {
		return 0, memory.Errorf(memory.Invalid, "the memory has no created_at; send what emberd export wrote").At("memory.created_at")
	}
	if _, err := memory.ParseStage(string(m.Stage)); err != nil {
		return 0, err
	}
	return len(text), firstError(check(&m), checkChain(&m), checkLinks(r), checkRelations(r), checkReviewItems(r))
}

// checkChain refuses a provenance chain that no writing would have made.
func checkChain(m *memory.Memory) error {
	if n := len(m.Sources); n > memory.MaxSources {
		return memory.Errorf(memory.TooLarge, "the memory has %d sources, more than %d; keep the first and the latest, and count the others in sources_dropped", n, memory.MaxSources).At("memory.sources")
	}
	if err := memory.CheckRange("sources_dropped", float64(m.SourcesDropped), 0, maxUses); err != nil {
		return err
	}
	for _, link := range m.Sources {
		if err := checkLink(&link); err != nil {
			return memory.Errorf(memory.CodeOf(err), "a source of the memory cannot be kept: %w", err).At("memory.sources")
		}
	}
	return nil
}

// checkLinks is checkChain for the links that are keys of their own.
func checkLinks(r *op.Record) error {
	for key, value := range r.Fields {
		link, err := stm.ParseSource(key, value)
		if err != nil {
			continue // it is kept, and is none
		}
		if err := checkLink(&link); err != nil {
			return memory.Errorf(memory.CodeOf(err), "the memory's %.60s cannot be kept: %w", key, err).At("memory")
		}
	}
	return nil
}

func checkLink(link *memory.Source) error {
	return firstError(
		memory.CheckText("kind", link.Kind, memory.MaxName),
		memory.CheckText("ref", link.Ref, maxFile),
		memory.CheckText("evidence", link.Evidence, maxLink),
		memory.CheckRange("times", float64(link.Times), 0, maxUses),
	)
}

// checkRelations refuses a record with a relation that relate would not have made. That
// it leads to a memory is not asked: that one may come later.
func checkRelations(r *op.Record) error {
	size := 0
	for key, value := range r.Fields {
		if !stm.IsRelationKey(key) {
			continue
		}
		rel, err := stm.ParseRelation(r.ID, key, value)
		if err == nil && rel.ID != memory.RelationID(r.ID, rel.To, rel.Type, rel.Kind) {
			err = errors.New("it belongs to other memories, or is of another type")
		}
		if err = firstError(err, checkRelation(&rel)); err != nil {
			return memory.Errorf(memory.Invalid, "the memory's %.60s cannot be a relation: %w; send what emberd export wrote", key, err).At("memory")
		}
		size += len(key) + len(value)
	}
	if size > memory.MaxRelationsBytes {
		return memory.Errorf(memory.TooLarge, "the memory's relations have %d bytes, more than %d; remove some", size, memory.MaxRelationsBytes).At("memory")
	}
	return nil
}

// equalFields tells whether a memory that is there has the fields of a record;
// how often it was used, what was asked about it and how its JSON is written does not count.
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
