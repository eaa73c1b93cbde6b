package cli

import (
	"errors"
	"fmt"
	"testing"

	"github.com/spf13/cobra"

	"emberd/memory"
)

func TestErrorsNameFlags(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args           []string
		message, field string
		want           string
	}{
		{[]string{"--limit", "0"}, "limit is 0, outside 1 to 100", "limit", "--limit is 0, outside 1 to 100"},
		{[]string{"--limit", "0"}, "limitless", "limit", "limitless"},
		{nil, "limit is 0, outside 1 to 100", "limit", "limit is 0, outside 1 to 100"},
		{[]string{"--min-score", "-1"}, "min_score is -1; give 0 or more", "min_score",
			"--min-score is -1; give 0 or more"},
		{[]string{"--evidence", "x"}, "new_evidence has 1001 characters", "new_evidence",
			"--evidence has 1001 characters"},
		{[]string{"--tag", "x"}, "51 tags given, more than 50", "tags", "51 tags given, more than 50"},
		{nil, "cursor belongs to a list as of another moment; use it with the same as_of", "cursor",
			"cursor belongs to a list as of another moment; use it with the same --as-of"},
		{nil, "set allow_secret (--allow-secret)", "content", "set allow_secret (--allow-secret)"},
		{[]string{"--limit", "0"}, "content is empty", "", "content is empty"},
	} {
		cmd := &cobra.Command{Use: "ask"}
		f := cmd.Flags()
		f.Int("limit", 1, "")
		f.Float64("min-score", 1, "")
		f.String("evidence", "", "")
		f.String("tag", "", "")
		f.String("as-of", "", "")
		f.Bool("allow-secret", false, "")
		if err := f.Parse(tt.args); err != nil {
			t.Fatal(err)
		}
		err := flagged(cmd, memory.Errorf(memory.Invalid, "%s", tt.message).At(tt.field))
		if err.Error() != tt.want || memory.CodeOf(err) != memory.Invalid {
			t.Errorf("%q after %v is told as %q, want %q", tt.message, tt.args, err, tt.want)
		}
	}
}

func TestOtherErrorsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	inner := memory.Errorf(memory.Invalid, "limit is 0").At("limit")
	for _, err := range []error{nil, errors.New("no"), fmt.Errorf("line 3: %w", inner),
		&Exit{Code: ExitLocked, Err: inner}} {
		if got := flagged(&cobra.Command{}, err); !errors.Is(got, err) || CodeOf(got) != CodeOf(err) {
			t.Errorf("%v became %v", err, got)
		}
	}
}
