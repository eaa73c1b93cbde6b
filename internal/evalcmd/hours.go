package evalcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/engine"
	"emberd/internal/capture"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// hour is a session with a coding agent about a project, and what a reader wants to be told of it a month later.
type hour struct {
	project  string
	messages []op.SessionMessage
	wanted   []wanted
}

type wanted struct {
	Message string `json:"message"`
	Kind    string `json:"kind"`
	Text    string `json:"text"`
}

// weekPrompt is what somebody types a week later. A memory answers it that has all of some strings.
type weekPrompt struct {
	Project string   `json:"project"`
	Prompt  string   `json:"prompt"`
	Has     []string `json:"must_contain"`
}

// answeredBy tells which ways lead to the answer of a prompt.
type answeredBy struct {
	weekPrompt
	Kept   bool `json:"kept"`   // a memory has the answer
	Start  bool `json:"start"`  // the start of the session tells it
	Beside bool `json:"beside"` // what is told beside the prompt does
	Search bool `json:"search"` // the prompt as a query finds it among the first five
	Tokens int  `json:"tokens"` // of what is told
}

// hoursReport is what emberd-eval hours prints.
type hoursReport struct {
	Rules     map[string]*ruleCount `json:"rules"`
	Wanted    map[string]*ruleCount `json:"wanted"` // by kind
	Kept      []captured            `json:"kept"`
	Questions []answeredBy          `json:"questions"`
	Foreign   int                   `json:"foreign"` // questions of another project that get memories
	Orders    []weekPrompt          `json:"orders"`  // those that get memories
	Asked     int                   `json:"orders_asked"`
}

// ruleCount counts kept sentences, and those of messages that a reader wants something of.
type ruleCount struct {
	All  int `json:"all"`
	Both int `json:"both"`
}

func hoursCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:  "hours DIR [PROJECT…]",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runHours(cmd.Context(), s, args[0], args[1:]) },
	}
}

func runHours(ctx context.Context, s *session, dir string, projects []string) error {
	all, err := readHours(dir, projects)
	if err != nil {
		return err
	}
	h := &hours{life: &life{names: map[memory.ID]string{}, texts: map[memory.ID]string{}}, all: all,
		report: hoursReport{Rules: map[string]*ruleCount{}, Wanted: map[string]*ruleCount{}}}
	if h.questions, err = readPrompts(filepath.Join(dir, "questions.json"), all); err != nil {
		return err
	}
	if h.orders, err = readPrompts(filepath.Join(dir, "orders.json"), all); err != nil {
		return err
	}
	if err := s.inHome(false, func(home string) error { return h.in(ctx, home) }); err != nil {
		return err
	}
	return printHours(s, &h.report)
}

// readHours reads the sessions of a folder, NAME.jsonl with NAME.keep.json, or those with some names.
func readHours(dir string, projects []string) (all []hour, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(names) == 0 {
		return nil, memory.Errorf(memory.Invalid, "%s has no sessions (*.jsonl)", dir)
	}
	for _, name := range names {
		project := strings.TrimSuffix(filepath.Base(name), ".jsonl")
		if len(projects) > 0 && !slices.Contains(projects, project) {
			continue
		}
		h := hour{project: project}
		if h.messages, err = readLines(name, "message of a session", func(m *op.SessionMessage) bool {
			return m.Role != ""
		}); err != nil {
			return nil, err
		}
		if err := readJSON(strings.TrimSuffix(name, ".jsonl")+".keep.json", &h.wanted); err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, nil
}

// readPrompts reads the prompts about some of the projects.
func readPrompts(name string, of []hour) (all []weekPrompt, err error) {
	err = readJSON(name, &all)
	return slices.DeleteFunc(all, func(p weekPrompt) bool {
		return !slices.ContainsFunc(of, func(h hour) bool { return h.project == p.Project })
	}), err
}

func readJSON(name string, to any) error {
	raw, err := durable.ReadGiven(name, maxLine)
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	if err != nil {
		return memory.Errorf(memory.Invalid, "%s: %w", name, err)
	}
	return nil
}

// hours is a store that hears sessions and is asked a week later.
type hours struct {
	*life
	all       []hour
	questions []weekPrompt
	orders    []weekPrompt
	session   int
	report    hoursReport
}

// in runs in a home with a clock of its own.
func (h *hours) in(ctx context.Context, home string) error {
	opt := engine.DefaultOptions()
	opt.Logger = slog.New(slog.DiscardHandler)
	opt.LifecyclePeriod, opt.Agents.Interval = 0, 0 // the runs are ours
	opt.Data, opt.State = filepath.Join(home, "data"), filepath.Join(home, "state")
	opt.Vaults = []string{filepath.Join(home, "vault")}
	opt.Hooks.Recall = "on"
	opt.Now = func() time.Time { return time.UnixMilli(h.now.Load()).UTC() }
	h.at(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	if err := os.MkdirAll(opt.Vaults[0], 0o700); err != nil {
		return err
	}
	if err := h.start(ctx, &opt); err != nil {
		return err
	}
	err := h.live(ctx)
	if stopErr := h.stop(); err == nil {
		err = stopErr
	}
	return err
}

// live hears the sessions, lets a week pass, and asks.
func (h *hours) live(ctx context.Context) error {
	for i := range h.all {
		if err := h.hear(ctx, &h.all[i]); err != nil {
			return err
		}
	}
	for range 7 * runsADay {
		h.now.Add((24 * time.Hour / runsADay).Milliseconds())
		if _, err := h.run(ctx); err != nil {
			return err
		}
	}
	if err := h.ready(ctx); err != nil {
		return err
	}
	for _, q := range h.questions {
		if err := h.ask(ctx, q); err != nil {
			return err
		}
	}
	return h.asideFrom(ctx)
}

// hear has the hooks of a session run, turn by turn.
func (h *hours) hear(ctx context.Context, of *hour) error {
	id := h.newSession()
	if _, err := h.hook(ctx, id, of.project, op.HookRequest{Event: op.HookStart, Source: op.StartNew}); err != nil {
		return err
	}
	kept := map[string]bool{}
	for i, m := range of.messages {
		if m.Role == op.RoleUser {
			h.now.Add(time.Minute.Milliseconds())
			if _, err := h.hook(ctx, id, of.project, op.HookRequest{Event: op.HookPrompt, Prompt: m.Text}); err != nil {
				return err
			}
		}
		if m.Role != op.RoleAgent || !m.Final {
			continue
		}
		res, err := h.hook(ctx, id, of.project, op.HookRequest{Event: op.HookTurn, Messages: of.messages[:i+1]})
		if err != nil {
			return err
		}
		for _, k := range res.Kept {
			h.count(of, &k)
			kept[k.Message] = true
		}
	}
	for _, w := range of.wanted {
		c := countOf(h.report.Wanted, w.Kind)
		if c.All++; kept[w.Message] {
			c.Both++
		}
	}
	return nil
}

// count counts a kept sentence.
func (h *hours) count(of *hour, k *op.SessionMemory) {
	c := countOf(h.report.Rules, k.Rule)
	if c.All++; slices.ContainsFunc(of.wanted, func(w wanted) bool { return w.Message == k.Message }) {
		c.Both++
	}
	h.report.Kept = append(h.report.Kept, captured{File: of.project,
		Kept: capture.Kept{Rule: k.Rule, Text: k.Text, Message: k.Message, From: k.From}})
}

func countOf(counts map[string]*ruleCount, name string) *ruleCount {
	if counts[name] == nil {
		counts[name] = &ruleCount{}
	}
	return counts[name]
}

func (h *hours) newSession() string {
	h.session++
	return fmt.Sprint("session-", h.session)
}

func (h *hours) hook(ctx context.Context, session, project string, req op.HookRequest) (*op.HookResult, error) {
	req.Agent, req.Session, req.Project = "emberd-eval", session, project
	res, err := op.Hook.Call(ctx, h.e, &req)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", req.Event, project, err)
	}
	return res, nil
}

// ask begins a session with a prompt, and searches for it as somebody would by hand.
func (h *hours) ask(ctx context.Context, q weekPrompt) error {
	id := h.newSession()
	start, err := h.hook(ctx, id, q.Project, op.HookRequest{Event: op.HookStart, Source: op.StartNew})
	if err != nil {
		return err
	}
	beside, err := h.hook(ctx, id, q.Project, op.HookRequest{Event: op.HookPrompt, Prompt: q.Prompt})
	if err != nil {
		return err
	}
	a := answeredBy{weekPrompt: q, Tokens: op.Tokens(beside.Text), Start: q.inLineOf(start.Text),
		Beside: q.inLineOf(beside.Text)}
	found, err := op.Search.Call(ctx, h.e, &op.SearchRequest{Query: q.Prompt, Limit: 5, Track: new(false),
		Filter: op.Filter{Project: q.Project}})
	if err != nil {
		return fmt.Errorf("search for %q: %w", q.Prompt, err)
	}
	a.Search = slices.ContainsFunc(found.Hits, func(hit op.Hit) bool {
		return hit.Memory != nil && q.inLineOf(strings.ReplaceAll(hit.Memory.Content, "\n", " "))
	})
	a.Kept = slices.ContainsFunc(h.report.Kept, func(k captured) bool {
		return k.File == q.Project && q.inLineOf(strings.ReplaceAll(k.Text, "\n", " "))
	})
	h.report.Questions = append(h.report.Questions, a)
	return nil
}

// inLineOf reports whether a line of a text answers the prompt.
func (q *weekPrompt) inLineOf(text string) bool {
	for line := range strings.SplitSeq(strings.ToLower(text), "\n") {
		if !slices.ContainsFunc(q.Has, func(has string) bool { return !strings.Contains(line, strings.ToLower(has)) }) {
			return true
		}
	}
	return false
}

// asideFrom sends what no memory of the project answers: orders of every day, and the questions of other projects.
func (h *hours) asideFrom(ctx context.Context) error {
	for _, o := range h.orders {
		res, err := h.hook(ctx, h.newSession(), o.Project, op.HookRequest{Event: op.HookPrompt, Prompt: o.Prompt})
		if err != nil {
			return err
		}
		if h.report.Asked++; res.Text != "" {
			h.report.Orders = append(h.report.Orders, o)
		}
	}
	for _, q := range h.questions {
		at := slices.IndexFunc(h.all, func(of hour) bool { return of.project == q.Project })
		other := h.all[(at+1)%len(h.all)].project
		res, err := h.hook(ctx, h.newSession(), other, op.HookRequest{Event: op.HookPrompt, Prompt: q.Prompt})
		if err != nil {
			return err
		}
		if res.Text != "" && other != q.Project {
			h.report.Foreign++
		}
	}
	return nil
}
