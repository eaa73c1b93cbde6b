package racescale

import (
	"os"
	"os/exec"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestPropertiesAreCheckedOnSoMany(t *testing.T) {
	want := usual / Share
	if given, err := strconv.Atoi(os.Getenv("RAPID_CHECKS")); err == nil {
		want = given
	}
	tried := 0
	rapid.Check(t, func(r *rapid.T) {
		rapid.Byte().Draw(r, "byte")
		tried++
	})
	if tried != want {
		t.Errorf("rapid tried %d inputs, want %d", tried, want)
	}
}

// What the caller asks for counts, by the variable as by the flag.
func TestTheNumberThatIsGivenCounts(t *testing.T) {
	again := exec.Command(os.Args[0], "-test.run", "^TestPropertiesAreCheckedOnSoMany$")
	again.Env = append(os.Environ(), "RAPID_CHECKS=7")
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("with RAPID_CHECKS=7: %v\n%s", err, out)
	}
}
