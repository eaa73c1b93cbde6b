package engine

import (
	"context"
	"fmt"

	"emberd/memory"
	"emberd/op"
)

// farther says how far its meaning is from that of the question, "" without vectors.
func (d *doubt) farther(q *question) string {
	if q.sense == nil {
		return ""
	}
	s := q.sense()
	if s.sense == nil {
		return ""
	}
	cosine, known := d.cosine(s.sense)
	if !known {
		return ", and what it means is not known yet"
	}
	return fmt.Sprintf(", and what it means is not near (%.2f, and %.2f is)", s.near(cosine), leastNear)
}

func (d *doubt) cosine(s *sense) (float64, bool) {
	if d.row != nil {
		return s.cosine(d.row.ID())
	}
	return s.cosineOfNote(d.path)
}

// crowdedOut tells of what matches by its meaning when it is asked about alone, and is not
// among the nearest of all.
func (d *doubt) crowdedOut(ctx context.Context) {
	fix := fmt.Sprintf("raise the limit to %d (--limit %d)", memory.MaxResults, memory.MaxResults)
	if own := d.telling(ctx); len(own) > 0 {
		fix = "search for " + quoted(own[:1]) + ", which it has"
	}
	d.cause(op.WhyLimit, fix, "it holds none of the words, and %d others are nearer in what they mean", mostNear)
}
