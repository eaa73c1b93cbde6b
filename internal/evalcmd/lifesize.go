package evalcmd

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"emberd/memory"
	"emberd/op"
)

// measureSize compacts the log and measures what the store takes, before the first question.
func (l *life) measureSize(ctx context.Context) error {
	err := until(ctx, func() (bool, error) { // one in the background may be under way
		_, err := op.Compact.Call(ctx, l.e, &op.CompactRequest{})
		if memory.CodeOf(err) == memory.Busy {
			return false, nil
		}
		return true, err
	})
	if err == nil {
		err = l.e.Stm.WriteSnapshot(ctx)
	}
	files, listed := l.e.Stm.Segments()
	if err = errors.Join(err, listed); err != nil {
		return err
	}
	for _, f := range files {
		if !f.Replaced { // those that are go minutes later
			l.row.Log += f.Bytes
		}
	}
	l.row.Snapshot = sizeOf(l.e.Opt.State, "stm.snap")
	l.row.Heap = heapInUse() - l.heap
	return nil
}

// recency counts, over questions about what was updated or contradicted, how often the newest evidence is above the
// oldest. Evidence that is not among the first hundred is below all that is.
func (l *life) recency(ctx context.Context) error {
	created := map[string]time.Time{}
	for _, d := range l.set.Docs {
		created[d.Name] = d.Created
	}
	for _, q := range l.set.Questions {
		if !strings.Contains(q.Category, "update") && !strings.Contains(q.Category, "contradiction") {
			continue
		}
		oldest, newest := endsOf(l.set.Judgements[0].Relevant[q.ID], created)
		if oldest == newest {
			continue
		}
		res, err := op.Search.Call(ctx, l.e,
			&op.SearchRequest{Query: q.Text, Limit: memory.MaxResults, Track: new(bool)})
		if err != nil {
			return err
		}
		at := func(name string) int {
			for i := range res.Hits {
				if l.names[hitMemory(&res.Hits[i])] == name {
					return i
				}
			}
			return memory.MaxResults
		}
		if a, b := at(newest), at(oldest); a != b {
			l.row.Recency.Add(a < b)
		}
	}
	return nil
}

// restated saves facts that are stated twice, months apart, with different values and in wordings drawn at random, and
// counts how often the newer one ranks above the older.
func (l *life) restated(ctx context.Context) error {
	for i := range restatedFacts {
		res, err := op.Search.Call(ctx, l.e, &op.SearchRequest{Query: restatedQuestion(i), Limit: memory.MaxResults,
			Track: new(bool)})
		if err != nil {
			return err
		}
		for k := range res.Hits {
			name := l.names[hitMemory(&res.Hits[k])]
			if older, newer := restatedName(i, 0), restatedName(i, 1); name == older || name == newer {
				l.row.Restated.Add(name == newer)
				break
			}
		}
	}
	return nil
}

// restate adds the facts to a lifetime, the older statement after a quarter of the days and the newer after three.
func (l *lifetime) restate() {
	draw := rand.New(rand.NewPCG(1, 2)) // the same for every way of fading
	for version, at := range [2]int{len(l.days) / 4, 3 * len(l.days) / 4} {
		day := slices.Clone(l.days[at])
		for i := range restatedFacts {
			d := restatedDoc(i, version, draw)
			d.Created = day[0].Created
			day = append(day, d)
		}
		l.days[at] = day
	}
}
