package engine_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/op"
	"emberd/stm"
)

// Files of the log that are deleted or cut while the daemon runs are noticed by the next save or status, and written
// again from memory; status names them until then.
func TestALogThatIsDeletedWhileTheDaemonRuns(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"active deleted", "sealed deleted", "active cut", "noticed by a save"} {
		h := newHouse(t)
		h.Durability = stm.Full
		e := h.open(t)
		a := save(t, e, "the harbor wall")
		save(t, e, "quixotic zeppelin")
		do(t, e, op.Edit, &op.EditRequest{ID: string(a.ID), Content: new("the harbor wall is wet")})
		if how == "sealed deleted" {
			ok(t, e.Close())
			e = h.open(t)
		}
		files, err := filepath.Glob(filepath.Join(h.Data, "stm", "*", "*.jsonl"))
		ok(t, err)
		for _, name := range files {
			if how == "active cut" {
				ok(t, os.Truncate(name, 300))
				continue
			}
			ok(t, os.Remove(name))
		}
		want := records(t, e)
		if how == "noticed by a save" {
			save(t, e, "one more")
			want = records(t, e)
		} else if st := status(t, e); st.Health != "degraded" || !slices.ContainsFunc(st.Warnings,
			func(w string) bool { return strings.Contains(w, "log file s-00000001.jsonl") }) {
			t.Errorf("%s: %s, status says %q", how, st.Health, st.Warnings)
		}
		select {
		case <-e.Admin.NewFiles:
		default:
			t.Errorf("%s: nothing is to be refreshed", how)
		}
		e.Admin.Refresh(t.Context())
		if st := status(t, e); st.Health != "ok" {
			t.Errorf("%s: mended, status says %q", how, st.Warnings)
		}
		ok(t, e.Close())
		ok(t, os.RemoveAll(filepath.Join(h.State, "index")))
		e = h.open(t)
		if got := records(t, e); !maps.Equal(got, want) {
			t.Errorf("%s: after a start without snapshot\n %v\nwas\n %v", how, got, want)
		}
		if st := status(t, e); len(st.Warnings) > 0 {
			t.Errorf("%s: then status says %q", how, st.Warnings)
		}
		ok(t, e.Close())
	}
}
