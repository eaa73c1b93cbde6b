package data

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
)

func exportCortexGraphCommand(s *cli.App) *cobra.Command {
	x := &cortexGraphExport{s: s}
	cmd := cli.Command("cortexgraph FOLDER", cli.ArgCount(1, 1, "one folder"), nil,
		func(cmd *cobra.Command, args []string) error { return x.run(cmd.Context(), args[0]) })
	x.part.add(cmd)
	return cmd
}

// cortexGraphExport writes the two files of a CortexGraph store.
type cortexGraphExport struct {
	s         *cli.App
	part      part
	texts     archivedTexts
	ids       map[memory.ID]string // what CortexGraph calls each memory
	records   []*cortexGraphRecord
	relations []memory.Relation
	edges     []*cortexGraphEdge
}

func (x *cortexGraphExport) run(ctx context.Context, dir string) error {
	if err := x.part.choose(ctx, x.s); err != nil {
		return err
	}
	if err := x.read(ctx); err != nil {
		return err
	}
	if err := onDisk(os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	path, err := newFile(filepath.Join(dir, memoriesFile), func(w io.Writer) error { return writeLines(w, x.records) })
	if err != nil {
		return err
	}
	_, err = newFile(filepath.Join(dir, relationsFile), func(w io.Writer) error { return writeLines(w, x.edges) })
	if err != nil {
		return err
	}
	if x.s.JSON {
		return x.s.PrintJSON(map[string]any{"folder": filepath.Dir(path), "memories": len(x.records),
			"relations": len(x.edges), "summaries": x.texts.missing})
	}
	x.s.Printf("exported %s and %s to %s\n", cli.Count(len(x.records), "memory", "memories"),
		cli.Count(len(x.edges), "relation", "relations"), dir)
	x.texts.note(x.s)
	return nil
}

// writeLines writes one JSON object a line.
func writeLines[T any](w io.Writer, lines []T) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, line := range lines {
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// The files of a CortexGraph store.
const (
	memoriesFile  = "memories.jsonl"
	relationsFile = "relations.jsonl"
)

// cortexGraphRecord is a memory with the keys of CortexGraph, in its order. Times are seconds since 1970.
type cortexGraphRecord struct {
	ID               string          `json:"id"`
	Content          string          `json:"content"`
	Meta             cortexGraphTags `json:"meta"`
	CreatedAt        int64           `json:"created_at"`
	LastUsed         int64           `json:"last_used"`
	UseCount         int64           `json:"use_count"`
	Strength         float64         `json:"strength"`
	Status           string          `json:"status"`
	PromotedAt       *int64          `json:"promoted_at"`
	PromotedTo       *string         `json:"promoted_to"`
	Embed            []float64       `json:"embed"`
	Entities         []string        `json:"entities"`
	ReviewPriority   float64         `json:"review_priority"`
	LastReviewAt     *int64          `json:"last_review_at"`
	ReviewCount      int64           `json:"review_count"`
	CrossDomainCount int64           `json:"cross_domain_count"`
}

type cortexGraphTags struct {
	Tags    []string                   `json:"tags"`
	Source  *string                    `json:"source"`
	Context *string                    `json:"context"`
	Extra   map[string]json.RawMessage `json:"extra"`
}

type cortexGraphEdge struct {
	ID       string                     `json:"id"`
	From     string                     `json:"from_memory_id"`
	To       string                     `json:"to_memory_id"`
	Type     string                     `json:"relation_type"`
	Strength float64                    `json:"strength"`
	Created  int64                      `json:"created_at"`
	Metadata map[string]json.RawMessage `json:"metadata"`
}

// read collects memories and the relations between them.
func (x *cortexGraphExport) read(ctx context.Context) error {
	x.ids = make(map[memory.ID]string)
	err := eachLive(ctx, x.s, &x.part, func(m *memory.Memory, from []memory.Relation) error {
		x.texts.restore(ctx, x.s, m)
		x.ids[m.ID], x.relations = foreignIDOf(m), append(x.relations, from...)
		x.records = append(x.records, x.record(m))
		return nil
	})
	for i := range x.relations {
		if e := x.edge(&x.relations[i]); e.From != "" && e.To != "" {
			x.edges = append(x.edges, e)
		}
	}
	return err
}

// foreignIDOf returns the ID that a memory had in the CortexGraph store that it was imported from, else its own.
func foreignIDOf(m *memory.Memory) string {
	for _, alias := range m.Aliases {
		if cortexGraphID(alias) == m.ID {
			return alias
		}
	}
	return string(m.ID)
}

func (x *cortexGraphExport) record(m *memory.Memory) *cortexGraphRecord {
	r := &cortexGraphRecord{ID: x.ids[m.ID], Content: m.Content, CreatedAt: m.CreatedAt.Unix(),
		LastUsed: cmp.Or(m.LastUsed, m.CreatedAt).Unix(), UseCount: m.UseCount, Strength: m.Strength,
		Status: m.Status(), PromotedAt: seconds(m.PromotedAt), PromotedTo: textOrNull(m.PromotedTo),
		Entities:     append([]string{}, m.Entities...),
		LastReviewAt: seconds(m.LastReviewAt), ReviewCount: m.ReviewCount, CrossDomainCount: m.CrossDomainCount,
		Meta: cortexGraphTags{Tags: append([]string{}, m.Tags...), Source: textOrNull(m.Source),
			Context: textOrNull(m.Context), Extra: extraOf(m)}}
	if path, at, is := m.PromotedElsewhere(); is {
		r.PromotedTo, r.PromotedAt = textOrNull(path), seconds(at)
	}
	return r
}

// extraOf returns meta without what an import put there, and the fields that CortexGraph lacks.
func extraOf(m *memory.Memory) map[string]json.RawMessage {
	extra := maps.Clone(m.Meta)
	if extra == nil {
		extra = make(map[string]json.RawMessage)
	}
	if extra[memory.ForeignStatusKey] != nil {
		for _, key := range []string{memory.ForeignStatusKey, "promoted_to", "promoted_at"} {
			delete(extra, key)
		}
	}
	own := map[string]string{"project": m.Project, "category": m.Category, "type": m.Type, "section": m.Section}
	if m.Collection != memory.DefaultCollection {
		own["collection"] = m.Collection
	}
	for key, value := range own {
		if value != "" && extra[key] == nil {
			extra[key] = cli.JsonText(value)
		}
	}
	return extra
}

func seconds(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.Unix())
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// edge returns a relation, without a name for an end that is not in the export. A relation with a kind of its own has
// that as its type.
func (x *cortexGraphExport) edge(r *memory.Relation) *cortexGraphEdge {
	e := &cortexGraphEdge{ID: r.ID, From: x.ids[r.From], To: x.ids[r.To],
		Type: cmp.Or(r.Kind, r.Type), Strength: r.Strength, Created: r.CreatedAt.Unix(), Metadata: r.Metadata}
	if e.Metadata == nil {
		e.Metadata = map[string]json.RawMessage{}
	}
	return e
}
