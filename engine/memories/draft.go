package memories

import (
	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
)

// Draft returns the memory that a request describes, checked, normalized and with all
// defaults, and with link as the first link of its provenance chain (see View.Source). It
// scans for credentials.
func (e *Memories) Draft(req *op.SaveRequest, link memory.Source) (*memory.Memory, error) {
	m := &memory.Memory{
		Content: req.Content, Source: req.Source, Context: req.Context, Meta: req.Meta,
		Category: req.Category, Type: req.Type, Section: req.Section,
		Confidence: core.ValueOr(req.Confidence, 1), Importance: core.ValueOr(req.Importance, 0.5),
		Strength: core.ValueOr(req.Strength, 1),
		Core:     req.Core, SessionID: req.SessionID, Collection: req.Collection, Project: req.Project,
		UseCount: req.UseCount, Stage: memory.Active,
	}
	if m.Collection == "" {
		m.Collection = memory.DefaultCollection
	}
	if err := core.SetTimes(m, req.CreatedAt, req.LastUsed, link.At); err != nil {
		return nil, err
	}
	var err error
	if m.Tags, err = memory.NormalizeTags(req.Tags); err != nil {
		return nil, err
	}
	if m.Entities, err = memory.NormalizeEntities(req.Entities); err != nil {
		return nil, err
	}
	if m.Aliases, err = memory.NormalizeAliases(req.Aliases); err != nil {
		return nil, err
	}
	m.Learn(link)
	m.Origin = link.Kind
	if err := core.FirstError(core.Check(m), core.CheckProvenance(&req.Provenance),
		core.CheckStanding(m, memory.Memory{})); err != nil {
		return nil, err
	}
	if e.Opt.DetectSecrets && !req.AllowSecret {
		err = core.CheckSecrets(core.Passages(req))
	}
	if err != nil {
		return nil, err
	}
	e.Graph.Enrich(m, req)
	if req.ID == "" {
		m.ID, err = memory.NewID()
	} else {
		m.ID, err = memory.ParseID(string(req.ID))
	}
	return m, err
}
