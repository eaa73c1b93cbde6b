package stm_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"emberd/stm"
	"emberd/stm/wal"
)

// TestALogThatIsGoneIsNotBegunAnew removes all files of the log, and leaves device.json away or as a repair that was
// killed leaves it. Only the snapshot has the memories. No start may replace it, and a repair brings them back.
func TestALogThatIsGoneIsNotBegunAnew(t *testing.T) {
	for name, mangle := range map[string]func(deviceFile, was string) error{
		"without device.json": func(name, _ string) error { return os.Remove(name) },
		"after a repair that was killed": func(name, was string) error {
			return os.WriteFile(name, []byte(`{"device":"k7q2mzxa","machine":"0","last_segment":0,`+
				`"taken_over":{"`+was+`":"2026-11-24T00:00:00Z"}}`), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ts := openStore(t, wal.Options{})
			want := ts.livesOfThreeSegments()
			was := ts.Status().Device
			if err := ts.Close(); err != nil {
				t.Fatal(err)
			}
			err := errors.Join(os.RemoveAll(filepath.Join(ts.root, "data", "stm")),
				mangle(filepath.Join(ts.root, "state", "device.json"), was))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				s, err := stm.Open(filepath.Join(ts.root, "data"), filepath.Join(ts.root, "state"), &ts.opt)
				if !errors.Is(err, stm.ErrLogGone) {
					t.Fatalf("a start ends with %v", err)
				}
				if s != nil {
					t.Error("there is a store")
				}
			}
			ts.opt.Repair = true
			ts.open()
			ts.wantAll(want, "after a repair")
			ts.opt.Repair = false
			ts.withoutSnapshot()
			ts.wantAll(want, "after a start")
		})
	}
}
