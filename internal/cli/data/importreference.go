package data

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/refgraph"
	"emberd/memory"
	"emberd/op"
)

func importReferenceCommand(s *cli.App) *cobra.Command {
	r := &storeImport{s: s, read: (*storeImport).referenceLine}
	r.mention = r.mentionRecord
	cmd := cli.Command("reference FILE|-", cli.ArgCount(1, 1, "one file, or - for stdin"), nil,
		func(cmd *cobra.Command, args []string) error {
			return r.run(cmd.Context(), args)
		})
	storeFlags(cmd, &r.opt)
	return cmd
}

// referenceLine takes in a line: an entity or a relation.
func (r *storeImport) referenceLine(line sourceLine) error {
	var kind string
	if err := fill(line.object, map[string]any{"type": &kind}); err != nil {
		return err
	}
	switch kind {
	case "entity":
		return r.referenceEntity(line)
	case "relation":
		return r.referenceRelation(line)
	}
	return memory.Errorf(memory.Invalid, "invalid type; use entity or relation").At("type")
}

// referenceEntity takes in an entity. One that comes again has the observations of both.
func (r *storeImport) referenceEntity(line sourceLine) error {
	var e refgraph.Entity
	if err := fill(line.object, map[string]any{"name": &e.Name, "entityType": &e.EntityType,
		"observations": &e.Observations}); err != nil {
		return err
	}
	before, twice := r.memories.byID[e.Name]
	if twice {
		known, err := entityOfRecord(&before.what)
		if err != nil {
			return err
		}
		e.EntityType = known.EntityType
		for _, text := range e.Observations {
			if !slices.Contains(known.Observations, text) {
				known.Observations = append(known.Observations, text)
			}
		}
		e.Observations = known.Observations
	}
	rec, err := r.entityRecord(&e)
	if err != nil {
		return err
	}
	at := placed[op.Record]{r.at(line), rec}
	if twice {
		at.at = before.at
		r.note(r.at(line), op.Problem{Code: memory.Conflict,
			Detail: fmt.Sprintf("line %d contains an entity with the same name; emberd merges the observations of both",
				before.at.Line)})
		r.report.Superseded++
	}
	r.memories.put(e.Name, at)
	return nil
}

// entityRecord is an entity as an import takes it. Entities of a file are as old as the
// import, each a little older than the next, so that they keep their order.
func (r *storeImport) entityRecord(e *refgraph.Entity) (op.Record, error) {
	req, err := e.Save()
	if err != nil {
		return op.Record{}, err
	}
	return r.entityRecordOf(req)
}

// mentionRecord is the name of an entity that only relations have.
func (r *storeImport) mentionRecord(name string) (op.Record, error) {
	req, err := refgraph.Mention(name)
	if err != nil {
		return op.Record{}, err
	}
	return r.entityRecordOf(req)
}

func (r *storeImport) entityRecordOf(req *op.SaveRequest) (op.Record, error) {
	m := memory.Memory{ID: req.ID, Aliases: req.Aliases, Content: req.Content, Entities: req.Entities, Meta: req.Meta,
		Type: req.Type, Confidence: 1, Importance: 0.5,
		Strength: 1, StrengthFound: true, Collection: req.Collection, Stage: memory.Active,
		CreatedAt: r.now.Add(time.Duration(len(r.memories.order)) * time.Millisecond)}
	if err := r.checkForeign(&m); err != nil {
		return op.Record{}, err
	}
	return r.recordOf(&m)
}

func entityOfRecord(rec *op.Record) (refgraph.Entity, error) {
	text, err := json.Marshal(rec.Fields)
	if err != nil {
		return refgraph.Entity{}, err
	}
	m := memory.Memory{ID: rec.ID}
	if err := json.Unmarshal(text, &m); err != nil {
		return refgraph.Entity{}, err
	}
	e, _ := refgraph.Of(&m) // it was made of one
	return e, nil
}

func (r *storeImport) referenceRelation(line sourceLine) error {
	var rel refgraph.Relation
	if err := fill(line.object, map[string]any{"from": &rel.From, "to": &rel.To,
		"relationType": &rel.RelationType}); err != nil {
		return err
	}
	if rel.From == "" || rel.To == "" || rel.RelationType == "" {
		return memory.Errorf(memory.Invalid, "the relation must have from, to and relationType")
	}
	if err := memory.CheckText("relationType", rel.RelationType, memory.MaxKind); err != nil {
		return err
	}
	place := map[string]json.RawMessage{}
	refgraph.Place(place, len(r.relations.order))
	made := storeRelation{from: rel.From, to: rel.To,
		RelateRequest: op.RelateRequest{From: string(refgraph.ID(rel.From)), To: string(refgraph.ID(rel.To)),
			Type: memory.Related, Kind: rel.RelationType, Metadata: place}}
	if r.relations.put(strings.Join([]string{rel.From, rel.To, rel.RelationType}, "\x00"),
		placed[storeRelation]{r.at(line), made}) {
		r.report.Superseded++
	}
	return nil
}
