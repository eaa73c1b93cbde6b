package doctor

import (
	"fmt"
	"runtime"
	"time"
)

// skew is the difference between the clocks of devices that matters.
const skew = 10 * time.Minute

// Clock compares this device's clock with the newest time in the log, zero if there is none.
func Clock(now, newest time.Time) []Finding {
	ahead := newest.Sub(now)
	if newest.IsZero() || ahead < skew {
		return nil
	}
	next := "sudo timedatectl set-ntp true"
	if runtime.GOOS == "darwin" {
		next = "sudo sntp -sS time.apple.com"
	}
	return []Finding{{Area: "clock", Code: "clock-behind", Severity: Warning, Next: next,
		Text: fmt.Sprintf("the clock shows %s, but a record from this or another device has the "+
			"later time %s; if this clock is wrong, set it; otherwise wait until %s", stamp(now), stamp(newest),
			stamp(newest))}}
}

func stamp(t time.Time) string { return t.Format("2006-01-02 15:04") }
