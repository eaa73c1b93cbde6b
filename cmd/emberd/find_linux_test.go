package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/op"
)

// household is a daemon with a vault of one note, some memories, and programs that use it.
type household struct {
	home   string
	env    []string
	daemon *daemonProcess
	ids    map[string]string // of memories, by their first word
}

func newHousehold(t *testing.T, texts ...string) *household {
	t.Helper()
	dir := clitest.ShortDir(t)
	h := &household{home: filepath.Join(dir, "h"), ids: map[string]string{}}
	vault := filepath.Join(dir, "vault")
	writeFile(t, filepath.Join(vault, "House.md"), "# House\n\nBuilt by the river.\n\n## Kitchen\n\nThe kettle is blue.\n\n## Cellar\n\nDry.\n")
	h.env = append(cli.ForeignFree(os.Environ()), "EMBERD_HOME="+h.home, "PATH="+dir+":"+os.Getenv("PATH"))
	h.start(t, "--vault", vault)
	client := api.NewClient(filepath.Join(h.home, "emberd.sock"), nil)
	defer client.Close()
	for _, text := range texts {
		res, err := op.Save.Call(t.Context(), client, &op.SaveRequest{Content: text})
		if err != nil {
			t.Fatal(err)
		}
		h.ids[strings.Fields(text)[0]] = string(res.Memory.ID)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		res, err := op.Search.Call(t.Context(), client, &op.SearchRequest{Query: "river", Scope: "notes", Trial: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Hits) > 0 {
			return h
		}
		if time.Now().After(deadline) {
			t.Fatal("the note is not in the index after a minute")
		}
	}
}

func (h *household) start(t *testing.T, args ...string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d, err := startDaemon(t.Context(), exe, h.home, h.home+".log", cli.ForeignFree(os.Environ()), args...)
	if err != nil {
		t.Fatal(err)
	}
	h.daemon = d
	t.Cleanup(func() { _ = d.stop(syscall.SIGKILL) }) // it may have been stopped
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

const (
	keyEnter = "\r"
	keyTab   = "\t"
	keyEsc   = "\x1b"
	keyDown  = "\x1b[B"
	keyCtrlC = "\x03"
	pasted   = "\x1b[200~%\x1b[201~"
)

// What somebody picks on the screen is the output, and nothing else is.
func TestFindOnATerminal(t *testing.T) {
	t.Parallel()
	h := newHousehold(t, "Teapots break", "Saucers break", "東京 is far 👩‍💻 away", "Steered \x1b[2J\u202eaway")
	for _, c := range []struct {
		name, words string
		steps       []string // what is seen, then what is pressed
		want        string
		code        int
	}{
		{"words of the command line", "teapots", []string{"▌ " + h.short("Teapots"), keyEnter}, h.ids["Teapots"], 0},
		{"typed", "", []string{"latest 4 of 4", "saucers", "▌ " + h.short("Saucers"), keyTab}, h.ids["Saucers"], 0},
		{"enter before the answer", "", []string{"latest 4 of 4", "saucers" + keyEnter}, h.ids["Saucers"], 0},
		{"the second", "break", []string{"▌", keyDown + keyEnter}, "", 0},
		{"pasted lines", "", []string{"latest", strings.Replace(pasted, "%", "saucers\rzebra\n", 1), "find  saucers zebra", keyTab}, h.ids["Saucers"], 0},
		{"a note", "kettle", []string{"The kettle is blue.", keyEnter}, "House.md", 0},
		{"wide characters", "東京", []string{"東京 is far", keyEnter}, h.ids["東京"], 0},
		{"what would steer the terminal", "steered", []string{"Steered ⟨U+001B⟩[2J⟨U+202E⟩away", keyTab}, h.ids["Steered"], 0},
		{"nothing to pick", "zebra", []string{"no results", keyEnter + keyEsc}, "", 130},
		{"left", "", []string{"latest", keyCtrlC}, "", 130},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := onTerminal(t, true, h.env, "find", c.words)
			for i, step := range c.steps {
				if i%2 == 0 {
					s.sees(step)
				} else {
					s.press(step)
				}
			}
			if code := s.ends(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			got := s.stdout.String()
			if c.name == "the second" { // whichever it is
				if !regexp.MustCompile(`^[0-9a-f-]{36}\n$`).MatchString(got) {
					t.Errorf("stdout is %q, want an id", got)
				}
				return
			}
			if want := c.want + strings.Repeat("\n", min(1, len(c.want))); got != want {
				t.Errorf("stdout is %q, want %q", got, want)
			}
		})
	}
}

func (h *household) short(word string) string { return h.ids[word][28:] }

// The preview of a note is the section that matched, and no more; a smaller window has it
// too.
func TestFindShowsTheSection(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	s := onTerminal(t, true, h.env, "find", "kettle")
	if screen := s.sees("## Kitchen"); strings.Contains(screen, "Dry.") || !strings.Contains(screen, "The kettle is blue.") {
		t.Errorf("the preview is not the section:\n%s", screen)
	}
	s.resize(40, 10)
	s.see("a small screen", func(screen string) bool {
		return strings.Contains(screen, "The kettle is blue.") && strings.HasSuffix(screen, "esc: exit")
	})
	s.press(keyEsc)
	s.ends()
}

// On a terminal enter opens a note with what the desktop has for links.
func TestFindOpensANote(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	opened := filepath.Join(filepath.Dir(h.home), "opened")
	writeFile(t, filepath.Join(filepath.Dir(h.home), "xdg-open"), "#!/bin/sh\nprintf %s \"$1\" > '"+opened+"'\n")
	s := onTerminal(t, false, h.env, "find", "kettle")
	s.sees("enter: open")
	s.press(keyEnter)
	if code := s.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.sees("obsidian://open?")
	link, err := os.ReadFile(opened)
	if err != nil || !strings.HasPrefix(string(link), "obsidian://open?file=House.md") {
		t.Errorf("opened %q, %v", link, err)
	}
}

// A watched status tells that the daemon went and that it is back, and q leaves it.
func TestStatusWatch(t *testing.T) {
	t.Parallel()
	h := newHousehold(t, "Teapots break")
	s := onTerminal(t, false, h.env, "status", "--watch=200ms")
	s.sees("● ok")
	s.sees("every 200ms   q quits")
	if err := h.daemon.stop(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.sees("● no answer since")
	s.sees("memories       1") // what was last known stays
	h.start(t)
	s.see("the daemon again", func(screen string) bool {
		return strings.Contains(screen, "● ok") && !strings.Contains(screen, "no answer")
	})
	s.resize(60, 8)
	s.sees("more lines; enlarge the window to see them")
	s.press("q")
	if code := s.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A signal ends what has the whole screen, and gives the terminal back.
func TestFullScreensEndBySignals(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	for _, args := range [][]string{{"find"}, {"status", "--watch"}} {
		s := onTerminal(t, false, h.env, args...)
		s.see("something", func(screen string) bool { return strings.TrimSpace(screen) != "" })
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if code := s.ends(); code != int(cli.ExitInterrupted) {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}
