package maintain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

func StatsCommand(s *cli.App) *cobra.Command {
	var req op.StatsRequest
	var storage string
	cmd := cli.Command("stats", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		alone := cmd.Flags().Changed("storage-path")
		req.Log = true
		res, err := stats(cmd.Context(), s, alone, storage, &req)
		if memory.CodeOf(err) == memory.Forbidden && !alone { // the log is that of all memories
			req.Log = false
			res, err = stats(cmd.Context(), s, alone, storage, &req)
		}
		if err != nil {
			return err
		}
		return s.Answer(res, func() { printStats(s, res) })
	})
	cli.ProjectFilter(cmd.Flags(), &req.Project)
	cli.Bind(cmd.Flags(), &req, "collection")
	cmd.Flags().StringVar(&storage, "storage-path", "", "")
	return cmd
}

// stats asks the daemon or, for a folder that none serves, an engine of its own.
func stats(ctx context.Context, s *cli.App, alone bool, storage string, req *op.StatsRequest) (res *op.StatsResult,
	err error) {
	if !alone {
		return cli.Reach(ctx, s, op.Stats, req)
	}
	e, err := openStorage(s, storage)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return op.Stats.Call(ctx, e, req)
}

func printStats(s *cli.App, r *op.StatsResult) {
	printLogStats(s, r)
	if r.Total == 0 {
		return
	}
	s.Printf("memories saved from %s to %s; average score %.2f, average number of uses %.1f\n",
		r.Oldest.In(s.Zone).Format("2006-01-02"), r.Newest.In(s.Zone).Format("2006-01-02"), r.AvgScore, r.AvgUses)
	stages := make(map[string]int)
	for st, n := range r.Stages {
		stages[string(st)] = n
	}
	var order []cli.Bucket
	for _, st := range memory.Stages() {
		order = append(order, cli.Bucket{Name: string(st), N: stages[string(st)]})
	}
	bars(s, "stage", order, r.Total)
	bars(s, "collection", cli.Largest(r.Collections), r.Total)
	bars(s, "project", cli.Largest(r.Projects), r.Total)
	var tags []cli.Bucket
	for _, t := range r.TopTags {
		tags = append(tags, cli.Bucket{Name: t.Tag, N: t.Count})
	}
	bars(s, "tag", tags, r.Total)
}

// printLogStats prints what there is in all, of which a token sees only the memories of its scopes.
func printLogStats(s *cli.App, r *op.StatsResult) {
	l := r.Log
	if l == nil {
		s.Printf("%s\n", cli.Count(r.Total, "memory", "memories"))
		s.Note(
			"the memory counts include only the scopes of the token; the figures of trash and log include all memories")
		return
	}
	s.Printf("%s, %s in the trash; %s of log in %s\n", cli.Count(r.Total, "memory", "memories"), cli.Grouped(r.Trash),
		cli.Size(r.LogBytes), cli.Count(r.Segments, "segment", "segments"))
	s.Printf("this device: %s, %s superseded, %s tombstones; %s, %s reclaimable, and %s of history\n",
		cli.Count(l.Lines, "line", "lines"), cli.Grouped(l.Duplicates), cli.Grouped(l.Tombstones), cli.Size(l.Bytes),
		cli.Size(l.Dead), cli.Size(l.HistoryBytes))
	due := "not due"
	if l.Due {
		due = "due"
	}
	s.Printf("compaction is %s: %s\n", due, l.Why)
}

// bars draws the first buckets under a heading, each as a share of total.
func bars(s *cli.App, heading string, buckets []cli.Bucket, total int) {
	const most, nameWidth, cells = 10, 24, 20
	buckets = slices.DeleteFunc(slices.Clone(buckets), func(b cli.Bucket) bool { return b.N == 0 })
	if len(buckets) == 0 {
		return
	}
	s.Printf("\n%s\n", s.Screen.Paint(cli.Faint, "by "+heading))
	width := 0
	shown := buckets[:min(most, len(buckets))]
	for i, b := range shown {
		shown[i].Name = cli.Cut(cmp.Or(cli.Clean(b.Name), "(none)"), nameWidth)
		width = max(width, uniseg.StringWidth(shown[i].Name))
	}
	for _, b := range shown {
		share := float64(b.N) / float64(total)
		s.Printf("  %s  %s %7s  %5s\n", cli.Pad(b.Name, width), s.Screen.Paint(cli.Cyan, cli.Bar(share, cells)),
			cli.Grouped(b.N), cli.Percent(share))
	}
	if more := len(buckets) - most; more > 0 {
		s.Printf("  %s\n", s.Screen.Paint(cli.Faint, fmt.Sprintf("and %d more", more)))
	}
}
