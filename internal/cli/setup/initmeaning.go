package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"emberd/embedding"
	"emberd/internal/cli"
	"emberd/internal/cli/model"
	"emberd/internal/config"
	"emberd/memory"
)

// meaning says what vectors are to be made with, nil to leave that as it is. dir is the vault.
func (q *questions) meaning(c *config.Config, flag, dir string) (*model.Choice, error) {
	if flag != "" {
		return q.meaningNamed(c, flag)
	}
	now := model.Chosen(c)
	if !q.asks || now == "" {
		return nil, nil
	}
	names := q.listMeaning(c, dir)
	for {
		text, err := q.answer(fmt.Sprintf("Model (a number or a name) [%s]:", cli.Flat(now)))
		if err != nil || text == "" {
			return nil, err
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(names) {
			text = names[n-1]
		}
		choice, ok, err := q.agreed(c, text)
		if err != nil || ok {
			return choice, err
		}
	}
}

// meaningNamed is the choice that a flag names.
func (q *questions) meaningNamed(c *config.Config, name string) (*model.Choice, error) {
	choice, err := choose(q.s, c, name)
	if err != nil || choice.Known == nil {
		return choice, err
	}
	if !q.asks {
		return nil, memory.Errorf(memory.NotFound, "model %s is not installed, and emberd does not download it "+
			"automatically; run: emberd model install %s, and then repeat this command", name, name)
	}
	ok, err := q.download(choice)
	if err != nil || !ok {
		return nil, err
	}
	return choice, nil
}

// agreed is the choice that an answer means, if it can be had and may be downloaded; else, what is in
// the way is on the screen.
func (q *questions) agreed(c *config.Config, text string) (choice *model.Choice, ok bool, err error) {
	choice, err = choose(q.s, c, text)
	if err != nil {
		q.s.Note("%s", cli.Clean(err.Error()))
		return nil, false, nil
	}
	if choice.Known != nil {
		ok, err = q.download(choice)
		return choice, ok, err
	}
	return choice, true, nil
}

// choose returns a choice whose settings can be changed.
func choose(s *cli.App, c *config.Config, name string) (*model.Choice, error) {
	choice, err := model.Choose(c, name)
	if err != nil {
		return nil, err
	}
	return choice, cli.Changeable(s, c, choice.Changes)
}

// download asks whether a known model is to be downloaded.
func (q *questions) download(choice *model.Choice) (bool, error) {
	ok, err := q.yes(fmt.Sprintf("Download %s, %s?", choice.Name, cli.Flat(choice.About())))
	if err == nil && !ok {
		q.s.Note("no download")
	}
	return ok, err
}

// listMeaning shows the answers, and returns them by number.
func (q *questions) listMeaning(c *config.Config, dir string) []string {
	q.s.Printf("\n" +
		"Semantic search also matches related words: \"car insurance\" finds the policy for the van.\n")
	names := []string{model.ByWords, embedding.Static}
	about := []string{"keyword search only",
		"a built-in table of English words; returns more results than keyword search, but fewer than a trained model"}
	t, err := model.AtHand(c)
	if err != nil {
		q.s.Note("%s", cli.Clean(err.Error()))
	}
	if t != nil {
		names = append(names, t.Name)
		about = append(about, strings.Join(cli.NonEmpty(t.About(), takes(q.ctx, c, t, dir)), "; "))
	}
	for i, name := range names {
		q.s.Printf("  %d  %s\n%s", i+1, cli.Flat(name), q.s.Screen.Paragraph(about[i], nil, "     "))
	}
	return names
}

// takes says how long it takes until a vault has its vectors.
func takes(ctx context.Context, c *config.Config, t *model.Trained, dir string) string {
	notes, bytes, err := vaultSize(ctx, dir)
	if err != nil || notes == 0 {
		return ""
	}
	took, measured := t.Takes(ctx, c, bytes)
	text := fmt.Sprintf("about %s to embed %s, with %s of one processor", cli.Lasted(max(took, time.Second)),
		cli.Count(notes, "note", "notes"), cli.Percent(c.Embedding.CPUShare))
	if !measured {
		text += ", estimated on another machine"
	}
	return text
}

// countTime is how long the notes of a vault are counted at most.
const countTime = 2 * time.Second

// vaultSize returns how many notes are in a folder, and their size. Hidden folders have none.
func vaultSize(ctx context.Context, dir string) (notes int, bytes int64, err error) {
	if dir == "" {
		return 0, 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	dir = cli.Linkless(dir)
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil // what cannot be read gets no vectors
		case entry.IsDir() && path != dir && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !strings.EqualFold(filepath.Ext(path), ".md"):
			return nil
		}
		if info, err := entry.Info(); err == nil {
			notes, bytes = notes+1, bytes+info.Size()
		}
		return nil
	})
	return notes, bytes, err
}

// settleMeaning installs the model of a plan and adds its settings to those that change. If it cannot be
// had, what vectors are made with stays as it is: emberd works without.
func settleMeaning(ctx context.Context, s *cli.App, c *config.Config, p *plan) error {
	if p.meaning == nil {
		return nil
	}
	if p.meaning.Known != nil {
		err := p.meaning.Install(ctx, s, c)
		switch {
		case ctx.Err() != nil:
			return errors.Join(ctx.Err(), err)
		case err != nil:
			s.Note(
				"model %s was not installed: %s; to retry, run: emberd model install %s, and then: emberd model use %s",
				p.meaning.Name, cli.Clean(err.Error()), p.meaning.Name, p.meaning.Name)
			p.meaning = nil
			return nil
		}
	}
	p.changes = append(p.changes, p.meaning.Changes...)
	return nil
}
