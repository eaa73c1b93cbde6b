package stm_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"emberd/compaction"
	"emberd/internal/testutil/crashdisk"
	"emberd/stm"
	"emberd/stm/record"
)

// compacts folds all sealed files of the store, if there are any.
func compacts() step {
	return step{name: "compact", do: func(s *stm.Store) (string, error) {
		inputs := ownInputs(s)
		if len(inputs) == 0 {
			return "", nil
		}
		_, err := s.Rewrite(context.Background(), compaction.Job{Inputs: inputs, HistoryKeep: 90 * day})
		return "", err
	}}
}

// unlinks removes what was folded.
func unlinks() step {
	return step{name: "unlink", do: func(s *stm.Store) (string, error) {
		_, err := s.Unlink(context.Background(), s.Wal().Now().Add(time.Hour), time.Time{})
		return "", err
	}}
}

// foldLog is both.
func foldLog(s *stm.Store) error {
	for _, st := range []step{compacts(), unlinks()} {
		if _, err := st.do(s); err != nil {
			return err
		}
	}
	return nil
}

func ownInputs(s *stm.Store) (names []string) {
	files, _ := s.Segments()
	for _, g := range files {
		if g.Own && g.Kind != record.History && !g.Active {
			names = append(names, g.Name)
		}
	}
	return names
}

// aTidyDay is a life in between whose steps the log is folded, once over what
// could not be removed yet. Tortured like every operation, it is cases 29, 30
// and 32: every step of K0 to K9 fails, is cut, and is recovered from.
func aTidyDay() []step {
	return []step{
		request("edit", set(1, "content", "apple crumble")), request("forget", forgets(2, "banana split")), compacts(),
		undo(saved(2, "banana split")), request("save", saved(5, "elder flower")), use(1, 2), unlinks(),
		request("edit", set(5, "content", "elder bush")), compacts(), unlinks(), restore(saved(3, "mango cake")),
	}
}

func TestATidyDayFoldsTheLog(t *testing.T) {
	m := unused()
	m.small = true
	if err := m.live(append(oldLife(), aTidyDay()...), false); err != nil {
		t.Fatal(err)
	}
	if trace := strings.Join(m.disk.Trace(), "\n"); !strings.Contains(trace, "remove") || !strings.Contains(trace, "c-0000") {
		t.Errorf("nothing was compacted:\n%s", trace)
	}
	leftovers(t, m.disk)
}

// leftovers finds temporary files of a compaction.
func leftovers(t *testing.T, disk *crashdisk.Disk) {
	t.Helper()
	devices, err := disk.ReadDir("/data/stm")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		entries, err := disk.ReadDir("/data/stm/" + d.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), compaction.CompactPrefix) {
				t.Errorf("%s is still there", e.Name())
			}
		}
	}
}
