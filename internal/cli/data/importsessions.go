package data

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/hookrun"
	"emberd/internal/project"
	"emberd/internal/transcript"
	"emberd/memory"
	"emberd/op"
)

// sessionsImport reads sessions of coding agents from their transcripts, and has the daemon keep what a hook would
// have kept of them, or store them to be searched.
type sessionsImport struct {
	s          *cli.App
	agent      string
	project    string
	since      cli.Window
	searchOnly bool
	dryRun     bool
	off        []hookrun.OffSession
	report     sessionsReport
}

func importSessionsCommand(s *cli.App) *cobra.Command {
	r := &sessionsImport{s: s}
	cmd := cli.Command("sessions", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return r.run(cmd.Context())
	})
	f := cmd.Flags()
	f.StringVar(&r.agent, "agent", "", "")
	cli.ProjectFilter(f, &r.project)
	f.Var(&r.since, "since", "")
	f.BoolVar(&r.searchOnly, "search-only", false, "")
	f.BoolVar(&r.dryRun, "dry-run", false, "")
	cli.CompleteWords(cmd, "agent", transcript.Agents()...)
	return cmd
}

func (r *sessionsImport) run(ctx context.Context) error {
	files, err := r.files()
	if err != nil {
		return err
	}
	if err := r.mayKeep(ctx); err != nil {
		return err
	}
	c, err := r.s.Load()
	if err != nil {
		return err
	}
	r.off = hookrun.OffSessions(c.State)
	r.report = sessionsReport{DryRun: r.dryRun, SearchOnly: r.searchOnly, Agents: []*agentSessions{},
		Errors: []fileError{}}
	progress := cli.NewSteps(r.s, "transcripts", len(files))
	for i, f := range files {
		if err = r.file(ctx, f); err != nil {
			break
		}
		progress.Reached(int64(i+1), int64(len(files)))
	}
	progress.Done()
	if err != nil && len(r.report.Agents) == 0 {
		return err
	}
	if printErr := r.report.print(r.s); printErr != nil {
		return printErr
	}
	if err == nil && len(r.report.Errors) > 0 {
		err = &cli.Exit{Code: cli.ExitNothing}
	}
	return err
}

// files returns the transcripts that changed in the time that was asked for, the oldest first.
func (r *sessionsImport) files() ([]transcript.File, error) {
	m, err := cli.ThisMachine(r.s)
	if err != nil {
		return nil, err
	}
	var agents []string
	if r.agent != "" {
		agents = []string{r.agent}
	}
	files, err := transcript.Find(m.Home, m.Env, agents)
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "%w; use one of %s", err, strings.Join(transcript.Agents(), ", "))
	}
	return slices.DeleteFunc(files, func(f transcript.File) bool { return r.tooOld(f.Modified) }), nil
}

func (r *sessionsImport) tooOld(t time.Time) bool {
	day := float64(24 * time.Hour)
	return r.since.Days > 0 && r.s.Now().Sub(t) > time.Duration(r.since.Days*day)
}

// mayKeep fails if the daemon keeps nothing of sessions. Who may not see that setting finds out by the report.
func (r *sessionsImport) mayKeep(ctx context.Context) error {
	if r.searchOnly {
		return nil
	}
	res, err := cli.Call(ctx, r.s, op.SessionList, &op.SessionListRequest{})
	if memory.CodeOf(err) == memory.Forbidden {
		return nil
	}
	if err == nil && !res.Capture {
		err = memory.Errorf(memory.Conflict,
			"hooks.capture is false, so emberd saves no sessions; to change the setting, run: %s",
			cli.Again(r.s, "config", "set", "hooks.capture", "true"))
	}
	return err
}

// file reads one transcript. What is wrong with it is noted; the error is that of a daemon that does not answer.
func (r *sessionsImport) file(ctx context.Context, f transcript.File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	of := r.report.of(f.Agent)
	of.Files++
	all, err := transcript.ReadFile(ctx, f.Agent, f.Path)
	if err != nil {
		r.report.fail(f.Path, err)
		return nil
	}
	for _, one := range all {
		of.Skipped += one.Skipped
		if len(one.Messages) == 0 && one.Skipped > 0 {
			r.report.fail(f.Path, memory.Errorf(memory.Invalid, "cannot read %s of the session; found no messages",
				cli.Count(one.Skipped, "line", "lines")))
		}
		if err := r.session(ctx, f, one, of); err != nil {
			return err
		}
	}
	return nil
}

// session has the daemon keep what is worth it of a session, unless hooks are off where it was, or were off in it.
func (r *sessionsImport) session(ctx context.Context, f transcript.File, one *transcript.Session,
	of *agentSessions) error {
	n := len(one.Messages)
	if n == 0 || !one.Messages[n-1].At.IsZero() && r.tooOld(one.Messages[n-1].At) {
		return nil
	}
	project := project.OfSession(one.Folder)
	if r.project != "" && project != r.project {
		return nil
	}
	id := cmp.Or(one.ID, strings.TrimSuffix(filepath.Base(f.Path), filepath.Ext(f.Path)))
	if hookrun.Off(one.Folder) || slices.Contains(r.off, hookrun.OffSession{Agent: f.Agent, Session: id}) {
		of.Off++
		return nil
	}
	of.Sessions, of.Messages = of.Sessions+1, of.Messages+n
	as := op.WithCaller(ctx, memory.Actor{Client: "hook/" + f.Agent}) // as its hooks would have told of it
	var got op.HookResult
	for _, part := range parts(one.Messages) {
		res, err := cli.Call(as, r.s, op.Hook, &op.HookRequest{Agent: f.Agent, Event: op.HookTurn, Session: id,
			Project: project, Folder: one.Folder, Messages: part, Whole: true, SearchOnly: r.searchOnly,
			DryRun: r.dryRun, Tx: r.report.Tx})
		if code := memory.CodeOf(err); code == memory.Invalid || code == memory.TooLarge {
			r.report.fail(f.Path, err)
			return nil
		}
		if err != nil {
			return err
		}
		of.take(res)
		r.report.Tx = cmp.Or(res.Tx, r.report.Tx)
		r.report.take(project, f.Agent, res)
		got.Stored, got.Left, got.Forgotten = got.Stored+res.Stored, got.Left+res.Left, res.Forgotten
	}
	r.report.store(project, of, &got)
	return nil
}

const (
	maxPart    = 3 << 20 // bytes of JSON of the messages in one request
	maxSaid    = 1 << 20 // bytes of the text of one message; the rest is not read
	maxPartLen = 20_000  // messages
)

// parts splits a session that is too long for one request, where a person says something if that can be.
func parts(messages []op.SessionMessage) (all [][]op.SessionMessage) {
	size, from, turn := 0, 0, 0
	for i := range messages {
		m := &messages[i]
		m.Text = strings.ToValidUTF8(m.Text[:min(len(m.Text), maxSaid)], "")
		if m.Role == op.RoleUser {
			turn = i
		}
		raw, _ := json.Marshal(m) // texts and times
		if size+len(raw) > maxPart || i-from >= maxPartLen {
			end := i
			if turn > from {
				end = turn
			}
			all, size, from = append(all, messages[from:end]), 0, end
			for _, before := range messages[from:i] {
				raw, _ := json.Marshal(before)
				size += len(raw)
			}
		}
		size += len(raw)
	}
	return append(all, messages[from:])
}
