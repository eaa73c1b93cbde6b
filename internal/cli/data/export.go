package data

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

	"emberd/internal/cli"
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

func ExportCommand(s *cli.App) *cobra.Command {
	x := &exporter{s: s}
	cmd := cli.Command("export [FILE]", cli.ArgCount(0, 1, "at most one file"), nil,
		func(cmd *cobra.Command, args []string) error {
			if err := x.part.choose(cmd.Context(), s); err != nil {
				return err
			}
			if len(args) == 0 || args[0] == "-" {
				return x.write(cmd.Context(), s.Stdout)
			}
			return x.toFile(cmd.Context(), args[0])
		})
	cmd.AddCommand(exportVaultCommand(s), exportGraphMLCommand(s), exportReferenceCommand(s),
		exportCortexGraphCommand(s))
	x.part.add(cmd)
	cmd.Flags().BoolVar(&x.state, "state", false, "")
	return cmd
}

// exporter writes one export.
type exporter struct {
	s     *cli.App
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
	case x.s.JSON:
		return x.s.PrintJSON(map[string]any{"file": path, "records": x.n, "trash": x.trash, "part": !x.part.all()})
	case !x.part.all():
		x.s.Printf("exported the %s selected by the filter to %s\n", cli.Count(x.n, "memory", "memories"), name)
		return nil
	}
	x.s.Printf("exported %s, %s of them in the trash, to %s\n", cli.Count(x.n, "memory", "memories"),
		cli.Grouped(x.trash), name)
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
		return "", memory.Errorf(memory.Invalid, "%s already exists; choose another name", name)
	case err != nil && cli.IsPathError(err):
		return "", &cli.Exit{Code: cli.ExitDisk, Err: err}
	}
	return path, err
}

func (x *exporter) write(ctx context.Context, w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	head := exportMark{Emberd: kindExport, Format: exportFormat, Created: x.s.Now().UTC().Truncate(time.Millisecond)}
	if x.state {
		head = exportMark{Emberd: kindState, Format: exportFormat}
	}
	head.Part = x.part.mark()
	begun := false
	err := exportPages(ctx, x.s, &x.part, func(page []op.Record) error {
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
func exportPages(ctx context.Context, s *cli.App, of *part, do func([]op.Record) error) error {
	req := &op.ExportRequest{}
	for first := true; first || req.Cursor != ""; first = false {
		page, err := cli.Reach(ctx, s, op.Export, req)
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
func eachLive(ctx context.Context, s *cli.App, of *part,
	do func(m *memory.Memory, from []memory.Relation) error) error {
	return exportPages(ctx, s, of, func(page []op.Record) error {
		for i := range page {
			r := &page[i]
			if !r.Forgotten.IsZero() {
				continue
			}
			m, err := stm.Decode(r.ID, r.Fields)
			if err != nil {
				return fmt.Errorf("cannot read memory %s: %w", r.ID, err)
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
