package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/op"
)

// hookReport is what hooks did in some days; with --json it is the result.
type hookReport struct {
	Days int `json:"days"`
	hookCounts
	// HitRate is the share of the memories shown that an answer used; none if none was shown.
	HitRate  *float64      `json:"hit_rate,omitempty"`
	Tokens   tokenUse      `json:"tokens"` // of a session with prompts
	Rules    []ruleCount   `json:"rules"`  // the memories kept, the most first
	Projects []hookProject `json:"projects"`
	Left     []leftBehind  `json:"left"` // the sessions that kept something, newest first
	Recall   string        `json:"recall"`
	Capture  bool          `json:"capture"`
}

// hookCounts are sums over sessions.
type hookCounts struct {
	Sessions int `json:"sessions"`
	Prompts  int `json:"prompts"`
	Answered int `json:"answered"`
	Shown    int `json:"shown"`
	Used     int `json:"used"`
	// Trial and TrialUsed are those of op.Session.
	Trial     int `json:"trial"`
	TrialUsed int `json:"trial_used"`
	Kept      int `json:"kept"` // memories that are there
}

// tokenUse is how many tokens the models were given in a session.
type tokenUse struct {
	Median int `json:"median"`
	P95    int `json:"p95"`
}

type ruleCount struct {
	Rule string `json:"rule"`
	N    int    `json:"n"`
}

type hookProject struct {
	Project string `json:"project"`
	hookCounts
}

// leftBehind is a session that kept something, and the command that takes it back.
type leftBehind struct {
	Session string `json:"session"`
	Agent   string `json:"agent"`
	Project string `json:"project,omitempty"`
	Kept    int    `json:"kept"`
	Command string `json:"command"`
}

func hookReportCommand(s *cli.App) *cobra.Command {
	var req op.SessionListRequest
	cmd := cli.Command("report", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return reportHooks(cmd.Context(), s, &req)
	})
	cli.Bind(cmd.Flags(), &req, "days=7")
	cli.ProjectFilter(cmd.Flags(), &req.Project)
	return cmd
}

func reportHooks(ctx context.Context, s *cli.App, req *op.SessionListRequest) error {
	res, err := cli.Call(ctx, s, op.SessionList, req)
	if err != nil {
		return err
	}
	r := newHookReport(s, res, req.Days)
	return s.Answer(r, func() { printHookReport(s, r) })
}

// add counts one session.
func (c *hookCounts) add(one *op.Session) {
	c.Sessions++
	c.Prompts += one.Prompts
	c.Answered += one.Answered
	c.Shown += one.Shown
	c.Used += one.Used
	c.Trial += one.Trial
	c.TrialUsed += one.TrialUsed
	c.Kept += kept(one)
}

func newHookReport(s *cli.App, res *op.SessionListResult, days int) *hookReport {
	r := &hookReport{Days: days, Recall: res.Recall, Capture: res.Capture, Projects: []hookProject{},
		Left: []leftBehind{}}
	short := shortSessions(res.Sessions)
	rules := map[string]int{}
	var tokens []int
	for i := range res.Sessions {
		one := &res.Sessions[i]
		r.add(one)
		r.project(one.Project).add(one)
		if one.Prompts > 0 {
			tokens = append(tokens, one.Tokens)
		}
		for _, k := range one.Memories {
			if !k.Gone {
				rules[k.Rule]++
			}
		}
		if n := kept(one); n > 0 {
			r.Left = append(r.Left, leftBehind{one.ID, one.Agent, one.Project, n,
				cli.Again(s, "hook", "forget", short[i])})
		}
	}
	if r.Shown > 0 {
		r.HitRate = new(float64(r.Used) / float64(r.Shown))
	}
	r.Tokens, r.Rules = tokenUse{rank(tokens, 0.5), rank(tokens, 0.95)}, byCount(rules)
	slices.SortStableFunc(r.Projects, func(a, b hookProject) int { return cmp.Compare(b.Prompts, a.Prompts) })
	return r
}

// project returns the counts of a project.
func (r *hookReport) project(name string) *hookCounts {
	i := slices.IndexFunc(r.Projects, func(p hookProject) bool { return p.Project == name })
	if i < 0 {
		i, r.Projects = len(r.Projects), append(r.Projects, hookProject{Project: name})
	}
	return &r.Projects[i].hookCounts
}

// rank returns the least number that a part of the numbers does not exceed, 0 for none.
func rank(all []int, part float64) int {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	at := int(float64(len(all)) * part)
	if float64(at) == float64(len(all))*part {
		at--
	}
	return all[at]
}

func byCount(rules map[string]int) []ruleCount {
	all := []ruleCount{}
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		all = append(all, ruleCount{rule, rules[rule]})
	}
	slices.SortStableFunc(all, func(a, b ruleCount) int { return cmp.Compare(b.N, a.N) })
	return all
}

// maxLeft is how many sessions the report names.
const maxLeft = 5

func printHookReport(s *cli.App, r *hookReport) {
	s.Row("days", fmt.Sprint(r.Days))
	s.Row("sessions", cli.Grouped(r.Sessions))
	s.Row("prompts", cli.Grouped(r.Prompts))
	would := ""
	if r.Recall == "shadow" {
		would = ", or would receive memories if hooks.recall were on"
	}
	s.Row("found", cli.Count(r.Answered, "prompt", "prompts")+" received memories"+would)
	shown := cli.Count(r.Shown, "memory", "memories") + " at session starts and with prompts"
	if r.HitRate != nil {
		shown += fmt.Sprintf(", %s used in an answer (%s)", cli.Grouped(r.Used), share(*r.HitRate))
	}
	s.Row("shown", shown)
	if r.Trial > 0 {
		s.Row("held back", fmt.Sprintf(
			"emberd did not add %s to prompts; the answers contained the words of %s of these memories anyway",
			cli.Count(r.Trial, "memory", "memories"), cli.Grouped(r.TrialUsed)))
	}
	s.Row("tokens", fmt.Sprintf("median %s a session, p95 %s", cli.Grouped(r.Tokens.Median),
		cli.Grouped(r.Tokens.P95)))
	s.Row("kept", keptByRule(r))
	printHookProjects(s, r.Projects)
	if len(r.Left) > 0 {
		s.Printf("\n" +
			"to see the memories of a session, run: emberd hook show ID; to undo a session, run:\n")
	}
	for _, l := range r.Left[:min(len(r.Left), maxLeft)] {
		s.Printf("  %s  # %d of %s, %s\n", cli.Flat(l.Command), l.Kept, cli.Flat(l.Agent),
			cli.Flat(ofProject(l.Project)))
	}
	if more := len(r.Left) - maxLeft; more > 0 {
		s.Note("and %s; to list them, run: emberd hook sessions", cli.Count(more, "session more", "sessions more"))
	}
	printHookSettings(s, r)
}

func keptByRule(r *hookReport) string {
	text := cli.Count(r.Kept, "memory", "memories")
	var parts []string
	for _, c := range r.Rules {
		parts = append(parts, fmt.Sprintf("%s %d", cli.Flat(c.Rule), c.N))
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

func printHookProjects(s *cli.App, all []hookProject) {
	if len(all) == 0 {
		return
	}
	s.Printf("\n%s\n", s.Screen.Paint(cli.Faint, "SESSIONS PROMPTS    FOUND SHOWN  USED  KEPT PROJECT"))
	for _, p := range all {
		s.Printf("%8d %7d %8d %5d %5d %5d %s\n", p.Sessions, p.Prompts, p.Answered, p.Shown, p.Used, p.Kept,
			cli.Flat(ofProject(p.Project)))
	}
}

// printHookSettings says how prompts are answered and whether sentences are kept, and how to change that.
func printHookSettings(s *cli.App, r *hookReport) {
	set := func(setting, value string) string { return cli.Again(s, "config", "set", setting, value) }
	recall := map[string]string{
		"off": "hooks add no memories to prompts; to count the memories that hooks would add, run: " +
			set("hooks.recall", "shadow"),
		"shadow": "hooks count the memories that they would add to prompts; to add these memories, run: " +
			set("hooks.recall", "on"),
		"on": "hooks add relevant memories to prompts; " +
			"to only count these memories, run: " + set("hooks.recall", "shadow"),
	}[r.Recall]
	capture := "hooks.capture is false: hooks save nothing; to save sentences, run: " + set("hooks.capture", "true")
	if r.Capture {
		capture = "hooks.capture is true: hooks save sentences; to save nothing, run: " + set("hooks.capture", "false")
	}
	s.Printf("\n%s%s", s.Screen.Said("", "hooks.recall is "+r.Recall+": "+recall), s.Screen.Said("", capture))
}
