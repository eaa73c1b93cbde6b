package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"emberd/internal/clients"
	"emberd/internal/tempdaemon"
	"emberd/internal/text"
	"emberd/memory"
)

func Getenv(s *App, name string) string {
	for _, pair := range slices.Backward(s.Env) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// Again is a command as it has to be typed to be about what this one is about.
func Again(s *App, words ...string) string {
	return strings.Join(append([]string{"emberd"}, words...), " ") + placeFlags(s)
}

// placeFlags returns the flags of this command that say which daemon it is about, each after a space.
func placeFlags(s *App) (flags string) {
	for _, flag := range []struct{ name, value string }{{"--home", s.Home}, {"--config", s.ConfigFile},
		{"--socket", s.Socket}} {
		if flag.value != "" {
			flags += " " + flag.name + " " + text.ShellWord(flag.value)
		}
	}
	for _, set := range s.Set {
		flags += " --set " + text.ShellWord(set)
	}
	return flags
}

// hinted matches where a message names a command to run, as far as the name of the program.
var hinted = text.Pattern(`(?:\b(?:run|then|first|again|with|see|decide): |, or |with ")emberd `)

// placed adds flags that say which daemon a message is about to the commands that the message names, so that they work
// when they are copied.
func placed(message, flags string) string {
	if flags == "" || strings.Contains(message, flags) {
		return message
	}
	return hinted().ReplaceAllStringFunc(message,
		func(found string) string { return strings.TrimSuffix(found, " ") + flags + " " })
}

// format returns a format whose hints name this daemon.
func (s *App) format(format string) string {
	return placed(format, strings.ReplaceAll(placeFlags(s), "%", "%%"))
}

// ThisMachine is this one.
func ThisMachine(s *App) (clients.Machine, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return clients.Machine{}, memory.Errorf(memory.Invalid, "cannot determine the home directory; set HOME")
	}
	return clients.Machine{GOOS: runtime.GOOS, Home: home, Env: func(name string) string { return Getenv(s, name) }},
		nil
}

// PlaceArgs are the flags that say to another emberd what was said to this one, by flags or
// variables, about where the daemon is.
func PlaceArgs(s *App) (args []string, err error) {
	for _, place := range []struct{ flag, value, variable string }{
		{"--home", s.Home, "EMBERD_HOME"}, {"--config", s.ConfigFile, "EMBERD_CONFIG"},
		{"--socket", s.Socket, "EMBERD_SOCKET"},
	} {
		if place.value == "" {
			place.value = Getenv(s, place.variable)
		}
		if place.value == "" {
			continue
		}
		if !strings.HasPrefix(place.value, "~") { // which emberd reads itself
			if place.value, err = filepath.Abs(place.value); err != nil {
				return nil, err
			}
		}
		args = append(args, place.flag, place.value)
	}
	return args, nil
}

// ThisProgram is the path that this process was called by, which stays the same
// across upgrades where it is a link, or else the file it runs from.
func ThisProgram() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", memory.Errorf(memory.Internal, "cannot find the path of this program: %w", err)
	}
	called, err := exec.LookPath(os.Args[0])
	if err != nil {
		return exe, nil
	}
	if called, err = filepath.Abs(called); err != nil {
		return exe, nil
	}
	a, errA := os.Stat(called)
	b, errB := os.Stat(exe)
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		return exe, nil
	}
	return called, nil
}

// launchTime is how long Launch waits for the program to fail.
const launchTime = 2 * time.Second

// Launch gives the link to whatever the desktop opens links with, and returns an error if that fails soon.
// The program that it starts outlives the command.
func Launch(uri string) error {
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	opener := exec.Command(name, uri)
	err := opener.Start()
	if err == nil {
		ended := make(chan error, 1)
		go func() { ended <- opener.Wait() }() // which leaves no dead process, too
		select {
		case err = <-ended:
		case <-time.After(launchTime):
		}
	}
	if err != nil {
		return fmt.Errorf("%s could not open the link: %w; paste the link into a browser", name, err)
	}
	return nil
}

// ForeignFree returns the variables that are not settings.
func ForeignFree(env []string) []string { return tempdaemon.WithoutSettings(env) }
