package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Defaults of a timeline.
const (
	timelineDays   = 90
	timelinePoints = 200
)

// timelineEvents is how many events a timeline has at most. Some programs use a memory every
// few minutes for years.
const timelineEvents = 1_000

// timeline draws the score of a memory from when it was made to some days ahead.
// Asking is no use of it.
func (e *Engine) timeline(ctx context.Context, req *op.TimelineRequest) (*op.TimelineResult, error) {
	ahead, n := cmp.Or(req.Days, timelineDays), cmp.Or(req.Points, timelinePoints)
	err := firstError(memory.CheckRange("days", ahead, 0, maxWindowDays), memory.CheckRange("points", float64(n), 2, 1000))
	if err != nil {
		return nil, err
	}
	row, err := e.find(req.ID)
	if err != nil {
		return nil, err
	}
	versions, err := e.stm.History(ctx, row.ID())
	if err != nil {
		return nil, err
	}
	uses, err := e.stm.Uses(ctx, row.ID())
	if err != nil {
		return nil, err
	}
	now := e.opt.Now()
	c := curve{e: e, row: row, uses: uses, strengths: strengthsOf(versions)}
	from, to := row.CreatedAt(), now.Add(time.Duration(ahead*float64(24*time.Hour)))
	if !from.Before(to) {
		from = now
	}
	res := &op.TimelineResult{ID: row.ID(), Now: stampTime(now), Thresholds: e.crossings(row, now), Stages: e.stagesAhead(row)}
	res.Events, res.EarlierEvents = latestEvents(eventsOf(versions, uses))
	for _, at := range c.moments(from, to, now, n) {
		res.Points = append(res.Points, op.TimelinePoint{At: stampTime(at), Score: c.at(at)})
	}
	return res, nil
}

// curve is the score of a memory over time.
type curve struct {
	e         *Engine
	row       *stm.Row
	uses      []stm.UsedAt
	strengths []strengthAt
}

// strengthAt is a strength and since when it was.
type strengthAt struct {
	at       time.Time
	strength float64
}

// moments are n evenly spaced ones but for those nearest to a use and to now, which
// take their place, lest a peak be missed.
func (c *curve) moments(from, to, now time.Time, n int) []time.Time {
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
	for _, u := range c.uses {
		snap(u.At)
	}
	return out
}

// at is the score at a time, by the uses until then.
func (c *curve) at(t time.Time) float64 {
	used, uses := c.row.CreatedAt(), int64(0)
	for _, u := range c.uses {
		if u.At.After(t) {
			break
		}
		used, uses = u.At, u.Uses
	}
	strength := c.row.Strength()
	if len(c.strengths) > 0 {
		strength = c.strengths[0].strength
	}
	for _, s := range c.strengths {
		if !s.at.After(t) {
			strength = s.strength
		}
	}
	score := c.e.opt.Decay.Score(int(uses), used, t, strength)
	if c.row.Core() {
		return max(1, score)
	}
	return score
}

// strengthsOf are the strengths that the log tells of, oldest first.
func strengthsOf(versions []stm.Version) (out []strengthAt) {
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

// eventsOf tells what happened to a memory, oldest first.
func eventsOf(versions []stm.Version, uses []stm.UsedAt) []op.TimelineEvent {
	out := []op.TimelineEvent{}
	for i := range versions {
		if what := happened(&versions[i]); what != "" {
			out = append(out, op.TimelineEvent{At: stampTime(versions[i].Entry.At), What: what})
		}
	}
	for _, u := range uses[1:] {
		out = append(out, op.TimelineEvent{At: stampTime(u.At), What: "used", Uses: u.Uses})
	}
	slices.SortStableFunc(out, func(a, b op.TimelineEvent) int { return a.At.Compare(b.At) })
	return out
}

// latestEvents are those that are shown, and how many were before them.
func latestEvents(events []op.TimelineEvent) (latest []op.TimelineEvent, earlier int) {
	earlier = max(0, len(events)-timelineEvents)
	return events[earlier:], earlier
}

// happened says in a word what a version did, "" for what is emberd's own account.
func happened(v *stm.Version) string {
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
	// What is no text is no stage, and reads as active.
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
