package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// The lines around the records of an export. The first tells what it is, the last
// that it is all there.
const (
	exportFormat = 1
	kindExport   = "export"
	kindState    = "state"
	kindEnd      = "end"
)

type exportMark struct {
	Emberd  string    `json:"emberd"`
	Format  int       `json:"format,omitempty"`
	Created time.Time `json:"created,omitzero"`
	// Part is what was selected, where not all was.
	Part    *op.Filter `json:"part,omitempty"`
	Records *int       `json:"records,omitempty"`
}

func (s *state) exportCommand() *cobra.Command {
	x := &exporter{s: s}
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write every memory, one JSON object a line",
		Long: `Write every memory, with all fields that it has, one JSON object a line, sorted
by id, to stdout or to a new FILE: those in the trash, and how often each was
used, as well. "emberd import export" takes it in again, into any store. Earlier
versions and the journal are not in it; a backup has them.

With flags of emberd list that select memories it is a part: those that are so,
without the trash. Its first line says which part, and an import takes it as any
other.

With --state only what the memories say is written, without revisions, times of
forgetting and use counts, in one spelling: two stores that hold the same give
the same bytes.`,
		Example: `  emberd export all.jsonl
  emberd export garden.jsonl --collection garden
  emberd export | jq -r '.memory.content // empty'
  diff <(emberd export --state --home a) <(emberd export --state --home b)`,
		Annotations: exits(endings{exitNothing: "no memory is as the flags say", exitNoDaemon: "", exitLocked: "", exitDisk: ""}),
		Args:        takes(0, 1, "at most one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := x.part.choose(cmd.Context(), s); err != nil {
				return err
			}
			if len(args) == 0 || args[0] == "-" {
				return x.write(cmd.Context(), s.stdout)
			}
			return x.toFile(cmd.Context(), args[0])
		},
	}
	cmd.AddCommand(s.exportVaultCommand(), s.exportGraphMLCommand())
	x.part.add(cmd)
	cmd.Flags().BoolVar(&x.state, "state", false, "leave out revisions and counters, to compare stores")
	return cmd
}

// exporter writes one export.
type exporter struct {
	s     *state
	part  part
	state bool
	n     int
	trash int
}

func (x *exporter) toFile(ctx context.Context, name string) error {
	path, err := newFile(name, func(w io.Writer) error { return x.write(ctx, w) })
	if err != nil {
		return err
	}
	switch {
	case x.s.json:
		return x.s.printJSON(map[string]any{"file": path, "records": x.n, "trash": x.trash, "part": !x.part.all()})
	case !x.part.all():
		x.s.printf("exported %s, a part of all, to %s\n", count(x.n, "memory", "memories"), name)
		return nil
	}
	x.s.printf("exported %s, %s of them in the trash, to %s\n", count(x.n, "memory", "memories"), grouped(x.trash), name)
	return nil
}

// newFile makes a file that is not there yet, whole or not at all, and returns its path.
func newFile(name string, write func(io.Writer) error) (string, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	err = durable.CreateFile(durable.OS{}, path, write)
	switch {
	case errors.Is(err, fs.ErrExist):
		return "", memory.Errorf(memory.Invalid, "%s is there already and stays as it is; choose another name", name)
	case err != nil && isPathError(err):
		return "", &exit{code: exitDisk, err: err}
	}
	return path, err
}

func (x *exporter) write(ctx context.Context, w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	head := exportMark{Emberd: kindExport, Format: exportFormat, Created: x.s.now().UTC().Truncate(time.Millisecond)}
	if x.state {
		head = exportMark{Emberd: kindState, Format: exportFormat}
	}
	head.Part = x.part.mark()
	begun := false
	err := x.s.exportPages(ctx, &x.part, func(page []op.Record) error {
		if !begun { // nothing is written if nobody answers
			begun = true
			if err := enc.Encode(head); err != nil {
				return err
			}
		}
		for i := range page {
			if err := enc.Encode(x.line(&page[i])); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return enc.Encode(exportMark{Emberd: kindEnd, Records: &x.n})
}

// exportPages calls do for what a part has of every page of an export, by ascending id and
// at least once.
func (s *state) exportPages(ctx context.Context, of *part, do func([]op.Record) error) error {
	req := &op.ExportRequest{}
	for first := true; first || req.Cursor != ""; first = false {
		page, err := reach(ctx, s, op.Export, req)
		if err != nil {
			return err
		}
		if err := do(of.of(page.Records)); err != nil {
			return err
		}
		req.Cursor = page.NextCursor
	}
	return nil
}

// eachLive calls do for every memory of a part that is not in the trash, by ascending id,
// with the relations that start at it.
func (s *state) eachLive(ctx context.Context, of *part, do func(m *memory.Memory, from []memory.Relation) error) error {
	return s.exportPages(ctx, of, func(page []op.Record) error {
		for i := range page {
			r := &page[i]
			if !r.Forgotten.IsZero() {
				continue
			}
			m, err := stm.Decode(r.ID, r.Fields)
			if err != nil {
				return fmt.Errorf("read memory %s: %w", r.ID, err)
			}
			if r.Use != nil {
				m.UseCount = r.Use.Uses
				if r.Use.LastUsed.After(m.LastUsed) {
					m.LastUsed = r.Use.LastUsed
				}
			}
			if err := do(&m, relationsIn(r)); err != nil {
				return err
			}
		}
		return nil
	})
}

// relationsIn are the relations that start at a memory, by their keys.
func relationsIn(r *op.Record) (out []memory.Relation) {
	for _, key := range slices.Sorted(maps.Keys(r.Fields)) {
		if rel, err := stm.ParseRelation(r.ID, key, r.Fields[key]); err == nil { // another key is none
			out = append(out, rel)
		}
	}
	return out
}

// line is a record as it is written.
func (x *exporter) line(r *op.Record) any {
	if x.n++; !r.Forgotten.IsZero() {
		x.trash++
	}
	if !x.state {
		return r
	}
	fields := map[string]json.RawMessage{}
	for key, value := range r.Fields {
		if !op.IsCounter(key) {
			fields[key] = op.Canonical(value)
		}
	}
	out := map[string]any{"id": r.ID, "memory": fields}
	if !r.Forgotten.IsZero() {
		out["forgotten"] = true
	}
	return out
}
