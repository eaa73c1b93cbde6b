package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/cli/root"
)

// Lines are split as a shell does, as far as examples go: quotes, backslashes before a line's
// end, and what ends a command. What stands in $(…) and <(…) is a line of its own, and one word
// of the line around it.
var (
	shellWord   = regexp.MustCompile(`'([^']*)'|"((?:[^"\\]|\\.)*)"|([^\s'"]+)|\s+`)
	shellInside = regexp.MustCompile(`"?[$<]\(([^()]*)\)"?`)
	shellEnd    = regexp.MustCompile(`\s(\|\|?|&&|>>?|<)\s`)
)

// callsOf are the words of each call of emberd in an example.
func callsOf(example string) (calls [][]string) {
	example = strings.ReplaceAll(example, "\\\n", " ")
	var lines strings.Builder
	for _, m := range shellInside.FindAllStringSubmatch(example, -1) {
		lines.WriteString(m[1] + "\n")
	}
	lines.WriteString(shellInside.ReplaceAllString(example, "1"))
	example = shellEnd.ReplaceAllString(lines.String(), "\n$1 ")
	for line := range strings.SplitSeq(example, "\n") {
		var words []string
		word := ""
		for _, m := range shellWord.FindAllStringSubmatch(line+" ", -1) {
			if strings.TrimSpace(m[0]) == "" {
				words, word = append(words, word), ""
				continue
			}
			word += m[1] + m[2] + m[3]
		}
		words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
		at := slices.Index(words, "emberd")
		before := func(w string) bool {
			return strings.Contains(w, "=") || slices.Contains([]string{"|", "||", "&&", "ssh", "other"}, w)
		}
		if at >= 0 && !slices.ContainsFunc(words[:at], func(w string) bool { return !before(w) }) {
			calls = append(calls, words[at+1:])
		}
	}
	return calls
}

func TestCallsOf(t *testing.T) {
	t.Parallel()
	for example, want := range map[string][][]string{
		`  emberd save "two words" --tag a`:                              {{"save", "two words", "--tag", "a"}},
		"  emberd a \\\n     'b c'":                                      {{"a", "b c"}},
		`  diff <(emberd export --home a) <(emberd list)`:                {{"export", "--home", "a"}, {"list"}},
		`  X=$(emberd agent token create) emberd list`:                   {{"agent", "token", "create"}, {"list"}},
		`  git log | emberd save - --source git | jq .x`:                 {{"save", "-", "--source", "git"}},
		`  emberd search --check "a b" || echo "look at emberd"`:         {{"search", "--check", "a b"}},
		`  $EDITOR "$(emberd config path)"`:                              {{"config", "path"}},
		`  emberd show "$(emberd search --interactive a | head)" --full`: {{"search", "--interactive", "a"}, {"show", "1", "--full"}},
		`  emberd model embed - < questions.txt`:                         {{"model", "embed", "-"}},
		`  MANPATH=~/x man emberd-save`:                                  nil,
	} {
		if got := callsOf(example); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s has the calls %q, want %q", example, got, want)
		}
	}
}

// Every example calls commands and flags there are, with as many arguments as they take.
func TestExamplesParse(t *testing.T) {
	t.Parallel()
	for _, c := range tree() {
		calls := callsOf(c.Example)
		if len(calls) == 0 {
			t.Errorf("%s has no example that calls emberd:\n%s", c.CommandPath(), c.Example)
		}
		for _, words := range calls {
			if err := parses(words); err != nil {
				t.Errorf("%s: emberd %s: %v", c.CommandPath(), strings.Join(words, " "), err)
			}
		}
	}
}

// parses reports what the tree of commands objects to.
func parses(words []string) error {
	root := root.RootCommand(cli.New())
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	args := cmd.Flags().Args()
	if cli.IsGroup(cmd) && len(args) > 0 {
		return cli.NoCommand(cmd, args[0])
	}
	return cmd.ValidateArgs(args)
}

// Help says more than what a command is called: a sentence, an example and every way to end.
func TestHelpHasASentenceAnExampleAndExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range tree() {
		var out strings.Builder
		c.SetOut(&out)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		sentence, rest, _ := strings.Cut(out.String(), "\n\nUsage:\n")
		if len(strings.Fields(sentence)) < 3 {
			t.Errorf("%s begins its help with %q", c.CommandPath(), sentence)
		}
		for _, part := range []string{"\nExamples:\n  ", "\nExit codes:\n    0  "} {
			if !strings.Contains(rest, part) {
				t.Errorf("the help of %s has no%s", c.CommandPath(), part)
			}
		}
	}
}

// notRun are commands whose examples are not run, and why.
var notRun = map[string]string{
	"emberd":                       "says what its commands say",
	"emberd serve":                 "goes on until it is told to end; every other test runs it",
	"emberd mcp":                   "serves a client; TestTranscripts is one",
	"emberd init":                  "asks on a terminal, and starts a service; init.txtar answers",
	"emberd search --interactive":  "draws on a terminal; find_linux_test.go has one",
	"emberd tour":                  "has a script of its own",
	"emberd service":               "needs a service manager; service_linux_test.go has one",
	"emberd model":                 "needs a model; models.txtar makes some",
	"emberd eval":                  "needs notes with links; evalself.txtar has some",
	"emberd vault open":            "opens another program",
	"emberd page":                  "serves until it is told to end; page_test.go has one",
	"emberd backup restore":        "needs a daemon that does not run, and a backup whose name is not known",
	"emberd doctor quarantine":     "needs a damaged log; damage.txtar has one",
	"emberd doctor offline-device": "needs a device that lagged behind; devices have a test of their own",
	"emberd import":                "needs other systems' files; import*.txtar have them",
	"emberd man":                   "is run by the tests of the manual",
	"emberd vault plugin":          "needs a built plugin; internal/cli/organize has a test with one",
}

func reasonNotToRun(c *cobra.Command) string {
	for path, why := range notRun {
		if c.CommandPath() == path || path != "emberd" && strings.HasPrefix(c.CommandPath(), path+" ") {
			return why
		}
	}
	return ""
}

// needed is what has to be there before the examples of a command can be run.
var needed = map[string]string{
	"emberd trash restore": "emberd forget 456789ab",
	"emberd save":          "git init -q && git -c user.name=ada -c user.email=ada@example.org commit -q --allow-empty -m kettle",
	"emberd agent install": "git init -q",
	"emberd completion":    "mkdir -p ~/.config/fish/completions",
}

// apart are commands whose examples take away what those of others name: each group has a
// daemon of its own, and what is left after one is there for the next.
var apart = [][]string{
	{"emberd lifecycle archive"},
	{"emberd forget", "emberd list --trash", "emberd trash restore"},
	{"emberd promote"},
	{"emberd forget --permanently"},
}

// endsOtherwise are lines of examples that name what is nowhere but in the reader's store, or
// show how a command ends that has something to say.
var endsOtherwise = map[string]cli.ExitCode{
	"emberd undo TX": cli.ExitInput,
	"emberd undo --dry-run 01a1fd06c976-0000-k7q2mzxa":                       cli.ExitNothing,
	"emberd health cleanup report 20260301-1205 > report.md":                 cli.ExitNothing,
	"emberd health cleanup rollback 20260301-120500-8c1f":                    cli.ExitNothing,
	"emberd health consolidate cluster-3f9a1c5d7e2b4860 --apply":             cli.ExitNothing,
	"emberd graph unrelate rel-3f2a91bc":                                     cli.ExitNothing,
	"emberd doctor log cat data/stm/k7q2mzxa/s-00000042.jsonl --lines 10-20": cli.ExitNothing,
}

// notHere are lines that need another machine, a terminal, or a reader who ends them.
var notHere = regexp.MustCompile(`/mnt/|curl |ssh |^emberd serve | --watch$`)

// Examples really run: against daemons whose memories have the ids that they name, none is
// refused for how it is written.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	groups := make([][]*cobra.Command, len(apart)+1) // the last has all others
	for _, c := range tree() {
		if reasonNotToRun(c) == "" && (cli.StandsFor(c) == "" || c.CommandPath() == "emberd trash restore") {
			at := slices.IndexFunc(apart, func(g []string) bool { return slices.Contains(g, c.CommandPath()) })
			if at < 0 {
				at = len(apart)
			}
			groups[at] = append(groups[at], c)
		}
	}
	for _, group := range groups {
		t.Run(group[0].CommandPath(), func(t *testing.T) {
			t.Parallel()
			env := exampleShell(t)
			for _, c := range group {
				runExamples(t, c, env)
			}
		})
	}
}

// exampleShell is the environment of a reader who has a daemon, and an old storage.
func exampleShell(t *testing.T) (env []string) {
	env = append(completing(t), "EDITOR=true", "VISUAL=true", "GOGC=off") // no call lives for long
	if out, err := shell(t, env, "mkdir ~/old-memories && cp -r ~/h/data ~/h/state ~/old-memories/").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return env
}

func shell(t *testing.T, env []string, line string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "bash", "-c", "cd; set -o pipefail; "+line)
	cmd.Env = env
	return cmd
}

func runExamples(t *testing.T, c *cobra.Command, env []string) {
	_, err := exec.LookPath("jq")
	example := needed[c.CommandPath()] + "\n" + strings.ReplaceAll(c.Example, "\\\n", " ")
	for line := range strings.Lines(example) {
		line = strings.TrimSpace(line)
		if line == "" || notHere.MatchString(line) {
			continue
		}
		if err != nil {
			line, _, _ = strings.Cut(line, "| jq")
		}
		line, _, _ = strings.Cut(line, "| dot ")
		cmd := shell(t, env, line)
		out, _ := cmd.CombinedOutput() // how it ended is the code
		got := cli.ExitCode(cmd.ProcessState.ExitCode())
		t.Logf("%s: %d", line, got)
		if !mayEnd(c, line, got) {
			t.Errorf("%s\nends with %d:\n%s", line, got, out)
		}
	}
}

// mayEnd reports whether an example may end so: by a code that its help has, which is not one
// for a call that is wrong unless the line is known for it.
func mayEnd(c *cobra.Command, line string, code cli.ExitCode) bool {
	if want, ok := endsOtherwise[line]; ok {
		return code == want
	}
	if slices.Contains([]cli.ExitCode{cli.ExitInput, cli.ExitNoDaemon, cli.ExitFault, cli.ExitRefused, cli.ExitInterrupted}, code) {
		return false
	}
	return strings.Contains(c.Annotations["exit"], fmt.Sprintf("  %3d  ", code))
}
