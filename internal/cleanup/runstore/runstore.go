// Package runstore keeps the runs of cleanups in a folder: the phase of each, its plan and its
// outcome, so that the daemon can resume a run that was interrupted anywhere.
//
// A run has a small file NAME.json, which is replaced atomically whenever the run advances,
// and, once it is planned, a file NAME.plan.json with all actions and queries. The plan is
// written before the first action and never changes, so that a resumed run applies what was
// planned and not what a second plan would contain.
package runstore

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"emberd/internal/cleanup"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// Phase is what a run has to do next. The zero Phase is not one.
type Phase string

// The phases, in their order; a run goes from Validate to Rollback only if it failed.
const (
	Begin    Phase = "begin"    // the backup and the plan; nothing is changed yet
	Execute  Phase = "execute"  // the actions
	Validate Phase = "validate" // whether everything is still found
	Rollback Phase = "rollback" // taking the actions back
	Ended    Phase = "ended"
)

// Run is a run as its file has it, without its actions.
type Run struct {
	op.CleanupRun
	Phase       Phase        `json:"phase"`
	By          memory.Actor `json:"by"`
	Executing   bool         `json:"executing,omitempty"` // not a dry run
	Incremental bool         `json:"incremental,omitempty"`
	// Since is the stamp of the log when it began: its journal entry is a later one.
	Since string `json:"since,omitempty"`
	// Next is how many of the planned actions were tried.
	Next int `json:"next,omitempty"`
	// Problems are why actions were not carried out, by their place in the plan.
	Problems map[int]string `json:"problems,omitempty"`
	// Asked are the indexes in the plan of the rewrites that are left to the user.
	Asked []int `json:"asked,omitempty"`
	// Restarts counts how often a daemon went on with it.
	Restarts int `json:"restarts,omitempty"`
	// Entered is when this daemon began or went on with it, by the clock of the engine.
	Entered time.Time `json:"-"`
}

// Changing reports whether the run may have changed something and is not through with it.
func (r *Run) Changing() bool { return r.Executing && r.Phase != Begin && r.Phase != Ended }

// Plan is what a run is going to do, and the searches that tell whether it went well.
type Plan struct {
	Actions []cleanup.Action `json:"actions"`
	Queries []cleanup.Query  `json:"queries,omitempty"`
	// Answers are what the queries were answered with before anything was changed.
	Answers [][]memory.ID `json:"answers,omitempty"`
	// Junk are the memories that the rules found too little of to be missed.
	Junk []memory.ID `json:"junk,omitempty"`
	// Seen are the memories that actions change, as they were then.
	Seen map[memory.ID]Seen `json:"seen,omitempty"`
	// Quality is what is to be kept of the judgement of each memory.
	Quality map[memory.ID]json.RawMessage `json:"quality,omitempty"`
}

// Seen is a memory as a plan was made for it: when its text was written, by the stamp of
// the log, and when it was used last. Clocks are set back, and what another device wrote
// before the run may arrive during it.
type Seen struct {
	Text string    `json:"text"`
	Used time.Time `json:"used,omitzero"`
}

// Folder keeps runs. It may be shared; runs are not locked by it.
type Folder struct {
	fs   durable.FS
	path string
}

// NewFolder keeps runs at a path, which need not be there yet.
func NewFolder(fsys durable.FS, path string) *Folder { return &Folder{fsys, path} }

// maxRuns are kept; of more the oldest ones go that have ended.
const maxRuns = 200

const (
	runSuffix    = ".json"
	planSuffix   = ".plan.json"
	reportSuffix = ".md"
)

// NewID names a run that begins at a time, so that names sort by it:
// 20260102-150405-8c1f.
func NewID(at time.Time) string {
	var b [2]byte
	_, _ = rand.Read(b[:]) // it never fails
	return at.UTC().Format("20060102-150405-") + hex.EncodeToString(b[:])
}

// Save writes how far a run is.
func (f *Folder) Save(r *Run) error {
	kept := *r
	kept.Actions = nil
	return f.write(r.ID+runSuffix, kept)
}

// SavePlan writes the plan of a run.
func (f *Folder) SavePlan(id string, p *Plan) error { return f.write(id+planSuffix, p) }

// SaveReport writes the report on a run and returns the name of its file.
func (f *Folder) SaveReport(id, markdown string) (string, error) {
	name := filepath.Join(f.path, id+reportSuffix)
	return name, f.put(name, []byte(markdown))
}

func (f *Folder) write(name string, what any) error {
	data, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("cannot write %s of a cleanup run: %w", name, err)
	}
	return f.put(filepath.Join(f.path, name), data)
}

func (f *Folder) put(name string, data []byte) error {
	err := durable.MkdirAll(f.fs, f.path)
	if err == nil {
		err = durable.ReplaceFile(f.fs, name, data)
	}
	if err != nil {
		return fmt.Errorf("cannot store a cleanup run: %w", err)
	}
	return nil
}

// Plan reads the plan of a run; one without has an empty one.
func (f *Folder) Plan(id string) (*Plan, error) {
	p := new(Plan)
	return p, f.read(id+planSuffix, p)
}

func (f *Folder) read(name string, into any) error {
	data, err := durable.ReadAll(f.fs, filepath.Join(f.path, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("cannot read %s of a cleanup run: %w", name, err)
	}
	return nil
}

// Runs lists the runs, the latest first. What cannot be read is left out and named in the
// error, beside the others.
func (f *Folder) Runs() ([]Run, error) {
	files, err := f.fs.ReadDir(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list the cleanup runs: %w", err)
	}
	var runs []Run
	var faults []error
	for _, file := range files {
		name := file.Name()
		if !strings.HasSuffix(name, runSuffix) || strings.HasSuffix(name, planSuffix) || strings.HasPrefix(name, ".") {
			continue
		}
		var r Run
		if err := f.read(name, &r); err != nil {
			faults = append(faults, err)
			continue
		}
		if r.ID+runSuffix == name {
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID)) })
	return runs, errors.Join(faults...)
}

// Find returns the one run whose id begins with a text, or for "" the latest one that
// fits.
func (f *Folder) Find(id string, fits func(*Run) bool) (*Run, error) {
	runs, err := f.Runs()
	if err != nil && len(runs) == 0 {
		return nil, err
	}
	var found []*Run
	for i := range runs {
		if r := &runs[i]; r.ID == id || id == "" && fits(r) {
			return r, nil
		} else if id != "" && strings.HasPrefix(r.ID, id) {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, memory.Errorf(memory.Ambiguous,
			"several cleanup runs begin with %.40q (%s, %s); use a longer part of the ID", id, found[0].ID,
			found[1].ID).At("run")
	case id == "" && len(runs) > 0:
		return nil, memory.Errorf(memory.NotFound,
			"no cleanup run to roll back; run: emberd health cleanup history").At("run")
	case id == "":
		return nil, memory.Errorf(memory.NotFound,
			"no cleanup runs yet; run: emberd health cleanup -c COLLECTION").At("run")
	}
	return nil, memory.Errorf(memory.NotFound, "cleanup run %.40q not found; run: emberd health cleanup history",
		id).At("run")
}

// Reports returns the kept reports of the runs that planned something about a memory.
func (f *Folder) Reports(about memory.ID) ([]string, error) {
	runs, err := f.Runs()
	var out []string
	for i := range runs {
		if runs[i].Report == "" {
			continue
		}
		p, failed := f.Plan(runs[i].ID)
		err = errors.Join(err, failed)
		if failed == nil &&
			slices.ContainsFunc(p.Actions, func(a cleanup.Action) bool { return slices.Contains(a.MemoryIDs, about) }) {
			out = append(out, runs[i].Report)
		}
	}
	return out, err
}

// Forget takes out of all plans what may hold words of a memory that was purged: the
// evidence of actions about it, and queries that were made of it.
func (f *Folder) Forget(id memory.ID) error {
	runs, err := f.Runs()
	for i := range runs {
		p, failed := f.Plan(runs[i].ID)
		if failed == nil && p.forget(id) {
			failed = f.SavePlan(runs[i].ID, p)
		}
		err = errors.Join(err, failed)
	}
	return err
}

// forget reports whether there was anything.
func (p *Plan) forget(id memory.ID) (found bool) {
	for i := range p.Actions {
		a := &p.Actions[i]
		about := slices.Contains(a.MemoryIDs, id)
		for j := range a.Links {
			about = about || a.Links[j].From == id || a.Links[j].To == id
		}
		if !about {
			continue
		}
		found, a.Evidence = true, "emberd removed the evidence, because a memory of this action was deleted permanently"
		for j := range a.Links {
			a.Links[j].Value = ""
		}
	}
	for i := len(p.Queries) - 1; i >= 0; i-- {
		if slices.Contains(p.Queries[i].Want, id) {
			found = true
			p.Queries = slices.Delete(p.Queries, i, i+1)
			if i < len(p.Answers) {
				p.Answers = slices.Delete(p.Answers, i, i+1)
			}
		}
	}
	return found
}

// Prune removes the oldest runs that ended, beyond those that are kept.
func (f *Folder) Prune() error {
	runs, err := f.Runs()
	for i := maxRuns; i < len(runs); i++ {
		if runs[i].Phase != Ended {
			continue
		}
		for _, suffix := range []string{reportSuffix, planSuffix, runSuffix} {
			gone := f.fs.Remove(filepath.Join(f.path, runs[i].ID+suffix))
			if !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}
	}
	return err
}

// Sweep removes what an earlier daemon left of files that were being written.
func (f *Folder) Sweep() error { return durable.SweepTemps(f.fs, f.path) }
