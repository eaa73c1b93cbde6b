package evalcmd

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/eval"
	"emberd/memory"
	"emberd/op"
)

// What a month is: its days unless --days has another number, the hours of a day in which memories are saved and
// used, after each of which the agents run, and how many questions the user asks in such an hour. Every second one
// is one of so many favourites again.
const (
	monthDays    = 30
	monthHours   = 9
	monthAsks    = 2
	monthAgain   = 40
	monthDefault = 2_000
)

type monthOptions struct {
	setOptions
	memories  int
	days      int
	merge     bool
	proposals string
}

func monthCommand(s *session) *cobra.Command {
	var o monthOptions
	cmd := &cobra.Command{
		Use:  "month DIR",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return measureMonth(cmd.Context(), s, &o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.unit, "unit", string(eval.Turns), "")
	f.IntVar(&o.memories, "memories", monthDefault, "")
	f.IntVar(&o.days, "days", monthDays, "")
	f.BoolVar(&o.merge, "merge", false, "")
	f.StringVar(&o.proposals, "proposals", "", "")
	f.BoolVar(&o.keep, "keep", false, "")
	return cmd
}

// proposal is what an agent, or the lifecycle, wants done with memories.
type proposal struct {
	Agent  string      `json:"agent"`
	Action string      `json:"action"`
	IDs    []memory.ID `json:"ids"`
	Texts  []string    `json:"texts"`
	Told   string      `json:"told,omitempty"`
}

// month is the store of a user for a month.
type month struct {
	*quarter
	days  int
	spent map[string]*agentSpent
	found []proposal
	known map[string]bool // proposals by agent and memories
}

// agentSpent is what an agent did in all runs.
type agentSpent struct {
	runs, filed, changed int
	millis               int64
}

func measureMonth(ctx context.Context, s *session, o *monthOptions, dir string) error {
	sets, err := s.readSets(ctx, &o.setOptions, dir)
	if err != nil {
		return err
	}
	set := sets[0]
	if o.memories < 2 || o.memories > len(set.Docs) {
		return memory.Errorf(memory.Invalid, "%s has %d %s, and --memories wants %d", dir, len(set.Docs), set.Unit,
			o.memories)
	}
	if o.days < 1 || o.days > 1000 {
		return memory.Errorf(memory.Invalid, "--days is %d, outside 1 to 1000", o.days)
	}
	old := o.memories / 2
	m := &month{quarter: newQuarter(s, &quarterOptions{imported: o.memories}, set),
		days: o.days, spent: map[string]*agentSpent{}, known: map[string]bool{}}
	m.fresh, m.others = set.Docs[old:o.memories], slices.Concat(m.asked, m.others)
	for i := range old { // the older half is spread over the month before
		set.Docs[i].Created = monthStart.Add(-time.Duration(old-i) * 24 * time.Hour * monthDays / time.Duration(old))
	}
	return s.inHome(o.keep, func(home string) error { return m.liveMonth(ctx, o, set.Docs[:old], home) })
}

// monthStart is when the month begins.
var monthStart = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func (m *month) liveMonth(ctx context.Context, o *monthOptions, old []eval.Doc, home string) error {
	opt := m.options(home)
	opt.Agents.AutoMerge = o.merge
	if err := m.begin(ctx, opt, monthStart); err != nil {
		return err
	}
	err := m.live(ctx, old)
	if err == nil && o.proposals != "" {
		err = m.write(o.proposals)
	}
	return errors.Join(err, m.stop())
}

// live saves the older half, lives for a month, and tells what the agents did.
func (m *month) live(ctx context.Context, old []eval.Doc) error {
	if err := m.save(ctx, old, true); err != nil {
		return err
	}
	var w week
	hours := m.days * monthHours
	for n := range hours {
		if err := m.save(ctx, m.fresh[n*len(m.fresh)/hours:(n+1)*len(m.fresh)/hours], false); err != nil {
			return err
		}
		if err := m.hour(ctx, n, &w); err != nil {
			return err
		}
	}
	m.s.printf("%-10s %5s %6s %8s %10s\n", "agent", "runs", "filed", "changed", "processor")
	for _, name := range op.Agents() {
		a := m.spent[name]
		m.s.printf("%-10s %5d %6d %8d %8.1f s\n", name, a.runs, a.filed, a.changed, float64(a.millis)/1000)
	}
	m.s.printf("lifecycle promoted %d and archived %d, of which %d came back\n", w.promoted, w.archived, w.back)
	return nil
}

// hour asks, and lets the lifecycle and the agents run as they are scheduled. After the last hour of a day comes
// the night.
func (m *month) hour(ctx context.Context, n int, w *week) error {
	for range monthAsks {
		m.ask++
		at := m.ask % len(m.others)
		if m.ask%2 == 0 { // early favourites are asked most often
			at = (m.ask / 2) * (m.ask / 2) % min(len(m.others), monthAgain)
		}
		if err := m.use(ctx, &m.others[at], w); err != nil {
			return err
		}
	}
	m.now.Add(time.Hour.Milliseconds())
	if n%monthHours == monthHours-1 {
		if err := m.lifecycle(ctx, w); err != nil {
			return err
		}
		m.now.Add(((24 - monthHours) * time.Hour).Milliseconds())
	}
	return m.agents(ctx)
}

// use opens and uses what answers a question, as an agent does that answers with it.
func (m *month) use(ctx context.Context, question *eval.Question, w *week) error {
	id, err := m.open(ctx, question, w)
	if err != nil || id == "" {
		return err
	}
	return m.touch(ctx, id)
}

func (m *month) lifecycle(ctx context.Context, w *week) error {
	moves, err := m.fade(ctx, w)
	if err != nil {
		return err
	}
	for _, move := range moves {
		for _, id := range move.IDs {
			m.propose("lifecycle", move.Kind, "", id)
		}
	}
	return nil
}

// agents runs the pipeline as the daemon does, and notes what it proposes or does.
func (m *month) agents(ctx context.Context) error {
	before := processor()
	res, err := op.AgentsRun.Call(ctx, m.e, &op.AgentsRunRequest{Scheduled: true, Force: true})
	if err != nil {
		return err
	}
	spent, total := processor()-before, max(1, res.Millis)
	for _, ran := range res.Ran {
		if ran.Failed {
			return fmt.Errorf("%s: %s", ran.Agent, ran.Problem)
		}
		a := m.spent[ran.Agent]
		if a == nil {
			a = &agentSpent{}
			m.spent[ran.Agent] = a
		}
		a.runs, a.filed, a.changed = a.runs+1, a.filed+ran.Filed, a.changed+ran.Changed
		a.millis += spent.Milliseconds() * ran.Millis / total // its part of the run's processor time
	}
	for _, c := range res.Decay {
		m.propose(op.AgentDecay, c.Action, fmt.Sprintf("%.2f", c.Score), c.MemoryID)
	}
	for _, c := range res.Cluster {
		m.propose(op.AgentCluster, c.Action, fmt.Sprintf("%.2f", c.Cohesion), c.MemoryIDs...)
	}
	for _, c := range res.Merge {
		m.propose(op.AgentMerge, cmp.Or(c.Reason, "merged"), "", c.SourceIDs...)
	}
	for _, c := range res.Promote {
		m.propose(op.AgentPromote, strings.Join(c.CriteriaMet, ", "), c.VaultPath, c.MemoryID)
	}
	for _, c := range res.Relations {
		m.propose(op.AgentRelations, c.RelationType, fmt.Sprintf("%.2f %s", c.Strength, c.Reasoning), c.FromID, c.ToID)
	}
	return nil
}

// processor returns the processor time of this program until now.
func processor() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// propose notes a proposal once.
func (m *month) propose(agent, action, told string, ids ...memory.ID) {
	ids = slices.Sorted(slices.Values(ids))
	key := fmt.Sprint(agent, ids)
	if !m.known[key] {
		m.known[key] = true
		m.found = append(m.found, proposal{Agent: agent, Action: action, IDs: ids, Told: told})
	}
}

// write writes all proposals, and every memory as one of no agent.
func (m *month) write(path string) error {
	for _, d := range slices.Sorted(maps.Keys(m.texts)) {
		m.propose("", "", "", d)
	}
	f, err := os.Create(filepath.Clean(path))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	out := json.NewEncoder(w)
	for _, p := range m.found {
		for _, id := range p.IDs {
			p.Texts = append(p.Texts, m.texts[id])
		}
		if err == nil {
			err = out.Encode(p)
		}
	}
	return errors.Join(err, w.Flush(), f.Close())
}
