package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
)

// listsWords finds, in the text of a flag, words that it takes: "STAGE: active, demoted or …".
var listsWords = regexp.MustCompile(`\b[A-Z]+: ([a-z_]+)(?:,| or | reports| \(default\))`)

// A flag whose text lists the words that it takes offers them and no others.
func TestFlagsWithFixedValuesComplete(t *testing.T) {
	t.Parallel()
	listed := 0
	for _, c := range tree() {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, text := pflag.UnquoteUsage(f)
			m := listsWords.FindStringSubmatch(text)
			if m == nil {
				return
			}
			listed++
			offer, ok := c.GetFlagCompletionFunc(f.Name)
			if !ok {
				t.Errorf("%s --%s offers nothing", c.CommandPath(), f.Name)
				return
			}
			words, _ := offer(c, nil, "")
			if len(words) < 2 || !slices.Contains(words, m[1]) {
				t.Errorf("%s --%s offers %q, which does not begin with %s", c.CommandPath(), f.Name, words, m[1])
			}
			for _, w := range words {
				if !strings.Contains(text, w) {
					t.Errorf("%s --%s offers %s, of which its text says nothing: %s", c.CommandPath(), f.Name, w, text)
				}
				if err := c.Flags().Set(f.Name, w); err != nil {
					t.Errorf("%s --%s does not take %s, which it offers: %v", c.CommandPath(), f.Name, w, err)
				}
			}
		})
	}
	if listed < 10 {
		t.Errorf("%d flags list words", listed)
	}
}

// A shell offers files where a program says nothing, so every flag that takes none says something.
func TestFilesAreOfferedWhereFilesAreTaken(t *testing.T) {
	t.Parallel()
	for _, c := range tree() {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			value, _ := pflag.UnquoteUsage(f)
			_, decided := c.GetFlagCompletionFunc(f.Name)
			takesFile := strings.HasPrefix(value, "FILE") || value == "PATH"
			if f.Value.Type() != "bool" && f.Name != "help" && decided == takesFile {
				t.Errorf("%s --%s takes %s and completes something else", c.CommandPath(), f.Name, value)
			}
		})
		takesFile := strings.Contains(c.Use, "FILE") || strings.Contains(c.Use, "PATH")
		if c.ValidArgsFunction == nil && len(c.ValidArgs) == 0 && !takesFile {
			t.Errorf("%s offers files", c.CommandPath())
		}
	}
}

// completing is a daemon that knows something, for shells to ask.
func completing(t *testing.T) (env []string) {
	t.Helper()
	dir := clitest.ShortDir(t)
	notes := filepath.Join(dir, "Notes", "Garden")
	if err := os.MkdirAll(notes, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(notes, "Soil.md"), []byte("# Soil\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env = append(cli.ForeignFree(os.Environ()), "HOME="+dir, "EMBERD_HOME="+filepath.Join(dir, "h"), "TERM=dumb", "LC_ALL=C.UTF-8")
	exe, err := exec.LookPath("emberd")
	if err != nil {
		t.Fatal(err)
	}
	d, err := startDaemon(t.Context(), exe, filepath.Join(dir, "h"), filepath.Join(dir, "log"), env, "--vault", filepath.Join(dir, "Notes"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.stop(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	})
	for _, args := range [][]string{
		{"save", "--id", "01a2b3c4-0000-7000-8000-0123456789ab", "Tomatoes need lime", "--tag", "gardening", "--collection", "plants"},
		{"save", "--id", "01a2b3c4-0000-7000-8000-000089ab0123", "The kettle is descaled in March", "--tag", "kitchen", "--project", "house"},
	} {
		cmd := exec.Command(exe, args...)
		if cmd.Env = env; len(cmd.Args) > 0 {
			cmd.Args[0] = "emberd"
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return env
}

// typed are beginnings of command lines with what has to be offered for them, and what may not be.
var typed = []struct{ line, want, not string }{
	{"emberd sea", "search", "save"},
	{"emberd show ", "456789ab", "Notes"},
	{"emberd list --tag g", "gardening", "kitchen"},
	{"emberd search x --collection ", "plants", "Notes"},
	{"emberd list --project ", "house", "Notes"},
	{"emberd list --stage ", "rehydratable", "Notes"},
	{"emberd vault backlinks ", "Garden/Soil.md", "456789ab"},
	{"emberd health cleanup --mode ", "analysis", "Notes"},
	{"emberd config set log.level ", "debug", "decay"},
}

// shells are how each shell is asked, by a script that is given the command line as $1 and
// prints what it offers.
var shells = map[string]string{
	// As the shell does: it splits the line and calls the function that complete -p names.
	"bash": `
. /usr/share/bash-completion/bash_completion || exit 77
. <(emberd completion bash)
read -ra COMP_WORDS <<<"$1"
[[ $1 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=63 COMPREPLY=()
call=$(complete -p emberd) && call=${call#*-F } && ${call%% *} emberd "" "" 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}"`,
	// A second shell with a terminal, in which somebody presses the key.
	"zsh": `
zmodload zsh/zpty || exit 77
mkdir -p "$HOME/functions" && emberd completion zsh >"$HOME/functions/_emberd.$$" && mv "$HOME/functions/_emberd.$$" "$HOME/functions/_emberd"
zpty typist "TERM=vt100 PS1= zsh -f -i"
zpty -w typist 'unsetopt zle_bracketed_paste; LISTMAX=0; COLUMNS=500; LINES=200; fpath=($HOME/functions $fpath); autoload -U compinit; compinit -u -D; zstyle ":completion:*" menu no; bindkey "^I" list-choices; bindkey "^X" complete-word; print rea""dy'
zpty -r -m typist text '*ready*' || exit 1
zpty -n -w typist "$1"$'\t'
said=
for ((i = 0; i < 300; i++)); do
	while zpty -r -t typist text; do said+=$text; done
	[[ $said == *"$2"* ]] && break
	sleep 0.1
done
print -r -- "${said//"$1"/}"`,
	"fish": `
emberd completion fish | source
complete -C $argv[1]`,
}

// Real shells, with the script that the program prints, offer what a daemon that runs knows.
func TestShellsComplete(t *testing.T) {
	t.Parallel()
	env := completing(t)
	for shell, script := range shells {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is missing: install it to have its completion tried", shell)
			continue
		}
		for _, c := range typed {
			t.Run(shell+" "+strings.TrimPrefix(c.line, "emberd "), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				args := map[string][]string{"bash": {"--norc", "-c", script, "bash"}, "zsh": {"-f", "-c", script, "zsh"}, "fish": {"--no-config", "-c", script}}[shell]
				cmd := exec.CommandContext(ctx, path, append(args, c.line, c.want)...)
				cmd.Env = env
				out, err := cmd.CombinedOutput()
				if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 77 {
					t.Skipf("%s lacks what completion needs: %s", shell, out)
				}
				if err != nil || !strings.Contains(string(out), c.want) || strings.Contains(string(out), c.not) {
					t.Errorf("%q offers, where %s belongs and %s does not (%v):\n%s", c.line, c.want, c.not, err, out)
				}
			})
		}
	}
}

// The program offers nothing, and complains of nothing, where no daemon runs.
func TestNothingIsOfferedWithoutADaemon(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"show", "list --tag", "search --collection", "undo", "cleanup report", "token revoke", "links"} {
		cmd := exec.Command("emberd", slices.Concat([]string{cobra.ShellCompRequestCmd, "--home", t.TempDir()}, strings.Fields(line), []string{""})...)
		out, err := cmd.Output()
		noFiles := cobra.ShellCompDirectiveNoFileComp
		noFilesInOrder := noFiles | cobra.ShellCompDirectiveKeepOrder
		if got := strings.TrimSpace(string(out)); err != nil ||
			got != fmt.Sprintf(":%d", noFiles) && got != fmt.Sprintf(":%d", noFilesInOrder) {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
}
