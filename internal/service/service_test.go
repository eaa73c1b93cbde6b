package service

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/memory"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// plain is a service as most have it, and the others differ from it in what their names say.
func plain() *Spec {
	return &Spec{
		Program: "/usr/local/bin/emberd", Args: []string{"serve"},
		Config: "/home/ada/.config/emberd/config.yaml", Socket: "/run/user/1000/emberd/emberd.sock",
		Writable: []string{"/home/ada/.local/share/emberd", "/home/ada/.local/state/emberd", "/home/ada/Notes"},
		Log:      "/Users/ada/Library/Logs/emberd.log",
	}
}

func specs() map[string]*Spec {
	network := plain()
	network.Network, network.Native = true, true
	network.Args = append(network.Args, "--set", "embedding.url=http://127.0.0.1:7330")
	network.Env = []string{"XDG_DATA_HOME=/data/ada"}

	odd := plain()
	odd.Program = `/opt/my tools/100%/emberd`
	odd.Args = []string{"serve", "--home", `/home/ada/"quoted" back\slash $HOME ${X} ; #1`, "--set", "promote.threshold=0.7"}
	odd.Env = []string{`XDG_DATA_HOME=/home/ada/My Data %h/$x "y"`, "XDG_STATE_HOME=/home/ada/état"}
	odd.Config = `/home/ada/--> "50%" <!-- x/config.yaml`
	odd.Socket = `/run/user/1000/a b %t "c" ' $d/emberd.sock`
	odd.Writable = []string{"/home/ada/Zettel kästen/笔记", `/home/ada/100% "sure"`, `/home/ada/a\b`, "/home/ada/it's <&>"}
	odd.Log = "/Users/ada/<Logs> & \"co\"/emberd.log"

	nested := plain()
	nested.Writable = []string{"/home/ada/Notes/.emberd/state", "/home/ada/Notes", "/home/ada/Notes/.emberd/data", "/home/ada/Notes", "/home/ada/Notes2"}
	return map[string]*Spec{"plain": plain(), "network": network, "odd": odd, "nested": nested}
}

func TestGolden(t *testing.T) {
	for name, s := range specs() {
		for _, render := range []func(*Spec) ([]File, error){Systemd, Launchd} {
			files, err := render(s)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, f := range files {
				golden := filepath.Join("testdata", name+"."+f.Name)
				if *update {
					if err := os.WriteFile(golden, f.Text, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(f.Text, want) {
					t.Errorf("%s is rendered as\n%s\nand not as %s has it", name, f.Text, golden)
				}
				if got := configOf(f.Text); got != s.Config {
					t.Errorf("%s of %s says that it is about %q, want %q", f.Name, name, got, s.Config)
				}
			}
		}
	}
}

// The units of a package are nobody's own, so service install may put others before them.
func TestPackagedUnits(t *testing.T) {
	files, err := Packaged("/usr/bin/emberd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		golden := filepath.Join("testdata", "packaged."+f.Name)
		if *update {
			if err := os.WriteFile(golden, f.Text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(f.Text, want) || configOf(f.Text) != "" {
			t.Errorf("rendered is\n%s\nand not %s", f.Text, golden)
		}
	}
}

// systemd itself reads what is rendered, without a word about it.
func TestSystemdReadsTheUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is missing: install systemd")
	}
	for name, s := range specs() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s.Program = filepath.Join(dir, filepath.Base(filepath.Dir(s.Program)), "emberd") // which has to be there
			if err := os.MkdirAll(filepath.Dir(s.Program), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.Program, []byte("#!/bin/sh\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			files, err := Systemd(s)
			if err != nil {
				t.Fatal(err)
			}
			paths, err := Write(dir, files)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(analyze, append([]string{"--user", "verify"}, paths...)...)
			cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "SYSTEMD_UNIT_PATH="+dir+":", "SYSTEMD_LOG_LEVEL=notice")
			if out, err := cmd.CombinedOutput(); err != nil || about(string(out), dir) != "" {
				t.Errorf("systemd-analyze verify: %v\n%s", err, out)
			}
		})
	}
}

// about returns the lines of what was said that are about files in dir: the system's own
// units may have faults of theirs. A systemd before version 254 does not know the lines of the
// backoff, and passes over them.
func about(said, dir string) string {
	var ours []string
	for line := range strings.Lines(said) {
		if strings.Contains(line, "Unknown key 'RestartSteps'") || strings.Contains(line, "Unknown key 'RestartMaxDelaySec'") {
			continue
		}
		if strings.Contains(line, dir) || strings.Contains(line, "emberd") {
			ours = append(ours, line)
		}
	}
	return strings.Join(ours, "")
}

func TestThePropertyListIsWellFormed(t *testing.T) {
	for name, s := range specs() {
		files, err := Launchd(s)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		d := xml.NewDecoder(bytes.NewReader(files[0].Text))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, files[0].Text)
			}
			if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
				texts = append(texts, string(text))
			}
		}
		for _, want := range slices.Concat([]string{s.Program, s.Log}, s.Args) {
			if !slices.Contains(texts, want) {
				t.Errorf("%s: the list does not say %q as it is", name, want)
			}
		}
	}
}

func TestWhatAFileCannotSayIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*Spec){
		"line break in an argument":      func(s *Spec) { s.Args = append(s.Args, "--home", "/a\nExecStartPre=/bin/evil") },
		"carriage return in the program": func(s *Spec) { s.Program = "/a\rb" },
		"bytes in a folder":              func(s *Spec) { s.Writable = append(s.Writable, "/a\xff") },
		"control character in a path":    func(s *Spec) { s.Socket = "/run/\x1b[2J/s" },
		"backslash at the socket's end":  func(s *Spec) { s.Socket = `/run/s\` },
		"blank at the socket's end":      func(s *Spec) { s.Socket = "/run/s " },
		"null in a variable":             func(s *Spec) { s.Env = []string{"XDG_DATA_HOME=/a\x00b"} },
	} {
		t.Run(name, func(t *testing.T) {
			s := plain()
			spoil(s)
			_, err := Systemd(s)
			if memory.CodeOf(err) != memory.Invalid || !strings.Contains(err.Error(), "choose another") {
				t.Errorf("got %v, want a refusal that says what to do", err)
			}
		})
	}
	s := plain()
	s.Log = "/a\nb"
	if _, err := Launchd(s); memory.CodeOf(err) != memory.Invalid {
		t.Errorf("a line break in a property list: got %v", err)
	}
}

func TestInstallingIsIdempotent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "systemd", "user")
	files, err := Systemd(plain())
	if err != nil {
		t.Fatal(err)
	}
	look := func(files []File, present, stale int) *Installed {
		t.Helper()
		in, err := Look(dir, files)
		if err != nil {
			t.Fatal(err)
		}
		if len(in.Present) != present || len(in.Stale) != stale {
			t.Fatalf("%d files are there and %d stale, want %d and %d: %+v", len(in.Present), len(in.Stale), present, stale, in)
		}
		return in
	}
	write := func(files []File, want int) {
		t.Helper()
		changed, err := Write(dir, files)
		if err != nil || len(changed) != want {
			t.Fatalf("wrote %q (%v), want %d", changed, err, want)
		}
	}
	look(files, 0, 0)
	write(files, 2)
	if in := look(files, 2, 0); in.Config != plain().Config {
		t.Errorf("it is about %q", in.Config)
	}
	write(files, 0)

	other := plain()
	other.Writable = append(other.Writable, "/home/ada/Work")
	now, err := Systemd(other)
	if err != nil {
		t.Fatal(err)
	}
	if in := look(now, 2, 1); filepath.Base(in.Stale[0]) != UnitName {
		t.Errorf("stale are %q, want the unit, which has another vault", in.Stale)
	}
	write(now, 1)

	if err := os.Remove(filepath.Join(dir, SocketName)); err != nil {
		t.Fatal(err)
	}
	in := look(now, 1, 1)
	removed, err := Remove(in.Present)
	if err != nil || len(removed) != 1 {
		t.Fatalf("removed %q (%v)", removed, err)
	}
	if removed, err = Remove(in.Present); err != nil || len(removed) != 0 {
		t.Errorf("removed %q again (%v)", removed, err)
	}
}

func TestWhatIsNotOursIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, UnitName)
	if err := os.WriteFile(mine, []byte("[Service]\nExecStart=/home/ada/bin/emberd serve\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := Systemd(plain())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Look(dir, files); memory.CodeOf(err) != memory.Conflict || !strings.Contains(err.Error(), "move the file to another folder") {
		t.Errorf("got %v, want a conflict", err)
	}
}
