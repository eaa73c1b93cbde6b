package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"emberd/memory"
	"emberd/op"
)

func (s *state) statsCommand() *cobra.Command {
	var req op.StatsRequest
	var storage string
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count memories by stage, collection, project and tag",
		Example: `  emberd stats
  emberd stats --project emberd
  emberd stats --storage-path ~/old-memories`,
		Annotations: exits(endings{exitNoDaemon: "", exitLocked: ""}),
		Args:        takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Project = dotted(req.Project)
			req.Log = true
			res, err := s.stats(cmd.Context(), cmd.Flags().Changed("storage-path"), storage, &req)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printStats(res)
			return nil
		},
	}
	cmd.Flags().StringVar(&req.Project, "project", "", "only of this `PROJECT`; a dot is the enclosing git repository")
	cmd.Flags().StringVar(&req.Collection, "collection", "", "only of this `COLLECTION`")
	cmd.Flags().StringVar(&storage, "storage-path", "", "work on the data and state folders in `DIR`, without a daemon")
	return cmd
}

// stats asks the daemon or, for a folder that none serves, an engine of its own.
func (s *state) stats(ctx context.Context, alone bool, storage string, req *op.StatsRequest) (res *op.StatsResult, err error) {
	if !alone {
		return reach(ctx, s, op.Stats, req)
	}
	e, err := s.openStorage(storage)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return op.Stats.Call(ctx, e, req)
}

func (s *state) printStats(r *op.StatsResult) {
	s.printf("%s, %s in the trash; %s of log in %s\n", count(r.Total, "memory", "memories"), grouped(r.Trash),
		size(r.LogBytes), count(r.Segments, "segment", "segments"))
	s.printLogStats(r.Log)
	if r.Total == 0 {
		return
	}
	s.printf("saved %s to %s; score %.2f and %.1f uses on average\n",
		r.Oldest.In(s.zone).Format("2006-01-02"), r.Newest.In(s.zone).Format("2006-01-02"), r.AvgScore, r.AvgUses)
	stages := make(map[string]int)
	for st, n := range r.Stages {
		stages[string(st)] = n
	}
	var order []bucket
	for _, st := range memory.Stages() {
		order = append(order, bucket{string(st), stages[string(st)]})
	}
	s.bars("stage", order, r.Total)
	s.bars("collection", largest(r.Collections), r.Total)
	s.bars("project", largest(r.Projects), r.Total)
	var tags []bucket
	for _, t := range r.TopTags {
		tags = append(tags, bucket{t.Tag, t.Count})
	}
	s.bars("tag", tags, r.Total)
}

func (s *state) printLogStats(l *op.LogStats) {
	if l == nil {
		return
	}
	s.printf("of this device %s, %s no longer needed, %s of deletions; %s, %s of it dead, and %s of history\n",
		count(l.Lines, "line", "lines"), grouped(l.Duplicates), grouped(l.Tombstones), size(l.Bytes), size(l.Dead), size(l.HistoryBytes))
	due := "not due"
	if l.Due {
		due = "due"
	}
	s.printf("compaction is %s: %s\n", due, l.Why)
}

// bucket is one counted name.
type bucket struct {
	name string
	n    int
}

// largest orders counts by size and then by name.
func largest(counts map[string]int) []bucket {
	var out []bucket
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, bucket{name, counts[name]})
	}
	slices.SortStableFunc(out, func(a, b bucket) int { return cmp.Compare(b.n, a.n) })
	return out
}

// percent writes a share without calling anything nothing.
func percent(share float64) string {
	if share < 0.005 {
		return "<1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// bars draws the first buckets under a heading, each as a share of total.
func (s *state) bars(heading string, buckets []bucket, total int) {
	const most, nameWidth, cells = 10, 24, 20
	buckets = slices.DeleteFunc(slices.Clone(buckets), func(b bucket) bool { return b.n == 0 })
	if len(buckets) == 0 {
		return
	}
	s.printf("\n%s\n", s.screen.paint(faint, "by "+heading))
	width := 0
	shown := buckets[:min(most, len(buckets))]
	for i, b := range shown {
		shown[i].name = cut(cmp.Or(clean(b.name), "(none)"), nameWidth)
		width = max(width, uniseg.StringWidth(shown[i].name))
	}
	for _, b := range shown {
		share := float64(b.n) / float64(total)
		s.printf("  %s  %s %7s  %5s\n", pad(b.name, width), s.screen.paint(cyan, bar(share, cells)), grouped(b.n), percent(share))
	}
	if more := len(buckets) - most; more > 0 {
		s.printf("  %s\n", s.screen.paint(faint, fmt.Sprintf("and %d more", more)))
	}
}
