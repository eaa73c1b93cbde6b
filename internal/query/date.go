package query

import (
	"fmt"

	"emberd/internal/when"
)

// bound narrows the time of hits. To exclude what was before a day is to ask for
// the rest, and the other way round. Of several bounds the narrowest holds.
func (p *parser) bound(it item, not bool) error {
	day, _, ok := when.Period(it.value, p.now)
	if !ok {
		return fmt.Errorf("invalid date in %s:%s; use 2026, 2026-03, 2026-03-09, today, yesterday, or an age "+
			"such as 7d, 2w, 3m or 1y; to search for the text itself, put the text in quotes", it.kind, clip(it.value))
	}
	q := &p.query
	if later := (it.kind == after) != not; later {
		if q.After.IsZero() || day.After(q.After) {
			q.After = day
		}
		return nil
	}
	if q.Before.IsZero() || day.Before(q.Before) {
		q.Before = day
	}
	return nil
}
