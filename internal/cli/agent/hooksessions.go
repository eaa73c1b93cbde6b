package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/project"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

const oneSession = "a session ID, or the beginning of a session ID"

func hookSessionsCommand(s *cli.App) *cobra.Command {
	var req op.SessionListRequest
	cmd := cli.Command("sessions", cli.NoArgs, nil, func(cmd *cobra.Command, _ []string) error {
		return cli.List(cmd.Context(), s, op.SessionList, &req,
			func(res *op.SessionListResult) int { return len(res.Sessions) },
			func(s *cli.App, res *op.SessionListResult) { printSessions(s, res, req.Days) })
	})
	cli.Bind(cmd.Flags(), &req, "days=7")
	cli.ProjectFilter(cmd.Flags(), &req.Project)
	return cmd
}

func hookShowCommand(s *cli.App) *cobra.Command {
	return cli.Command("show ID", cli.ArgCount(1, 1, oneSession), s.Offer(completeSessions),
		func(cmd *cobra.Command, args []string) error {
			return cli.Show(cmd.Context(), s, op.SessionList, &op.SessionListRequest{ID: args[0]},
				func(s *cli.App, res *op.SessionListResult) {
					for i := range res.Sessions {
						printSession(s, &res.Sessions[i])
					}
				})
		})
}

func hookForgetCommand(s *cli.App) *cobra.Command {
	var req op.SessionForgetRequest
	cmd := cli.Command("forget ID", cli.ArgCount(1, 1, oneSession), s.Offer(completeSessions),
		func(cmd *cobra.Command, args []string) error {
			req.ID = args[0]
			before, err := cli.Call(cmd.Context(), s, op.SessionList, &op.SessionListRequest{ID: req.ID})
			if memory.CodeOf(err) == memory.NotFound {
				before, err = &op.SessionListResult{}, nil // its messages may be stored to be searched
			}
			if err != nil {
				return err
			}
			return cli.Show(cmd.Context(), s, op.SessionForget, &req,
				func(s *cli.App, res *op.SessionForgetResult) { printSessionForgotten(s, res, before) })
		})
	cli.Bind(cmd.Flags(), &req, "dry-run")
	return cmd
}

// completeSessions offers the sessions of a week.
func completeSessions(s *cli.App, cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return cli.Offered(cmd, s, op.SessionList, &op.SessionListRequest{},
		func(res *op.SessionListResult) []op.Session { return res.Sessions },
		func(one *op.Session) cobra.Completion {
			return cobra.CompletionWithDesc(one.ID, one.Agent+", "+cli.Flat(ofProject(one.Project))+", "+
				cli.Ago(s.Now(), one.Last))
		})
}

func printSessions(s *cli.App, res *op.SessionListResult, days int) {
	short := shortSessions(res.Sessions)
	if len(short) == 0 {
		s.Note("no hook reported a session in %s; to see which agents have hooks, run: emberd doctor; "+
			"to add hooks, run: emberd agent install CLIENT --hooks; then start a new session",
			cli.Count(days, "day", "days"))
		return
	}
	const head = "LAST         AGENT        PROMPTS    FOUND USED KEPT PROJECT"
	width := 9
	for _, id := range short {
		width = max(width, len([]rune(cli.Flat(id))))
	}
	s.Printf("%s\n", s.Screen.Paint(cli.Faint, cli.Pad("SESSION", width)+" "+head))
	for i := range res.Sessions {
		one := &res.Sessions[i]
		s.Printf("%s %s %s %7d %8d %4d %4d %s\n", s.Screen.Paint(cli.Yellow, cli.Pad(cli.Flat(short[i]), width)),
			cli.Pad(cli.Ago(s.Now(), one.Last), 12), cli.Pad(cli.Cut(cli.Flat(one.Agent), 12), 12), one.Prompts,
			one.Answered, one.Used, kept(one), cli.Flat(ofProject(one.Project)))
	}
	noteShared(s, res.Sessions)
}

// noteShared names the folders whose sessions share the memories of a project since they have the same name.
func noteShared(s *cli.App, all []op.Session) {
	roots := map[string][]string{}
	for i := range all {
		name, folder := all[i].Project, all[i].Folder
		root := cmp.Or(project.Main(folder), project.Root(folder), folder)
		if name != "" && root != "" && !slices.Contains(roots[name], root) {
			roots[name] = append(roots[name], root)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(roots)) {
		if folders := roots[name]; len(folders) > 1 && project.Of(folders[0])+project.Of(folders[1]) != "" {
			s.Note("sessions in these folders share the memories of the project %s: %s", cli.Flat(name),
				cli.Flat(strings.Join(folders, ", ")))
		}
	}
}

// kept counts the memories that a session left and that are there.
func kept(one *op.Session) (n int) {
	for _, k := range one.Memories {
		if !k.Gone {
			n++
		}
	}
	return n
}

func ofProject(name string) string { return cmp.Or(name, "no project") }

// shortSessions are the beginnings of the sessions' ids that tell them apart, of eight characters at least.
func shortSessions(all []op.Session) []string {
	const least = 8
	short := make([]string, len(all))
	for i := range all {
		id := all[i].ID
		n := min(least, len(id))
		for n < len(id) && shared(all, id[:n]) {
			n++
		}
		short[i] = strings.ToValidUTF8(id[:n], "")
	}
	return short
}

// shared reports whether several ids begin alike.
func shared(all []op.Session, begin string) bool {
	n := 0
	for i := range all {
		if strings.HasPrefix(all[i].ID, begin) {
			n++
		}
	}
	return n > 1
}

func printSession(s *cli.App, one *op.Session) {
	s.Row("session", s.Screen.Paint(cli.Yellow, cli.Flat(one.ID)))
	s.Row("agent", cli.Flat(one.Agent))
	s.Row("project", cli.Flat(ofProject(one.Project)))
	s.Row("started", s.When(one.Started))
	s.Row("last", s.When(one.Last))
	s.Row("prompts", fmt.Sprintf("%d; emberd found memories for %d of the prompts", one.Prompts, one.Answered))
	s.Row("shown", fmt.Sprintf("%s, %d of them used", cli.Count(one.Shown, "memory", "memories"), one.Used))
	s.Row("tokens", cli.Grouped(one.Tokens))
	s.Row("kept", cli.Count(kept(one), "memory", "memories"))
	for i := range one.Memories {
		printKept(s, &one.Memories[i])
	}
	if one.Forbidden > 0 {
		s.Row("forbidden", cli.Count(one.Forbidden, "message", "messages")+
			"; the access token of the hooks cannot save sentences of them")
	}
	if one.Over > 0 {
		s.Row("skipped", cli.Count(one.Over, "sentence", "sentences")+"; over the limit per turn or session")
	}
	if kept(one) > 0 {
		s.Note("to undo, run: emberd hook forget %s", shortSessions([]op.Session{*one})[0])
	}
}

// printKept prints a memory that a session left, or learned once more.
func printKept(s *cli.App, k *op.SessionMemory) {
	how := k.Rule + " of the " + k.From
	switch {
	case k.Gone:
		how += ", deleted since"
	case !k.New:
		how += ", known before"
	}
	s.Printf("  %s %s\n", s.Short(k.ID), s.Screen.Paint(cli.Faint, cli.Flat(how)))
	if !k.Gone {
		s.Printf("%s", s.Screen.Paragraph(cli.Clean(k.Text), nil, "           "))
	}
}

func printSessionForgotten(s *cli.App, res *op.SessionForgetResult, before *op.SessionListResult) {
	texts := map[memory.ID]string{}
	for _, one := range before.Sessions {
		for _, k := range one.Memories {
			texts[k.ID] = k.Text
		}
	}
	verb, undone, removed := "moved to the trash", "no longer reinforced by the session", "removed"
	if res.DryRun {
		verb, undone = "would move to the trash", "would no longer be reinforced by the session"
		removed = "would remove"
	}
	if res.Messages > 0 {
		s.Printf("%s %s of the session permanently\n", removed, cli.Count(res.Messages, "message", "messages"))
	}
	for _, id := range res.Forgotten {
		s.Printf("%s %s: %s\n", s.Short(id), verb, cli.Flat(text.First(texts[id], 100)))
	}
	if res.Undone > 0 {
		s.Printf("%s %s\n", cli.Count(res.Undone, "memory", "memories"), undone)
	}
	for _, left := range res.Left {
		s.Printf("kept %s: %s\n", s.Short(left.ID), cli.Clean(left.Reason))
	}
	if len(res.Forgotten)+res.Undone+len(res.Left)+res.Messages == 0 {
		s.Printf("the session has no memories\n")
	}
	s.UndoHint(res.Tx)
}
