package memories

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

type listOptions struct {
	req    op.ListRequest
	within cli.Window
	all    bool
	asOf   cli.AsOf
}

func ListCommand(s *cli.App) *cobra.Command {
	var o listOptions
	cmd := cli.Command("list", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return runList(s, cmd, &o)
	})
	f := cmd.Flags()
	cli.FilterFlags(f, &o.req.Filter, &o.within)
	cli.Bind(f, &o.req, "sort=created", "limit,n=20", "cursor")
	o.asOf.Add(f, "list every memory")
	f.BoolVar(&o.all, "all", false, "")
	return cmd
}

func runList(s *cli.App, cmd *cobra.Command, o *listOptions) error {
	if err := cli.CheckLimit(cmd, o.req.Limit); err != nil {
		return err
	}
	o.req.WindowDays = o.within.Days
	if o.all && cmd.Flags().Changed("limit") {
		return cli.UsageError(cmd, "--all and --limit cannot be combined")
	}
	if o.all {
		o.req.Limit = memory.MaxResults
	}
	var err error
	if o.req.AsOf, err = o.asOf.Moment(s); err != nil {
		return err
	}
	res, err := pages(cmd.Context(), s, o)
	if err != nil {
		return err
	}
	return s.Found(res, len(res.Memories), func() { printList(s, res, !reflect.ValueOf(o.req.Filter).IsZero()) })
}

// pages fetches one page, or with --all every page into one result.
func pages(ctx context.Context, s *cli.App, o *listOptions) (*op.ListResult, error) {
	res, err := cli.Call(ctx, s, op.List, &o.req)
	if err != nil {
		return nil, err
	}
	for o.all && res.NextCursor != "" {
		o.req.Cursor = res.NextCursor
		next, err := cli.Call(ctx, s, op.List, &o.req)
		if err != nil {
			return nil, err
		}
		next.Memories = append(res.Memories, next.Memories...)
		res = next
	}
	return res, nil
}

func printList(s *cli.App, res *op.ListResult, filtered bool) {
	s.PrintThen(res.AsOf, false)
	if len(res.Memories) == 0 {
		s.Note("%s", cli.NoneListed(res.AsOf != nil, filtered))
		return
	}
	const head = "ID        AGE     SCORE  USED  "
	s.Printf("%s\n", s.Screen.Paint(cli.Faint, head+"TEXT"))
	for _, m := range res.Memories {
		s.Printf("%s  %s %6.2f %5s  %s\n", s.Short(m.ID), cli.Pad(cli.Age(s.Now(), m.CreatedAt), 6), m.Score,
			fmt.Sprintf("%d×", m.UseCount), summary(s, &m, len(head)))
	}
	if more := res.Total - len(res.Memories); res.NextCursor != "" && more > 0 {
		s.Note("%s of %s shown; use --all to see the rest", cli.Grouped(len(res.Memories)),
			cli.Count(res.Total, "memory", "memories"))
	}
}

// summary is the text of a memory and, where a third of the line is enough for
// them, its stage and tags.
func summary(s *cli.App, m *op.Memory, used int) string {
	text, tags := cli.OneLine(m.Content), cli.Tagged(m.Tags)
	if m.SupersededBy != "" {
		tags = strings.TrimSpace("superseded by " + m.SupersededBy.Short() + " " + tags)
	}
	if m.Stage != memory.Active {
		tags = strings.TrimSpace(string(m.Stage) + " " + tags)
	}
	if s.Screen.Width > 0 {
		room := max(12, s.Screen.Width-used)
		tags = cli.Cut(tags, room/3)
		if tags != "" {
			room -= uniseg.StringWidth(tags) + 2
			text = cli.Pad(text, room)
		}
		text = cli.Cut(text, room)
	}
	if tags == "" {
		return text
	}
	return text + "  " + s.Screen.Paint(cli.Cyan, tags)
}
