package cleanup

import (
	"context"
	"errors"
	"path"
	"strings"

	"emberd/engine/core"
	"emberd/engine/listnotes"
	"emberd/engine/promote"
	"emberd/internal/cleanup"
	"emberd/internal/cleanup/runstore"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// reportFolder is the folder of reports in the archive folder: they can be opened and linked
// to, and searches do not find them.
const reportFolder = "Cleanup"

// rolledBack ends the name of the second report on a run that was rolled back.
const rolledBack = " rolled back"

// cleanupMarkdown returns the report on a run for the current memories. Without texts it
// contains nothing of a memory but the names of notes; see PurgeReports.
func (e *Cleanup) cleanupMarkdown(run *runstore.Run, texts bool) (string, error) {
	plan, err := e.Cleanups.Folder.Plan(run.ID)
	if err != nil {
		return "", err
	}
	told := *run
	e.markUndone(&told)
	actions := outcomes(&told, plan)
	if !texts {
		for i := range actions {
			actions[i].Evidence = ""
		}
	}
	left := 0
	if texts {
		left = maxForgotten
	}
	return cleanup.Report(&told.CleanupRun, actions,
		func(id memory.ID) cleanup.Shown { return e.shownInReport(id, texts, &left) }), nil
}

// maxForgotten is how many texts a report reads from the trash, at some milliseconds each.
// Other memories have only their ID in it.
const maxForgotten = 500

func (e *Cleanup) shownInReport(id memory.ID, texts bool, left *int) (s cleanup.Shown) {
	row, live := e.Stm.Get(id)
	var m memory.Memory
	var err error
	switch {
	case live:
		m, err = row.Memory()
	case *left > 0:
		*left--
		m, err = e.Stm.ReadTrashed(id)
	}
	if err != nil {
		return s
	}
	if live && m.NoteGone.IsZero() {
		s.Note = core.NotePath(&m)
	}
	if texts && listnotes.Listable(m.Content) == "" {
		s.Text = m.Content
	}
	return s
}

// PurgeReports reports the cleanup reports that link to a note of a memory, because the name
// of a note begins like its text. The first report on a run does not change after a rollback.
func (e *Cleanup) PurgeReports(id memory.ID, res *op.PurgeResult) error {
	if e.Notes.Vault == nil {
		return nil // without a vault no report links to a note
	}
	reports, err := e.Cleanups.Folder.Reports(id)
	for _, name := range reports {
		first := strings.TrimSuffix(strings.TrimSuffix(name, ".md"), rolledBack) + ".md"
		res.Left = append(res.Left,
			op.PurgeLeft{Kind: "note", Place: first,
				Advice: "this cleanup report might contain the name of a note of the memory, and the name begins " +
					"with words of the text; to remove the name, delete the report"})
	}
	return err
}

// writeReport stores the report on a run that was to change something: as a note in the vault,
// or beside the run without one.
func (e *Cleanup) writeReport(ctx context.Context, run *runstore.Run) error {
	if !run.Executing {
		return nil
	}
	text, err := e.cleanupMarkdown(run, false)
	if err != nil {
		return err
	}
	if e.Notes.Vault != nil && e.Opt.VaultArchive != "" && e.Notes.VaultUnavailable() == "" {
		name, err := e.reportNote(ctx, run.ID, text)
		if err == nil {
			run.Report = name
			return nil
		}
		e.Opt.Logger.Warn("cleanup report not written to the vault", "run", run.ID, "err", err)
	}
	run.Report, err = e.Cleanups.Folder.SaveReport(run.ID, text)
	return err
}

// reportNote creates the note of a report. If it exists, it is from before a rollback and
// stays, and another one is created.
func (e *Cleanup) reportNote(ctx context.Context, id, text string) (string, error) {
	for _, suffix := range []string{"", rolledBack} {
		name := path.Join(e.Opt.VaultArchive, reportFolder, id+suffix+".md")
		res, err := e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result,
			error) {
			return w.Create(ctx, name, []byte(text))
		})
		switch {
		case err != nil:
			return "", promote.DiskError(name, err)
		case res.Outcome == vault.Written:
			e.Promote.IndexNote(ctx, name)
			return name, nil
		case res.Reason != vault.NameTaken:
			return "", errors.New(string(res.Reason))
		}
	}
	return "", errors.New("cannot write the cleanup report: notes with the name of the report already exist")
}
