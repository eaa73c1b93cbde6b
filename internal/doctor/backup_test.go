package doctor_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"emberd/internal/backup"
	"emberd/internal/doctor"
	"emberd/internal/durable"
)

// The newest backup is found, verified, and compared with what was saved since.
func TestBackupsByTheirAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for name, test := range map[string]struct {
		made     time.Duration // ago, 0 for none
		saved    time.Duration // ago, 0 for never
		lacked   int
		damaged  bool
		code     string
		severity doctor.Severity
	}{
		"none, and nothing saved": {},
		"none, and just begun":    {saved: time.Hour},
		"none":                    {saved: 5 * day, code: "backup-none", severity: doctor.Warning},
		"of today":                {made: time.Hour, saved: time.Minute, severity: doctor.OK},
		"old, and nothing since":  {made: 40 * day, saved: 40 * day, severity: doctor.OK},
		"old":                     {made: 40 * day, saved: time.Hour, code: "backup-old", severity: doctor.Warning},
		"damaged":                 {made: time.Hour, saved: time.Hour, damaged: true, code: "backup-damaged", severity: doctor.Warning},
		"of a damaged log":        {made: time.Hour, saved: time.Hour, lacked: 3, code: "backup-log-damaged", severity: doctor.Warning},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, saved := t.TempDir(), time.Time{}
			if test.saved > 0 {
				saved = now.Add(-test.saved)
			}
			for i, age := range []time.Duration{test.made + 10*day, test.made} {
				if test.made > 0 {
					pack(t, filepath.Join(dir, string(rune('a'+i))+".tar.gz"), backup.Manifest{Created: now.Add(-age),
						FromMemory: i * test.lacked})
				}
			}
			if test.damaged {
				must(t, os.WriteFile(filepath.Join(dir, "b.tar.gz"), flipped(t, filepath.Join(dir, "a.tar.gz")), 0o600))
				must(t, os.Remove(filepath.Join(dir, "a.tar.gz")))
			}
			got, err := doctor.Backups(t.Context(), dir, saved, saved, now)
			must(t, err)
			if test.severity == "" {
				if len(got) != 0 {
					t.Errorf("found %+v", got)
				}
				return
			}
			if len(got) != 1 || got[0].Code != test.code || got[0].Severity != test.severity || got[0].Text == "" {
				t.Errorf("found %+v", got)
			}
		})
	}
}

// flipped is a backup with another last byte.
func flipped(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	b[len(b)-1] ^= 1
	return b
}

func pack(t *testing.T, file string, m backup.Manifest) {
	t.Helper()
	_, err := backup.Create(t.Context(), durable.OS{}, t.TempDir(), file, m,
		func(_ string, size int64) (int64, bool) { return size, true },
		func(context.Context, *backup.Manifest) error { return nil })
	must(t, err)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
