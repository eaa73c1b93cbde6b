package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/cli"
	"emberd/internal/config"
)

// written has the pages of the manual written into a folder, by the program itself.
func written(t *testing.T, env ...string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	cmd := exec.Command("emberd", "man", folder)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SOURCE_DATE_EPOCH=") }), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return folder
}

func pageText(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	// As it reads, without what only formatters see.
	return strings.NewReplacer(`\fB`, "", `\fI`, "", `\fR`, "", `\-`, "-", `\(aq`, "'", "\n", " ").Replace(string(text))
}

// listed returns a command and those below it that have a page.
func listed(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if cli.IsDocumented(sub) {
			all = append(all, listed(sub)...)
		}
	}
	return all
}

// Every command, but for modes and other names, has a page with its flags, its exit codes and its examples.
func TestManualHasAPageForEveryCommand(t *testing.T) {
	t.Parallel()
	folder := written(t)
	all := tree()[0]
	pages := listed(all)
	if len(pages) < 100 {
		t.Errorf("help lists %d commands", len(pages))
	}
	for _, c := range pages {
		text := pageText(t, folder, filepath.Join("man1", strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if name, _ := pflag.UnquoteUsage(f); !f.Hidden && !strings.Contains(text, strings.TrimSpace("--"+f.Name+" "+name)+" ") {
				t.Errorf("%s: its page does not have --%s %s", c.CommandPath(), f.Name, name)
			}
		})
		for line := range strings.Lines(c.Annotations["exit"]) {
			if code := strings.Fields(line)[0]; !strings.Contains(text, ".TP "+code+" ") {
				t.Errorf("%s: its page does not have exit code %s", c.CommandPath(), code)
			}
		}
		for _, part := range []string{`.SH "SYNOPSIS" ` + c.CommandPath(), `.SH "DESCRIPTION"`, `.SH "EXAMPLES"`, `.SH "SEE ALSO"`, ".BR emberd-config (5)"} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: its page does not have %q", c.CommandPath(), part)
			}
		}
	}
	if found, err := filepath.Glob(filepath.Join(folder, "man1", "*")); err != nil || len(found) != len(pages)+1 {
		t.Errorf("%d pages of %d commands and the helper (%v)", len(found), len(pages), err)
	}
}

func TestManualHasEverySetting(t *testing.T) {
	t.Parallel()
	text := pageText(t, written(t), filepath.Join("man5", "emberd-config.5"))
	c, err := config.Load(config.Source{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Effective() {
		if !strings.Contains(text, ".TP "+s.Key+" ") || !strings.Contains(text, "variables: "+strings.Join(s.Variables, ", ")+" ") {
			t.Errorf("the page does not have the setting %s", s.Key)
		}
	}
}

// Pages that are seen from a page are there.
func TestManualRefersToPages(t *testing.T) {
	t.Parallel()
	folder := written(t)
	found, err := filepath.Glob(filepath.Join(folder, "man?", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(raw), ".SH \"SEE ALSO\"\n")
		for line := range strings.Lines(after) {
			words := strings.Fields(strings.ReplaceAll(line, `\-`, "-")) // .BR emberd-save (1),
			section := words[2][1:2]
			if _, err := os.Stat(filepath.Join(folder, "man"+section, words[1]+"."+section)); err != nil {
				t.Errorf("%s refers to %s: %v", filepath.Base(file), words[1], err)
			}
		}
	}
}

func TestManualHasTheDateThatItIsTold(t *testing.T) {
	t.Parallel()
	const day = "SOURCE_DATE_EPOCH=1772323200"
	one, two, none := written(t, day), written(t, day, "TZ=Pacific/Kiritimati", "LANG=de_DE.UTF-8"), written(t)
	if got := pageText(t, one, "man1/emberd-save.1"); !strings.HasPrefix(got, `.TH "EMBERD-SAVE" 1 "2026-03-01" "emberd `) {
		t.Errorf("the page begins %.60q", got)
	}
	if got := pageText(t, none, "man1/emberd-save.1"); !strings.HasPrefix(got, `.TH "EMBERD-SAVE" 1 "" "emberd `) {
		t.Errorf("without a date the page begins %.60q", got)
	}
	if out, err := exec.Command("diff", "-r", one, two).CombinedOutput(); err != nil {
		t.Errorf("the same date gives other pages: %v\n%s", err, out)
	}
	cmd := exec.Command("emberd", "man", t.TempDir())
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=yesterday")
	if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != int(cli.ExitInput) || !strings.Contains(string(out), "invalid SOURCE_DATE_EPOCH") {
		t.Errorf("a date that is none ends with %v: %s", err, out)
	}
}

// The formatters that are there have nothing to object.
func TestManualIsFormatted(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(written(t, "SOURCE_DATE_EPOCH=1772323200"), "man?", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, formatter := range [][]string{{"groff", "-Tutf8", "-z", "-ww", "-man"}, {"groff", "-Tascii", "-z", "-ww", "-man"}, {"mandoc", "-Tlint", "-W", "warning"}} {
		t.Run(formatter[0]+formatter[1], func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(formatter[0])
			if err != nil {
				t.Skipf("%s is missing: install it to have the pages checked", formatter[0])
			}
			var said bytes.Buffer
			cmd := exec.Command(path, slices.Concat(formatter[1:], pages)...)
			cmd.Stdout, cmd.Stderr = &said, &said
			if err := cmd.Run(); err != nil || said.Len() > 0 {
				t.Errorf("%v\n%s", err, said.String())
			}
		})
	}
}
