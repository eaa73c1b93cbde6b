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
		{[]string{"--limit", "0"}, "limit 0 is out of range (1 to 100)", "limit", "--limit 0 is out of range (1 to 100)"},
		{[]string{"--limit", "0"}, "limitless", "limit", "limitless"},
		{nil, "limit 0 is out of range (1 to 100)", "limit", "limit 0 is out of range (1 to 100)"},
		{[]string{"--min-score", "-1"}, "invalid min_score -1; use 0 or more", "min_score",
			"invalid --min-score -1; use 0 or more"},
		{[]string{"--evidence", "x"}, "new_evidence has 1001 characters", "new_evidence",
			"--evidence has 1001 characters"},
		{[]string{"--tag", "x"}, "51 tags given, more than 50", "tags", "51 tags given, more than 50"},
		{nil, "invalid cursor; use the as_of time of the previous page, or omit the cursor", "cursor",
			"invalid cursor; use the --as-of time of the previous page, or omit the cursor"},
		{nil, "set allow_secret (--allow-secret)", "content", "set allow_secret (--allow-secret)"},
		{[]string{"--limit", "0"}, "missing content; pass the text to save", "", "missing content; pass the text to save"},
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

func TestFlagsOnly(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"to save the text anyway, set allow_secret (--allow-secret)": "to save the text anyway, use --allow-secret",
		"to save the text again, use --again (again)":                "to save the text again, use --again",
		"the daemon uses --home (see above)":                         "the daemon uses --home (see above)",
	} {
		if got := FlagsOnly(message); got != want {
			t.Errorf("%q became %q, want %q", message, got, want)
		}
	}
}

func TestOtherErrorsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	inner := memory.Errorf(memory.Invalid, "limit 0 is out of range (1 to 10,000)").At("limit")
	for _, err := range []error{nil, errors.New("no"), fmt.Errorf("line 3: %w", inner),
		&Exit{Code: ExitLocked, Err: inner}} {
		if got := flagged(&cobra.Command{}, err); !errors.Is(got, err) || CodeOf(got) != CodeOf(err) {
			t.Errorf("%v became %v", err, got)
		}
	}
}
