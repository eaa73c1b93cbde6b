package data

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/durable"
	"emberd/internal/importer"
	"emberd/memory"
	"emberd/op"
)

// foreignImport is the import of what a package of ours reads of another system: all of it
// is read first, and then brought in like a store.
type foreignImport struct {
	storeImport
	tags       []string
	collection string
}

// foreignSource is one command of that kind: what it is called, and how its argument is read.
type foreignSource struct {
	use   string
	arg   string
	of    [2]string // what the report counts
	read  sourceReader
	flags func(cmd *cobra.Command)
}

func foreignCommand(s *cli.App, src foreignSource) *cobra.Command {
	r := &foreignImport{storeImport: storeImport{s: s}}
	cmd := cli.Command(src.use, cli.ArgCount(1, 1, src.arg), nil, func(cmd *cobra.Command, args []string) error {
		r.report.of = src.of
		return r.runOn(cmd.Context(), args[0], src.read)
	})
	storeFlags(cmd, &r.opt)
	cmd.Flags().StringSliceVarP(&r.tags, "tag", "t", nil, "")
	cmd.Flags().StringVar(&r.collection, "collection", "", "")
	if src.flags != nil {
		src.flags(cmd)
	}
	return cmd
}

func (r *foreignImport) runOn(ctx context.Context, name string, read sourceReader) error {
	r.begin()
	if err := memory.CheckText("collection", r.collection, memory.MaxName); err != nil {
		return err
	}
	var err error
	if r.tags, err = memory.NormalizeTags(r.tags); err != nil {
		return err
	}
	r.ref = refOf(name)
	haul, err := read(ctx, r, name)
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	r.take(haul)
	return r.finish(ctx)
}

func (r *foreignImport) options() importer.Options {
	return importer.Options{Now: r.now, Collection: r.collection, Tags: r.tags}
}

// take makes records and relations of what was read.
func (r *foreignImport) take(haul *importer.Result) {
	r.report.Lines, r.report.Failed, r.report.Unlisted = haul.Met, haul.Unlisted, haul.Unlisted
	for _, skip := range haul.Skips {
		if skip.Minor {
			r.note(skip.Place, *cli.Problem(skip.Err))
		} else {
			r.fail(skip.Place, *cli.Problem(skip.Err))
		}
	}
	for i := range haul.Records {
		r.takeRecord(&haul.Records[i])
	}
	for _, rel := range haul.Relations {
		r.takeRelation(&rel)
	}
}

func (r *foreignImport) takeRecord(rec *importer.Record) {
	if err := r.checkForeign(&rec.Memory); err != nil {
		r.fail(rec.Place, *cli.Problem(err))
		return
	}
	if rec.Place.File != "" {
		r.ref = rec.Place.File
	}
	made, err := r.recordOf(&rec.Memory)
	if err != nil {
		r.fail(rec.Place, *cli.Problem(err))
		return
	}
	if rec.AccessCount > 0 {
		made.Use = &op.UseTotals{Accesses: rec.AccessCount, LastAccessed: rec.LastAccessed}
	}
	before, there := r.memories.byID[string(made.ID)]
	if there && !bytes.Equal(before.what.Fields["content"], made.Fields["content"]) {
		r.note(before.at, op.Problem{Code: memory.Conflict,
			Detail: fmt.Sprintf("%s has the same ID with a different text, and replaces this record",
				placeOf(&lineError{File: rec.Place.File, Line: rec.Place.Line, Path: rec.Place.Path}))})
	}
	if r.memories.put(string(made.ID), placed[op.Record]{rec.Place, made}) {
		r.report.Superseded++
	}
}

func (r *foreignImport) takeRelation(rel *importer.Relation) {
	made := storeRelation{from: rel.FromName, to: rel.ToName, RelateRequest: op.RelateRequest{
		From: string(rel.From), To: string(rel.To), Type: rel.Type, Kind: rel.Kind}}
	if rel.Context != "" {
		made.Metadata = map[string]json.RawMessage{"context": cli.JsonText(rel.Context)}
	}
	if err := memory.CheckText("the kind of relation", rel.Kind, memory.MaxKind); err != nil {
		r.fail(rel.Place, *cli.Problem(err))
		return
	}
	r.relations.put(memory.RelationID(rel.From, rel.To, rel.Type, rel.Kind), placed[storeRelation]{rel.Place, made})
}

// fileOf opens the one file of an import and has it read, with progress.
func (r *foreignImport) fileOf(ctx context.Context, name string, read fileReader) (*importer.Result, error) {
	in, total, err := openImport(ctx, r.s, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	p := cli.NewTransfer(r.s, "reading")
	defer p.Done()
	o := r.options()
	return read(&counted{Reader: in, progress: p, total: total}, &o)
}

// counted tells a progress of what is read.
type counted struct {
	io.Reader
	progress    *cli.Progress
	done, total int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.done += int64(n)
	c.progress.Reached(c.done, c.total)
	return n, err
}

// archived reports whether a file is an archive, by its first bytes.
func archived(name string) bool {
	f, err := durable.OpenGiven(name)
	if err != nil {
		return false // opening it again tells why
	}
	defer f.Close()
	head := make([]byte, 4)
	_, err = io.ReadFull(f, head)
	return err == nil && (string(head[:2]) == "\x1f\x8b" || string(head) == "PK\x03\x04")
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
