package main

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

type listOptions struct {
	req    op.ListRequest
	within window
	all    bool
	asOf   asOf
}

func (s *state) listCommand() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List memories, newest first",
		Example: `  emberd list
  emberd list --tag security --sort score --limit 50
  emberd list --all --json | jq -r '.memories[].id'`,
		Annotations: exits(endings{exitNothing: "nothing found", exitNoDaemon: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.list(cmd, &o)
		},
	}
	f := cmd.Flags()
	filterFlags(f, &o.req.Filter, &o.within)
	f.StringVar(&o.req.Sort, "sort", "created", "largest first by `WHAT`: created, used, score, uses or accesses")
	f.IntVarP(&o.req.Limit, "limit", "n", 20, "at most `N` memories, 1 to 100")
	o.asOf.add(f, "list every memory")
	f.BoolVar(&o.all, "all", false, "list them all, page by page")
	f.StringVar(&o.req.Cursor, "cursor", "", "go on after `CURSOR`, the next_cursor of --json")
	return cmd
}

func (s *state) list(cmd *cobra.Command, o *listOptions) error {
	if err := checkLimit(cmd, o.req.Limit); err != nil {
		return err
	}
	settle(&o.req.Filter, o.within)
	if o.all && cmd.Flags().Changed("limit") {
		return wrong(cmd, "--all and --limit exclude each other; leave one out")
	}
	if o.all {
		o.req.Limit = memory.MaxResults
	}
	var err error
	if o.req.AsOf, err = o.asOf.moment(s); err != nil {
		return err
	}
	res, err := s.pages(cmd.Context(), o)
	if err != nil {
		return err
	}
	return s.found(res, len(res.Memories), func() { s.printList(res, !reflect.ValueOf(o.req.Filter).IsZero()) })
}

// found prints an answer, as JSON or for people, and ends with "nothing found"
// when it is empty.
func (s *state) found(answer any, n int, print func()) error {
	if s.json {
		if err := s.printJSON(answer); err != nil {
			return err
		}
	} else {
		print()
	}
	if n == 0 {
		return &exit{code: exitNothing}
	}
	return nil
}

// pages fetches one page, or with --all every page into one result.
func (s *state) pages(ctx context.Context, o *listOptions) (*op.ListResult, error) {
	res, err := call(ctx, s, op.List, &o.req)
	if err != nil {
		return nil, err
	}
	for o.all && res.NextCursor != "" {
		o.req.Cursor = res.NextCursor
		next, err := call(ctx, s, op.List, &o.req)
		if err != nil {
			return nil, err
		}
		next.Memories = append(res.Memories, next.Memories...)
		res = next
	}
	return res, nil
}

func (s *state) printList(res *op.ListResult, filtered bool) {
	s.printThen(res.AsOf, false)
	if len(res.Memories) == 0 {
		s.note("%s", noneListed(res.AsOf != nil, filtered))
		return
	}
	const head = "ID        AGE     SCORE  USED  "
	s.printf("%s\n", s.screen.paint(faint, head+"TEXT"))
	for _, m := range res.Memories {
		s.printf("%s  %s %6.2f %5s  %s\n", s.short(m.ID), pad(age(s.now(), m.CreatedAt), 6), m.Score,
			fmt.Sprintf("%d×", m.UseCount), s.summary(&m, len(head)))
	}
	if more := res.Total - len(res.Memories); res.NextCursor != "" && more > 0 {
		s.note("%s of %s shown; --all shows the rest", grouped(len(res.Memories)), count(res.Total, "memory", "memories"))
	}
}

func noneListed(then, filtered bool) string {
	switch {
	case filtered:
		return "no memory is like that; leave a filter out, or see them all with emberd list"
	case then:
		return "no memories were there"
	}
	return "no memories here; save one with: emberd save TEXT"
}

// summary is the text of a memory and, where a third of the line is enough for
// them, its stage and tags.
func (s *state) summary(m *op.Memory, used int) string {
	text, tags := oneLine(m.Content), clean(tagged(m.Tags))
	if m.SupersededBy != "" {
		tags = strings.TrimSpace("superseded by " + m.SupersededBy.Short() + " " + tags)
	}
	if m.Stage != memory.Active {
		tags = strings.TrimSpace(string(m.Stage) + " " + tags)
	}
	if s.screen.width > 0 {
		room := max(12, s.screen.width-used)
		tags = cut(tags, room/3)
		if tags != "" {
			room -= uniseg.StringWidth(tags) + 2
			text = pad(text, room)
		}
		text = cut(text, room)
	}
	if tags == "" {
		return text
	}
	return text + "  " + s.screen.paint(cyan, tags)
}
