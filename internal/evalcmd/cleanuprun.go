package evalcmd

import (
	"context"
	"emberd/internal/cli"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"emberd/internal/eval"
	"emberd/internal/tempdaemon"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// cluttered is a generated store in a daemon.
type cluttered struct {
	s      *session
	o      *cleanupOptions
	store  *eval.Clutter
	daemon *tempdaemon.Daemon
	ids    []memory.ID // by the place of an entry
	places map[memory.ID]int
	report cleanupReport
}

// take has the store taken in.
func (r *cluttered) take(ctx context.Context) error {
	r.places = make(map[memory.ID]int)
	start := time.Now()
	for chunk := range slices.Chunk(r.store.Entries, op.MaxBatch) {
		var req op.ImportRequest
		for i := range chunk {
			rec, err := r.record(&chunk[i])
			if err != nil {
				return err
			}
			r.places[rec.ID] = len(r.ids)
			r.ids = append(r.ids, rec.ID)
			req.Records = append(req.Records, rec)
		}
		res, err := op.Import.Call(ctx, r.daemon, &req)
		if err != nil {
			return err
		}
		for _, a := range res.Results {
			if a.Error != nil {
				return fmt.Errorf("import an entry: %s", a.Error.Detail)
			}
		}
	}
	r.report.ImportMS = eval.Millis(time.Since(start))
	return r.daemon.WaitIndexed(ctx)
}

func (r *cluttered) record(e *eval.Cluttered) (op.Record, error) {
	id, err := memory.NewID()
	if err != nil {
		return op.Record{}, err
	}
	fields := maps.Clone(e.Fields)
	if fields == nil {
		fields = make(map[string]json.RawMessage)
	}
	values := map[string]any{"content": e.Text, "created_at": e.Created}
	if e.Kind == eval.Kept {
		values["core"] = true
	}
	for key, value := range values {
		if fields[key], err = json.Marshal(value); err != nil {
			return op.Record{}, err
		}
	}
	rec := op.Record{ID: id, Fields: fields}
	if e.Uses > 0 {
		rec.Use = &op.UseTotals{Uses: e.Uses,
			LastUsed: e.Created.Add(r.s.now().Sub(e.Created) / 2).Truncate(time.Millisecond)}
	}
	return rec, nil
}

// fates reads what became of the entries.
func (r *cluttered) fates(ctx context.Context) ([]eval.Fate, error) {
	fates := make([]eval.Fate, len(r.ids))
	for i, id := range r.ids {
		fates[i] = eval.Fate{ID: string(id), Gone: true} // unless it is exported
	}
	req := &op.ExportRequest{}
	for first := true; first || req.Cursor != ""; first = false {
		page, err := op.Export.Call(ctx, r.daemon, req)
		if err != nil {
			return nil, err
		}
		for i := range page.Records {
			r.fate(&page.Records[i], fates)
		}
		req.Cursor = page.NextCursor
	}
	return fates, nil
}

func (r *cluttered) fate(rec *op.Record, fates []eval.Fate) {
	own := &eval.Fate{}
	if place, ok := r.places[rec.ID]; ok {
		own = &fates[place]
	}
	own.Gone = !rec.Forgotten.IsZero()
	for key, value := range rec.Fields {
		switch {
		case key == "consolidated_into":
			_ = json.Unmarshal(value, &own.Into) // a merge wrote it
		case key == "superseded_by":
			_ = json.Unmarshal(value, &own.Successor) // as well
		case stm.IsRelationKey(key):
			if rel, err := stm.ParseRelation(rec.ID, key, value); err == nil {
				own.Related = append(own.Related, eval.Related{Kind: rel.Kind, ID: string(rel.To)})
				r.at(rel.To, fates, func(f *eval.Fate) {
					f.Related = append(f.Related, eval.Related{Kind: rel.Kind, ID: string(rec.ID)})
				})
			}
		case stm.IsReviewKey(key):
			if item, err := stm.ParseReviewItem(key, value); err == nil && !own.Gone {
				for _, id := range item.MemoryIDs {
					r.at(id, fates, func(f *eval.Fate) { f.Review = true })
				}
			}
		}
	}
}

func (r *cluttered) at(id memory.ID, fates []eval.Fate, do func(*eval.Fate)) {
	if place, ok := r.places[id]; ok {
		do(&fates[place])
	}
}

// ask asks a sample of the questions, always the same.
func (r *cluttered) ask(ctx context.Context, fates []eval.Fate) (a askedHow, err error) {
	all := r.store.Questions
	every := max(1, (len(all)+r.o.asked-1)/r.o.asked)
	n, ten := 0, 0
	for i := 0; i < len(all) && n < r.o.asked; i += every {
		res, err := op.Search.Call(ctx, r.daemon, &op.SearchRequest{Query: all[i].Text, Limit: 10, Trial: true})
		if err != nil {
			return a, err
		}
		want := r.store.Holders(all[i].Want, fates)
		n++
		if at := slices.IndexFunc(res.Hits, func(h op.Hit) bool {
			return h.Memory != nil && slices.Contains(want, string(h.ID)) || h.Note != nil && slices.Contains(want,
				string(h.Note.MemoryID))
		}); at >= 0 {
			ten++
			if at == 0 {
				a.first = append(a.first, all[i].Text)
			}
		}
	}
	r.report.Asked = n
	a.Precision, a.Recall = float64(len(a.first))/float64(n), float64(ten)/float64(n)
	return a, nil
}

func (s *session) printCleaned(r *cleanupReport, show int) {
	c, run := r.Cleaned, r.Run
	s.row("store", fmt.Sprintf("%s, seed %d", cli.Count(c.Entries, "entry", "entries"), r.Seed))
	s.row("run", fmt.Sprintf("%s in %s%s", run.State, tookMillis(run.Millis), whyNot(": ", run.RolledBack)))
	s.row("left", fmt.Sprintf("%s, %.1f %% fewer", cli.Grouped(c.After), 100*c.Reduction))
	found := func(f eval.Found) string {
		return fmt.Sprintf("%s removed for %d, %d rightly: precision %.3f, recall %.3f", cli.Grouped(f.Removed), f.All,
			f.Right, f.Precision, f.Recall)
	}
	s.row("duplicates", found(c.Duplicates))
	s.row("junk", fmt.Sprintf("%s; %d merged with other junk", found(c.Junk), c.JunkMerged))
	s.row("conflicts", solved(c.Conflicts))
	for _, kind := range slices.Sorted(maps.Keys(c.Kinds)) {
		s.row("", kind+": "+solved(c.Kinds[kind]))
	}
	s.row("questions", fmt.Sprintf("%d, before: precision %.3f, recall %.3f", r.Asked, r.Before.Precision,
		r.Before.Recall))
	s.row("", fmt.Sprintf("after: precision %.3f, recall %.3f", r.After.Precision, r.After.Recall))
	if n := len(r.Lost); n > 0 {
		s.row("", fmt.Sprintf("%d no longer answered first, such as %q", n, r.Lost[0]))
	}
	s.row("rolled back", map[bool]string{true: "as before", false: "not as before"}[r.Undone])
	s.row("wrong", cli.Count(len(c.Wrong), "step", "steps"))
	for _, w := range c.Wrong[:min(show, len(c.Wrong))] {
		s.printf("\n%s (%s)\n", w.What, w.Kind)
		for _, text := range w.Texts {
			s.printf("  %s\n", cli.Flat(text))
		}
	}
}

func solved(c eval.Solved) string {
	return fmt.Sprintf("%d, %d resolved rightly (%.1f %%), %d wrongly, %d for review, %d left", c.Groups, c.Right,
		100*float64(c.Right)/float64(max(1, c.Groups)), c.Wrong, c.Review, c.Left)
}

func whyNot(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + strings.TrimSpace(text)
}

func tookMillis(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).Round(time.Millisecond).String()
}
