package data

import (
	"cmp"
	"slices"

	"emberd/internal/cli"
	"emberd/op"
)

// storedSessions counts what an import stored to be searched.
type storedSessions struct {
	Stored    int `json:"stored,omitempty"`    // messages
	Grown     int `json:"grown,omitempty"`     // sessions that they are of
	Left      int `json:"left,omitempty"`      // messages for which a session has no more room
	Forgotten int `json:"forgotten,omitempty"` // sessions that were forgotten, and are not stored again
}

// projectSessions is what was stored of the sessions in a project.
type projectSessions struct {
	Project  string `json:"project"` // "" for none
	Sessions int    `json:"sessions"`
	Messages int    `json:"messages"`
}

// store counts what was stored of a session.
func (r *sessionsReport) store(project string, of *agentSessions, res *op.HookResult) {
	of.Stored, of.Left = of.Stored+res.Stored, of.Left+res.Left
	if res.Forgotten {
		of.Forgotten++
	}
	if res.Stored == 0 {
		return
	}
	of.Grown++
	i := slices.IndexFunc(r.Projects, func(p *projectSessions) bool { return p.Project == project })
	if i < 0 {
		i, r.Projects = len(r.Projects), append(r.Projects, &projectSessions{Project: project})
	}
	r.Projects[i].Sessions, r.Projects[i].Messages = r.Projects[i].Sessions+1, r.Projects[i].Messages+res.Stored
}

// printStored shows what was stored, by agent and by project.
func (r *sessionsReport) printStored(s *cli.App) {
	s.Printf("%s\n", s.Screen.Paint(cli.Faint, "AGENT        FILES SESSIONS MESSAGES STORED"))
	var all storedSessions
	off := 0
	for _, a := range r.Agents {
		s.Printf("%s %5d %8d %8d %6d\n", cli.Pad(cli.Cut(cli.Flat(a.Agent), 12), 12), a.Files, a.Sessions, a.Messages,
			a.Stored)
		all.Stored, all.Grown, all.Left = all.Stored+a.Stored, all.Grown+a.Grown, all.Left+a.Left
		all.Forgotten, off = all.Forgotten+a.Forgotten, off+a.Off
	}
	verb := "stored"
	if r.DryRun {
		verb = "would store"
	}
	of := func(messages, sessions int) string {
		return cli.Count(messages, "message", "messages") + " of " + cli.Count(sessions, "session", "sessions")
	}
	s.Printf("%s %s\n", verb, of(all.Stored, all.Grown))
	slices.SortFunc(r.Projects, func(a, b *projectSessions) int { return cmp.Compare(a.Project, b.Project) })
	for _, p := range r.Projects {
		s.Printf("  %s: %s\n", cmp.Or(cli.Flat(p.Project), "no project"), of(p.Messages, p.Sessions))
	}
	r.noteLeft(s, &all, off)
}

func (r *sessionsReport) noteLeft(s *cli.App, all *storedSessions, off int) {
	if off > 0 {
		s.Note("skipped %s where hooks are or were off", cli.Count(off, "session", "sessions"))
	}
	if all.Forgotten > 0 {
		s.Note("skipped %s that emberd hook forget removed", cli.Count(all.Forgotten, "session", "sessions"))
	}
	if all.Left > 0 {
		s.Note("skipped %s of sessions that reached the size limit", cli.Count(all.Left, "message", "messages"))
	}
	if all.Stored > 0 && !r.DryRun {
		s.Note("to search the messages, run: %s", cli.Again(s, "search", "--scope", "sessions", "WORDS"))
	}
}
