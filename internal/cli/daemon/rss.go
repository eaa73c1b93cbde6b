package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// Resident is how much memory a process takes, in bytes; 0 where that cannot be told.
func Resident(pid int) int64 {
	if pid == 0 {
		return 0
	}
	if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)); err == nil { // proc_pid_statm(5)
		if fields := strings.Fields(string(raw)); len(fields) > 1 {
			pages, err := strconv.ParseInt(fields[1], 10, 64)
			if err == nil {
				return pages * int64(os.Getpagesize())
			}
		}
		return 0
	}
	// As macOS has it, where there is no /proc.
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0
	}
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}
