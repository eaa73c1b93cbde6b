package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"emberd/internal/cli"
	"emberd/internal/cli/page"
	"emberd/internal/project"
	"emberd/internal/text"
	"emberd/op"
)

// How long init waits for the daemon: after its service was installed, and after the user says that it was started.
const (
	serviceStart = 10 * time.Second
	manualStart  = 3 * time.Second
)

// first goes with the user from a running daemon to the first memory and the page. Everything is offered; the end of
// the input declines what is left.
func (q *questions) first(p *plan, done *setupDone) error {
	up, err := q.daemonUp(p)
	if err != nil || !up {
		return err
	}
	if done.Memory, err = q.firstMemory(); err != nil {
		return err
	}
	q.s.Printf("\n")
	show, err := q.offer("Open the page with your memories in a browser? Ctrl+C closes the page.")
	done.page = show
	return err
}

// offer is yes, with no for an input that ended.
func (q *questions) offer(question string) (bool, error) {
	answer, ok, err := q.optional(question + " [y/N]")
	return ok && cli.SaysYes(answer), err
}

// optional asks what may stay unanswered: ok is false if the input ended.
func (q *questions) optional(question string) (answer string, ok bool, err error) {
	answer, err = q.answer(question)
	if q.ctx.Err() != nil {
		return "", false, q.ctx.Err()
	}
	return answer, err == nil, nil
}

// daemonUp reports whether the daemon answers. Without a service the user starts it.
func (q *questions) daemonUp(p *plan) (bool, error) {
	if p.service {
		up := q.answers(serviceStart)
		if !up && q.ctx.Err() == nil {
			q.s.Note("the daemon does not respond yet; to see why, run: %s", cli.Again(q.s, "service", "logs"))
		}
		return up, q.ctx.Err()
	}
	if q.answers(0) {
		return true, nil
	}
	q.s.Printf("\nThe daemon is not running. To start it, run in another terminal: %s\n", startCommand(q.s))
	for !p.started {
		answer, ok, err := q.optional("Then press Enter to save a first memory, or type skip:")
		if err != nil || !ok || answer != "" {
			return false, err
		}
		if p.started = q.answers(manualStart); !p.started && q.ctx.Err() == nil {
			q.s.Note("the daemon does not respond yet; start it, or type skip")
		}
	}
	return true, nil
}

// answers reports whether the daemon answers within a time.
func (q *questions) answers(within time.Duration) bool {
	for deadline := time.Now().Add(within); ; {
		if _, err := cli.Call(q.ctx, q.s, op.Version, &op.VersionRequest{}); err == nil {
			return true
		}
		if !time.Now().Before(deadline) {
			return false
		}
		select {
		case <-q.ctx.Done():
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// firstMemory saves a sentence of the user's and finds it again. It returns nil if there is none.
func (q *questions) firstMemory() (*firstMemory, error) {
	q.s.Printf("\nA memory is a short text, such as: Deploys wait for the migration job\n")
	for {
		about, ok, err := q.optional("Your first memory (Enter for none):")
		if err != nil || !ok || about == "" {
			return nil, err
		}
		saved, err := cli.Call(q.ctx, q.s, op.Save, &op.SaveRequest{Content: about, Project: project.Here(),
			ProjectInferred: true})
		if err != nil { // such as a credential
			q.s.Note("%s", cli.Clean(err.Error()))
			continue
		}
		q.s.Printf("saved %s  %s\n", q.s.Short(saved.Memory.ID), q.s.Gist(about, len("saved 12345678  ")))
		q.s.Note("to undo, run: %s", cli.Again(q.s, "undo"))
		return q.findAgain(&saved.Memory, about)
	}
}

// findAgain searches for a memory with the words of its text that say most, and shows the command for it.
func (q *questions) findAgain(m *op.Memory, about string) (*firstMemory, error) {
	first := &firstMemory{ID: m.ID, Query: longestWords(about, 3)}
	res, err := cli.Call(q.ctx, q.s, op.Search, &op.SearchRequest{Query: first.Query, Limit: 10, Track: new(bool)})
	if err != nil {
		return first, err
	}
	first.Found = slices.ContainsFunc(res.Hits, func(h op.Hit) bool { return h.ID == m.ID })
	q.s.Printf("%s\n", q.s.Screen.Paint(cli.Faint, "$ "+cli.Again(q.s, "search", text.ShellQuote(first.Query))))
	if first.Found {
		q.s.Printf("found %s  %s\n", q.s.Short(m.ID), q.s.Gist(m.Content, len("found 12345678  ")))
		return first, nil
	}
	q.s.Note("the search does not return this memory yet; to see why, run: %s", cli.Again(q.s, "search", "--why-not",
		m.ID.Short(), text.ShellQuote(first.Query)))
	return first, nil
}

// longestWords returns the n longest words of a text, in their order.
func longestWords(text string, n int) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t.,;:!?\"'()[]<>-", r) })
	longest := slices.Clone(words)
	slices.SortStableFunc(longest, func(a, b string) int {
		return utf8.RuneCountInString(b) - utf8.RuneCountInString(a)
	})
	longest = longest[:min(n, len(longest))]
	var kept []string
	for _, word := range words {
		if i := slices.Index(longest, word); i >= 0 {
			kept, longest = append(kept, word), slices.Delete(longest, i, i+1)
		}
	}
	return strings.Join(kept, " ")
}

// startCommand is the command that serves this home in a terminal in which EMBERD_HOME may not be set.
func startCommand(s *cli.App) string {
	command := cli.Again(s, "serve")
	if home := cli.Getenv(s, "EMBERD_HOME"); s.Home == "" && home != "" {
		if at, err := filepath.Abs(home); err == nil && home[0] != '~' {
			home = at
		}
		command += " --home " + text.ShellWord(home)
	}
	return command
}

// openPage serves the page until the user ends it.
func openPage(ctx context.Context, s *cli.App) error {
	cmd := page.Command(s)
	cmd.SetContext(ctx)
	if err := cmd.RunE(cmd, nil); err != nil {
		return fmt.Errorf("setup is complete, but the page was not opened: %w; to retry, run: emberd page", err)
	}
	return nil
}
