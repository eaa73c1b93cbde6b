package evalcmd

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"emberd/internal/eval"
	"emberd/internal/tempdaemon"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

// gateCount tells how often prompts of a kind are answered.
type gateCount struct {
	Asked  int   `json:"asked"`
	Fired  int   `json:"fired"` // got memories
	Right  int   `json:"right"` // and one of them answers the question
	Tokens []int `json:"tokens"`
}

// gateReport tells what prompts get, in halves: one to choose parameters on, one to report.
type gateReport struct {
	Answerable   [2]gateCount `json:"answerable"`
	Unanswerable [2]gateCount `json:"unanswerable"`
	Orders       gateCount    `json:"orders"`
}

// orders are prompts that no memory answers.
func orders() []string {
	return []string{"fix the failing test", "run the tests again", "commit this with a good message", "yes, go ahead",
		"please refactor this function", "why does it crash here?", "add a unit test for the new code",
		"make the build pass", "what does this error mean?", "rename the variable to something better",
		"can you explain how this works?", "update the readme", "open a pull request", "clean up the imports",
		"write a docstring for this class", "use a smaller font on the page",
		"check the logs and tell me what happened", "move this into its own file", "that did not work, try again",
		"now do the same for the other one",
		"show me the diff", "what is left to do?", "remove the dead code", "make the text on the button shorter",
		"add error handling here", "format the code", "how long will this take?", "review my changes",
		"find where this value is set", "start the server and open the page"}
}

func (s *session) gateCommand() *cobra.Command {
	o := setOptions{}
	cmd := &cobra.Command{
		Use:  "gate DIR",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.gate(cmd.Context(), &o, args[0]) },
	}
	cmd.Flags().StringVar(&o.unit, "unit", string(eval.Turns), "")
	return cmd
}

func (s *session) gate(ctx context.Context, o *setOptions, dir string) error {
	set, err := eval.Read(os.DirFS(dir), eval.Unit(o.unit))
	if err != nil {
		return memory.Errorf(memory.Invalid, "%s: %w", dir, err)
	}
	if set.Root != "" || len(set.Judgements) == 0 {
		return memory.Errorf(memory.Invalid, "%s has no judged memories", dir)
	}
	run := &gateRun{set: set, names: map[string]string{}}
	err = s.inHome(false, func(home string) error {
		return s.withDaemon(ctx, home, []string{"--set", "hooks.recall=on"}, func(d *tempdaemon.Daemon) error {
			run.daemon = d
			return run.all(ctx)
		})
	})
	if err != nil {
		return err
	}
	return s.printGate(&run.report)
}

// gateRun asks the questions of a set as prompts of coding agents. Each conversation is a project.
type gateRun struct {
	set    *eval.Set
	daemon *tempdaemon.Daemon
	names  map[string]string // of memories, by the short form of their IDs
	asked  int
	report gateReport
}

func (g *gateRun) all(ctx context.Context) error {
	for _, d := range g.set.Docs {
		res, err := op.Save.Call(ctx, g.daemon, &op.SaveRequest{Content: d.Content, Context: d.Context,
			Project: d.Group, CreatedAt: d.Created, AllowSecret: true, EvenRecalled: true})
		if err != nil {
			return fmt.Errorf("save %s: %w", d.Name, err)
		}
		g.names[res.Memory.ID.Short()] = d.Name
	}
	if err := g.daemon.WaitIndexed(ctx); err != nil {
		return err
	}
	if _, err := g.daemon.WaitEmbedded(ctx); err != nil {
		return err
	}
	groups := g.groups()
	for i, q := range g.set.Questions {
		if q.Category == "adversarial" {
			continue
		}
		if err := g.ask(ctx, q.Group, q.Text, q.ID, &g.report.Answerable[i%2]); err != nil {
			return err
		}
		other := groups[(slices.Index(groups, q.Group)+1)%len(groups)]
		if other == q.Group {
			continue
		}
		text := g.exchange(q.Text, q.Group, other)
		if err := g.ask(ctx, other, text, "", &g.report.Unanswerable[i%2]); err != nil {
			return err
		}
	}
	for _, group := range groups {
		for _, order := range orders() {
			if err := g.ask(ctx, group, order, "", &g.report.Orders); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *gateRun) groups() []string {
	groups := map[string]bool{}
	for _, d := range g.set.Docs {
		groups[d.Group] = true
	}
	return slices.Sorted(maps.Keys(groups))
}

var shownID = text.Pattern(`\[([0-9a-f]{8})\]`)

// ask sends a prompt in a session of its own. Question is the ID of what it asks, "" for a prompt without an answer.
func (g *gateRun) ask(ctx context.Context, project, prompt, question string, to *gateCount) error {
	g.asked++
	res, err := op.Hook.Call(ctx, g.daemon, &op.HookRequest{Agent: "emberd-eval", Event: op.HookPrompt,
		Session: fmt.Sprint("prompt-", g.asked), Project: project, Prompt: prompt})
	if err != nil {
		return fmt.Errorf("prompt %q: %w", prompt, err)
	}
	to.Asked++
	to.Tokens = append(to.Tokens, op.Tokens(res.Text))
	if res.Text == "" {
		return nil
	}
	to.Fired++
	for _, found := range shownID().FindAllStringSubmatch(res.Text, -1) {
		if g.set.Judgements[0].Relevant[question][g.names[found[1]]] > 0 {
			to.Right++
			return nil
		}
	}
	return nil
}

// exchange puts the names of the people of one conversation in the place of those of another.
func (g *gateRun) exchange(text, from, to string) string {
	mine, theirs := g.people(from), g.people(to)
	for i := range min(len(mine), len(theirs)) {
		text = strings.ReplaceAll(text, mine[i], theirs[i])
	}
	return text
}

// people returns the two names that most questions about a conversation have.
func (g *gateRun) people(group string) []string {
	counts := map[string]int{}
	for _, q := range g.set.Questions {
		if q.Group != group {
			continue
		}
		for _, w := range strings.FieldsFunc(q.Text, func(r rune) bool { return !unicode.IsLetter(r) })[1:] {
			if unicode.IsUpper([]rune(w)[0]) && len(w) > 2 {
				counts[w]++
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	return names[:min(len(names), 2)]
}

func (s *session) printGate(r *gateReport) error {
	if s.json {
		return s.printJSON(r)
	}
	for half, name := range []string{"odd", "even"} {
		s.printGateCount(name, "answerable", &r.Answerable[half])
		s.printGateCount(name, "unanswerable", &r.Unanswerable[half])
	}
	s.printGateCount("all", "everyday orders", &r.Orders)
	return nil
}

func (s *session) printGateCount(half, what string, c *gateCount) {
	if c.Asked == 0 {
		return
	}
	slices.Sort(c.Tokens)
	s.row(half, fmt.Sprintf("%-15s  %d prompts, %.3f get memories, %.3f the right one, "+
		"%d tokens at the median, %d at p95", what, c.Asked, float64(c.Fired)/float64(c.Asked),
		float64(c.Right)/float64(c.Asked),
		c.Tokens[len(c.Tokens)/2], c.Tokens[len(c.Tokens)*95/100]))
}
