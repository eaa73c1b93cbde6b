package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"emberd/internal/backup"
	"emberd/internal/durable"
)

// oldBackup is how old the newest backup may be while the log goes on.
const oldBackup = 72 * time.Hour

const makeBackup = "emberd backup create"

// Backups looks for the newest backup in a folder and reads every byte of it. The log began and something was
// saved last at the given times, zero for never.
func Backups(ctx context.Context, dir string, began, saved, now time.Time) ([]Finding, error) {
	f := Finding{Area: "backup", Next: makeBackup, Severity: Warning}
	m, name, err := backup.Newest(durable.OS{}, dir)
	switch {
	case err != nil:
		return nil, err
	case m == nil && (began.IsZero() || now.Sub(began) <= oldBackup):
		return nil, nil
	case m == nil:
		f.Code, f.Text = "backup-none", fmt.Sprintf("no backup in %s, and the log is %s old", dir, days(now.Sub(began)))
		return []Finding{f}, nil
	}
	path := filepath.Join(dir, name)
	if _, err := backup.Verify(ctx, durable.OS{}, path); errors.Is(err, backup.ErrDamaged) {
		f.Code, f.Text = "backup-damaged", fmt.Sprintf("the newest backup is damaged: %v", err)
		return []Finding{f}, nil
	} else if err != nil {
		return nil, err
	}
	age := now.Sub(m.Created)
	f.Text = fmt.Sprintf("the newest intact backup is %s, %s old", path, days(age))
	switch {
	case m.FromMemory+m.LostTrash > 0:
		f.Code = "backup-log-damaged"
		f.Text += fmt.Sprintf("; at that time, the log on disk lacked %d memories, which this "+
			"backup contains; to check the log again, create another backup", m.FromMemory)
	case age > oldBackup && saved.Sub(m.Created) > oldBackup:
		f.Code = "backup-old"
		f.Text += ", and memories have been saved since then"
	default:
		f.Severity, f.Next = OK, ""
	}
	return []Finding{f}, nil
}

// days is an age in hours or days.
func days(age time.Duration) string {
	if age < 48*time.Hour {
		return count(max(0, int(age.Hours())), "hour", "hours")
	}
	return count(int(age.Hours()/24), "day", "days")
}
