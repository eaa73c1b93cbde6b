package evalcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"emberd/internal/eval"
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

// sizeOf sums up the files below a folder whose names end in suffix.
func sizeOf(dir, suffix string) (sum int64) {
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, suffix) {
			return nil
		}
		if info, err := d.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// heapInUse returns the bytes of live objects after a collection.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // what pools kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
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

// endsOf returns the oldest and the newest of the evidence of a question.
func endsOf(evidence map[string]int, created map[string]time.Time) (oldest, newest string) {
	for name := range evidence {
		if oldest == "" || created[name].Before(created[oldest]) ||
			created[name].Equal(created[oldest]) && name < oldest {
			oldest = name
		}
		if newest == "" || created[name].After(created[newest]) {
			newest = name
		}
	}
	if created[oldest].Equal(created[newest]) {
		return oldest, oldest
	}
	return oldest, newest
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

// restatedFacts is how many facts are stated twice.
const restatedFacts = 100

func restatedName(i, version int) string { return fmt.Sprintf("restated/%d/%d", i, version) }

// restatedWords are whom and what a fact is about.
func restatedWords(i int) (who, what string) {
	who = strings.Fields("Amara Bogdan Cressida Dmitri Eszter Fergus Greta Hamish Ilse Joaquin Kirsi Lorcan " +
		"Mireille Nils Oriana Pavel Quirine Rasmus Solveig Tariq")[i%20]
	return who, []string{"dentist", "locker number", "piano teacher", "favourite tea", "spare key"}[i/20]
}

func restatedQuestion(i int) string {
	who, what := restatedWords(i)
	return fmt.Sprintf("What is the %s of %s?", what, who)
}

// restatedDoc is one of the two statements of a fact, whose wording is drawn.
func restatedDoc(i, version int, draw *rand.Rand) eval.Doc {
	who, what := restatedWords(i)
	value := fmt.Sprintf("%s %d", strings.Fields("Alder Birch Cedar Dogwood Elm Fir")[draw.IntN(6)], 10+draw.IntN(80))
	format := []string{"The %[2]s of %[1]s is %[3]s.", "%[1]s told me that the %[2]s is %[3]s", "%[3]s: %[1]s, %[2]s",
		"By the way, for %[1]s the %[2]s is %[3]s these days."}[draw.IntN(4)]
	return eval.Doc{Name: restatedName(i, version), Content: fmt.Sprintf(format, who, what, value)}
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
