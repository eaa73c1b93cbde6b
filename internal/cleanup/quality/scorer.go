package quality

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"emberd/internal/text"
)

// Ask asks a language model, as llm.Client.Complete does: a user's message under an
// instruction, for an answer of at most so many tokens.
type Ask func(ctx context.Context, system, user string, most int) (string, error)

// Options of a Scorer.
type Options struct {
	Ask     Ask           // nil: rules alone
	Model   string        // part of the key of the cache
	Cache   *Cache        // nil: none
	Batch   int           // texts in one question, 0: 8, at most 32
	Calls   int           // most questions of one run, 0: 100
	Timeout time.Duration // of one question, all tries included, 0: a minute
}

// Bounds of questions.
const (
	maxBatch       = 32
	maxText        = 4 << 10  // bytes of one text; of a longer one the beginning is judged
	maxQuestion    = 24 << 10 // bytes of the texts of one question
	tokensEach     = 100      // of an answer
	maxFailures    = 3        // questions in a row, then no more are asked
	defaultBatch   = 8
	defaultCalls   = 100
	defaultTimeout = time.Minute
)

// Usage is what a run took.
type Usage struct {
	Calls   int    // questions asked
	Cached  int    // entries whose answer was kept
	Judged  int    // entries that a model judged, kept answers included
	Refused int    // texts of which the answer was out of bounds
	Note    string // why rules alone judged some, "" if none
}

// Scorer judges with a model beside the rules. It may be shared.
type Scorer struct{ opt Options }

// NewScorer makes one.
func NewScorer(opt Options) *Scorer {
	opt.Batch = min(maxBatch, cmp.Or(max(0, opt.Batch), defaultBatch))
	opt.Calls = cmp.Or(max(0, opt.Calls), defaultCalls)
	opt.Timeout = cmp.Or(max(0, opt.Timeout), defaultTimeout)
	return &Scorer{opt: opt}
}

// Score returns the scores of all entries, in their order. It asks the model first about those
// that matter most for a cleanup, which the rules score lowest. Whatever a model answers, each
// entry has a score: an answer that is not exactly the requested JSON is ignored. Tell is
// called with the number of texts that the model was asked about and their total; it can be
// nil. The error is that of ctx, and only then there are no scores.
func (s *Scorer) Score(ctx context.Context, entries []Entry, now time.Time,
	tell func(done, total int)) ([]Score, Usage, error) {
	out := make([]Score, len(entries))
	for i := range entries {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, Usage{}, context.Cause(ctx)
		}
		out[i] = Heuristic(&entries[i], now)
	}
	if s.opt.Ask == nil {
		return out, Usage{}, nil
	}
	r := &run{Scorer: s, entries: entries, scores: out, tell: tell}
	r.remember()
	err := r.ask(ctx)
	if err != nil {
		return nil, Usage{}, err
	}
	return out, r.Usage, nil
}

// run is one judging.
type run struct {
	*Scorer
	Usage
	entries []Entry
	scores  []Score
	tell    func(done, total int)
	texts   []candidate // to ask about
	failed  int         // questions in a row
	lost    int         // answers that could not be used
	last    error
}

// candidate is a text to ask about, and whose it is.
type candidate struct {
	asked
	key   string
	of    []int // places
	floor float64
}

// remember blends in the answers that were kept, and gathers the texts of which there is none.
func (r *run) remember() {
	at := make(map[string]int)
	for i := range r.entries {
		words := text.FirstBytes(r.entries[i].Text, maxText)
		key := keyOf(r.opt.Model, words)
		if d, ok := r.opt.Cache.get(key); ok {
			r.blend(i, d)
			r.Cached++
			continue
		}
		j, ok := at[key]
		if !ok {
			j = len(r.texts)
			at[key] = j
			r.texts = append(r.texts,
				candidate{asked: asked{ID: key[:12], Text: words}, key: key, floor: r.scores[i].Floor})
		}
		t := &r.texts[j]
		t.of, t.floor = append(t.of, i), min(t.floor, r.scores[i].Floor)
	}
	slices.SortFunc(r.texts,
		func(a, b candidate) int { return cmp.Or(cmp.Compare(a.floor, b.floor), strings.Compare(a.key, b.key)) })
}

// ask asks about all texts, as far as calls and failures allow.
func (r *run) ask(ctx context.Context) error {
	total := len(r.texts)
	for len(r.texts) > 0 && r.Calls < r.opt.Calls && r.failed < maxFailures {
		batch := r.next()
		if err := r.question(ctx, batch); err != nil {
			return err
		}
		if r.tell != nil {
			r.tell(total-len(r.texts), total)
		}
	}
	r.note()
	return nil
}

// next takes the texts of one question.
func (r *run) next() []candidate {
	n, size := 0, 0
	for n < len(r.texts) && n < r.opt.Batch && (n == 0 || size+len(r.texts[n].Text) <= maxQuestion) {
		size += len(r.texts[n].Text)
		n++
	}
	batch := r.texts[:n]
	r.texts = r.texts[n:]
	return batch
}

// question asks about some texts. The error is that of ctx; what else goes wrong is counted.
func (r *run) question(ctx context.Context, batch []candidate) error {
	list, ids := make([]asked, len(batch)), make([]string, len(batch))
	for i, t := range batch {
		list[i], ids[i] = t.asked, t.ID
	}
	message, err := question(list)
	if err != nil {
		return err
	}
	patient, cancel := context.WithTimeout(ctx, r.opt.Timeout)
	answer, err := r.opt.Ask(patient, instruction, message, tokensEach*(len(batch)+1))
	cancel()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.Calls++
	var scores map[string]Dimensions
	if err == nil {
		scores, err = parse(answer, ids)
	}
	if err != nil {
		r.failed++
		r.lost++
		r.last = err
		return nil
	}
	r.failed = 0
	r.take(batch, scores)
	return nil
}

// take blends in the answers about some texts, and keeps them.
func (r *run) take(batch []candidate, scores map[string]Dimensions) {
	for _, t := range batch {
		d, ok := scores[t.ID]
		if !ok {
			r.Refused++
			continue
		}
		r.opt.Cache.put(t.key, d)
		for _, i := range t.of {
			r.blend(i, d)
		}
	}
}

// blend puts a model's numbers into a score: recency is the mean of both, since a model does
// not know of use, and the whole may rise freely and fall by [MaxLowered].
func (r *run) blend(i int, d Dimensions) {
	s := &r.scores[i]
	d.Recency = (d.Recency + s.Recency) / 2
	s.Dimensions = bounded(d)
	s.Overall = max(d.Overall(), rounded(s.Floor-MaxLowered), 0)
	s.Scorer, s.Model = ByLLM, r.opt.Model
	r.Judged++
}

// note says why rules alone judged some.
func (r *run) note() {
	var why []string
	if r.lost > 0 {
		why = append(why,
			fmt.Sprintf("the model returned no valid answer to %d of %d requests; last error: %v", r.lost, r.Calls,
				r.last))
	}
	if r.Refused > 0 {
		why = append(why, fmt.Sprintf("the model returned no valid scores for %d texts", r.Refused))
	}
	if len(r.texts) > 0 {
		at := "the run reached its limit of requests to the model"
		if r.failed >= maxFailures {
			at = "too many requests to the model failed in a row"
		}
		why = append(why, fmt.Sprintf("%d texts were not sent to the model, because %s", len(r.texts), at))
	}
	r.Note = strings.Join(why, "; ")
}
