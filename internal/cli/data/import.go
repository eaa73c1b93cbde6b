// Package data has the commands that import, export, back up and restore memories. An import
// that is interrupted can be repeated: what was imported before is not imported twice.
package data

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/durable"
	"emberd/internal/importer"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

func ImportCommand(s *cli.App) *cobra.Command {
	return cli.Group("import",
		append([]*cobra.Command{importJSONLCommand(s), importCSVCommand(s), importExportCommand(s),
			importCortexGraphCommand(s), importReferenceCommand(s),
			importSessionsCommand(s)}, foreignCommands(s)...)...)
}

type importOptions struct {
	rules    []string
	template string
	tags     []string
	allow    bool
	again    bool
	dates    importer.DateOrder
	columns  map[string]string // those of a table that are read as a field without --map, by field
	dryRun   bool
	strict   bool
	read     func(io.Reader) iter.Seq2[sourceLine, error] // lines of JSON unless it is set
}

func importJSONLCommand(s *cli.App) *cobra.Command {
	var o importOptions
	cmd := cli.Command("jsonl FILE|-", cli.ArgCount(1, 1, "one file, or - for stdin"), nil,
		func(cmd *cobra.Command, args []string) error {
			err := importJSONL(cmd.Context(), s, &o, args[0])
			if ext := strings.ToLower(filepath.Ext(args[0])); err != nil && (ext == ".csv" || ext == ".tsv") {
				s.Note("to import a table, run: emberd import csv FILE")
			}
			return err
		})
	mappingFlags(cmd, &o)
	return cmd
}

// mappingFlags are those of the imports that a field map leads.
func mappingFlags(cmd *cobra.Command, o *importOptions) {
	f := cmd.Flags()
	f.StringSliceVarP(&o.rules, "map", "m", nil, "")
	f.StringVar(&o.template, "content-template", "", "")
	f.StringSliceVarP(&o.tags, "tag", "t", nil, "")
	f.BoolVar(&o.allow, "allow-secret", false, "")
	f.BoolVar(&o.again, "again", false, "")
	f.BoolVar(&o.dryRun, "dry-run", false, "")
	f.BoolVar(&o.strict, "strict", false, "")
}

// ImportReport is what an import did; with --json it is the result.
type ImportReport struct {
	Tx      string `json:"tx,omitempty"` // one journal entry for the whole run
	DryRun  bool   `json:"dry_run,omitempty"`
	Lines   int    `json:"lines"`
	Added   int    `json:"added"` // or would be, in a dry run
	Present int    `json:"present"`

	// Changed are there with another text, Forgotten were imported before and
	// forgotten since. Both are left as they are.
	Changed   int `json:"changed"`
	Forgotten int `json:"forgotten"`
	// Named are those of the ones that are there which got aliases that they lacked.
	Named int `json:"named"`
	// Unasked says of a dry run that no daemon was there to tell what is there already and
	// what would be refused.
	Unasked bool `json:"unasked,omitempty"`

	Failed   int         `json:"failed"`
	Errors   []lineError `json:"errors"`
	Unlisted int         `json:"unlisted,omitempty"` // errors beyond the first importer.MostSkips
	// In a dry run one of these is the first that would be imported.
	First       *op.SaveRequest `json:"first,omitempty"`
	FirstRecord *op.Record      `json:"first_record,omitempty"`

	of [2]string // what Lines counts, one and several, if they are not lines
}

// tell lists an error, unless there are too many.
func (r *ImportReport) tell(e lineError) {
	if len(r.Errors) == importer.MaxSkips {
		r.Unlisted++
		return
	}
	r.Errors = append(r.Errors, e)
}

// fate counts what an import did with a record, and returns why it failed.
func (r *ImportReport) fate(a op.ImportAnswer) *op.Problem {
	if a.Named {
		r.Named++
	}
	switch a.Fate {
	case op.ImportAdded:
		r.Added++
	case op.ImportPresent:
		r.Present++
	case op.ImportChanged:
		r.Changed++
	case op.ImportForgotten:
		r.Forgotten++
	default:
		return cmp.Or(a.Error, &op.Problem{Code: memory.Internal, Detail: "the daemon returned no reason"})
	}
	return nil
}

// lineError is one line that could not be imported.
type lineError struct {
	File string `json:"file,omitempty"` // when there are several
	Line int    `json:"line"`
	Path string `json:"path,omitempty"` // within JSON
	op.Problem
}

func importJSONL(ctx context.Context, s *cli.App, o *importOptions, name string) error {
	m, err := newMapping(o.rules, o.template)
	if err != nil {
		return err
	}
	m.tags, m.dates, m.columns, m.allowSecret, m.again = o.tags, o.dates, o.columns, o.allow, o.again
	if err := importer.CheckText(name); err != nil {
		return err
	}
	in, total, err := openImport(ctx, s, name)
	if err != nil {
		return err
	}
	defer in.Close()
	run := &importRun{s: s, ref: refOf(name), name: name, opt: o, mapping: m, progress: cli.NewProgress(s, total),
		report: ImportReport{DryRun: o.dryRun, Errors: []lineError{}}}
	err = run.all(ctx, in)
	run.progress.Done()
	slices.SortStableFunc(run.report.Errors, func(a, b lineError) int { return cmp.Compare(a.Line, b.Line) })
	if err != nil && run.report.Tx == "" {
		return err
	}
	if printErr := printImport(s, &run.report); printErr != nil {
		return printErr
	}
	if err == nil && run.report.Failed > 0 {
		err = &cli.Exit{Code: cli.ExitNothing}
	}
	return err
}

// openImport opens the file, or stdin, and tells its size, -1 when unknown.
func openImport(ctx context.Context, s *cli.App, name string) (io.ReadCloser, int64, error) {
	if name == "-" {
		return io.NopCloser(s.Input(ctx)), -1, nil
	}
	if name == "" { // as an unset variable in quotes is
		return nil, 0, memory.Errorf(memory.Invalid, "missing file name; pass a readable file, or - for stdin")
	}
	f, err := durable.OpenGivenOrPipe(name)
	if err != nil {
		return nil, 0, memory.Errorf(memory.Invalid, "%w; pass a readable file, or - for stdin", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	if !info.Mode().IsRegular() {
		return struct {
			io.Reader
			io.Closer
		}{cli.Interruptible(ctx, f), f}, -1, nil
	}
	return f, info.Size(), nil
}

// refOf is how the provenance of what is imported names a file, "" for stdin. Where the
// file lay on this machine is nobody's business.
func refOf(name string) string {
	if name == "-" {
		return ""
	}
	return filepath.Base(name)
}

// batchBytes keeps a batch well below the largest request that the socket takes.
const batchBytes = 1 << 20

// importRun is an import under way: a batch fills up and is sent when it is
// full, and every line that fails is noted.
type importRun struct {
	s        *cli.App
	ref      string // of the file, for the provenance of what is in it
	name     string // of the file, or - for stdin
	opt      *importOptions
	mapping  *mapping
	progress *cli.Progress
	report   ImportReport

	items   []op.SaveRequest
	at      []int // the line of each item
	size    int
	flight  *flight[op.SaveRequest, op.SaveBatchResult] // nil: no batch was sent, or its answer was noted
	unasked bool                                        // nobody answers a dry run
}

// errStrict ends a strict run at the first line that failed.
var errStrict = errors.New("the import stopped at the first invalid line")

func (r *importRun) all(ctx context.Context, in io.Reader) error {
	err := r.lines(ctx, in)
	return cmp.Or(err, r.end(ctx, r.land()))
}

func (r *importRun) lines(ctx context.Context, in io.Reader) error {
	lines := jsonLines
	if r.opt.read != nil {
		lines = r.opt.read
	}
	for line, err := range lines(in) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return errors.Join(err, r.send(context.WithoutCancel(ctx)))
		}
		if err := r.take(ctx, line); err != nil {
			return r.end(ctx, err)
		}
	}
	return r.end(ctx, r.send(ctx))
}

// end sends what came before a strict stop, which has been told by then.
func (r *importRun) end(ctx context.Context, err error) error {
	if errors.Is(err, errStrict) {
		err = r.send(ctx)
	}
	if errors.Is(err, errStrict) {
		return nil // a line before it failed too, and has been noted
	}
	return err
}

// take puts one line into the batch and sends that when it is full.
func (r *importRun) take(ctx context.Context, line sourceLine) error {
	r.report.Lines++
	if r.report.Lines == 1 && markOf(line.object) == kindExport {
		return memory.Errorf(memory.Invalid, "the file was created by emberd export; run: emberd import export")
	}
	req, err := &op.SaveRequest{}, line.err
	if err == nil {
		if req, err = r.mapping.apply(line.object); err == nil && r.ref != "" {
			req.File, req.Line = r.ref, line.number
		}
	}
	r.progress.Add(line.bytes, r.report.Lines)
	if errors.Is(err, errArray) {
		err = memory.Errorf(memory.Invalid,
			"%w; to import the objects in it, run: jq -c '.[]' %s | emberd import jsonl -", err,
			map[bool]string{true: "FILE", false: text.ShellWord(r.name)}[r.name == "-"])
	}
	if err != nil {
		return r.fail(line.number, *cli.Problem(err))
	}
	if r.opt.dryRun && r.unasked {
		return r.pretend(line.number, req)
	}
	text, err := json.Marshal(req)
	if err != nil {
		return r.fail(line.number, *cli.Problem(err))
	}
	if len(r.items) == op.MaxBatch || r.size+len(text) > batchBytes {
		if err := r.send(ctx); err != nil {
			return err
		}
	}
	r.items, r.at, r.size = append(r.items, *req), append(r.at, line.number), r.size+len(text)
	return nil
}

func (r *importRun) fail(line int, p op.Problem) error {
	r.report.Failed++
	r.report.tell(lineError{Line: line, Problem: p})
	if r.opt.strict {
		return errStrict
	}
	return nil
}

// pretend checks what can be checked without a daemon.
func (r *importRun) pretend(line int, req *op.SaveRequest) error {
	_, tagErr := memory.NormalizeTags(req.Tags)
	_, entityErr := memory.NormalizeEntities(req.Entities)
	_, aliasErr := memory.NormalizeAliases(req.Aliases)
	if err := cmp.Or(tagErr, entityErr, aliasErr); err != nil {
		return r.fail(line, *cli.Problem(err))
	}
	r.added(req)
	return nil
}

// send sends the batch when the answer to the one before it was noted. The next is read in the meantime, but in a
// strict run, which reads nothing behind a line that failed.
func (r *importRun) send(ctx context.Context) error {
	if err := r.land(); err != nil || len(r.items) == 0 {
		return err
	}
	r.flight = sendOff(ctx, r.s, op.SaveBatch, &op.SaveBatchRequest{Tx: r.report.Tx, DryRun: r.opt.dryRun,
		Items: r.items}, r.items, r.at)
	r.items, r.at, r.size = nil, nil, 0
	if r.opt.strict || r.opt.dryRun {
		return r.land()
	}
	return nil
}

// land waits for the answer to the batch that was sent, if there is one, and notes the fate of every item.
func (r *importRun) land() error {
	if r.flight == nil {
		return nil
	}
	items, at := r.flight.items, r.flight.at
	res, err := r.flight.answer()
	r.flight = nil
	if r.opt.dryRun && memory.CodeOf(err) == memory.Unavailable {
		return r.alone(items, at)
	}
	if err != nil {
		return batchError(at, err)
	}
	if len(res.Results) != len(items) {
		return batchError(at, fmt.Errorf("the daemon returned results for %d of %d records", len(res.Results),
			len(items)))
	}
	r.report.Tx = cmp.Or(r.report.Tx, res.Tx)
	var stop error
	for i, answer := range res.Results {
		switch {
		case answer.Error != nil && answer.Error.Code == memory.Forgotten:
			r.report.Forgotten++
		case answer.Error != nil && answer.Error.Code == memory.Conflict:
			r.report.Changed++
		case answer.Error != nil:
			stop = cmp.Or(stop, r.fail(at[i], *answer.Error))
		case answer.Replayed:
			r.report.Present++
		default:
			r.added(&items[i])
		}
		if answer.Named {
			r.report.Named++
		}
	}
	return stop
}

// added counts what came in, or would, of which a dry run shows the first.
func (r *importRun) added(req *op.SaveRequest) {
	r.report.Added++
	if r.opt.dryRun && r.report.First == nil {
		r.report.First = req
	}
}

// alone goes on with a dry run that nobody answers.
func (r *importRun) alone(items []op.SaveRequest, at []int) error {
	r.unasked, r.report.Unasked = true, true
	var stop error
	for i := range items {
		stop = cmp.Or(stop, r.pretend(at[i], &items[i]))
	}
	return stop
}

func printImport(s *cli.App, r *ImportReport) error {
	if s.JSON {
		return s.PrintJSON(r)
	}
	listErrors(s, r.Errors, r.Unlisted)
	if r.First != nil || r.FirstRecord != nil {
		s.Printf("emberd would save the first record as follows:\n")
		var first any = r.First
		if r.First == nil {
			first = r.FirstRecord
		}
		if err := s.PrintJSON(first); err != nil {
			return err
		}
	}
	verb := "imported"
	if r.DryRun {
		verb = "would import"
	}
	s.Printf("%s %s of %s", verb, cli.Grouped(r.Added), cli.Count(r.Lines, cmp.Or(r.of[0], "line"),
		cmp.Or(r.of[1], "lines")))
	for _, part := range []struct {
		n    int
		what string
	}{{r.Present, "already stored"}, {r.Changed, "already stored with another text"}, {r.Forgotten, "deleted before"},
		{r.Failed, "failed"}} {
		if part.n > 0 {
			s.Printf(", %s %s", cli.Grouped(part.n), part.what)
		}
	}
	s.Printf("\n")
	if r.Forgotten > 0 {
		s.Note("deleted memories were not imported again; to restore a memory, use " +
			"emberd rekindle; to import all of these memories again, use --again")
	}
	if r.Named > 0 && r.DryRun {
		s.Printf("would add the missing aliases to %s already stored\n", cli.Count(r.Named, "memory", "memories"))
	} else if r.Named > 0 {
		s.Printf("added the missing aliases to %s already stored\n", cli.Count(r.Named, "memory", "memories"))
	}
	if r.Unasked {
		s.Note("the daemon is not running, so emberd did not check for duplicates and credentials")
	}
	if r.Added+r.Named > 0 {
		s.UndoHint(r.Tx)
	}
	return nil
}

// placeOf names the line that an error is about, or what of the file it is.
func placeOf(e *lineError) string {
	var parts []string
	if e.File != "" {
		parts = append(parts, cli.Clean(e.File))
	}
	if e.Line > 0 {
		parts = append(parts, "line "+strconv.Itoa(e.Line))
	}
	if e.Path != "" {
		parts = append(parts, cli.Clean(e.Path))
	}
	if len(parts) == 0 {
		return "the file"
	}
	return strings.Join(parts, " ")
}

// listErrors tells every sentence once, with the first line it is about.
func listErrors(s *cli.App, errs []lineError, unlisted int) {
	var first []lineError
	lines := map[string]int{}
	for _, e := range errs {
		if lines[e.Detail]++; lines[e.Detail] == 1 {
			first = append(first, e)
		}
	}
	told := 0
	for i, e := range first {
		if i == cli.MaxListLen {
			listed := "lists them all"
			if unlisted > 0 {
				listed = "lists the first " + cli.Grouped(len(errs))
			}
			s.Note("and %s; --json %s", cli.Count(len(errs)-told+unlisted, "more line", "more lines"), listed)
			return
		}
		n := lines[e.Detail]
		told += n
		also := ""
		if n > 1 {
			also = " and " + cli.Grouped(n-1) + " more"
		}
		s.Note("%s%s: %s", placeOf(&e), also, cli.Clean(cli.FlagsOnly(e.Detail)))
	}
	if unlisted > 0 {
		s.Note("and %s", cli.Count(unlisted, "more line", "more lines"))
	}
}
