package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"emberd/internal/foreign"
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
	use, short, long, example string
	arg                       string
	of                        [2]string // what the report counts
	read                      sourceReader
	flags                     func(cmd *cobra.Command)
}

func (s *state) foreignCommand(src foreignSource) *cobra.Command {
	r := &foreignImport{storeImport: storeImport{s: s}}
	cmd := &cobra.Command{
		Use:         src.use,
		Short:       src.short,
		Long:        src.long,
		Example:     src.example,
		Annotations: exits(endings{exitNothing: "a part of it could not be imported", exitNoDaemon: "", exitDisk: "", exitAgain: ""}),
		Args:        takes(1, 1, src.arg),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.report.of = src.of
			return r.runOn(cmd.Context(), args[0], src.read)
		},
	}
	storeFlags(cmd, &r.opt)
	cmd.Flags().StringSliceVarP(&r.tags, "tag", "t", nil, "add this `TAG` to all; repeatable")
	cmd.Flags().StringVar(&r.collection, "collection", "", "put all into the collection `NAME`")
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

func (r *foreignImport) options() foreign.Options {
	return foreign.Options{Now: r.now, Collection: r.collection, Tags: r.tags}
}

// take makes records and relations of what was read.
func (r *foreignImport) take(haul *foreign.Haul) {
	r.report.Lines, r.report.Failed, r.report.Unlisted = haul.Met, haul.Unlisted, haul.Unlisted
	for _, skip := range haul.Skips {
		if skip.Minor {
			r.note(skip.Place, *problem(skip.Err))
		} else {
			r.fail(skip.Place, *problem(skip.Err))
		}
	}
	for i := range haul.Records {
		r.takeRecord(&haul.Records[i])
	}
	for _, rel := range haul.Relations {
		r.takeRelation(&rel)
	}
}

func (r *foreignImport) takeRecord(rec *foreign.Record) {
	if err := r.checkForeign(&rec.Memory); err != nil {
		r.fail(rec.Place, *problem(err))
		return
	}
	if rec.Place.File != "" {
		r.ref = rec.Place.File
	}
	made, err := r.recordOf(&rec.Memory)
	if err != nil {
		r.fail(rec.Place, *problem(err))
		return
	}
	if rec.AccessCount > 0 {
		made.Use = &op.UseTotals{Accesses: rec.AccessCount, LastAccessed: rec.LastAccessed}
	}
	before, there := r.memories.byID[string(made.ID)]
	if there && !bytes.Equal(before.what.Fields["content"], made.Fields["content"]) {
		r.note(before.at, op.Problem{Code: memory.Conflict, Detail: fmt.Sprintf("%s has the same id and another text, and comes in in its place", placeOf(&lineError{File: rec.Place.File, Line: rec.Place.Line, Path: rec.Place.Path}))})
	}
	if r.memories.put(string(made.ID), placed[op.Record]{rec.Place, made}) {
		r.report.Superseded++
	}
}

func (r *foreignImport) takeRelation(rel *foreign.Relation) {
	made := storeRelation{from: rel.FromName, to: rel.ToName, RelateRequest: op.RelateRequest{
		From: string(rel.From), To: string(rel.To), Type: rel.Type, Kind: rel.Kind}}
	if rel.Context != "" {
		made.Metadata = map[string]json.RawMessage{"context": jsonText(rel.Context)}
	}
	if err := memory.CheckText("the kind of relation", rel.Kind, memory.MaxKind); err != nil {
		r.fail(rel.Place, *problem(err))
		return
	}
	r.relations.put(memory.RelationID(rel.From, rel.To, rel.Type, rel.Kind), placed[storeRelation]{rel.Place, made})
}

// fileOf opens the one file of an import and has it read, with progress.
func (r *foreignImport) fileOf(ctx context.Context, name string, read fileReader) (*foreign.Haul, error) {
	in, total, err := r.s.openImport(ctx, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	p := r.s.newTransfer("reading")
	defer p.done()
	o := r.options()
	return read(&counted{Reader: in, progress: p, total: total}, &o)
}

// counted tells a progress of what is read.
type counted struct {
	io.Reader
	progress    *progress
	done, total int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.done += int64(n)
	c.progress.reached(c.done, c.total)
	return n, err
}

// archived reports whether a file is an archive, by its first bytes.
func archived(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false // opening it again tells why
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	head := make([]byte, 4)
	_, err = io.ReadFull(f, head)
	return err == nil && (string(head[:2]) == "\x1f\x8b" || string(head) == "PK\x03\x04")
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
