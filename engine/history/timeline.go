package history

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Defaults of a timeline.
const (
	timelineDays   = 90
	timelinePoints = 200
)

// TimelineEvents is the maximum number of events in a timeline. Some programs use a memory
// every few minutes for years.
const TimelineEvents = 1_000

// Timeline returns the score of a memory from its creation to some days ahead. It does not
// count as a use.
func (e *History) Timeline(ctx context.Context, req *op.TimelineRequest) (*op.TimelineResult, error) {
	ahead, n := cmp.Or(req.Days, timelineDays), cmp.Or(req.Points, timelinePoints)
	err := core.FirstError(memory.CheckRange("days", ahead, 0, core.MaxWindowDays),
		memory.CheckRange("points", float64(n), 2, 1000))
	if err != nil {
		return nil, err
	}
	row, err := e.Find(req.ID)
	if err != nil {
		return nil, err
	}
	versions, err := e.Stm.History(ctx, row.ID())
	if err != nil {
		return nil, err
	}
	uses, err := e.Stm.Uses(ctx, row.ID())
	if err != nil {
		return nil, err
	}
	now := e.Opt.Now()
	c := Curve{E: e, Row: row, Uses: uses, Strengths: StrengthsOf(versions)}
	from, to := row.CreatedAt(), now.Add(time.Duration(ahead*float64(24*time.Hour)))
	if !from.Before(to) {
		from = now
	}
	res := &op.TimelineResult{ID: row.ID(), Now: core.StampTime(now), Thresholds: e.Memories.Crossings(row, now),
		Stages: e.Memories.StagesAhead(row)}
	res.Events, res.EarlierEvents = LatestEvents(EventsOf(versions, uses))
	for _, at := range c.moments(from, to, now, n) {
		res.Points = append(res.Points, op.TimelinePoint{At: core.StampTime(at), Score: c.At(at)})
	}
	return res, nil
}

// Curve is the score of a memory over time.
type Curve struct {
	E         *History
	Row       *stm.Row
	Uses      []stm.UsedAt
	Strengths []strengthAt
}

// strengthAt is a strength and its start time.
type strengthAt struct {
	at       time.Time
	strength float64
}

// moments returns n evenly spaced times. The times of uses and now replace the nearest of
// them, so that no peak is missed.
func (c *Curve) moments(from, to, now time.Time, n int) []time.Time {
	out := make([]time.Time, n)
	step := to.Sub(from) / time.Duration(n-1)
	for i := range out {
		out[i] = from.Add(time.Duration(i) * step)
	}
	snap := func(at time.Time) {
		if i := int((at.Sub(from) + step/2) / max(step, 1)); 0 < i && i < n-1 {
			out[i] = at
		}
	}
	snap(now)
	for _, u := range c.Uses {
		snap(u.At)
	}
	return out
}

// At returns the score at a time, by the uses until then.
func (c *Curve) At(t time.Time) float64 {
	used, uses := c.Row.CreatedAt(), int64(0)
	for _, u := range c.Uses {
		if u.At.After(t) {
			break
		}
		used, uses = u.At, u.Uses
	}
	strength := c.Row.Strength()
	if len(c.Strengths) > 0 {
		strength = c.Strengths[0].strength
	}
	for _, s := range c.Strengths {
		if !s.at.After(t) {
			strength = s.strength
		}
	}
	score := c.E.Opt.Decay.Score(int(uses), used, t, strength)
	if c.Row.Core() {
		return max(1, score)
	}
	return score
}

// StrengthsOf returns the strengths in the log, oldest first.
func StrengthsOf(versions []stm.Version) (out []strengthAt) {
	for _, v := range versions {
		for _, f := range v.Fields {
			var from, to float64
			if f.Name != "strength" || json.Unmarshal(f.To, &to) != nil {
				continue
			}
			if json.Unmarshal(f.From, &from) == nil && len(out) == 0 {
				out = append(out, strengthAt{strength: from})
			}
			out = append(out, strengthAt{v.Entry.At, to})
		}
	}
	return out
}

// EventsOf returns the events of a memory, oldest first.
func EventsOf(versions []stm.Version, uses []stm.UsedAt) []op.TimelineEvent {
	out := []op.TimelineEvent{}
	for i := range versions {
		if what := eventWord(&versions[i]); what != "" {
			out = append(out, op.TimelineEvent{At: core.StampTime(versions[i].Entry.At), What: what})
		}
	}
	for _, u := range uses[1:] {
		out = append(out, op.TimelineEvent{At: core.StampTime(u.At), What: "used", Uses: u.Uses})
	}
	slices.SortStableFunc(out, func(a, b op.TimelineEvent) int { return a.At.Compare(b.At) })
	return out
}

// LatestEvents returns the events to show, and the number of earlier ones.
func LatestEvents(events []op.TimelineEvent) (latest []op.TimelineEvent, earlier int) {
	earlier = max(0, len(events)-TimelineEvents)
	return events[earlier:], earlier
}

// eventWord returns a word for a version, "" for emberd's own bookkeeping.
func eventWord(v *stm.Version) string {
	switch v.Action {
	case stm.Created:
		return "saved"
	case stm.Forgot:
		return "forgotten"
	case stm.Recovered:
		return "restored"
	}
	what := ""
	for _, f := range v.Fields {
		switch f.Name {
		case "stage":
			return stageChange(f)
		case "promoted_to":
			if f.From == nil && f.To != nil {
				return "promoted"
			}
		case "note_seen", "updated_at", "vault_path":
		default:
			what = "edited"
		}
	}
	return what
}

func stageChange(f stm.Field) string {
	var from, to memory.Stage
	// An invalid stage reads as active.
	_, _ = json.Unmarshal(f.From, &from), json.Unmarshal(f.To, &to)
	switch {
	case to == memory.Demoted, to == memory.Archived:
		return string(to)
	case to == memory.Rehydratable:
		return "faded"
	case from.Cold():
		return "rekindled"
	}
	return "woken"
}
