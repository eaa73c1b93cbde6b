package maintain

import "testing"

// TestDoctorNamesTheRepairThatAWarningAsksFor is for warnings that come from the daemon.
func TestDoctorNamesTheRepairThatAWarningAsksFor(t *testing.T) {
	for warning, want := range map[string]string{
		"a log record of this device is missing; run emberd doctor log repair, which looks for it": "emberd doctor log repair",
		"durability is none: a power cut may lose acknowledged memories":                           "emberd status",
	} {
		if got := nextOf(warning); got != want {
			t.Errorf("under %q next is %q, want %q", warning, got, want)
		}
	}
}
