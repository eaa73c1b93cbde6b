package data

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/importer"
	"emberd/memory"
	"emberd/op"
)

// storeImport is the import of a whole store of another system: first everything is
// read, for later lines change what earlier ones said, then memories are brought in, and
// at last what is between them.
type storeImport struct {
	s         *cli.App
	opt       storeOptions
	read      func(*storeImport, sourceLine) error // takes in one line
	progress  *cli.Progress
	report    storeReport
	file      string // being read, "" if it is the only one
	ref       string // the same for the provenance of what is in it
	now       time.Time
	fates     importPreview // of a dry run
	memories  latest[op.Record]
	relations latest[storeRelation]
	// mention returns the memory of a name that only relations have, if the system has such names.
	mention func(name string) (op.Record, error)
}

type storeOptions struct{ allow, again, dryRun bool }

// storeRelation is a relation, with the ends as the store names them.
type storeRelation struct {
	op.RelateRequest
	from, to string
}

// storeReport is what the import of a store did; with --json it is the result.
type storeReport struct {
	ImportReport
	// Superseded are lines that a later one of the same id replaced, Deleted those that
	// a later one removed.
	Superseded int            `json:"superseded"`
	Deleted    int            `json:"deleted"`
	Relations  relationReport `json:"relations"`
}

// relationReport is what became of relations. Dangling ones lead from or to a memory
// that is not there.
type relationReport struct {
	Added    int `json:"added"`
	Present  int `json:"present"`
	Dangling int `json:"dangling"`
	// Mentions are memories that were made of names that only relations have.
	Mentions int `json:"mentions,omitempty"`
}

// latest holds what the last line of each id says, in the order in which the ids came.
type latest[T any] struct {
	order []string
	byID  map[string]placed[T]
}

// placed is something with where it was read from.
type placed[T any] struct {
	at   importer.Place
	what T
}

// put reports whether the id was there before.
func (l *latest[T]) put(id string, p placed[T]) bool {
	if l.byID == nil {
		l.byID = make(map[string]placed[T])
	}
	_, there := l.byID[id]
	if !there {
		l.order = append(l.order, id)
	}
	l.byID[id] = p
	return there
}

// drop reports whether the id was there.
func (l *latest[T]) drop(id string) bool {
	_, there := l.byID[id]
	delete(l.byID, id)
	return there
}

// all are those that are left. An id that came back after it was removed is where it
// came first, once.
func (l *latest[T]) all() []placed[T] {
	out := make([]placed[T], 0, len(l.byID))
	left := maps.Clone(l.byID)
	for _, id := range l.order {
		if p, ok := left[id]; ok {
			out = append(out, p)
			delete(left, id)
		}
	}
	return out
}

// storeFlags are those that the imports of all stores have.
func storeFlags(cmd *cobra.Command, o *storeOptions) {
	f := cmd.Flags()
	f.BoolVar(&o.allow, "allow-secret", false, "")
	f.BoolVar(&o.again, "again", false, "")
	f.BoolVar(&o.dryRun, "dry-run", false, "")
}

// begin makes the report ready.
func (r *storeImport) begin() {
	r.now = time.Now().UTC().Truncate(time.Millisecond)
	r.report.Errors, r.report.DryRun = []lineError{}, r.opt.dryRun
}

// run imports files and prints what became of them.
func (r *storeImport) run(ctx context.Context, files []string) error {
	r.begin()
	for _, name := range files {
		r.ref = refOf(name)
		if r.file = ""; len(files) > 1 {
			r.file = r.ref
		}
		if err := r.readFile(ctx, name); err != nil {
			return err
		}
	}
	return r.finish(ctx)
}

// finish brings in what was read and prints what became of it.
func (r *storeImport) finish(ctx context.Context) error {
	err := r.send(ctx)
	slices.SortStableFunc(r.report.Errors,
		func(a, b lineError) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	if err != nil && r.report.Tx == "" {
		return err
	}
	if printErr := r.print(); printErr != nil {
		return printErr
	}
	if err == nil && r.report.Failed > 0 {
		err = &cli.Exit{Code: cli.ExitNothing}
	}
	return err
}

func (r *storeImport) readFile(ctx context.Context, name string) error {
	in, total, err := openImport(ctx, r.s, name)
	if err != nil {
		return err
	}
	defer in.Close()
	r.progress = cli.NewProgress(r.s, total)
	defer r.progress.Done()
	return r.lines(ctx, in)
}

func (r *storeImport) lines(ctx context.Context, in io.Reader) error {
	for line, err := range jsonLines(in) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		r.report.Lines++
		if err = line.err; err == nil {
			err = r.read(r, line)
		}
		r.progress.Add(line.bytes, r.report.Lines)
		if err != nil {
			r.fail(r.at(line), *cli.Problem(err))
		}
	}
	return nil
}

// at is the place of a line of the file that is being read.
func (r *storeImport) at(line sourceLine) importer.Place {
	return importer.Place{File: r.file, Line: line.number}
}

func (r *storeImport) fail(at importer.Place, p op.Problem) {
	r.report.Failed++
	r.note(at, p)
}

// note tells of a line for which nothing has to be done.
func (r *storeImport) note(at importer.Place, p op.Problem) {
	r.report.tell(lineError{File: at.File, Line: at.Line, Path: at.Path, Problem: p})
}

func (r *storeImport) send(ctx context.Context) error {
	memories, relations := r.memories.all(), r.relations.all()
	if r.opt.dryRun {
		return r.foretell(ctx, memories, relations)
	}
	if err := r.sendMemories(ctx, memories); err != nil {
		return err
	}
	if err := r.sendMentions(ctx, relations); err != nil {
		return err
	}
	for some := range slices.Chunk(relations, op.MaxBatch) {
		if err := r.sendRelations(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// dangle notes a relation one end of which is missing.
func (r *storeImport) dangle(rel placed[storeRelation], end string) {
	r.report.Relations.Dangling++
	r.note(rel.at, op.Problem{Code: memory.NotFound,
		Detail: fmt.Sprintf("relation skipped: %s not found", cli.JsonText(cli.Cut(end, 80)))})
}

// sendMemories sends batches that fit what the daemon takes at once.
func (r *storeImport) sendMemories(ctx context.Context, all []placed[op.Record]) error {
	total := len(all)
	tell, end := cli.NewShare(r.s, "importing")
	defer end()
	for len(all) > 0 {
		n, size := 0, 0
		for n < len(all) && n < op.MaxBatch {
			text, err := json.Marshal(all[n].what)
			if err != nil {
				return err
			}
			if size += len(text); n > 0 && size > batchBytes {
				break
			}
			n++
		}
		if err := r.sendBatch(ctx, all[:n]); err != nil {
			return err
		}
		all = all[n:]
		tell(total-len(all), total)
	}
	return nil
}

func (r *storeImport) sendBatch(ctx context.Context, some []placed[op.Record]) error {
	req := &op.ImportRequest{Tx: r.report.Tx, Again: r.opt.again, Foreign: true, AllowSecret: r.opt.allow,
		DryRun: r.opt.dryRun}
	for _, m := range some {
		req.Records = append(req.Records, m.what)
	}
	res, err := cli.Call(ctx, r.s, op.Import, req)
	if err != nil {
		return r.unfinished(err)
	}
	if len(res.Results) != len(some) {
		return fmt.Errorf("the daemon returned results for %d of %d memories", len(res.Results), len(some))
	}
	r.report.Tx = cmp.Or(r.report.Tx, res.Tx)
	var kept []keptRecord
	for i, a := range res.Results {
		if p := r.report.fate(a); p != nil {
			r.fail(some[i].at, *p)
		}
		r.met(&some[i].what, a.Fate)
		if a.Fate == op.ImportPresent || a.Fate == op.ImportChanged {
			kept = append(kept, keptRecord{&some[i].what, a.Fate})
		}
	}
	return r.createMentioned(ctx, kept)
}

// unfinished is the error of a batch after which nothing more is sent.
func (r *storeImport) unfinished(err error) error {
	if r.report.Tx == "" && memory.CodeOf(err) != memory.Unknown {
		return err // nothing has come in
	}
	return fmt.Errorf("%w; if you run the import again, emberd adds no duplicates", err)
}

func (r *storeImport) sendRelations(ctx context.Context, some []placed[storeRelation]) error {
	req := &op.RelateBatchRequest{Tx: r.report.Tx, DryRun: r.opt.dryRun}
	for _, rel := range some {
		item := rel.what.RelateRequest
		item.AllowSecret = r.opt.allow
		req.Items = append(req.Items, item)
	}
	res, err := cli.Call(ctx, r.s, op.RelateBatch, req)
	if err != nil {
		return r.unfinished(err)
	}
	if len(res.Results) != len(some) {
		return fmt.Errorf("the daemon returned results for %d of %d relations", len(res.Results), len(some))
	}
	r.report.Tx = cmp.Or(r.report.Tx, res.Tx)
	for i, a := range res.Results {
		switch rel := some[i]; {
		case a.Error == nil:
			r.report.Relations.Added++
		case a.Error.Code == memory.Conflict:
			r.report.Relations.Present++
		case a.Error.Code == memory.NotFound && a.Error.Field == "to":
			r.dangle(rel, rel.what.to)
		case a.Error.Code == memory.NotFound:
			r.dangle(rel, rel.what.from)
		default:
			r.fail(rel.at, *a.Error)
		}
	}
	return nil
}

func (r *storeImport) print() error {
	if r.s.JSON {
		return r.s.PrintJSON(&r.report)
	}
	if err := printImport(r.s, &r.report.ImportReport); err != nil {
		return err
	}
	made := "created"
	if r.opt.dryRun {
		made = "would be created"
	}
	for _, part := range []struct {
		n         int
		one, many string
		what      string
	}{
		{r.report.Relations.Added, "relation", "relations", made},
		{r.report.Relations.Present, "relation", "relations", "already stored"},
		{r.report.Relations.Dangling, "relation", "relations", "skipped, because a memory is missing"},
		{r.report.Relations.Mentions, "name", "names", made + " from relations"},
		{r.report.Superseded, "line", "lines", "replaced by later lines"},
		{r.report.Deleted, "entry", "entries", "deleted by later lines"},
	} {
		if part.n > 0 {
			r.s.Printf("%s %s\n", cli.Count(part.n, part.one, part.many), part.what)
		}
	}
	return nil
}

// recordOf is a memory of the file that is being read as an import takes it.
func (r *storeImport) recordOf(m *memory.Memory) (op.Record, error) {
	m.Learn(memory.Source{Kind: memory.FromImport, Ref: r.ref})
	rec := op.Record{ID: m.ID}
	text, err := json.Marshal(m)
	if err != nil {
		return rec, err
	}
	if err := json.Unmarshal(text, &rec.Fields); err != nil {
		return rec, err
	}
	for _, own := range []string{"id", "access_count"} {
		delete(rec.Fields, own)
	}
	if m.LastUsed.IsZero() {
		delete(rec.Fields, "last_used")
	}
	if m.Entities != nil && len(m.Entities) == 0 { // the source says that there are none
		rec.Fields["entities"] = json.RawMessage("[]")
	}
	if m.StrengthFound { // the source says none; the daemon finds it
		delete(rec.Fields, "strength")
		delete(rec.Fields, "strength_found")
	}
	return rec, nil
}

// fill reads the members of a line that are there and not null into variables, by the
// names of the members. Of several of the wrong kind the error names the first by name.
func fill(object map[string]json.RawMessage, into map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(into)) {
		if value := object[key]; value != nil && string(value) != "null" {
			if err := misfit(key, json.Unmarshal(value, into[key])); err != nil {
				return err
			}
		}
	}
	return nil
}

// misfit is the error for a value of the wrong kind.
func misfit(key string, err error) error {
	if err == nil {
		return nil
	}
	return memory.Errorf(memory.Invalid, "%s has the wrong type", key).At(key)
}

// ofKey says which key of a line an error is about.
func ofKey(key string, err error) error {
	if e, ok := errors.AsType[*memory.Error](err); ok && e.Field == "" {
		return memory.Errorf(e.Code, "%s: %s", key, e.Message).At(key)
	}
	return err
}

// checkForeign fills in what is left out, gives tags and entities the form they have
// here, and refuses what the daemon would refuse, so that a dry run tells of it.
func (r *storeImport) checkForeign(m *memory.Memory) (err error) {
	if m.CreatedAt.IsZero() {
		return memory.Errorf(memory.Invalid, "missing created_at").At("created_at")
	}
	if !m.LastUsed.IsZero() && m.LastUsed.Before(m.CreatedAt) {
		m.LastUsed = m.CreatedAt
	}
	for name, t := range map[string]time.Time{"created_at": m.CreatedAt, "last_used": m.LastUsed} {
		if name == "last_used" && t.IsZero() { // the daemon has it begin with the import
			continue
		}
		if t.After(r.now.Add(24*time.Hour)) || !t.After(time.UnixMilli(0)) {
			return memory.Errorf(memory.Invalid, "%s is %s, which is in the future or before 1970", name,
				t.Format(time.RFC3339)).At(name)
		}
	}
	if m.Tags, err = memory.NormalizeTags(m.Tags); err != nil {
		return err
	}
	given := m.Entities != nil
	if m.Entities, err = memory.NormalizeEntities(m.Entities); err != nil {
		return err
	}
	if given && m.Entities == nil {
		m.Entities = []string{}
	}
	if m.Aliases, err = memory.NormalizeAliases(m.Aliases); err != nil {
		return err
	}
	for _, err := range []error{
		memory.CheckContent(m.Content),
		memory.CheckText("source", m.Source, memory.MaxSource),
		memory.CheckText("context", m.Context, memory.MaxContext),
		memory.CheckText("type", m.Type, memory.MaxName),
		memory.CheckRange("strength", m.Strength, 0, 2),
		memory.CheckRange("use_count", float64(m.UseCount), 0, 1e9),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}
