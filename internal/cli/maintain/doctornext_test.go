package maintain

import "testing"

// TestDoctorNamesTheRepairThatAWarningAsksFor is for warnings that come from the daemon.
func TestDoctorNamesTheRepairThatAWarningAsksFor(t *testing.T) {
	for warning, want := range map[string]string{
		"1 log record of this device is missing from log file a; to look for missing records in all copies of the log, run: emberd doctor log repair": "emberd doctor log repair",
		"durability is \"none\", so a power failure can lose saved memories":                                                                          "emberd status",
	} {
		if got := nextOf(warning); got != want {
			t.Errorf("under %q next is %q, want %q", warning, got, want)
		}
	}
}
