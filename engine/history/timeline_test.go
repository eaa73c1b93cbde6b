package history_test

import (
	"testing"
	"time"

	"emberd/engine/history"
	"emberd/stm"
)

// Of a memory that a program uses all the time the latest events are told, and how many
// were before.
func TestATimelineIsBounded(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	uses := []stm.UsedAt{{At: made}}
	for i := range int64(history.TimelineEvents + 200) {
		uses = append(uses, stm.UsedAt{At: made.Add(time.Duration(i+1) * time.Minute), Uses: i + 1})
	}
	got, earlier := history.LatestEvents(history.EventsOf([]stm.Version{{Entry: stm.Entry{At: made},
		Action: stm.Created}}, uses))
	if len(got) != history.TimelineEvents || earlier != 201 || got[0].Uses != 201 ||
		got[len(got)-1].Uses != history.TimelineEvents+200 {
		t.Errorf("%d events from %+v to %+v, and %d earlier ones", len(got), got[0], got[len(got)-1], earlier)
	}
	if got, earlier := history.LatestEvents(history.EventsOf(nil, uses[:3])); len(got) != 2 || earlier != 0 {
		t.Errorf("of two events there are %d, and %d earlier ones", len(got), earlier)
	}
}
