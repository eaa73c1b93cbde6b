package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/cli/root"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// typing is a terminal at which somebody has typed a text. The file is the
// program's end of it.
func typing(t *testing.T, text string) *os.File {
	t.Helper()
	human, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { human.Close() })
	if err := unix.IoctlSetPointerInt(int(human.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(human.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { program.Close() })
	if _, err := human.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return program
}

// On a terminal a purge asks, and only a yes is one.
func TestAPurgeAsksOnATerminal(t *testing.T) {
	t.Parallel()
	d := runDaemonIn(t, filepath.Join(clitest.ShortDir(t), "h"))
	var there []memory.ID
	for _, c := range []struct {
		typed  string
		purges bool
	}{{"\n", false}, {"no\n", false}, {"yep\n", false}, {"\x04", false}, {"Y\n", true}, {" yes \n", true}} {
		t.Run(fmt.Sprintf("%q", c.typed), func(t *testing.T) {
			id := d.mustSave("lighthouse " + t.Name())
			s := cli.New()
			var out, said bytes.Buffer
			s.Stdin, s.Stdout, s.Stderr, s.Screen.Width = typing(t, c.typed), bufio.NewWriter(&out), &said, 80
			s.Env = cli.ForeignFree(s.Env)
			code := s.Run(t.Context(), root.RootCommand(s), []string{"purge", "--home", d.home, id.Short()})
			if !strings.Contains(said.String(), "permanently? You cannot undo this. [y/N]") {
				t.Errorf("it asked %q", said.String())
			}
			if want := map[bool]cli.ExitCode{true: cli.ExitDone, false: cli.ExitNothing}[c.purges]; cli.ExitCode(code) != want {
				t.Errorf("exit code %d, want %d; it said %q", code, want, said.String())
			}
			if purged := strings.HasPrefix(out.String(), "purged "); purged != c.purges {
				t.Errorf("it printed %q", out.String())
			}
			if !c.purges {
				there = append(there, id)
			}
			d.wantAll(there...)
		})
	}
}

// Ctrl+C ends a command that waits for what nobody types.
func TestStdinIsInterrupted(t *testing.T) {
	t.Parallel()
	h := newHousehold(t, "Lighthouses blink")
	for _, args := range [][]string{{"save", "-"}, {"import", "jsonl", "-"}, {"import", "notes", "-"}, {"analyze", "-"}} {
		s := onTerminal(t, false, h.env, args...)
		s.press("tea\r")
		s.see("that the line was read", func(screen string) bool {
			n, err := unix.IoctlGetInt(int(s.slave.Fd()), unix.TIOCINQ)
			return err == nil && n == 0 && strings.Contains(screen, "tea") && s.glass.row > 0
		})
		s.press(keyCtrlC)
		if code := s.ends(); code != int(cli.ExitInterrupted) {
			t.Errorf("%s: exit code %d, want %d", args, code, cli.ExitInterrupted)
		}
	}
}

// Ctrl+C ends a question, and is no yes.
func TestAQuestionIsInterrupted(t *testing.T) {
	t.Parallel()
	h := newHousehold(t, "Lighthouses blink")
	s := onTerminal(t, false, h.env, "purge", h.ids["Lighthouses"])
	s.sees("[y/N]")
	s.press(keyCtrlC)
	if code := s.ends(); code != int(cli.ExitInterrupted) {
		t.Errorf("exit code %d, want %d", code, cli.ExitInterrupted)
	}
	client := api.NewClient(filepath.Join(h.home, "emberd.sock"), nil)
	defer client.Close()
	if _, err := op.Show.Call(t.Context(), client, &op.ShowRequest{ID: h.ids["Lighthouses"]}); err != nil {
		t.Error(err)
	}
}
