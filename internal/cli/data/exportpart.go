package data

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

// part is what of the memories an export has.
type part struct {
	filter op.Filter
	within cli.Window
	ids    map[memory.ID]bool // once chosen; nil for all
}

// add adds the flags of emberd list that select memories.
func (p *part) add(cmd *cobra.Command) { cli.FilterFlags(cmd.Flags(), &p.filter, &p.within) }

// choose finds the memories that the flags select. That there are none is an error.
func (p *part) choose(ctx context.Context, s *cli.App) error {
	if p.filter.WindowDays = p.within.Days; reflect.ValueOf(p.filter).IsZero() {
		return nil
	}
	p.ids = make(map[memory.ID]bool)
	req := &op.ListRequest{Filter: p.filter, Limit: memory.MaxResults}
	for first := true; first || req.Cursor != ""; first = false {
		page, err := cli.Reach(ctx, s, op.List, req)
		if err != nil {
			return err
		}
		for i := range page.Memories {
			p.ids[page.Memories[i].ID] = true
		}
		req.Cursor = page.NextCursor
	}
	if len(p.ids) == 0 {
		return &cli.Exit{Code: cli.ExitNothing, Err: errors.New(cli.NoneListed(false, true))}
	}
	return nil
}

// all reports whether nothing is left out.
func (p *part) all() bool { return p.ids == nil }

// has reports whether a live memory is in it.
func (p *part) has(id memory.ID) bool { return p.all() || p.ids[id] }

// of are the records of a page that are in it. The trash is in none but all of it.
func (p *part) of(page []op.Record) []op.Record {
	return slices.DeleteFunc(page, func(r op.Record) bool {
		return !p.all() &&
			(!p.ids[r.ID] || !r.Forgotten.IsZero())
	})
}

// mark says in an export what it is a part of, nil if it is all.
func (p *part) mark() *op.Filter {
	if p.all() {
		return nil
	}
	return &p.filter
}
