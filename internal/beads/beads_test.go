package beads

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// program puts a bd on PATH that keeps the arguments of each call and then runs a script.
func program(t *testing.T, script string) (args func() string) {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf("#!/bin/sh\nfor a in \"$@\"; do printf '%%s|' \"$a\" >>%q; done; echo >>%q\n%s\n", dir+"/args", dir+"/args", script)
	if err := os.WriteFile(filepath.Join(dir, Program), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() string {
		b, err := os.ReadFile(dir + "/args")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

func TestCalls(t *testing.T) {
	args := program(t, `case $1 in
create) echo '{"id":"em-a1","title":"x"}' ;;
list) echo '[{"id":"em-a1","external_ref":"rev-1"},{"id":"em-2"},{"id":"-rf","external_ref":"rev-2"}]' ;;
*) echo '[]' ;;
esac`)
	tr := &Tracker{Dir: t.TempDir()}
	id, err := tr.Create(t.Context(), Issue{Ref: "rev-1", Title: "-decay: review", About: "a\nb", Labels: []string{"consolidation:decay", "urgency:high"}, Priority: 1})
	if err != nil || id != "em-a1" {
		t.Fatalf("made %q, %v", id, err)
	}
	for _, err := range []error{tr.Start(t.Context(), id, "--ann"), tr.Reopen(t.Context(), id), tr.Close(t.Context(), id, "keep")} {
		if err != nil {
			t.Error(err)
		}
	}
	refs, err := tr.Refs(t.Context())
	if err != nil || !maps.Equal(refs, map[string]string{"rev-1": "em-a1"}) {
		t.Errorf("the references are %v, %v", refs, err)
	}
	want := `create|--json|--title=-decay: review|--description=a
b|--external-ref=rev-1|--labels=consolidation:decay,urgency:high|--priority=1|--type=task|
update|em-a1|--json|--status=in_progress|--assignee=--ann|
update|em-a1|--json|--status=open|--assignee=|
close|em-a1|--json|--reason=keep|
list|--json|--limit=0|
`
	if got := args(); got != want {
		t.Errorf("it was called with\n%s, want\n%s", got, want)
	}
}

func TestWhatGoesWrong(t *testing.T) {
	for name, c := range map[string]struct{ script, says string }{
		"it fails":                 {"echo no database found >&2; echo more >&2; exit 1", `bd create: exit status 1: "no database found"`},
		"it says nothing":          {"", "bd create did not print the ID of an issue"},
		"it says what is no id":    {`echo '{"id":"--force"}'`, "bd create did not print the ID of an issue"},
		"it says very much":        {"head -c 9000000 /dev/zero", "more than 8388608 bytes"},
		"it is killed":             {"kill -9 $$", "signal: killed"},
		"something is left behind": {`(sleep 3) & echo '{"id":"em-1"}'`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			program(t, c.script)
			_, err := new(Tracker).Create(t.Context(), Issue{Title: "x"})
			if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

func TestNoProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := new(Tracker).Close(t.Context(), "em-1", "keep"); err == nil || !strings.Contains(err.Error(), "program bd not found on PATH, or its folder is missing") {
		t.Errorf("without a program: %v", err)
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	program(t, "exec sleep 60")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrDeadlineExceeded)
	if err := new(Tracker).Close(ctx, "em-1", "keep"); err == nil || !strings.Contains(err.Error(), os.ErrDeadlineExceeded.Error()) {
		t.Errorf("it ended with %v", err)
	}
}
