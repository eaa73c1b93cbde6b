package engine

import (
	"context"
	"errors"
	"path"
	"strings"

	"emberd/internal/cleanrun"
	"emberd/internal/cleanup"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// reportFolder is where reports go, in the archive folder: they can be opened and linked
// to, and no search finds them.
const reportFolder = "Cleanup"

// rolledBack ends the name of the second report on a run that was taken back.
const rolledBack = " rolled back"

// cleanupMarkdown writes the report on a run, of the memories as they are now. Without
// texts it holds nothing that a memory says but the names of notes; see purgeReports.
func (e *Engine) cleanupMarkdown(run *cleanrun.Run, texts bool) (string, error) {
	plan, err := e.cleanups.folder.Plan(run.ID)
	if err != nil {
		return "", err
	}
	told := *run
	e.tellUndone(&told)
	actions := outcomes(run, plan)
	if !texts {
		for i := range actions {
			actions[i].Evidence = ""
		}
	}
	left := 0
	if texts {
		left = mostForgotten
	}
	return cleanup.Report(&told.CleanupRun, actions, func(id memory.ID) cleanup.Shown { return e.shownInReport(id, texts, &left) }), nil
}

// mostForgotten is how many texts a report takes from the trash, each of which takes some
// milliseconds; what is beyond is named by its id alone.
const mostForgotten = 500

func (e *Engine) shownInReport(id memory.ID, texts bool, left *int) (s cleanup.Shown) {
	row, live := e.stm.Get(id)
	var m memory.Memory
	var err error
	switch {
	case live:
		m, err = row.Memory()
	case *left > 0:
		*left--
		m, err = e.stm.Forgotten(id)
	}
	if err != nil {
		return s
	}
	if live && m.NoteGone.IsZero() {
		s.Note = homeOf(&m)
	}
	if texts && listable(m.Content) == "" {
		s.Text = m.Content
	}
	return s
}

// purgeReports tells of the reports that link to a note of a memory: the name of that begins
// like its text. That a run was taken back since changed nothing in the first one.
func (e *Engine) purgeReports(id memory.ID, res *op.PurgeResult) error {
	if e.notes == nil {
		return nil // without a vault there are no notes that one could link to
	}
	reports, err := e.cleanups.folder.Reports(id)
	for _, name := range reports {
		first := strings.TrimSuffix(strings.TrimSuffix(name, ".md"), rolledBack) + ".md"
		res.Left = append(res.Left, op.PurgeLeft{Kind: "note", Place: first, Advice: "this report on a cleanup may link to a note of the memory, whose name begins like the text; delete it, too, if that is to go"})
	}
	return err
}

// writeReport keeps the report on a run that changed something, or was to, as a note where
// there is a vault and else beside the run.
func (e *Engine) writeReport(ctx context.Context, run *cleanrun.Run) error {
	if !run.Executing {
		return nil
	}
	text, err := e.cleanupMarkdown(run, false)
	if err != nil {
		return err
	}
	if e.notes != nil && e.opt.VaultArchive != "" && e.vaultAway() == "" {
		name, err := e.reportNote(ctx, run.ID, text)
		if err == nil {
			run.Report = name
			return nil
		}
		e.opt.Logger.Warn("report of the cleanup not written to the vault", "run", run.ID, "err", err)
	}
	run.Report, err = e.cleanups.folder.SaveReport(run.ID, text)
	return err
}

// reportNote makes the note of a run. One that is there is the report from before the run
// was rolled back, and stays: another one is made beside it.
func (e *Engine) reportNote(ctx context.Context, id, text string) (string, error) {
	for _, suffix := range []string{"", rolledBack} {
		name := path.Join(e.opt.VaultArchive, reportFolder, id+suffix+".md")
		res, err := e.writing.do(func(w *vault.Writer) (vault.Result, error) { return w.Create(ctx, name, []byte(text)) })
		switch {
		case err != nil:
			return "", diskError(name, err)
		case res.Outcome == vault.Written:
			e.indexNote(ctx, name)
			return name, nil
		case res.Reason != vault.NameTaken:
			return "", errors.New(string(res.Reason))
		}
	}
	return "", errors.New("notes of its name are there already")
}
