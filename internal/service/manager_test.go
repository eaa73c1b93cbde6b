package service

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/memory"
)

// programs puts programs of a manager on PATH that note how they are called and then do
// what a script says, and returns what was noted so far. What a living manager makes of
// the calls is tested with one, in cmd/emberd.
func programs(t *testing.T, scripts map[string]string) func() string {
	t.Helper()
	dir := t.TempDir()
	notes := filepath.Join(dir, "notes")
	for name, script := range scripts {
		text := fmt.Sprintf("#!/bin/sh\necho %s \"$@\" >>'%s'\n%s\n", name, notes, script)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return func() string {
		text, _ := os.ReadFile(notes)
		if err := os.WriteFile(notes, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), filepath.Dir(notes), "DIR")
	}
}

func TestSystemctlIsCalled(t *testing.T) {
	noted := programs(t, map[string]string{"systemctl": "exit 0", "journalctl": "echo said"})
	m := UserManager{Dir: "/units", User: "ada"}
	var out bytes.Buffer
	for _, tt := range []struct {
		name string
		call func(context.Context) error
		want string
	}{
		{"enable", func(ctx context.Context) error { return m.Enable(ctx, false) },
			"systemctl --user daemon-reload\nsystemctl --user enable emberd.socket emberd.service\nsystemctl --user start emberd.socket emberd.service\n"},
		{"enable what was changed", func(ctx context.Context) error { return m.Enable(ctx, true) },
			"systemctl --user daemon-reload\nsystemctl --user enable emberd.socket emberd.service\nsystemctl --user restart emberd.socket emberd.service\n"},
		{"disable", m.Disable, "systemctl --user disable --now emberd.socket emberd.service\n"},
		{"forget", m.Forget, "systemctl --user daemon-reload\n"},
		{"start", m.Start, "systemctl --user reset-failed emberd.socket emberd.service\nsystemctl --user start emberd.socket emberd.service\n"},
		{"stop", m.Stop, "systemctl --user stop emberd.socket emberd.service\n"},
		{"restart", m.Restart, "systemctl --user reset-failed emberd.socket emberd.service\nsystemctl --user restart emberd.service\n"},
		{"logs", func(ctx context.Context) error { return m.Logs(ctx, &out, 20, true) },
			"journalctl --user --unit=emberd.service --no-pager --lines=20 --follow\n"},
	} {
		if err := tt.call(t.Context()); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got := noted(); got != tt.want {
			t.Errorf("%s called\n%s, want\n%s", tt.name, got, tt.want)
		}
	}
	if out.String() != "said\n" {
		t.Errorf("logs showed %q", &out)
	}
}

func TestStateOfAUnit(t *testing.T) {
	for said, want := range map[string]State{
		"MainPID=77\nResult=success\nActiveState=active\nSubState=running\nStatusText=serves 12\nUnitFileState=enabled":                     {Running: true, Enabled: true, PID: 77, Says: "active (running): serves 12"},
		"MainPID=0\nResult=start-limit-hit\nActiveState=failed\nSubState=failed\nStatusText=\nUnitFileState=disabled":                       {Says: "failed (failed), start-limit-hit"},
		"MainPID=0\nResult=success\nActiveState=inactive\nSubState=dead\nStatusText=\nUnitFileState=":                                       {Says: "inactive (dead)"},
		"MainPID=78\nResult=success\nActiveState=reloading\nSubState=reload\nUnitFileState=enabled\nWhatComesNext=in a version of ours=yes": {Running: true, Enabled: true, PID: 78, Says: "reloading (reload)"},
	} {
		programs(t, map[string]string{"systemctl": "cat <<'E'\n" + said + "\nE"})
		got, err := (UserManager{}).State(t.Context())
		if err != nil || *got != want {
			t.Errorf("of %q came %+v (%v), want %+v", said, got, err, want)
		}
	}
}

func TestWhyThereIsNoManagerIsSaid(t *testing.T) {
	for said, want := range map[string]string{
		"Failed to connect to bus: No medium found":                                                                "loginctl enable-linger ada",
		"System has not been booted with systemd as init system (PID 1). Can't operate.":                           "WSL without systemd=true",
		"Failed to connect to bus: $DBUS_SESSION_BUS_ADDRESS and $XDG_RUNTIME_DIR not defined (consider using ..)": "in a container",
		"Job for emberd.service failed because the control process exited with error code.":                        "with error code; to see the log of the daemon, run: emberd service logs",
		"": "no output",
	} {
		programs(t, map[string]string{"systemctl": "cat >&2 <<'E'\n" + said + "\nE\nexit 1"})
		err := (UserManager{User: "ada"}).Start(t.Context())
		if memory.CodeOf(err) != memory.Unavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("%q became %v, want %q in it", said, err, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	for _, err := range []error{(UserManager{}).Answers(t.Context()), (AgentManager{}).Answers(t.Context()), (UserManager{}).Logs(t.Context(), nil, 1, false)} {
		if memory.CodeOf(err) != memory.Unavailable || !strings.Contains(err.Error(), "on PATH") {
			t.Errorf("without programs: got %v", err)
		}
	}
}

// A unit that nothing ever went wrong with cannot be reset, and starts all the same.
func TestAUnitThatIsNotLoadedStarts(t *testing.T) {
	noted := programs(t, map[string]string{"systemctl": `[ "$2" != reset-failed ] || { echo "Failed to reset failed state of unit emberd.service: Unit emberd.service not loaded." >&2; exit 1; }`})
	if err := (UserManager{}).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := noted(); !strings.HasSuffix(got, "start emberd.socket emberd.service\n") {
		t.Errorf("called %s", got)
	}
}

// launchctl here loads, lets go and tells what it has, in a file.
const launchctl = `loaded="$(dirname "$0")/loaded"
case "$1 $2" in
"print gui/501") exit 0;;
"print gui/501/emberd") [ -e "$loaded" ] || exit 113; printf 'gui/501/emberd = {\n\tstate = running\n\n\tpid = 88\n}\n';;
bootstrap*) [ ! -e "$loaded" ] || { echo "Bootstrap failed: 5: Input/output error" >&2; exit 5; }; touch "$loaded";;
bootout*) rm "$loaded";;
esac`

func TestLaunchctlIsCalled(t *testing.T) {
	noted := programs(t, map[string]string{"launchctl": launchctl, "tail": "exit 0"})
	m := AgentManager{Dir: "/agents", UID: 501, Log: "/logs/emberd.log"}
	const ask = "launchctl print gui/501/emberd\n"
	for _, tt := range []struct {
		name string
		call func(context.Context) error
		want string
	}{
		{"answers", m.Answers, "launchctl print gui/501\n"},
		{"enable", func(ctx context.Context) error { return m.Enable(ctx, true) },
			ask + "launchctl enable gui/501/emberd\n" + ask + "launchctl bootstrap gui/501 /agents/emberd.plist\n"},
		{"enable again", func(ctx context.Context) error { return m.Enable(ctx, false) },
			"launchctl enable gui/501/emberd\n" + ask + "launchctl kickstart gui/501/emberd\n"},
		{"enable what was changed", func(ctx context.Context) error { return m.Enable(ctx, true) },
			ask + "launchctl bootout gui/501/emberd\n" + ask + "launchctl enable gui/501/emberd\n" + ask + "launchctl bootstrap gui/501 /agents/emberd.plist\n"},
		{"restart", m.Restart, ask + "launchctl kickstart -k gui/501/emberd\n"},
		{"stop", m.Stop, ask + "launchctl bootout gui/501/emberd\n" + ask},
		{"stop again", m.Disable, ask},
		{"start", m.Start, ask + "launchctl bootstrap gui/501 /agents/emberd.plist\n"},
		{"logs", func(ctx context.Context) error { return m.Logs(ctx, new(bytes.Buffer), 20, true) }, "tail -n 20 -F /logs/emberd.log\n"},
	} {
		if err := tt.call(t.Context()); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got := noted(); got != tt.want {
			t.Errorf("%s called\n%s, want\n%s", tt.name, got, tt.want)
		}
	}
	got, err := m.State(t.Context())
	if want := (State{Running: true, Enabled: true, PID: 88, Says: "running"}); err != nil || *got != want {
		t.Errorf("it is %+v (%v), want %+v", got, err, want)
	}
}
